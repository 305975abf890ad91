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
from deconditioning.wording import number, rounded
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
    table, sentence = _stored_risks(stored(STORED)["results"])
    st.markdown(table)
    explain(
        sentence,
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


def _stored_risks(results: list[dict[str, Any]]) -> tuple[str, str]:
    """What the stored runs say, as a table of three distances in Markdown, and where borrowing pays in a sentence."""
    means = _means(results)
    distances = sorted({row["apart"] for row in results})

    def loss(at: float) -> float:
        """The risk of exchangeable functions relative to the better of the other two."""
        return means["exchangeable", at] / min(means["pooled", at], means["separate", at])

    worst = max(distances, key=loss)
    shown = sorted({distances[0], worst, distances[-1]})
    seeds = len({row["seed"] for row in results})
    head = [f"Mean risk, {seeds} seeds (stored)", *(f"δ = {number(at, 6)}" for at in shown)]
    rows = [head, [":--", *("--:" for _ in shown)]]
    rows += [[_BEST[way], *(rounded(means[way, at]) for at in shown)] for way in _SHORT]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    most = f"Exchangeable functions lose most at δ = {number(worst, 6)}"
    reason = ", because the evidence often still favours equal clusters" if distances[0] < worst < distances[-1] else ""
    return table, f"{most}: {number(loss(worst), 3)} times the risk of the better of the other two{reason}."


def _means(results: list[dict[str, Any]]) -> dict[tuple[str, float], float]:
    result: dict[tuple[str, float], list[float]] = {}
    for row in results:
        result.setdefault((row["model"], row["apart"]), []).append(row["scores"]["posterior_risk"])
    return {key: float(np.mean(risks)) for key, risks in result.items()}
