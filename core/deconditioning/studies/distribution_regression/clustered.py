"""Clusters of subjects on the simulation (20): one function for all, one for each, or exchangeable ones.

Functions of the clusters are ``f_c(x) = f₀(x) + δ √2 sin(2πx + 2πc/C)``: δ is how far each lies from their mean f₀.
Source: Tang et al., §4.3 (the model) and eq. 20.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from deconditioning.device import one_thread
from deconditioning.distribution_regression.clusters import fit_clusters, learn_correlation
from deconditioning.distribution_regression.gpdr import Fitted
from deconditioning.distribution_regression.kernel_sums import KernelSums
from deconditioning.distribution_regression.simulate import Function, SimulationSpec, regression_function, simulate
from deconditioning.engine.reporting import Stopwatch
from deconditioning.errors import InputError
from deconditioning.studies.distribution_regression.settings import ClusterSettings
from deconditioning.studies.distribution_regression.study import MethodSettings, posterior_risk

#: The correlation of each way; None: that of highest evidence.
WAYS: dict[str, float | None] = {"pooled": 1.0, "separate": 0.0, "exchangeable": None}
#: The simulation that is clustered.
SIMULATION = SimulationSpec(ClusterSettings.subjects.default, ClusterSettings.measures.default)
#: Points at which functions are drawn.
_POINTS = 121


@dataclass(frozen=True)
class ClusterSpec:
    """``clusters`` C of the subjects of ``simulation``, taken in turn, and how far ``apart`` their functions lie, δ."""

    simulation: SimulationSpec = field(default_factory=lambda: SIMULATION)
    clusters: int = ClusterSettings.clusters.default
    apart: float = ClusterSettings.apart.default

    def __post_init__(self) -> None:
        if not 2 <= self.clusters <= self.simulation.subjects // 2:
            raise InputError(
                f"{self.clusters} clusters of {self.simulation.subjects} subjects were requested: give 2 to "
                f"{self.simulation.subjects // 2}."
            )
        if not (np.isfinite(self.apart) and self.apart >= 0):
            raise InputError(f"`apart` is {self.apart}: give a finite number that is not negative.")

    def function(self, cluster: int) -> Function:
        """f_c."""
        phase = 2 * np.pi * cluster / self.clusters
        return lambda x: regression_function(x) + self.apart * 2**0.5 * np.sin(2 * np.pi * x + phase)


@dataclass(frozen=True)
class Clustered:
    """By way of `WAYS`: the correlation ρ, posterior risks (C,), and the posterior of every cluster's f."""

    correlation: Mapping[str, float]
    risks: Mapping[str, np.ndarray]
    posteriors: Mapping[str, list[Fitted]]

    def curve(self, way: str, cluster: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Points, mean and sd of f_c."""
        at = np.linspace(0.0, 1.0, _POINTS)
        mean, variance = self.posteriors[way][cluster].moments(torch.from_numpy(at)[:, None])
        return at, mean.numpy(), variance.sqrt().numpy()


@one_thread()
def regress_clusters(
    spec: ClusterSpec, settings: MethodSettings, ways: Mapping[str, float | None] = WAYS
) -> Clustered:  # fmt: skip
    """Every way on one draw of the simulation, kernel and noise as they are given."""
    subjects = simulate(spec.simulation, lambda i: spec.function(i % spec.clusters)).subjects
    cluster = torch.arange(subjects.count) % spec.clusters
    base, model = KernelSums(subjects.bags, subjects.columns), settings.regression(subjects.columns)
    data = base, cluster, subjects.outcomes, subjects.covariates
    learned, _ = learn_correlation(model, *data)
    correlation = {way: learned if value is None else value for way, value in ways.items()}
    posteriors = {way: fit_clusters(model, *data, value) for way, value in correlation.items()}
    risks = {
        way: np.array([posterior_risk(each, spec.function(c)) for c, each in enumerate(result)])
        for way, result in posteriors.items()
    }
    return Clustered(correlation, risks, posteriors)


def cluster_sweep(
    spec: ClusterSpec, apart: Sequence[float], seeds: Sequence[int], settings: MethodSettings,
    report: Callable[[dict[str, Any]], None] = lambda row: None,
) -> list[dict[str, Any]]:  # fmt: skip
    """A row for every way, distance of the functions and seed: mean risk over clusters, ρ, seconds of all ways."""
    rows = []
    for distance in apart:
        for seed in seeds:
            watch = Stopwatch()
            drawn = replace(spec, apart=distance, simulation=replace(spec.simulation, seed=seed))
            clustered = regress_clusters(drawn, settings)
            spent = watch.seconds()
            for way in WAYS:
                scores = {
                    "posterior_risk": float(clustered.risks[way].mean()),
                    "correlation": clustered.correlation[way],
                }
                rows.append({"model": way, "seed": seed, "apart": distance, "scores": scores, "seconds": spent})
                report(rows[-1])
    return rows
