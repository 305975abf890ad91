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
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls.settings import controls
from pages.kit.layout.page_layout import explain
from pages.kit.layout.theme import is_dark
from pages.kit.record import record_numbers
from pages.kit.runs.stored_results import stored

STORED = "clustered_regression.json"
WORDS = ClusterSettings.way.options


@st.cache_resource(show_spinner=False, max_entries=16)
def _regressed(clusters: int, apart: float, correlation: float | None) -> Clustered:
    spec = ClusterSpec(SIMULATION, clusters, apart)
    return regress_clusters(spec, MethodSettings(), WAYS if correlation is None else {**WAYS, OWN: correlation})


def show() -> None:
    """Posteriors of every cluster's function at chosen settings, and what the stored runs say."""
    st.subheader("Clusters: one function each, but similar", anchor=False)
    left, right = st.columns([2, 3])
    with left:
        requested = controls(ClusterSettings)
    clusters, apart, way = requested.clusters, requested.apart, requested.way
    correlation = requested.rho if way == OWN else None
    result, spec = _regressed(clusters, apart, correlation), ClusterSpec(SIMULATION, clusters, apart)
    curves = [result.curve(way, number) for number in range(clusters)]
    truths = [spec.function(number)(curves[0][0]) for number in range(clusters)]
    with right:
        plotly_live(clusters_plot(curves, truths, height=340, dark=is_dark()), "d-clusters", later=True)
    with left:
        st.markdown(summary(result, way, apart))
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


def summary(clustered: Clustered, way: str, apart: float) -> str:
    """Risks of the ways at these settings."""
    risk = {name: float(each.mean()) for name, each in clustered.risks.items()}
    best = min(risk, key=risk.__getitem__)
    own = "" if way in ("pooled", "separate") else f" (ρ = {clustered.correlation[way]:.2g})"
    return (
        f"Mean posterior risk of the functions of the clusters: **{risk[way]:.3g}**{own}; one for all "
        f"{risk['pooled']:.3g}, one for each {risk['separate']:.3g}, exchangeable {risk['exchangeable']:.3g}. At δ = "
        f"{apart:g} the best is: {WORDS[best].split(',')[0]}."
    )


def _correlation_summary(results: list[dict[str, Any]]) -> str:
    """What the stored runs say: where borrowing pays."""
    means = _means(results)
    apart = sorted({row["apart"] for row in results})
    near, far = apart[0], apart[-1]
    worst = max(apart, key=lambda at: means["exchangeable", at] / min(means["pooled", at], means["separate", at]))
    seeds = len({row["seed"] for row in results})
    return (
        f"Stored, {seeds} seeds: if the clusters are equal (δ = {near:g}), the risk is "
        f"{means['exchangeable', near]:.3g} for exchangeable functions, {means['pooled', near]:.3g} for one for all "
        f"and {means['separate', near]:.3g} for one for each; far apart (δ = {far:g}) it is "
        f"{means['exchangeable', far]:.3g}, {means['pooled', far]:.3g} and {means['separate', far]:.3g}. In between, "
        f"exchangeable functions are not better than both: at δ = {worst:g} the risk is "
        f"{means['exchangeable', worst]:.3g}, against {means['pooled', worst]:.3g} and {means['separate', worst]:.3g}, "
        "because the evidence often still favours equal clusters."
    )


def _means(results: list[dict[str, Any]]) -> dict[tuple[str, float], float]:
    result: dict[tuple[str, float], list[float]] = {}
    for row in results:
        result.setdefault((row["model"], row["apart"]), []).append(row["scores"]["posterior_risk"])
    return {key: float(np.mean(risks)) for key, risks in result.items()}
