"""Scores of a point prediction ``m`` of the truth ``z`` with weights ``w``, ``Σ w = 1``; by default equal weights."""

import numpy as np

from deconditioning.metrics.points import scored_points


def rmse(*, truth: np.ndarray, mean: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Root mean square error ``(Σ w (m − z)²)^½``, in the field's units; 0 is best.

    Source: Wilks 2019, *Statistical Methods in the Atmospheric Sciences*, eq. 9.33.
    """
    p = scored_points(truth=truth, predicted=mean, weights=weights)
    return float(np.sqrt(np.sum(p.weights * (p.mean - p.truth) ** 2)))


def mae(*, truth: np.ndarray, mean: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Mean absolute error ``Σ w |m − z|``, in the field's units; 0 is best. Source: Willmott & Matsuura 2005, eq. 2."""
    p = scored_points(truth=truth, predicted=mean, weights=weights)
    return float(np.sum(p.weights * np.abs(p.mean - p.truth)))


def bias(*, truth: np.ndarray, mean: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Mean error ``Σ w (m − z)``, prediction minus truth, in the field's units; 0 is best. Source: as `rmse`."""
    p = scored_points(truth=truth, predicted=mean, weights=weights)
    return float(np.sum(p.weights * (p.mean - p.truth)))


def pearson(*, truth: np.ndarray, mean: np.ndarray, weights: np.ndarray | None = None) -> float:
    """Correlation ``Σ w m' z' / (Σ w m'² Σ w z'²)^½`` of deviations from the weighted means; 1 is best.

    NaN if either field is constant. Source: Pearson 1895.
    """
    p = scored_points(truth=truth, predicted=mean, weights=weights)
    m = p.mean - np.sum(p.weights * p.mean)
    z = p.truth - np.sum(p.weights * p.truth)
    scale = np.sqrt(np.sum(p.weights * m**2) * np.sum(p.weights * z**2))
    flat = 1e-12 * max(float(np.abs(p.truth).max()), float(np.abs(p.mean).max()), 1e-300)
    if np.abs(m).max() <= flat or np.abs(z).max() <= flat:
        return float("nan")
    return float(np.sum(p.weights * m * z) / scale)
