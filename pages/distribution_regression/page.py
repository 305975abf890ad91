"""Page Distribution regression: an outcome explained by the distribution behind a subject's repeated measures."""

import streamlit as st

from deconditioning.studies.distribution_regression.settings import (
    KernelSettings,
    SimulationSettings,
    SourceSettings,
    StandInSettings,
    ValidationSettings,
)
from pages.distribution_regression import clusters, picture, risk, theory, words
from pages.distribution_regression.data import choose_data
from pages.distribution_regression.model import learning
from pages.distribution_regression.presets import PRESETS
from pages.kit.chart.picture_first import picture_first
from pages.kit.controls.essential import Essential
from pages.kit.controls.settings import controls, essentials
from pages.kit.layout.page_layout import evidence, page_header, refusals
from pages.kit.tools.study_sweep import OnPage, offer

#: The lengthscale's slider has a key of its own for every data set.
ESSENTIALS = {
    **essentials(SourceSettings, SimulationSettings, StandInSettings),
    "d-*-scale": essentials(KernelSettings)[KernelSettings.scale.key],
    "d-file": Essential("Your own table", "A CSV with one row per measurement: subject, value, outcome."),
    "d-table": Essential("Which table", "The tables you uploaded."),
}


def main() -> None:
    """Read the controls, regress by every method, draw."""
    page_header(
        "Distribution regression",
        "Each person has many measurements. Which values among them go with the outcome?",
        PRESETS,
        ESSENTIALS,
    )
    with refusals():
        body()
    with evidence("d-along", "d-risk-methods"):
        risk.show()
        clusters.show()
        theory.show()


def body() -> None:
    """One data set: its pictures, every method's numbers, an unknown link."""
    with st.sidebar:
        chosen = choose_data()
    above = st.container()
    left, middle, right = st.columns([4, 7, 4])
    with middle, st.container(key="lab-main-figure"):
        model = picture_first(lambda: picture.function(chosen))
    with st.sidebar:
        held_out = controls(ValidationSettings)
        learning(chosen, model)
    result = picture.compared(chosen, model)
    with left:
        picture.densities(chosen)
    scores = picture.validated(chosen, model, held_out)
    with right:
        picture.predictions(chosen, scores)
    with above:
        words.summary(chosen, result, scores)
    words.others(chosen, result, scores)
    picture.remark(chosen)
    picture.table(result, scores, held_out)
    picture.link(chosen, model)
    picture.equation(chosen, model, result)
    if chosen.spec is not None:
        offer(OnPage("distribution-regression"))


main()
