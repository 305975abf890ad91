"""CF bounds are the edges of cells: however they are stored, and where they can't be right."""

import numpy as np
import pytest
import xarray as xr

from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.grids.grid import cell_edges
from deconditioning.fields.grids.regridding import facing
from deconditioning.fields.problem.two_files import make_problem_from_files
from deconditioning.fields.spec import DownscalingSpec

Y, X = np.linspace(40, 46, 7), np.linspace(5, 12, 8)  # edges


def cells(y: np.ndarray, x: np.ndarray, place: float = 0.5, kind: str = "f8", named: bool = True) -> xr.Dataset:
    """A field on cells between edges; coordinates at ``place`` between the lower and the upper one."""
    at, bounds = {}, {}
    for name, edges, units in (("lat", y, "degrees_north"), ("lon", x, "degrees_east")):
        attributes = {"units": units} | ({"bounds": f"{name}_edges_of_cells"} if named else {})
        at[name] = (name, (edges[:-1] + place * np.diff(edges)).astype(kind), attributes)
        bounds[f"{name}_edges_of_cells" if named else f"{name}_bnds"] = (
            (name, "two"), np.stack([edges[:-1], edges[1:]], 1).astype(kind)
        )  # fmt: skip
    values = np.add.outer(np.sin(y[:-1]), np.cos(3 * x[:-1]))
    return xr.Dataset({"t": (("lat", "lon"), values, {"units": "K"}), **bounds}, at)


@pytest.mark.parametrize("place", [0.0, 1.0, 0.5])
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("turned", [False, True])
def test_cells_lie_between_their_bounds_wherever_their_labels_are(place, named, turned):
    data = cells(Y, X, place, named=named)
    data = data.isel(lat=slice(None, None, -1), lon=slice(None, None, -1)) if turned else data
    found = fields_from_dataset(data)
    assert np.allclose(found.grid.y_edges, Y) and np.allclose(found.grid.x_edges, X)
    assert np.allclose(found.grid.y, (Y[:-1] + Y[1:]) / 2)
    assert set(found.variables()) == {"t"}
    assert sum("gives an edge of each cell" in n for n in found.notes) == (0 if place == 0.5 else 2)
    assert np.allclose(found.values("t"), np.add.outer(np.sin(Y[:-1]), np.cos(3 * X[:-1])))


@pytest.mark.parametrize(("units", "scale"), [("rad", np.pi / 180), ("degrees_west", -1.0)])
def test_bounds_have_the_units_of_their_coordinate(units, scale):
    data = cells(Y, X, 0.0).assign_coords(lon=lambda d: ("lon", d.lon.values * scale, d.lon.attrs | {"units": units}))
    data["lon_edges_of_cells"] = data.lon_edges_of_cells * scale
    assert np.allclose(fields_from_dataset(data).grid.x_edges, X)


def test_uneven_cells_keep_their_own_edges_and_areas():
    y = np.array([40, 40.5, 41.7, 43, 43.4, 46.0])
    found = fields_from_dataset(cells(y, X))
    assert np.allclose(found.grid.y_edges, y) and not np.allclose(cell_edges(found.grid.y, True), y)
    assert any("are the bounds in the file" in n for n in found.notes)
    shares = found.grid.area[:, 0] / found.grid.area[:, 0].sum()
    assert np.allclose(shares, np.diff(np.sin(np.deg2rad(y))) / np.ptp(np.sin(np.deg2rad(y))))


@pytest.mark.parametrize("kind", ["f8", "f4"])
def test_bounds_half_way_between_coordinates_change_nothing(kind):
    data = cells(Y, X, kind=kind)
    plain = fields_from_dataset(data.drop_vars(["lat_edges_of_cells", "lon_edges_of_cells"])).grid
    found = fields_from_dataset(data)
    assert np.array_equal(found.grid.y_edges, plain.y_edges) and np.array_equal(found.grid.x_edges, plain.x_edges)
    assert not any("bounds" in n for n in found.notes)


def test_a_globe_of_corner_labels_is_whole_from_pole_to_pole_and_across_its_seam():
    y, x = np.linspace(-90, 90, 19), np.linspace(0, 360, 37)
    found = fields_from_dataset(cells(y, x, 0.0))
    assert found.grid.wraps and found.grid.steradians().sum() == pytest.approx(4 * np.pi, rel=1e-12)
    turned, order = facing(found, 0.0)
    assert np.allclose(np.diff(turned.x_edges), 10) and turned.x_edges[0] == pytest.approx(-180)
    assert np.allclose(turned.x, 0.5 * (turned.x_edges[:-1] + turned.x_edges[1:]))
    assert np.allclose((turned.longitude[0] - found.grid.longitude[0][order] + 180) % 360, 180)


def overlapping(data):
    data.lat_edges_of_cells.values[2, 1] += 0.5


def empty(data):
    data.lat_edges_of_cells.values[2] = np.nan


def elsewhere(data):
    data.lat_edges_of_cells.values[:] += 3


@pytest.mark.parametrize(
    ("spoilt", "why"),
    [(overlapping, "overlap"), (empty, "missing"), (elsewhere, "do not contain their coordinate")],
)
def test_bounds_that_cannot_be_right_are_left_and_said(spoilt, why):
    data = cells(Y, X)
    spoilt(data)
    found = fields_from_dataset(data)
    assert np.allclose(found.grid.y_edges, Y)
    assert any("The bounds of `lat` are not used: " in n and why in n for n in found.notes)


def test_a_coarse_file_of_corner_labels_takes_the_right_pixels():
    """The same problem as from a file whose labels are the middles, not one half a cell away."""
    fine = cells(np.linspace(40, 46, 49), np.linspace(5, 12, 57))
    fine["orog"] = fine.t**2
    spec = DownscalingSpec("t", ("orog",), (), (8, 8), 0.0)
    problems = [
        make_problem_from_files(fields_from_dataset(fine), fields_from_dataset(cells(Y, X, place)), None, spec)
        for place in (0.0, 0.5)
    ]
    assert np.array_equal(problems[0].cell, problems[1].cell)
    assert np.array_equal(np.bincount(problems[0].cell.ravel()), np.full(42, 64))
    assert np.allclose(problems[0].data.bags.weights, problems[1].data.bags.weights)
