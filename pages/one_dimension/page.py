"""Page One dimension: deconditioning you can touch."""

from pages.kit import bound
from pages.kit.layout import page_header, refusals
from pages.one_dimension import bayes, recover, trip
from pages.one_dimension.presets import PRESETS

VIEWS = {"Recover f": recover.show, "There and back": trip.show, "Bayes' rule": bayes.show}


def main() -> None:
    """One of the views."""
    page_header("One dimension", "Two scatters that never meet, and the function that connects them.", PRESETS)
    view = bound.segmented_control("View", list(VIEWS), default="Recover f", key="o-view", label_visibility="collapsed")
    with refusals():
        VIEWS[view or "Recover f"]()


main()
