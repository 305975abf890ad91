"""Way (b): covariates here, a coarse target there, a mediator between them."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from deconditioning.errors import InputError
from deconditioning.fields.grids.blocks import reaggregate
from deconditioning.fields.grids.grid import make_grid
from deconditioning.fields.grids.regridding import facing, sample
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.two_files import make_problem_from_files
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.fields.units import convert
from tests.core.fields.samples import fields, rectilinear, region, rotated_dataset, smooth

SPEC = DownscalingSpec("t", ("orog",), ("q",), (4, 6))


def coarse_copy(data: xr.Dataset, rows: int = 4, columns: int = 6) -> xr.Dataset:
    """Area-weighted means by xarray, as another centre would publish them."""
    grid = fields(data).grid
    weights = xr.DataArray(grid.area, dims=("lat", "lon"))
    means = (data * weights).coarsen(lat=rows, lon=columns).sum() / weights.coarsen(lat=rows, lon=columns).sum()
    means = means.assign_coords(lat=data.lat.coarsen(lat=rows).mean(), lon=data.lon.coarsen(lon=columns).mean())
    for name in data.variables:
        means[name].attrs = dict(data[name].attrs)
    return means


def split(data: xr.Dataset | None = None):
    data = region() if data is None else data
    return fields(data[["orog", "q"]]), fields(coarse_copy(data)[["t", "q"]])


def test_direct_matching_of_nested_files_is_way_a():
    data = region()
    spec = DownscalingSpec("t", ("orog",), block=(4, 6), withhold=0.25)
    one = make_problem(fields(data), spec)
    two = make_problem_from_files(*split(data), None, spec)
    assert two.truth is None and np.array_equal(one.observed, two.observed)
    assert np.allclose(one.coarse_truth, two.coarse_truth) and np.array_equal(one.cell, two.cell)
    assert np.allclose(one.data.bags.inputs, two.data.bags.inputs) and np.allclose(one.data.targets, two.data.targets)
    assert np.allclose(one.data.bags.weights, two.data.bags.weights)


def test_indirect_bags_are_all_blocks_and_withheld_cells_keep_their_score():
    high, low = split()
    found = make_problem_from_files(high, low, None, SPEC)
    assert found.data.bags.count == 72 and len(found.data.targets) == 36 and not found.matched
    assert (~found.observed).sum() == 36 and np.isfinite(found.coarse_truth).all()
    assert np.isnan(found.coarse[~found.observed]).all()
    assert np.array_equal(found.bag_cell, np.arange(72))  # nested: block j lies in cell j
    # the same cell's mediator is the same number from either file
    rows = found.target_cell
    assert np.allclose(found.data.mediators[rows], found.data.query_mediators, atol=1e-9)
    assert "target: test" in found.source and any("truth is available" in note for note in found.notes)


def test_units_that_differ_are_converted_or_refused():
    high, low = split()
    base = make_problem_from_files(high, low, None, SPEC)
    changed = low.dataset.assign(q=low.dataset.q / 1000)
    changed.q.attrs["units"] = "kg kg-1"
    other = make_problem_from_files(high, fields(changed), None, SPEC)
    assert np.allclose(base.data.query_mediators, other.data.query_mediators)
    assert any("converted from kg kg-1 to g kg-1" in note for note in other.notes)
    changed.q.attrs["units"] = "Pa"
    with pytest.raises(InputError, match="`q` has units 'Pa' in one file and 'g kg-1' in the other"):
        make_problem_from_files(high, fields(changed), None, SPEC)
    changed.q.attrs.pop("units")
    assert any("assumed to be the same" in n for n in make_problem_from_files(high, fields(changed), None, SPEC).notes)


@pytest.mark.parametrize(
    ("value", "have", "want", "expected"),
    [
        (20, "degC", "K", 293.15),
        (50, "degF", "Celsius", 10),
        (1013, "mb", "Pa", 101300),
        (50, "%", "1", 0.5),
        (36, "km/h", "m s**-1", 10),
    ],
)
def test_conversions(value, have, want, expected):
    assert convert(np.array([value], dtype=float), have, want, "v")[0] == pytest.approx(expected)


def test_one_unit_has_one_spelling():
    for other in ("m s**-1", "m/s", "m s^-1", "m.s-1", "m s⁻¹", "meter second-1"):
        assert convert(np.ones(1), "m s-1", other, "v")[1] is None


def test_a_mediator_in_a_third_file_is_sampled_onto_both():
    high, low = split()
    third = rectilinear(np.arange(18, 60, 0.5), np.arange(-14, 42, 0.5))[["q"]]
    latitude, longitude = np.meshgrid(third.lat, third.lon, indexing="ij")
    third["q"].values[:] = smooth(latitude, longitude)
    spec = DownscalingSpec("t", ("orog",), ("q",), (4, 6), coordinates=False)
    found = make_problem_from_files(high, low, fields(third), spec)
    assert sum("from the mediator file" in note for note in found.notes) == 1
    raw = smooth(found.coarse_grid.latitude, found.coarse_grid.longitude).ravel()
    columns = found.data.mediators[:, 0].numpy(), found.data.query_mediators[:, 0].numpy()
    assert np.corrcoef(columns[0], raw)[0, 1] > 0.999
    assert np.corrcoef(columns[1], raw[found.target_cell])[0, 1] > 0.999
    assert np.allclose(columns[0][found.target_cell], columns[1])


def test_sampling_down_and_up():
    fine = make_grid("latlon", np.arange(20.25, 60, 0.5), np.arange(-10.25, 40, 0.5))
    cells = make_grid("latlon", np.arange(22, 58, 3.0), np.arange(-8, 38, 4.0))
    values = smooth(fine.latitude, fine.longitude)
    means, how = sample(fine, values, cells)
    assert "by overlap" in how and np.abs(means - smooth(cells.latitude, cells.longitude).ravel()).max() < 0.2
    back, how = sample(cells, means.reshape(cells.shape), fine)
    inside = np.isfinite(back)
    assert "bilinear" in how and 0.6 < inside.mean() < 1  # nothing is said beyond the coarse cells
    assert np.abs(back - values.ravel())[inside].max() < 2.0
    linear, _ = sample(cells, 2 * cells.latitude + cells.longitude, fine)
    middle = (fine.latitude > 22) & (fine.latitude < 55) & (fine.longitude > -8) & (fine.longitude < 36)
    assert np.allclose(linear.reshape(fine.shape)[middle], (2 * fine.latitude + fine.longitude)[middle])


@pytest.mark.parametrize("start", [0.0, -180.0])
def test_a_global_coarse_file_around_greenwich(start):
    """A region across 0° lies on the seam of a 0–360 file, which is moved out of the way."""
    world = rectilinear(np.linspace(-87.5, 87.5, 36), start + np.arange(2.5, 360, 5.0))
    high = region()
    found = make_problem_from_files(fields(high[["orog", "q"]]), fields(world[["t", "q"]]), None, SPEC)
    assert found.coarse_grid.shape[1] <= 13 and found.coarse_grid.x[0] < -9 < 38 < found.coarse_grid.x[-1]
    own = found.coarse_truth - (smooth(found.coarse_grid.latitude, found.coarse_grid.longitude))
    assert np.abs(own).max() < 30  # the noise of the file alone: values stayed with their places
    reached = np.unique(found.cell[found.cell >= 0])
    rows = found.grid.latitude.ravel(), found.grid.longitude.ravel(), found.cell.ravel()
    for c in reached[::7]:
        assert np.abs(rows[0][rows[2] == c] - found.coarse_grid.latitude.flat[c]).max() <= 2.5
        assert np.abs(rows[1][rows[2] == c] - found.coarse_grid.longitude.flat[c]).max() <= 2.5


def test_facing_keeps_every_value_at_its_place():
    world = fields(rectilinear(np.linspace(-87.5, 87.5, 36), np.arange(0, 360, 5.0)))
    grid, order = facing(world, 10.0)
    assert np.allclose(grid.longitude, world.grid.longitude[:, order]) and abs(grid.x.mean() - 10) < 6
    assert np.all(np.diff(grid.x) > 0)


def test_coarse_latitudes_under_a_rotated_grid():
    high = rotated_dataset()
    low = rectilinear(np.arange(47, 58.5, 1.0), np.arange(-9, 5.5, 1.0))
    spec = DownscalingSpec("q", ("h",), block=(5, 5), matching="direct", withhold=0.2)
    found = make_problem_from_files(fields(high), fields(low), None, spec)
    assert found.columns[:2] == ("grid_latitude", "grid_longitude") and found.coarse_grid.kind == "latlon"
    inside = found.cell >= 0
    cells = found.coarse_grid
    assert np.abs(found.grid.latitude - np.append(cells.latitude.ravel(), 0)[found.cell])[inside].max() <= 0.5 + 1e-9
    # coarse coordinates are in the rotated system: the bag's mean coordinate is near its cell's
    bag_means = found.data.bags.mean(found.data.bags.inputs[:, :2])
    spread = found.data.bags.inputs[:, :2].std()
    assert (bag_means - found.data.mediators[:, :2]).abs().max() < 0.5 * spread


def test_files_apart_need_a_mediator():
    high, _ = split()
    far = fields(rectilinear(np.arange(-60, -20, 2.0), np.arange(100, 160, 2.0))[["t", "q"]])
    with pytest.raises(InputError, match="do not overlap"):
        make_problem_from_files(high, far, None, DownscalingSpec("t", ("orog",), block=(4, 6)))
    found = make_problem_from_files(high, far, None, SPEC)
    assert found.mediator_columns[:3] == ("sphere_x", "sphere_y", "sphere_z") and (found.cell == -1).all()
    assert (found.bag_cell == -1).all() and any("do not overlap" in note for note in found.notes)
    assert np.isnan(reaggregate(found, np.ones(found.grid.shape))).all()


def test_times_that_differ_are_said():
    data = region()
    when = [np.array([t], dtype="datetime64[ns]") for t in ("2001-01-01", "2002-02-02")]
    high, low = data[["orog", "q"]].expand_dims(time=when[0]), coarse_copy(data)[["t", "q"]].expand_dims(time=when[1])
    cloud = fields(high.rename(orog="cloud"))
    found = make_problem_from_files(cloud, fields(low), None, replace(SPEC, covariates=("cloud",)))
    assert not any("2001" in note for note in make_problem_from_files(fields(high), fields(low), None, SPEC).notes)
    assert any("2001-01-01T00:00" in n and "2002-02-02T00:00" in n for n in found.notes)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (DownscalingSpec("nothing", ("orog",), ("q",), (4, 6)), "no variable `nothing`"),
        (DownscalingSpec("t", ("orog",), ("nothing",), (4, 6)), "in none of the files"),
        (DownscalingSpec("t", ("t2",), ("q",), (4, 6)), "no variable `t2`"),
        (DownscalingSpec("t", ("orog",), ("q",), (40, 6)), "larger than the grid"),
        (DownscalingSpec("t", ("orog",), ("q",), (18, 16)), "Only 6 coarse cells have covariates"),
        (DownscalingSpec("t", ("orog",), ("q",), (4, 6), withhold=0.95), "Only 4 coarse cells have a visible target"),
    ],
)
def test_wrong_pairs_are_one_sentence(spec, words):
    with pytest.raises(InputError, match=words):
        make_problem_from_files(*split(), None, spec)
