"""Single values of stations and further sources, hidden from the model by hand."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.footprints.station_data import Footprints, SourceTargets
from deconditioning.fields.footprints.stations import as_targets
from deconditioning.fields.grids import sphere
from deconditioning.fields.problem.cells import cells_of_text
from deconditioning.fields.problem.problem import DownscalingProblem

#: A source in addition to the cells and a value of its file, both counted from 1.
Value = tuple[int, int]
#: How near a point on the map is to a station that it means: so many pixels, or this share of the map's rows.
_NEAR, _OF_MAP = 2.0, 0.02


def values_of_text(text: str) -> tuple[Value, ...]:
    """The values of a text such as ``1-12.2-5``; ``InputError`` where it is none."""
    try:
        return cells_of_text(text)
    except InputError:
        raise InputError(
            f"'{text[:60]}' names no values of sources: write source-value, both counted from 1 and separated by dots, "
            "such as 1-12.2-5."
        ) from None


def with_hidden_values(problem: DownscalingProblem, hidden: Sequence[Value]) -> DownscalingProblem:
    """The problem without some values of its sources, as if their files did not have them.

    Raises ``InputError`` for a value that is not there, and if none of a source is left.
    """
    sources = list(problem.sources)
    if hidden and not sources:
        raise InputError("Values cannot be hidden without stations or further sources: give some, or hide none.")
    for number in sorted({source for source, _ in hidden}):
        if not 1 <= number <= len(sources):
            raise InputError(
                f"No value of source {number} can be hidden: sources in addition to the cells count from 1 to "
                f"{len(sources)}."
            )
        source = sources[number - 1]
        assert source.number is not None
        values = np.array(sorted({value - 1 for each, value in hidden if each == number}))
        if len(absent := values[~np.isin(values, source.number)]):
            raise InputError(
                f"Value {number}-{absent[0] + 1} cannot be hidden: source {number} has no such value on the map. "
                "Hovering over a mark shows its number."
            )
        gone = np.isin(source.number, values)
        if gone.all():
            raise InputError(f"Every value of source {number} is hidden: leave the source out, or show a value again.")
        sources[number - 1] = replace(_part(problem, source, ~gone), hidden=_part(problem, source, gone))
    return replace(problem, sources=tuple(sources))


def _part(problem: DownscalingProblem, source: SourceTargets, chosen: np.ndarray) -> SourceTargets:
    """Some values of a source."""
    effects = dict(zip(source.effects, source.errors.effects.numpy()[chosen].T, strict=True))
    footprints: Footprints | None = None
    if source.footprints is not None:
        pixel, measurement, weight = source.footprints
        there, number = chosen[measurement], np.cumsum(chosen) - 1
        footprints = pixel[there], number[measurement[there]], weight[there]
    made = as_targets(
        problem, source.measured.of(chosen), source.row[chosen], effects, footprints, stations=source.stations
    )
    outlines = None if source.outlines is None else source.outlines[chosen]
    return replace(made, outlines=outlines, number=None if source.number is None else source.number[chosen])


def value_at(problem: DownscalingProblem, x: float, y: float) -> Value:
    """The value at native coordinates of the grid: the nearest of the stations close to it and of the footprints that
    contain it, hidden or not. Raises ``InputError`` if there is none."""
    grid = problem.grid
    pixel = int(np.abs(grid.y - y).argmin()) * grid.shape[1] + int(np.abs(grid.x - x).argmin())
    place = sphere.unit_vectors(grid.latitude.flat[[pixel]], grid.longitude.flat[[pixel]])
    near = max(_NEAR, _OF_MAP * grid.shape[0]) * float(np.sqrt(np.median(grid.steradians())))
    best, found = np.inf, None
    for number, source in enumerate(problem.sources, 1):
        for part in (source, source.hidden):
            if part is None or part.number is None:
                continue
            distance = _distances(problem, part, place, pixel, near)
            if distance.min() < best:
                best, found = float(distance.min()), (number, int(part.number[distance.argmin()]) + 1)
    if found is None:
        raise InputError("There is no value of a source here: click a station, or inside a footprint.")
    return found


def _distances(
    problem: DownscalingProblem, source: SourceTargets, place: np.ndarray, pixel: int, near: float
) -> np.ndarray:
    """(S,) chords from a place on the unit sphere to the values' own; ∞ for those that it does not belong to."""
    at = sphere.unit_vectors(source.measured.latitude, source.measured.longitude)
    chord = np.linalg.norm(at - place, axis=1)
    if source.footprints is None:
        return np.where(chord <= near, chord, np.inf)
    inside = np.zeros(len(source.row), dtype=bool)
    inside[source.footprints[1][problem.pixel[source.footprints[0]] == pixel]] = True
    return np.where(inside, chord, np.inf)
