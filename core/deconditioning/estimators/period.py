"""Many times of one request, for the function ``downscale``."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.errors import InputError
from deconditioning.estimators.inputs import Gridded, Request, fields_of
from deconditioning.fields.times import text_of
from deconditioning.period.archive.pair import downscale_pair
from deconditioning.period.archive.peers.alone import downscale_by_method
from deconditioning.period.archive.predictors import read_predictors
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.training import matched_directly, read_training
from deconditioning.period.dataset import pair_dataset, period_dataset
from deconditioning.period.ensemble import (
    Ensemble,
    downscale_ensemble,
    ensemble_dataset,
    predictors_of_members,
    read_ensemble,
)
from deconditioning.period.run import downscale_series
from deconditioning.period.series import read_series

if TYPE_CHECKING:
    import xarray as xr


def of_times(
    request: Request, settings: DownscaleSettings, times: str | Sequence[str] | None, archive: Gridded | None,
    period: str | Sequence[str] | None, predictors: str | Sequence[str], upper: str | None = None,
    draws: int = 0, other_method: str = "",
) -> "xr.Dataset":  # fmt: skip
    """The dataset of many times, with an archive as prior where there is one, other variables as predictors, and a
    variable ``upper`` that the target is never above; with so many joint ``draws``.

    Raises ``InputError`` without times, and for a training period or predictors without an archive.
    """
    if times is None or (archive is None and (period is not None or predictors or upper or other_method)):
        raise InputError(
            "`archive` needs `times`, and `period`, `predictors`, `upper` and `other_method` need both: give "
            "`times='all'`, or some of them."
        )
    if other_method and (predictors or upper):
        raise InputError("`other_method` cannot be combined with `predictors` or `upper`: leave one of them out.")
    times, period = _words(times), _words(() if period is None else period)
    request = _at_times(request, times, archive)
    ensemble = read_ensemble(request.source, request.spec, request.fields.__getitem__, times)
    if ensemble is not None:
        _check_members(ensemble.dim, {"draws": draws, "upper": upper})
        return _of_members(request, ensemble, settings, archive, times, period, _words(predictors), other_method)
    series = read_series(request.source, request.spec, request.fields.__getitem__, times)
    if archive is None:
        result = downscale_series(series, settings)
    else:
        others = read_predictors(
            request.source, request.spec, request.fields.__getitem__, times, _words(predictors), series
        )
        fine = fields_of(archive, "archive")
        training = read_training(series, fine, period, others)
        if upper:
            spec = replace(request.spec, target=upper)
            above = read_series(request.source, spec, request.fields.__getitem__, times, series)
            both = training, read_training(above, fine, period)
            pair = downscale_pair(series, above, both, settings)
            return pair_dataset(pair.lower, pair.upper, draws=draws)
        by_method = partial(downscale_by_method, name=other_method) if other_method else downscale_with_archive
        result = by_method(series, training, settings=settings)
    for sentence in result.warnings:
        warnings.warn(sentence, UserWarning, stacklevel=3)
    return period_dataset(result, draws=draws)


def _at_times(request: Request, words: Sequence[str], archive: Gridded | None) -> Request:
    """The request with its climatology at these times, or without mediators if there is an archive."""
    if archive is None:
        return request.at(words)
    if request.climatology is not None:
        raise InputError("`archive` has a climatology of its own: leave `climatology` out.")
    source, spec, _ = matched_directly(request.source, request.spec)
    return replace(request, source=source, spec=spec)


def _check_members(dim: str, given: Mapping[str, Any]) -> None:
    """``InputError`` for what is given and not there for several members."""
    for name, value in given.items():
        if value:
            raise InputError(
                f"`{name}` cannot be used with the members of `{dim}`: leave it out, or choose one member with "
                "`select`."
            )


def _of_members(
    request: Request, ensemble: Ensemble, settings: DownscaleSettings, archive: Gridded | None, times: Sequence[str],
    period: Sequence[str], names: Sequence[str], other_method: str,
) -> "xr.Dataset":  # fmt: skip
    """The dataset of all members of an ensemble, with the predictors ``names``, or by another method."""
    training = None
    if archive is not None:
        others = predictors_of_members(request.source, request.spec, request.fields.__getitem__, times, names, ensemble)
        training = read_training(ensemble.pooled, fields_of(archive, "archive"), period, others)
    result = downscale_ensemble(ensemble, settings, training=training, other_method=other_method)
    for sentence in result.pooled.warnings:
        warnings.warn(sentence, UserWarning, stacklevel=4)
    return ensemble_dataset(ensemble, result.members)


def _words(times: Any) -> list[str]:
    """Words and dates, one or several, as words."""
    return [times] if isinstance(times, str) else [_word(each) for each in np.atleast_1d(np.asarray(times))]


def _word(time: Any) -> str:
    """A word as it is, and a date of any calendar to the minute; ``InputError`` for anything else."""
    if isinstance(time, str):
        return str(time)
    text = text_of(np.datetime64(time) if isinstance(time, datetime) else time)
    if text == "no date":
        raise InputError(
            f"{time} is no time: give 'all', dates such as '2001-03', a range '2001-03-01/2001-03-10', or '#5' for an"
            " index."
        )
    return text
