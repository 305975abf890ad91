"""Likelihood-free inference in four steps."""

from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from deconditioning.figures.colours import hue, model_colour, model_name
from deconditioning.figures.studies import story as draw
from deconditioning.figures.style import INK, Figure
from deconditioning.likelihood_free.inference import nearest_count
from deconditioning.likelihood_free.simulators import Exact, simulate
from deconditioning.metrics.intervals import RIGHT
from deconditioning.studies.likelihood_free.study import Inference, infer, make_problem
from deconditioning.studies.story.checked import LEVEL, SECRETS, Checked, check_secrets
from pages.kit.chart.background import awaited, get_background, session_lane
from pages.story.step import Control, Guess, Link, Question, Shown, Step, number, percent

NAME, OBSERVED, RUNS = "exponential-gamma", 9.42, 100
COUNTS, FEW = (20, 50, 100, 200, 500), (20, 50, 100)
_ORDER = ("abc", "cme", "kbr", "dme")
SOURCE = "Hsu and Ramos 2019, §8.3 and Algorithm 8.1"


@st.cache_resource(show_spinner=False, max_entries=32)
def _inferred(observed: float, runs: int) -> Inference:
    problem = make_problem(NAME, observed)
    return infer(problem, simulate(problem, runs, 0))


def _exact(inference: Inference) -> Exact:
    exact = inference.exact
    assert exact is not None
    return exact


def _link(label: str, runs: int, observed: float = OBSERVED) -> Link:
    query = {f"lf-n-{NAME}": str(runs)} if runs != RUNS else {}
    return Link("likelihood_free", label, query | ({"lf-y": f"{observed:g}"} if observed != OBSERVED else {}))


def _runs(inference: Inference, observed: float, more: list[draw.Trace], dark: bool) -> Figure:
    """The simulator's runs with the observation as a rule, and what is to be marked among them."""
    theta, mean = np.exp(inference.simulations.parameters[:, 0]), np.exp(inference.simulations.summaries[:, 0])
    traces = [draw.dots(theta, mean, "simulator runs", hue("grey", dark), size=9, alpha=0.8), *more]
    rules = [draw.rule(observed, hue("rust", dark), upright=False)]
    labels = ("rate, buses per minute (secret)", "average wait, minutes (observed)")
    figure = draw.picture(traces, labels, "Runs of a simulator.", dark=dark, rules=rules)
    for name, ticks in (("xaxis", [0.01, 0.03, 0.1, 0.3, 1]), ("yaxis", [1, 3, 10, 30, 100])):
        figure["layout"][name] |= {"type": "log", "tickvals": ticks}
    return figure


def runs(observed: float, guess: Guess | None, dark: bool) -> Shown:
    """Step 1: a simulator's runs, and an observation."""
    inference = _inferred(observed, RUNS)
    exact, estimate = float(_exact(inference).mean[0]), float(inference.answers["dme"].mean[0])
    y, marks = np.array([observed]), []
    if guess is not None:
        marks = [
            draw.dots(np.array([estimate]), y, "from the runs", hue("teal", dark), size=20),
            draw.dots(np.array([exact]), y, "exact", INK[dark], size=20, symbol="circle-open"),
        ]
    figure = _runs(inference, observed, marks, dark)
    requested = exact if guess is None else float(_exact(_inferred(float(guess.control), RUNS)).mean[0])
    lesson = (
        f"From the runs the posterior mean is {number(estimate)}. The exact value, which can be computed for this "
        f"small simulator, is {number(exact)}. For most simulators no exact calculation exists, and the runs are "
        "all there is."
    )
    equation = rf"""
$$p(\theta \mid y) \propto p(\theta)\int p(x \mid \theta)\,\kappa_\epsilon(y, x)\,dx,\qquad
\bar x \sim \tfrac1\theta\,\mathrm{{Gamma}}(500, 500),\qquad E[\theta \mid y] = {exact:.4f}$$

${RUNS}$ runs at logarithmically spaced rates, $y = {number(observed, 6)}$.
"""
    wait = f"The observed average wait is {number(observed)} minutes (dashed)."
    sentence = f"{RUNS} runs, each at a different rate. {wait}"
    return Shown(
        (figure,),
        sentence,
        requested,
        lesson,
        equation=equation,
        source=SOURCE,
        link=_link("This observation, with four methods", RUNS, observed),
    )


