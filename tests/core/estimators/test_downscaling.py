"""Downscaling from Python: the command's own numbers, whatever form the fields come in, and what is refused."""

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import deconditioning
import deconditioning.accessor
from deconditioning import InputError
from deconditioning.datasets.entries import UKV_FILE
from tests.core.cli.test_downscale import planet

QUICK = {"learn": False, "model": "bag_gp"}
#: How each test leaves an estimator's learning short.
SHORT = {"steps": 2, "restarts": 1}
DIRECT = ("AreaToPointGP", "BagGP", "Downscaler", "RegressionKriging")
MEDIATED = ("CMP", "PartialCMP", "ShrinkageCMP", "TaskTransformedGP", "VariationalCMP")

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def coarse() -> xr.DataArray:
    """The small field's temperature on cells of 3 × 3 pixels."""
    fine = planet()
    return fine["t"].coarsen(latitude=3, longitude=3).mean().assign_attrs(fine["t"].attrs)


def same(one: xr.Dataset, other: xr.Dataset) -> bool:
    """Whether all that two results share, but for the time they were made, is equal to the last bit."""
    return all(np.array_equal(one[n], other[n], equal_nan=True) for n in ("mean", "sd", "coarse")) and (
        one.attrs["settings"] == other.attrs["settings"]
    )


def written(command, tmp_path: Path, *options: object) -> xr.Dataset:
    """What the command line leaves."""
    answer = command("downscale", *options, "--quiet", "--output", tmp_path / "out.nc")
    assert answer.code == 0, answer.err
    return xr.load_dataset(tmp_path / "out.nc", engine="h5netcdf")


def test_two_grids_give_the_commands_numbers(command, tmp_path: Path, coarse: xr.DataArray) -> None:
    coarse.to_netcdf(tmp_path / "coarse.nc", engine="h5netcdf")
    planet()[["z"]].to_netcdf(tmp_path / "fine.nc", engine="h5netcdf")
    options = ("--target", "t", "--covariates", "z", "--steps", 2, "--restarts", 1, "--draws", 3)
    told = written(command, tmp_path, tmp_path / "fine.nc", "--coarse", tmp_path / "coarse.nc", *options)
    found = deconditioning.downscale(coarse, planet()["z"], baselines=True, draws=3, **SHORT)
    assert same(found, told) and np.array_equal(found["draws"], told["draws"], equal_nan=True)
    assert set(told.data_vars) <= set(found.data_vars) | set(found.coords)
    files = deconditioning.downscale(tmp_path / "coarse.nc", deconditioning.open_fields(tmp_path / "fine.nc"), **SHORT)
    with xr.open_dataset(tmp_path / "coarse.nc") as one, xr.open_dataset(tmp_path / "fine.nc") as two:
        opened = deconditioning.downscale(one, two, **SHORT)
    accessed = coarse.deconditioning.downscale(planet()["z"], **SHORT)
    assert same(files, told) and same(opened, told) and same(accessed, told)
    assert files.attrs["source"] == opened.attrs["source"] == told.attrs["source"]


def test_a_mediator_gives_the_commands_numbers(command, tmp_path: Path, coarse: xr.DataArray) -> None:
    coarse.to_netcdf(tmp_path / "coarse.nc", engine="h5netcdf")
    planet()[["z"]].to_netcdf(tmp_path / "fine.nc", engine="h5netcdf")
    planet()[["p"]].to_netcdf(tmp_path / "mediator.nc", engine="h5netcdf")
    told = written(
        command, tmp_path, tmp_path / "fine.nc", "--coarse", tmp_path / "coarse.nc", "--mediator",
        tmp_path / "mediator.nc", "--mediators", "p", "--target", "t", "--covariates", "z", "--block", 3, 3,
        "--no-learn", "--model", "shrinkage_cmp", "--withhold", 0.3, "--seed", 4,
    )  # fmt: skip
    fitted = deconditioning.ShrinkageCMP(learn=False, seed=4)
    fitted.fit(coarse, planet()["z"], planet()["p"], block=(3, 3), withhold=0.3)
    assert np.array_equal(fitted.predict()["mean"], told["mean"], equal_nan=True)


