"""Targets of many times on one grid: a downscaling problem whose cells and kernel sums all times share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.downscaling.source import Source, build_problem
from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields
from deconditioning.fields.problem.cell_weights import as_density
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.scaling import Scale
from deconditioning.fields.several import Several
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.period.stations import with_stations_in_time
from deconditioning.period.times import chosen_times, first_used, time_dimension
from deconditioning.period.varying import ProblemsInTime, varying_problems

#: Opens the fields of a key.
_Opener = Callable[[str], Fields]


@dataclass(frozen=True, eq=False)
class Block:
    """Times with the same cells, pixels and covariates: a ``problem``, the ``times`` (t,) as places in the series, and
    ``targets`` (M, t), standardised as `Series.targets` says, NaN where missing.
    """

    problem: DownscalingProblem
    times: np.ndarray
    targets: Float[Tensor, "M t"]


@dataclass(frozen=True, eq=False)
class SeriesFile:
    """All times of the target's file: their ``labels``, and what reads the ``coarse`` values (cells,) at an index.

    ``numbered`` is the problem whose values are the numbers of the file's pixels: which of them a cell has.
    """

    labels: tuple[str, ...]
    coarse: Callable[[int], np.ndarray]
    numbered: DownscalingProblem


@dataclass(frozen=True, eq=False)
class Series:
    """T times of a target on one grid.

    Parameters
    ----------
    problem : the problem whose cells, pixels and weights all times share; its target is the mean over the times. Its
        target scale is (0, s), where s² is the mean over the times of the variance between the cells.
    dim : the dimension of the times in the target's file.
    labels, dates : (T,) each time as text, and as the file has it (`numpy.datetime64`, `cftime`, or None).
    coarse : (T, cells) all known coarse values in physical units, NaN where missing.
    level : (T,) mean of each time's visible cells in physical units, removed before conditioning.
    fine : gives the target (H, W) at high resolution at a time, None if it is unknown.
    file : the other times of the same file.
    varying : the problem of each time, if covariates or mediators change with time, otherwise None.
    notes : what was left out, and how.
    members : of an ensemble, whose times follow one another; 1 for a single series.
    stations : (T, S) values of the stations of ``problem`` in the target's units, NaN where missing; None without any.
    selected : the label taken along every further dimension of the target, such as a level or a member.
    """

    problem: DownscalingProblem
    dim: str
    labels: tuple[str, ...]
    dates: tuple[Any, ...]
    coarse: np.ndarray
    level: np.ndarray
    fine: Callable[[int], np.ndarray] | None
    file: SeriesFile
    varying: ProblemsInTime | None = None
    notes: tuple[str, ...] = ()
    members: int = 1
    stations: np.ndarray | None = None
    selected: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def member(self) -> np.ndarray:
        """(T,) the number of the member that each time is of."""
        return np.arange(len(self)) // (len(self) // self.members)

    @property
    def scale(self) -> float:
        """s, the sd between cells that all times share, in the target's units."""
        return self.problem.target_scale.sd

    def targets(self, times: Sequence[int] | np.ndarray, problem: DownscalingProblem | None = None) -> Tensor:
        """(M, t) standardised targets ``(z_t − mean of the cells of t) / s``, NaN where missing; stations last."""
        cell = (problem or self.problem).target_cell
        times = np.asarray(times, dtype=int)
        values = self.coarse[times][:, cell]
        if self.stations is not None:
            values = np.hstack([values, self.stations[times]])
        return torch.as_tensor((values - self.level[times, None]).T / self.scale)

    def blocks(self, times: Sequence[int] | np.ndarray | None = None) -> Iterator[Block]:
        """All times, or some, in as few blocks as possible: one unless covariates change with time."""
        chosen = np.arange(len(self)) if times is None else np.asarray(times, dtype=int)
        if self.varying is None:
            yield Block(self.problem, chosen, self.targets(chosen))
            return
        for time in chosen:
            problem = self.at(time)
            yield Block(problem, chosen[chosen == time], self.targets([time], problem))

    def only(self, times: np.ndarray) -> "Series":
        """The series of some of its times, with the scale s of all of them."""
        fine, varying = self.fine, self.varying
        return replace(
            self, labels=tuple(self.labels[time] for time in times), dates=tuple(self.dates[time] for time in times),
            coarse=self.coarse[times], level=self.level[times],
            fine=None if fine is None else lambda time: fine(int(times[time])),
            varying=None if varying is None else varying.only(times),
            stations=None if self.stations is None else self.stations[times],
        )  # fmt: skip

    def at(self, time: int) -> DownscalingProblem:
        """The problem of one time, as conditioning at that time alone has it, with the scales of the series.

        Cells that are missing then are not ``observed``; their place among the targets has the mean of the time.
        """
        problem = self.problem if self.varying is None else self.varying(time)
        scale = Scale(float(self.level[time]), self.scale)
        coarse, targets = self.coarse[time].reshape(problem.coarse_shape), self.targets([time], problem)
        return replace(
            problem,
            target_scale=scale,
            coarse=np.where(problem.observed, coarse, np.nan),
            coarse_truth=coarse,
            observed=problem.observed & np.isfinite(coarse),
            truth=None if self.fine is None else self.fine(time),
            data=replace(problem.data, targets=targets[: len(problem.target_cell), 0].nan_to_num(nan=0.0)),
        )


