"""A climatology of the target at high resolution as a covariate: what is usual at each pixel on the date of a map.

    c(x, t) = H_t c(x),      c(x) = argmin Σ_n (y_n(x) − H_n c(x))²,

with the harmonics H of the year and of the day that the dates of a fine file determine (`Seasons`). Unlike an archive
it brings no covariance of its own: it is a column of the kernel's inputs, for a single time as for many. Of several
times only the deviation from the mean over the region is used, because the mean of each time is known from its cells.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from deconditioning.downscaling.source import Source
from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields
from deconditioning.fields.problem.matching import matched
from deconditioning.fields.several import Several
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.fields.times import MONTHS, text_of
from deconditioning.fields.units import convert
from deconditioning.period.archive.seasons import Seasons, months_of
from deconditioning.period.archive.training import carried_to, selection_of, training_times, variable_of
from deconditioning.period.times import chosen_times, time_dimension

#: What the covariate is called, and the dimension of its dates.
NAME, _DIM = "climatology", "climatology_time"


@dataclass(frozen=True, eq=False)
class Climatology:
    """``coefficients`` (h, H, W) of the harmonics ``seasons`` at each pixel of a file, NaN where it lacks a value at
    any of its times, and ``notes`` on how they were found.
    """

    seasons: Seasons
    coefficients: Float[np.ndarray, "h H W"]
    notes: tuple[str, ...]


def with_climatology(
    source: Source, spec: DownscalingSpec, opened: Mapping[str, Fields], archive: Fields, times: Sequence[str] = (),
    period: Sequence[str] = (),
) -> tuple[DownscalingSpec, dict[str, Fields], tuple[str, ...]]:  # fmt: skip
    """The settings with a covariate `NAME`, the fields with it, and notes on how it was made.

    ``archive`` is the target at high resolution: one map, which is the climatology, or many times, those that
    ``period`` means (by default all that are not downscaled). ``times`` are those that are downscaled, one if empty.
    Raises ``InputError`` for regions, for other units, and if the covariates have such a name already.
    """
    if source.regions:
        raise InputError(
            "A climatology needs a target on a grid, and this one is given for regions: leave one of them out."
        )
    fine = opened[source.fields]
    if fine.holds(NAME):
        raise InputError(f"{fine.name} already has a variable `{NAME}`: name it as a covariate, or rename it.")
    target = opened[source.coarse or source.fields].with_missing(spec.missing)
    labels, dates = _dates_of(source, spec, fine, target, times)
    units = target.check(spec.target).units
    found = _climatology(archive, spec, units, (labels, dates), period)
    picked, how = carried_to(archive.grid, fine.grid)
    on_grid = np.stack([picked(each).reshape(fine.grid.shape) for each in found.coefficients])
    notes = found.notes if "own values" in how else (*found.notes, f"It is remapped to the covariates: {how}.")
    fields = _with_covariate(fine, _values(found.seasons, on_grid, fine, dates), units)
    return replace(spec, covariates=(*spec.covariates, NAME)), {**opened, source.fields: fields}, notes


def _dates_of(
    source: Source, spec: DownscalingSpec, fine: Fields, target: Fields, times: Sequence[str]
) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """Labels and dates of the target's times that are downscaled."""
    select = {**spec.select, **spec.coarse_select}
    if not times:
        owner = matched(fine, target, None, spec)[0] if source.coarse else target
        date = owner.time_of(spec.target, select)
        return (text_of(date).replace("T", " "),), (date,)
    dim = time_dimension(target, spec.target)
    labels = target.check(spec.target).extra[dim]
    others = {key: value for key, value in select.items() if key.rpartition(":")[2] != dim}
    chosen = chosen_times(labels, times)
    return tuple(labels[n] for n in chosen), tuple(target.time_of(spec.target, {**others, dim: n}) for n in chosen)


