"""Values of a skewed, non-negative target behind a warp, with the means of the cells kept.

    y = (1 + v/n)₊ⁿ,      v ~ N(m(x, t) + δ(cell, t), s²(x, t)),

the Box-Cox warp of power 1/n: a power of a Gaussian that is censored at zero, so that dry pixels have a probability of
their own. The shift δ of a cell is such that the means of y average to the cell's value; where this is zero, all its
pixels are. Joint draws are shifted one by one, so that each of them has the means of the cells.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import ndtr

from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.warp import Warp
from deconditioning.metrics.predictive import Predictive
from deconditioning.period.correlation import days_of
from deconditioning.period.joint import Residuals, linked_errors
from deconditioning.period.series import Series

#: Newton steps for δ at most, and the error of a cell's mean, relative to the mean of all cells, at which they end.
_STEPS, _EXACT = 100, 1e-10


def censored_moments(m: Float[np.ndarray, "*n"], s: Float[np.ndarray, "*n"], most: int) -> list[np.ndarray]:
    """``E (m + s z)₊ᵏ`` of a standard normal z for k from 0 to ``most``.

    ``I_k = m I_{k−1} + (k − 1) s² I_{k−2}``, which begins with ``Φ(m/s)`` and ``m Φ(m/s) + s φ(m/s)``.
    """
    ratio = m / np.maximum(s, 1e-300)
    above = np.where(s > 0, ndtr(ratio), m > 0)
    density = np.exp(-0.5 * np.square(np.clip(ratio, -40, 40))) / np.sqrt(2 * np.pi)
    result = [above, np.maximum(m * above + s * density, 0.0)]
    for k in range(2, most + 1):
        result.append(np.maximum(m * result[-1] + (k - 1) * s**2 * result[-2], 0.0))
    return result


@dataclass(frozen=True, eq=False)
class CellsOfPixels:
    """The means of ``count`` cells over ``pixels`` pixels: ``row`` and ``cell`` of each share of a pixel in a cell,
    which ``fraction`` of the pixel it is, and its ``area``.
    """

    row: Int[np.ndarray, " n"]
    cell: Int[np.ndarray, " n"]
    fraction: Float[np.ndarray, " n"]
    area: Float[np.ndarray, " n"]
    pixels: int
    count: int

    @staticmethod
    def of(problem: DownscalingProblem, known: Bool[np.ndarray, " P"]) -> "CellsOfPixels":
        """Of the pixels of a problem that are ``known``."""
        row, shares = problem.shares_of_pixels()
        there, areas = known[row], shares.areas(problem.grid.area)
        return CellsOfPixels(
            row[there], shares.cell[there], shares.fraction[there], areas[there], len(known), shares.count
        )

    def some(self, cells: Int[np.ndarray, " k"]) -> tuple["CellsOfPixels", Int[np.ndarray, " p"]]:
        """Some of the cells, ascending, with all of their pixels, and which pixels these are."""
        there = np.isin(self.cell, cells)
        pixels, row = np.unique(self.row[there], return_inverse=True)
        cell = np.searchsorted(cells, self.cell[there])
        part = CellsOfPixels(row, cell, self.fraction[there], self.area[there], len(pixels), len(cells))
        return part, pixels

    def mean(self, values: Float[np.ndarray, " P"]) -> Float[np.ndarray, " C"]:
        """Means over the cells, zero over those without pixels."""
        mass = np.bincount(self.cell, self.area, self.count)
        return np.bincount(self.cell, self.area * values[self.row], self.count) / np.maximum(mass, 1e-300)

    def smallest(self, values: Float[np.ndarray, " P"]) -> Float[np.ndarray, " C"]:
        """The smallest value in each cell, ∞ where it has no pixel."""
        result = np.full(self.count, np.inf)
        np.minimum.at(result, self.cell, values[self.row])
        return result

    def at_pixels(self, delta: Float[np.ndarray, " C"]) -> Float[np.ndarray, " P"]:
        """The value of a pixel's cell, the mean over its cells by their shares; zero outside of all."""
        part = np.bincount(self.row, self.fraction, self.pixels)
        with np.errstate(invalid="ignore"):
            return np.bincount(self.row, self.fraction * delta[self.cell], self.pixels) / np.where(part > 0, part, 1.0)


