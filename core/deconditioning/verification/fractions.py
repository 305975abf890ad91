"""Fractions skill score: how well events are placed, where a displacement inside a window is no error."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from deconditioning.errors import InputError
from deconditioning.verification.series import Verified

#: Pixels along the windows that are used by default.
WINDOWS = (1, 3, 9, 27)


@dataclass(frozen=True)
class Fractions:
    """The fractions skill score of one prediction.

    ``1 − Σ (F − O)² / (Σ F² + Σ O²)`` over the windows of all times, with the shares F and O of the predicted and true
    pixels above the threshold in a window: 1 is best, 0 is no overlap.

    Parameters
    ----------
    threshold : in the units of the truth.
    window : pixels along its sides.
    of_mean : where the mean exceeds the threshold.
    of_probability : with the mean probability of exceeding it in place of F, which the share of joint draws approaches
        as their number grows; None for a prediction without an sd.
    useful : ½ + f/2 for the share f of the truth above the threshold; a score above it is called useful.
    """

    prediction: str
    threshold: float
    window: int
    of_mean: float | None
    of_probability: float | None
    useful: float


def fractions(series: Verified, thresholds: Sequence[float], windows: Sequence[int] = ()) -> tuple[Fractions, ...]:
    """The scores of every prediction, threshold and window that the grid has room for.

    Pixels count equally. Windows lie inside the grid; missing pixels are left out of them, and windows without any
    value are not counted. Scores without an event in truth and prediction are None. Raises ``InputError`` for a window
    that is no positive whole number or larger than the grid.

    Source: Roberts and Lean 2008, *Monthly Weather Review* 136; Schwartz et al. 2010, *Weather and Forecasting* 25, for
    probabilities.
    """
    least = min(series.area.shape)
    for window in windows:
        if not 1 <= window <= least:
            raise InputError(f"A window of {window} pixels does not fit: give 1 to {least} pixels.")
    chosen = tuple(windows) or tuple(each for each in WINDOWS if each <= least)
    size = len(thresholds), len(chosen)
    # sums over windows of (F − O)² and F² + O², of the mean and of the probability
    sums = {name: np.zeros((*size, 2, 2)) for name in series.forecasts}
    events = np.zeros((len(thresholds), 2))
    for truth, weights, predictions in series.times():
        there = weights > 0
        for n, threshold in enumerate(thresholds):
            outcome = there & (truth > threshold)
            events[n] += outcome.sum(), there.sum()
            for k, window in enumerate(chosen):
                true = _shares(outcome, there, window)
                for name, prediction in predictions.items():
                    mean = _shares(there & (prediction.mean > threshold), there, window)
                    sums[name][n, k, 0] += _compared(mean, true)
                    if series.forecasts[name].sd is not None:
                        chance = np.where(there, prediction.exceedance(threshold), 0.0)
                        sums[name][n, k, 1] += _compared(_shares(chance, there, window), true)
    return tuple(
        Fractions(name, threshold, window, _score(table[n, k, 0]), _score(table[n, k, 1]), 0.5 + 0.5 * float(share))
        for name, table in sums.items()
        for n, (threshold, share) in enumerate(zip(thresholds, events[:, 0] / events[:, 1], strict=True))
        for k, window in enumerate(chosen)
    )


def _shares(
    event: Float[np.ndarray, "h w"] | Bool[np.ndarray, "h w"], there: Bool[np.ndarray, "h w"], window: int
) -> Float[np.ndarray, "a b"]:
    """The mean of the event over the known pixels of every window; NaN of windows without any."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return _sums(event, window) / np.round(_sums(there, window))


def _sums(field: Float[np.ndarray, "h w"] | Bool[np.ndarray, "h w"], window: int) -> Float[np.ndarray, "a b"]:
    """The sum of every window inside the field, by differences of cumulative sums."""
    table = np.pad(np.asarray(field, dtype=float), ((1, 0), (1, 0))).cumsum(0).cumsum(1)
    high, low = table[window:], table[:-window]
    return high[:, window:] - high[:, :-window] - low[:, window:] + low[:, :-window]


def _compared(share: Float[np.ndarray, "a b"], true: Float[np.ndarray, "a b"]) -> Float[np.ndarray, " two"]:
    """The sums of (F − O)² and of F² + O²."""
    return np.array([np.nansum((share - true) ** 2), np.nansum(share**2 + true**2)])


def _score(sums: Float[np.ndarray, " two"]) -> float | None:
    return float(1 - sums[0] / sums[1]) if sums[1] > 0 else None
