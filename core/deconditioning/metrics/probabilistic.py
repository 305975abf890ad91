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


def crps_ensemble(*, truth: np.ndarray, members: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Mean fair CRPS of K members, (K, …) beside truth (…), in the field's units; 0 is best.

    ``CRPS = (1/K) Σ |x_k − z| − (1/(2K(K−1))) Σ_{k,l} |x_k − x_l|``, unbiased in K. Its double sum is taken from the
    sorted members, ``Σ_{k,l} |x_k − x_l| = 2 Σ_k (2k − K − 1) x_(k)``. Source: Ferro 2014, eq. 4.
    """
    members = np.asarray(members, dtype=float)
    if members.ndim < 1 or members.shape[1:] != np.shape(truth) or members.shape[0] < 2:
        raise InputError(
            f"`members` has the shape {members.shape}, `truth` {np.shape(truth)}: give two members or more, "
            "the first axis counting them."
        )
    count = members.shape[0]
    rank = (2 * np.arange(1, count + 1) - count - 1).reshape(-1, *([1] * (members.ndim - 1)))
    spread = np.sum(rank * np.sort(members, axis=0), axis=0) / (count * (count - 1))
    scores = np.mean(np.abs(members - truth), axis=0) - spread
    p = scored_points(truth=np.asarray(truth, dtype=float), mean=scores, weights=weights)
    return float(np.sum(p.weights * p.mean))


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
