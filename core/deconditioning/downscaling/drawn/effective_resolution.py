"""Draws at the effective resolution of the fine grid, which a person states: finer fluctuations are damped.

The files and the coarse cells do not show how rough the field is at scales that the grid has but the truth does not:
fields of models and analyses are smooth below several grid steps. Source: Skamarock 2004, *Evaluating mesoscale NWP
models using kinetic energy spectra*.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from deconditioning.downscaling.draws import Draws
from deconditioning.fields.grids.blocks import reaggregate
from deconditioning.fields.problem.coordinates import steps_in_km
from deconditioning.fields.problem.physical_limits import limits_of
from deconditioning.fields.problem.problem import DownscalingProblem

#: Standard deviation of the Gaussian filter, in wavelengths of which it keeps half of the power: √(ln 2) / 2π.
_WIDTH = np.sqrt(np.log(2)) / (2 * np.pi)
#: Rounds that restore the averages of measured cells.
_ROUNDS = 40
#: Draws that a ratio of sds is estimated from, at the least.
FEWEST = 20


def at_resolution(problem: DownscalingProblem, draws: Draws, kilometres: float) -> Draws:
    """The draws f with their differences from the mean m low-passed: ``m + G(f − m)``.

    The Gaussian filter G keeps half of the power of fluctuations with a wavelength of ``kilometres`` and less of
    shorter ones. Averages of measured cells are restored step by step, ``d ← d − G(d̄ − d̄₀)`` with the cell averages d̄
    of d and d̄₀ of f − m.
    """
    width = [_WIDTH * kilometres / (draws.stride * step) for step in steps_in_km(problem.grid)]
    fields = np.stack([_damped(problem, field - draws.mean, width, draws.stride) for field in draws.fields])
    fields = draws.mean + fields
    if problem.warp is not None or limits_of(problem) is not None:  # the draws stay inside the limits of the quantity
        fields = np.clip(fields, np.nanmin(draws.fields), np.nanmax(draws.fields))
    result = replace(draws, fields=fields)
    if draws.off is None or draws.stride > 1:
        return replace(result, off=None)
    off = [np.abs(reaggregate(problem, field - draws.mean))[problem.observed] for field in fields]
    return replace(result, off=float(np.nanmax(off)))


def _damped(problem: DownscalingProblem, field: np.ndarray, width: list[float], stride: int) -> np.ndarray:
    filtered = _filter(np.isfinite(field), width, problem.grid.wraps)
    result = filtered(field)
    if not problem.matched or stride > 1:
        return result
    cell_means = reaggregate(problem, field)
    for _ in range(_ROUNDS):
        means = np.where(problem.observed, reaggregate(problem, result) - cell_means, 0.0).ravel()
        spread = np.where(problem.cell >= 0, np.nan_to_num(means)[np.maximum(problem.cell, 0)], 0.0)
        result = result - filtered(spread)
    return result


def _filter(there: np.ndarray, width: list[float], wraps: bool) -> Callable[[np.ndarray], np.ndarray]:
    """The Gaussian mean, for each pixel that is ``there``, of those around it that are; NaN elsewhere."""
    weight = np.maximum(_gaussian(1.0 * there, width, wraps), 1e-12)
    return lambda values: np.where(there, _gaussian(np.where(there, values, 0.0), width, wraps) / weight, np.nan)


def _gaussian(values: np.ndarray, width: list[float], wraps: bool) -> np.ndarray:
    """Convolved with a Gaussian by its transform ``exp(−2π²σ²k²)``, mirrored at edges that do not meet."""
    from scipy.fft import dct, idct, irfft, rfft

    for axis, (size, sd) in enumerate(zip(values.shape, width, strict=True)):
        periodic = wraps and axis == 1
        waves = np.fft.rfftfreq(size) if periodic else np.arange(size) / (2 * size)
        factor = np.exp(-2 * (np.pi * sd * waves) ** 2)
        factor = factor[:, None] if axis == 0 else factor
        if periodic:
            values = irfft(rfft(values, axis=axis) * factor, n=size, axis=axis)
        else:
            values = idct(dct(values, axis=axis) * factor, axis=axis)
    return values


def sd_ratio(problem: DownscalingProblem, draws: Draws, damped: Draws) -> np.ndarray:
    """(H, W) sd of ``damped`` draws relative to that of the ``draws`` themselves, averaged over about a cell."""
    cell = np.sqrt(np.mean(np.unique(problem.cell[problem.cell >= 0], return_counts=True)[1]))
    variances = [np.mean((each.fields - each.mean) ** 2, axis=0) for each in (draws, damped)]
    before, after = (_filter(np.isfinite(each), [cell, cell], problem.grid.wraps)(each) for each in variances)
    return np.sqrt(np.divide(after, before, out=np.ones_like(before), where=before > 0))
