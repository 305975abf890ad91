"""A downscaled series that does not fit into memory: a Zarr store, written a stretch of times after another.

Hyperparameters come with the first stretch and are kept in the store, beside the numbers of the stretches that are
done: a run that was ended goes on where it was.
"""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.downscaling.duration import about_seconds, map_seconds
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import starting_spec
from deconditioning.errors import InputError
from deconditioning.fields.writing.delivery import PROGRESS, encoding_of
from deconditioning.period.archive.kernel import composite_fits
from deconditioning.period.archive.stored import cost_of_archive
from deconditioning.period.dataset import period_dataset
from deconditioning.period.run import PeriodResult
from deconditioning.period.series import Series
from deconditioning.wording import rough_duration

if TYPE_CHECKING:
    import xarray as xr

#: Bytes of the means of a series that is not cut into stretches, and of those of a stretch; mean, sd, truth, error and
#: their copies are about ten times as much.
WHOLE_BYTES, STRETCH_BYTES = 1_000_000_000, 200_000_000
#: Values of a variable in a chunk of the store, about.
_CHUNK = 1_000_000

#: CPU seconds of every run, of a cell and pixel, of a value, and of a value and cell; measured on runs of 64,800 to
#: 259,200 pixels of 200 to 1,190 cells at 10 to 300 times.
_BASE_S, _SUM_S, _VALUE_S, _PRODUCT_S = 3.0, 1.0e-7, 1.0e-8, 1.6e-10
#: CPU seconds of learning beside an archive of each pixel, measured on 9,216 to 57,600 pixels of 144 to 400 cells.
_LEARNED_S = 1.3e-3
#: Bytes of memory of every run, of a pixel, and of a value that is held; of mean and sd of a value in a store.
_BASE_BYTES, _PIXEL_BYTES, _HELD_BYTES, _FILE_BYTES = 6.5e8, 1000.0, 21.0, 12.4

#: Predicts some of the times of a series with the settings of a model, those of the start if None; the result of the
#: stretch before, None for the first.
_Predict = Callable[[np.ndarray, dict[str, Any] | None, PeriodResult | None], PeriodResult]


