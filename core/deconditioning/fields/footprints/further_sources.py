"""Cells of another grid, or regions, of the same quantity: a further source of targets beside a problem's cells."""

from dataclasses import dataclass, replace

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.footprints.region_data import Regions, pixels_inside
from deconditioning.fields.footprints.regions import covered_by
from deconditioning.fields.footprints.station_data import Stations, main_pixels
from deconditioning.fields.footprints.stations import as_targets, in_units
from deconditioning.fields.gridded import Fields
from deconditioning.fields.grids.interpolate import locate
from deconditioning.fields.grids.pixel_shares import LEAST_SHARE, Shares, shares_between
from deconditioning.fields.grids.place import extent_in_words
from deconditioning.fields.grids.polygons import as_polygons
from deconditioning.fields.grids.regridding import box_around, cover, facing
from deconditioning.fields.problem.cell_weights import as_density, errors_of_cells
from deconditioning.fields.problem.matching import place_matching
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.target_metadata import date_of
from deconditioning.fields.selecting import index_of, what_there_is
from deconditioning.fields.spec import DownscalingSpec


@dataclass(frozen=True, eq=False)
class _Areas:
    """Areas (n,) whose means a source measured: their ``middle`` as measurements, the pixels' ``shares`` in them, and
    the share of each area that lies under complete pixels, ``covered`` (n,); their outlines are either shapely polygons
    ``regions`` (n,) or ``corners`` (n, k), latitudes and longitudes."""

    middle: Stations
    shares: Shares
    covered: np.ndarray
    regions: np.ndarray | None = None
    corners: tuple[np.ndarray, np.ndarray] | None = None

    def outlines(self, chosen: np.ndarray) -> np.ndarray | None:
        """Shapely polygons in degrees of some areas."""
        if self.corners is None:
            return None if self.regions is None else self.regions[chosen]
        latitude, longitude = (each[chosen] for each in self.corners)
        return as_polygons(latitude, longitude[:, :1] + (longitude - longitude[:, :1] + 180.0) % 360.0 - 180.0)


def with_further_cells(
    problem: DownscalingProblem, fields: Fields, value: str = "", error: str = ""
) -> DownscalingProblem:
    """The problem with the cells of another grid, or the pixels of a swath with corners, as targets beside its cells.

    The mean over each cell is that of the pixels inside, weighted by the areas that they have in common with it, times
    the weights of the problem's own cells, if they have some.
    ``value`` names the field ("": the one called like the target, or the only one), ``error`` that with the standard
    deviations of its errors. Of several times the map's is taken.
    Raises ``InputError`` if no cell lies on the map, if the values are sums where means are weighted, or if they cannot
    be in the target's units.
    """
    fields = fields.with_missing(problem.spec.missing)
    spec = DownscalingSpec(_name_of(fields, value or problem.spec.target, bool(value)), error=error or None)
    fields = replace(fields, fixed=_choice(fields, spec.target, problem))
    cells, order = facing(fields, problem.grid.centre_longitude())
    values, about, notes = as_density(fields, spec, fields.values(spec.target), fields.grid)
    if notes and problem.weights is not None:
        raise InputError(
            f"`{spec.target}` of {fields.name} is a sum over each cell, but the means are weighted by "
            f"`{problem.spec.weights}`: omit the weights, or give weighted means."
        )
    values, errors = values[:, order], errors_of_cells(fields, spec)[:, order]
    cell = locate(cells, problem.grid.latitude, problem.grid.longitude)
    if (cell >= 0).any():
        part = box_around(cell, cells.shape, margin=1)
        values, errors, cells = values[part], errors[part], cells.window(*part)
        cell = locate(cells, problem.grid.latitude, problem.grid.longitude)
    shares = shares_between(problem.grid, cells, cell)
    notes = [*fields.remarks(spec.target), *notes, *_at_another_time(fields, spec.target, date_of(problem.origin))]
    middle = Stations(
        cells.latitude.ravel(), cells.longitude.ravel(), values.ravel(), errors.ravel(), units=about.units,
        source=fields.name, notes=tuple(notes),
    )  # fmt: skip
    covered = cover(problem.grid, _complete(problem), shares, cells)
    corners = tuple(each.reshape(cells.area.size, -1) for each in cells.corners())
    return _with_areas(problem, _Areas(middle, shares, covered, corners=corners))  # type: ignore[arg-type]


def with_further_regions(problem: DownscalingProblem, regions: Regions) -> DownscalingProblem:
    """The problem with regions, or soundings with the corners of their pixels, as targets beside its cells; means and
    errors as `with_further_cells`."""
    inside, count = pixels_inside(problem.grid, regions.geometry), len(regions.value)
    shares = Shares(inside.pixel, inside.region, inside.fraction, count)
    error = np.zeros(count) if regions.error is None else regions.error
    middle = Stations(
        *regions.middles(), regions.value, error, units=regions.units, source=regions.source, notes=regions.notes
    )
    covered = covered_by(problem.grid, inside, _complete(problem))
    return _with_areas(problem, _Areas(middle, shares, covered, regions.geometry))


