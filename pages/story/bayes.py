"""Kernel Bayes' rule and filtering in four steps."""

import numpy as np
import streamlit as st

from deconditioning.embeddings.kernel_mean import KernelMean
from deconditioning.figures.colours import hue
from deconditioning.figures.studies import story as draw
from deconditioning.figures.style import INK, Figure
from deconditioning.filtering.systems import RotationSystem
from deconditioning.studies.filtering.settings import SYSTEMS
from deconditioning.studies.filtering.study import Followed, follow, rotation_problem
from deconditioning.studies.kernel_bayes.one_observation import Answer, answers, normal_density
from deconditioning.studies.kernel_bayes.study import GaussianProblem, GaussianSpec, make_gaussian
from deconditioning.studies.story.turned import SETTINGS, TAUGHT, Turned, follow_turned
from deconditioning.studies.story.turned import STEPS as FOLLOWED
from pages.story.step import Control, Guess, Link, Question, Shown, Step, number, percent

#: The numbers with which page Kernel Bayes' rule opens in one dimension.
SEED, PAIRS, PRIOR, LOOK = 26, 200, 200, 4.0
SCALE, EPSILON, _DELTA, _BANDWIDTH = 1.0, 5e-5, 1e-4, 0.7
_EXAMPLES = (20, 40, 80, 200, 400, 800)
#: Steps of the series that are drawn.
DRAWN = 40
SOURCE = "Fukumizu, Song and Gretton 2013, §3.2 and §4.3"
_TURNS = (-0.6, -0.3, 0.0, 0.3, 0.6, 0.9, 1.2)


@st.cache_resource(show_spinner=False, max_entries=32)
def _rule(pairs: int, look: float) -> tuple[GaussianProblem, dict[str, Answer]]:
    problem = make_gaussian(GaussianSpec(1, pairs, PRIOR, 1, SEED))
    return problem, answers(problem, np.array([look]), scale=SCALE, epsilon=EPSILON, delta=_DELTA, bandwidth=_BANDWIDTH)


@st.cache_resource(show_spinner=False, max_entries=8)
def _followed(examples: int) -> Followed:
    return follow(rotation_problem(RotationSystem.named("a"), examples, FOLLOWED, 0), SETTINGS)


_turned = st.cache_resource(show_spinner=False, max_entries=16)(follow_turned)


def _sample(result: dict[str, Answer]) -> KernelMean:
    sample = result["kbr"].sample
    assert sample is not None
    return sample


def examples(look: float, guess: Guess | None, dark: bool) -> Shown:
    """Step 1: pairs of state and look, and a new look."""
    problem, result = _rule(PAIRS, look)
    exact, estimate = _exact(problem, look), float(result["kbr"].mean[0])
    requested = exact if guess is None else _exact(problem, float(guess.control))
    figure = _examples(problem, look, () if guess is None else (estimate, exact), dark)
    lesson = (
        f"From examples alone the rule gives {number(estimate)}; an exact calculation, which knows every formula, "
        f"gives {number(exact)}. The posterior mean lies between the prior mean and the observation."
    )
    equation = rf"""
$$\hat\mu_{{X|y}} = \sum_i w_i\,k(X_i, \cdot),\qquad
w = \Lambda G_Y\big((\Lambda G_Y)^2 + \delta I\big)^{{-1}}\Lambda k_Y(y),\qquad
\Lambda = \mathrm{{diag}}\big((G_X + n\varepsilon I)^{{-1}} m_\Pi\big)$$

$n = {PAIRS}$, $y = {number(look, 6)}$: mean ${estimate:.3f}$, exactly ${exact:.3f}$.
"""
    query = {"k-dim": "1", "k-y0": f"{look:g}"}
    sentence = f"{PAIRS} examples of a hidden state with its observation. Now {number(look)} is observed (dashed)."
    return Shown(
        (figure,),
        sentence,
        requested,
        lesson,
        equation=equation,
        source=SOURCE,
        link=Link("kernel_bayes", "This observation, with every rule", query),
    )


