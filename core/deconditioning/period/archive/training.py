"""The training period: fine values at the pixels of a series, and the coarse values of the same times."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from deconditioning.downscaling.source import Source
from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields
from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.grids.regridding import how_sampled, sample
from deconditioning.fields.problem.matching import place_matching
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.fields.units import convert
from deconditioning.period.archive.predictors import NO_PREDICTORS, Predictors, predictors_at
from deconditioning.period.archive.stored import Collected, Stored, cost_sentence, needs_file
from deconditioning.period.reading.gaps import LEAST_TIMES, without_gaps
from deconditioning.period.series import Series
from deconditioning.period.times import chosen_times, first_used, in_order, places_of_times, time_dimension

#: Share of the archive's pixels that a time must have to be used.
_MOST_PIXELS = 0.5
#: Times that show how much of the region an archive covers, and the share of it that it must cover.
_TRIED, _LEAST_SHARE = 6, 0.1
#: Arrays as large as the archive that a warp of the target, or a pair of variables, holds at once.
_COPIES = 8


@dataclass(frozen=True, eq=False)
class Training:
    """N times with a known fine truth, in the target's units.

    Parameters
    ----------
    labels, dates : (N,) each time.
    fine : (N, P) the truth at the prediction pixels of a series, NaN at pixels that lack a value at any time; (N, 0)
        if it is ``stored`` in a file.
    coarse : (N, M) the coarse values of the series' targets at these times, from the series' own file if it has them.
    cells : (N, M) the means of ``fine`` over the cells; ``coarse`` is the same unless it comes from another model.
    notes : how the archive was read.
    predictors : coarse values of other variables at these times and at those of the series.
    stored : the truth where it is too large for memory, otherwise None.
    covers_part : whether the archive covers only part of the region; ``cells`` are then ``coarse`` where pixels lack.
    errors : (M,) mean squared error that ``coarse`` is known to have, 0 if it is that of the archive.
    """

    labels: tuple[str, ...]
    dates: tuple[Any, ...]
    fine: np.ndarray
    coarse: np.ndarray
    cells: np.ndarray
    notes: tuple[str, ...] = ()
    predictors: Predictors = NO_PREDICTORS
    stored: Stored | None = None
    covers_part: bool = False
    errors: np.ndarray | float = 0.0

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def known(self) -> np.ndarray:
        """(P,) the pixels that have a value at every time."""
        return np.isfinite(self.fine[0]) if self.stored is None else self.stored.known

    def at(self, pixels: np.ndarray) -> np.ndarray:
        """(N, p) the truth at some pixels, ascending."""
        return self.fine[:, pixels] if self.stored is None else self.stored.at(pixels)

    def in_memory(self, why: str) -> "Training":
        """The same with ``fine`` in memory, ``why`` in words; ``InputError`` if that is too large, or partial."""
        if self.covers_part:
            raise InputError(
                f"{why} needs an archive of the whole region, and this one covers only part of it: give another, or a "
                "smaller region."
            )
        if self.stored is None:
            return self
        import psutil

        pixels = len(self.stored.known)
        needed, free = _COPIES * 8 * len(self) * pixels, psutil.virtual_memory().available
        if needed > free:
            raise InputError(
                f"{why} needs all {len(self):,} times of {pixels:,} pixels of the archive in memory, "
                f"{needed / 1e9:.0f} GB, and {free / 1e9:.0f} GB are free: choose a shorter training period or a "
                "region."
            )
        fine = self.stored.at(np.arange(pixels))
        return replace(self, fine=np.where(self.stored.known, fine, np.nan), stored=None)


def read_training(
    series: Series, archive: Fields, words: Sequence[str] = (), predictors: Sequence[Series] = (),
    folder: Path | None = None,
) -> Training:  # fmt: skip
    """The training period of a series from an archive of the same variable at high resolution.

    ``words`` choose its times (`chosen_times`), by default all that are not downscaled. Coarse values come from the
    series' own file if it has these times, which may be another model, else from the archive. Of a further dimension,
    a level or a member, the archive's value is that of the series, else the first, with a note. The archive is remapped
    to the pixels if its grid is another. ``predictors`` are series of other variables at the same times
    (`read_predictors`). An archive that is too large for memory is kept in a temporary file in ``folder``. Raises
    ``InputError`` for fewer than 20 times, for other units, for predictors without values at the training times, and
    for a disk without enough space.
    """
    problem = series.problem
    name, notes = variable_of(archive, problem.spec.target)
    dim = time_dimension(archive, name)
    labels = archive.check(name).extra[dim]
    requested = training_times(labels, series.labels, words)
    select, taken = selection_of(archive, name, dim, series.selected)
    notes += taken
    shared = [n for n in requested if labels[n] in set(series.labels)]
    if shared and words:
        notes.append(
            f"{len(shared)} times of the training period are also downscaled, so their scores are too optimistic."
        )
    picked, how = carried_to(archive.grid, problem.grid)
    notes += [f"The archive is remapped to the grid of the covariates: {how}."] if "own values" not in how else []
    fine, cells, usable = Collected(len(requested), len(problem.pixel), folder), list[np.ndarray](), list[int]()

    def read(n: int) -> tuple[np.ndarray, str]:
        """Values (P,) at a time, and how units were converted."""
        values, note = convert(archive.values(name, {**select, dim: n}), archive.check(name).units, problem.units, name)
        return picked(values).ravel()[problem.pixel], note or ""

    least = _least_pixels(read, requested)
    for n in requested:
        row, note = read(n)
        if np.isfinite(row).sum() >= least:
            fine.add(row)
            cells.append(_means(series, row))
            usable.append(n)
        notes += [note] if note and note not in notes else []
    if len(usable) < LEAST_TIMES:
        raise InputError(
            f"The archive has {len(usable)} usable times; at least {LEAST_TIMES} are needed to learn a climatology "
            "and a covariance: give a longer training period, or use its climatology alone (`--climatology`)."
        )
    dates = tuple(archive.time_of(name, {dim: n}) for n in usable)
    training = _with_coarse(series, fine, np.stack(cells), tuple(labels[n] for n in usable), dates, notes)
    return _with_predictors(training, predictors, series)


def _with_predictors(training: Training, predictors: Sequence[Series], series: Series) -> Training:
    if predictors and series.members > 1 and training.covers_part:
        raise InputError(
            "Predictors of several members need an archive of the whole region, and this one covers only part of it: "
            "leave them out, or choose one member."
        )
    return replace(training, predictors=predictors_at(predictors, training.labels, series.labels))


def matched_directly(source: Source, spec: DownscalingSpec) -> tuple[Source, DownscalingSpec, tuple[str, ...]]:
    """Source and settings of the same cells without mediators, and a note where there were any.

    Over a training period fine values are known in all cells: their means are compared with the targets themselves, so
    that covariates need no mediator to tell of cells in which the target is known.
    """
    if not spec.indirect:
        return source, spec, ()
    named = ", ".join(f"`{name}`" for name in spec.mediators) or "the coordinates"
    note = (
        f"Cells are matched directly, not through {named}: fine values of the training period are known inside the "
        "cells of the target."
    )
    return replace(source, mediator=None), replace(spec, mediators=(), matching="direct"), (note,)


def cost_of(series: Series, archive: Fields, words: Sequence[str] = ()) -> str:
    """What an archive that is too large for memory costs, as a sentence; empty for others."""
    times, pixels = times_in_archive(series, archive, words), len(series.problem.pixel)
    if not needs_file(times, pixels):
        return ""
    return cost_sentence(times, pixels, len(series.problem.target_cell), len(series))


def times_in_archive(series: Series, archive: Fields, words: Sequence[str] = ()) -> int:
    """How many times of an archive ``words`` mean, whether or not they have values."""
    name = variable_of(archive, series.problem.spec.target)[0]
    labels = archive.check(name).extra[time_dimension(archive, name)]
    return len(training_times(labels, series.labels, words))


def training_times(labels: Sequence[str], downscaled: Sequence[str], words: Sequence[str]) -> list[int]:
    """The times of an archive with these ``labels`` that ``words`` mean: by default all that are not ``downscaled``."""
    if words:
        return chosen_times(labels, words)
    known = set(downscaled)
    return in_order(labels, [n for n, label in enumerate(labels) if label not in known])


def selection_of(
    archive: Fields, name: str, dim: str, selected: Mapping[str, str]
) -> tuple[dict[str, int | str], list[str]]:
    """The index along every further dimension of the archive that matches what is ``selected`` of the target, and notes
    on those where none does: the first is used.
    """
    select, notes = dict[str, int | str](), list[str]()
    for other, labels in archive.check(name).extra.items():
        if other == dim or len(labels) < 2:
            continue
        place = place_matching(labels, selected[other]) if other in selected else None
        select[other] = place or 0
        notes += [first_used(name, other, labels, " of the archive")] if place is None else []
    return select, notes


def variable_of(archive: Fields, target: str) -> tuple[str, list[str]]:
    """The archive's variable: that of the same name, or the only one."""
    if archive.holds(target):
        return target, []
    there = [name for name, each in archive.variables().items() if any(len(ls) > 1 for ls in each.extra.values())]
    if len(there) != 1:
        raise InputError(
            f"The archive {archive.name} has no variable `{target}`, only {', '.join(there) or 'none with times'}: "
            "rename the one to use."
        )
    return there[0], [f"The archive's variable `{there[0]}` is used as `{target}`."]


