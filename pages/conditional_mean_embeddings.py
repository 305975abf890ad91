"""Page Conditional mean embeddings: when the shrinkage estimator differs from the standard one, and when it cannot."""

import math
from dataclasses import replace

import numpy as np
import streamlit as st

from core.errors import InputError
from core.experiments.conditional_means import LAYOUTS, BagLayout, Comparison, compare, sample_bags
from core.experiments.rates import (
    Difficulty,
    RateCurve,
    measured_curve,
    minimax_exponent,
    rate_exponent,
    samples_exponent,
)
from core.figures.embedding import (
    bags_plot,
    embedding_map,
    exponent_plot,
    rate_plot,
    regressions_plot,
    slice_plot,
)
from pages.shared.layout import explain, page_header
from pages.shared.plotly_live import plotly_live
from pages.shared.state import log_slider
from pages.shared.theme import is_dark

VIEWS = ("Estimates", "Rates")
NAMES = {f"{bags} × {per}": (bags, per) for bags, per in LAYOUTS}


def main() -> None:
    """One of the two views."""
    page_header(
        "Conditional mean embeddings", "Replicate a bag's label for each of its points, or let the bag speak once?"
    )
    view = st.segmented_control("View", VIEWS, default="Estimates", key="e-view", bind="query-params",
                                label_visibility="collapsed")  # fmt: skip
    try:
        if view == "Rates":
            rates()
        else:
            estimates()
    except InputError as error:
        st.error(str(error))
        st.caption("Nothing is lost: change the control on the left, the page comes back.")


@st.cache_data(show_spinner=False, max_entries=24)
def _compared(layout: BagLayout) -> Comparison:
    return compare(layout)


def choose() -> BagLayout:
    """Bags, points, sizes, λ and seed."""
    with st.sidebar:
        name = st.segmented_control("Bags × points a bag", [*NAMES, "own"], default="50 × 3", key="e-layout",
                                    bind="query-params")  # fmt: skip
        bags, per = NAMES.get(name or "50 × 3", (50, 3))
        if name == "own":
            bags = int(st.number_input("Bags", 1, 1000, 30, key="e-bags", bind="query-params"))
            per = int(st.number_input("Points a bag", 1, 1000, 20, key="e-per", bind="query-params"))
        unequal = st.toggle("Bags of unequal size", False, key="e-unequal", bind="query-params")
        alike = st.toggle(
            "λ scaled alike", True, key="e-alike", bind="query-params",
            help="On: Nλ and Bλ stand on the diagonals. Off: the same number on both, as in the paper's study.",
        )  # fmt: skip
        lam = log_slider("λ", "e-lam", 1e-5, 10.0, 0.1)
        seed = st.number_input("Seed", 0, 9999, 0, key="e-seed", bind="query-params")
    return BagLayout(bags, per, bool(unequal), bool(alike), lam, int(seed))


def estimates() -> None:
    """Data, both embeddings, their difference and the time each takes."""
    layout = choose()
    found, sample = _compared(layout), sample_bags(layout)
    st.markdown(verdict(layout, found))
    dark, x, y = is_dark(), found.x.numpy(), found.y.numpy()
    both = [found.standard.numpy(), found.shrinkage.numpy()]
    limits = (float(min(v.min() for v in both)), float(max(v.max() for v in both)))
    gap = max(float(np.abs(both[1] - both[0]).max()), 1e-3 * limits[1])
    first, second, third = st.columns(3)
    with first:
        points = sample.bags.inputs[:, 0].numpy()
        label = sample.mediators[sample.bags.bag, 0].numpy()
        plotly_live(bags_plot(points, label, sample.bags.bag.numpy(), dark=dark), "e-data")
        plotly_live(regressions_plot(y, {k: v.numpy() for k, v in found.regressions.items()}, dark=dark), "e-lines")
    with second:
        plotly_live(embedding_map(both[0], x, y, title="Standard μ(x, y)", limits=limits, dark=dark), "e-standard")
        at = st.slider("Look along x at y", float(y[0]), float(y[-1]), float(np.median(y)), key="e-y")
        column = int(np.abs(y - at).argmin())
        lines = {"standard": both[0][:, column], "shrinkage": both[1][:, column]}
        plotly_live(slice_plot(x, lines, float(y[column]), height=266, dark=dark), "e-slice")
    with third:
        plotly_live(embedding_map(both[1], x, y, title="Shrinkage μ(x, y)", limits=limits, dark=dark), "e-shrinkage")
        difference = embedding_map(
            both[1] - both[0], x, y, title="Shrinkage − standard", colours="diverging", limits=(-gap, gap), dark=dark
        )
        plotly_live(difference, "e-difference")
    times(layout, found)
    _equation(layout, len(points))


