"""Cell means weighted by a field, and sums over cells: against plain loops, and what does not change."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import shapely

from deconditioning.downscaling.run import downscale
from deconditioning.errors import InputError
from deconditioning.fields.footprints.region_data import Regions
from deconditioning.fields.footprints.regions import make_problem_from_regions
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.grids.blocks import reaggregate
from deconditioning.fields.grids.sphere import EARTH_KM
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.two_files import make_problem_from_files
from deconditioning.fields.spec import DownscalingSpec
from tests.core.fields.samples import rectilinear

SPEC = DownscalingSpec("t", ("orog",), block=(4, 4), withhold=0.2, weights="people")


def dataset():
    """Temperatures, heights, and people: none in one corner, a gap, few or many elsewhere."""
    data = rectilinear(40.125 + 0.25 * np.arange(24), 5.125 + 0.25 * np.arange(32))
    people = np.random.default_rng(2).lognormal(0, 1.5, data.t.shape)
    people[:4, :4], people[10, 12] = 0.0, np.nan
    return data.assign(people=(data.t.dims, people, {"units": "1"}))


def test_means_over_blocks_are_weighted_by_the_field() -> None:
    data = dataset()
    found = make_problem(fields_from_dataset(data), SPEC)
    mass = np.nan_to_num(data.people.values) * found.grid.area
    by_cell = lambda v: v.reshape(6, 4, 8, 4).sum(axis=(1, 3))  # noqa: E731
    with np.errstate(invalid="ignore"):
        wanted = by_cell(mass * data.t.values) / by_cell(mass)
    assert np.isnan(found.coarse_truth[0, 0]) and np.isnan(wanted[0, 0])  # nobody lives there
    assert np.allclose(found.coarse_truth, wanted, equal_nan=True, rtol=1e-12)
    bags = found.data.bags
    truth = found.data.targets.new_tensor(data.t.values.flat[found.pixel[found.bag_pixel]])
    assert np.allclose(bags.mean(truth), found.coarse.flat[found.target_cell], rtol=1e-12)
    assert np.allclose(reaggregate(found, data.t.values), wanted, equal_nan=True, rtol=1e-12)
    assert "Cell means are weighted by area times `people`." in found.notes
    result = downscale(found, {"learn": False})
    back = reaggregate(found, result.mean)[found.observed]
    assert np.abs(back - found.coarse[found.observed]).max() < 1e-2 * found.target_scale.sd


def test_weights_of_one_change_nothing() -> None:
    data = dataset().assign(one=lambda d: d.t * 0 + 3.0)
    plain, ones = (make_problem(fields_from_dataset(data), replace(SPEC, weights=w)) for w in (None, "one"))
    assert np.array_equal(plain.coarse_truth, ones.coarse_truth, equal_nan=True)
    assert np.allclose(plain.data.bags.weights, ones.data.bags.weights)
    assert "weights" not in plain.spec.to_dict() and DownscalingSpec.from_dict(ones.spec.to_dict()) == ones.spec


def test_cells_of_a_file_and_regions_are_weighted_too() -> None:
    data = dataset()
    fine = fields_from_dataset(data)
    mass = np.nan_to_num(data.people.values) * fine.grid.area
    cells = make_problem(fine, SPEC)
    low = rectilinear(cells.coarse_grid.y, cells.coarse_grid.x).drop_vars(["orog", "q"])
    low.t.values[:] = np.where(np.isfinite(cells.coarse_truth), cells.coarse_truth, 280)
    two = make_problem_from_files(fine, fields_from_dataset(low), None, replace(SPEC, withhold=0.0))
    assert 0 not in two.target_cell  # the cell without people has no weight
    truth = two.data.targets.new_tensor(data.t.values.flat[two.pixel[two.bag_pixel]])
    assert np.allclose(two.data.bags.mean(truth), two.coarse.flat[two.target_cell], rtol=1e-9)
    boxes = [shapely.box(5 + 2 * i, 40 + 1.5 * j, 7 + 2 * i, 41.5 + 1.5 * j) for i in range(4) for j in range(4)]
    regions = Regions(np.array(boxes, dtype=object), np.zeros(16), tuple("abcdefghijklmnop"), "K")
    value = []
    for i in range(4):
        for j in range(4):
            part = slice(6 * j, 6 * j + 6), slice(8 * i, 8 * i + 8)
            value.append((mass[part] * data.t.values[part]).sum() / mass[part].sum())
    found = make_problem_from_regions(fine, replace(regions, value=np.array(value)), replace(SPEC, withhold=0.0))
    truth = found.data.targets.new_tensor(data.t.values.flat[found.pixel[found.bag_pixel]])
    assert np.allclose(found.data.bags.mean(truth), found.coarse.flat[found.target_cell], rtol=1e-12)


@pytest.mark.parametrize("methods", ["area: sum", "time: mean lat: lon: sum"])
def test_a_sum_over_cells_is_a_density(methods: str) -> None:
    data = dataset()
    data.t.attrs |= {"cell_methods": methods, "units": "kg"}
    found = make_problem(fields_from_dataset(data), replace(SPEC, weights=None))
    area = found.grid.steradians() * EARTH_KM**2
    total = data.t.values.reshape(6, 4, 8, 4).sum(axis=(1, 3))
    assert np.allclose(found.coarse_truth, total / area.reshape(6, 4, 8, 4).sum(axis=(1, 3)), rtol=1e-10)
    assert found.units == "kg km-2" and any("is a sum over each cell" in note for note in found.notes)
    low = rectilinear(found.coarse_grid.y, found.coarse_grid.x).drop_vars(["orog", "q"])
    low.t.values[:] = total
    low.t.attrs |= {"cell_methods": methods, "units": "kg"}
    fine = fields_from_dataset(data.drop_vars("t"))
    two = make_problem_from_files(fine, fields_from_dataset(low), None, replace(SPEC, weights=None, withhold=0.0))
    assert np.allclose(two.coarse_truth, found.coarse_truth, rtol=1e-6) and two.units == "kg km-2"
    with pytest.raises(InputError, match="no mean weighted by `people`"):  # the sum over area is that of equal weights
        make_problem_from_files(fine, fields_from_dataset(low), None, SPEC)


def test_a_sum_over_time_is_no_sum_over_cells() -> None:
    data = dataset()
    data.t.attrs["cell_methods"] = "time: sum"
    assert make_problem(fields_from_dataset(data), replace(SPEC, weights=None)).units == "K"


@pytest.mark.parametrize("values", [-1.0, 0.0])
def test_weights_that_are_none_are_refused(values: float) -> None:
    data = dataset().assign(people=lambda d: d.t * 0 + values)
    with pytest.raises(InputError, match="The weights `people`"):
        make_problem(fields_from_dataset(data), SPEC)


def test_the_command_takes_weights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from deconditioning.cli.program import main

    dataset().to_netcdf(tmp_path / "fine.nc", engine="h5netcdf")
    code = main(
        ["downscale", str(tmp_path / "fine.nc"), "--target", "t", "--covariates", "orog", "--block", "4", "4",
         "--weights", "people", "--no-learn", "--json", str(tmp_path / "o.json")]
    )  # fmt: skip
    assert code == 0 and "weighted by area times `people`" in capsys.readouterr().err
