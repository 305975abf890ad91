"""Coarsening against loops, xarray and xarray-regrid; what holds for any partition."""

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from deconditioning.errors import InputError
from deconditioning.fields.grids.blocks import coarse_grid, whole_blocks
from deconditioning.fields.grids.grid import make_grid
from deconditioning.fields.grids.pixel_shares import Shares
from tests.core.fields.samples import fields, region


def brute_force(values, area, block):
    """Cell means by loops over pixels."""
    ny, nx = values.shape[0] // block[0], values.shape[1] // block[1]
    out = np.full((ny, nx), np.nan)
    for i in range(ny):
        for j in range(nx):
            total = valid = mass = 0.0
            for r in range(i * block[0], (i + 1) * block[0]):
                for c in range(j * block[1], (j + 1) * block[1]):
                    total += area[r, c]
                    if np.isfinite(values[r, c]):
                        valid += area[r, c]
                        mass += area[r, c] * values[r, c]
            if valid >= 0.5 * total - 1e-9:
                out[i, j] = mass / valid
    return out


@pytest.mark.parametrize("block", [(4, 6), (1, 48), (9, 9), (36, 2)])
def test_means_equal_a_loop(block):
    grid = fields(region()).grid
    (rows, columns), _ = whole_blocks(grid, block)
    grid = grid.window(rows, columns)
    rng = np.random.default_rng(0)
    values = rng.standard_normal(grid.shape)
    values[rng.random(grid.shape) < 0.45] = np.nan
    _, index = coarse_grid(grid, block)
    found = Shares.whole(index, index.max() + 1).mean(values, grid.area)
    assert np.allclose(found, brute_force(values, grid.area, block).ravel(), equal_nan=True)


def test_means_equal_xarray_weighted_coarsening():
    data = region()
    found = fields(data)
    weights = xr.DataArray(found.grid.area, dims=("lat", "lon"))
    expected = (data.t * weights).coarsen(lat=6, lon=8).sum() / weights.coarsen(lat=6, lon=8).sum()
    _, index = coarse_grid(found.grid, (6, 8))
    assert np.allclose(
        Shares.whole(index, 36).mean(found.values("t"), found.grid.area), expected.values.ravel(), atol=1e-12
    )


def test_means_equal_conservative_regridding():
    import xarray_regrid  # noqa: F401

    data = region()
    grid = fields(data).grid
    cells, index = coarse_grid(grid, (6, 8))
    onto = xr.Dataset(coords={"latitude": cells.y, "longitude": cells.x})
    source = data[["t"]].rename(lat="latitude", lon="longitude")
    expected = source.regrid.conservative(onto, latitude_coord="latitude").t
    found = Shares.whole(index, cells.area.size).mean(data.t.values, grid.area)
    # the regridder weights latitudes a little differently (cos φ); the unweighted mean is farther away
    assert np.abs(found - expected.values.ravel()).max() < 2e-3
    plain = Shares.whole(index, cells.area.size).mean(data.t.values, np.ones(grid.shape))
    assert np.abs(plain - expected.values.ravel()).max() > 5e-2


def test_bounds_equal_those_of_cf_xarray():
    import cf_xarray  # noqa: F401

    data = region()
    grid = fields(data).grid
    bounds = data.cf.add_bounds(["lat", "lon"])
    assert np.allclose(np.stack([grid.y_edges[:-1], grid.y_edges[1:]], -1), bounds.lat_bounds)
    assert np.allclose(np.stack([grid.x_edges[:-1], grid.x_edges[1:]], -1), bounds.lon_bounds)


@settings(max_examples=60)
@given(
    shape=st.tuples(st.integers(2, 30), st.integers(2, 30)),
    block=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    seed=st.integers(0, 10_000),
)
def test_any_partition(shape, block, seed):
    rng = np.random.default_rng(seed)
    y = np.sort(rng.uniform(-80, 80, shape[0])) + 0.01 * np.arange(shape[0])
    grid = make_grid("latlon", y, np.cumsum(rng.uniform(0.5, 2, shape[1])))
    if shape[0] < block[0] or shape[1] < block[1]:
        with pytest.raises(InputError, match="larger than the grid"):
            whole_blocks(grid, block)
        return
    window, notes = whole_blocks(grid, block)
    cut = grid.window(*window)
    assert bool(notes) == (cut.shape != grid.shape) and min(np.subtract(grid.shape, cut.shape)) >= 0
    cells, index = coarse_grid(cut, block)
    count = cells.area.size
    assert np.array_equal(np.bincount(index.ravel(), minlength=count), np.full(count, block[0] * block[1]))
    values = rng.standard_normal(cut.shape)
    blocks = Shares.whole(index, count)
    means = blocks.mean(values, cut.area)
    # the area-weighted mean of means is the mean; every mean lies among its cell's values
    assert np.average(means, weights=cells.area.ravel()) == pytest.approx(
        np.average(values, weights=cut.area), abs=1e-9
    )
    assert np.all(means <= [values[index == c].max() + 1e-12 for c in range(count)])
    assert np.allclose(blocks.mean(np.full(cut.shape, 3.7), cut.area), 3.7)
    valid = rng.random(cut.shape) < 0.5
    covered, total = blocks.valid_area(valid, cut.area)
    missing = np.isnan(blocks.mean(np.where(valid, values, np.nan), cut.area))
    sure = np.abs(covered - 0.5 * total) > 1e-9
    assert np.array_equal(missing[sure], (covered < 0.5 * total)[sure])
