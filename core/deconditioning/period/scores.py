"""A downscaled series as `verification` takes it: beside its fine truth, interpolation and other methods."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.grids.roles import LAND, is_among, orography_of
from deconditioning.fields.problem.baselines import bilinear, bilinear_conserving
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.units import convert
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


def _verified(series: Series, forecasts: dict[str, Forecast]) -> Verified:
    """Predictions of a series by name. Raises ``InputError`` without a fine truth."""
    if series.fine is None:
        raise InputError("There is no truth at high resolution, so there is nothing to verify.")
    count, problem = len(series), series.problem
    dates = () if any(date is None for date in series.dates) else series.labels
    return Verified(
        _Fields(count, series.fine), forecasts, problem.grid.area, problem.cell, problem.units, dates=dates,
        altitude=_covariate(problem, _altitude_of(problem.spec.covariates), "m"),
        land=_covariate(problem, next((name for name in problem.spec.covariates if is_among(name, LAND)), None), "1"),
    )  # fmt: skip


def _altitude_of(names: Sequence[str]) -> str | None:
    """The covariate that is the altitude of the ground."""
    return orography_of(names) or next((name for name in names if name.lower() == "orography"), None)


def _covariate(problem: DownscalingProblem, name: str | None, units: str) -> np.ndarray | None:
    """A covariate (H, W) in these units; None without a name, or if it is not among the columns of the inputs."""
    if name is None or name not in problem.columns:
        return None
    column = problem.columns.index(name)
    values = problem.input_scaling.scales[column].backward(problem.inputs[:, column].numpy())
    return problem.on_grid(convert(values, problem.covariates[name].units, units, name)[0])


def verified_result(result: PeriodResult, name: str = "prediction", *, conserving: bool = True) -> Verified:
    """A downscaled series, bilinear interpolation of the same cells, this with their means kept, and the peers of the
    archive. Raises ``InputError`` without a fine truth.
    """
    series = result.series
    own = _forecast(series, result.means.__getitem__, result.sd)
    forecasts = {name: replace(own, distribution=result.predictive) if result.behind else own}
    forecasts[BILINEAR] = _forecast(series, lambda time: bilinear(series.at(time)))
    if conserving:
        forecasts[CONSERVING] = _forecast(series, lambda time: bilinear_conserving(series.at(time)))
    for other, peer in result.peers.items():
        forecasts[other] = replace(_forecast(series, peer.field, peer.spread), distribution=peer.predictive)
    return _verified(series, forecasts)


def _forecast(series: Series, mean: _Field, sd: _Field | None = None) -> Forecast:
    count = len(series)
    return Forecast(_Fields(count, mean), None if sd is None else _Fields(count, sd))


def series_scores(series: Series, mean: _Field, sd: _Field | None = None) -> dict[str, float]:
    """The pooled scores (`verification.scores.series_scores`) of one prediction; empty without a truth."""
    if series.fine is None:
        return {}
    return scores_of(_verified(series, {"prediction": _forecast(series, mean, sd)}))[0]["prediction"].pooled
