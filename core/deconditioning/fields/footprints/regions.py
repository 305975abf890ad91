"""Regions with outlines, such as catchments or districts, as the cells of a problem: holes, islands, overlaps."""

from dataclasses import replace
from typing import Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.footprints.region_data import Inside, Regions, pixels_inside
from deconditioning.fields.gridded import Fields, Variable
from deconditioning.fields.grids.grid import Grid, make_grid
from deconditioning.fields.grids.pixel_shares import LEAST_SHARE, Shares
from deconditioning.fields.grids.place import extent_in_words
from deconditioning.fields.problem.assemble import Sides, assemble
from deconditioning.fields.problem.cell_weights import weights_note, weights_of_pixels
from deconditioning.fields.problem.chosen_cells import UsedCells
from deconditioning.fields.problem.coarsened import all_finite
from deconditioning.fields.problem.coordinates import CoordinateSystem, needs_sphere
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.target_metadata import Origin, covariates_of
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.fields.times import words_of


def make_problem_from_regions(covariates: Fields, regions: Regions, spec: DownscalingSpec) -> DownscalingProblem:
    """Cells are regions with outlines, whose values are means over the parts of pixels inside them.

    A pixel across a border enters each region with the share of its area inside, and regions may overlap. They are
    numbered on a table of rows, bands from south to north, and columns, from west to east in each band, so that
    neighbours in the table are neighbours on the map where the test one scale up joins them.

    Raises ``InputError`` if there are mediators, if fewer than eight regions with a value lie on complete pixels, or
    if a variable is missing.
    """
    if spec.indirect or spec.region is not None:
        raise InputError("Regions are matched directly, and all of them are used: omit mediators and `region`.")
    covariates = covariates.with_missing(spec.missing)
    raw, grid = [covariates.values(name, spec.select) for name in spec.covariates], covariates.grid
    whole = all_finite(raw, grid.shape)
    inside = pixels_inside(grid, regions.geometry)
    if not len(inside.pixel):
        raise InputError(
            f"None of the {len(regions.name)} regions of {regions.source} overlaps the map, which covers "
            f"{extent_in_words(grid)}: check their coordinates{_exchanged(grid, regions)}, or take covariates of the "
            "same area."
        )
    number, shape = _table(*regions.middles())
    regions, size = replace(regions, cell=number), shape[0] * shape[1]
    weights = weights_of_pixels(covariates, spec, (slice(None), slice(None)))
    shares = _shares(inside, number, size).weighted(weights)
    usable = _of_cells(number, size, covered_by(grid, inside, whole)) >= LEAST_SHARE * (1 - 1e-9)
    usable &= shares.valid_area(whole, grid.area)[0] > 0
    values = _of_cells(number, size, regions.value)
    error = np.zeros(size) if regions.error is None else _of_cells(number, size, regions.error)
    with_data, cells_used = np.isfinite(values + error) & usable, UsedCells.of(shape, None)
    withheld = cells_used.withhold(with_data, spec)
    targets = np.flatnonzero(with_data & ~withheld.cells)
    cells = _cells(regions, number, shape, np.bincount(shares.cell, shares.areas(grid.area), size))
    system = CoordinateSystem(grid, needs_sphere(grid))
    places = system.of_positions(cells.latitude.ravel(), cells.longitude.ravel())[targets]
    nothing = np.empty((len(targets), 0))
    sides = Sides(
        grid=grid, covariates=np.stack(raw, axis=-1) if raw else None, whole=whole, system=system, blocks=shares,
        bag_block=targets, bag_cell=targets, bag_mediators=nothing, bag_coordinates=places, cell=_main(shares, grid),
        shares=shares, coarse_grid=cells, coarse=values, target_cell=targets, query_mediators=nothing,
        query_coordinates=places, truth=None, error=error,
    )  # fmt: skip
    target = Variable(spec.target, spec.target, regions.units, "", {})
    notes = [*covariates.notes, *_notes(covariates, spec), *regions.notes, *weights_note(spec)]
    notes += _region_notes(regions, inside, usable[number], shares)
    source = f"target: {regions.source}; covariates: {covariates.source}"
    made = assemble(spec, sides, target, (source, covariates.licence), (*notes, *withheld.notes))
    about = _when(regions.time) | {"covariates": covariates_of(covariates, spec.covariates)}
    return cells_used.noted(replace(made, regions=regions, weights=weights, **about), withheld)


def _when(time: np.datetime64 | None) -> dict[str, Any]:
    """What a problem says of the time of values without a file of fields; nothing where it is not known."""
    if time is None:
        return {}
    at = time.astype("datetime64[ns]"), {"standard_name": "time"}
    return {"when_and_where": (words_of(time),), "origin": Origin({"time": at})}


