"""All times of a period as one run of the engine: predicted a block of times after another, then one NetCDF file.

Blocks that are done lie in a Zarr store in the runs folder, so that the same run, begun again after a cancel or the
loss of its process, computes only the others.
"""

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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
from deconditioning.period.archive.predictors import read_predictors
from deconditioning.period.archive.run import predicted_with_archive
from deconditioning.period.archive.training import read_training
from deconditioning.period.ensemble import member_dimension
from deconditioning.period.run import PeriodResult, downscale_series
from deconditioning.period.scores import series_scores
from deconditioning.period.series import Series, read_series
from deconditioning.period.store import blocks_of, write_stretches
from deconditioning.versions import SAME_NUMBERS_SINCE

#: The file of a run that is done, and the most values of its means, which are in memory together.
FILE, MOST_VALUES = "period.nc", 100_000_000
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
    settings : the model.
    owner : whose run it is, so that nobody continues somebody else's.
    at_once : times in a block; 0 for about half a million values.
    """

    source: Source
    problem: DownscalingSpec
    times: tuple[str, ...]
    training: tuple[str, ...] = ()
    predictors: tuple[str, ...] = ()
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
            at_once=int(value.get("at_once", 0)),
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        parts = {name: getattr(self, name).to_dict() for name in ("source", "problem", "settings")}
        words = {name: list(getattr(self, name)) for name in ("times", "training", "predictors")}
        return {**parts, **words, "owner": self.owner, "at_once": self.at_once}

    @property
    def store(self) -> Path:
        """Where its blocks lie until all are done."""
        text = json.dumps([self.to_dict(), SAME_NUMBERS_SINCE], sort_keys=True)
        return upload_folder().parent / "periods" / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.zarr"


def write_period_task(settings: dict[str, Any], context: Any) -> dict[str, Any]:
    """The engine's task: every time of `PeriodTask` in the file `FILE`, in single precision, with its scores if the
    truth is known.

    A cancelled run keeps the blocks that are done. Raises ``InputError``, also for all members of an ensemble together
    and for more values than a file is made of; ``Cancelled``.
    """
    import xarray as xr

    task = PeriodTask.from_dict(settings)
    path = task.store
    opened = cache(open_source)
    context.report(message="Reading the series")
    if member_dimension(opened(task.source.fields), task.problem):
        raise InputError("The members of an ensemble are written one at a time: choose one.")
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
    units, model = series.problem.units, result.spec.model.name
    return {"model": model, "units": units, "times": len(series), "warnings": list(result.warnings),
            "scores": {model: scores} if scores else {}, "message": f"{len(series):,} times written"}  # fmt: skip


def _predictor(
    task: PeriodTask, series: Series, opened: Callable[[str], Fields], context: Any, blocks: Sequence[np.ndarray]
) -> Callable[[np.ndarray, dict[str, Any] | None, PeriodResult | None], PeriodResult]:
    """Predicts some times, those of a block, whose share of the whole the run's progress has."""
    training = None
    if task.training:
        words, fields = list(task.times), opened(task.source.fields)
        predictors = read_predictors(task.source, task.problem, opened, words, task.predictors, series)
        training = read_training(series, fields, list(task.training), predictors)
    begins = {int(times[0]): number for number, times in enumerate(blocks)}

    def predict(times: np.ndarray, settings: dict[str, Any] | None, like: PeriodResult | None) -> PeriodResult:
        """The result at the times of one block."""
        number = begins[int(times[0])]
        part = Part(context, number / len(blocks), (number + 1) / len(blocks))
        own = task.settings if settings is None else DownscaleSettings.from_dict(settings)
        if training is None:
            return downscale_series(series, own, part, times, None if series.varying else like)
        return predicted_with_archive(series, training, own, part, times).result

    return predict


def _delete_old(folder: Path) -> None:
    """Delete stores that nobody has continued for long."""
    for store in folder.glob("*.zarr*"):
        if time.time() - store.stat().st_mtime > _KEPT_S:
            shutil.rmtree(store, ignore_errors=True)
