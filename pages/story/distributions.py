"""Distribution regression in three steps."""

import numpy as np
import streamlit as st

from deconditioning.distribution_regression.simulate import SimulationSpec, regression_function, simulate
from deconditioning.distribution_regression.subjects import Subjects
from deconditioning.figures.colours import hue
from deconditioning.figures.studies import story as draw
from deconditioning.figures.style import INK, Figure
from deconditioning.studies.distribution_regression.compare import Curve, Prepared
from deconditioning.studies.distribution_regression.compare import compare as compared
from deconditioning.studies.distribution_regression.study import MethodSettings
from pages.story.step import Control, Guess, Link, Question, Shown, Step, number, percent

SUBJECTS, MEASURES = 200, 1000
COUNTS, FEW = (20, 40, 80, 200, 400), (10, 20, 50, 100, 250, 500, 1000)
PLACES = ("near 0.2", "near 0.5", "near 0.9")
_BINS = 20
#: What counts as near the value that raises the outcome most.
NEAR = 0.15
SOURCE = "Tang et al., eq. 6, 7 and 20"
MODEL = r"""
$$y_i = \frac{1}{m_i}\sum_j f(x_{ij}) + \varepsilon_i,\qquad f \sim GP(0, K),\qquad
E[f(s) \mid X, y] = l(s)^\top (M + \sigma^2 I)^{-1} y$$
"""


@st.cache_resource(show_spinner=False, max_entries=16)
def _fitted(subjects: int, measures: int) -> tuple[np.ndarray, Curve, Subjects]:
    drawn = simulate(SimulationSpec(subjects, measures)).subjects
    result = compared(Prepared(drawn), MethodSettings(), regression_function, ("gpdr",))
    return result.at, result.curves["gpdr"], drawn


def _coverage(at: np.ndarray, curve: Curve) -> float:
    return float((np.abs(curve.mean - regression_function(at)) <= 2 * curve.sd).mean())


def _off(at: np.ndarray, curve: Curve) -> float:
    return float(np.sqrt(np.mean((curve.mean - regression_function(at)) ** 2)))


def people(share: int, guess: Guess | None, dark: bool) -> Shown:
    """Step 1: measures of the people with the highest and the lowest outcomes."""
    at, _, drawn = _fitted(SUBJECTS, MEASURES)
    count = max(1, round(share / 100 * SUBJECTS))
    order, owner = np.argsort(drawn.outcomes.numpy()), drawn.owner.numpy()
    values = drawn.measures[:, 0].numpy()
    highest, lowest = (values[np.isin(owner, who)] for who in (order[-count:], order[:count]))
    figure = _two_groups(highest, lowest, None if guess is None else at, dark)
    best = float(at[regression_function(at).argmax()])
    nearest = PLACES[int(np.argmin([abs(best - float(name.split()[-1])) for name in PLACES]))]
    equation = (
        MODEL
        + rf"""
$f_0(x) = 10x\,e^{{-5x}}$ is largest at $x = {best:.2f}$; $n = {SUBJECTS}$, $m = {MEASURES}$.
"""
    )
    sentence = (
        f"{SUBJECTS} people with {MEASURES:,} measurements each: the {count} with the highest outcomes and the {count} "
        "with the lowest."
    )
    most, least = (float((np.abs(group - best) <= NEAR).mean()) for group in (highest, lowest))
    lesson = (
        f"In the group with the highest outcomes {percent(most)} of the measurements lie within {number(NEAR, 6)} of "
        f"{number(best)}; in the group with the lowest, {percent(least)}. The outcome depends on the whole "
        "distribution of a person's measurements, not on one number."
    )
    return Shown(
        (figure,),
        sentence,
        nearest,
        lesson,
        equation=equation,
        source=SOURCE,
        link=Link("distribution_regression", "All of these people"),
    )


def _two_groups(highest: np.ndarray, lowest: np.ndarray, at: np.ndarray | None, dark: bool) -> Figure:
    """How often each value is measured in both groups; with ``at`` also what a value adds, there."""
    edges = np.linspace(0, 1, _BINS + 1)
    middle, traces = 0.5 * (edges[1:] + edges[:-1]), []
    for name, values, ink in (("highest outcomes", highest, "rust"), ("lowest outcomes", lowest, "blue")):
        density = np.histogram(values, edges, density=True)[0]
        traces.append(draw.line(middle, density, name, hue(ink, dark), width=4))
    if at is not None:
        truth = regression_function(at)
        traces.append(draw.line(at, truth / truth.max() * 2, "effect of a value, scaled", INK[dark], dash="dot"))
    return draw.picture(traces, ("measured value", "density"), "Measurements of two groups.", dark=dark)


