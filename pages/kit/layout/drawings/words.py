"""What words of the glossary look like: each a small computation, drawn."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache

import numpy as np
import streamlit as st
from scipy.stats import norm

from pages.kit.layout.drawings.svg import Drawing
from pages.kit.layout.theme import is_dark

_X = np.linspace(0, 1, 81)
_SEED = 4


def _covariance(a: np.ndarray, b: np.ndarray, lengthscale: float = 0.14) -> np.ndarray:
    """``k(x, x′) = exp(−(x − x′)² / 2ℓ²)``, (n, m)."""
    return np.exp(-0.5 * ((a[:, None] - b[None, :]) / lengthscale) ** 2)


def _draws(count: int, lengthscale: float, seed: int = _SEED) -> np.ndarray:
    """Functions of a Gaussian process with variance 1 at `_X`, (count, n)."""
    values, vectors = np.linalg.eigh(_covariance(_X, _X, lengthscale))
    normal = np.random.default_rng(seed).standard_normal((count, len(_X)))
    return normal @ (np.sqrt(np.clip(values, 0, None))[:, None] * vectors.T)


def _given(at: np.ndarray, values: np.ndarray, noise: float = 1e-3) -> tuple[np.ndarray, np.ndarray]:
    """Posterior mean and sd at `_X` given values at points."""
    matrix = _covariance(at, at) + noise * np.eye(len(at))
    weights = np.linalg.solve(matrix, _covariance(at, _X))
    return values @ weights, np.sqrt(np.clip(1 - (weights * _covariance(at, _X)).sum(0), 1e-9, None))


def _kernel() -> Drawing:
    drawing = Drawing("A kernel: high for close points, zero for distant ones", (0, 0), (1, 1.1))
    k = _covariance(np.array([0.5]), _X)[0]
    drawing.band(_X, np.zeros_like(_X), k)
    drawing.curve(_X, k)
    return drawing


def _lengthscale() -> Drawing:
    drawing = Drawing(
        "Two random functions: a wiggly one with a short lengthscale, a smooth one with a long lengthscale",
        (0, -3),
        (1, 3),
    )
    drawing.curve(_X, _draws(1, 0.05)[0], "grey", width=1.1)
    drawing.curve(_X, _draws(1, 0.25)[0], width=2.2)
    return drawing


def _prior() -> Drawing:
    drawing = Drawing("Random functions inside a band of constant width, before any data", (0, -2.8), (1, 2.8))
    drawing.band(_X, np.full_like(_X, -2.0), np.full_like(_X, 2.0), opacity=0.14)
    for draw in _draws(4, 0.14):
        drawing.curve(_X, draw, width=1.1)
    return drawing


def _posterior() -> Drawing:
    at, values = np.array([0.12, 0.35, 0.42, 0.8]), np.array([-0.8, 0.9, 1.2, -0.6])
    mean, sd = _given(at, values)
    drawing = Drawing(
        "A curve through data points; its band is narrow at the points and wide between them", (0, -2.6), (1, 2.6)
    )
    drawing.band(_X, mean - 2 * sd, mean + 2 * sd)
    drawing.curve(_X, mean)
    drawing.dots(at, values)
    return drawing


def _area_to_point() -> Drawing:
    function, cell = _draws(1, 0.14, seed=11)[0], np.minimum((6 * _X).astype(int), 5)
    means = np.array([function[cell == each].mean() for each in range(6)])
    says = "Means of cells as steps, and a smooth curve with the same means"
    drawing = Drawing(says, (0, function.min() - 0.4), (1, function.max() + 0.4))
    drawing.curve(_X, means[cell], "rust", width=2.0)
    drawing.curve(_X, function)
    return drawing


def _bag() -> Drawing:
    random = np.random.default_rng(_SEED)
    drawing = Drawing("Three groups of points, and the mean of each", (0, 0), (3, 1))
    for centre in (0.5, 1.5, 2.5):
        x, y = centre + 0.15 * random.standard_normal(12), 0.22 + 0.2 * centre + 0.11 * random.standard_normal(12)
        drawing.dots(x, y, "grey", 1.5)
        drawing.curve(np.array([centre - 0.36, centre + 0.36]), np.full(2, y.mean()), "rust", width=2.4)
    return drawing


def _mediator() -> Drawing:
    drawing = Drawing("x and z, each known together with y only", (0, 0), (3, 1))
    for name, at in (("x", 0.35), ("y", 1.5), ("z", 2.65)):
        drawing.words(at, 0.43, name)
    for first, last, colour in ((0.6, 1.25, "teal"), (2.4, 1.75, "rust")):
        tip = 0.12 * np.sign(last - first)
        drawing.curve(np.array([first, last]), np.full(2, 0.5), colour)
        drawing.curve(np.array([last - tip, last, last - tip]), np.array([0.66, 0.5, 0.34]), colour)
    return drawing


def _coverage() -> Drawing:
    random, x = np.random.default_rng(8), np.arange(20.0)
    errors = np.clip(random.standard_normal(20), -1.8, 1.8)
    errors[13] = 3.2
    drawing = Drawing("Twenty intervals of 95 %: nineteen contain the truth, one does not", (-1, -4.6), (20, 5.4))
    drawing.curve(np.array([-1.0, 20]), np.zeros(2), "grey", dashed=True, width=1.0)
    for at, error in zip(x, errors, strict=True):
        colour = "teal" if abs(error) < 1.96 else "rust"
        drawing.curve(np.full(2, at), error + np.array([-1.96, 1.96]), colour, width=2.4)
    return drawing


def _calibration() -> Drawing:
    level = np.linspace(0, 1, 41)
    held = 2 * norm.cdf(0.75 * norm.ppf(0.5 + np.clip(level, 0, 0.9999) / 2)) - 1
    drawing = Drawing(
        "Nominal against actual coverage: a curve below the diagonal, so the intervals are too narrow",
        (-0.6, 0),
        (1.6, 1),
    )
    drawing.curve(np.array([0.0, 1]), np.array([0.0, 1]), "grey", dashed=True, width=1.1)
    drawing.curve(level, held)
    return drawing


def _pit() -> Drawing:
    edges = np.linspace(0, 1, 11)
    counts = np.diff(norm.cdf(norm.ppf(edges) / 1.4)) * 10
    drawing = Drawing("A histogram that is not flat", (-0.3, 0), (1.3, 2))
    drawing.bars(edges[:-1], edges[1:], counts)
    drawing.curve(np.array([0.0, 1]), np.ones(2), "grey", dashed=True, width=1.1)
    return drawing


def _crps() -> Drawing:
    x = np.linspace(-3, 3, 121)
    truth = 0.8
    distribution, step = norm.cdf(x), (x >= truth).astype(float)
    drawing = Drawing(
        "The area between a predicted distribution function and the step at the truth", (-3, 0), (3, 1.05)
    )
    drawing.band(x, np.minimum(distribution, step), np.maximum(distribution, step), "rust")
    drawing.curve(x, distribution)
    drawing.curve(np.array([-3, truth, truth, 3]), np.array([0.0, 0, 1, 1]), "grey", width=1.1)
    return drawing


def _inducing() -> Drawing:
    random = np.random.default_rng(2)
    function = _draws(1, 0.14, seed=11)[0]
    at, few = np.sort(random.uniform(0, 1, 70)), np.array([0.02, 0.2, 0.38, 0.56, 0.74, 0.92])
    drawing = Drawing(
        "A curve by six points in place of seventy data", (0, function.min() - 0.5), (1, function.max() + 0.5)
    )
    drawing.dots(at, np.interp(at, _X, function) + 0.25 * random.standard_normal(70), "grey", 1.3)
    drawing.curve(_X, _given(few, np.interp(few, _X, function))[0])
    drawing.dots(few, np.interp(few, _X, function), radius=3.2)
    return drawing


def _herding() -> Drawing:
    x = np.linspace(-4, 4, 121)
    density = 0.6 * norm.pdf(x, -1.3, 0.8) + 0.4 * norm.pdf(x, 1.6, 0.7)
    below = np.cumsum(density) / density.sum()
    drawing = Drawing("Samples that lie closer together where a density is higher", (-4, -0.06), (4, 0.34))
    drawing.band(x, np.zeros_like(x), density)
    drawing.curve(x, density)
    at = np.interp((np.arange(14) + 0.5) / 14, below, x)
    drawing.dots(at, np.full(14, -0.025), radius=2.0)
    return drawing


def _filter() -> Drawing:
    random = np.random.default_rng(_SEED)
    state = np.sin(9 * _X) + 0.5 * np.sin(21 * _X)
    seen = np.arange(0, len(_X), 5)
    values = state[seen] + 0.45 * random.standard_normal(len(seen))
    mean, sd = _given(_X[seen], values, 0.2)
    drawing = Drawing(
        "A hidden state over time, noisy observations of it, and its estimate with a band", (0, -2.4), (1, 2.4)
    )
    drawing.band(_X, mean - 2 * sd, mean + 2 * sd)
    drawing.curve(_X, mean)
    drawing.curve(_X, state, "grey", dashed=True, width=1.1)
    drawing.dots(_X[seen], values, radius=1.8)
    return drawing


def _abc() -> Drawing:
    random = np.random.default_rng(_SEED)
    parameter = random.uniform(0, 1, 160)
    result = parameter + 0.12 * random.standard_normal(160)
    close = np.abs(result - 0.55) < 0.07
    drawing = Drawing("Simulations whose results lie close to the observation are kept", (-0.1, -0.2), (1.1, 1.2))
    drawing.band(np.array([-0.1, 1.1]), np.full(2, 0.48), np.full(2, 0.62), opacity=0.16)
    drawing.dots(parameter[~close], result[~close], "grey", 1.2)
    drawing.dots(parameter[close], result[close], radius=2.0)
    return drawing


def _roll() -> Drawing:
    turn = np.linspace(1.5 * np.pi, 4.5 * np.pi, 161)
    drawing = Drawing("A spiral in slices", (-32, -14.5), (32, 14.5))
    for first in range(0, 160, 20):
        part = slice(first, first + 21)
        colour = "teal" if first // 20 % 2 else "rust"
        drawing.curve(turn[part] * np.cos(turn[part]), turn[part] * np.sin(turn[part]), colour, width=2.2)
    return drawing


def _embedding() -> Drawing:
    random = np.random.default_rng(_SEED)
    at = np.sort(random.uniform(0, 1, 40))
    values = np.sin(6 * at) + 0.35 * random.standard_normal(40)
    k = _covariance(at, at, 0.12) + 0.4 * np.eye(40)
    mean = values @ np.linalg.solve(k, _covariance(at, _X, 0.12))
    drawing = Drawing("The conditional mean of scattered points", (0, -2), (1, 2))
    drawing.dots(at, values, "grey", 1.5)
    drawing.curve(_X, mean, width=2.0)
    return drawing


def _densities(*, several: bool) -> Drawing:
    x = np.linspace(-4, 4, 121)
    drawing = Drawing(
        "Three distributions" if several else "Prior, likelihood and, between them, the posterior", (-4, 0), (4, 0.75)
    )
    shown = ((-1.6, 0.7), (0.2, 0.9), (1.9, 0.6)) if several else ((-0.8, 1.3), (1.4, 1.0), (0.6, 0.75))
    for (centre, sd), colour in zip(shown, ("grey", "rust", "teal"), strict=True):
        drawing.band(x, np.zeros_like(x), norm.pdf(x, centre, sd), colour, 0.16)
        drawing.curve(x, norm.pdf(x, centre, sd), colour)
    return drawing


#: The words with a drawing; the last are drawn for exercises.
DRAWN: dict[str, Callable[[], Drawing]] = {
    "ABC": _abc,
    "area-to-point": _area_to_point,
    "bag": _bag,
    "calibration": _calibration,
    "conditional mean embedding": _embedding,
    "coverage": _coverage,
    "CRPS": _crps,
    "distribution regression": lambda: _densities(several=True),
    "filter": _filter,
    "Gaussian process": _prior,
    "herding": _herding,
    "inducing point": _inducing,
    "kernel": _kernel,
    "kernel Bayes' rule": lambda: _densities(several=False),
    "lengthscale": _lengthscale,
    "mediator": _mediator,
    "PIT": _pit,
    "posterior": _posterior,
    "Swiss roll": _roll,
}


@cache
def _image(word: str, dark: bool) -> str:
    return DRAWN[word]().image(dark)


@contextmanager
def beside_drawing(word: str) -> Generator[None]:
    """What is written inside stands on the left of the word's drawing, or alone if it has none."""
    if word not in DRAWN:
        yield
        return
    words, picture = st.columns([5, 2], vertical_alignment="center")
    with words:
        yield
    picture.html(_image(word, is_dark()))