def test_a_target_on_the_fine_grid_is_coarsened(command, tmp_path: Path) -> None:
    region = (4, 11, 3, 10)
    options = ("--target", "air_potential_temperature", "--covariates", "surface_altitude", "--block", 9, 9)
    options = (*options, "--region", *region, "--no-learn", "--select", "time=#2", "level_height=#4")
    told = written(command, tmp_path, UKV_FILE, *options)
    with xr.open_dataset(UKV_FILE, decode_coords="all") as opened:
        at = opened.isel(time=2, level_height=4)
        found = deconditioning.downscale(
            at["air_potential_temperature"], at["surface_altitude"], coarsen=(9, 9), region=region, learn=False
        )
    assert np.array_equal(found["mean"], told["mean"], equal_nan=True) and np.array_equal(found["rlat"], told["rlat"])
    error = found["mean"] - found["truth"]
    assert np.array_equal(found["error"], error, equal_nan=True) and float(abs(error).mean()) < 0.5
    fields = deconditioning.open_fields(UKV_FILE)
    by_index = {"select": {"time": "#2", "level_height": "#4"}, "coarsen": (9, 9), "region": region, "learn": False}
    named = {"target": "air_potential_temperature", "covariate_names": ["surface_altitude"]}
    assert np.array_equal(
        deconditioning.downscale(fields, fields, **named, **by_index)["sd"], told["sd"], equal_nan=True
    )


