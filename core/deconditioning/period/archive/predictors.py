"""Predictors: coarse values of other variables, which tell of the target what the archive's covariance with them says.

They are averages over the same cells as the target's, at the times of the training period and at those of the series:
winds or pressures of the driving model beside its temperatures, say.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deconditioning.downscaling.source import Source
from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields
from deconditioning.fields.problem.matching import place_matching
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.period.series import Series, read_series


@dataclass(frozen=True, eq=False)
class Predictors:
    """K coarse values of other variables, divided by the sd in time of their variable.

    Parameters
    ----------
    cell : (K,) the coarse cell of each.
    known : (N, K) at the times of the training period.
    labels, later : (T,) the times of the series, those of one member of an ensemble after another, and (T, K) the
        values there, NaN where missing.
    """

    cell: np.ndarray
    known: np.ndarray
    labels: tuple[str, ...]
    later: np.ndarray

    def at(self, labels: Sequence[str]) -> np.ndarray:
        """(t, K) values at some times of the series."""
        rows = {label: n for n, label in enumerate(_by_member(self.labels))}
        return (
            self.later[[rows[label] for label in _by_member(labels)]] if self.known.size else np.empty((len(labels), 0))
        )


NO_PREDICTORS = Predictors(np.empty(0, dtype=int), np.empty((0, 0)), (), np.empty((0, 0)))


def read_predictors(
    source: Source, spec: DownscalingSpec, opener: Callable[[str], Fields], words: Sequence[str], names: Sequence[str],
    like: Series | None = None,
) -> tuple[Series, ...]:  # fmt: skip
    """Series of other variables of the target's file, at the times that ``words`` mean and over the same cells.

    ``like`` is the target's series where it is read already, whose cells are taken then. Raises ``InputError`` for
    regions, and for variables that the file lacks, that have no times, or that have another part already.
    """
    if names and source.regions:
        raise InputError("Predictors are averaged over the cells of a grid: leave them out, or the regions.")
    fields = opener(source.coarse or source.fields)
    for name in names:
        if name in (spec.target, *spec.covariates):
            part = "the target" if name == spec.target else "a covariate"
            raise InputError(f"`{name}` is {part}, so it cannot be a predictor: name other variables.")
        if not any(len(labels) > 1 for labels in fields.check(name).extra.values()):
            raise InputError(
                f"The predictor `{name}` has no times in {fields.name}: name variables that change in time."
            )
    result: list[Series] = []
    source = replace(source, stations=None, station_footprint="")  # they measure the target
    for name in dict.fromkeys(names):
        like = read_series(source, replace(spec, target=name, error=None), opener, words, like)
        result.append(like)
    return tuple(result)


def predictors_at(others: Sequence[Series], known: Sequence[str], later: Sequence[str]) -> Predictors:
    """The values of other variables at training times ``known`` and at the times ``later`` of a series.

    Cells that lack a value at a training time, or never vary, are left out.
    Raises ``InputError`` for a variable of which nothing is left.
    """
    if not others:
        return replace(NO_PREDICTORS, known=np.empty((len(known), 0)))
    cells, before, after = zip(*(_values_of(other, known, later) for other in others), strict=True)
    return Predictors(np.concatenate(cells), np.hstack(before), tuple(later), np.hstack(after))


def _values_of(other: Series, known: Sequence[str], later: Sequence[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cells (k,), values (N, k) at training times and (T, k) at later ones."""
    name, cell = other.problem.spec.target, other.problem.target_cell
    matching = (place_matching(other.file.labels, label) for label in known)
    places = [place for place in matching if place is not None]
    if len(places) < len(known):
        raise InputError(
            f"The predictor `{name}` is known at {len(places)} of the {len(known)} times of the training period: give "
            "a file with all of them, a shorter period, or leave the predictor out."
        )
    before = np.stack([other.file.coarse(place)[cell] for place in places])
    centred = before - before.mean(0)
    usable = np.isfinite(before).all(0) & (np.abs(centred) > 1e-9 * np.abs(before).max(0)).any(0)
    if not usable.any():
        raise InputError(
            f"The predictor `{name}` has no cell that varies and has a value at every time of the training period: "
            "leave it out, or choose another period."
        )
    rows = {label: n for n, label in enumerate(_by_member(other.labels))}
    nowhere = np.full(other.coarse.shape[1], np.nan)
    after = np.stack([other.coarse[rows[label]] if label in rows else nowhere for label in _by_member(later)])[:, cell]
    sd = np.sqrt(np.mean(centred[:, usable] ** 2))
    return cell[usable], before[:, usable] / sd, after[:, usable] / sd


def _by_member(labels: Sequence[str]) -> list[tuple[str, int]]:
    """Each label with the number of the member that it is of: how often it occurs before."""
    seen: dict[str, int] = {}
    result = []
    for label in labels:
        seen[label] = seen.get(label, -1) + 1
        result.append((label, seen[label]))
    return result