def _exchanged(grid: Grid, regions: Regions) -> str:
    """A remark where the regions would lie on the grid with latitudes and longitudes exchanged."""
    import shapely

    turned = shapely.transform(regions.geometry, lambda at: at[:, ::-1])
    possible = np.abs(shapely.get_coordinates(turned)[:, 1]).max() <= 90
    look = possible and len(pixels_inside(grid, turned).pixel) > 0
    return " (latitudes and longitudes look exchanged)" if look else ""


def cells_of_regions(regions: Regions) -> tuple[int, int]:
    """(rows, columns) of the table in which regions are numbered."""
    return _table(*regions.middles())[1]


def _of_cells(number: np.ndarray, size: int, values: np.ndarray) -> np.ndarray:
    """(size,) the regions' values (n,) at their places in the table, NaN elsewhere."""
    result = np.full(size, np.nan)
    result[number] = values
    return result


def _table(latitude: np.ndarray, longitude: np.ndarray) -> tuple[np.ndarray, tuple[int, int]]:
    """(n,) the place of each region in a table of bands, row by row, and the table's rows and columns."""
    rows = max(1, round(len(latitude) ** 0.5))
    bands = np.array_split(np.argsort(latitude, kind="stable"), rows)
    columns = max(len(band) for band in bands)
    number = np.empty(len(latitude), dtype=int)
    for row, band in enumerate(bands):
        east = (longitude[band] - longitude[0] + 180.0) % 360.0
        number[band[np.argsort(east, kind="stable")]] = row * columns + np.arange(len(band))
    return number, (rows, columns)


def _shares(inside: Inside, number: np.ndarray, size: int) -> Shares:
    cell = number[inside.region]
    order = np.lexsort((cell, inside.pixel))
    return Shares(inside.pixel[order], cell[order], inside.fraction[order], size)


def covered_by(grid: Grid, inside: Inside, whole: np.ndarray) -> np.ndarray:
    """(n,) share of each region under pixels that are complete."""
    areas, there = grid.area.flat[inside.pixel] * inside.fraction, whole.flat[inside.pixel]
    count = len(inside.covered)
    mass, valid = np.bincount(inside.region, areas, count), np.bincount(inside.region[there], areas[there], count)
    return inside.covered * np.divide(valid, mass, where=mass > 0, out=np.zeros(count))


def _main(shares: Shares, grid: Grid) -> np.ndarray:
    """(H, W) the region that has most of each pixel, −1 for none."""
    result = np.full(grid.area.size, -1)
    order = np.argsort(shares.fraction, kind="stable")
    result[shares.pixel[order]] = shares.cell[order]
    return result.reshape(grid.shape)


def _cells(regions: Regions, number: np.ndarray, shape: tuple[int, int], area: np.ndarray) -> Grid:
    """The regions' middles and areas as a grid; empty places of the table lie beside the last of their band."""
    places = []
    for values in regions.middles():
        table = np.full(shape[0] * shape[1], np.nan)
        table[number] = values
        table = table.reshape(shape)
        last = table[np.arange(shape[0]), np.isfinite(table).sum(axis=1) - 1]
        places.append(np.where(np.isfinite(table), table, last[:, None]))
    return make_grid(
        "curvilinear", np.arange(shape[0]), np.arange(shape[1]), names=("band", "region"),
        position=(places[0], places[1]), area=np.maximum(area, 1e-12 * area.max()).reshape(shape),
    )  # fmt: skip


def _notes(covariates: Fields, spec: DownscalingSpec) -> list[str]:
    notes: list[str] = []
    for name in spec.covariates:
        notes += covariates.selection_notes(name, spec.select) + covariates.remarks(name, spec.select)
    return notes


def _region_notes(regions: Regions, inside: Inside, usable: np.ndarray, shares: Shares) -> list[str]:
    """Notes on the regions: how many can be used, what overlaps, which pixels are shared."""
    notes = [
        f"The cells are {len(regions.name)} regions of {regions.source}; "
        "scores come from withheld regions and from re-aggregation."
    ]
    missing = int((~np.isfinite(regions.value)).sum())
    if missing:
        notes.append(f"{missing} of {len(regions.name)} regions have no value.")
    if lost := int((~usable & np.isfinite(regions.value)).sum()):
        notes.append(f"{lost} regions are skipped: complete pixels cover less than half of their area.")
    total = np.bincount(inside.pixel, inside.fraction)
    if over := int((total > 1 + 1e-6).sum()):
        notes.append(f"{over:,} pixels lie in several regions, which overlap; each region takes its own share of them.")
    if shares.split:
        notes.append(
            f"{shares.split:,} pixels straddle the borders of regions; each enters a region in proportion to its area "
            "inside."
        )
    return notes
