"""Corners of curvilinear cells as CF bounds (y, x, 4): areas by another formula, orders, labels, what is not used."""

import numpy as np
import pytest
import xarray as xr

from deconditioning.fields.grids.sphere import from_unit_vectors, solid_angles, unit_vectors
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.spec import DownscalingSpec
from tests.core.fields.samples import fields, netcdf, smooth

ROUND = ((0, 0), (0, 1), (1, 1), (1, 0))  # counterclockwise from the lower left, (row, column)


def sheet(rows: int = 24, columns: int = 32) -> tuple[np.ndarray, np.ndarray]:
    """(rows + 1, columns + 1) corners: turned, and wider towards one side, so that areas differ by a factor of ten."""
    y = np.cumsum(np.geomspace(0.2, 0.7, rows + 1))
    x = np.cumsum(np.geomspace(0.2, 0.6, columns + 1))
    y, x = np.meshgrid(y, x, indexing="ij")
    return 35 + 0.9 * y + 0.2 * x, 5 + 1.1 * x - 0.3 * y


def around(corner: np.ndarray) -> np.ndarray:
    """(H, W, 4) of the corners of every cell."""
    height, width = corner.shape[0] - 1, corner.shape[1] - 1
    return np.stack([corner[r : r + height, c : c + width] for r, c in ROUND], axis=-1)