def _with_coarse(
    series: Series, fine: Collected, cells: np.ndarray, labels: tuple[str, ...], dates: tuple[Any, ...],
    notes: list[str],
) -> Training:  # fmt: skip
    """The training period with coarse values: the series' own where its file has all these times."""
    problem = series.problem
    lacking = ~np.isfinite(cells).any(axis=0)
    partial = bool(lacking.any())
    places = places_of_times(series.file.labels, labels)
    matched = [n for n, index in enumerate(places) if index is not None]
    if partial and len(matched) < LEAST_TIMES:
        raise InputError(
            f"The archive has no values in {int(lacking.sum()):,} of {len(lacking):,} cells, and the target's file has "
            f"{len(matched)} times of the training period: give an archive of the whole region, or coarse values of "
            "the training period."
        )
    notes += _gaps(fine.known, partial)
    if (series.fine is None or partial) and len(matched) >= LEAST_TIMES:
        coarse = np.stack([series.file.coarse(int(places[n] or 0))[problem.target_cell] for n in matched])
        coarse, note = without_gaps(coarse, cells[matched])
        whole = np.isfinite(coarse).all(axis=1) & np.isfinite(cells[matched][:, ~lacking]).all(axis=1)
        notes.append(
            f"Coarse values of the training period are those of the target's file, at {whole.sum()} times{note}."
        )
        chosen = [n for n, ok in zip(matched, whole, strict=True) if ok]
        coarse, errors = coarse[whole], _errors_of(series, [int(places[n] or 0) for n in chosen])
    else:
        chosen = [n for n in range(len(cells)) if np.isfinite(cells[n]).all()]
        coarse, errors = cells[chosen], 0.0
        notes.append("Coarse values of the training period are the archive's means over the cells.")
    if len(chosen) < LEAST_TIMES:
        raise InputError(
            f"All coarse values are known at {len(chosen)} times of the training period; at least {LEAST_TIMES} are "
            "needed: choose another period, or leave the archive out."
        )
    kept_labels, kept_dates = tuple(labels[n] for n in chosen), tuple(dates[n] for n in chosen)
    values, stored = fine.finish(np.array(chosen))
    cells = np.where(partial & ~_whole_cells(series, fine.known), coarse, cells[chosen])
    return Training(
        kept_labels, kept_dates, values, coarse, cells, tuple(notes), stored=stored, covers_part=partial, errors=errors
    )  # fmt: skip


