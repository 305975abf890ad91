"""The view Rates: the exponent of theorem 4.2 over its parameters, and measured errors beside it."""

import math
from concurrent.futures import Future
from dataclasses import replace

import numpy as np
import streamlit as st

from deconditioning.errors import Cancelled, InputError
from deconditioning.figures.studies.embeddings import exponent_plot, grid_plot, rate_plot
from deconditioning.studies.conditional_means.measured_rates import (
    Measured,
    RateSettings,
    limits,
    measure,
    schedule,
    slope,
)
from deconditioning.studies.conditional_means.rates import (
    Difficulty,
    Exponents,
    theorem_exponents,
)
from deconditioning.studies.conditional_means.settings import TheoremSettings
from deconditioning.wording import number, signed
from pages.conditional_mean_embeddings import beyond
from pages.kit.chart.background import get_background, redraw_when, session_lane
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls.settings import controls
from pages.kit.layout.escaping import sentence_of
from pages.kit.layout.page_layout import evidence, explain
from pages.kit.layout.theme import is_dark
from pages.kit.runs.stored_results import stored

STORED = "deconditional_rates.json"
#: What is measured, its name on an axis, and its words.
_ERRORS = {
    "Risk": ("risk", "excess risk, E‖ψ(Y) − D̂Cψ(Y)‖²", "the excess risk, which the theorem bounds"),
    "Hilbert–Schmidt": (
        "hilbert_schmidt", "squared distance, ‖D̂ − D‖²", "the squared Hilbert–Schmidt distance to the true operator",
    ),
}  # fmt: skip


def show() -> None:
    """The whole view."""
    settings, difficulty, kind = choose()
    a, powers = settings.a, theorem_exponents(settings.a, difficulty)
    enough = (
        "more first-stage samples would still help" if a < powers.best else "more first-stage samples bring no gain"
    )
    explain(
        "How fast does the error fall with the number M of second-stage samples? By theorem 4.2 it falls as "
        f"$M^{{-{number(powers.rate)}}}$, if the first stage has $N = M^{{{number(powers.samples)}}}$ samples (a = "
        f"{number(a)}). The minimax point lies at a* = **{number(powers.best)}**: {enough}."
    )
    _curve(settings, kind)
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        _exponents(a, difficulty)
    with right:
        st.markdown(
            "How the exponent depends on a, the growth of the first stage. Diamonds: the minimax point, the smallest a "
            "with the best rate. c′ and ι determine the required N, not the exponent."
        )
    _theorem(powers)
    with evidence("e-inf-a", "e-bags-unequal"):
        _grid(kind)
        beyond.show()


def choose() -> tuple[RateSettings, Difficulty, str]:
    """The theorem's parameters, the error to look at, and the effort."""
    with st.sidebar:
        requested = controls(TheoremSettings)
    settings = RateSettings(
        requested.a,
        None if requested.flat else requested.b,
        requested.c,
        requested.c_prime,
        requested.iota,
        requested.largest,
        seed=requested.seed,
    )
    return settings, settings.difficulty, requested.error


def _exponents(a: float, difficulty: Difficulty) -> None:
    grid = np.linspace(0.05, 3.0, 200)
    cases = {"finite features (b = ∞)": replace(difficulty, b=math.inf)}
    if not math.isinf(difficulty.b):
        cases = {f"b = {number(difficulty.b)}, c = {number(difficulty.c)}": difficulty, **cases}
    curves = {name: np.array([theorem_exponents(float(v), case).rate for v in grid]) for name, case in cases.items()}
    best = {name: theorem_exponents(a, case).best for name, case in cases.items()}
    marks = {name: (best[name], theorem_exponents(best[name], case).rate) for name, case in cases.items()}
    plotly_live(exponent_plot(grid, curves, marks, a, height=280, dark=is_dark()), "e-exponents")


def _stored_curve(settings: RateSettings) -> tuple[RateSettings, list[Measured]] | None:
    """The kept curve of the same parameters and seed, where it reaches at least as far."""
    for curve in stored(STORED)["curves"]:
        stored_settings = RateSettings(**curve["settings"])
        effort = {"largest": stored_settings.largest, "sizes": stored_settings.sizes, "seeds": stored_settings.seeds}
        if replace(settings, **effort) == stored_settings and settings.largest <= stored_settings.largest:
            return stored_settings, [Measured(**row) for row in curve["rows"]]
    return None


def _job(settings: RateSettings) -> "Future[list[Measured]]":
    key = f"rates-{settings}"
    return get_background().request(key, session_lane("rates"), lambda check: measure(settings, check))


def _curve(settings: RateSettings, kind: str) -> None:
    """Measured errors along the theorem's sizes; what needs no sampling is drawn at once."""
    stored_curve = _stored_curve(settings)
    try:
        schedule(stored_curve[0] if stored_curve else settings)
    except InputError as error:
        st.info(sentence_of(error))
        return
    rows: list[Measured] = []
    if stored_curve is not None:
        settings, rows = stored_curve
    else:
        job = get_background().known(f"rates-{settings}")
        if job is not None and job.done() and not isinstance(job.exception(), Cancelled):
            rows = job.result()
    _draw_curve(settings, rows, kind)
    if not rows:
        words = f"Measuring {settings.sizes} sizes, {settings.seeds} data sets each …"
        redraw_when(lambda: _job(settings).done(), lambda: st.caption(words))
    elif stored_curve is not None:
        st.caption("Stored with the app; produced by `deconditioning deconditional-rates`.")