def middles(north: np.ndarray, east: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the mean direction of four corners."""
    return from_unit_vectors(unit_vectors(north, east).mean(axis=2))


def curvilinear(place: str = "middle", named: bool = True, order=(0, 1, 2, 3), first: bool = False) -> xr.Dataset:
    north, east = (around(corner) for corner in sheet())
    latitude, longitude = middles(north, east) if place == "middle" else (north[..., 0], east[..., 0])
    dims = ("j", "i")
    data = xr.Dataset({"t": (dims, smooth(*middles(north, east)), {"units": "K", "coordinates": "lat lon"})})
    for name, units, values, corners in (
        ("lat", "degrees_north", latitude, north), ("lon", "degrees_east", longitude, east),
    ):  # fmt: skip
        data[name] = (dims, values, {"units": units} | ({"bounds": f"{name}_of_corners"} if named else {}))
        corners = corners[..., list(order)]
        key = f"{name}_of_corners" if named else f"{name}_vertices"
        data[key] = (("k", *dims), np.moveaxis(corners, -1, 0)) if first else ((*dims, "k"), corners)
    return data.set_coords(["lat", "lon"])


def girard(north: np.ndarray, east: np.ndarray) -> np.ndarray:
    """Solid angle by the angles at the corners: their sum less (n − 2) π."""
    corners = unit_vectors(north, east)
    total = np.full(north.shape[:-1], -2 * np.pi)
    for index in range(4):
        here, before, after = (corners[..., (index + shift) % 4, :] for shift in (0, -1, 1))
        to = [side - np.sum(side * here, -1, keepdims=True) * here for side in (before, after)]
        to = [side / np.linalg.norm(side, axis=-1, keepdims=True) for side in to]
        total += np.arccos(np.clip(np.sum(to[0] * to[1], -1), -1, 1))
    return total


WANTED = girard(*(around(corner) for corner in sheet()))


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 3, 0, 1), (0, 1, 3, 2)])
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("first", [True, False])
def test_areas_are_those_between_the_corners(order, named, first):
    found = fields(curvilinear(named=named, order=order, first=first))
    assert np.allclose(found.grid.area, WANTED / WANTED.mean(), rtol=1e-8)
    assert WANTED.max() > 8 * WANTED.min()
    assert any("areas of the cells are those between the corners that the file gives" in note for note in found.notes)
    assert set(found.variables()) == {"t"}


def test_coarse_values_are_means_by_those_areas(tmp_path):
    (tmp_path / "a.nc").write_bytes(netcdf(curvilinear()))
    data = curvilinear()
    made = make_problem(open_fields(tmp_path / "a.nc"), DownscalingSpec("t", block=(4, 4), withhold=0.0))
    blocks = [a.reshape(6, 4, 8, 4) for a in (data.t.values, WANTED)]
    mean = (blocks[0] * blocks[1]).sum((1, 3)) / blocks[1].sum((1, 3))
    plain = blocks[0].mean((1, 3))
    assert np.allclose(made.coarse_truth, mean, rtol=1e-9) and np.abs(plain - mean).max() > 1e-3


@pytest.mark.parametrize("named", [True, False])
def test_positions_at_a_corner_of_their_cells_are_moved_to_the_middle(named):
    found, right = fields(curvilinear("corner", named)), fields(curvilinear(named=named))
    assert np.allclose(found.grid.latitude, right.grid.latitude, atol=1e-9)
    assert np.allclose(found.grid.longitude, right.grid.longitude, atol=1e-9)
    assert any("`lat` and `lon` give a corner of each cell: the midpoints" in note for note in found.notes)
    assert not any("give a corner" in note for note in right.notes)


def test_corners_have_the_units_of_their_coordinate():
    data = curvilinear("corner")
    for name in ("lat", "lon"):
        key = f"{name}_of_corners"
        data[key] = np.deg2rad(data[key])
        data[name] = np.deg2rad(data[name]).assign_attrs({**data[name].attrs, "units": "radians"})
    assert np.allclose(fields(data).grid.latitude, fields(curvilinear()).grid.latitude, atol=1e-9)


def nothing(data):
    data.lat_of_corners.values[3, 4] = np.nan


def points(data):
    data.lat_of_corners.values[:] = data.lat.values[..., None]
    data.lon_of_corners.values[:] = data.lon.values[..., None]


def elsewhere(data):
    data.lat_of_corners.values[:] += 9


@pytest.mark.parametrize(
    ("change", "words"), [(nothing, "missing"), (points, "enclose nothing"), (elsewhere, "elsewhere than their own")]
)
def test_corners_that_cannot_be_right_are_not_used_and_said(change, words):
    data, plain = curvilinear(), fields(curvilinear().drop_vars(["lat_of_corners", "lon_of_corners"]))
    change(data)
    found = fields(data)
    assert np.array_equal(found.grid.area, plain.grid.area)
    assert any("The corners of `lat` and `lon` are not used: some" in n and words in n for n in found.notes)


def test_cells_without_a_position_need_no_corners():
    data = curvilinear()
    for name in ("lat", "lon"):
        data[name].values[:3, :3] = np.nan
        data[f"{name}_of_corners"].values[:3, :3] = np.nan
    area = fields(data).grid.area
    assert (area[:3, :3] == 0).all()
    assert np.allclose(area[5:] / area[5, 5], WANTED[5:] / WANTED[5, 5], rtol=1e-8)


def test_cells_that_tile_the_sphere_have_its_area():
    """A globe of uneven rows whose poles and seam are cells' edges."""
    y, x = np.meshgrid(np.linspace(-90, 90, 13) - 4 * np.sin(np.linspace(0, 2 * np.pi, 13)), np.linspace(0, 360, 25),
                       indexing="ij")  # fmt: skip
    assert solid_angles(unit_vectors(around(y), around(x))).sum() == pytest.approx(4 * np.pi, rel=1e-12)


@pytest.mark.parametrize("place", ["middle", "corner"])
def test_long_cells_near_a_pole_are_cells_too(place, monkeypatch):
    """Meridians 5° apart up to 89.5° N: cells of up to fifty to one, looked at in blocks of few rows."""
    monkeypatch.setattr("deconditioning.fields.grids.cell_corners._AT_ONCE", 100)
    y, x = np.meshgrid(np.arange(60, 90, 0.5), np.arange(0, 200, 5.0), indexing="ij")
    y = y + 0.01 * np.sin(np.deg2rad(3 * x))
    north, east = around(y), around(x)
    latitude, longitude = middles(north, east) if place == "middle" else (north[..., 0], east[..., 0])
    dims = ("j", "i")
    data = xr.Dataset({"t": (dims, smooth(latitude, longitude), {"coordinates": "lat lon"}),
                       "lat_bnds": ((*dims, "k"), north.astype("f4")), "lon_bnds": ((*dims, "k"), east.astype("f4"))},
                      {"lat": (dims, latitude, {"units": "degrees_north", "bounds": "lat_bnds"}),
                       "lon": (dims, longitude, {"units": "degrees_east", "bounds": "lon_bnds"})})  # fmt: skip
    found = fields(data)
    wanted = girard(north, east)
    assert np.allclose(found.grid.area, wanted / wanted.mean(), rtol=2e-3)
    assert np.allclose(found.grid.latitude, middles(north, east)[0], atol=1e-4)
    assert any("give a corner" in note for note in found.notes) == (place == "corner")