@dataclass(frozen=True, eq=False)
class Shifted:
    """The warp of power 1/n as ``warp``, and the ``cells`` whose means are kept."""

    warp: Warp
    cells: CellsOfPixels

    @property
    def _n(self) -> int:
        return round(1 / self.warp.power)

    def shift(
        self, aim: Float[np.ndarray, " C"], m: Float[np.ndarray, " P"], s: Float[np.ndarray, " P"]
    ) -> Float[np.ndarray, " C"]:
        """δ of every cell for its value ``aim``: −∞ where this is zero, 0 where it is NaN.

        The mean of a cell is a convex function of δ, so that Newton's method cannot fail once δ is too high.
        """
        n, cells = self._n, self.cells
        observed = np.isfinite(aim) & (aim > 0)
        goal = np.where(observed, aim, 0.0)
        top = self.warp.forward(goal) - cells.smallest(m)
        exact, delta = _EXACT * max(float(goal.mean()), 1e-300), np.zeros(len(aim))
        for _ in range(_STEPS):
            moments = censored_moments(1 + (m + cells.at_pixels(delta)) / n, s / n, n)
            off, slope = np.where(observed, goal - cells.mean(moments[n]), 0.0), cells.mean(moments[n - 1])
            if np.abs(off).max() <= exact:
                break
            step = np.divide(off, slope, out=np.full_like(off, np.inf), where=slope > 1e-12 * np.abs(off))
            delta = np.where(observed, np.minimum(delta + np.where(off == 0, 0.0, step), top), 0.0)
        return np.where(np.isfinite(aim) & (aim <= 0), -np.inf, delta)

    def gaussian(
        self, delta: Float[np.ndarray, " C"], m: Float[np.ndarray, " P"], s: Float[np.ndarray, " P"]
    ) -> tuple[Float[np.ndarray, " P"], Float[np.ndarray, " P"]]:
        """m + δ and s; g(0) and 0 where all is zero."""
        at = m + self.cells.at_pixels(delta)
        dry = np.isneginf(at)
        return np.where(dry, float(self.warp.forward(np.zeros(1))[0]), at), np.where(dry, 0.0, s)

    def predictive(self, centre: Float[np.ndarray, " P"], spread: Float[np.ndarray, " P"]) -> Predictive:
        """The distributions in the target's units of Gaussians in units of the warp."""
        n = self._n
        moments = censored_moments(1 + centre / n, spread / n, 2 * n)
        sd = np.sqrt(np.maximum(moments[2 * n] - moments[n] ** 2, 0.0))
        return Predictive(moments[n], sd, ((1.0, centre, spread),), self.warp, (0.0, np.inf))


class Latent(Protocol):
    """A downscaled series: `period.run.PeriodResult` is one."""

    @property
    def series(self) -> Series:
        """What was downscaled."""
        ...

    @property
    def means(self) -> Float[np.ndarray, "T H W"]:
        """(T, H, W) posterior means."""
        ...

    def sd(self, time: int) -> Float[np.ndarray, "H W"]:
        """(H, W) posterior sd at a time, NaN where there is no prediction."""
        ...

    @property
    def residuals(self) -> Residuals | None:
        """What draws errors; None if pixels or cells change with time."""
        ...


@dataclass(frozen=True, eq=False)
class BehindWarp:
    """A series behind a warp.

    Parameters
    ----------
    latent : the series in units of the warp.
    warp : g, of kind "box-cox" with a power 1/n and no shift.
    aims : (T, C) values of the cells that are kept, NaN where there is none.
    lowest : the value up to which all count as dry, which has a probability of its own.
    """

    latent: Latent
    warp: Warp
    aims: Float[np.ndarray, "T C"]
    lowest: float = 0.0
    _shifted: Shifted = field(init=False)
    _delta: Float[np.ndarray, "T C"] = field(init=False)

    def __post_init__(self) -> None:
        problem = self.latent.series.problem
        known = np.isfinite(self.latent.sd(0).flat[problem.pixel])
        object.__setattr__(self, "_shifted", Shifted(self.warp, CellsOfPixels.of(problem, known)))
        delta = [self._shifted.shift(aim, *self._gaussian(time)) for time, aim in enumerate(self.aims)]
        object.__setattr__(self, "_delta", np.stack(delta))

    def _gaussian(self, time: int) -> tuple[Float[np.ndarray, " P"], Float[np.ndarray, " P"]]:
        """m and s at the pixels."""
        chosen = self.latent.series.problem.pixel
        return self.latent.means[time].flat[chosen], self.latent.sd(time).flat[chosen]

    def gaussian(self, time: int) -> tuple[Float[np.ndarray, " P"], Float[np.ndarray, " P"]]:
        """m + δ and s at the pixels; g(0) and 0 where all is zero."""
        return self._shifted.gaussian(self._delta[time], *self._gaussian(time))

    def predictive(self, time: int) -> Predictive:
        """The distributions (H, W) of a time in the target's units."""
        on_grid = self.latent.series.problem.on_grid
        centre, spread = self.gaussian(time)
        flat = self._shifted.predictive(centre, spread)
        part = (1.0, on_grid(centre), on_grid(spread))
        return Predictive(on_grid(flat.mean), on_grid(flat.sd), (part,), self.warp, (self.lowest, np.inf))

    def draws(self, count: int, seed: int) -> Iterator[Float[np.ndarray, "T P"]]:
        """Joint draws in the target's units, each with the means of the cells."""
        series, residuals = self.latent.series, self.latent.residuals
        assert residuals is not None
        pixels = len(series.problem.pixel)
        for errors, _ in linked_errors(residuals, days_of(series.dates), pixels, count, seed):
            yield self.drawn(errors)

    def drawn(self, errors: Float[np.ndarray, "T P"]) -> Float[np.ndarray, "T P"]:
        """A draw in the target's units from standardised errors, its cells shifted to their means."""
        result, certain = np.empty_like(errors), np.zeros(errors.shape[1])
        for time, error in enumerate(errors):
            m, s = self._moments[time]
            values = m + s * error
            centre, _ = self._shifted.gaussian(self._shifted.shift(self.aims[time], values, certain), values, certain)
            result[time] = np.where(np.isfinite(centre), self.warp.backward(centre), np.nan)
        return result

    @cached_property
    def _moments(self) -> list[tuple[Float[np.ndarray, " P"], Float[np.ndarray, " P"]]]:
        """m and s of every time."""
        return [self._gaussian(time) for time in range(len(self.aims))]
