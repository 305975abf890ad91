"""A downscaled series as CF dataset: mean and sd of every time, and the coarse values that they come from."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning import __version__
from deconditioning.errors import InputError
from deconditioning.fields.writing.export import to_dataset
from deconditioning.fields.writing.quantiles_and_draws import with_exceedance
from deconditioning.period.behind_warp import BehindWarp
from deconditioning.period.run import MOST_BYTES, PeriodResult
from deconditioning.period.series import Series
from deconditioning.period.statistics import PeriodStatistic, period_draws
from deconditioning.period.warped import WarpedCells

if TYPE_CHECKING:
    import xarray as xr


#: Variables of a file that are of one target.
_OF_A_VARIABLE = ("mean", "sd", "coarse", "coarse_known", "truth", "error", "draws", "exceedance")


def period_dataset(
    result: PeriodResult, statistics: Sequence[PeriodStatistic] = (), draws: int = 0, thresholds: Sequence[float] = ()
) -> "xr.Dataset":  # fmt: skip
    """CF-1.11 dataset with ``mean`` and ``sd`` (time, y, x), ``coarse`` and ``coarse_known`` (time, coarse y, coarse x)
    and, if the truth is known, ``truth`` and ``error``; calendars are those of the file.

    Behind a warp, ``warped_mean`` and ``warped_sd`` (time, y, x) are those of the Gaussian in units of the warp, which
    their attribute ``warp`` describes. ``amplitude`` (time) is the factor in the sd of each time. Each of the
    ``statistics`` has a mean, a ``…_sd`` and the ends of its 90 % interval, ``…_low`` and ``…_high``.
    So many ``draws`` (realization, time, y, x) are joint draws; ``exceedance`` (threshold, time, y, x)
    has the probability of each pixel and time to exceed each of the ``thresholds``. Raises ``InputError`` as
    `period_draws` does, and for draws that do not fit into memory.
    """
    series = result.series
    base = to_dataset(
        series.problem, result.means[0], result.sd(0),
        settings={"problem": series.problem.spec.to_dict(), "model": result.settings.to_dict(),
                  **({"other_method": result.method} if result.method else {})},
        model=result.method or result.spec.model.name, seed=series.problem.spec.seed, version=__version__,
        warnings=result.warnings, method="" if result.method else result.spec.model.source,
    )  # fmt: skip
    whole = _in_time(base, series, _arrays(result))
    about = {"long_name": "factor of the time in the posterior standard deviation", "units": "1"}
    whole = whole.assign(amplitude=((series.dim,), result.amplitude, about))
    whole = _with_gaussians(whole, result, base["mean"].dims)
    for each in statistics:
        whole = _with_statistic(whole, each, base["mean"].dims)
    if thresholds:
        chances = {
            value: np.stack([result.predictive(time).exceedance(value) for time in range(len(series))])
            for value in sorted(set(thresholds))
        }
        whole = with_exceedance(whole, series.problem, chances)
    return _with_draws(whole, result, draws) if draws else whole


def _with_draws(dataset: "xr.Dataset", result: PeriodResult, count: int) -> "xr.Dataset":
    """The dataset with joint draws in single precision."""
    series, seed = result.series, result.series.problem.spec.seed
    needed = 4 * count * dataset["mean"].size
    if needed > MOST_BYTES:
        raise InputError(
            f"{count} draws of {len(series)} times of {series.problem.grid.area.size:,} pixels need "
            f"{needed / 1e9:.1f} GB: request fewer draws or times."
        )
    if "realization" in dataset.variables or "draws" in dataset.variables:
        raise InputError("The file already has a variable `realization` or `draws`, which draws would need: rename it.")
    fields = [
        [series.problem.on_grid(row).astype("f4") for row in draw] for draw, _ in period_draws(result, count, seed)
    ]
    about = {**dataset["mean"].attrs, "long_name": f"posterior draws of {series.problem.long_name}",
             "comment": f"joint draws in space and time, seed {seed}: all are equally probable"}  # fmt: skip
    number = {"long_name": "number of the draw", "standard_name": "realization", "units": "1"}
    along = ("realization", np.arange(1, count + 1, dtype=np.int32), number)
    about.pop("ancillary_variables", None)
    return dataset.assign_coords(realization=along).assign(
        draws=(("realization", *dataset["mean"].dims), np.array(fields), about)
    )


def pair_dataset(
    lower: PeriodResult, upper: PeriodResult,
    statistics: tuple[Sequence[PeriodStatistic], Sequence[PeriodStatistic]] = ((), ()), draws: int = 0,
    thresholds: Sequence[float] = (),
) -> "xr.Dataset":  # fmt: skip
    """The dataset of the lower variable of a pair; fields and statistics of the upper one are ``upper_…``."""
    result, other = (
        period_dataset(each, own, draws, thresholds) for each, own in zip((lower, upper), statistics, strict=True)
    )
    begins = tuple(each.statistic.name for each in statistics[1])
    every = map(str, other.data_vars)
    names = [name for name in every if name in _OF_A_VARIABLE or (begins and name.startswith(begins))]
    return result.assign({f"upper_{name}": other[name] for name in names})


def _with_gaussians(dataset: "xr.Dataset", result: PeriodResult, dims_of_grid: tuple[Any, ...]) -> "xr.Dataset":
    """The dataset with the Gaussians in units of the warp, unchanged without one."""
    if not isinstance(result.behind, BehindWarp | WarpedCells):
        return dataset
    parts = [result.predictive(time).parts[0] for time in range(len(result.series))]
    for place, name in ((1, "mean"), (2, "sd")):
        about = {"long_name": f"posterior {name} in units of the warp", "units": "1",
                 "warp": json.dumps(result.behind.warp.to_dict(), sort_keys=True),
                 "dry_up_to": result.behind.lowest}  # fmt: skip
        dataset[f"warped_{name}"] = (
            (result.series.dim, *dims_of_grid),
            np.stack([part[place] for part in parts]),
            about,
        )
    return dataset


def _with_statistic(dataset: "xr.Dataset", result: PeriodStatistic, dims_of_grid: tuple[Any, ...]) -> "xr.Dataset":
    """The dataset with a statistic, along a dimension of its own where it has several groups."""
    statistic = result.statistic
    grouped = len(statistic.groups) > 1 or bool(statistic.groups[0])
    dims = (f"{statistic.name}_group", *dims_of_grid) if grouped else dims_of_grid
    words = {
        "": "mean over joint draws of the {}", "_sd": "posterior standard deviation of the {}",
        "_low": "5 % quantile of the {}", "_high": "95 % quantile of the {}",
        "_sd_if_fixed": "standard deviation of the {} if errors never change with time", "_truth": "true {}",
    }  # fmt: skip
    values = (result.mean, result.sd, result.low, result.high, result.sd_if_fixed, result.truth)
    for (ending, sentence), rows in zip(words.items(), values, strict=True):
        if rows is not None:
            about = {"long_name": sentence.format(statistic.long_name), "units": statistic.units}
            if result.sd_if_fixed is not None and ending in ("_low", "_high"):
                about["comment"] = f"too narrow: without errors that never change, see {statistic.name}_sd_if_fixed"
            dataset[f"{statistic.name}{ending}"] = (dims, rows if grouped else rows[0], about)
    return dataset.assign_coords({dims[0]: list(statistic.groups)}) if grouped else dataset


def _arrays(result: PeriodResult) -> dict[str, np.ndarray]:
    series, times = result.series, range(len(result.series))
    known = series.coarse.reshape(len(series), *series.problem.coarse_shape)
    arrays = {
        "mean": result.means,
        "sd": np.stack([result.sd(time) for time in times]),
        "coarse_known": known,
        "coarse": np.where(series.problem.observed, known, np.nan),
    }
    if series.fine is not None:
        arrays["truth"] = np.stack([series.fine(time) for time in times])
        arrays["error"] = arrays["mean"] - arrays["truth"]
    return arrays


def _in_time(base: "xr.Dataset", series: Series, arrays: dict[str, np.ndarray]) -> "xr.Dataset":
    """The dataset of one time, of which some variables have the values (T, …) of all times."""
    import xarray as xr

    several = {
        name: xr.Variable((series.dim, *base[name].dims), values, base[name].attrs) for name, values in arrays.items()
    }
    return base.assign(several).assign_coords({series.dim: time_coordinate(series)})


def time_coordinate(series: Series) -> "xr.Variable":
    """The dates of a series in their own calendar; its labels where the file has none."""
    import xarray as xr

    attributes: dict[str, Any] = {"standard_name": "time", "axis": "T", "long_name": "time"}
    if any(date is None for date in series.dates):
        return xr.Variable(series.dim, list(series.labels), {"long_name": series.dim})
    return xr.Variable(series.dim, np.array(list(series.dates)), attributes)
