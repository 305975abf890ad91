"""Guesses of target, covariates, files, time and cells, over the kinds of files that scientists have."""

import numpy as np
import pytest
import xarray as xr

from deconditioning.datasets.atmosphere import make_atmosphere
from deconditioning.datasets.entries import find
from deconditioning.errors import InputError
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.guess.pairs import upper_variables
from deconditioning.fields.guess.problem import guess_files, guess_problem, pixel_km
from deconditioning.fields.guess.variables import guess_target, static_covariates
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.several import together
from deconditioning.fields.spec import DownscalingSpec
from tests.core.fields.samples import fields, region
from tests.core.fields.visitor_files import coarse_months, fine_heights, projected, reanalysis


def test_suggestion_finds_target_and_covariates_and_skips_copies():
    dataset = make_atmosphere((64, 128), seed=1)
    rng = np.random.default_rng(0)
    dataset["celsius"] = (dataset["cloud_top_temperature"].dims, dataset["cloud_top_temperature"].values - 273.15)
    dataset["noise"] = (dataset["celsius"].dims, rng.standard_normal((64, 128)))
    dataset["flat"] = xr.zeros_like(dataset["celsius"])
    spec = guess_problem(fields_from_dataset(dataset)).spec()
    assert spec["target"] == "cloud_top_temperature"
    assert "cloud_albedo" in spec["covariates"] and not {"celsius", "noise", "flat"} & set(spec["covariates"])
    assert 300 < (64 // spec["block"][0]) * (128 // spec["block"][1]) < 800
    make_problem(fields_from_dataset(dataset), DownscalingSpec.from_dict(spec))


@pytest.mark.parametrize(
    "name, target, expected",
    [("era5_1995-07-14T12.nc", "t2m", {"sp", "d2m"}), ("ncep_gdas_flux_20060401_t62.nc", "ttop", {"ctp", "clh"})],
)
def test_suggestion_on_real_files(monkeypatch, real_data, name, target, expected):
    monkeypatch.setenv("DECONDITIONING_DATA", str(real_data))
    opened = find(f"folder:{name}").open()
    spec = guess_problem(opened).spec()
    assert spec["target"] == target and expected <= set(spec["covariates"])
    assert make_problem(opened, DownscalingSpec.from_dict(spec)).matched


def dated(**more) -> xr.Dataset:
    """A temperature of two dates on 24 × 30 pixels, which the ground does not tell of, and fields without a date."""
    rng, dims = np.random.default_rng(0), ("lat", "lon")
    fixed = {name: (dims, rng.standard_normal((24, 30)), attributes) for name, attributes in more.items()}
    coords = {"time": np.array(["2001-01-01", "2001-02-01"], dtype="datetime64[ns]"), "lat": 40.0 + np.arange(24),
              "lon": 5.0 + np.arange(30)}  # fmt: skip
    t = ("time", *dims), rng.standard_normal((2, 24, 30)), {"units": "K"}
    return xr.Dataset({"t2m": t, "rain": (("time", *dims), rng.random((2, 24, 30))), **fixed}, coords)


def test_what_does_not_change_with_time_is_a_covariate():
    heights = {"shade": {}, "z0": {"standard_name": "surface_altitude"}, "areacella": {}, "soil": {"flag_values": [1]}}
    data = dated(**heights)
    data["flat"], data["gaps"] = data.z0 * 0 + 3, data.z0.where(data.lat > 60)
    spec = guess_problem(fields_from_dataset(data)).spec()
    assert (spec["target"], spec["covariates"]) == ("t2m", ["z0", "shade"])
    follows = data[["t2m", "z0"]].assign(t2m=(data.t2m * 1e-9 - 0.0065 * data.z0).assign_attrs(units="K"))
    assert guess_problem(fields_from_dataset(follows)).spec()["covariates"] == ["z0"]  # near a copy, and yet none
    alone = fields_from_dataset(data[["z0", "areacella"]].rename(z0="orog"))
    assert names(static_covariates(alone)) == ["orog"] and static_covariates(alone, "orog") == []
    undated = fields_from_dataset(data.isel(time=0, drop=True)[["t2m", "shade"]])
    assert static_covariates(undated, "t2m") == []  # nothing tells that it does not change


def names(guesses) -> list[str]:
    return [guess.value for guess in guesses]


def field(standard_name: str = "", units: str = "", long_name: str = "", dims=("lat", "lon"), **more):
    """A variable of random values on 20 × 24 pixels, three of each further dimension."""
    attributes = {"standard_name": standard_name, "units": units, "long_name": long_name, **more}
    shape = [{"lat": 20, "lon": 24}.get(dim, 3) for dim in dims]
    values = np.random.default_rng(len(standard_name + units + long_name)).random(shape)
    return dims, values, {key: value for key, value in attributes.items() if value != ""}


def on_grid(**variables) -> xr.Dataset:
    """These variables on latitudes and longitudes, with three days and three levels."""
    times = np.array(["2001-01-01", "2001-01-02", "2001-01-03"], dtype="M8[ns]")
    data = xr.Dataset(variables, {"lat": 40 + np.arange(20.0), "lon": np.arange(24.0), "time": times,
                                  "plev": [1e5, 8.5e4, 5e4]})  # fmt: skip
    data.plev.attrs.update(units="Pa", positive="down", axis="Z")
    return data


TIME = ("time", "lat", "lon")


@pytest.mark.parametrize(
    ("variables", "target", "reason"),
    [
        ({"x1": field("air_temperature", "K", dims=TIME)}, "x1", "standard_name air_temperature, varies in time (3"),
        ({"d2m": field("", "K", "2 metre dewpoint temperature"), "t2m": field("", "K", "2 metre temperature")}, "t2m",
         "long_name “2 metre temperature”"),
        ({"stl1": field("", "K", "Soil temperature level 1"), "tas": field("", "K")}, "tas", "a temperature, in K"),
        ({"T2": field("", "degC", dims=TIME), "RAINNC": field("", "mm", "precipitation", dims=TIME)}, "T2", "in degC"),
        ({"orog": field("surface_altitude", "m"), "pr": field("precipitation_flux", "kg m-2 s-1", dims=TIME)}, "pr",
         "standard_name precipitation_flux"),
        ({"quality": field("", "", "temperature quality"), "tos": field("sea_surface_temperature", "degC")}, "tos",
         "standard_name sea_surface_temperature"),
        ({"tas_uncertainty": field("", "K", "uncertainty of temperature"), "tas": field("", "K")}, "tas", "in K"),
        ({"tas_nobs": field("", "1", "number of observations of temperature"), "so": field("", "", "salinity")}, "so",
         "first of 2 fields"),
        ({"temp_class": field("", "K", flag_values=[0, 1]), "u": field("wind_speed", "m s-1")}, "u", "wind_speed"),
        ({"areacella": field("cell_area", "m2"), "ndvi": field("", "1", "vegetation index")}, "ndvi", "first of 2"),
        ({"ndvi": field("", "1")}, "ndvi", "the only field"),
        ({"v1": field(), "v2": field("", "celsius")}, "v2", "a temperature, in celsius"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_a_target_is_guessed_with_its_reason(variables, target, reason) -> None:
    guess = guess_target(fields(on_grid(**variables)))
    assert guess.value == target and reason in guess.reason


def test_the_order_of_the_fields_does_not_matter() -> None:
    data = reanalysis()
    for order in (["z", "lsm", "d2m", "t2m"], ["t2m", "d2m", "lsm", "z"]):
        guess = guess_problem(fields(data[order]))
        assert guess.target.value == "t2m" and names(guess.covariates) == ["z", "lsm"]


@pytest.mark.parametrize("repeated", [False, True], ids=["once", "every hour"])
def test_geopotential_and_land_are_covariates_of_a_reanalysis(repeated: bool) -> None:
    guess = guess_problem(fields(reanalysis(repeated=repeated)))
    assert names(guess.covariates) == ["z", "lsm"]
    assert all("time" in each.reason for each in guess.covariates)
    assert guess.select["time"].value == 0 and guess.select["time"].reason == "the first of 6 times"
    problem = make_problem(fields(reanalysis(repeated=repeated)), DownscalingSpec.from_dict(guess.spec()))
    rows, columns = guess.block.value
    assert f"{(48 // rows) * (64 // columns)} cells" in guess.block.reason and problem.matched


def test_geopotential_of_one_hour_is_the_ground_but_not_on_a_level() -> None:
    ground = reanalysis(hours=1).isel(time=0, drop=True)
    assert "z" in names(static_covariates(fields(ground), "t2m"))
    level = on_grid(t=field("air_temperature", "K", dims=("plev", "lat", "lon")),
                    z=field("geopotential", "m2 s-2", dims=("plev", "lat", "lon")))  # fmt: skip
    assert static_covariates(fields(level), "t") == []
    one = level.isel(plev=0)
    assert static_covariates(fields(one), "t") == []


def test_a_field_that_changes_at_one_of_three_times_is_not_static() -> None:
    data = reanalysis(hours=3, repeated=True)
    data.lsm[1, 4, 4] = 0.5
    data.lsm[2, 4, 4] = 0.25
    assert names(static_covariates(fields(data), "t2m")) == ["z"]


def test_a_time_without_values_is_passed_over() -> None:
    data = reanalysis(hours=4)
    data.t2m[0], data.t2m[1] = np.nan, 280.0  # nothing at first, then no difference from place to place
    guess = guess_problem(fields(data))
    assert guess.select["time"].value == 2 and guess.select["time"].reason == "the first of 4 times with data"
    assert guess.spec()["select"] == {"time": 2}
    other = data.assign(t2m=data.t2m * np.nan)
    assert guess_problem(fields(other)).target.value == "d2m"
    with pytest.raises(InputError, match="only missing values"):
        guess_problem(fields(data * np.nan))


def test_a_projected_model_with_positions_in_two_dimensions() -> None:
    opened = fields(projected())
    guess = guess_problem(opened)
    assert (guess.target.value, names(guess.covariates)) == ("tas", ["orog"])
    assert pixel_km(opened.grid) == pytest.approx(np.sqrt(0.09 * 0.12 * np.cos(np.deg2rad(47))) * 111.2, rel=0.1)
    make_problem(opened, DownscalingSpec.from_dict(guess.spec()))


@pytest.mark.parametrize("turned", [False, True])
def test_the_file_with_wide_pixels_is_the_coarse_one(turned: bool) -> None:
    files = [fields(fine_heights()), fields(coarse_months())]
    files = files[::-1] if turned else files
    roles = guess_files(files)
    assert (roles.fine, roles.coarse) == (((1,), 0) if turned else ((0,), 1)) and "are wider than" in roles.reason
    guess = guess_problem(files[roles.fine[0]], files[roles.coarse])
    assert guess.target.value == "tas" and names(guess.covariates) == ["elevation", "slope"]
    assert guess.select["time"].value == 0 and guess.withhold == 0


def test_files_of_one_grid_are_joined_and_a_coarse_height_is_no_target() -> None:
    data = reanalysis(hours=2)
    days = [data[["t2m"]].isel(time=[k]) for k in range(2)]
    files = [fields(data[["z"]]), *map(fields, days)]
    roles = guess_files(files)
    assert roles.coarse is None and roles.fine == (1, 0, 2) and "same size" in roles.reason
    joint = together([files[index] for index in roles.fine])
    guess = guess_problem(joint)
    assert guess.target.value == "t2m" and names(guess.covariates) == ["z"] and "time" in guess.select
    wide = data[["z"]].coarsen(latitude=4, longitude=4).mean()
    assert guess_files([fields(wide), files[1]]).fine == (1, 0)


def test_of_two_temperatures_the_coarse_one_is_the_target() -> None:
    fine = region(36, 48)
    coarse = fine[["t"]].coarsen(lat=4, lon=4).mean(keep_attrs=True)
    roles = guess_files([fields(fine), fields(coarse)])
    assert (roles.fine, roles.coarse) == ((0,), 1)
    assert names(guess_problem(fields(fine), fields(coarse)).covariates) == ["orog"]
    months = guess_files([fields(fine), fields(coarse), fields(coarse)])
    assert months.coarse == 1 and months.unused == (2,)


@pytest.mark.parametrize(
    ("lower", "upper", "low", "high", "found"),
    [
        ("tasmin", "tasmax", {}, {}, True),
        ("mn2t", "mx2t", {}, {}, True),
        ("TN", "TX", {}, {}, True),
        ("t2m_min", "t2m_max", {"units": "K"}, {"units": "degC"}, False),
        ("tasmin", "prmax", {}, {}, False),
        ("tasmin", "tasmax", {"standard_name": "air_temperature"}, {"standard_name": "wind_speed"}, False),
        ("a", "b", {"cell_methods": "time: minimum within days"}, {"cell_methods": "time: maximum within days"}, True),
        ("a", "b", {"cell_methods": "time: minimum"}, {"cell_methods": "area: maximum"}, False),
        ("a", "b", {"cell_methods": "time: mean"}, {"cell_methods": "time: mean"}, False),
    ],
)
def test_pairs_are_found_by_name_or_cell_methods(lower, upper, low, high, found):
    dims, dataset = ("time", "lat", "lon"), region(8, 8)
    for name, attributes in ((lower, low), ("other", {}), (upper, high)):
        dataset[name] = (dims, np.random.default_rng(0).normal(size=(3, 8, 8)), attributes)
    opened = fields_from_dataset(dataset)
    assert upper_variables(opened, list(opened.variables())) == ({lower: upper} if found else {})
