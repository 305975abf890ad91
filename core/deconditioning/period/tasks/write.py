"""All times of a period as one run of the engine: predicted a block of times after another, then one NetCDF file.

Blocks that are done lie in a Zarr store in the runs folder, so that the same run, begun again after a cancel or the
loss of its process, computes only the others. Two variables, or all members of an ensemble, are predicted together at
all times, in memory.
"""

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source, open_source
from deconditioning.engine.reporting import Part
from deconditioning.engine.visitors.uploads import upload_folder
from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.fields.writing.delivery import PROGRESS, to_netcdf_bytes
from deconditioning.period.archive.pair import downscale_pair
from deconditioning.period.archive.predictors import read_predictors
from deconditioning.period.archive.run import predicted_with_archive
from deconditioning.period.archive.training import Training, read_training
from deconditioning.period.dataset import pair_dataset
from deconditioning.period.ensemble import (
    Ensemble,
    downscale_ensemble,
    ensemble_dataset,
    member_dimension,
    predictors_of_members,
    read_ensemble,
)
from deconditioning.period.run import PeriodResult, downscale_series
from deconditioning.period.scores import series_scores
from deconditioning.period.series import Series, read_series
from deconditioning.period.store import blocks_of, write_stretches
from deconditioning.versions import SAME_NUMBERS_SINCE

#: The file of a run that is done, and the most values of its means, which are in memory together.
FILE, MOST_VALUES = "period.nc", 100_000_000
#: The most values of the means of several variables or members that are predicted in memory: mean, sd, truth, error and
#: their copies are about ten times as much.
MOST_TOGETHER = 20_000_000
#: Values in a block of times, about, and seconds after which a store that nobody has continued is deleted.
_BLOCK_VALUES, _KEPT_S = 500_000, 7 * 24 * 3600


