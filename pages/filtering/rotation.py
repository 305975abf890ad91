"""The view of a point on a wavy circle: systems (a), (b) or one's own."""

import numpy as np
import streamlit as st

from deconditioning.figures.studies.filtering import errors_plot, plane_plot
from deconditioning.filtering.systems import GENERATORS, RotationSystem
from deconditioning.studies.filtering.study import FilterSettings, Followed, follow, rotation_problem
from pages.filtering import length, words
from pages.filtering.player import player
from pages.filtering.sweep import of_system
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls import widgets
from pages.kit.layout.theme import is_dark
from pages.kit.tools.study_sweep import offer

#: How the next angle comes about, by the generator's name in the library.
_ANGLES = {"M": "from the noisy state", "D": "by itself"}


def show(name: str) -> None:
    """The series, its pictures, the scores, error against T."""
    with st.sidebar:
        system = _choose_system(name)
        steps = int(widgets.slider("Training steps T", 20, 800, 200, 20, key="f-train"))
        test = int(widgets.slider("Steps to track", 20, 400, 150, 10, key="f-test"))
        seed = int(widgets.number_input("Seed", 0, 9999, 0, key="f-seed"))
        settings = words.choose_filter()
    found = _followed(system, steps, test, seed, settings)
    _said(found, system)
    words.warnings(found)
    player(len(found.truth), lambda step: _draw(found, step))
    words.table(found, "Mean square error, summed over coordinates, and milliseconds per step")
    words.equation(
        "At each step the filter moves the weights along the transitions of the examples and updates them with the "
        "observation by kernel Bayes' rule.",
        rf"""$$X_{{t+1}} = (1 + b \sin M\theta_{{t+1}})
\begin{{pmatrix}}\cos\theta_{{t+1}}\\ \sin\theta_{{t+1}}\end{{pmatrix}} + \zeta_t,\quad
Y_t = X_t + \xi_t,\qquad \eta = {system.eta:g},\ b = {system.b:g},\ M = {system.waves:g}$$""",
        steps, settings, found,
    )  # fmt: skip
    length.show(system, name, steps)
    if settings.scale is not None:
        offer(of_system(name))


def _choose_system(name: str) -> RotationSystem:
    """System (a), (b) or one's own."""
    generator = widgets.segmented_control(
        "Next angle", GENERATORS, default="M", key="f-gen", format_func=_ANGLES.__getitem__,
        help=(
            "The equation in the paper can be read in two ways: the angle continues from the noisy state, or the angle "
            "advances without noise and the noise is only added to the state."
        ),
    ) or "M"  # fmt: skip
    if name != "own":
        return RotationSystem.named(name, generator)
    eta = widgets.slider("η, turn per step", 0.0, 1.5, 0.3, 0.05, key="f-eta")
    b = widgets.slider("b, depth of the waves", 0.0, 0.9, 0.4, 0.05, key="f-b")
    waves = widgets.slider("M, waves", 1, 12, 8, key="f-waves")
    hidden = widgets.slider("Noise of the state (sd)", 0.0, 1.0, 0.2, 0.05, key="f-sh")
    seen = widgets.slider("Observation noise (sd)", 0.05, 1.0, 0.2, 0.05, key="f-so")
    return RotationSystem(float(eta), float(b), float(waves), float(hidden), float(seen), generator)


@st.cache_resource(show_spinner="Filtering …", max_entries=16)
def _followed(system: RotationSystem, steps: int, test: int, seed: int, settings: FilterSettings) -> Followed:
    return follow(rotation_problem(system, steps, test, seed), settings)


def _said(found: Followed, system: RotationSystem) -> None:
    """Who comes nearest."""
    errors = found.errors
    best = min((name for name in errors if name != "kbr_smoothed"), key=errors.__getitem__)
    told = "the equation and both noise variances"
    if system.generator == "D":
        told = (
            "the equation in which the angle continues from the noisy state (not the case here), and both noise "
            "variances"
        )
    st.markdown(
        f"Over {len(found.truth)} steps the mean square error is **{errors['kbr']:.4f}** for the kernel Bayes filter "
        f"and {errors['ekf']:.4f} for the extended Kalman filter. Most accurate: {words.TITLES[best].lower()}. The "
        f"kernel Bayes filter has {len(found.points)} examples and no equation; the others know {told}."
    )


def _draw(found: Followed, step: int) -> None:
    left, right = st.columns([1, 1])
    reach = 1.15 * float(np.abs(np.concatenate([found.truth, found.seen])).max())
    with left:
        figure = plane_plot(found.truth, found.seen, found.means, step, sample=(found.points, found.weights[step]),
                            limits=(-reach, reach), dark=is_dark())  # fmt: skip
        plotly_live(figure, "f-plane")
    with right:
        plotly_live(errors_plot(found.truth, found.means, step, dark=is_dark()), "f-errors")
        words.weights_caption(found, step)