def _errors_of(series: Series, places: Sequence[int]) -> np.ndarray | float:
    """(M,) mean squared error of the coarse values at some times of the target's file, 0 if none are known."""
    if series.file.errors is None or not places:
        return 0.0
    every = np.stack([series.file.errors(place) for place in places])[:, series.problem.target_cell]
    count = np.isfinite(every).sum(0)
    return np.nansum(np.square(every), axis=0) / np.maximum(count, 1)


def _whole_cells(series: Series, known: np.ndarray) -> np.ndarray:
    """(M,) the cells whose pixels are all known."""
    problem = series.problem
    there = problem.on_grid(np.where(known, 1.0, np.nan))
    covered, total = problem.shares.valid_area(np.isfinite(there), problem.grid.area)
    return (covered > (1 - 1e-6) * total)[problem.target_cell]


def _gaps(known: np.ndarray, partial: bool) -> list[str]:
    """What becomes of pixels that the archive does not have at every time."""
    if known.all():
        return []
    share = f"{100 * (1 - known.mean()):.2g} % of the pixels"
    if partial:
        return [
            f"The archive covers only part of the region: at {share} its climatology is carried on by the covariates, "
            "and anomalies come from the kernel alone, with a larger sd."
        ]
    remedy = (
        "" if known.mean() >= _MOST_PIXELS else ": fill these gaps first, or choose a period with fewer (`--period`)"
    )
    if not known.any():
        raise InputError(f"Every pixel lacks a value at some time of the training period{remedy}.")
    lost = int((~known).sum())
    return [f"{lost:,} pixels lack a value at some time of the training period and get no prediction{remedy}."]


