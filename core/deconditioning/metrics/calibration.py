"""Calibration of predicted probabilities: coverage at many levels, and the probability integral transform."""

from collections.abc import Sequence

import numpy as np

from deconditioning.errors import InputError
from deconditioning.metrics.points import scored_points
from deconditioning.metrics.predictive import Predictive


def calibration(
    truth: np.ndarray,
    predicted: Predictive,
    levels: Sequence[float] | np.ndarray,
    *,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Empirical coverage (L,) of the central intervals at ``levels`` (L,); the diagonal is best.

    ``ĉ(q) = Σ w 1[|2F(z) − 1| ≤ q]``, of a Gaussian ``2Φ(|z − m|/s) − 1 ≤ q``. Values below the diagonal mean that
    intervals are too narrow. Raises `InputError` for a level outside (0, 1). Source: Gneiting, Balabdaoui & Raftery
    2007, §3; Kuleshov et al. 2018, eq. 8.
    """
    from scipy.special import erf

    levels = np.atleast_1d(np.asarray(levels, dtype=float))
    if not ((levels > 0) & (levels < 1)).all():
        raise InputError(f"`levels` runs from {levels.min():g} to {levels.max():g}: give probabilities within 0 and 1.")
    p = scored_points(truth=truth, predicted=predicted, weights=weights)
    needed = erf(np.abs(p.predictive.score(p.truth)) / np.sqrt(2))
    return np.array([np.sum(p.weights * (needed <= level * (1 + 1e-12))) for level in levels])


def pit(truth: np.ndarray, predicted: Predictive, bins: int = 10, *, weights: np.ndarray | None = None) -> np.ndarray:
    """Counts (bins,) of ``F(z)`` in equal bins of [0, 1]; flat is best, ∪ too narrow, ∩ too wide.

    With weights, the counts are weighted and still sum to the number of points. Where s = 0, a truth below, at or above
    the mean counts as 0, ½ or 1. Raises `InputError` for fewer than 2 bins. Source: Dawid 1984; Gneiting et al. 2007.
    """
    from scipy.special import ndtr

    if int(bins) != bins or bins < 2:
        raise InputError(f"`bins` is {bins}: give a whole number from 2.")
    p = scored_points(truth=truth, predicted=predicted, weights=weights)
    values = ndtr(p.predictive.score(p.truth))
    counts, _ = np.histogram(values, bins=int(bins), range=(0.0, 1.0), weights=p.weights * len(values))
    return counts
