"""The drawn problem of page Kernel Bayes' rule, and the buttons and pictures that set its controls."""

import streamlit as st

from deconditioning.studies.kernel_bayes.settings import KernelBayesSettings
from deconditioning.studies.kernel_bayes.study import (
    GaussianProblem,
    GaussianSpec,
    gaussian_spec,
    make_gaussian,
    validated,
)
from pages.kit.controls.program_values import set_values
from pages.kit.state import on_sliders

RULE = KernelBayesSettings


@st.cache_resource(show_spinner=False, max_entries=8)
def problem_of(spec: GaussianSpec) -> GaussianProblem:
    """The drawn problem, cached."""
    return make_gaussian(spec)


def move_observation(at: float) -> None:
    """Put the first slider of the observation where the rule in the picture was moved to, at its nearest stop."""
    y, low, high = RULE.y1, RULE.y1.low or 0.0, RULE.y1.high or 0.0
    set_values({y.key: round(min(max(at, low), high), 1)})


def choose_by_validation(settings: KernelBayesSettings, tests: int) -> None:
    """A button that sets lengthscales, ε and δ by cross-validation."""
    about = (
        "Ten folds, §4.2: the distance between the mean posterior of left-out observations and the left-out states. It "
        "is measured with the same kernel, that of the median distance, for all candidates. With the kernel of each "
        "candidate the longest lengthscale would always win."
    )
    if st.button("Choose by cross-validation", key="k-validate", width="stretch", help=about):
        with st.spinner("Ten folds for each candidate …"):
            scale, epsilon = _validated(gaussian_spec(settings, tests), settings.printed)
        set_values(on_sliders(RULE.on_controls(scale=scale, epsilon=epsilon, delta=2 * epsilon)))


@st.cache_data(show_spinner=False, max_entries=32)
def _validated(spec: GaussianSpec, printed: bool) -> tuple[float, float]:
    return validated(problem_of(spec), printed=printed)
