"""Scores of a Gaussian prediction ``N(m, s²)`` of the truth ``z``, and of an ensemble."""

import numpy as np

from deconditioning.errors import InputError
from deconditioning.metrics.points import scored_points


def crps_gaussian(*, truth: np.ndarray, mean: np.ndarray, sd: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Mean continuous ranked probability score of ``N(m, s²)``, in the field's units; 0 is best.

    ``CRPS = ∫ (F(t) − 1[t ≥ z])² dt = s {ω (2Φ(ω) − 1) + 2φ(ω) − π^{−1/2}}`` with ``ω = (z − m)/s``; where s = 0 the
    limit ``|z − m|``. Source: Gneiting & Raftery 2007, §4.2.
    """
    from scoringrules import crps_normal

    p = scored_points(truth=truth, mean=mean, sd=sd, weights=weights)
    sharp = p.spread == 0
    spread = np.where(sharp, 1.0, p.spread)
    scores = np.where(sharp, np.abs(p.truth - p.mean), crps_normal(p.truth, p.mean, spread))
    return float(np.sum(p.weights * scores))


def coverage(
    *, truth: np.ndarray, mean: np.ndarray, sd: np.ndarray, level: float, weights: np.ndarray | None = None
) -> float:
    """Share of the truth inside the central interval ``m ± Φ⁻¹((1 + level)/2) s``; `level` is best.

    Errors: `InputError` for a level outside (0, 1). Source: Gneiting, Balabdaoui & Raftery 2007, §3.
    """
    from scipy.special import ndtri

    if not 0 < level < 1:
        raise InputError(f"`level` is {level:g}: give a probability between 0 and 1.")
    return coverage_sd(truth=truth, mean=mean, sd=sd, width=float(ndtri((1 + level) / 2)), weights=weights)


def coverage_sd(
    *, truth: np.ndarray, mean: np.ndarray, sd: np.ndarray, width: float = 2.0, weights: np.ndarray | None = None
) -> float:
    """Share of the truth inside ``m ± width · s`` (ends count); for two sd of a Gaussian 0.954 is best.

    Source: Hsu & Ramos 2019, §8.1, count within two standard deviations.
    """
    p = scored_points(truth=truth, mean=mean, sd=sd, weights=weights)
    inside = float(np.sum(p.weights * (np.abs(p.truth - p.mean) <= width * p.spread)))
    return min(inside, 1.0)  # the weights sum to one but for rounding
