"""Positions and areas against pyproj and closed forms."""

import numpy as np
import pytest
from pyproj import CRS, Transformer

from deconditioning.errors import InputError
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.grids import sphere
from deconditioning.fields.grids.blocks import coarse_grid
from deconditioning.fields.grids.grid import make_grid
from deconditioning.fields.grids.interpolate import locate
from deconditioning.fields.problem.coordinates import kilometres
from tests.core.fields.samples import fields, region, rotated_dataset


def global_grid(rows=18, columns=36):
    step = 360 / columns
    y = -90 + 180 / rows * (np.arange(rows) + 0.5)
    return make_grid("latlon", y, np.arange(columns) * step, wraps=True)


@pytest.mark.parametrize("pole", [(37.5, 177.5, 0.0), (39.25, -162.0, 0.0), (30.0, 10.0, 25.0), (90.0, 180.0, 0.0)])
def test_rotated_pole_equals_pyproj(pole):
    mapping = {
        "grid_mapping_name": "rotated_latitude_longitude",
        "grid_north_pole_latitude": pole[0],
        "grid_north_pole_longitude": pole[1],
        "north_pole_grid_longitude": pole[2],
    }
    y, x = np.meshgrid(np.linspace(-60, 60, 13), np.linspace(-170, 170, 18), indexing="ij")
    latitude, longitude = sphere.true_position("rotated", y, x, mapping)
    rotation = f"+o_lon_p={pole[2]} +o_lat_p={pole[0]} +lon_0={180 + pole[1]}"
    text = f"+proj=ob_tran +o_proj=longlat {rotation} +R=1 +to_meter=0.0174532925199433"
    turn = Transformer.from_crs(CRS.from_proj4("+proj=longlat +R=1"), CRS.from_proj4(text), always_xy=True)
    expected = turn.transform(x, y, direction="INVERSE")
    assert np.allclose(
        sphere.unit_vectors(latitude, longitude), sphere.unit_vectors(expected[1], expected[0]), atol=1e-9
    )
    back = sphere.native_position("rotated", latitude, longitude, mapping)
    assert np.allclose(sphere.unit_vectors(*back), sphere.unit_vectors(y, x), atol=1e-9)


def test_a_unit_of_the_scaled_coordinates_is_known_in_kilometres():
    degrees = np.linspace(-1, 1, 9)  # at the equator a degree is as long either way
    assert kilometres(make_grid("latlon", degrees, degrees)) == pytest.approx(np.std(degrees) * 111.195, rel=1e-3)
    whole = global_grid()
    spread = sphere.unit_vectors(whole.latitude, whole.longitude).reshape(-1, 3).std(0)
    assert kilometres(whole) == pytest.approx(6371 * np.sqrt(np.mean(spread**2)), rel=1e-6)


def test_global_areas_make_a_sphere():
    grid = global_grid()
    assert grid.steradians().sum() == pytest.approx(4 * np.pi, rel=1e-12)
    assert grid.area.mean() == pytest.approx(1)
    assert grid.area[0, 0] < grid.area[9, 0] / 5
    expected = np.cos(np.deg2rad(grid.y))  # Δ sin φ = 2 sin(Δφ/2) cos φ at the middle
    assert np.allclose(grid.area[:, 0] / expected, grid.area[0, 0] / expected[0])


def test_rotated_area_uses_the_rotated_latitude():
    grid = fields(rotated_dataset()).grid
    assert grid.kind == "rotated" and np.all(np.diff(grid.x) > 0) and grid.x[0] == pytest.approx(-3)
    assert np.allclose(grid.area, grid.area[:, :1])
    assert np.allclose(grid.area[:, 0] / grid.area[15, 0], np.cos(np.deg2rad(grid.y)))
    # a second route to solid angles: true positions and central differences
    from deconditioning.fields.grids.grid import _jacobian_areas

    inner = _jacobian_areas(grid.latitude, grid.longitude)[2:-2, 2:-2]
    assert np.allclose(inner, grid.steradians()[2:-2, 2:-2], rtol=1e-4)


def test_projected_grid_by_its_mapping():
    import xarray as xr

    crs = CRS.from_epsg(3035)
    y, x = np.arange(2_500_000, 2_800_000, 25_000.0), np.arange(4_000_000, 4_400_000, 25_000.0)
    data = xr.Dataset(
        {
            "t": (("y", "x"), np.ones((12, 16)) * np.arange(16), {"units": "K", "grid_mapping": "crs"}),
            "crs": ((), 0, crs.to_cf()),
        },
        {"y": ("y", y[::-1] / 1000, {"units": "km"}), "x": ("x", x, {"units": "m"})},
    )
    found = fields_from_dataset(data)
    assert found.grid.kind == "projected" and np.allclose(found.grid.y, y) and np.allclose(found.grid.area, 1)
    longitude, latitude = Transformer.from_crs(crs, 4326, always_xy=True).transform(x[3], y[5])
    assert found.grid.latitude[5, 3] == pytest.approx(latitude, abs=1e-6)
    assert found.grid.longitude[5, 3] == pytest.approx(longitude, abs=1e-6)
    assert any("km" in note for note in found.notes) and any("descending" in note for note in found.notes)


@pytest.mark.parametrize("make", [lambda: fields(region()).grid, lambda: fields(rotated_dataset()).grid, global_grid])
def test_every_cell_is_found_at_its_own_centre(make):
    grid = make()
    assert np.array_equal(locate(grid, grid.latitude.ravel(), grid.longitude.ravel()), np.arange(grid.area.size))
    assert grid.wraps or locate(grid, np.array([-80.0]), np.array([100.0]))[0] == -1


def test_window_keeps_the_cells_and_their_edges():
    grid = global_grid()
    part = grid.window(slice(2, 12), slice(0, 34))
    assert part.wraps and part.shape == (10, 34) and part.area.mean() == pytest.approx(1)
    assert np.array_equal(part.y_edges, grid.y_edges[2:13]) and np.allclose(
        part.steradians(), grid.steradians()[2:12, :34]
    )
    assert not grid.window(slice(2, 12), slice(0, 10)).wraps


def test_coarse_areas_are_sums_and_positions_means():
    grid = global_grid()
    cells, _ = coarse_grid(grid, (3, 4))
    assert cells.shape == (6, 9) and cells.wraps
    assert cells.steradians().sum() == pytest.approx(4 * np.pi)
    expected = cells.steradians() / cells.steradians().mean()
    assert np.allclose(cells.area, expected)
    assert cells.y[0] == pytest.approx(grid.y[:3].mean())


def test_too_many_cells_are_refused_before_memory_is_taken():
    with pytest.raises(InputError, match="100,000 × 100,000"):
        make_grid("latlon", np.linspace(-80, 80, 100_000), np.linspace(0, 300, 100_000))