def read_series(
    source: Source, spec: DownscalingSpec, opener: _Opener, words: Sequence[str], like: Series | None = None
) -> Series:
    """The series of the times that ``words`` mean (`chosen_times`) of a source's target; others are not read.

    One file: cells are means of its target over blocks, which stays as truth. Two files: cells are those of the coarse
    file. Sums over cells are divided by their areas, as at one time. Times without any value are left out, with a note.
    ``like`` is the series of another variable of the same file, whose cells are the same and are not made again.
    Stations are beside the cells at the times at which their table has them. Raises ``InputError`` as `make_problem`
    does, if the target has no times, and for errors of cells and regions, which are of one time.
    """
    _check_cells_alone(source, spec)
    alone = replace(source, stations=None, station_footprint="")
    owner = opener(source.coarse or source.fields).with_missing(spec.missing)
    dim = time_dimension(owner, spec.target)
    labels = owner.check(spec.target).extra[dim]
    requested = chosen_times(labels, words)
    shape = owner.grid.shape
    per_area = as_density(owner, spec, np.ones(shape), owner.grid)[0]
    read = _Reader(owner, spec.target, dim, {**spec.select, **spec.coarse_select}, per_area)
    if like is None:
        numbers = np.arange(np.prod(shape), dtype=float).reshape(shape)
        numbered = _problem_of(alone, spec, opener, numbers, are_sums=False)
    else:
        numbered = like.file.numbered
    cells = _cell_reader(numbered)
    coarse, mean, partly = _all_cells(read, cells, requested, numbered)
    problem = _problem_of(alone, spec, opener, mean)
    observed = coarse[:, problem.target_cell]
    there = np.flatnonzero(np.isfinite(observed).any(axis=1))
    level, scale = scale_of(observed[there], spec.target, len(requested))
    chosen = [requested[n] for n in there]
    chosen_labels = tuple(labels[n] for n in chosen)
    problem, stations = with_stations_in_time(replace(problem, target_scale=Scale(0.0, scale)), source, chosen_labels)
    series = Series(
        problem, dim, chosen_labels, tuple(read.date(n) for n in chosen), coarse[there], level,
        None if numbered.truth is None else _truth(numbered.truth, read, chosen),
        SeriesFile(labels, lambda index: cells(read(index)), numbered),
        notes=(*read.guessed(), *_notes(labels, requested, chosen, partly)), stations=stations,
        selected=read.selected(),
    )  # fmt: skip
    varying = varying_problems(alone, spec, opener, dim, series.labels)
    if varying is not None and stations is not None:
        raise InputError(
            "Stations over a period need covariates that are the same at all times: leave one of them out."
        )
    return series if varying is None else replace(series, varying=varying, problem=varying.shared(series.problem))


def _all_cells(
    read: "_Reader", cells: Callable[[np.ndarray], np.ndarray], requested: list[int], numbered: DownscalingProblem
) -> tuple[np.ndarray, np.ndarray, int]:
    """Coarse values (T, cells) of the chosen times, the mean (H, W) over them of the field as the file has it, and how
    many pixels with a value at some time have none at another at which their cell has one.
    """
    shape, rows = read.fields.grid.shape, []
    total, count, lacking = np.zeros(shape), np.zeros(shape), np.zeros(numbered.grid.shape, dtype=bool)
    pixels = None if numbered.truth is None else numbered.truth.astype(int)
    for index in requested:
        values = read(index)
        rows.append(cells(values))
        total += np.nan_to_num(values)
        count += np.isfinite(values)
        if pixels is not None:
            lacking |= ~np.isfinite(values.flat[pixels]) & np.isfinite(rows[-1])[numbered.cell]
    partly = 0 if pixels is None else int((lacking & (count.flat[pixels] > 0)).sum())
    with np.errstate(invalid="ignore"):
        return np.stack(rows), np.where(count > 0, total / count, np.nan) / read.per_area, partly


def scale_of(observed: np.ndarray, target: str, times: int) -> tuple[np.ndarray, float]:
    """The mean (T,) of each time's visible cells, and s; ``InputError`` without values or variation."""
    if not len(observed):
        raise InputError(f"`{target}` has no value at any of the {times} times: choose other times.")
    level = np.nanmean(observed, axis=1)
    scale = float(np.sqrt(np.nanmean(np.nanvar(observed, axis=1))))
    if not scale > 1e-7 * max(float(np.abs(level).max()), 1e-30):
        raise InputError(f"The target `{target}` is the same in all cells at every time: choose another target.")
    return level, scale


def _notes(labels: Sequence[str], requested: list[int], there: list[int], partly: int) -> tuple[str, ...]:
    notes, hidden = [], [labels[n] for n in requested if n not in set(there)]
    if hidden:
        notes.append(
            f"{len(hidden)} of {len(requested)} times have no visible value and are left out, the first {hidden[0]}."
        )
    if partly:
        notes.append(
            f"{partly:,} pixels lack the target at some times only: the mean over the rest of their cell then stands "
            "in for the mean over the whole cell."
        )
    return tuple(notes)