def _examples(problem: GaussianProblem, look: float, answers: tuple[float, ...], dark: bool) -> Figure:
    """The examples, what was believed before below them, and once they are known the answers: own and exact."""
    states, looks, believed = problem.inputs[:, 0], problem.observations[:, 0], problem.draws[:, 0]
    foot = np.full(PRIOR, -13.5)
    traces = [
        draw.dots(states, looks, "examples", hue("grey", dark), alpha=0.8),
        draw.dots(believed, foot, "prior", hue("violet", dark), size=14, symbol="line-ns-open"),
    ]
    names = (("from the examples", hue("teal", dark), "circle"), ("exact", INK[dark], "circle-open"))
    for at, (name, ink, symbol) in zip(answers, names, strict=False):
        traces.append(draw.dots(np.array([at]), np.array([look]), name, ink, size=20, symbol=symbol))
    rules, labels = [draw.rule(look, hue("rust", dark), upright=False)], ("hidden state", "observation")
    alt = "States and observations of all examples."
    return draw.picture(traces, labels, alt, dark=dark, across=(-9, 9), up=(-14.5, 14), rules=rules)


def _exact(problem: GaussianProblem, look: float) -> float:
    return float(problem.posterior(np.array([look]))[0][0])


def weights(pairs: int, guess: Guess | None, dark: bool) -> Shown:
    """Step 2: the posterior as weights on the examples."""
    problem, result = _rule(pairs, LOOK)
    sample = _sample(result)
    weights_of_rule = sample.weights.numpy()
    mean, covariance = problem.posterior(np.array([LOOK]))
    grid = np.linspace(-9, 9, 300)
    density = normal_density(mean, covariance, grid[:, None])
    exact = draw.line(
        grid, density * float(np.abs(weights_of_rule).max()) / density.max(), "exact posterior, scaled", INK[dark]
    )
    traces = [exact] if guess is None else [*draw.stems(sample.points[:, 0].numpy(), weights_of_rule, dark), exact]
    figure = draw.picture(traces, ("hidden state", "weight"), "Weight of each example.", dark=dark, across=(-9, 9))
    negative = int((weights_of_rule < 0).sum())
    requested = negative / pairs
    if guess is not None:
        then = _sample(_rule(int(guess.control), LOOK)[1]).weights
        requested = float((then < 0).double().mean())
    lesson = (
        f"{negative} of {pairs} weights are negative, and all weights sum to {number(sample.total)}. The weights are "
        f"not probabilities, yet the weighted mean is {number(float(result['kbr'].mean[0]))}; the exact posterior mean "
        f"is {number(float(mean[0]))}."
    )
    equation = rf"""
$$E[f(X) \mid y] \approx \sum_i w_i f(X_i),\qquad \sum_i w_i = {sample.total:.3f},\qquad
\sum_i \max(-w_i, 0) = {sample.negative:.3f}$$

$n = {pairs}$; nothing forces $w_i \ge 0$.
"""
    query = {"k-dim": "1", "k-n": str(pairs)}
    sentence = f"The posterior is a weighted sample of {pairs} examples; {number(LOOK)} is observed."
    return Shown(
        (figure,),
        sentence,
        100 * requested,
        lesson,
        equation=equation,
        source=SOURCE,
        link=Link("kernel_bayes", "These weights, compared with other rules", query),
    )


def _path(truth: np.ndarray, observed: np.ndarray, means: np.ndarray | None, dark: bool) -> Figure:
    """The last steps of a series, one of its two coordinates, with looks, and estimates where they are shown."""
    step = np.arange(len(truth) - DRAWN, len(truth), dtype=float)
    traces = [
        draw.line(step, truth[-DRAWN:, 0], "hidden path", INK[dark], width=2.5, dash="dot"),
        draw.dots(step, observed[-DRAWN:, 0], "observation", hue("rust", dark), size=10),
    ]
    if means is not None:
        traces.append(draw.line(step, means[-DRAWN:, 0], "followed", hue("teal", dark), width=4))
    alt = "One coordinate of a path against the step, with observations and estimates."
    return draw.picture(traces, ("step", "position east"), alt, dark=dark, up=(-2.2, 2.2))


