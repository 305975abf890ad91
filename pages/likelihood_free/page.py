"""Page Likelihood-free inference: a posterior from simulations alone, by every method on the same runs."""

import streamlit as st

from deconditioning.errors import InputError
from deconditioning.likelihood_free.inference import Settings
from deconditioning.likelihood_free.objective import Learned
from deconditioning.studies.likelihood_free.settings import MethodSettings, PageSettings
from deconditioning.studies.likelihood_free.study import Inference
from pages.kit.chart.picture_first import picture_first
from pages.kit.controls.settings import controls, essentials
from pages.kit.layout.page_layout import evidence, page_header, refusals
from pages.kit.tools.study_sweep import offer
from pages.likelihood_free import checks, comparison, picture
from pages.likelihood_free.controls import Choice, choose, choose_settings, gap_of, inferred, learned_for
from pages.likelihood_free.presets import PRESETS
from pages.likelihood_free.sweep import SWEEP
from pages.likelihood_free.words import equation, remarks, summary, table


def main() -> None:
    """Read the controls, infer, draw."""
    page_header(
        "Likelihood-free inference",
        "A simulator turns causes into data. Which causes could have produced the observed data?",
        PRESETS,
        essentials(PageSettings),
    )
    with refusals():
        body()


def body() -> None:
    """One problem, every method; below it what the answers are worth."""
    with st.sidebar:
        choice = choose()
    learned = learned_for(choice)
    settings, result = picture_first(lambda: posteriors(choice, learned))
    table(result)
    equation(result, gap_of(choice, settings))
    with st.expander("How the kernels were set"):
        checks.q_bar(choice, learned, result)
    with evidence():
        st.subheader("Error against the number of simulations", anchor=False)
        checks.errors(choice)
        st.subheader("Comparison with other methods", anchor=False)
        comparison.comparison()
        st.subheader("Calibration over repeated data", anchor=False)
        checks.ranks(choice)
    if choice.data is None:
        offer(SWEEP)


def posteriors(choice: Choice, learned: Learned) -> tuple[Settings, Inference]:
    """The kernels' controls and every method's posterior at their values; returns both."""
    with st.sidebar:
        settings = choose_settings(learned)
        method = controls(MethodSettings).method
        other = comparison.choose()
    result = inferred(choice, settings)
    if method not in result.answers:
        raise InputError(result.refused.get(method, "This method has no solution here: choose another method."))
    with st.container():
        result = comparison.joined(choice, result, other)
    ratio = summary(result, method)
    picture.player(result, method)
    remarks(result, method, ratio)
    return settings, result


main()
