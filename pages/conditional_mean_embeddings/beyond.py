"""Beyond theorem 4.2, from stored runs: mediators' features without end, and bags in place of pairs."""

from typing import Any

import numpy as np
import streamlit as st

from deconditioning.figures.studies.embeddings import grid_plot
from deconditioning.studies.conditional_means.bag_rates import exponents
from deconditioning.studies.conditional_means.measured_rates import RateSettings, slope
from deconditioning.studies.conditional_means.rates import theorem_exponents
from deconditioning.wording import number
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls import widgets
from pages.kit.layout.theme import is_dark
from pages.kit.runs.stored_results import stored

_INFINITE, BAGS = "deconditional_rates_infinite.json", "shrinkage_rates.json"
_RISK = "E‖ψ(Y) − D̂Cψ(Y)‖²"


def show() -> None:
    """Both, side by side."""
    st.subheader("Beyond the theorem", anchor=False)
    left, right = st.columns(2, gap="medium")
    with left:
        _features()
    with right:
        _bags()


def _features() -> None:
    st.markdown("**Infinitely many features**")
    curves = stored(_INFINITE)["curves"]
    offered = sorted({curve["settings"]["a"] for curve in curves})
    middle = offered[len(offered) // 2]
    a = widgets.segmented_control("Growth exponent a of the first stage", offered, default=middle, key="e-inf-a")
    mine = [curve for curve in curves if curve["settings"]["a"] == (a or offered[0])]
    sizes = _targets(mine[0])
    lines = {f"{2 * curve['settings']['frequencies'] + 1} features": _risks(curve) for curve in mine}
    figure = grid_plot(
        np.array(sizes), lines, title=(
            "Risk with more and more features of the mediators"
        ), label=_RISK, along="M, targets",
        dark=is_dark(),
    )  # fmt: skip
    plotly_live(figure, "e-infinite", later=True)
    st.markdown(_features_sentence(mine))


def _targets(curve: dict[str, Any]) -> list[int]:
    return sorted({row["targets"] for row in curve["rows"]})


def _risks(curve: dict[str, Any]) -> np.ndarray:
    return np.array([np.mean([row["risk"] for row in curve["rows"] if row["targets"] == m]) for m in _targets(curve)])


def _features_sentence(curves: list[dict[str, Any]]) -> str:
    """Whether more features change the risk, what of the theorem fails in the limit, and how fast the risk falls."""
    settings, sizes = RateSettings(**curves[-1]["settings"]), _targets(curves[-1])
    last, before = _risks(curves[-1]), _risks(curves[-2])
    few, many = (2 * curve["settings"]["frequencies"] + 1 for curve in curves[-2:])
    change = 100 * float(np.abs(last / before - 1).max())
    norms = [float(RateSettings(**curve["settings"]).circle.operator().max()) for curve in curves[-2:]]
    fall, error = _fall(curves[-1])
    theory = theorem_exponents(settings.a, settings.difficulty).rate
    words = "faster than" if fall > theory + 2 * error else "more slowly than"
    words = "consistent with" if abs(fall - theory) <= 2 * error else words
    return (
        "Theorem 4.2 requires finitely many features of the mediators, and its proof needs this: the kernel of the "
        "second stage is Γ(μ, μ′) = ⟨μ, μ′⟩ Id, and the proof assumes that its trace, that of the identity on the "
        "features, is finite. If also DC = I, as on this circle, C and D cannot both be Hilbert–Schmidt. Here (b = "
        f"{number(settings.difficulty.b, 6)}, c = {number(settings.c, 6)}) the norm of C grows from {norms[0]:.0f} "
        f"with {few} features to {norms[1]:.0f} with {many}, but the risk changes by at most {number(change, 2)} %, "
        f"because ε suppresses the remaining features. From M = {sizes[0]} to {sizes[-1]:,} the risk falls as M to the "
        f"power −{fall:.2f} ± {error:.2f}, {words} the −{theory:.2f} of the theorem."
    )


def _fall(curve: dict[str, Any]) -> tuple[float, float]:
    """By which power of M the risk falls, and its standard error over data sets."""
    sizes, seeds = np.array(_targets(curve)), sorted({row["seed"] for row in curve["rows"]})
    each = [-slope(sizes, np.array([row["risk"] for row in curve["rows"] if row["seed"] == seed])) for seed in seeds]
    return -slope(sizes, _risks(curve)), float(np.std(each, ddof=1) / len(each) ** 0.5)


def _bags() -> None:
    st.markdown("**Bags instead of pairs**")
    rows = stored(BAGS)["results"]
    unequal = widgets.toggle(
        "Unequal bags", True, key="e-bags-unequal", help=("The sizes follow a geometric distribution with mean n.")
    )
    sizes = sorted({row["per_bag"] for row in rows})
    counts = sorted({row["bags"] for row in rows})
    lines = {}
    for count in (counts[0], counts[-1]):
        for model in ("standard", "shrinkage"):
            lines[f"{model}, B = {count}"] = np.array([_mean(rows, model, count, n, bool(unequal)) for n in sizes])
    figure = grid_plot(
        np.array(sizes), lines, title="Risk against points of each bag", label=_RISK, along="n, points of a bag",
        dark=is_dark(),
    )  # fmt: skip
    plotly_live(figure, "e-bags", later=True)
    st.markdown(_bags_sentence(rows))


def _mean(rows: list[dict[str, Any]], model: str, bags: int, per_bag: int, unequal: bool) -> float:
    kind = unequal and per_bag > 1
    result = [
        row["scores"]["risk"]
        for row in rows
        if (row["model"], row["bags"], row["per_bag"], row["unequal"]) == (model, bags, per_bag, kind)
    ]
    return float(np.mean(result))


def _bags_sentence(rows: list[dict[str, Any]]) -> str:
    """The exponents of both estimates, for equal and unequal bags."""
    of_bags, of_points = exponents(rows, "standard", False)
    ours, theirs = (exponents(rows, model, True) for model in ("shrinkage", "standard"))
    seeds = len({row["seed"] for row in rows})
    return (
        f"With equal bags both estimates are identical, and the risk falls as $B^{{-{of_bags:.2f}}} "
        f"n^{{-{of_points:.2f}}}$: another bag, with a new y, is worth more than the same number of points in existing "
        f"bags. With unequal bags the shrinkage estimator gains less from larger bags, $n^{{-{ours[1]:.2f}}}$ against "
        f"$n^{{-{theirs[1]:.2f}}}$, because small bags with their noise count as much as large ones. λ and ε are the "
        f"best given the truth, {seeds} seeds. The paper does not give rates for the shrinkage estimator."
    )
