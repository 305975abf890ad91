"""A series with its training period, ready to predict: what all pixels share, and each pixel's fine side."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from scipy.spatial import cKDTree
from torch import Tensor
from torch.nn.functional import pad

from deconditioning.device import choose
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import columns_of, starting_spec
from deconditioning.errors import Check, InputError
from deconditioning.fields.grids.sphere import unit_vectors
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.scaling import Scale
from deconditioning.kernels.families.draws import normal
from deconditioning.models.indirect_gp import weights_and_noise
from deconditioning.models.spec import ModelSpec
from deconditioning.period.archive.gain import CellErrors, CoarseSide, FineSide
from deconditioning.period.archive.kernel import composite_fits, composite_pixels, learn_composite
from deconditioning.period.archive.seasons import Seasons, regressed
from deconditioning.period.archive.training import Training, keeps_means
from deconditioning.period.learning import learn_pooled
from deconditioning.period.posterior import PixelSums, pixel_sums
from deconditioning.period.series import Series

#: Values of the training period in a tile, and in a sample of pixels: about twenty arrays of the latter are held.
_TILE_VALUES, _SAMPLE_VALUES = 8_000_000, 4_000_000


@dataclass(frozen=True, eq=False)
class Setting:
    """A series with its training period, ready to predict any of its pixels.

    Parameters
    ----------
    coarse : the coarse side of the training period, in units of ``unit``.
    spec : the model whose kernel is mixed with the archive's covariance.
    sums : its bag sums at the pixels; ``project`` (n, M) turns bag sums into those of the targets, 0 for predictors.
    cell : (P,) the coarse cell of each pixel, the nearest one where it lies in none.
    seasons : the harmonics of the climatology.
    parts : blocks of the training period whose errors make the sd: two, or five where a half lacks seasons.
    """

    series: Series
    training: Training
    coarse: CoarseSide
    spec: ModelSpec
    sums: PixelSums
    project: Float[Tensor, "n M"]
    cell: np.ndarray
    seasons: Seasons
    unit: float
    parts: int = 2

    def fine(self, pixels: np.ndarray, cross: Float[Tensor, "M p"], prior: Float[Tensor, " p"]) -> FineSide:
        """The fine side of some pixels, from the kernel's covariances there (`sums_at`)."""
        device = cross.device
        y = torch.as_tensor(self.training.at(pixels) / self.unit).to(device)
        return FineSide(y, cross, prior, torch.as_tensor(self.cell[pixels]).to(device))

    def with_fine(self, training: Training) -> "Setting":
        """The same with other fine values of the training period."""
        truth = torch.as_tensor(np.hstack([training.cells / self.unit, training.predictors.known]))
        coarse = replace(self.coarse, truth=truth.to(self.coarse.z.device))
        return replace(self, training=training, coarse=coarse)

    def sums_at(
        self, chosen: np.ndarray, check: Check
    ) -> Iterator[tuple[np.ndarray, Float[Tensor, "M p"], Float[Tensor, " p"]]]:
        """The ``chosen`` pixels, ascending, a few at a time, with the kernel's covariance with the coarse values and
        its variance.
        """
        for part, cross, prior in self.sums.tiles(check, max(1, _TILE_VALUES // len(self.training))):
            inside = chosen[(chosen >= part.start) & (chosen < part.stop)]
            if len(inside):
                rows = torch.as_tensor(inside - part.start).to(cross.device)
                yield inside, self.project.T @ cross[:, rows], prior[rows]

    def tiles(self, check: Check) -> Iterator[tuple[np.ndarray, FineSide]]:
        """All pixels that the archive knows, a few at a time."""
        for pixels, cross, prior in self.sums_at(np.flatnonzero(self.training.known), check):
            yield pixels, self.fine(pixels, cross, prior)

    def of_series(self) -> Float[Tensor, "T M"]:
        """The coarse values of the series, in units of ``unit``, and predictors, NaN where missing."""
        values = self.series.coarse[:, self.series.problem.target_cell] / self.unit
        predictors = self.training.predictors.at(self.series.labels)
        return torch.as_tensor(np.hstack([values, predictors])).to(self.coarse.z.device)

    def errors_of_series(self) -> Float[Tensor, "T M"] | None:
        """Variances of the errors of these coarse values, in squares of ``unit``, less those of values of the training
        period; NaN where unknown, 0 for predictors, None if none are known.
        """
        return _errors(self.series, self.training, self.unit, self.coarse.z)

    def on_grid(self, rows: np.ndarray) -> np.ndarray:
        """(n, H, W) fields in the target's units from values (n, P) at the pixels."""
        return self.unit * np.stack([self.series.problem.on_grid(row) for row in rows])

    def some(self, most: int, check: Check) -> FineSide:
        """At most ``most`` random pixels, fewer where times are many."""
        known, most = np.flatnonzero(self.training.known), min(most, _SAMPLE_VALUES // len(self.training))
        return self.at(np.sort(np.random.default_rng(0).choice(known, min(most, len(known)), replace=False)), check)

    def at(self, chosen: np.ndarray, check: Check) -> FineSide:
        """The ``chosen`` pixels, ascending."""
        parts = [self.fine(*each) for each in self.sums_at(chosen, check)]
        join = (torch.cat([getattr(p, name) for p in parts], dim) for name, dim in
                (("y", 1), ("cross", 1), ("prior", 0), ("cell", 0)))  # fmt: skip
        return FineSide(*join)


def prepare(
    series: Series, training: Training, settings: DownscaleSettings, context: Any, like: Setting | None = None
) -> Setting:
    """Learn the kernel of the anomalies from the archive and sum it over the cells.

    ``like`` is a setting of the same cells and pixels, whose sums are used if it has the same kernel. ``context``
    receives messages and may cancel. Raises ``InputError`` for covariates that change with time.
    """
    if series.varying is not None:
        raise InputError(
            "With an archive the covariates must not change with time: leave out those that do, or the archive."
        )
    problem, device = series.problem, choose(settings.device)
    seasons = Seasons.of(training.dates, series.dates)
    design = seasons.design(training.dates)
    cells = training.cells - design @ regressed(design, training.cells)
    unit = float(cells.std()) or 1.0
    spec = _kernel(series, training, settings, design, cells / unit, unit, context)
    if like is not None and like.spec == spec:
        sums = like.sums
    else:
        sums = pixel_sums(spec, problem, device, context.check)
    weights, noise = weights_of_targets(spec, problem, sums)
    known = len(problem.target_cell)  # stations are behind the cells
    weights, noise = weights[:, :known], noise[:known, :known]
    cells = problem.coarse_grid
    centres = unit_vectors(cells.latitude.ravel(), cells.longitude.ravel())
    width = float(np.sqrt(np.median(cells.steradians())))
    places = torch.as_tensor(centres / width).to(device)
    predictors = training.predictors
    z, truth = (
        torch.as_tensor(np.hstack([each / unit, predictors.known])).to(device)
        for each in (training.coarse, training.cells)
    )
    weights, noise, is_predictor = _with_predictors(weights, noise, predictors.known.shape[1])
    target_cell = torch.as_tensor(np.concatenate([problem.target_cell, predictors.cell])).to(device)
    gram = weights.T @ sums.gram @ weights + noise
    own = _own_errors(series, training, unit, z)
    coarse = CoarseSide(design, z, truth, gram, target_cell, torch.cdist(places, places), is_predictor, own=own)
    cell = problem.cell.flat[problem.pixel]
    away = np.flatnonzero(cell < 0)
    pixels = problem.pixel[away]
    lost = unit_vectors(problem.grid.latitude.flat[pixels], problem.grid.longitude.flat[pixels])
    cell = cell.copy()
    cell[away] = cKDTree(centres).query(lost)[1] if len(away) else 0
    return Setting(series, training, coarse, spec, sums, weights, cell, seasons, unit, parts_of(training, seasons))


def _errors(series: Series, training: Training, unit: float, z: Float[Tensor, "N M"]) -> Float[Tensor, "T M"] | None:
    """`Setting.errors_of_series` for training values ``z``."""
    if series.errors is None:
        return None
    more = (series.errors[:, series.problem.target_cell] ** 2 - training.errors).clip(0) / unit**2
    return pad(torch.as_tensor(more), (0, z.shape[1] - more.shape[1])).to(z)


def _own_errors(series: Series, training: Training, unit: float, z: Float[Tensor, "N M"]) -> CellErrors | None:
    """The mean of these variances over the times, with errors drawn for every training time."""
    errors = _errors(series, training, unit, z)
    if errors is None:
        return None
    variance, generator = errors.nanmean(0).nan_to_num(nan=0.0), torch.Generator().manual_seed(0)
    return CellErrors(variance, variance.sqrt() * normal(tuple(z.shape), generator).to(z))


def weights_of_targets(
    spec: ModelSpec, problem: DownscalingProblem, sums: PixelSums
) -> tuple[Float[Tensor, "n m"], Float[Tensor, "m m"]]:
    """W and Σ of cells and, behind them, stations, as means of the fine field without errors of their own."""
    data = problem.joint_data.to(sums.gram.device)
    if data.points is not None:
        nothing = torch.zeros_like(data.points.variance), torch.zeros_like(data.points.prior)
        data = replace(data, points=replace(data.points, variance=nothing[0], prior=nothing[1]))
    return weights_and_noise(replace(spec, representativeness=0.0), data, columns_of(problem), sums.gram)


def _with_predictors(
    weights: Float[Tensor, "n m"], noise: Float[Tensor, "m m"], count: int
) -> tuple[Float[Tensor, "n M"], Float[Tensor, "M M"], Bool[Tensor, " M"]]:
    """Weights and noise with rows of 0 for ``count`` predictors, and which coarse values these are."""
    known = weights.shape[1]
    is_predictor = torch.arange(known + count, device=weights.device) >= known
    return pad(weights, (0, count)), pad(noise, (0, count, 0, count)), is_predictor


def parts_of(training: Training, seasons: Seasons) -> int:
    """Two halves if each has the harmonics of the whole, also for the other; else five blocks."""
    middle = len(training) // 2
    first, second = training.dates[:middle], training.dates[middle:]
    both = (Seasons.of(first, second), Seasons.of(second, first))
    return 2 if all(each.annual >= seasons.annual for each in both) else 5


def _kernel(
    series: Series, training: Training, settings: DownscaleSettings, design: np.ndarray, a: np.ndarray, unit: float,
    context: Any,
) -> ModelSpec:  # fmt: skip
    """The kernel as given, or learned from fine anomalies given coarse ones, from coarse ones where pixels are many."""
    start = starting_spec(series.problem, settings)
    if not settings.learn:
        return start
    problem, kept = replace(series.problem, sources=()), start.representativeness
    if composite_fits(problem, start) and (training.known.all() or training.covers_part):
        pixels = composite_pixels(training.known, settings.seed)
        fine = training.at(pixels) / unit
        r = fine - design @ regressed(design, fine)
        learned = learn_composite(problem, settings, a, r, pixels, context, keeps_means=keeps_means(training))
        return replace(learned, representativeness=kept)
    cells = np.full((len(training), series.coarse.shape[1]), np.nan)
    cells[:, problem.target_cell] = a
    coarse = replace(
        series, problem=replace(problem, target_scale=Scale(0.0, 1.0)), coarse=cells, level=np.zeros(len(a)),
        labels=training.labels, dates=training.dates, fine=None, stations=None, members=1, errors=None,
    )  # fmt: skip
    return replace(learn_pooled(coarse, settings, context).learned.spec, representativeness=kept)
