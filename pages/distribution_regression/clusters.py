"""Clustered subjects (§4.3): one function for all, one for each cluster, or exchangeable ones."""

from typing import Any

import numpy as np
import streamlit as st

from deconditioning.figures.studies.distribution_regression import clusters_plot
from deconditioning.studies.distribution_regression.clustered import (
    SIMULATION,
    WAYS,
    Clustered,
    ClusterSpec,
    regress_clusters,
)
from deconditioning.studies.distribution_regression.settings import OWN, ClusterSettings
from deconditioning.studies.distribution_regression.study import MethodSettings
from deconditioning.wording import number
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls.settings import controls
from pages.kit.layout.page_layout import explain
from pages.kit.layout.theme import is_dark
from pages.kit.record import record_numbers
from pages.kit.runs.stored_results import stored

STORED = "clustered_regression.json"
#: The ways that every summary compares, and what the best of all is called.
_SHORT = {"pooled": "one for all", "separate": "one for each", "exchangeable": "exchangeable"}
_BEST = {
    "pooled": "one function for all clusters", "separate": "a separate function for each cluster",
    "exchangeable": "exchangeable functions", OWN: "exchangeable functions with ρ by hand",
}  # fmt: skip


@st.cache_resource(show_spinner=False, max_entries=16)
def _regressed(clusters: int, distance: float, correlation: float | None) -> Clustered:
    spec = ClusterSpec(SIMULATION, clusters, distance)
    return regress_clusters(spec, MethodSettings(), WAYS if correlation is None else {**WAYS, OWN: correlation})


def show() -> None:
    """Posteriors of every cluster's function at chosen settings, and what the stored runs say."""
    st.subheader("Clusters: one function each, but similar", anchor=False)
    left, right = st.columns([2, 3])
    with left:
        requested = controls(ClusterSettings)
    clusters, distance, way = requested.clusters, requested.apart, requested.way
    correlation = requested.rho if way == OWN else None
    result, spec = _regressed(clusters, distance, correlation), ClusterSpec(SIMULATION, clusters, distance)
    curves = [result.curve(way, number) for number in range(clusters)]
    truths = [spec.function(number)(curves[0][0]) for number in range(clusters)]
    with right:
        plotly_live(clusters_plot(curves, truths, height=340, dark=is_dark()), "d-clusters", later=True)
    with left:
        st.markdown(summary(result, way, distance))
    record_numbers(cluster_risk=float(result.risks[way].mean()))
    explain(
        _correlation_summary(stored(STORED)["results"]),
        r"""
$$y_{ic} \sim N\big(\beta'W_i + E_{z_i} f_c,\ \sigma^2\big),\qquad f_c = \bar f + g_c,\qquad
\bar f \sim GP(0, \rho K),\quad g_c \sim GP(0, (1-\rho) K)$$

$$\mathrm{Cov}\big(f_c(s), f_{c'}(t)\big) = K(s, t)\,\big(\rho + (1-\rho)\,[c = c']\big)$$
""",
        "Tang et al., §4.3, on the simulation (20)",
    )


def summary(clustered: Clustered, way: str, distance: float) -> str:
    """Risks of the ways at these settings."""
    risk = {name: float(each.mean()) for name, each in clustered.risks.items()}
    best = min(risk, key=risk.__getitem__)
    correlation = "" if way in ("pooled", "separate") else f" (ρ = {number(clustered.correlation[way], 2)})"
    others = ", ".join(f"{_SHORT[name]} {number(risk[name])}" for name in _SHORT if name != way)
    better = "are" if best in ("exchangeable", OWN) else "is"
    return (
        f"Mean posterior risk of the functions of the clusters: **{number(risk[way])}**{correlation}; {others}. At "
        f"δ = {number(distance, 6)} {_BEST[best]} {better} best."
    )


def _correlation_summary(results: list[dict[str, Any]]) -> str:
    """What the stored runs say: where borrowing pays."""
    means = _means(results)
    distances = sorted({row["apart"] for row in results})
    near, far = distances[0], distances[-1]
    worst = max(distances, key=lambda at: means["exchangeable", at] / min(means["pooled", at], means["separate", at]))
    seeds = len({row["seed"] for row in results})
    return (
        f"Stored, {seeds} seeds: if the clusters are equal (δ = {number(near, 6)}), the risk is "
        f"{number(means['exchangeable', near])} for exchangeable functions, {number(means['pooled', near])} for one "
        f"for all and {number(means['separate', near])} for one for each; far apart (δ = {number(far, 6)}) it is "
        f"{number(means['exchangeable', far])}, {number(means['pooled', far])} and {number(means['separate', far])}. "
        f"In between, exchangeable functions are not better than both: at δ = {number(worst, 6)} the risk is "
        f"{number(means['exchangeable', worst])}, against {number(means['pooled', worst])} and "
        f"{number(means['separate', worst])}, because the evidence often still favours equal clusters."
    )


def _means(results: list[dict[str, Any]]) -> dict[tuple[str, float], float]:
    result: dict[tuple[str, float], list[float]] = {}
    for row in results:
        result.setdefault((row["model"], row["apart"]), []).append(row["scores"]["posterior_risk"])
    return {key: float(np.mean(risks)) for key, risks in result.items()}
