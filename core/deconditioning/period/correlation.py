"""How long errors last: their correlation in time, by which joint draws of a series are linked.

    ρ(Δt) = Σ_j w_j m_j(|Δt| / τ_j) cos^p_j(2π Δt / 1 day),   w_j ≥ 0, Σ_j w_j = 1,

with τ from nothing (errors of single times) to infinity (errors that stay), and p_j = 1 for those that return with the
hour of the day. m is exp(−h), or (1 + √3h) exp(−√3h) for errors that are smooth in time: where times are close, such as
hours, an exponential falls too fast at first, and draws change too much from one time to the next. Every such sum is
positive semidefinite.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.optimize import nnls
from torch import Tensor

from deconditioning import linalg
from deconditioning.period.space_time import separable_evidence

#: Times that a correlation is estimated from, at most, evenly spread.
_MOST = 1500
#: Weight of ρ(0) = 1 beside that of a lag seen once.
_AT_ZERO = 1e4


def days_of(dates: Sequence[Any]) -> np.ndarray:
    """(T,) days since the first date; 0, 1, 2 … where there are no dates."""
    if any(date is None for date in dates):
        return np.arange(len(dates), dtype=float)
    if isinstance(dates[0], np.datetime64):
        return np.array([(date - dates[0]) / np.timedelta64(1, "s") for date in dates]) / 86400.0
    return np.array([(date - dates[0]).total_seconds() for date in dates]) / 86400.0


class Part(NamedTuple):
    """A part of ρ: ``weight`` w, ``scale`` τ in days, 0 for errors of single times, ∞ for fixed ones; whether it
    returns ``daily``, and whether it is ``smooth`` in time.
    """

    weight: float
    scale: float
    daily: bool = False
    smooth: bool = False

    def at(self, lag: np.ndarray) -> np.ndarray:
        """The correlation at lags in days, without the weight."""
        if self.scale == 0:
            decay = (lag == 0).astype(float)
        elif self.smooth:
            decay = (1 + math.sqrt(3) * lag / self.scale) * np.exp(-math.sqrt(3) * lag / self.scale)
        else:
            decay = np.exp(-lag / self.scale)
        return decay * np.cos(2 * np.pi * lag) if self.daily else decay


@dataclass(frozen=True)
class TimeCorrelation:
    """ρ as the sum of its ``parts``."""

    parts: tuple[Part, ...]

    def matrix(self, days: np.ndarray) -> np.ndarray:
        """(T, T) correlation between times in days."""
        lag = np.abs(np.subtract.outer(days, days))
        return sum((part.weight * part.at(lag) for part in self.parts), np.zeros_like(lag))

    @property
    def fixed(self) -> float:
        """The share of the variance that never changes."""
        return sum(part.weight for part in self.parts if math.isinf(part.scale) and not part.daily)

    def with_single(self, share: float) -> "TimeCorrelation":
        """The same for all but a ``share`` of the variance, which is of single times."""
        rest = (part._replace(weight=part.weight * (1 - share)) for part in self.parts)
        return TimeCorrelation((*rest, Part(share, 0.0)))


#: Errors that never change, by which intervals of period statistics are widest.
FIXED = TimeCorrelation((Part(1.0, math.inf),))


def correlation_of_errors(errors: np.ndarray, days: np.ndarray) -> TimeCorrelation:
    """ρ from standardised errors (N, p) of left-out times, their mean not removed, by non-negative least squares."""
    some = np.unique(np.linspace(0, len(errors) - 1, min(_MOST, len(errors))).round().astype(int))
    errors, days = errors[some], days[some]
    gram = errors @ errors.T / errors.shape[1]
    gram /= np.diag(gram).mean()
    step = float(np.median(np.diff(days)))
    upper = np.triu_indices(len(days), 1)
    lags, lag_index = np.unique(np.round((days[upper[1]] - days[upper[0]]) / step, 3), return_inverse=True)
    count = np.bincount(lag_index)
    rho = np.bincount(lag_index, gram[upper]) / count
    lag, weight = np.concatenate([[0.0], lags * step]), np.sqrt(np.concatenate([[_AT_ZERO], count]))
    scales = [0.0, *(step * 2.0 ** np.arange(-1, math.ceil(math.log2(len(days))))), math.inf]
    candidates = [Part(1.0, scale) for scale in scales]
    candidates += [Part(1.0, scale, smooth=True) for scale in scales if 0 < scale < math.inf]
    if step <= 0.25:
        candidates += [part._replace(daily=True) for part in candidates if part.scale > 1]
    design = np.stack([part.at(lag) for part in candidates], axis=1)
    weights, _ = nnls(design * weight[:, None], np.concatenate([[1.0], rho]) * weight)
    parts = zip(weights / weights.sum(), candidates, strict=True)
    return TimeCorrelation(tuple(part._replace(weight=float(w)) for w, part in parts if w > 1e-6))


def correlation_of_cells(
    covariance: Float[Tensor, "M M"], targets: Float[Tensor, "M T"], noise: float, days: np.ndarray
) -> TimeCorrelation:
    """``exp(−|Δt|/τ)`` with the τ of the largest evidence ``log N(Z; 0, K̃ ⊗ K_t + σ²I)``, the space kernel held.

    ``covariance`` is K̃ of the cells, ``targets`` are complete. Learned together with the space kernel, τ would go
    wrong: hourly changes are rougher than the field.
    """
    values, vectors = linalg.eigen(covariance, "covariance of the cells")
    step = float(np.median(np.diff(days)))

    def evidence(log_scale: float) -> float:
        """The log evidence at log τ/step."""
        between = TimeCorrelation((Part(1.0, step * math.exp(log_scale)),)).matrix(days)
        return separable_evidence(values, vectors, between, targets, noise)

    grid = np.linspace(math.log(0.2), math.log(2.0 * len(days)), 25)
    scores = [evidence(each) for each in grid]
    best = int(np.argmax(scores))
    return TimeCorrelation((Part(1.0, step * math.exp(grid[best])),))
