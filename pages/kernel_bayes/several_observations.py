"""Several dimensions: the posterior mean of every coordinate by each rule, and its error over many observations."""

from typing import Any

import numpy as np
import streamlit as st

from deconditioning.figures.studies.by_coordinate import coordinates_plot
from deconditioning.studies.kernel_bayes.one_observation import ABC_DRAWS, kernel_means, other_means
from deconditioning.studies.kernel_bayes.settings import OBSERVATIONS, KernelBayesSettings
from deconditioning.studies.kernel_bayes.study import GaussianSpec, gaussian_spec
from deconditioning.wording import number
from pages.kernel_bayes.controls import RULE, choose_by_validation, problem_of
from pages.kernel_bayes.errors import TITLES
from pages.kit.chart.picture_first import picture_first
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls.settings import controls
from pages.kit.layout.page_layout import lead
from pages.kit.layout.score_table import score_table
from pages.kit.layout.theme import is_dark

#: The methods in the picture.
_SHOWN = {
    "kbr": "kernel Bayes' rule", "cme": "conditional mean", "kde": "density estimation",
    "abc_few": "rejection ABC,<br>as many simulations", "abc": f"rejection ABC,<br>{ABC_DRAWS:,} simulations",
}  # fmt: skip
Means = dict[str, np.ndarray]


def show(dimension: int) -> tuple[KernelBayesSettings, GaussianSpec, np.ndarray]:
    """Picture, sentence and table; returns settings, problem and observation."""
    settings, result = picture_first(lambda: observed(dimension))
    spec, index = gaussian_spec(settings, OBSERVATIONS), settings.observation - 1
    problem = problem_of(spec)
    exact = problem.posterior(problem.tests)[0]
    rows = {
        name: {"mse": error, "distance": float(np.linalg.norm(result[name][index] - exact[index]))}
        for name, error in _errors(result, exact).items()
    }
    score_table(
        rows,
        columns=("mse", "distance"),
        names=_names(spec),
        caption=(
            f"Distance from the exact posterior mean: mean square over {OBSERVATIONS} observations, and the distance "
            "at the observation shown. Bandwidth (density estimation) and acceptance rate (ABC) are tuned with the "
            f"truth, which is an advantage. ABC runs {ABC_DRAWS:,} additional simulations; kernel Bayes' rule runs "
            "none, and is useful if only examples are available."
        ),
    )
    return settings, spec, problem.tests[index]


def observed(dimension: int) -> tuple[KernelBayesSettings, Means]:
    """The controls, every rule's means at their values, and the picture of one observation."""
    with st.sidebar:
        settings = controls(RULE, dimension=dimension)
        choose_by_validation(settings, OBSERVATIONS)
    spec, index = gaussian_spec(settings, OBSERVATIONS), settings.observation - 1
    problem = problem_of(spec)
    result = _kernel_means(spec, settings.rule) | _other_means(spec)
    exact, covariance = problem.posterior(problem.tests)
    lead(verdict(spec, _errors(result, exact), float((exact**2).sum(1).mean())))
    shown = {name: result[name][index] for name in _SHOWN}
    figure = coordinates_plot(
        exact[index], np.sqrt(np.diag(covariance)), shown,
        title=f"The hidden X given observation {index + 1}: posterior means", names=_SHOWN, height=420, dark=is_dark(),
    )  # fmt: skip
    plotly_live(figure, "k-coordinates")
    return settings, result


@st.cache_data(show_spinner=False, max_entries=16)
def _kernel_means(spec: GaussianSpec, rule: dict[str, Any]) -> Means:
    return kernel_means(problem_of(spec), **rule)


@st.cache_data(show_spinner=False, max_entries=8)
def _other_means(spec: GaussianSpec) -> Means:
    return other_means(problem_of(spec))


def _errors(result: Means, exact: np.ndarray) -> dict[str, float]:
    return {name: float(((means - exact) ** 2).sum(1).mean()) for name, means in result.items()}


def _names(spec: GaussianSpec) -> dict[str, str]:
    few = spec.pairs + spec.prior
    return TITLES | {
        "abc_few": f"Rejection ABC, {few:,} simulations",
        "abc": f"Rejection ABC, {ABC_DRAWS:,} simulations",
    }


def verdict(spec: GaussianSpec, errors: dict[str, float], prior: float) -> str:
    """Who is nearest with the same samples; ``prior`` is the error of the prior's mean, which ignores Y."""
    names = _names(spec)
    same = {name: errors[name] for name in ("kbr", "cme", "kde", "abc_few")}
    best = min(same, key=same.__getitem__)
    nearest = (
        "here it is the most accurate of the methods with the same number of samples"
        if best == "kbr"
        else f"{names[best]} is more accurate"
    )
    return (
        f"**Hidden**: X, {spec.dimension} numbers. **Observed**: Y, {spec.dimension} numbers that depend on X. "
        f"**Given**: {spec.pairs} examples of both, and {spec.prior} draws of the prior of X. Over {OBSERVATIONS} "
        "observations the mean square distance of kernel Bayes' rule from the exact posterior mean is "
        f"**{number(same['kbr'])}** (of the prior mean: {number(prior)}): {nearest}."
    )
