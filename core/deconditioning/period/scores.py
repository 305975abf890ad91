"""A downscaled series as `verification` takes it: beside its fine truth, interpolation and other methods."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.problem.baselines import bilinear, bilinear_conserving
from deconditioning.period.run import PeriodResult
from deconditioning.period.series import Series
from deconditioning.verification.scores import series_scores as scores_of
from deconditioning.verification.series import BILINEAR, CONSERVING, Forecast, Verified

#: Gives the field (H, W) of a time.
_Field = Callable[[int], np.ndarray]


@dataclass(frozen=True, eq=False)
class _Fields:
    """A field (H, W) of each of ``count`` times, computed when it is read."""

    count: int
    of: _Field

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, time: int) -> np.ndarray:
        return self.of(time)


def _verified(series: Series, predictions: Mapping[str, tuple[_Field, _Field | None]]) -> Verified:
    """Predictions of a series, name → what gives mean and, if there is one, sd (H, W) of a time.

    Raises ``InputError`` without a fine truth.
    """
    if series.fine is None:
        raise InputError("There is no truth at high resolution, so there is nothing to verify.")
    count, problem = len(series), series.problem
    forecasts = {
        name: Forecast(_Fields(count, mean), None if sd is None else _Fields(count, sd))
        for name, (mean, sd) in predictions.items()
    }
    return Verified(_Fields(count, series.fine), forecasts, problem.grid.area, problem.cell, problem.units)


def verified_result(result: PeriodResult, name: str = "prediction", *, conserving: bool = True) -> Verified:
    """A downscaled series, bilinear interpolation of the same cells, this with their means kept, and the peers of the
    archive. Raises ``InputError`` without a fine truth.
    """
    series = result.series
    predictions: dict[str, tuple[_Field, _Field | None]] = {name: (result.means.__getitem__, result.sd)}
    predictions[BILINEAR] = (lambda time: bilinear(series.at(time)), None)
    if conserving:
        predictions[CONSERVING] = (lambda time: bilinear_conserving(series.at(time)), None)
    for other, peer in result.peers.items():
        predictions[other] = (peer.field, peer.spread)
    return _verified(series, predictions)


def series_scores(series: Series, mean: _Field, sd: _Field | None = None) -> dict[str, float]:
    """The pooled scores (`verification.scores.series_scores`) of one prediction; empty without a truth."""
    if series.fine is None:
        return {}
    return scores_of(_verified(series, {"prediction": (mean, sd)}))[0]["prediction"].pooled
