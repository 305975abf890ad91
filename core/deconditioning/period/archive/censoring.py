"""A skewed, non-negative target in units of a warp, its dry values as a Gaussian that is censored.

Of a dry value only ``v ≤ g(y₀)`` is known, where y₀ is the smallest wet value or so. At first the values of a pixel
have normal scores, dry ones in the order of their coarse values. Then they are drawn again, some times over, from what
the other times say of them: ``v ~ N(m, s²)`` given ``v ≤ g(y₀)``, with the mean and the sd of left-out times. Source:
Chib 1992, *Journal of Econometrics* 51 (data augmentation of the Tobit model).
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import ndtr, ndtri

from deconditioning.errors import InputError
from deconditioning.fields.problem.scaling import Scale
from deconditioning.fields.problem.warp import Warp
from deconditioning.period.archive.training import Training, cell_means
from deconditioning.period.series import Series

#: y₀ as a quantile of the positive values, and as a share of the mean of all at least.
_SMALLEST, _LEAST = 0.01, 0.01
#: Noise of the order of dry values at first, in sds of the coarse values; how many sds below its mean a value may lie.
_NOISE, _FARTHEST = 0.3, 5.0


def dry_limit(fine: Float[np.ndarray, "N P"]) -> float:
    """The value up to which all count as dry in scores: 0 where dry values are zeros, y₀ where they are small."""
    smallest = dry_below(fine)
    zeros, dry = int(np.sum(fine <= 1e-6 * smallest)), int(np.sum(fine < smallest))
    return 0.0 if 2 * zeros >= dry else smallest


@dataclass(frozen=True, eq=False)
class Censored:
    """A series and its training period in units of a warp.

    Parameters
    ----------
    warp : g.
    series, training : in units of the warp; dry values of ``training.fine`` are drawn.
    dry : (N, P) which these are, and the ``level`` g(y₀) that they do not exceed.
    """

    warp: Warp
    series: Series
    training: Training
    dry: Bool[np.ndarray, "N P"]
    level: float

    @staticmethod
    def of(series: Series, training: Training, warp: Warp) -> "Censored":
        """With normal scores of dry values."""
        smallest = dry_below(training.fine)
        level = float(warp.forward(np.array([smallest]))[0])
        fine, coarse = (warp.forward(np.maximum(each, 0.0)) for each in (training.fine, training.coarse))
        dry = training.fine < smallest
        own = _own_cell(series, coarse)
        result = Censored(warp, _series_in_warp(series, warp), replace(training, coarse=coarse), dry, level)
        return result.with_fine(_scored(fine, dry, level, own))

    def with_fine(self, fine: Float[np.ndarray, "N P"]) -> "Censored":
        """The same with other values in units of the warp."""
        return replace(self, training=replace(self.training, fine=fine, cells=cell_means(self.series, fine)))

    def drawn(self, m: Float[np.ndarray, "N P"], s: Float[np.ndarray, "N P"], rng: np.random.Generator) -> "Censored":
        """With dry values drawn from ``N(m, s²)`` below the level."""
        below = ndtr((self.level - m) / s)
        values = m + s * ndtri(np.maximum(rng.uniform(size=m.shape) * below, 1e-300))
        values = np.clip(values, np.minimum(m, self.level) - _FARTHEST * s, self.level)
        return self.with_fine(np.where(self.dry, values, self.training.fine))


def dry_below(fine: Float[np.ndarray, "N P"]) -> float:
    """y₀, what a wet value has at least. Raises ``InputError`` without positive values."""
    positive = fine[fine > 0]
    if not positive.size:
        raise InputError("All values of the archive are zero: choose a training period with others.")
    return max(float(np.quantile(positive, _SMALLEST)), _LEAST * float(np.nanmean(fine)))


def _series_in_warp(series: Series, warp: Warp) -> Series:
    """The series in units of the warp; its truth, which is in the target's, is left out."""
    coarse = warp.forward(np.maximum(series.coarse, 0.0))
    observed = coarse[:, series.problem.target_cell]
    scale = float(np.sqrt(np.nanmean(np.nanvar(observed, axis=1))))
    problem = replace(series.problem, target_scale=Scale(0.0, scale or 1.0), units="1")
    read = series.file.coarse
    file = replace(series.file, coarse=lambda index: warp.forward(np.maximum(read(index), 0.0)))
    return replace(
        series, problem=problem, coarse=coarse, level=np.nanmean(observed, axis=1), fine=None, file=file
    )  # fmt: skip


def _own_cell(series: Series, coarse: Float[np.ndarray, "N M"]) -> Float[np.ndarray, "N P"]:
    """The coarse value of every pixel's cell, the mean of all where it lies in none."""
    problem = series.problem
    place = np.full(problem.coarse.size + 1, -1)
    place[problem.target_cell] = np.arange(coarse.shape[1])
    own = place[problem.cell.flat[problem.pixel]]
    return np.where(own >= 0, coarse[:, own], coarse.mean(axis=1, keepdims=True))


def _scored(
    fine: Float[np.ndarray, "N P"], dry: Bool[np.ndarray, "N P"], level: float, own: Float[np.ndarray, "N P"]
) -> Float[np.ndarray, "N P"]:
    """Values with those of dry times on the line of the wet ones over their normal scores."""
    count, rng = len(fine), np.random.default_rng(0)
    order = own + _NOISE * own.std() * rng.normal(size=own.shape)
    order = np.where(dry, order - order.max() - 1.0 - np.nanmax(np.abs(fine)), fine)
    score = ndtri((np.argsort(np.argsort(order, axis=0), axis=0) + 0.5) / count)
    share = dry.mean(axis=0)
    wet, number = ~dry, np.maximum((~dry).sum(axis=0), 1)
    centred = wet * (score - (wet * score).sum(0) / number)
    slope = (centred * np.nan_to_num(fine)).sum(0) / np.maximum(np.square(centred).sum(0), 1e-12)
    usual = np.nanmean(slope[share < 0.9]) if (share < 0.9).any() else 1.0
    slope = np.where((number < 10) | ~(slope > 0), usual, slope)
    at_level = ndtri(np.clip(share, 0.5 / count, 1 - 0.5 / count))
    return np.where(dry, np.minimum(level, level + slope * (score - at_level)), fine)
