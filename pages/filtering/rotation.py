"""The view of a point on a wavy circle: systems (a), (b) or one's own."""

from collections.abc import Mapping

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

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
from deconditioning.wording import number
from pages.filtering import length, words
from pages.filtering.legend import legend
from pages.filtering.player import player
from pages.kit.chart.picture_first import picture_first
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls.settings import controls
from pages.kit.layout.page_layout import evidence, lead
from pages.kit.layout.theme import is_dark
from pages.kit.tools.study_sweep import OnPage, offer

#: Pixels of both pictures: the buttons below them are to be seen with them on a small screen.
_HEIGHT = 360


def show(name: str) -> None:
    """The series, its pictures, the scores, error against T."""
    with st.sidebar:
        series = controls(RotationSettings, system=name)
    system, steps = system_of(series), series.train
    settings, every, result = picture_first(lambda: _tracked(series))
    words.table(
        result,
        "Mean square error, summed over both coordinates (the circle has radius 1), and milliseconds per step."
        + (" The smoother knows later observations too." if "kbr_smoothed" in result.errors else "")
        + words.omitted(result.means, every, _best(result.errors)),
    )
    words.equation(
        "At each step the filter moves the weights along the transitions of the examples and updates them with the "
        "observation by kernel Bayes' rule.",
        rf"""$$X_{{t+1}} = (1 + b \sin M\theta_{{t+1}})
\begin{{pmatrix}}\cos\theta_{{t+1}}\\ \sin\theta_{{t+1}}\end{{pmatrix}} + \zeta_t,\quad
Y_t = X_t + \xi_t,\qquad \eta = {number(system.eta, 6)},\ b = {number(system.b, 6)},\ M = {number(system.waves, 6)}
$$""",
        steps, settings, result,
    )  # fmt: skip
    with evidence():
        length.show(system, name, steps)
    if settings.scale is not None:
        offer(OnPage("filtering"))


def _tracked(series: RotationSettings) -> tuple[FilterSettings, bool, Followed]:
    """The filter's controls, whether every filter is shown, and the state as it is followed at their values."""
    with st.sidebar:
        settings, every = words.choose_filter(), words.choose_shown()
    system = system_of(series)
    result = _followed(system, series.train, series.test, series.seed, settings)
    _write_summary(result, system)
    words.warnings(result)
    player(len(result.truth), lambda step, above: _draw(result, system, every, step, above))
    return settings, every, result


@st.cache_resource(show_spinner="Filtering …", max_entries=16)
def _followed(system: RotationSystem, steps: int, test: int, seed: int, settings: FilterSettings) -> Followed:
    return follow(rotation_problem(system, steps, test, seed), settings, others=_others(system, steps, test, seed))


@st.cache_resource(show_spinner=False, max_entries=4)
def _others(system: RotationSystem, steps: int, test: int, seed: int) -> Others:
    """What the other filters find, whatever the kernel Bayes filter is set to."""
    return follow_with_others(rotation_problem(system, steps, test, seed))


def _write_summary(result: Followed, system: RotationSystem) -> None:
    """What is hidden, seen and given, and who comes nearest."""
    errors = result.errors
    best = _best(errors)
    track = "wavy circle" if system.b else "circle"
    most = f" Most accurate on this one series of {len(result.truth)} steps: the {words.phrase(best)}."
    lead(
        f"A point moves along a {track}, with noise. **Hidden**: where it is. **Observed**: one noisy position at "
        f"every step. **Given** to the kernel Bayes filter: {len(result.points)} examples and no equation. Its mean "
        f"square error is **{errors['kbr']:.4f}**; that of the extended Kalman filter, which knows "
        f"{_parameters(system)}, is **{errors['ekf']:.4f}**.{most}"
    )


def _best(errors: Mapping[str, float]) -> str:
    """The most accurate filter; the smoother is none, because it knows later observations."""
    return min((name for name in errors if name != "kbr_smoothed"), key=errors.__getitem__)


def _parameters(system: RotationSystem) -> str:
    """What the other filters are given."""
    if system.generator == "D":
        return "an equation in which the angle continues from the noisy state (not so here) and the noise"
    return "the equation and the noise"


def _draw(result: Followed, system: RotationSystem, every: bool, step: int, above: DeltaGenerator) -> None:
    limit = 1.05 * float(np.quantile(np.abs(np.concatenate([result.truth, result.observed])), 0.99))
    track = system.on_circle(np.linspace(0, 2 * np.pi, 400))
    means = words.shown(result.means, every, _best(result.errors))
    figure = plane_plot(
        result.truth, result.observed, means, step, sample=(result.points, result.weights[step]),
        limits=(-limit, limit), labels=("position, first coordinate", "position, second coordinate"), track=track,
        names=words.NAMES, signs=every, legend=False, height=_HEIGHT, dark=is_dark(),
    )  # fmt: skip
    left, right = above.columns([2, 3])  # the picture is square
    with left:
        plotly_live(figure, "f-plane")
    with right:
        errors = errors_plot(result.truth, means, step, names=words.NAMES, legend=False, height=_HEIGHT, dark=is_dark())
        plotly_live(errors, "f-errors", later=True)
    with above:
        legend(figure)
    words.weights_caption(result, step)
