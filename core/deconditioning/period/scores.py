"""Scores of a downscaled series against its fine truth, over all times together, beside interpolation."""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import ndtr

from deconditioning.fields.problem.baselines import bilinear
from deconditioning.period.series import Series

_LEVELS = {"coverage50": 0.6744897501960817, "coverage95": 1.959963984540054}


def series_scores(
    series: Series, mean: Callable[[int], np.ndarray], sd: Callable[[int], np.ndarray] | None = None
) -> dict[str, float]:
    """RMSE, bias, CRPS and coverage over all pixels of all times, each pixel weighted by its area, and ``tendency``.

    ``mean`` and ``sd`` give the (H, W) field of a time. ``tendency`` is the rms of the change of the mean from one time
    to the next over that of the truth. Empty without a truth.
    """
    if series.fine is None:
        return {}
    sums: dict[str, float] = {}
    mass, before, changes = 0.0, None, np.zeros(2)
    for time in range(len(series)):
        truth, field = series.fine(time), mean(time)
        spread = None if sd is None else sd(time)
        there = np.isfinite(truth) & np.isfinite(field) & (True if spread is None else np.isfinite(spread))
        area = np.where(there, series.problem.grid.area, 0.0)
        mass += float(area.sum())
        own = {"rmse": (field - truth) ** 2, "bias": field - truth}
        own |= {} if spread is None else _probabilistic(truth, field, spread)
        for name, values in own.items():
            sums[name] = sums.get(name, 0.0) + float((area * np.where(there, values, 0.0)).sum())
        if before is not None:
            changes += [np.nansum(area * (now - then) ** 2) for now, then in zip((field, truth), before, strict=True)]
        before = field, truth
    result = {name: value / mass for name, value in sums.items()}
    result["rmse"] = math.sqrt(result["rmse"])
    return result | ({"tendency": math.sqrt(changes[0] / changes[1])} if changes[1] > 0 else {})


def _probabilistic(truth: np.ndarray, mean: np.ndarray, sd: np.ndarray) -> dict[str, np.ndarray]:
    """CRPS of a Gaussian and whether the truth lies in its central intervals, pixel by pixel.

    Source: Gneiting and Raftery 2007, eq. 21.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.where(sd > 0, (truth - mean) / sd, np.inf * np.sign(truth - mean))
        density = np.exp(-0.5 * error**2) / math.sqrt(2 * math.pi)
        crps = sd * (error * (2 * ndtr(error) - 1) + 2 * density - 1 / math.sqrt(math.pi))
    crps = np.where(sd > 0, crps, np.abs(truth - mean))
    return {"crps": crps} | {name: (np.abs(error) <= width).astype(float) for name, width in _LEVELS.items()}


def bilinear_scores(series: Series) -> dict[str, float]:
    """The scores of bilinear interpolation of the same cells."""
    return series_scores(series, lambda time: bilinear(series.at(time)))
