"""Targets of many times on one grid: a downscaling problem whose cells and kernel sums all times share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.downscaling.source import Source, build_problem
from deconditioning.errors import InputError
from deconditioning.fields.problem.cell_weights import as_density
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.scaling import Scale
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.period.reading.region_table import RegionTable
from deconditioning.period.reading.target_file import (
    Opener,
    TargetReader,
    cell_reader,
    cells_of_errors,
    errors_of_times,
    problem_with,
    truth_reader,
)
from deconditioning.period.stations import with_stations_in_time
from deconditioning.period.times import chosen_times, time_dimension
from deconditioning.period.varying import ProblemsInTime, varying_problems


@dataclass(frozen=True, eq=False)
class Block:
    """Times with the same cells, pixels and covariates: a ``problem``, the ``times`` (t,) as places in the series,
    ``targets`` (M, t), standardised as `Series.targets` says, NaN where missing, and the variances (M, t) of their own
    ``errors``, None without any and where the data of the problem have them.
    """

    problem: DownscalingProblem
    times: np.ndarray
    targets: Float[Tensor, "M t"]
    errors: Float[Tensor, "M t"] | None = None


@dataclass(frozen=True, eq=False)
class SeriesFile:
    """All times of the target's file: their ``labels``, and what reads the ``coarse`` values (cells,) at an index, and
    the sds of their ``errors``, None if none are known.

    ``numbered`` is the problem whose values are the numbers of the file's pixels: which of them a cell has.
    """

    labels: tuple[str, ...]
    coarse: Callable[[int], np.ndarray]
    numbered: DownscalingProblem
    errors: Callable[[int], np.ndarray] | None = None


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
    errors : (T, cells) sds of the errors of the coarse values, in the target's units; None if none are known.
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
    errors: np.ndarray | None = None

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

    def variances(
        self, times: Sequence[int] | np.ndarray, problem: DownscalingProblem | None = None
    ) -> Float[Tensor, "M t"] | None:
        """Variances of the errors of the standardised targets, 0 for stations; None if none are known."""
        if self.errors is None:
            return None
        squares = (
            self.errors[np.asarray(times, dtype=int)][:, (problem or self.problem).target_cell] / self.scale
        ) ** 2
        count = 0 if self.stations is None else self.stations.shape[1]
        return torch.as_tensor(np.pad(squares, ((0, 0), (0, count))).T)

    def blocks(self, times: Sequence[int] | np.ndarray | None = None) -> Iterator[Block]:
        """All times, or some, in as few blocks as possible: one unless covariates change with time."""
        chosen = np.arange(len(self)) if times is None else np.asarray(times, dtype=int)
        if self.varying is None:
            yield Block(self.problem, chosen, self.targets(chosen), self.variances(chosen))
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
            errors=None if self.errors is None else self.errors[times],
        )  # fmt: skip

    def at(self, time: int) -> DownscalingProblem:
        """The problem of one time, as conditioning at that time alone has it, with the scales of the series.

        Cells that are missing then are not ``observed``; their place among the targets has the mean of the time.
        """
        problem = self.problem if self.varying is None else self.varying(time)
        scale = Scale(float(self.level[time]), self.scale)
        coarse, targets = self.coarse[time].reshape(problem.coarse_shape), self.targets([time], problem)
        errors, cells = self.variances([time], problem), len(problem.target_cell)
        return replace(
            problem,
            target_scale=scale,
            coarse=np.where(problem.observed, coarse, np.nan),
            coarse_truth=coarse,
            observed=problem.observed & np.isfinite(coarse),
            truth=None if self.fine is None else self.fine(time),
            data=replace(
                problem.data,
                targets=targets[:cells, 0].nan_to_num(nan=0.0),
                errors=None if errors is None else errors[:cells, 0].nan_to_num(nan=0.0),
            ),
        )


def read_series(
    source: Source, spec: DownscalingSpec, opener: Opener, words: Sequence[str], like: Series | None = None
) -> Series:
    """The series of the times that ``words`` mean (`chosen_times`) of a source's target; others are not read.

    One file: cells are means of its target over blocks, which stays as truth. Two files: cells are those of the coarse
    file. Sums over cells are divided by their areas, as at one time. Times without any value are left out, with a note.
    ``like`` is the series of another variable of the same file, whose cells are the same and are not made again.
    Stations are beside the cells at the times at which their table has them. Raises ``InputError`` as `make_problem`
    does, if the target has no times, and for regions without a table that has a row for each of them and every date.
    """
    if source.regions:
        return _series_of_regions(source, spec, opener, words)
    alone, plain = _cells_alone(source, spec)
    owner = opener(source.coarse or source.fields).with_missing(spec.missing)
    dim = time_dimension(owner, spec.target)
    labels = owner.check(spec.target).extra[dim]
    requested = chosen_times(labels, words)
    shape = owner.grid.shape
    per_area = as_density(owner, spec, np.ones(shape), owner.grid)[0]
    read = TargetReader(owner, spec.target, dim, {**spec.select, **spec.coarse_select}, per_area, spec.error)
    if like is None:
        numbers = np.arange(np.prod(shape), dtype=float).reshape(shape)
        numbered = problem_with(alone, plain, opener, numbers, are_sums=False)
    else:
        numbered = like.file.numbered
    cells = cell_reader(numbered)
    coarse, mean, partly = _all_cells(read, cells, requested, numbered)
    problem = replace(problem_with(alone, plain, opener, mean), spec=spec)
    there, level, scale = _with_values(coarse[:, problem.target_cell], spec.target)
    chosen = [requested[n] for n in there]
    chosen_labels = tuple(labels[n] for n in chosen)
    problem, stations = with_stations_in_time(replace(problem, target_scale=Scale(0.0, scale)), source, chosen_labels)
    series = Series(
        problem, dim, chosen_labels, tuple(read.date(n) for n in chosen), coarse[there], level,
        None if numbered.truth is None else truth_reader(numbered.truth, read, chosen),
        SeriesFile(labels, lambda index: cells(read(index)), numbered, cells_of_errors(read, cells)),
        notes=(*read.guessed(), *_notes(labels, requested, chosen, partly)), stations=stations,
        selected=read.selected(), errors=errors_of_times(read, cells, chosen),
    )  # fmt: skip
    return _with_varying(series, varying_problems(alone, plain, opener, dim, series.labels))


def _series_of_regions(source: Source, spec: DownscalingSpec, opener: Opener, words: Sequence[str]) -> Series:
    """The series of regions whose values are in a table with a row for each region and date."""
    alone, plain = _cells_alone(source, spec)
    table = RegionTable.of(source, spec)
    requested = chosen_times(table.labels, words)
    mean = table.mean(requested)
    problem = replace(build_problem(alone, plain, opener, regions=lambda *given: mean), spec=spec)
    assert problem.regions is not None and problem.regions.cell is not None
    at = problem.regions.cell, problem.coarse_truth.size
    coarse = np.stack([table.cells(*at, index) for index in requested])
    there, level, scale = _with_values(coarse[:, problem.target_cell], spec.target)
    chosen = [requested[n] for n in there]
    labels = tuple(table.labels[n] for n in chosen)
    problem, stations = with_stations_in_time(replace(problem, target_scale=Scale(0.0, scale)), source, labels)
    file = SeriesFile(table.labels, partial(table.cells, *at), problem)
    if spec.error is not None:
        file = replace(file, errors=partial(table.errors, *at))
    series = Series(
        problem, "time", labels, tuple(table.dates[chosen]), coarse[there], level, None, file,
        notes=_notes(table.labels, requested, chosen, 0), stations=stations,
        errors=None if file.errors is None else np.stack([file.errors(index) for index in chosen]),
    )  # fmt: skip
    moving = varying_problems(alone, plain, opener, "time", labels, regions=lambda *given: mean)
    return _with_varying(series, moving)


def _with_values(observed: np.ndarray, target: str) -> tuple[np.ndarray, np.ndarray, float]:
    """The places of the times with a value in some cell, and level and scale of these (`scale_of`)."""
    there = np.flatnonzero(np.isfinite(observed).any(axis=1))
    return there, *scale_of(observed[there], target, len(observed))


def _with_varying(series: Series, varying: ProblemsInTime | None) -> Series:
    """The series with the problem of each time, if covariates change; ``InputError`` with stations."""
    if varying is not None and series.stations is not None:
        raise InputError(
            "Stations over a period need covariates that are the same at all times: leave one of them out."
        )
    return series if varying is None else replace(series, varying=varying, problem=varying.shared(series.problem))


def _all_cells(
    read: "TargetReader", cells: Callable[[np.ndarray], np.ndarray], requested: list[int], numbered: DownscalingProblem
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


def _cells_alone(source: Source, spec: DownscalingSpec) -> tuple[Source, DownscalingSpec]:
    """The cells without stations and without their errors, which are those of each time; ``InputError`` for what is of
    one time, and for errors of values that are not those of a coarse file.
    """
    unsuitable = {
        "Scored stations": source.scored,
        "Further sources": source.also,
    }
    for what, value in unsuitable.items():
        if value:
            raise InputError(f"{what} apply to a single time: leave them out, or downscale one time.")
    if spec.error is not None and not source.target_apart:
        raise InputError("Errors belong to values of a coarse file or of regions: give one of these, or omit `error`.")
    return replace(source, stations=None, station_footprint=""), replace(spec, error=None)
