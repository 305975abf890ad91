"""Calibration of predicted probabilities: coverage at many levels, and the probability integral transform."""

from collections.abc import Sequence

import numpy as np

from deconditioning.errors import InputError
from deconditioning.metrics.points import Points, scored_points


def _needed_level(p: Points) -> np.ndarray:
    """Level at which each point's central interval just reaches the truth: ``2Φ(|z − m|/s) − 1``; s = 0: 0 or 1."""
    from scipy.special import erf

    distance = np.abs(p.truth - p.mean)
    sharp = p.spread == 0
    ratio = distance / np.where(sharp, 1.0, p.spread)
    return np.where(sharp, (distance > 0).astype(float), erf(ratio / np.sqrt(2)))


def calibration(
    truth: np.ndarray,
    mean: np.ndarray,
    sd: np.ndarray,
    levels: Sequence[float] | np.ndarray,
    *,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Empirical coverage (L,) of the central intervals at ``levels`` (L,); the diagonal is best.

    ``ĉ(q) = Σ w 1[2Φ(|z − m|/s) − 1 ≤ q]``. Values below the diagonal mean that intervals are too narrow. Raises
    `InputError` for a level outside (0, 1). Source: Gneiting, Balabdaoui & Raftery 2007, §3; Kuleshov et al. 2018, eq.
    8.
    """
    levels = np.atleast_1d(np.asarray(levels, dtype=float))
    if not ((levels > 0) & (levels < 1)).all():
        raise InputError(f"`levels` runs from {levels.min():g} to {levels.max():g}: give probabilities within 0 and 1.")
    p = scored_points(truth=truth, mean=mean, sd=sd, weights=weights)
    needed = _needed_level(p)
    return np.array([np.sum(p.weights * (needed <= level * (1 + 1e-12))) for level in levels])


def pit(
    truth: np.ndarray, mean: np.ndarray, sd: np.ndarray, bins: int = 10, *, weights: np.ndarray | None = None
) -> np.ndarray:
    """Counts (bins,) of ``Φ((z − m)/s)`` in equal bins of [0, 1]; flat is best, ∪ too narrow, ∩ too wide.

    With weights, the counts are weighted and still sum to the number of points. Where s = 0, a truth below, at or above
    the mean counts as 0, ½ or 1. Raises `InputError` for fewer than 2 bins. Source: Dawid 1984; Gneiting et al. 2007.
    """
    from scipy.special import ndtr

    if int(bins) != bins or bins < 2:
        raise InputError(f"`bins` is {bins}: give a whole number from 2.")
    p = scored_points(truth=truth, mean=mean, sd=sd, weights=weights)
    sharp = p.spread == 0
    error = p.truth - p.mean
    values = np.where(sharp, 0.5 + 0.5 * np.sign(error), ndtr(error / np.where(sharp, 1.0, p.spread)))
    counts, _ = np.histogram(values, bins=int(bins), range=(0.0, 1.0), weights=p.weights * len(values))
    return counts