def verdict(layout: BagLayout, found: Comparison) -> str:
    """Whether the estimates differ, and why."""
    size = f"The two embeddings differ by RMSE **{found.difference:.2g}** over the grid"
    if not layout.unequal and layout.alike:
        return f"{size}: with equal bags and λ scaled alike they are the same estimate, to rounding."
    if not layout.unequal:
        return f"{size}: bags are equal, but the same number on both diagonals regularises shrinkage more."
    why = "large bags weigh more in the standard estimator" if layout.alike else "sizes and regularisation differ"
    return f"{size}: {why}."


def times(layout: BagLayout, found: Comparison) -> None:
    """CPU time of the three routes to the weights."""
    points, dense = layout.bags * layout.per_bag, found.seconds["standard, N×N"]
    how = "extrapolated from 2,000 points, the matrix alone would take "
    note = f"{how}{8 * points**2 / 1e9:.1f} GB" if found.extrapolated else "measured"
    fast = max(found.seconds["shrinkage"], 1e-6)
    st.markdown(
        f"CPU time of the weights: standard as written, N×N with N = {points:,}: **{dense:.3g} s** ({note}); the same "
        f"numbers at bag level: **{found.seconds['standard, at bag level']:.2g} s**; shrinkage: **{fast:.2g} s**. "
        f"Shrinkage is about {dense / fast:,.0f} times faster than the standard estimator as written, and not faster "
        "than its bag-level form."
    )


def _equation(layout: BagLayout, points: int) -> None:
    first = layout.regularisation * (points if layout.alike else 1)
    second = layout.regularisation * (layout.bags if layout.alike else 1)
    explain(
        "Both estimators weigh the bags' own mean embeddings; they differ in how the weights are found.",
        rf"""
$$\hat\mu_{{X|Y=y}} = \sum_j W_j(y)\,\hat\mu_j,\qquad \hat\mu_j = \tfrac1{{n_j}}\textstyle\sum_i k(x_j^i, \cdot)$$

$$W_\mathrm{{standard}} = (L + {first:.3g}\,D^{{-1}})^{{-1}}\ell(\mathbf y, y),\qquad
W_\mathrm{{shrinkage}} = (L + {second:.3g}\,I)^{{-1}}\ell(\mathbf y, y)$$

$D = \mathrm{{diag}}(n_j)$, $B = {layout.bags}$ bags, $N = {points}$ points. The first is the estimator with labels
replicated over bags, exactly: $(L_\mathrm{{rep}} + cI)^{{-1}}P = P(LD + cI)^{{-1}}$.
""",
        "Chau et al. 2021, eq. 10 and App. C",
    )


@st.cache_data(show_spinner="Measuring …", max_entries=32)
def _measured(a: float, difficulty: Difficulty) -> RateCurve:
    return measured_curve(a, difficulty)