def stretches_of(series: Series) -> list[np.ndarray]:
    """The times of a series in stretches, whole chunks of a store each; one stretch if all are small."""
    size = series.problem.grid.area.size
    if 8 * size * len(series) <= WHOLE_BYTES:
        return [np.arange(len(series))]
    chunk = max(1, _CHUNK // size)
    most = max(1, STRETCH_BYTES // (8 * size) // chunk) * chunk
    return blocks_of(len(series), most)


def blocks_of(times: int, most: int) -> list[np.ndarray]:
    """Indices of so many times, one block of at ``most`` so many after another."""
    return [np.arange(begin, min(begin + most, times)) for begin in range(0, times, most)]


@dataclass(frozen=True)
class Plan:
    """What a series takes, by a model of measured runs on one core (`bench_period_plan`): CPU ``seconds``, and those of
    ``learning`` beside them, bytes of ``memory`` at most and of the file on ``disk``; with an archive of so many times
    (0: from cells alone) also those of a ``temporary`` file.
    """

    times: int
    pixels: int
    cells: int
    seconds: float
    learning: float
    memory: float
    disk: float
    archive: int = 0
    temporary: float = 0.0

    @property
    def sentence(self) -> str:
        """Such as "1,000 times of 259,200 pixels from 800 cells: about …"."""
        learning = f" and {rough_duration(self.learning)} for learning" if self.learning else ""
        archive = f" and an archive of {self.archive:,} times" if self.archive else ""
        files = f"and a file of {self.disk / 1e9:.2g} GB"
        if self.temporary:
            files = (
                f"{files.removeprefix('and ')}, and a temporary one of {self.temporary / 1e9:.2g} GB for the archive"
            )
        return (
            f"{self.times:,} times of {self.pixels:,} pixels from {self.cells:,} cells{archive}: about "
            f"{rough_duration(self.seconds)} of CPU time{learning}, {self.memory / 1e9:.2g} GB of memory, {files}."
        )


def plan_of(series: Series, settings: DownscaleSettings, *, in_stretches: bool, archive: int = 0) -> Plan:
    """The plan of a series, before anything is computed; ``in_stretches`` if it is written to a store stretch by
    stretch where it is large, ``archive`` the times of an archive.

    ``seconds = a + s M P + T P (v + p M)`` for P pixels of M cells at T times; where covariates change with time, sums
    are made at every time. What an archive adds is needed for every stretch (`archive.stored.cost_of_archive`).
    """
    problem, times = series.problem, len(series)
    pixels, cells = problem.grid.area.size, len(problem.target_cell)
    sums = _SUM_S * cells * pixels * (1 if series.varying is None else times)
    seconds = _BASE_S + sums + times * pixels * (_VALUE_S + _PRODUCT_S * cells)
    learning = about_seconds(problem, settings) - map_seconds(problem) if settings.learn else 0.0
    stretches = stretches_of(series) if in_stretches else [np.arange(times)]
    at_once = max(map(len, stretches))
    memory = _BASE_BYTES + _PIXEL_BYTES * pixels + _HELD_BYTES * at_once * pixels
    disk = _FILE_BYTES * (1 if series.fine is None else 2) * times * pixels
    if not archive:
        return Plan(times, pixels, cells, seconds, learning, memory, disk)
    if settings.learn and composite_fits(problem, starting_spec(problem, settings)):
        learning = _LEARNED_S * pixels
    cost = cost_of_archive(archive, pixels, cells, at_once)
    seconds += len(stretches) * cost.seconds
    return Plan(times, pixels, cells, seconds, learning, memory + cost.memory, disk, archive, cost.file)


def write_stretches(
    series: Series, predict: _Predict, path: Path, *, single: bool, attributes: dict[str, str], request: dict[str, Any],
    say: Callable[[str], None], stretches: Sequence[np.ndarray] = (),
) -> PeriodResult:  # fmt: skip
    """Write all times to the store ``path``, those that are not there yet; the result of the last stretch.

    ``stretches`` are by default those of `stretches_of`; others are equally long but for the last. ``request`` is what
    the command computes: a store that another request began is not continued. Raises ``InputError`` for such a store,
    and for one that is complete.
    """
    progress, stretches = _progress(path, request), stretches or stretches_of(series)
    done, settings, result = set(progress.get("done", ())), progress.get("settings"), None
    if done:
        say(f"{path} holds {len(done)} of {len(stretches)} blocks of times: the others are computed.")
    for number, times in enumerate(stretches):
        if number in done:
            continue
        result = predict(times, settings, result)
        dataset = period_dataset(result).assign_attrs(attributes)
        settings = settings or result.settings.replace(learn=False).to_dict()
        if not path.exists():
            _begin(dataset, series, path, single, request, len(stretches[0]))
        _write(dataset, series.dim, times, path)
        done.add(number)
        if len(done) < len(stretches):  # without this file the store is complete
            _keep(path, {"asked": request, "settings": settings, "done": sorted(done)})
        say(f"Wrote {len(times)} times, {result.series.labels[0]} to {result.series.labels[-1]}, to {path}.")
    (path / PROGRESS).unlink()
    assert result is not None
    return result


def _progress(path: Path, request: dict[str, Any]) -> dict[str, Any]:
    """What a store says of a run that was ended; empty if there is no store."""
    if not path.exists():
        return {}
    try:
        progress = json.loads((path / PROGRESS).read_text())
    except (OSError, ValueError):
        raise InputError(f"{path} already exists: choose another name for the new store.") from None
    if progress["asked"] != json.loads(json.dumps(request)):
        raise InputError(f"{path} was started by another command: repeat that command, or choose another name.")
    return progress


def _keep(path: Path, progress: dict[str, Any]) -> None:
    """Replace the file of the progress at once, so that it is never half written."""
    temporary = path / f"{PROGRESS}.new"
    temporary.write_text(json.dumps(progress))
    os.replace(temporary, path / PROGRESS)


def _begin(dataset: "xr.Dataset", series: Series, path: Path, single: bool, request: dict[str, Any], most: int) -> None:
    """An empty store of all times, in chunks of at ``most`` so many; fields are filled later, everything else is that
    of the first stretch.
    """
    import dask.array as da

    from deconditioning.period.dataset import time_coordinate

    dim, whole, size = series.dim, dataset.drop_dims(series.dim), series.problem.grid.area.size
    chunk = min(max(1, _CHUNK // size), most)
    for name, variable in dataset.data_vars.items():
        if dim in variable.dims:
            shape = (len(series), *variable.shape[1:])
            empty = da.full(shape, np.nan, chunks=(chunk, *variable.shape[1:]), dtype=float)
            whole[name] = (variable.dims, empty, variable.attrs)
    whole = whole.assign_coords({dim: time_coordinate(series)})
    unfinished = path.with_name(f"{path.name}.new")
    encoding = encoding_of(whole, single)
    whole.to_zarr(unfinished, mode="w", zarr_format=2, consolidated=True, compute=False, encoding=encoding)
    _keep(unfinished, {"asked": request, "settings": None, "done": []})
    unfinished.rename(path)


def _write(dataset: "xr.Dataset", dim: str, times: np.ndarray, path: Path) -> None:
    """The fields of some times, at their place in the store."""
    timed = dataset.drop_vars([name for name in dataset.variables if dim not in dataset[name].dims or name == dim])
    timed.to_zarr(path, region={dim: slice(int(times[0]), int(times[-1]) + 1)}, zarr_format=2)