def _draw_curve(settings: RateSettings, rows: list[Measured], kind: str) -> None:
    name, label, words = _ERRORS[kind]
    pairs = schedule(settings)
    sizes = np.array([m for m, _ in pairs], dtype=float)
    alone = np.array([getattr(error, name) for error in limits(settings, pairs)])
    errors = np.array([[getattr(row, name) for row in rows if row.targets == m] for m, _ in pairs])
    powers = theorem_exponents(settings.a, settings.difficulty)
    theory = powers.rate if name == "risk" else powers.distance
    mean = errors.mean(1) if rows else alone
    middle = len(sizes) // 2
    promised = "theorem 4.2" if name == "risk" else "range condition"
    lines = {
        f"error of regularisation<br>alone, slope {signed(slope(sizes, alone), 2)}": alone,
        f"{promised},<br>slope {signed(-theory, 2)}": mean[middle] * (sizes / sizes[middle]) ** -theory,
    }
    if rows:
        result = slope(sizes[middle:], mean[middle:])
        lines[f"fit to the measured,<br>slope {signed(result, 2)}"] = mean[middle] * (sizes / sizes[middle]) ** result
    title = "Error of the learned operator"
    figure = rate_plot(sizes, errors, lines, title=title, label=label, height=400, dark=is_dark())
    plotly_live(figure, "e-measured")
    features = 5 if settings.b is None else 33
    st.markdown(
        f"A circle with {features} Fourier features, where the operator is known: {words}; M from {pairs[0][0]:,} to "
        f"{pairs[-1][0]:,}, N from {pairs[0][1]:,} to {pairs[-1][1]:,}. "
        + (reading(-result, theory, name) if rows else "")
    )


def reading(result: float, theory: float, name: str) -> str:
    """How the measured slope compares; the theorem bounds the risk from above, for large M."""
    bound = "The theorem is an upper bound" if name == "risk" else "The range condition alone bounds ε's share"
    fall = f"the measured error over the larger half of the sizes falls as $M^{{-{result:.2f}}}$, which"
    if result >= theory:
        return f"{bound}: {fall} is at least as steep and agrees with it."
    if result >= 0.9 * theory:
        return f"{bound}: {fall} is nearly as steep; so few sizes and data sets cannot show a difference."
    return f"{bound} for large M: {fall} is less steep."


def _grid(kind: str) -> None:
    """The kept table of all M and N: more of the one helps until the other limits."""
    name, label, words = _ERRORS[kind]
    grid = stored(STORED)["grid"]
    settings, rows = RateSettings(**grid["settings"]), [Measured(**row) for row in grid["rows"]]
    samples = sorted({row.samples for row in rows})
    curves = {
        f"M = {m:,}": np.array(
            [np.mean([getattr(r, name) for r in rows if (r.targets, r.samples) == (m, n)]) for n in samples]
        )
        for m in sorted({row.targets for row in rows})
    }
    flat = "Each line flattens: beyond some N only a larger M reduces the risk, through ε."
    if name != "risk":
        flat = (
            "More samples of the first stage help at all sizes: in this norm, directions with small images have more "
            "weight than in the risk."
        )
    left, right = st.columns(2)
    with left:
        figure = grid_plot(np.array(samples), curves, title="Every M and N", label=label, dark=is_dark())
        plotly_live(figure, "e-grid")
    with right:
        st.markdown(
            f"Stored results for a = {number(settings.a)}, b = {number(settings.difficulty.b)}, c = "
            f"{number(settings.c)}, {settings.seeds} data sets each: {words}, against the samples of both stages. "
            f"{flat} On the left the lines cross: with a larger M the smaller ε amplifies the errors of a poor first "
            "stage. The a of the theorem describes this trade-off."
        )


def _theorem(powers: Exponents) -> None:
    explain(
        "The deconditional mean operator is learned by two ridge regressions; the rate of the second depends on the "
        "sample size of the first.",
        rf"""
$$\mathcal E_d(\hat D) - \mathcal E_d(D) = O(M^{{-r}}),\qquad
r = \begin{{cases}} \frac{{ac}}{{c+1}} & a \le a^* = \frac{{b(c+1)}}{{bc+1}} = {number(powers.best)} \\[2pt]
\frac{{bc}}{{bc+1}} & a \ge a^* \end{{cases}}\quad = {number(powers.rate)}$$

$$\lambda \propto N^{{-1/(c'+1)}} = N^{{-{number(powers.lam)}}},\quad
N = M^{{a(c'+1)/(\iota(c'-1))}} = M^{{{number(powers.samples)}}},\quad
\varepsilon \propto M^{{-{number(powers.epsilon)}}}$$

$$\hat C = \Phi^\top\Psi(\Psi^\top\Psi + N\lambda I)^{{-1}},\qquad
\hat D = \tilde\Psi^\top U(U^\top U + M\varepsilon I)^{{-1}},\quad U = \tilde\Psi \hat C^\top$$

Conditions: $b > 1$, $c, c' \in\, ]1, 2]$, $\iota \in\, ]0, 1]$, and $\mathcal H_\ell$ finite-dimensional. The measured
curve uses a tenth of these powers as λ and ε. Its eigenvalues follow $n^{{-b}}$ up to n = 33, so its slope is that of
the theorem only while ε is larger than the smallest of them. The dotted line, in closed form, is the limit
N = M = ∞, where only the error of regularisation is left. The theorem does not cover the Hilbert–Schmidt norm; there
the range condition alone gives $\varepsilon^{{c-1}}$. By this formula a larger b gives a faster optimal rate, at a
larger a\*.
""",
        "Chau et al. 2021, theorem 4.2 and D.4, eq. 11-12",
    )
