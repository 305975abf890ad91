"""Pixels across the edges of cells of another kind of grid: against points thrown into them, and a ramp that stays."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from matplotlib.path import Path

from deconditioning.downscaling.prediction import matched_data, predict
from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import starting_spec
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.grids.blocks import reaggregate
from deconditioning.fields.grids.grid import Grid, make_grid
from deconditioning.fields.grids.overlap import overlap
from deconditioning.fields.grids.pixel_shares import shares_between
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.two_files import make_problem_from_files
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.fields.store import load_fields, save_fields
from deconditioning.figures.downscaled_maps import field_scale, footprint_marks
from deconditioning.figures.style import uncompacted
from tests.core.fields.remapcon.cases import GRIDS, LAMBERT, dataset, lines
from tests.core.fields.test_vertices import curvilinear

PAIRS = [("lambert", "coarse"), ("sheet", "coarse"), ("fine", "plates"), ("rotated", "coarse"), ("rotated", "plates"),
         ("sheet", "plates"), ("lambert", "cells"), ("fine", "cells")]  # fmt: skip


def outline(grid: Grid, cell: int, parts: int = 8) -> np.ndarray:
    """(n, 2) longitude and sin φ around a cell, along great circles or its own lines."""
    if grid.kind == "curvilinear":
        north, east = (each.reshape(-1, 4)[cell] for each in grid.corners())
        ring = np.stack([np.cos(np.deg2rad(north)) * np.cos(np.deg2rad(east)),
                         np.cos(np.deg2rad(north)) * np.sin(np.deg2rad(east)), np.sin(np.deg2rad(north))])  # fmt: skip
        t = np.arange(parts) / parts
        sides = (ring[..., None] * (1 - t) + np.roll(ring, -1, axis=1)[..., None] * t).reshape(3, -1)
        sides /= np.linalg.norm(sides, axis=0)
        return np.stack([np.rad2deg(np.arctan2(sides[1], sides[0])), sides[2]], axis=1)
    from deconditioning.fields.grids import sphere

    row, column = divmod(cell, len(grid.x))
    t = np.arange(parts) / parts
    up, right = np.concatenate([0 * t, t, 0 * t + 1, 1 - t]), np.concatenate([t, 0 * t + 1, 1 - t, 0 * t])
    y = grid.y_edges[row] + up * np.diff(grid.y_edges)[row]
    x = grid.x_edges[column] + right * np.diff(grid.x_edges)[column]
    latitude, longitude = sphere.true_position(grid.kind, y, x, grid.mapping)
    return np.stack([longitude, np.sin(np.deg2rad(latitude))], axis=1)


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_shares_are_those_of_points_thrown_into_the_pixels(pair) -> None:
    grid, cells = (GRIDS[name] for name in pair)
    shares, rng = shares_between(grid, cells), np.random.default_rng(0)
    split = np.unique(shares.pixel[shares.fraction < 1])
    assert len(split) > 40
    for pixel in rng.choice(split, 12, replace=False):
        own = outline(grid, pixel)
        low, high = own.min(axis=0), own.max(axis=0)
        points = low + rng.random((4000, 2)) * (high - low)
        points = points[Path(own).contains_points(points)]
        mine = shares.pixel == pixel
        for cell, fraction in zip(shares.cell[mine], shares.fraction[mine], strict=True):
            inside = Path(outline(cells, cell)).contains_points(points).mean()
            assert abs(inside - fraction) < 0.05
        assert shares.fraction[mine].sum() < 1.01


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_cells_are_covered_by_the_shares_of_their_pixels(pair) -> None:
    grid, cells = (GRIDS[name] for name in pair)
    shared, shares = overlap(grid, cells), shares_between(grid, cells)
    covered = np.asarray(shared.shared.sum(axis=1)).ravel()
    assert np.nanmax(covered / shared.whole) < 1 + 1e-6
    by_shares = np.bincount(shares.cell, shared.other[shares.pixel] * shares.fraction, shares.count)
    inner = covered > 0.999 * shared.whole
    assert inner.sum() > 3 and np.allclose(by_shares[inner], covered[inner], rtol=5e-3)


def lambert_ramp() -> tuple[Grid, np.ndarray, Grid, np.ndarray]:
    """Pixels of 20 km that turn against cells of whole degrees, the latitude in them and its mean over each cell."""
    fine = make_grid("projected", lines(-4e5, 4e5, 2e4), lines(-5e5, 5e5, 2e4), mapping=LAMBERT)
    cells = make_grid("latlon", np.arange(45, 50.0), np.arange(7, 14.0))
    low, high = (np.deg2rad(edges) for edges in (cells.y_edges[:-1], cells.y_edges[1:]))
    whole = (high * np.sin(high) + np.cos(high) - low * np.sin(low) - np.cos(low)) / (np.sin(high) - np.sin(low))
    return fine, fine.latitude, cells, np.repeat(np.rad2deg(whole)[:, None], len(cells.x), axis=1)


def problem_of(fine: Grid, values: dict[str, np.ndarray], cells: Grid, means: np.ndarray):
    made = dataset(fine, next(iter(values.values())))
    dims, attributes = made.v.dims, made.v.attrs
    made = made.drop_vars("v").assign({name: (dims, each, attributes) for name, each in values.items()})
    coarse = dataset(cells, means).rename(v="t")
    return make_problem_from_files(
        fields_from_dataset(made), fields_from_dataset(coarse), None,
        DownscalingSpec("t", tuple(values), (), (4, 4), 0.0),
    )  # fmt: skip


def test_a_ramp_on_a_map_projection_is_not_moved() -> None:
    fine, latitude, cells, means = lambert_ramp()
    rough = np.random.default_rng(1).standard_normal(fine.shape)
    found = problem_of(fine, {"rough": rough}, cells, means)
    assert any("straddle the edges" in note for note in found.notes)
    result = downscale(found, {"learn": False})
    inner = (latitude > 46) & (latitude < 48) & (fine.longitude > 8) & (fine.longitude < 12)
    assert abs(np.mean((result.mean - latitude)[inner])) < 1e-3  # K, for 1 K a degree
    spec = replace(starting_spec(found, DownscaleSettings()), noise=0.0)
    mean = found.physical_mean(predict(spec, matched_data(found, spec), found).mean)
    off = (reaggregate(found, mean) - found.coarse)[found.observed]
    assert np.abs(off).max() < 1e-9 * found.target_scale.sd


def test_corners_of_the_file_are_the_cells_edges_and_travel_with_the_fields() -> None:
    fields = fields_from_dataset(curvilinear())
    grid = fields.grid
    assert grid.vertices is not None and grid.vertices[0].shape == (*grid.shape, 4)
    north, east = grid.corners()
    made = curvilinear()
    for mine, file in ((north, made.lat_of_corners.values), (east, made.lon_of_corners.values)):
        assert np.allclose(np.sort(mine, axis=-1), np.sort(file, axis=-1), atol=1e-9)
    again = load_fields(save_fields(fields)).grid
    assert again.vertices is not None and np.array_equal(again.vertices[0], grid.vertices[0])
    part = grid.window(slice(2, 7), slice(3, 9))
    assert np.array_equal(part.corners()[0], north[2:7, 3:9])


def test_regions_given_by_their_corners_take_what_lies_inside_these() -> None:
    """Cells twice as wide as the distance of their middles says: only the corners of the file know."""
    middle = np.stack(np.meshgrid(np.arange(42.0, 50, 2), np.arange(4.0, 14, 2), indexing="ij"))
    half = (-0.4, -0.4, 0.4, 0.4), (-0.7, 0.7, 0.7, -0.7)
    north, east = (np.stack([at + step for step in steps], axis=-1) for at, steps in zip(middle, half, strict=True))
    small = xr.Dataset(
        {"t": (("j", "i"), middle[0], {"coordinates": "lat lon"}), "lat_v": (("j", "i", "k"), north),
         "lon_v": (("j", "i", "k"), east)},
        {"lat": (("j", "i"), middle[0], {"units": "degrees_north", "bounds": "lat_v"}),
         "lon": (("j", "i"), middle[1], {"units": "degrees_east", "bounds": "lon_v"})},
    )  # fmt: skip
    cells = fields_from_dataset(small).grid
    fine = make_grid("latlon", lines(40, 52, 0.25), lines(2, 16, 0.25))
    shares = shares_between(fine, cells)
    area = np.bincount(shares.cell, fine.steradians().flat[shares.pixel] * shares.fraction, shares.count)
    phi = np.deg2rad(middle[0])
    wanted = np.deg2rad(1.4) * (np.sin(phi + np.deg2rad(0.4)) - np.sin(phi - np.deg2rad(0.4)))
    assert np.allclose(area, wanted.ravel(), rtol=5e-3)  # a great circle between two corners is no parallel


def test_two_curvilinear_grids_share_areas_across_the_date_line() -> None:
    def sheet(turn: float, step: float, rows: int, columns: int) -> Grid:
        i, j = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
        position = 40 + step * (i + 0.1 * j) - step * rows / 2, turn + step * (j - columns / 2 + 0.2 * i)
        return make_grid("curvilinear", np.arange(rows), np.arange(columns), position=position)

    there, across = (overlap(sheet(turn, 0.5, 30, 40), sheet(turn, 2.0, 6, 8)) for turn in (10.0, 180.0))
    assert there.shared.nnz == across.shared.nnz > 300
    assert np.allclose(there.shared.toarray(), across.shared.toarray(), atol=1e-12)


def swath() -> tuple[xr.Dataset, np.ndarray, np.ndarray]:
    """Turned cells of about a degree with corners, the mean latitude of each by points inside, and unequal errors."""
    i, j = np.meshgrid(np.arange(9), np.arange(11), indexing="ij")
    north, east = 44.0 + 0.85 * i - 0.3 * j, 4.5 + 0.4 * i + 1.1 * j
    corners = [(slice(0, -1), slice(0, -1)), (slice(0, -1), slice(1, None)), (slice(1, None), slice(1, None)),
               (slice(1, None), slice(0, -1))]  # fmt: skip
    v_lat, v_lon = (np.stack([each[at] for at in corners], axis=-1) for each in (north, east))
    u = (np.arange(40) + 0.5) / 40
    up, right = np.meshgrid(u, u, indexing="ij")
    weight = np.stack([(1 - up) * (1 - right), (1 - up) * right, up * right, up * (1 - right)]).reshape(4, -1)
    points = v_lat @ weight
    mass = np.cos(np.deg2rad(points))
    means = (points * mass).sum(axis=-1) / mass.sum(axis=-1)
    error = np.where((np.arange(means.size) % 3 == 0).reshape(means.shape), 0.3, 0.01)
    dims = ("line", "pixel")
    data = xr.Dataset(
        {"t": (dims, means, {"units": "K"}), "t_error": (dims, error, {"units": "K"}),
         "lat_c": ((*dims, "corner"), v_lat), "lon_c": ((*dims, "corner"), v_lon)},
        {"lat": (dims, v_lat.mean(axis=-1), {"units": "degrees_north", "bounds": "lat_c"}),
         "lon": (dims, v_lon.mean(axis=-1), {"units": "degrees_east", "bounds": "lon_c"})},
    )  # fmt: skip
    return data, means, error


def of_swath() -> tuple[DownscalingProblem, np.ndarray]:
    """A problem of the swath, with its errors, beside a rough covariate; the latitude of every pixel."""
    y, x = lines(43, 50, 0.25), lines(5, 15, 0.25)
    latitude = np.broadcast_to(y[:, None], (len(y), len(x)))
    rough = np.random.default_rng(3).standard_normal(latitude.shape)
    fine = xr.Dataset({"rough": (("lat", "lon"), rough)}, {"lat": ("lat", y, {"units": "degrees_north"}),
                                                           "lon": ("lon", x, {"units": "degrees_east"})})  # fmt: skip
    spec = DownscalingSpec("t", ("rough",), withhold=0.0, error="t_error")
    return make_problem_from_files(fields_from_dataset(fine), fields_from_dataset(swath()[0]), None, spec), latitude


def test_the_outlines_of_a_swath_are_drawn_through_its_corners() -> None:
    problem, _ = of_swath()
    dark, light = footprint_marks(problem, "observed", field_scale(problem))
    assert dark["x"] == light["x"] and not footprint_marks(problem, "spread", field_scale(problem))
    x, y = uncompacted(dark["x"]), uncompacted(dark["y"])
    data, *_ = swath()
    for latitude, longitude in zip(data.lat_c.values.reshape(-1, 4), data.lon_c.values.reshape(-1, 4), strict=True):
        for north, east in zip(latitude, longitude, strict=True):
            if 43.5 < north < 49.5 and 5.5 < east < 14.5:
                assert np.nanmin(np.hypot(x - east, y - north)) < 1e-5
    plain = make_problem(fields_from_dataset(swath()[0]), DownscalingSpec("t", (), block=(2, 2), withhold=0.0))
    assert not footprint_marks(plain, "observed", field_scale(plain))


def test_a_ramp_seen_by_a_swath_is_not_moved() -> None:
    found, latitude = of_swath()
    sds = np.sqrt(found.data.errors.numpy()) * found.target_scale.sd
    assert np.allclose(np.sort(np.unique(sds)), [0.01, 0.3]) and len(found.target_cell) > 40
    result = downscale(found, {"learn": False})
    inner = np.zeros(latitude.shape, dtype=bool)
    inner[8:-8, 8:-8] = True
    assert abs(np.mean((result.mean - latitude)[inner & (found.cell >= 0)])) < 2e-3