def _least_pixels(read: Callable[[int], tuple[np.ndarray, str]], requested: Sequence[int]) -> float:
    """The number of pixels that a time must have to be used: half of the most that some times have.

    Raises ``InputError`` if these are hardly any.
    """
    tried = np.unique(np.linspace(0, len(requested) - 1, min(_TRIED, len(requested))).round().astype(int))
    rows = [np.isfinite(read(requested[n])[0]) for n in tried]
    most = max((int(row.sum()) for row in rows), default=0)
    if rows and most < _LEAST_SHARE * len(rows[0]):
        raise InputError(
            f"The archive has values at {100 * most / len(rows[0]):.2g} % of the pixels, fewer than "
            f"{100 * _LEAST_SHARE:g} %: give an archive that covers more of the region, or a smaller region."
        )
    return _MOST_PIXELS * most


def keeps_means(training: Training) -> bool:
    """Whether coarse values are the means of the fine ones, not those of another model."""
    usual = float(np.abs(training.cells).mean())
    return bool(np.allclose(training.coarse, training.cells, rtol=1e-6, atol=1e-6 * usual))


def cell_means(series: Series, fine: np.ndarray) -> np.ndarray:
    """(N, M) means of fine values (N, P) over the cells of the targets."""
    return np.stack([_means(series, row) for row in fine])


def _means(series: Series, row: np.ndarray) -> np.ndarray:
    problem = series.problem
    return problem.shares.mean(problem.on_grid(row), problem.grid.area)[problem.target_cell]


def carried_to(grid: Grid, onto: Grid) -> tuple[Callable[[np.ndarray], np.ndarray], str]:
    """What carries fields from one grid to another, by index where the cells are the same."""
    size = grid.shape[0] * grid.shape[1]
    picked = sample(grid, np.arange(size, dtype=float).reshape(grid.shape), onto)[0]
    index = np.clip(np.nan_to_num(picked, nan=0.0).round().astype(int), 0, size - 1)
    trial = np.random.default_rng(0).normal(size=grid.shape)
    if np.isfinite(picked).all() and np.allclose(sample(grid, trial, onto)[0], trial.flat[index], atol=1e-6):
        return lambda values: values.flat[index], "its own values"
    return lambda values: sample(grid, values, onto)[0], how_sampled(grid, onto)
