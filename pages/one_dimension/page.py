"""Page One dimension: deconditioning you can touch."""

from pages.kit.controls import widgets
from pages.kit.controls.program_values import held
from pages.kit.layout.page_layout import page_header, refusals
from pages.one_dimension import bayes, recover, trip
from pages.one_dimension.essentials import ESSENTIALS
from pages.one_dimension.presets import PRESETS
from pages.one_dimension.words import QUESTIONS

#: The first one by its name in no address: it is what the page opens with.
VIEWS = {"Find the function": recover.show, "There and back": trip.show, "Bayes' rule": bayes.show}


def main() -> None:
    """One of the views."""
    page_header("One dimension", QUESTIONS[held("o-view", VIEWS)], PRESETS, ESSENTIALS)
    first = next(iter(VIEWS))
    view = widgets.segmented_control("View", list(VIEWS), default=first, key="o-view", label_visibility="collapsed")
    with refusals():
        VIEWS[view or first]()


main()