@dataclass(frozen=True)
class PeriodTask:
    """What is written; JSON-able.

    Parameters
    ----------
    source, problem : the files, and variables, cells and selection.
    times : those that are downscaled, in the words of `chosen_times`.
    training : those of the training period in the same file; none for cells alone.
    predictors : other variables whose coarse values predict the target.
    upper : a variable that the target is never above, in the file as well; "" for none.
    link : whether times are linked; None if values left out decide.
    settings : the model.
    owner : whose run it is, so that nobody continues somebody else's.
    at_once : times in a block; 0 for about half a million values.
    """

    source: Source
    problem: DownscalingSpec
    times: tuple[str, ...]
    training: tuple[str, ...] = ()
    predictors: tuple[str, ...] = ()
    upper: str = ""
    link: bool | None = None
    settings: DownscaleSettings = field(default_factory=lambda: DownscaleSettings(model="area_to_point_gp"))
    owner: str = ""
    at_once: int = 0

    @staticmethod
    def from_dict(value: Mapping[str, Any]) -> "PeriodTask":
        """The inverse of ``to_dict``."""
        words = {name: tuple(value.get(name, ())) for name in ("times", "training", "predictors")}
        return PeriodTask(
            Source.from_dict(dict(value["source"])), DownscalingSpec.from_dict(value["problem"]), **words,
            settings=DownscaleSettings.from_dict(value["settings"]), owner=str(value.get("owner", "")),
            at_once=int(value.get("at_once", 0)), upper=str(value.get("upper", "")), link=value.get("link"),
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Plain data; of ``upper`` and ``link`` only what there is, so that older runs are still the same."""
        parts = {name: getattr(self, name).to_dict() for name in ("source", "problem", "settings")}
        words = {name: list(getattr(self, name)) for name in ("times", "training", "predictors")}
        more = {name: value for name in ("upper", "link") if (value := getattr(self, name)) not in ("", None)}
        return {**parts, **words, **more, "owner": self.owner, "at_once": self.at_once}

    @property
    def store(self) -> Path:
        """Where its blocks lie until all are done."""
        text = json.dumps([self.to_dict(), SAME_NUMBERS_SINCE], sort_keys=True)
        return upload_folder().parent / "periods" / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.zarr"


def write_period_task(settings: dict[str, Any], context: Any) -> dict[str, Any]:
    """The engine's task: every time of `PeriodTask` in the file `FILE`, in single precision, with its scores if the
    truth is known.

    A cancelled run keeps the blocks that are done, but none of two variables or of several members. Raises
    ``InputError``, also for more values than a file is made of; ``Cancelled``.
    """
    import xarray as xr

    task = PeriodTask.from_dict(settings)
    path, opened = task.store, cache(open_source)
    context.report(message="Reading the series")
    if task.upper or member_dimension(opened(task.source.coarse or task.source.fields), task.problem):
        return _write_together(task, opened, context)
    series = read_series(task.source, task.problem, opened, list(task.times))
    size = series.problem.grid.area.size
    if size * len(series) > MOST_VALUES:
        raise InputError(
            f"{len(series):,} times of {size:,} pixels are more than a run writes into one file: choose fewer times, "
            "or use `deconditioning downscale --times … --output OUT.zarr`."
        )
    _delete_old(path.parent)
    if path.exists() and not (path / PROGRESS).exists():  # ended after its last block, before the file was made
        shutil.rmtree(path)
    blocks = blocks_of(len(series), task.at_once or max(1, _BLOCK_VALUES // size))
    result = write_stretches(
        series, _predictor(task, series, opened, context, blocks), path, single=True, attributes={},
        request=task.to_dict(), say=lambda text: context.report(message=text), stretches=blocks,
    )  # fmt: skip
    with xr.open_zarr(path, consolidated=True) as store:
        content = to_netcdf_bytes(store.load(), single=True)
        fields = (lambda time, name=name: np.asarray(store[name][time], dtype=float) for name in ("mean", "sd"))
        scores = series_scores(series, *fields)
    context.save(FILE, content)
    shutil.rmtree(path)
    return _report(result, {result.spec.model.name: scores} if scores else {}, len(series))


def _report(result: PeriodResult, scores: dict[str, dict[str, float]], times: int) -> dict[str, Any]:
    """What a run that is done says."""
    return {"model": result.spec.model.name, "units": result.series.problem.units, "times": times,
            "warnings": list(result.warnings), "scores": scores, "message": f"{times:,} times written"}  # fmt: skip


def _write_together(task: PeriodTask, opened: Callable[[str], Fields], context: Any) -> dict[str, Any]:
    """Two variables, or all members of an ensemble, in one file."""
    words = list(task.times)
    ensemble = None if task.upper else read_ensemble(task.source, task.problem, opened, words)
    series = ensemble.pooled if ensemble else read_series(task.source, task.problem, opened, words)
    times, what = len(series) // series.members, f"{series.members} members" if ensemble else "two variables"
    size = series.problem.grid.area.size * len(series) * (1 if ensemble else 2)
    if size > MOST_TOGETHER:
        raise InputError(
            f"{times:,} times of {series.problem.grid.area.size:,} pixels of {what} are more than a run predicts "
            "together in memory: choose fewer times, or one of them."
        )
    training = _training(task, ensemble or series, opened)
    if ensemble:
        found = downscale_ensemble(ensemble, task.settings, context, training, link=task.link)
        results, dataset = {"": found.pooled}, ensemble_dataset(ensemble, found.members)
    else:
        assert training is not None
        other = replace(task, problem=replace(task.problem, target=task.upper), predictors=())
        upper = read_series(task.source, other.problem, opened, words, series)
        known = _training(other, upper, opened)
        assert known is not None
        pair = downscale_pair(series, upper, (training, known), task.settings, context, link=task.link)
        results, dataset = {"": pair.lower, f"{task.upper}: ": pair.upper}, pair_dataset(pair.lower, pair.upper)
    context.save(FILE, to_netcdf_bytes(dataset, single=True))
    scores = {f"{name}{each.spec.model.name}": series_scores(each.series, each.means.__getitem__, each.sd)
              for name, each in results.items() if each.series.fine is not None}  # fmt: skip
    return _report(results[""], scores, times)


def _training(
    task: PeriodTask, target: Series | Ensemble, opened: Callable[[str], Fields]
) -> Training | None:  # fmt: skip
    """The training period of a task; None for cells alone. Raises ``InputError`` for a pair without one."""
    if not task.training:
        if task.upper:
            raise InputError("Two variables together need the archive of both: add a training period.")
        return None
    words, fields = list(task.times), opened(task.source.fields)
    if isinstance(target, Ensemble):
        predictors = predictors_of_members(task.source, task.problem, opened, words, task.predictors, target)
        return read_training(target.pooled, fields, list(task.training), predictors)
    others = read_predictors(task.source, task.problem, opened, words, task.predictors, target)
    return read_training(target, fields, list(task.training), others)


def _predictor(
    task: PeriodTask, series: Series, opened: Callable[[str], Fields], context: Any, blocks: Sequence[np.ndarray]
) -> Callable[[np.ndarray, dict[str, Any] | None, PeriodResult | None], PeriodResult]:
    """Predicts some times, those of a block, whose share of the whole the run's progress has."""
    training = _training(task, series, opened)
    begins = {int(times[0]): number for number, times in enumerate(blocks)}

    def predict(times: np.ndarray, settings: dict[str, Any] | None, like: PeriodResult | None) -> PeriodResult:
        """The result at the times of one block."""
        number = begins[int(times[0])]
        part = Part(context, number / len(blocks), (number + 1) / len(blocks))
        own = task.settings if settings is None else DownscaleSettings.from_dict(settings)
        if training is None:
            again = None if series.varying else like
            return downscale_series(series, own, part, times, again, link=task.link)
        return predicted_with_archive(series, training, own, part, times, link=task.link).result

    return predict


def _delete_old(folder: Path) -> None:
    """Delete stores that nobody has continued for long."""
    for store in folder.glob("*.zarr*"):
        if time.time() - store.stat().st_mtime > _KEPT_S:
            shutil.rmtree(store, ignore_errors=True)
