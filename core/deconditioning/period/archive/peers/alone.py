"""One of the other methods in place of the prediction from archive and kernel, with the means of the cells restored.

Its mean is moved, or for targets that cannot be negative multiplied, in each cell so that the cell has its coarse
value. The sd of a pixel is the root mean square of the errors of such predictions at left-out parts of the training
period. Joint draws are ``mean + sd u`` with the covariance in space of these errors, and in time as they last.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import spec_to_settings, starting_spec
from deconditioning.engine.reporting import NoReport, Stopwatch
from deconditioning.errors import InputError
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.kernels.families.draws import normal
from deconditioning.metrics.predictive import Predictive
from deconditioning.period.archive.peers.fitted import SHORT, Peer, fitted
from deconditioning.period.archive.peers.methods import Known, Method
from deconditioning.period.archive.seasons import Seasons
from deconditioning.period.archive.setting import parts_of
from deconditioning.period.archive.training import Training, keeps_means
from deconditioning.period.archive.warp_choice import has_warp
from deconditioning.period.behind_warp import CellsOfPixels
from deconditioning.period.correlation import correlation_of_errors, days_of
from deconditioning.period.joint import Residuals, linked_errors
from deconditioning.period.run import PeriodResult, of_a_series
from deconditioning.period.series import Series

#: Corrections of pixels that lie in several cells at most, and the error of a cell's mean, relative to the largest
#: value, at which they end.
_STEPS, _EXACT = 50, 1e-12


def downscale_by_method(
    series: Series, training: Training, name: str, settings: DownscaleSettings | dict[str, Any], context: Any = None
) -> PeriodResult:
    """Predict a series by the method that `SHORT` calls ``name``, from its coarse values and a training period.

    Raises ``InputError`` for other names, stations, predictors, coarse values that are missing at some times, and an
    archive that covers only part of the region or does not fit into memory; ``Cancelled``.
    """
    if name not in SHORT:
        raise InputError(f"There is no method '{name}': choose among {', '.join(SHORT)}.")
    settings = settings if isinstance(settings, DownscaleSettings) else DownscaleSettings.from_dict(settings)
    context, watch = context or NoReport(), Stopwatch()
    training = _checked(series, training, name)
    positive = has_warp(series, training, settings.warp)
    settings = of_a_series(series, settings, len(series))
    context.report(
        message=f"Predicting {series.problem.grid.area.size:,} pixels at {len(series)} times by {SHORT[name]}"
    )
    seasons = Seasons.of(training.dates, series.dates)
    restore = _Restored(series.problem, training.known, positive) if keeps_means(training) else None
    peer, errors = fitted(
        series, training, seasons, parts_of(training, seasons), context.check, SHORT[name], positive=positive,
        change=restore,
    )  # fmt: skip
    spec, sd = starting_spec(series.problem, settings), np.where(peer.sd > 0, peer.sd, np.inf)
    residuals = _residuals(errors / sd, training)
    count, restored = len(series), "" if restore is None else ", with the means of the cells restored"
    sentence = f"Mean and sd are those of `{SHORT[name]}`{restored}."
    return PeriodResult(
        series, spec, spec_to_settings(settings, spec), np.stack([peer.field(time) for time in range(count)]),
        peer.spread(0)[None], np.zeros(count, dtype=int), np.ones(count), np.full(count, np.nan), watch.seconds(),
        diagnostics={"device": "cpu", "jitter": 0.0, "method": sentence, "training_times": len(training),
                     "left_out_crps": {SHORT[name]: peer.left_out_crps}},
        residuals=residuals, behind=EndingAtZero(peer, residuals, series) if positive else None, method=name,
    )  # fmt: skip


def _checked(series: Series, training: Training, name: str) -> Training:
    """The training period in memory; ``InputError`` for what the other methods are not there for."""
    if series.stations is not None:
        raise InputError(f"Stations cannot be combined with the method '{name}': leave one of them out.")
    if series.errors is not None:
        raise InputError(f"The method '{name}' does not know errors of cells: leave one of them out.")
    if training.predictors.known.size:
        raise InputError(f"Predictors cannot be combined with the method '{name}': leave one of them out.")
    missing = int((~np.isfinite(series.coarse[:, series.problem.target_cell])).any(1).sum())
    if missing:
        raise InputError(
            f"The method '{name}' needs the coarse values of all cells, and {missing} of {len(series)} times lack "
            "some: choose other times, or leave it out."
        )
    return training.in_memory(f"The method '{name}'")


@dataclass(frozen=True, eq=False)
class _Restored:
    """Makes of a method one whose predictions have the means of the cells."""

    problem: DownscalingProblem
    there: Bool[np.ndarray, " P"]
    positive: bool

    def __call__(self, method: Method) -> Method:
        cells = CellsOfPixels.of(self.problem, self.there)

        def predict(
            known: Known, rows: np.ndarray, design: np.ndarray, smooth: np.ndarray, coarse: np.ndarray
        ) -> np.ndarray:
            """(t, P) of times of known design, interpolated and coarse values."""
            result = method(known, rows, design, smooth, coarse)
            for row, values in zip(result, coarse, strict=True):
                aim = np.full(cells.count, np.nan)
                aim[self.problem.target_cell] = values
                row[:] = with_cell_means(cells, row, aim, positive=self.positive)
            return result

        return predict


def with_cell_means(
    cells: CellsOfPixels, values: Float[np.ndarray, " P"], aim: Float[np.ndarray, " C"], *, positive: bool = False
) -> Float[np.ndarray, " P"]:
    """The values with the pixels of each cell moved alike, or multiplied if they are ``positive``, so that the cell has
    the mean ``aim``; unchanged where this is NaN. A cell of zeros becomes constant.
    """
    result = values.clip(0.0) if positive else values.copy()
    exact = _EXACT * max(float(np.nanmax(np.abs(aim))), 1e-300)
    for _ in range(_STEPS):
        mean = cells.mean(np.nan_to_num(result))
        off = np.nan_to_num(aim - mean)
        if np.abs(off).max() <= exact:
            break
        if positive:
            factor = np.divide(aim, mean, out=np.ones_like(mean), where=(mean > exact) & np.isfinite(aim))
            result *= 1 + cells.at_pixels(factor - 1)
            off = np.where(mean > exact, 0.0, off)
        result += cells.at_pixels(off)
    return result


def _residuals(standard: Float[np.ndarray, "N P"], training: Training) -> Residuals:
    """Draws of the covariance of standardised left-out errors, ``Σ_i g_i u_i(x) / √N``."""
    fields = torch.as_tensor(standard)
    there = np.isfinite(standard[0])

    def draw(count: int, generator: torch.Generator) -> Float[Tensor, "count P"]:
        """Standardised errors (count, P)."""
        return normal((count, len(fields)), generator) @ fields / len(fields) ** 0.5

    return Residuals(draw, correlation_of_errors(standard[:, there], days_of(training.dates)), of_archive=True)


@dataclass(frozen=True, eq=False)
class EndingAtZero:
    """Gaussians that end at zero: `period.run.Behind`."""

    peer: Peer
    residuals: Residuals
    series: Series

    def only(self, times: np.ndarray) -> "EndingAtZero":
        """Some of the times, those of one member."""
        peer = replace(self.peer, means=self.peer.means[times])
        return EndingAtZero(peer, self.residuals.only(times), replace(self.series.only(times), members=1))

    def predictive(self, time: int) -> Predictive:
        """The distributions (H, W) of a time."""
        return self.peer.predictive(time)

    def draws(self, count: int, seed: int) -> Iterator[Float[np.ndarray, "T P"]]:
        """Joint draws at the pixels, those below zero at zero."""
        days, pixels = days_of(self.series.dates), self.peer.means.shape[1]
        for errors, _ in linked_errors(self.residuals, days, pixels, count, seed):
            yield (self.peer.means + self.peer.sd * errors).clip(0.0)
