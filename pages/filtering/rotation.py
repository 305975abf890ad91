"""The view of a point on a wavy circle: systems (a), (b) or one's own."""

import numpy as np
import streamlit as st

from deconditioning.figures.studies.filtering import errors_plot, plane_plot
from deconditioning.filtering.systems import RotationSystem
from deconditioning.studies.filtering.settings import RotationSettings
from deconditioning.studies.filtering.study import (
    FilterSettings,
    Followed,
    Others,
    follow,
    follow_with_others,
    rotation_problem,
    system_of,
)
from pages.filtering import length, words
from pages.filtering.player import player
from pages.kit.chart.picture_first import picture_first
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls.settings import controls
from pages.kit.layout.page_layout import evidence
from pages.kit.layout.theme import is_dark
from pages.kit.tools.study_sweep import OnPage, offer


def show(name: str) -> None:
    """The series, its pictures, the scores, error against T."""
    with st.sidebar:
        series = controls(RotationSettings, system=name)
    system, steps = system_of(series), series.train
    settings, result = picture_first(lambda: _tracked(series))
    words.table(result, "Mean square error, summed over coordinates, and milliseconds per step")
    words.equation(
        "At each step the filter moves the weights along the transitions of the examples and updates them with the "
        "observation by kernel Bayes' rule.",
        rf"""$$X_{{t+1}} = (1 + b \sin M\theta_{{t+1}})
\begin{{pmatrix}}\cos\theta_{{t+1}}\\ \sin\theta_{{t+1}}\end{{pmatrix}} + \zeta_t,\quad
Y_t = X_t + \xi_t,\qquad \eta = {system.eta:g},\ b = {system.b:g},\ M = {system.waves:g}$$""",
        steps, settings, result,
    )  # fmt: skip
    with evidence():
        length.show(system, name, steps)
    if settings.scale is not None:
        offer(OnPage("filtering"))


def _tracked(series: RotationSettings) -> tuple[FilterSettings, Followed]:
    """The filter's controls and the state as it is followed at their values; returns both."""
    with st.sidebar:
        settings = words.choose_filter()
    system = system_of(series)
    result = _followed(system, series.train, series.test, series.seed, settings)
    _said(result, system)
    words.warnings(result)
    player(len(result.truth), lambda step: _draw(result, step))
    return settings, result


@st.cache_resource(show_spinner="Filtering …", max_entries=16)
def _followed(system: RotationSystem, steps: int, test: int, seed: int, settings: FilterSettings) -> Followed:
    return follow(rotation_problem(system, steps, test, seed), settings, others=_others(system, steps, test, seed))


@st.cache_resource(show_spinner=False, max_entries=4)
def _others(system: RotationSystem, steps: int, test: int, seed: int) -> Others:
    """What the other filters find, whatever the kernel Bayes filter is set to."""
    return follow_with_others(rotation_problem(system, steps, test, seed))


def _said(result: Followed, system: RotationSystem) -> None:
    """Who comes nearest."""
    errors = result.errors
    best = min((name for name in errors if name != "kbr_smoothed"), key=errors.__getitem__)
    told = "the equation and both noise variances"
    if system.generator == "D":
        told = (
            "the equation in which the angle continues from the noisy state (not the case here), and both noise "
            "variances"
        )
    st.markdown(
        f"Over {len(result.truth)} steps the mean square error is **{errors['kbr']:.4f}** for the kernel Bayes filter "
        f"and {errors['ekf']:.4f} for the extended Kalman filter. Most accurate: {words.TITLES[best].lower()}. The "
        f"kernel Bayes filter has {len(result.points)} examples and no equation; the others know {told}."
    )


def _draw(result: Followed, step: int) -> None:
    left, right = st.columns([3, 2])
    reach = 1.15 * float(np.abs(np.concatenate([result.truth, result.seen])).max())
    with left:
        figure = plane_plot(result.truth, result.seen, result.means, step, sample=(result.points, result.weights[step]),
                            limits=(-reach, reach), dark=is_dark())  # fmt: skip
        plotly_live(figure, "f-plane")
    with right:
        plotly_live(errors_plot(result.truth, result.means, step, dark=is_dark()), "f-errors")
        words.weights_caption(result, step)
