"""The training period: fine values at the pixels of a series, and the coarse values of the same times."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields
from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.grids.regridding import how_sampled, sample
from deconditioning.fields.problem.matching import place_matching
from deconditioning.fields.units import convert
from deconditioning.period.archive.predictors import NO_PREDICTORS, Predictors, predictors_at
from deconditioning.period.series import Series
from deconditioning.period.times import chosen_times, time_dimension

#: Times below which there is nothing to learn a covariance from.
_LEAST_TIMES = 20
#: Share of the pixels that a time must have to be used.
_MOST_PIXELS = 0.5


@dataclass(frozen=True, eq=False)
class Training:
    """N times with a known fine truth, in the target's units.

    Parameters
    ----------
    labels, dates : (N,) each time.
    fine : (N, P) the truth at the prediction pixels of a series, NaN at pixels that lack a value at any time.
    coarse : (N, M) the coarse values of the series' targets at these times, from the series' own file if it has them.
    cells : (N, M) the means of ``fine`` over the cells; ``coarse`` is the same unless it comes from another model.
    notes : how the archive was read.
    predictors : coarse values of other variables at these times and at those of the series.
    """

    labels: tuple[str, ...]
    dates: tuple[Any, ...]
    fine: np.ndarray
    coarse: np.ndarray
    cells: np.ndarray
    notes: tuple[str, ...] = ()
    predictors: Predictors = NO_PREDICTORS

    def __len__(self) -> int:
        return len(self.labels)


def read_training(
    series: Series, archive: Fields, words: Sequence[str] = (), predictors: Sequence[Series] = ()
) -> Training:
    """The training period of a series from an archive of the same variable at high resolution.

    ``words`` choose its times (`chosen_times`), by default all that are not downscaled. Coarse values come from the
    series' own file if it has these times, which may be another model, else from the archive. The archive is remapped
    to the pixels if its grid is another. ``predictors`` are series of other variables at the same times
    (`read_predictors`). Raises ``InputError`` for fewer than 20 times, for other units, and for predictors without
    values at the training times.
    """
    problem = series.problem
    name, notes = _variable(archive, series)
    dim = time_dimension(archive, name)
    labels = archive.check(name).extra[dim]
    requested = chosen_times(labels, words) if words else _others(labels, series.labels)
    shared = [n for n in requested if labels[n] in set(series.labels)]
    if shared and words:
        notes.append(
            f"{len(shared)} times of the training period are also downscaled, so their scores are too optimistic."
        )
    picked, how = _picker(archive.grid, problem.grid)
    notes += [f"The archive is remapped to the grid of the covariates: {how}."] if "own values" not in how else []
    rows, usable = [], []
    for n in requested:
        values, note = convert(archive.values(name, {dim: n}), archive.check(name).units, problem.units, name)
        row = picked(values).ravel()[problem.pixel]
        if np.isfinite(row).mean() >= _MOST_PIXELS:
            rows.append(row)
            usable.append(n)
        notes += [note] if note and note not in notes else []
    if len(usable) < _LEAST_TIMES:
        raise InputError(
            f"The archive has {len(usable)} usable times; at least {_LEAST_TIMES} are needed to learn a climatology "
            "and a covariance: give a longer training period, or leave the archive out."
        )
    fine, dates = np.stack(rows), tuple(archive.time_of(name, {dim: n}) for n in usable)
    training = _with_coarse(series, fine, tuple(labels[n] for n in usable), dates, notes)
    return replace(training, predictors=predictors_at(predictors, training.labels, series.labels))


def _others(labels: Sequence[str], downscaled: Sequence[str]) -> list[int]:
    known = set(downscaled)
    return [n for n, label in enumerate(labels) if label not in known]


def _variable(archive: Fields, series: Series) -> tuple[str, list[str]]:
    """The archive's variable: that of the same name, or the only one."""
    target = series.problem.spec.target
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
    series: Series, fine: np.ndarray, labels: tuple[str, ...], dates: tuple[Any, ...], notes: list[str]
) -> Training:
    """The training period with coarse values: the series' own where its file has all these times."""
    problem = series.problem
    gaps = ~np.isfinite(fine).all(axis=0)
    if gaps.any():
        notes.append(
            f"{int(gaps.sum()):,} pixels lack a value at some time of the training period and get no prediction."
        )
    cells = cell_means(series, fine)
    places = [place_matching(series.file.labels, label) for label in labels]
    matched = [n for n, index in enumerate(places) if index is not None]
    if series.fine is None and len(matched) >= _LEAST_TIMES:
        coarse = np.stack([series.file.coarse(int(places[n] or 0))[problem.target_cell] for n in matched])
        whole = np.isfinite(coarse).all(axis=1) & np.isfinite(cells[matched]).all(axis=1)
        notes.append(f"Coarse values of the training period are those of the target's file, at {whole.sum()} times.")
        chosen = [n for n, ok in zip(matched, whole, strict=True) if ok]
        coarse = coarse[whole]
    else:
        chosen = [n for n in range(len(fine)) if np.isfinite(cells[n]).all()]
        coarse = cells[chosen]
        notes.append("Coarse values of the training period are the archive's means over the cells.")
    if len(chosen) < _LEAST_TIMES:
        raise InputError(
            f"Only {len(chosen)} times of the training period have all coarse values; at least {_LEAST_TIMES} are "
            "needed: choose another period."
        )
    kept_labels, kept_dates = tuple(labels[n] for n in chosen), tuple(dates[n] for n in chosen)
    fine = np.where(gaps, np.nan, fine[chosen])
    return Training(kept_labels, kept_dates, fine, coarse, cells[chosen], tuple(notes))


def cell_means(series: Series, fine: np.ndarray) -> np.ndarray:
    """(N, M) means of fine values (N, P) over the cells of the targets."""
    problem = series.problem
    means = [problem.shares.mean(problem.on_grid(row), problem.grid.area)[problem.target_cell] for row in fine]
    return np.stack(means)


def _picker(grid: Grid, onto: Grid) -> tuple[Callable[[np.ndarray], np.ndarray], str]:
    """What carries fields from one grid to another, by index where the cells are the same."""
    size = grid.shape[0] * grid.shape[1]
    picked = sample(grid, np.arange(size, dtype=float).reshape(grid.shape), onto)[0]
    index = np.clip(np.nan_to_num(picked, nan=0.0).round().astype(int), 0, size - 1)
    trial = np.random.default_rng(0).normal(size=grid.shape)
    if np.isfinite(picked).all() and np.allclose(sample(grid, trial, onto)[0], trial.flat[index], atol=1e-6):
        return lambda values: values.flat[index], "its own values"
    return lambda values: sample(grid, values, onto)[0], how_sampled(grid, onto)
