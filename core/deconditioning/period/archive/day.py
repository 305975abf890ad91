"""How good or bad a time is: a factor g(t) on the sd, regressed on the season and on the coarse anomalies.

    log g²(t) = b₀ + b · (harmonics, log rms of the coarse anomalies, log rms of their deviations from their mean)

by ridge regression of the log mean squared standardised error of left-out times, clipped to what these show.
"""

from dataclasses import dataclass

import numpy as np

#: Penalty of the standardised predictors.
_RIDGE = 20.0
#: Percentiles of the training times' factors beyond which none goes.
_LOW, _HIGH = 1.0, 99.0


@dataclass(frozen=True)
class DayFactor:
    """The regression, and where it is clipped."""

    centre: np.ndarray
    scale: np.ndarray
    weights: np.ndarray
    level: float
    ends: tuple[float, float]

    @staticmethod
    def fit(squares: np.ndarray, design: np.ndarray, a: np.ndarray) -> "DayFactor":
        """From mean squared standardised errors (N,) of training times with a ``design`` and coarse anomalies (N, M).

        The level is such that squared errors over g² have mean one.
        """
        x = _predictors(design, a)
        centre, scale = x.mean(0), np.maximum(x.std(0), 1e-12)
        u, logs = (x - centre) / scale, np.log(np.maximum(squares, 1e-12))
        weights = np.linalg.solve(u.T @ u + _RIDGE * np.eye(u.shape[1]), u.T @ (logs - logs.mean()))
        shape = u @ weights
        low, high = np.percentile(shape, [_LOW, _HIGH])
        level = float(np.mean(squares * np.exp(-np.clip(shape, low, high))))
        return DayFactor(centre, scale, weights, level, (float(low), float(high)))

    def __call__(self, design: np.ndarray, a: np.ndarray) -> np.ndarray:
        """g (T,) of times with coarse anomalies (T, M), NaN where missing."""
        shape = ((_predictors(design, a) - self.centre) / self.scale) @ self.weights
        return np.sqrt(self.level * np.exp(np.clip(shape, *self.ends)))


def _predictors(design: np.ndarray, a: np.ndarray) -> np.ndarray:
    inside = a - np.nanmean(a, axis=1, keepdims=True)
    rms = [np.log(np.sqrt(np.nanmean(np.square(each), axis=1)) + 1e-12) for each in (a, inside)]
    return np.column_stack([design[:, 1:], *rms])
