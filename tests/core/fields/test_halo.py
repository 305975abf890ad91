"""What ocean grids hold twice counts once; pieces that lie elsewhere and zeros for positions cost only themselves."""

import numpy as np
import pytest
import xarray as xr

from deconditioning.errors import InputError
from deconditioning.fields.grids.duplicate_cells import repeated_columns, shared_positions
from deconditioning.fields.grids.sphere import unit_vectors
from tests.core.fields.samples import fields, rectilinear, smooth
from tests.core.fields.tripolar import ocean, tripolar


def area_mean(found) -> float:
    values = found.values("tos")
    there = np.isfinite(values)
    return float((values[there] * found.grid.area[there]).sum() / found.grid.area[there].sum())


@pytest.mark.parametrize("pivot", ["T", "F"])
@pytest.mark.parametrize("halo", [0, 1, 2])
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_copies_of_a_halo_and_a_fold_count_once(pivot, halo, kind):
    latitude, longitude, copy = tripolar(pivot=pivot, halo=halo)
    turned = np.where(longitude > 180, longitude - 360, longitude) if halo else longitude
    found = fields(ocean(latitude.astype(kind), turned.astype(kind)))
    inside = latitude.shape[1] - halo
    assert found.grid.wraps and found.grid.shape == (latitude.shape[0], inside)
    assert np.array_equal(found.grid.area == 0, copy[:, :inside])
    assert np.array_equal(np.isnan(found.values("tos")), copy[:, :inside])
    assert any("along a fold of the grid and are counted once" in note for note in found.notes)
    assert any("left out" in note for note in found.notes) == (halo > 0)
    plain = fields(ocean(*tripolar(pivot=pivot, halo=0)[:2]))
    assert area_mean(found) == pytest.approx(area_mean(plain), abs=1e-4)


def test_the_mean_of_a_tripolar_grid_is_that_of_the_sphere():
    """A second way: the same field on fine latitudes and longitudes, south of the grid's edge left out."""
    found = fields(ocean(*tripolar(columns=180, rows=80, cap=28)[:2]))
    y, x = np.meshgrid(np.arange(-78.75, 90, 0.5), np.arange(0.25, 360, 0.5), indexing="ij")
    weights = np.cos(np.deg2rad(y))
    assert area_mean(found) == pytest.approx(float((smooth(y, x) * weights).sum() / weights.sum()), abs=0.05)


@pytest.mark.parametrize("flip", [False, True])
def test_a_grid_from_north_to_south_keeps_its_inner_row(flip):
    latitude, longitude, copy = (a[::-1] if flip else a for a in tripolar(pivot="F", halo=2))
    found = fields(ocean(latitude, longitude))
    assert np.array_equal(found.grid.area == 0, copy[:, :-2])


def test_no_two_cells_are_left_in_one_place():
    found = fields(ocean(*tripolar(pivot="T")[:2]))
    there = found.grid.area > 0
    places = np.round(unit_vectors(found.grid.latitude[there], found.grid.longitude[there]), 6)
    assert len(np.unique(places, axis=0)) == len(places)


def test_plain_sheets_repeat_nothing():
    y, x = np.meshgrid(np.linspace(-60, 60, 30), np.linspace(0, 350, 36), indexing="ij")
    for latitude, longitude in ((y, x), (y[:, ::-1], x), (np.linspace(30, 90, 30)[:, None] + 0 * y, x)):
        found = fields(ocean(latitude, longitude))
        assert repeated_columns(latitude, longitude) == 0 and (found.grid.area > 0).sum() >= 29 * 36


def test_zeros_for_positions_are_missing_and_said():
    y, x = np.meshgrid(np.arange(40.0), np.arange(50.0), indexing="ij")
    latitude, longitude = 30 + 0.5 * y + 0.05 * x, -20 + 0.6 * x - 0.03 * y
    want = fields(ocean(latitude.copy(), longitude.copy())).values("tos")
    data = ocean(latitude, longitude)
    hole = np.zeros(latitude.shape, dtype=bool)
    hole[10:14, 5:12] = hole[30:, 40:] = True
    data.nav_lat.values[hole] = data.nav_lon.values[hole] = 0.0
    found = fields(data)
    assert np.array_equal(np.isnan(found.values("tos")), hole) and np.array_equal(
        found.values("tos")[~hole], want[~hole]
    )
    assert any(f"{hole.sum()} of 2,000 cells have no position and count as missing." in note for note in found.notes)


def test_one_cell_at_the_equator_and_greenwich_is_a_place():
    y, x = np.meshgrid(np.arange(-5.0, 6), np.arange(-5.0, 6), indexing="ij")
    assert not shared_positions(y, x).any()
    assert (fields(ocean(y, x)).grid.area > 0).all()


def inset(size: tuple[int, int] = (10, 12)) -> xr.Dataset:
    """An ocean grid whose rows hold a sea that lies elsewhere, as ORCA2's hold the Caspian Sea."""
    latitude, longitude, _ = tripolar(halo=0)
    y, x = np.meshgrid(np.arange(size[0]), np.arange(size[1]), indexing="ij")
    part = slice(22, 22 + size[0]), slice(40, 40 + size[1])
    latitude[part], longitude[part] = 36 + y, 46 + x
    return ocean(latitude, longitude)


def test_a_sea_that_lies_elsewhere_is_read_without_its_edge():
    found = fields(inset())
    missing = found.grid.area == 0
    edge = np.zeros(missing.shape, dtype=bool)
    edge[21:33, 39:53] = True
    edge[23:31, 41:51] = False
    edge[[21, 21, 32, 32], [39, 52, 39, 52]] = False  # corners outside have no neighbour in it
    edge[-1, 45:] = True  # the fold
    assert np.array_equal(missing, edge)
    assert np.allclose(
        found.values("tos")[25:28, 45:48], smooth(*np.meshgrid([39, 40, 41], [51, 52, 53], indexing="ij"))
    )
    assert found.grid.area.max() < 6 * np.median(found.grid.area[~missing])
    assert any("The grid is in disconnected pieces" in note for note in found.notes)


def test_a_piece_of_few_cells_is_damage():
    with pytest.raises(InputError, match=r"the positions are damaged or scrambled"):
        fields(inset((2, 3)))


@pytest.mark.parametrize("copies", [1, 2, 3])
def test_longitudes_that_go_round_again_count_once(copies):
    longitude = np.arange(0.0, 360 + 5 * copies, 5)
    found = fields(rectilinear(np.arange(-60.0, 61, 5), longitude))
    assert found.grid.shape == (25, 72) and found.grid.wraps
