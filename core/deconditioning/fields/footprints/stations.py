"""Stations: values measured at points or over footprints, as targets beside the cells or as truth that was withheld."""

from dataclasses import replace

import numpy as np
import torch

from deconditioning.errors import InputError
from deconditioning.fields.footprints.gaussian import footprint_pixels
from deconditioning.fields.footprints.station_data import (
    Footprints,
    SourceTargets,
    Stations,
    bags_of_stations,
    main_pixels,
)
from deconditioning.fields.grids.interpolate import locate
from deconditioning.fields.grids.pixel_shares import LEAST_SHARE
from deconditioning.fields.grids.place import extent_in_words
from deconditioning.fields.grids.roles import orography_of
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.units import convert, convert_errors
from deconditioning.observations import Bags, PointErrors

#: What all stations may differ by, and the size of one unit of it: metres of altitude above the pixel's. The prior sd
#: of the effect on a typical station is one sd of the cells.
EFFECTS = {"offset": 1.0, "altitude": 100.0}
#: By how many sds of cells and stations together the medians of both may lie apart before their units are doubted.
_APART = 8.0
#: Share of a footprint on the map's pixels from which it counts as whole.
_NEARLY_ALL = 0.99
#: Differences in altitude, in metres, below which they have no effect that could be learned.
_LEVEL = 1.0


def with_stations(problem: DownscalingProblem, stations: Stations) -> DownscalingProblem:
    """The problem with stations as targets beside its cells and further sources, in one posterior.

    A station measures the value of the pixel in which it lies, or the mean over its footprint, and differs from it by
    an offset common to all stations, by an effect linear in the difference between its altitude and that of the pixels
    (if both are known), and by noise.
    Raises ``InputError`` if no station lies on a pixel, or if the values cannot be in the target's units.
    """
    targets, notes = _located(problem, stations)
    others = tuple(each for each in problem.sources if not each.stations)
    return replace(_credited(problem, stations), sources=(*others, targets), notes=(*problem.notes, *notes))


def with_further_stations(problem: DownscalingProblem, stations: Stations) -> DownscalingProblem:
    """The problem with another network, or with soundings over footprints, as targets beside its cells and stations.

    They differ from the cells as stations do (`with_stations`), but by an offset and a noise of their own; stations
    that are only scored (`with_scored_stations`) do not belong to them. Errors as `with_stations`.
    """
    targets, notes = _located(problem, stations, of_network=False)
    count = f"{len(targets.row)} values of {stations.source} are targets in addition to the cells."
    others, network = (tuple(each for each in problem.sources if each.stations == kind) for kind in (False, True))
    sources = (*others, targets, *network)
    return replace(_credited(problem, stations), sources=sources, notes=(*problem.notes, *notes, count))


def with_scored_stations(problem: DownscalingProblem, stations: Stations) -> DownscalingProblem:
    """The problem with stations that no model sees, at whose places its map is scored; errors as `with_stations`."""
    targets, notes = _located(problem, stations)
    return replace(_credited(problem, stations), scored=targets, notes=(*problem.notes, *notes))


def _credited(problem: DownscalingProblem, stations: Stations) -> DownscalingProblem:
    """The problem with what its figures must say of the stations."""
    if stations.licence in problem.licence:
        return problem
    return replace(problem, licence="; ".join(each for each in (problem.licence, stations.licence) if each))


def _located(
    problem: DownscalingProblem, stations: Stations, *, of_network: bool = True
) -> tuple[SourceTargets, tuple[str, ...]]:
    """The stations that lie on prediction pixels, and notes; ``of_network`` as `SourceTargets.stations`."""
    stations, notes = in_units(problem, stations)
    row, footprints, more = (_at_pixels if stations.footprint is None else _over_footprints)(problem, stations)
    inside, turned = row >= 0, _on_map_exchanged(problem, stations)
    if not inside.any():
        raise InputError(
            f"None of the {len(stations)} stations of {stations.source} lies on a pixel of the map, which covers "
            f"{extent_in_words(problem.grid)}: check their latitudes and longitudes"
            f"{', which look exchanged' if turned else ''}."
        )
    if turned > inside.sum():
        notes.append(
            f"{int(inside.sum())} of {len(stations)} stations of {stations.source} lie on the map, {turned} with "
            "latitudes and longitudes exchanged: check that the columns are not."
        )
    inner, row = stations.of(inside), row[inside]
    effects, altitude = _effects(problem, inner, bags_of_stations(problem.inputs, row, footprints))
    result = as_targets(problem, inner, row, effects, footprints, stations=of_network)
    return replace(result, number=np.flatnonzero(inside)), (*stations.notes, *notes, *more, *altitude)


def as_targets(
    problem: DownscalingProblem, measured: Stations, row: np.ndarray, effects: dict[str, np.ndarray],
    footprints: Footprints | None, *, stations: bool = True,
) -> SourceTargets:  # fmt: skip
    """Measurements in the target's units as targets of a problem; ``effects`` are the columns (S,) of H by name, each
    with a prior sd of one sd of the cells for a typical measurement. The others are those of `SourceTargets`."""
    errors = PointErrors(
        torch.as_tensor(problem.standardised_errors(measured.value, measured.error) ** 2),
        torch.as_tensor(np.stack(list(effects.values()), axis=1)),
        torch.as_tensor([1 / np.mean(column**2) for column in effects.values()]),
    )
    targets = torch.as_tensor(problem.standardised(measured.value))
    return SourceTargets(measured, row, targets, errors, tuple(effects), footprints, stations)