def near(count: int, guess: Guess | None, dark: bool) -> Shown:
    """Step 2: the runs nearest to the observation."""
    inference = _inferred(OBSERVED, count)
    parameters, summaries = inference.simulations.parameters[:, 0], inference.simulations.summaries[:, 0]
    nearest = np.argsort(np.abs(summaries - inference.problem.observed[0]))[: nearest_count(count)]
    marks = draw.dots(np.exp(parameters[nearest]), np.exp(summaries[nearest]), "kept", hue("ochre", dark), size=14)
    figure = _runs(inference, OBSERVED, [] if guess is None else [marks], dark)
    times = _width(inference, "abc")
    requested = 100 * times if guess is None else 100 * _width(_inferred(OBSERVED, int(guess.control)), "abc")
    lesson = (
        f"The method keeps {len(nearest)} of {count} runs and discards {count - len(nearest)}. Its interval is "
        f"{number(times)} times as wide as the exact one."
    )
    low, high = inference.answers["abc"].interval[0]
    equation = rf"""
$$\{{\theta_i : \|x_i - y\| \le r\}},\qquad \lceil\sqrt n\,\rceil = {len(nearest)}\ \text{{kept}},\qquad
95\,\%:\ [{low:.4f}, {high:.4f}]$$
"""
    return Shown(
        (figure,),
        f"{count} runs, and an observed average wait of {number(OBSERVED)} minutes.",
        requested,
        lesson,
        equation=equation,
        source="Pritchard et al. 1999 (rejection ABC)",
        link=_link("Its samples, compared with other methods", count),
    )


def _width(inference: Inference, method: str) -> float:
    """Width of a method's interval in widths of the exact one; NaN where it has none."""
    answer, exact = inference.answers.get(method), _exact(inference).interval[0]
    return float("nan") if answer is None else float(np.diff(answer.interval[0])[0] / np.diff(exact)[0])


def compare(count: int, guess: Guess | None, dark: bool) -> Shown:
    """Step 3: four methods on the same runs."""
    inference = _inferred(OBSERVED, count)
    shown = _ORDER[:1] if guess is None else _ORDER
    width = _width(inference, "dme")
    requested = 100 * width if guess is None else 100 * _width(_inferred(OBSERVED, int(guess.control)), "dme")
    lesson = "; ".join(
        f"{model_name(name)} {number(_width(inference, name))}" for name in _ORDER if name in inference.answers
    )
    lesson = f"Widths relative to the exact interval: {lesson}. All methods used the same {count} runs."
    equation = rf"""
$$\bar\mu = \sum_j w_j\,\ell(\tilde\theta_j, \cdot),\qquad w = (A^\top K A + m\delta I)^{{-1}} A^\top k(y),\qquad
A = (L + n\lambda I)^{{-1}}\tilde L$$

$n = {count}$, $\epsilon = {number(inference.settings.epsilon)}$,
$\lambda = {number(inference.settings.regularisation)}$.
"""
    sentence = f"Intervals for the secret rate from {count} runs, and the exact interval."
    return Shown(
        (_intervals(inference, shown, dark),),
        sentence,
        requested,
        lesson,
        equation=equation,
        source=SOURCE,
        link=_link("All four methods, with their samples", count),
    )


def _intervals(inference: Inference, methods: tuple[str, ...], dark: bool) -> Figure:
    """Means and intervals of some methods, beside the exact ones."""
    exact = _exact(inference)
    rows = {
        model_name(name): (float(answer.mean[0]), answer.interval[0], model_colour(name, dark))
        for name in methods
        if (answer := inference.answers.get(name)) is not None
    }
    return draw.intervals(rows, (float(exact.mean[0]), exact.interval[0]), "rate", dark=dark)


@st.cache_resource(show_spinner=False, max_entries=len(FEW))
def _results(count: int) -> dict[str, Checked]:
    return {}


def _secrets(count: int) -> Checked | None:
    """The check, shown to be on its way; None until it is there."""
    return awaited(f"story-secrets-{count}", "story-secrets", partial(_check, count), "Drawing secret rates …")