def _curve(at: np.ndarray, curve: Curve, revealed: bool, dark: bool) -> Figure:
    colour = hue("teal", dark)
    traces = [
        draw.band(at, curve.mean - 2 * curve.sd, curve.mean + 2 * curve.sd, "95 % band", colour),
        draw.line(at, curve.mean, "recovered", colour),
    ]
    if revealed:
        traces.append(draw.line(at, regression_function(at), "the truth", INK[dark], dash="dot"))
    return draw.picture(
        traces, ("measured value", "effect on the outcome"), "A recovered curve.", dark=dark, up=(-0.55, 1.15)
    )


def recover(count: int, guess: Guess | None, dark: bool) -> Shown:
    """Step 2: what a value adds, from so many people."""
    at, curve, _ = _fitted(count, MEASURES)
    few, many = (_off(at, _fitted(n, MEASURES)[1]) for n in (COUNTS[0], SUBJECTS))
    lesson = (
        f"With {COUNTS[0]} people the error of the curve is {number(few)}, with {SUBJECTS} it is {number(many)}. The "
        "curve was never measured; only its average over each person's measurements was observed. Recovering it is "
        "deconditioning."
    )
    equation = (
        MODEL
        + rf"""
$n = {count}$, $m = {MEASURES}$, $\sigma^2 = {number(curve.noise, 6)}$: RMSE ${_off(at, curve):.3f}$.
"""
    )
    query = {"d-n": str(count)} if count != SUBJECTS else {}
    sentence = f"Effect of each measured value, recovered from {count} people."
    return Shown(
        (_curve(at, curve, guess is not None, dark),),
        sentence,
        100 * (1 - many / few),
        lesson,
        equation=equation,
        source=SOURCE,
        link=Link("distribution_regression", "This curve, with every method", query),
    )


def distrust(measures: int, guess: Guess | None, dark: bool) -> Shown:
    """Step 3: too few measures a person."""
    at, curve, _ = _fitted(SUBJECTS, measures)
    full = _fitted(SUBJECTS, MEASURES)[1]
    held = _coverage(at, curve)
    requested = held if guess is None else _coverage(at, _fitted(SUBJECTS, int(guess.control))[1])
    moved = float((np.abs(curve.mean - full.mean) > 2 * curve.sd).mean())
    result = (
        f"With {MEASURES:,} measurements per person the curve lies outside this band at {percent(moved)} of all values."
    )
    good, bad = ((result,), ()) if moved <= 0.1 else ((), (result,))
    lesson = (
        f"With {measures} measurements per person, the band contains {percent(held)} of the truth. A few measurements "
        "describe a distribution poorly, and the band ignores this."
    )
    equation = (
        MODEL
        + rf"""
The band is $2\sqrt{{K(s, s) - l(s)^\top (M + \sigma^2)^{{-1}} l(s)}}$; it treats the {measures} measurements as
the whole distribution. RMSE ${_off(at, curve):.3f}$.
"""
    )
    query = {"d-m": str(measures)} if measures != MEASURES else {}
    sentence = f"{SUBJECTS} people, {measures} measurements of each."
    return Shown(
        (_curve(at, curve, guess is not None, dark),),
        sentence,
        100 * requested,
        lesson,
        good if guess else (),
        bad if guess else (),
        equation,
        SOURCE,
        Link("distribution_regression", "Few measurements, with every method", query),
    )


STEPS = (
    Step(
        "A person is many numbers",
        "A person who is measured a thousand times is a distribution, not one number.",
        Control("People in each group, %", 5, 50, 15, 5),
        Question("Which values raise the outcome most?", choices=PLACES),
        people,
    ),
    Step(
        "Effect of a value",
        "From one outcome per person, regression recovers how much each measured value contributes.",
        Control("People", options=COUNTS, value=40),
        Question(f"By how much is the error of the curve smaller with {SUBJECTS} people than with {COUNTS[0]}?"),
        recover,
    ),
    Step(
        "Where it fails",
        "With few measurements per person the method is confident and wrong.",
        Control("Measurements per person", options=FEW, value=10),
        Question("How much of the truth does the band contain?"),
        distrust,
    ),
)
