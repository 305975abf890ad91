"""What page Kernel Bayes' rule asks for: an observation, samples, the rule's numbers."""

import numpy as np
import streamlit as st

from deconditioning.studies.kernel_bayes.study import GaussianProblem, GaussianSpec, make_gaussian, validated
from pages.kit import bound
from pages.kit.asked import set_values
from pages.kit.state import log_slider, on_sliders

#: How μ̂ is scaled: to about one, or n times that, as equation 12 and Figure 1 print it.
NORMS = {"one": "sum to one", "n": "as printed, × n"}


@st.cache_resource(show_spinner=False, max_entries=8)
def problem_of(spec: GaussianSpec) -> GaussianProblem:
    """The drawn problem, kept."""
    return make_gaussian(spec)


def choose_observation(dimension: int) -> np.ndarray:
    """One slider a dimension."""
    names = ("Observed y",) if dimension == 1 else ("Observed y₁", "Observed y₂")
    y = [bound.slider(name, -8.0, 8.0, 4.0, 0.1, key=f"k-y{i}") for i, name in enumerate(names)]
    return np.array(y)


def move_observation(at: float) -> None:
    """Put the first slider of the observation where the rule in the picture was moved to, at its nearest stop."""
    set_values({"k-y0": round(min(max(at, -8.0), 8.0), 1)})


def choose_samples(dimension: int, tests: int) -> GaussianSpec:
    """Pairs, draws of the prior and the seed."""
    pairs = bound.slider("Pairs (X, Y)", 10, 500, 200, 10, key="k-n")
    prior = bound.slider("Draws of the prior", 10, 500, 200, 10, key="k-l")
    seed = bound.number_input("Seed", 0, 9999, 26, key="k-seed")
    return GaussianSpec(dimension, int(pairs), int(prior), tests, int(seed))


def choose_rule(spec: GaussianSpec) -> tuple[float, float, float, bool]:
    """β, ε, δ, and whether μ̂ is as printed; β, ε, δ open at the paper's for 200 pairs: median distances, ε = 0.01/n,
    δ = 2ε."""
    scale = log_slider("Lengthscales, in median distances", "k-beta", 0.05, 5.0, 1.0)
    epsilon = log_slider("ε", "k-eps", 1e-8, 1.0, 5e-5, help=f"Inside nε, n = {spec.pairs}.")
    delta = log_slider("δ", "k-delta", 1e-10, 1.0, 1e-4)
    told = (
        "The paper's operators and equation 18 give μ̂ without a factor n: it then sums to about one. Equation 12 and "
        "Figure 1 print it with the factor; against the "
        f"squared evidence δ is then n² = {spec.pairs**2:,} times smaller."
    )
    chosen = bound.segmented_control("Prior's weights μ̂", list(NORMS), default="one", key="k-norm",
                                     format_func=NORMS.__getitem__, help=told)  # fmt: skip
    return scale, epsilon, delta, chosen == "n"


def choose_by_validation(spec: GaussianSpec, printed: bool) -> None:
    """A button that puts lengthscales, ε and δ where cross-validation wants them."""
    told = (
        "10 folds, §4.2: how far the mean posterior of left-out observations lies from the left-out states. The "
        "distance is measured in the kernel of the median distance for all candidates; in each candidate's own the "
        "longest lengthscale always wins."
    )
    if st.button("Choose by cross-validation", key="k-validate", width="stretch", help=told):
        with st.spinner("Ten folds for each candidate …"):
            scale, epsilon = _validated(spec, printed)
        set_values(on_sliders({"k-beta": scale, "k-eps": epsilon, "k-delta": 2 * epsilon}))


@st.cache_data(show_spinner=False, max_entries=32)
def _validated(spec: GaussianSpec, printed: bool) -> tuple[float, float]:
    return validated(problem_of(spec), printed=printed)