@dataclass(frozen=True, eq=False)
class _Reader:
    """The target (H, W) of a file at the time with an index, and its date; NaN everywhere where it has no value.

    ``per_area`` (H, W) is what makes means of sums over cells, one elsewhere.
    """

    fields: Fields
    target: str
    dim: str
    select: Mapping[str, int | str]
    per_area: np.ndarray

    def at(self, index: int) -> dict[str, int | str]:
        """The selection of a time."""
        others = {key: value for key, value in self.select.items() if key.rpartition(":")[2] != self.dim}
        return {**others, self.dim: index}

    def date(self, index: int) -> Any:
        """The date as the file has it, None if it has none."""
        return self.fields.time_of(self.target, self.at(index))

    def selected(self) -> dict[str, str]:
        """The label taken along every dimension of several values but that of the times."""
        fields, select = self.fields.at(self.target, self.at(0))
        chosen = fields.chosen(self.target, select)
        extra = {dim: labels for dim, labels in fields.check(self.target).extra.items() if dim != self.dim}
        return {dim: labels[chosen[dim]] for dim, labels in extra.items() if len(labels) > 1}

    def guessed(self) -> list[str]:
        """A note for every such dimension along which nothing is selected: its first value is used."""
        extra = self.fields.check(self.target).extra
        requested = {key.rpartition(":")[2] for key in self.select}
        return [first_used(self.target, dim, extra[dim]) for dim in self.selected() if dim not in requested]

    def __call__(self, index: int) -> np.ndarray:
        try:
            return self.per_area * self.fields.values(self.target, self.at(index))
        except InputError as error:
            if "only missing values" in str(error):
                return np.full(self.fields.grid.shape, np.nan)
            raise


def _check_cells_alone(source: Source, spec: DownscalingSpec) -> None:
    unsuitable = {
        "Regions": source.regions,
        "Scored stations": source.scored,
        "Further sources": source.also,
        "Errors of cells": spec.error,
    }
    for what, value in unsuitable.items():
        if value:
            raise InputError(f"{what} apply to a single time: leave them out, or downscale one time.")


def _with_field(fields: Fields, name: str, values: np.ndarray, are_sums: bool) -> Fields:
    """The same fields, of which ``name`` has these values (H, W) and no further dimension."""
    if isinstance(fields, Several):
        files_of = {**fields.files_of, name: _with_field(fields.files_of[name], name, values, are_sums)}
        return replace(fields, files_of=files_of, rows={key: row for key, row in fields.rows.items() if key != name})
    import xarray as xr

    packing = ["valid_range", "valid_min", "valid_max", "missing_value", "_FillValue", "scale_factor", "add_offset"]
    packing += [] if are_sums else ["cell_methods"]
    attributes = {word: value for word, value in fields.attributes(name).items() if word not in packing}
    dims = (fields.grid.y_name, fields.grid.x_name)
    return replace(fields, dataset=fields.dataset.assign({name: xr.Variable(dims, values, attributes)}))


def _problem_of(
    source: Source, spec: DownscalingSpec, opener: _Opener, values: np.ndarray, *, are_sums: bool = True
) -> DownscalingProblem:
    """The problem of the source with other values (H, W) of the target, which has no further dimension then;
    ``are_sums`` if its own are."""
    key = source.coarse or source.fields

    def open_with(each: str) -> Fields:
        """Fields of a key, those of the target with the given values."""
        fields = opener(each)
        return _with_field(fields, spec.target, values, are_sums) if each == key else fields

    if source.coarse == source.fields:
        raise InputError(
            "The coarse file is also the file of the covariates: give the coarse target in a separate file."
        )
    gone = opener(key).check(spec.target).extra
    coarse_select = {name: value for name, value in spec.coarse_select.items() if name.rpartition(":")[2] not in gone}
    marks = [mark.partition("=")[::2] if "=" in mark else ("", mark) for mark in spec.missing]
    others = (*spec.covariates, *spec.mediators)  # numbers of cells are no marks of missing values
    missing = tuple(f"{name}={mark}" for held, mark in marks for name in others if held in ("", name))
    return build_problem(source, replace(spec, coarse_select=coarse_select, missing=missing), open_with)


def _cell_reader(numbered: DownscalingProblem) -> Callable[[np.ndarray], np.ndarray]:
    """Coarse values (cells,) from a field of the target's file; ``numbered`` is the problem of numbered values."""
    if numbered.truth is None:
        number = numbered.coarse_truth.ravel().astype(int)
        return lambda values: values.flat[number]
    pixels = numbered.truth.astype(int)
    return lambda values: numbered.shares.mean(values.flat[pixels], numbered.grid.area)


def _truth(numbers: np.ndarray, read: _Reader, chosen: list[int]) -> Callable[[int], np.ndarray]:
    pixels = numbers.astype(int)
    return lambda time: read(chosen[time]).flat[pixels]
