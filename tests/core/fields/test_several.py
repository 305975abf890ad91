"""Several files as one: dates joined, grids carried, what contradicts itself refused; static fields have no date."""

import numpy as np
import pytest
import xarray as xr

from deconditioning.errors import InputError
from deconditioning.fields.grids.regridding import sample
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.two_files import make_problem_from_files
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.several import joined, keys_of, places, together
from deconditioning.fields.spec import DownscalingSpec
from tests.core.fields.samples import fields, rectilinear, region, rotated_dataset

DATES = np.array(["2001-01-15", "2001-02-15", "2001-03-15", "2001-04-15"], dtype="M8[ns]")


def dated(dates=DATES) -> xr.Dataset:
    """`t` grows by one at each date."""
    data = region(12, 16)
    steps = xr.DataArray(np.arange(4.0), dims="time", coords={"time": DATES})
    return data.assign(t=(data.t + steps).transpose("time", "lat", "lon").assign_attrs(data.t.attrs)).sel(time=dates)


def orography(**more) -> xr.Dataset:
    """Twice as fine, under a date that means nothing."""
    fine = rectilinear(20.25 + 0.5 * np.arange(24), -9.75 + 0.5 * np.arange(32))[["orog"]].rename(orog="surface")
    fine.surface.attrs |= {"standard_name": "surface_altitude", "units": "m"}
    return fine.expand_dims(time=[np.datetime64("2100-01-01", "ns")]).assign_attrs(more)


@pytest.fixture
def folder(tmp_path):
    for number in range(4):
        dated(DATES[number : number + 1]).to_netcdf(tmp_path / f"t_{4 - number}.nc", engine="h5netcdf")
    orography().to_netcdf(tmp_path / "z.nc", engine="h5netcdf")
    return tmp_path


def test_a_pattern_a_folder_and_a_list_are_the_same_series(folder):
    listed = joined([str(folder / f"t_{n}.nc") for n in (2, 4, 1, 3)])
    for place in (str(folder / "t_*.nc"), listed):
        found = open_fields(place)
        labels = found.variables()["t"].extra["time"]
        assert labels == tuple(f"2001-0{month}-15 00:00" for month in (1, 2, 3, 4))
        for month in range(4):  # by index and by date, wherever the file lies
            np.testing.assert_array_equal(found.values("t", {"time": month}), dated().t[month])
            np.testing.assert_array_equal(found.values("t", {"time": f"2001-0{month + 1}"}), dated().t[month])
        assert found.when_and_where("t", {"time": 2})[0] == "15 March 2001, 00:00 UTC"
        assert "`time=#2`" in found.selection_notes("t", {"time": 2})[0]
    assert sorted(open_fields(folder).variables()) == ["orog", "q", "surface", "t"]
    assert keys_of(listed)[0].endswith("t_2.nc") and len(places(str(folder))) == 5
    assert sum("in 4 files" in note for note in found.notes) == 2  # orog and q have no date


def test_the_joined_series_is_what_xarray_makes_of_it(folder):
    files = sorted(folder.glob("t_*.nc"))
    whole = xr.concat([xr.open_dataset(f, engine="h5netcdf") for f in files], "time", data_vars=["t"]).sortby("time")
    found = open_fields(str(folder / "t_*.nc"))
    for month in range(4):
        np.testing.assert_array_equal(found.values("t", {"time": month}), whole.t[month])


def test_a_covariate_of_another_file_is_carried_and_its_dummy_date_is_none(folder):
    found = open_fields(joined([str(folder / "t_4.nc"), str(folder / "z.nc")]))
    fine = fields(orography())
    np.testing.assert_array_equal(found.values("surface"), sample(fine.grid, fine.values("surface"), found.grid)[0]
                                  .reshape(found.grid.shape))  # fmt: skip
    note = next(note for note in found.notes if "remapped" in note)
    assert "`surface` of z.nc" in note and "weighted by overlap" in note
    problem = make_problem(found, DownscalingSpec("t", ("surface",), block=(3, 4)))
    assert not any("2100" in note for note in problem.notes) and found.is_static("surface")
    assert problem.when_and_where[0].startswith("15 January 2001")
    assert str(problem.origin.coordinates["time"][0])[:10] == "2001-01-15"


def test_a_field_that_does_change_with_time_is_told_of(folder):
    cloud = orography().rename(surface="cloud")
    cloud.cloud.attrs = {"units": "1"}
    problem = make_problem(together([fields(dated()), fields(cloud)]), DownscalingSpec("t", ("cloud",), block=(3, 4)))
    assert any("The covariates are for 2100-01-01T00:00, the target for 2001-01-15T00:00" in n for n in problem.notes)
    fixed = fields(cloud.assign_attrs(frequency="fx"))
    assert fixed.is_static("cloud") and not fields(cloud).is_static("cloud")


def test_target_covariates_and_mediator_from_four_files():
    data = region()
    coarse = rectilinear(np.arange(22, 56, 4.0), np.arange(-7.5, 38, 6.0))
    covariates = together([fields(data[["orog"]]), fields(orography())])
    low, mediator = fields(coarse[["t"]]), fields(data[["q"]])
    spec = DownscalingSpec("t", ("orog", "surface"), ("q",), (4, 6), withhold=0.3)
    found = make_problem_from_files(covariates, low, mediator, spec)
    assert found.columns[-2:] == ("orog", "surface") and not any("2100" in note for note in found.notes)
    assert any("(from the mediator file)" in note for note in found.notes)
    assert found.data.bags.count < 72  # the second covariate covers a part of the region only


def test_what_contradicts_itself_is_refused(folder):
    low = fields(rectilinear(np.arange(22, 56, 4.0), np.arange(-7.5, 38, 6.0))[["t"]])
    with pytest.raises(InputError, match="`t` lies on a grid of 9 × 8 cells in test and on a grid of 36 × 48"):
        together([fields(region()), low])
    with pytest.raises(InputError, match="`t` has time 2001-01-15 00:00 in test and in test: omit one"):
        together([fields(dated(DATES[:2])), fields(dated(DATES[:1]))])
    with pytest.raises(InputError, match="has other dimensions"):
        together([fields(dated()), fields(region(12, 16)[["t"]])])
    with pytest.raises(InputError, match="no variable `x`: choose one of `t`, `orog`"):
        together([fields(dated()), fields(rotated_dataset()[["h", "pole"]])]).values("x")
    with pytest.raises(InputError, match="`h` of test covers a different region from the grid of test"):
        far = rotated_dataset(pole=(-37.5, 0.0))[["h", "pole"]]
        together([fields(region(12, 16)), fields(far)]).values("h")
    with pytest.raises(InputError, match="The target `t2` of test is on a different grid from the first file"):
        both = together([fields(region(12, 16)), fields(low.dataset.rename(t="t2"))])
        make_problem(both, DownscalingSpec("t2", ("orog",), block=(3, 4)))
    with pytest.raises(InputError, match="No file matches the pattern"):
        open_fields(str(folder / "no_*.nc"))
    (folder / "empty").mkdir()
    with pytest.raises(InputError, match="contains no file ending in"):
        open_fields(folder / "empty")