def standardised_again(problem: DownscalingProblem, source: SourceTargets) -> SourceTargets:
    """A source of a problem whose target now has another scale, or another warp; ``InputError`` if a value lies where
    the warp is not defined."""
    measured, hidden = source.measured, source.hidden
    if problem.warp is not None:
        problem.warp.check(measured.value, f"The values of {measured.source}")
    variance = torch.as_tensor(problem.standardised_errors(measured.value, measured.error) ** 2)
    return replace(
        source,
        targets=torch.as_tensor(problem.standardised(measured.value)),
        errors=replace(source.errors, variance=variance),
        hidden=None if hidden is None else standardised_again(problem, hidden),
    )


def _on_map_exchanged(problem: DownscalingProblem, stations: Stations) -> int:
    """How many stations would lie on the map's pixels with latitudes and longitudes exchanged."""
    may_be = np.abs(stations.longitude) <= 90
    pixel = locate(problem.grid, stations.longitude[may_be], stations.latitude[may_be])
    return int((np.where(pixel >= 0, _rows(problem)[np.maximum(pixel, 0)], -1) >= 0).sum())


def _rows(problem: DownscalingProblem) -> np.ndarray:
    """(H · W,) the prediction pixel of each pixel of the grid, −1 for none."""
    result = np.full(problem.grid.area.size, -1)
    result[problem.pixel] = np.arange(len(problem.pixel))
    return result


def _at_pixels(problem: DownscalingProblem, stations: Stations) -> tuple[np.ndarray, None, list[str]]:
    """(S,) the prediction pixel of each station, −1 for none, and a note on those without."""
    pixel = locate(problem.grid, stations.latitude, stations.longitude)
    row = np.where(pixel >= 0, _rows(problem)[np.maximum(pixel, 0)], -1)
    if not (outside := int((row < 0).sum())):
        return row, None, []
    return row, None, [f"{outside} of {len(stations)} stations lie outside the map's pixels and are left out."]


def _over_footprints(problem: DownscalingProblem, stations: Stations) -> tuple[np.ndarray, Footprints, list[str]]:
    """(S,) the prediction pixel with most of each footprint, −1 where pixels have less than half of it; the pixels of
    the others, whose weights follow the response on what is there; and notes."""
    footprint, count = stations.footprint, len(stations)
    assert footprint is not None
    seen = footprint_pixels(problem.grid, problem.pixel, stations.latitude, stations.longitude, footprint)
    covered = np.bincount(seen.measurement, seen.mass, count)
    inside = covered >= LEAST_SHARE
    rows = _rows(problem)[seen.pixel]
    row = main_pixels(rows, seen.measurement, seen.mass, count)
    number, there = np.cumsum(inside) - 1, inside[seen.measurement]
    measurement = seen.measurement[there]
    notes = [
        f"Each value of {stations.source} is taken as the mean over a Gaussian footprint; full width at half maximum: "
        f"{footprint}."
    ]
    if not inside.all():
        notes.append(
            f"{int((~inside).sum())} of {count} footprints lie more than half outside the map's pixels and are left "
            "out."
        )
    if cut := int((inside & (covered < _NEARLY_ALL)).sum()):
        notes.append(f"{cut} footprints lie partly outside the map's pixels; their values are taken as means over the "
        "rest.")  # fmt: skip
    weight = seen.mass[there] / covered[measurement]
    return np.where(inside, row, -1), (rows[there], number[measurement], weight), notes


def in_units(problem: DownscalingProblem, stations: Stations) -> tuple[Stations, list[str]]:
    """The measurements in the target's units; ``InputError`` where these are of another kind, or the values look it."""
    units, notes = problem.units or "1", []
    if stations.units:
        name = problem.spec.target
        value, note = convert(stations.value, stations.units, units, name)
        error = convert_errors(stations.error, stations.units, units, name)
        stations = replace(stations, value=value, error=error, units=units)
        notes += [note] if note else []
    else:
        notes.append(f"The values of {stations.source} are taken to be in {units}, the target's units.")
    cells = problem.coarse[problem.observed]
    difference = abs(float(np.median(stations.value)) - float(np.median(cells)))
    if difference > _APART * (float(cells.std()) + float(stations.value.std())):
        raise InputError(
            f"The values of {stations.source} have the median {np.median(stations.value):.4g}, the cells "
            f"{np.median(cells):.4g} {units}: they cannot be in the same units. Convert them, or write the units in "
            "the column's name, such as `value [degC]`."
        )
    return stations, notes


def _effects(problem: DownscalingProblem, stations: Stations, bags: Bags) -> tuple[dict[str, np.ndarray], list[str]]:
    """Columns (S,) of what all stations may differ by, by name (`EFFECTS`), and a note on altitudes."""
    result = {"offset": np.ones(len(stations))}
    if stations.altitude is None:
        return result, []
    name = orography_of(problem.spec.covariates)
    if name is None:
        return result, ["No covariate is an orography, so the stations' altitudes are not used."]
    column = problem.columns.index(name)
    height = problem.input_scaling.scales[column].backward(bags.mean(bags.inputs[:, column]).numpy())
    above = np.nan_to_num(stations.altitude - height)
    typical = float(np.sqrt(np.mean(above**2)))
    if typical < _LEVEL:
        return result, []
    result["altitude"] = above / EFFECTS["altitude"]
    return result, [
        f"The stations lie {typical:.0f} m (root mean square) above or below their pixels' `{name}`; the effect of "
        "this difference is learned as one slope."
    ]