@pytest.mark.parametrize("change", ["descending", "float32", "dask", "transposed", "unnamed", "longitudes"])
def test_the_form_of_the_fields_does_not_matter(change: str, coarse: xr.DataArray) -> None:
    fine = planet()["z"]
    usual = deconditioning.downscale(coarse, fine, **QUICK)
    changed = {
        "descending": lambda a: a.isel(latitude=slice(None, None, -1)),
        "float32": lambda a: a,
        "dask": lambda a: a.chunk(latitude=4),
        "transposed": lambda a: a.transpose(),
        "unnamed": lambda a: a.rename(None),
        "longitudes": lambda a: a.assign_coords(longitude=a.longitude.assign_attrs(units="degrees_east").values),
    }[change]
    found = deconditioning.downscale(changed(coarse), changed(fine), **QUICK)
    assert np.allclose(found["mean"].transpose("lat", "lon"), usual["mean"], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", [*DIRECT, *MEDIATED])
def test_estimators_share_their_manners(name: str, coarse: xr.DataArray) -> None:
    clone = pytest.importorskip("sklearn.base").clone
    estimator = getattr(deconditioning, name)(**SHORT, seed=3, points=4)
    with pytest.raises(InputError, match="call `fit` first"):
        estimator.predict()
    with pytest.raises(InputError, match="call `fit` first"):
        estimator.one_scale_up()
    copied = clone(estimator)
    assert copied.get_params() == estimator.get_params() and copied is not estimator
    assert repr(copied) == f"{name}(restarts=1, steps=2, points=4, seed=3)"
    with pytest.raises(InputError, match="has no parameter 'depth'"):
        copied.set_params(depth=3)
    fine, data = planet(), {"mediator": planet()["p"], "block": (3, 3), "withhold": 0.4} if name in MEDIATED else {}
    assert copied.set_params(learn=False).fit(coarse, fine["z"], **data) is copied
    found = copied.predict(quantiles=(0.05, 0.95))
    model = "auto" if name == "Downscaler" else copied.model_name
    whole = deconditioning.downscale(
        coarse, fine["z"], model=model, seed=3, points=4, learn=False, baselines=True, **SHORT, **data
    )
    assert np.array_equal(found["mean"], whole["mean"], equal_nan=True)
    assert np.array_equal(found["sd"], whole["sd"], equal_nan=True)
    assert (
        found["quantiles"].sizes["quantile"] == 2 and "baseline_bilinear" in whole and "baseline_bilinear" not in found
    )
    draws = copied.sample(3, seed=1)
    assert draws.shape == (3, *found["mean"].shape) and draws.equals(copied.sample(3, seed=1))
    assert copied.one_scale_up() is None and copied.settings_["model"] and copied.coarse_scores_


def test_learning_is_checked_one_scale_up(coarse: xr.DataArray) -> None:
    fitted = deconditioning.AreaToPointGP(**SHORT).fit(coarse, planet()["z"])
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        found = fitted.predict()
    assert tuple(str(each.message) for each in issued if each.category is UserWarning) == fitted.warnings_
    checked = fitted.one_scale_up()
    assert checked is not None and 0 < checked.rmse["area_to_point_gp"] and "bilinear" in checked.rmse
    again = deconditioning.Downscaler().set_params(**fitted.settings_).fit(coarse, planet()["z"])
    assert np.allclose(again.predict()["mean"], found["mean"], rtol=0, atol=1e-9, equal_nan=True)


def test_cells_keep_their_means(coarse: xr.DataArray) -> None:
    """A second route: an exact model without noise, averaged back over the cells, gives the coarse values."""
    found = deconditioning.downscale(coarse, planet()["z"], model="area_to_point_gp", learn=False, noise=1e-10)
    weight = np.cos(np.deg2rad(found["lat"]))
    back = (found["mean"] * weight).coarsen(lat=3, lon=3).sum() / (
        weight.broadcast_like(found["mean"]).coarsen(lat=3, lon=3).sum()
    )
    assert float(abs(back.values - coarse.values).max()) < 2e-3


def refused(sentence: str, *given: object, **settings: object) -> None:
    with pytest.raises(InputError, match=sentence) as error:
        deconditioning.downscale(*given, **{**QUICK, **settings})
    assert "\n" not in str(error.value) and str(error.value).endswith(".")


def test_bad_input_is_refused_with_a_sentence(coarse: xr.DataArray) -> None:
    fine = planet()
    refused("`coarse` is a ndarray: give an xarray", coarse.values, fine["z"])
    refused("`covariates` is a NoneType", coarse, None)
    refused("The target could be any of t, z, p: name it with `target`", fine, fine["z"])
    refused("no variable `q`: choose one of `t`", coarse.to_dataset(), fine["z"], target="q")
    refused("The setting 'colour' is unknown: choose among", coarse, fine["z"], colour=1)
    refused("The model 'magic' is unknown", coarse, fine["z"], model="magic")
    refused("`coarsen`", coarse, fine["z"], coarsen=(3, 3))
    refused("`mediator` applies to a target on its own", fine["t"], fine["z"], coarsen=(3, 3), mediator=fine["p"])
    refused("Names of variables are given as a list", coarse, fine, covariate_names="z")
    refused("call `unstack` first", coarse.stack(cell=("latitude", "longitude")), fine["z"])
    refused("is the coordinate `latitude`", coarse["latitude"], fine["z"])
    refused("File none.nc does not exist", "none.nc", fine["z"])
    with pytest.raises(InputError, match="of the data is unknown: choose among"):
        deconditioning.BagGP().fit(coarse, fine["z"], colour=1)  # type: ignore[call-arg]
    with pytest.raises(InputError, match="give at least one"):
        deconditioning.BagGP(learn=False).fit(coarse, fine["z"]).sample(0)


def test_what_is_given_stays_as_it_is(coarse: xr.DataArray) -> None:
    fine = planet()["z"]
    before = coarse.copy(deep=True), fine.copy(deep=True)
    deconditioning.downscale(coarse, fine, **QUICK)
    assert coarse.identical(before[0]) and fine.identical(before[1])


def test_the_face_is_small_and_light() -> None:
    assert len(deconditioning.__all__) <= 20 and set(deconditioning.__all__) <= set(dir(deconditioning))
    assert all(getattr(deconditioning, name) is not None for name in deconditioning.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        deconditioning.nothing  # noqa: B018
    code = "import deconditioning, sys; assert not {'torch', 'xarray', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