def choose_difficulty() -> tuple[float, Difficulty]:
    """a, and the parameters of the theorem."""
    with st.sidebar:
        a = st.slider("a", 0.1, 3.0, 0.5, 0.05, key="e-a", bind="query-params",
                      help="N = M^{a(c′+1)/(ι(c′−1))}: how many samples the first stage is given.")  # fmt: skip
        b = st.slider("b", 1.05, 10.0, 2.0, 0.05, key="e-b", bind="query-params",
                      help="Decay of the eigenvalues: effective dimension.")  # fmt: skip
        c = st.slider("c", 1.05, 2.0, 2.0, 0.05, key="e-c", bind="query-params", help="Smoothness, second stage.")
        prime = st.slider("c′", 1.05, 2.0, 2.0, 0.05, key="e-cp", bind="query-params", help="Smoothness, first stage.")
        iota = st.slider("ι", 0.1, 1.0, 1.0, 0.05, key="e-iota", bind="query-params", help="Hölder exponent.")
    return a, Difficulty(b, c, prime, iota)


def rates() -> None:
    """The exponent of theorem 4.2 over its parameters, and a measured curve beside the theorem's slope."""
    a, difficulty = choose_difficulty()
    best, power = minimax_exponent(difficulty), samples_exponent(a, difficulty)
    enough = "more first-stage samples would still help" if a < best else "more first-stage samples gain nothing"
    st.markdown(
        f"With a = {a:.2g} the first stage is given N = M^{power:.3g} samples and the excess risk falls as "
        f"**M^−{rate_exponent(a, difficulty):.3g}**; the minimax point lies at a* = **{best:.3g}**: {enough}."
    )
    left, right = st.columns(2)
    with left:
        _exponents(a, difficulty)
    with right:
        _curve(a, replace(difficulty, b=math.inf))
    _theorem(best, power)


def _exponents(a: float, difficulty: Difficulty) -> None:
    grid = np.linspace(0.05, 3.0, 200)
    cases = {f"b = {difficulty.b:.3g}, c = {difficulty.c:.3g}": difficulty}
    cases["finite features (b = ∞)"] = replace(difficulty, b=math.inf)
    curves = {name: np.array([rate_exponent(float(v), case) for v in grid]) for name, case in cases.items()}
    marks = {
        name: (minimax_exponent(case), rate_exponent(minimax_exponent(case), case)) for name, case in cases.items()
    }
    plotly_live(exponent_plot(grid, curves, marks, a, dark=is_dark()), "e-exponents")
    st.markdown("Diamonds: the smallest a with the best rate. c′ and ι set the price in N, not the exponent.")


def _curve(a: float, finite: Difficulty) -> None:
    curve = _measured(a, finite)
    targets = np.array(curve.targets, dtype=float)
    figure = rate_plot(targets, curve.risks, curve.slope, rate_exponent(a, finite), dark=is_dark())
    plotly_live(figure, "e-measured")
    st.markdown(
        f"A circle with five Fourier features, where the operator is known: M from {curve.targets[0]:,} to "
        f"{curve.targets[-1]:,}, N up to {curve.samples[-1]:,}. The theorem is an upper bound: a measured fall as "
        "steep or steeper agrees with it."
    )


def _theorem(best: float, power: float) -> None:
    explain(
        "The deconditional mean operator is learned in two ridge regressions; the rate of the second depends on how "
        "much the first was given.",
        rf"""
$$\mathcal E_d(\hat D) - \mathcal E_d(D) = O(M^{{-r}}),\qquad
r = \begin{{cases}} \frac{{ac}}{{c+1}} & a \le \frac{{b(c+1)}}{{bc+1}} = {best:.3g} \\[2pt]
\frac{{bc}}{{bc+1}} & \text{{beyond}} \end{{cases}}$$

$$\lambda = N^{{-1/(c'+1)}},\quad N = M^{{a(c'+1)/(\iota(c'-1))}} = M^{{{power:.3g}}},\quad
\hat C = \Phi^\top\Psi(\Psi^\top\Psi + N\lambda I)^{{-1}},\quad
\hat D = \tilde\Psi^\top U(U^\top U + M\epsilon I)^{{-1}}$$

The curve takes $\lambda$ and $\epsilon$ a tenth of these powers.
""",
        "Chau et al. 2021, theorem 4.2, eq. 11-12",
    )


main()