def _climatology(
    archive: Fields, spec: DownscalingSpec, units: str, used: tuple[Sequence[str], Sequence[Any]],
    period: Sequence[str],
) -> Climatology:  # fmt: skip
    """The climatology of a file for the labels and dates that are ``used``, read one time after another."""
    there = list(archive.variables())
    alone = [] if archive.holds(spec.target) or len(there) != 1 else there
    name, notes = (alone[0], list[str]()) if alone else variable_of(archive, spec.target)
    try:
        dim = time_dimension(archive, name)
    except InputError:
        if period:
            raise
        values, note = convert(archive.values(name), archive.check(name).units, units, name)
        words = f"The covariate `{NAME}` is `{name}` of {archive.name}, which has one map."
        return Climatology(Seasons(0, 0), values[None], (*notes, *filter(None, (note,)), words))
    labels = archive.check(name).extra[dim]
    chosen = training_times(labels, used[0], period)
    if not chosen:
        raise InputError(
            f"All times of {archive.name} are downscaled, so that there is none for a climatology: name those that it "
            "is to come from (`--period`, `period`), or give a file with others."
        )
    shared = len({labels[n] for n in chosen} & set(used[0]))
    if shared:
        notes.append(f"{shared} times of the climatology are also downscaled, so their scores are too optimistic.")
    select, taken = selection_of(archive, name, dim, {})
    dates = [archive.time_of(name, {**select, dim: n}) for n in chosen]
    seasons = _seasons(dates, used[1])
    inverse = np.linalg.pinv(seasons.design(dates))
    total = np.zeros((len(inverse), *archive.grid.shape))
    for column, n in zip(inverse.T, chosen, strict=True):
        values, note = convert(archive.values(name, {**select, dim: n}), archive.check(name).units, units, name)
        total += column[:, None, None] * values
        notes += [note] if note and note not in notes else []
    return Climatology(seasons, total, (*notes, *taken, *_words(archive, seasons, dates, used[1])))


def _seasons(dates: Sequence[Any], used: Sequence[Any]) -> Seasons:
    """The harmonics that dates determine; two of the year for one value a month, which are means themselves."""
    dated = all(date is not None for date in (*dates, *used))
    if dated and len(dates) == 12 == len(set(months_of(dates))):
        return Seasons(2, 0)
    return Seasons.of(dates, used)


def _words(archive: Fields, seasons: Seasons, dates: Sequence[Any], used: Sequence[Any]) -> list[str]:
    waves = f"{seasons.annual} harmonics of the year and {seasons.diurnal} of the day"
    how = waves if seasons.annual or seasons.diurnal else "their mean"
    result = [f"The covariate `{NAME}` comes from {len(dates)} times of {archive.name}: {how}."]
    months = seasons.unseen_months(dates, used)
    if months:
        named = ", ".join(MONTHS[month - 1] for month in months)
        result.append(f"The climatology has no times in {named}: these months are extrapolated from others.")
    return result


def _values(seasons: Seasons, coefficients: np.ndarray, fine: Fields, dates: Sequence[Any]) -> dict[str, Any]:
    """(H, W) values of a climatology that does not change or of one date; else an xarray variable along the dates, read
    one map at a time.
    """
    import dask.array as da
    import xarray as xr

    place, design = (fine.grid.y_name, fine.grid.x_name), seasons.design(dates)
    if len(design) == 1 or not (seasons.annual or seasons.diurnal):
        return {NAME: xr.Variable(place, np.tensordot(design[0], coefficients, 1))}
    there = np.isfinite(coefficients[0])
    mean = np.average(coefficients[:, there], axis=1, weights=fine.grid.area[there])
    deviation = da.from_array(coefficients - mean[:, None, None], chunks=coefficients.shape)
    maps = da.tensordot(da.from_array(design, chunks=(1, design.shape[1])), deviation, 1)
    when = {"standard_name": "time", "long_name": "date of the climatology"}
    return {NAME: xr.Variable((_DIM, *place), maps), _DIM: xr.Variable(_DIM, np.array(list(dates)), when)}


def _with_covariate(fine: Fields, variables: Mapping[str, Any], units: str) -> Fields:
    """The fields with further variables on their own grid."""
    about = {"long_name": "climatology of the target", "units": units}
    dated = {name: each for name, each in variables.items() if name != NAME}
    if isinstance(fine, Several):
        owner = next(one for one in fine.files_of.values() if one.grid is fine.grid)
        return replace(fine, files_of={**fine.files_of, NAME: _with_covariate(owner, variables, units)})
    dataset = fine.dataset.assign_coords(dated).assign({NAME: variables[NAME]})
    dataset[NAME].attrs = about
    return replace(fine, dataset=dataset)
