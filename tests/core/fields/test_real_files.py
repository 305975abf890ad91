"""ERA5 and GDAS as they come."""

import numpy as np
import xarray as xr

from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.grids.blocks import reaggregate
from deconditioning.fields.problem.baselines import bilinear, constant
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.explained_variation import explained_share
from deconditioning.fields.problem.two_files import make_problem_from_files
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.reading.upload import open_upload
from deconditioning.fields.spec import DownscalingSpec
from tests.conftest import REAL_DATA

ERA5, GDAS = REAL_DATA / "era5_1995-07-14T12.nc", REAL_DATA / "ncep_gdas_flux_20060401_t62.nc"


def rmse(found, field):
    return float(np.sqrt(np.nanmean((field - found.truth) ** 2)))


def test_gdas_is_a_global_field():
    found = make_problem(open_fields(GDAS), DownscalingSpec("ttop", ("orog", "clt", "clh", "clm"), ("ctp",), (6, 6)))
    assert (
        found.grid.wraps
        and found.coarse_shape == (15, 32)
        and found.columns[:3] == ("sphere_x", "sphere_y", "sphere_z")
    )
    assert 14.5 < rmse(found, bilinear(found)) < rmse(found, constant(found)) < 19  # README of the files: 16.0, 17.6
    assert explained_share(found).share > 0.5
    weak = make_problem(open_fields(GDAS), DownscalingSpec("ttop", ("orog", "clt"), ("ctp",), (6, 6)))
    assert explained_share(weak).share < 0.3 and "expect little" in explained_share(weak).sentence


def test_era5_through_the_upload():
    fields = open_upload(ERA5.read_bytes(), ERA5.name)
    found = make_problem(fields, DownscalingSpec("t2m", ("sp", "d2m"), ("sp",), (7, 7)))
    assert found.coarse_shape == (15, 33) and found.columns == ("latitude", "longitude", "sp", "d2m")
    assert 1.5 < rmse(found, bilinear(found)) < rmse(found, constant(found)) < 2.5  # 1.77, 2.21 there
    assert np.allclose(found.grid.y[0], 24) and any("descending" in note for note in found.notes)


def test_era5_covariates_with_a_coarse_copy_in_other_units():
    data = xr.open_dataset(ERA5, engine="h5netcdf")
    part = data[["t2m", "sp"]].isel(latitude=slice(0, 105), longitude=slice(0, 231))
    low = part.coarsen(latitude=7, longitude=7).mean()
    low["t2m"] = (low.t2m - 273.15).assign_attrs(units="degC")
    low["sp"] = (low.sp / 100).assign_attrs(units="hPa")
    high, coarse = fields_from_dataset(data[["sp", "d2m"]].load()), fields_from_dataset(low.load())
    found = make_problem_from_files(high, coarse, None, DownscalingSpec("t2m", ("sp", "d2m"), ("sp",), (7, 7)))
    assert found.data.bags.count == 495 and found.units == "degC" and found.truth is None
    assert any("converted from hPa to Pa" in note for note in found.notes)
    again = reaggregate(found, constant(found))
    assert np.allclose(again[found.observed], found.coarse[found.observed])


def test_era5_under_the_global_gdas_file():
    found = make_problem_from_files(
        open_fields(ERA5), open_fields(GDAS), None, DownscalingSpec("t2m", ("sp", "d2m"), ("sp",), (7, 7), withhold=0.3)
    )
    assert found.coarse_grid.shape == (17, 34) and not found.coarse_grid.wraps
    assert any("cut to the 17 × 34 cells" in note for note in found.notes)
    # nearly the same pressure in the same place, eleven years apart
    assert abs(float(found.data.mediators[:, 2].mean() - found.data.query_mediators[:, 2].mean())) < 0.3