def _check(count: int, check: Any) -> Checked:
    results = _results(count)
    if "found" not in results:
        results["found"] = check_secrets(make_problem(NAME), count, check=check)
    return results["found"]


def secret(count: int, guess: Guess | None, dark: bool) -> Shown:
    """Step 4: secrets drawn, data made from them, intervals checked."""
    inference = _inferred(OBSERVED, count)
    sentence = (
        f"From {count} runs only. The method can be tested on {SECRETS} secret rates, with data from the simulator."
    )
    if "found" not in _results(count):
        get_background().request(f"story-secrets-{count}", session_lane("story-secrets"), partial(_check, count))
    checked = _results(count).get("found") if guess is not None else None
    if guess is not None and checked is None:
        return Shown((_intervals(inference, ("dme",), dark),), sentence, wait=lambda: _secrets(count))
    figure, requested, lesson = _intervals(inference, ("dme",), dark), 0.0, ""
    good: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    equation = rf"""
$$\theta_r \sim p(\theta),\quad y_r \sim p(y \mid \theta_r),\qquad
\hat c = \tfrac1{{{SECRETS}}}\sum_r \mathbf 1[\theta_r \in I(y_r)],\qquad \text{{nominal}}\ {number(LEVEL, 6)}$$
"""
    if checked is not None and guess is not None:
        figure = _caterpillar(checked, dark)
        share, width = float(checked.inside.mean()), _width(inference, "dme")
        requested = 100 * float(_results(int(guess.control)).get("found", checked).inside.mean())
        result = f"{int(checked.inside.sum())} of {SECRETS} secret rates lie in their {percent(LEVEL)} intervals."
        good, bad = ((result,), ()) if round(100 * share) >= RIGHT[0] else ((), (result,))
        lesson = (
            f"For the observed average the interval is {number(width)} times as wide as the exact one. This check "
            "needs no exact answer, only more simulator runs."
        )
    return Shown(
        (figure,),
        sentence,
        requested,
        lesson,
        good,
        bad,
        equation,
        "Talts et al. 2018",
        _link("Its calibration and errors", count),
    )


def _caterpillar(checked: Checked, dark: bool) -> Figure:
    """Every secret with its interval, in order, misses in another colour."""
    order = np.argsort(checked.theta)
    traces = []
    for name, inside, ink in (("held", True, hue("teal", dark)), ("missed", False, hue("rust", dark))):
        at = np.flatnonzero(checked.inside[order] == inside).astype(float)
        chosen = order[checked.inside[order] == inside]
        gap = np.full(len(at), np.nan)
        x, y = np.column_stack([at, at, gap]).ravel(), np.column_stack([*checked.intervals[chosen].T, gap]).ravel()
        traces += [draw.line(x, y, name, ink, width=5), draw.dots(at, checked.theta[chosen], "", INK[dark], size=9)]
    labels = ("secret rates, in order", "rate, buses per minute")
    figure = draw.picture(traces, labels, "Secret rates and their intervals.", dark=dark)
    figure["layout"]["yaxis"] |= {"type": "log", "tickvals": [0.01, 0.03, 0.1, 0.3, 1]}
    return figure


STEPS = (
    Step(
        "Only a simulator",
        "Without a formula for the likelihood, one can still run the simulator.",
        Control("Observed average wait, minutes", 2.0, 60.0, OBSERVED, 0.01),
        Question("What is the posterior mean of the rate?", 0.01, 0.3, 0.005, ""),
        runs,
    ),
    Step(
        "Keep the nearest",
        "The simplest method keeps the runs that are close to the observation and discards the rest.",
        Control("Runs", options=COUNTS, value=RUNS),
        Question("How wide is its interval, in per cent of the exact interval?", 50, 500, 10),
        near,
    ),
    Step(
        "Use every run",
        "Deconditioning uses every run, close to the observation or not.",
        Control("Runs", options=COUNTS, value=200),
        Question("How wide is its interval, in per cent of the exact interval?", 50, 500, 10),
        compare,
    ),
    Step(
        "Check with secrets",
        "Draw a secret rate, simulate its data and infer the rate: this tests the method without an exact answer.",
        Control("Runs", options=FEW, value=50),
        Question(f"What share of the {SECRETS} secret rates lies in the 95 % intervals?"),
        secret,
    ),
)
