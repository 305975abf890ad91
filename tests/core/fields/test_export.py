"""The exported file read back, by xarray, cf-xarray and by this library itself."""

import json
from io import BytesIO

import numpy as np
import pytest
import xarray as xr

from deconditioning.fields.problem.baselines import bilinear
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.two_files import make_problem_from_files
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.fields.writing.delivery import to_netcdf_bytes
from deconditioning.fields.writing.export import to_dataset
from tests.core.fields.samples import fields, rectilinear, region, rotated_dataset


def export(found, sd=True):
    mean = bilinear(found)
    options = {"settings": {"model": "bag_gp", "noise": 0.1}, "model": "bag_gp", "seed": 4, "version": "0.1.0"}
    return mean, to_dataset(found, mean, 0.5 + 0 * mean if sd else None, baselines={"bilinear": mean}, **options)


def test_round_trip_of_values_and_words(tmp_path):
    import cf_xarray  # noqa: F401

    found = make_problem(fields(region()), DownscalingSpec("t", ("orog",), block=(4, 6)))
    mean, made = export(found)
    back = xr.open_dataset(BytesIO(to_netcdf_bytes(made)), engine="h5netcdf")
    assert np.array_equal(back["mean"], mean) and np.allclose(back["error"], mean - found.truth)
    assert np.array_equal(back["coarse"], found.coarse, equal_nan=True)
    assert np.array_equal(back["coarse_known"], found.coarse_truth)
    assert back.attrs["Conventions"] == "CF-1.11" and back.attrs["seed"] == 4
    assert json.loads(back.attrs["settings"])["noise"] == 0.1 and back.attrs["licence"] == "CC0"
    assert DownscalingSpec.from_dict(json.loads(back.attrs["problem"])) == found.spec
    assert back["mean"].attrs["standard_name"] == "air_temperature" and back["sd"].attrs["units"] == "K"
    assert back["sd"].attrs["standard_name"] == "air_temperature standard_error"
    assert back["error"].attrs["units_metadata"] == "temperature: difference"
    assert back["mean"].cf["latitude"].name == "lat" and back["mean"].cf["longitude"].name == "lon"
    assert np.allclose(back.lat_bnds[:, 0], found.grid.y_edges[:-1]) and back.lat.attrs["bounds"] == "lat_bnds"
    assert all(name in back.attrs for name in ("title", "source", "history", "references"))
    path = tmp_path / "out.nc"
    path.write_bytes(to_netcdf_bytes(made))
    again = open_fields(path)
    assert np.array_equal(again.values("mean"), mean) and again.licence == "CC0"
    assert np.allclose(again.grid.area, found.grid.area) and again.variables()["mean"].units == "K"


def test_rotated_export_keeps_its_mapping(tmp_path):
    found = make_problem(fields(rotated_dataset()), DownscalingSpec("t", ("h",), block=(5, 5)))
    mean, made = export(found)
    path = tmp_path / "out.nc"
    path.write_bytes(to_netcdf_bytes(made))
    again = open_fields(path)
    assert again.grid.kind == "rotated" and np.allclose(again.grid.latitude, found.grid.latitude)
    assert np.array_equal(again.values("mean"), mean)
    back = xr.open_dataset(path, engine="h5netcdf")
    assert back["mean"].attrs["grid_mapping"] == "crs" and back.crs.attrs["grid_mapping_name"].startswith("rotated")
    assert np.allclose(back.latitude, found.grid.latitude)


@pytest.mark.parametrize("sd", [True, False])
def test_two_files_have_no_truth_and_two_grids(sd):
    low = rectilinear(np.arange(47, 58.5, 1.0), np.arange(-9, 5.5, 1.0))
    spec = DownscalingSpec("q", ("h",), block=(5, 5), matching="direct", withhold=0.2)
    found = make_problem_from_files(fields(rotated_dataset()), fields(low), None, spec)
    _, made = export(found, sd)
    back = xr.open_dataset(BytesIO(to_netcdf_bytes(made)), engine="h5netcdf")
    assert "error" not in back and "truth" not in back and ("sd" in back) == sd
    assert back.coarse.dims == ("coarse_lat", "coarse_lon") and back["mean"].dims == ("rlat", "rlon")
    assert "units_metadata" not in back["mean"].attrs and "grid_mapping" not in back.coarse.attrs