def _pursuit(count: int, guess: Guess | None, dark: bool) -> Shown:
    """Step 3: the filter after so many examples."""
    result = _followed(count)
    error, looks = _errors(result)
    requested = error / looks
    if guess is not None:
        then = _errors(_followed(int(guess.control)))
        requested = then[0] / then[1]
    lesson = (
        f"With {count} examples the error of the estimated path is {number(error)}; that of the observations is "
        f"{number(looks)}. The filter knows no equation. A filter that knows all equations has an error of "
        f"{number(result.errors['ekf'] ** 0.5)}."
    )
    equation = rf"""
$$\mu_{{t+1}} = (G_X + T\varepsilon I)^{{-1}} G_{{XX_+}} (G_X + T\varepsilon I)^{{-1}} G_X\,\alpha_t,\qquad
\alpha_{{t+1}} = \Lambda G_Y\big((\Lambda G_Y)^2 + \delta I\big)^{{-1}}\Lambda k_Y(y_{{t+1}})$$

$T = {count}$, RMSE ${error:.3f}$ over ${FOLLOWED}$ steps; of the observations ${looks:.3f}$.
"""
    query = {"f-system": SYSTEMS["a"], "f-train": str(count)}
    figure = _path(result.truth, result.observed, None if guess is None else result.means["kbr"], dark)
    return Shown(
        (figure,),
        f"The last {DRAWN} of {FOLLOWED} steps of a point that moves in a circle, with noisy observations.",
        100 * requested,
        lesson,
        equation=equation,
        source=SOURCE,
        link=Link("filtering", "Play it step by step", query),
    )


def _errors(result: Followed) -> tuple[float, float]:
    return result.errors["kbr"] ** 0.5, float(np.sqrt(((result.observed - result.truth) ** 2).sum(1).mean()))


def turned(turn: float, guess: Guess | None, dark: bool) -> Shown:
    """Step 4: a path that goes another way than the examples did."""
    result, usual = _turned(turn), _turned(TAUGHT)
    error, looks = result.errors
    requested = error / looks
    if guess is not None:
        requested = float(np.divide(*_turned(float(guess.control)).errors))
    lesson = (
        f"The error of the filter is {number(error)}; that of the observations is {number(looks)}. One sign needs no "
        f"truth: the filter's prediction error is {number(result.surprise)}, against {number(usual.surprise)} on a "
        "path like the training path."
    )
    good, bad = _signs(result, usual) if guess is not None else ((), ())
    equation = rf"""
$$\sqrt{{\tfrac1n\sum_t \|\hat x_{{t|t-1}} - y_t\|^2}} = {result.surprise:.3f},\qquad
\text{{as in training}}\ {usual.surprise:.3f}$$

$\hat x_{{t|t-1}}$ is predicted before $y_t$ is observed; turn in training ${number(TAUGHT, 6)}$, now
${number(turn, 6)}$ radians a step.
"""
    query = {"f-system": "own circle", "f-eta": f"{turn:g}", "f-b": "0"} if turn >= 0 else {"f-system": SYSTEMS["a"]}
    figure = _path(result.truth, result.observed, None if guess is None else result.means, dark)
    sentence = (
        f"The filter was trained on a path that turns by {number(TAUGHT)} per step. This path turns by {number(turn)}."
    )
    return Shown(
        (figure,),
        sentence,
        100 * requested,
        lesson,
        good,
        bad,
        equation,
        SOURCE,
        Link("filtering", "A filter trained on a path like this" if turn >= 0 else "The training path", query),
    )


def _signs(result: Turned, usual: Turned) -> tuple[tuple[str, ...], tuple[str, ...]]:
    error, looks = result.errors
    sentence = f"Its prediction error is {number(result.surprise / usual.surprise)} times that on the training path."
    better = f"Its error is {percent(error / looks)} of that of the observations."
    signs = ((result.surprise < 1.5 * usual.surprise, sentence), (error < looks, better))
    return tuple(words for fine, words in signs if fine), tuple(words for fine, words in signs if not fine)


STEPS = (
    Step(
        "Examples are enough",
        "Bayes' rule needs no formulas: examples of states and observations are enough.",
        Control("Observation", -8.0, 8.0, LOOK, 0.5),
        Question("What is the posterior mean of the hidden state?", -8, 8, 0.1, ""),
        examples,
    ),
    Step(
        "A weighted sample",
        "The posterior is a weight on every example, and some weights are negative.",
        Control("Examples", 20, 400, 200, 20),
        Question("What share of the weights is negative?"),
        weights,
    ),
    Step(
        "Track a hidden state",
        "Applied at every step, the rule tracks a state that is never observed directly.",
        Control("Number of examples", options=_EXAMPLES, value=200),
        Question("How large is the error, in per cent of the error of the observations?", 0, 200),
        _pursuit,
    ),
    Step(
        "Where it fails",
        "The filter assumes that the state moves as in the examples. If it does not, the filter misleads.",
        Control("Turn of the path, radians per step", options=_TURNS, value=1.2),
        Question("How large is the error now, in per cent of the error of the observations?", 0, 200),
        turned,
    ),
)