def _name_of(fields: Fields, name: str, is_given: bool) -> str:
    """The field of that name; the only one there is unless the name ``is_given``."""
    there = list(fields.variables())
    if not is_given and name not in there and len(there) == 1:
        return there[0]
    if name not in there:
        raise InputError(
            f"{fields.name} has no field `{name}`; it has {', '.join(there) or 'none'}: name the one that measures "
            "the target, as FILE:NAME."
        )
    return name


def _choice(fields: Fields, name: str, problem: DownscalingProblem) -> dict[str, int | str]:
    """The place along each dimension: the map's date, or what the problem selects there, such as a level;
    ``InputError`` if several are left to choose from."""
    fixed: dict[str, int | str] = {}
    date = date_of(problem.origin)
    for dim, labels in fields.check(name).extra.items():
        selected = problem.spec.select.get(dim)
        index = 0 if len(labels) == 1 else place_matching(labels, date) if date else None
        if index is None and isinstance(selected, str) and not selected.startswith("#"):
            index = index_of(dim, labels, selected)
        if index is None:
            raise InputError(
                f"Dimension `{dim}` of `{name}` in {fields.name} has no single value that is the map's"
                f"{f' ({date})' if date else ''}; it has {what_there_is(labels)}: give a file with one of them."
            )
        fixed[dim] = index
    return fixed


def _at_another_time(fields: Fields, name: str, date: str) -> list[str]:
    """A note where the values are of another date than the map."""
    then = (fields.time_label(name) or "").replace("T", " ")
    if not (then and date) or then == date:
        return []
    return [f"The values of {fields.name} are for {then}, the cells for {date}."]


def _complete(problem: DownscalingProblem) -> np.ndarray:
    """(H, W) whether a pixel is one of the prediction pixels."""
    result = np.zeros(problem.grid.shape, dtype=bool)
    result.flat[problem.pixel] = True
    return result


def _with_areas(problem: DownscalingProblem, areas: _Areas) -> DownscalingProblem:
    """The problem with the areas that have a value and of which at least half lies under complete pixels, some of them
    with a weight."""
    source, size = areas.middle.source, problem.grid.area.size
    shares = areas.shares.weighted(problem.weights)
    known = np.isfinite(areas.middle.value) & np.isfinite(areas.middle.error)
    over = areas.covered >= LEAST_SHARE * (1 - 1e-9)
    without = over & (shares.valid_area(_complete(problem), problem.grid.area)[0] <= 0)
    chosen = np.flatnonzero(known & over & ~without)
    if not len(chosen):
        raise InputError(
            f"None of the {len(known)} cells or regions of {source} has a value and at least half of its area on the "
            f"map; the map covers {extent_in_words(problem.grid)}: check their coordinates, or omit the source."
        )
    measured, notes = in_units(problem, areas.middle.of(chosen))
    pixel, shares = shares.bags(chosen, problem.pixel, size)
    mass = shares.areas(problem.grid.area)
    weight = mass / np.bincount(shares.cell, mass, len(chosen))[shares.cell]
    row = main_pixels(pixel, shares.cell, weight, len(chosen))
    offset = {"offset": np.ones(len(chosen))}
    targets = as_targets(problem, measured, row, offset, (pixel, shares.cell, weight), stations=False)
    targets = replace(targets, outlines=areas.outlines(chosen), number=chosen)
    stations = tuple(each for each in problem.sources if each.stations)
    others = tuple(each for each in problem.sources if not each.stations)
    notes = [*areas.middle.notes, *notes, *_counts(source, known, over, chosen), *_weighted(problem, source, without)]
    return replace(problem, sources=(*others, targets, *stations), notes=(*problem.notes, *notes))


def _counts(source: str, known: np.ndarray, over: np.ndarray, chosen: np.ndarray) -> list[str]:
    """Notes on how many areas are used, and on those that are not."""
    notes = [f"{len(chosen)} values of {source} are targets in addition to the cells, each a mean over its area."]
    if missing := int((over & ~known).sum()):
        notes.append(f"{missing} cells or regions of {source} have no value and are left out.")
    if off := int((known & ~over).sum()):
        notes.append(f"{off} of {source} are left out: less than half of their area lies under pixels of the map.")
    return notes


def _weighted(problem: DownscalingProblem, source: str, without: np.ndarray) -> list[str]:
    """Notes on the weights of the means, and on areas whose pixels have none; empty for means by area."""
    if problem.weights is None:
        return []
    notes = [f"Means over the areas of {source} are weighted by `{problem.spec.weights}`, as those over the cells are."]
    if count := int(without.sum()):
        notes.append(f"{count} of {source} are left out: none of their pixels has a weight.")
    return notes
