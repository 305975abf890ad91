"""Page Distribution regression: an outcome explained by the distribution behind a subject's repeated measures."""

import streamlit as st

from pages.distribution_regression import clusters, picture, risk, theory
from pages.distribution_regression.data import choose_data
from pages.distribution_regression.essentials import ESSENTIALS
from pages.distribution_regression.model import learning
from pages.distribution_regression.presets import PRESETS
from pages.distribution_regression.sweep import SWEEP
from pages.kit.chart.picture_first import picture_first
from pages.kit.controls import widgets
from pages.kit.layout.page_layout import page_header, refusals
from pages.kit.tools.study_sweep import offer


def main() -> None:
    """Read the controls, regress by every method, draw."""
    page_header(
        "Distribution regression",
        "Can an outcome be predicted from all of a person's measurements rather than from their average alone?",
        PRESETS,
        ESSENTIALS,
    )
    with refusals():
        body()
    risk.show()
    clusters.show()
    theory.show()


def body() -> None:
    """One data set: its pictures, every method's numbers, an unknown link."""
    with st.sidebar:
        chosen = choose_data()
    above = st.container()
    left, middle, right = st.columns([5, 6, 5])
    with middle:
        model, found = picture_first(lambda: picture.function(chosen))
    with st.sidebar:
        repeats = int(widgets.select_slider("Partitions of the cross-validation", (1, 5, 20), 1, key="d-repeats"))
        nested = bool(
            widgets.toggle(
                "Learn again in every fold",
                False,
                key="d-nested",
                help=(
                    "Learns kernel and noise from the evidence of each training fold, for every method. Takes some "
                    "seconds."
                ),
            )
        )
        learning(chosen, model)
    with left:
        picture.densities(chosen)
    scores = picture.validated(chosen, model, repeats, nested)
    with right:
        picture.predictions(chosen, scores)
    with above:
        picture.summary(chosen, found, scores)
    picture.remark(chosen)
    picture.table(found, scores, repeats, nested)
    picture.link(chosen, model)
    picture.equation(chosen, model, found)
    if chosen.spec is not None:
        offer(SWEEP)


main()
