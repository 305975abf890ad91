"""Scores of predictive distributions (`deconditioning.metrics.predictive.Predictive`) of the truth ``z``."""

import numpy as np

from deconditioning.errors import InputError
from deconditioning.metrics.points import Points, scored_points
from deconditioning.metrics.predictive import Predictive


def crps(*, truth: np.ndarray, predicted: Predictive, weights: np.ndarray | None = None) -> float:
    """Mean continuous ranked probability score ``Σ w CRPS(F, z)``, in the field's units; 0 is best.

    ``CRPS(F, z) = ∫ (F(t) − 1[t ≥ z])² dt``; of a Gaussian ``s {ω (2Φ(ω) − 1) + 2φ(ω) − π^{−1/2}}`` with ``ω = (z −
    m)/s``, and where s = 0 the limit ``|z − m|``. Source: Gneiting & Raftery 2007, §4.2.
    """
    return crps_of(scored_points(truth=truth, predicted=predicted, weights=weights))


def crps_of(p: Points) -> float:
    """`crps` of points."""
    return float(np.sum(p.weights * p.crps))


def coverage(*, truth: np.ndarray, predicted: Predictive, level: float, weights: np.ndarray | None = None) -> float:
    """Share of the truth inside the central interval with probability `level`, which is best.

    Errors: `InputError` for a level outside (0, 1). Source: Gneiting, Balabdaoui & Raftery 2007, §3.
    """
    if not 0 < level < 1:
        raise InputError(f"`level` is {level:g}: give a probability between 0 and 1.")
    return coverage_of(scored_points(truth=truth, predicted=predicted, weights=weights), level)


def coverage_of(p: Points, level: float) -> float:
    """`coverage` of points."""
    from scipy.special import ndtri

    return _share(p.off <= float(ndtri((1 + level) / 2)), p.weights)


def coverage_sd(
    *, truth: np.ndarray, predicted: Predictive, width: float = 2.0, weights: np.ndarray | None = None
) -> float:
    """Share of the truth inside ``m ± width · s`` (ends count); for two sd of a Gaussian 0.954 is best.

    Source: Hsu & Ramos 2019, §8.1, count within two standard deviations.
    """
    return coverage_sd_of(scored_points(truth=truth, predicted=predicted, weights=weights), width)


def coverage_sd_of(p: Points, width: float) -> float:
    """`coverage_sd` of points."""
    return _share(np.abs(p.truth - p.mean) <= width * p.predictive.sd, p.weights)


def _share(inside: np.ndarray, weights: np.ndarray) -> float:
    """The weighted share; the weights sum to one but for rounding."""
    return min(float(np.sum(weights * inside)), 1.0)
