"""``deconditioning downscale`` on small files: the whole walk, seeds, two files, bad input."""

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from deconditioning import __version__
from deconditioning.cli.commands import downscale as command_module
from tests.core.fields.samples import netcdf, plane

QUICK = ("--no-learn", "--model", "bag_gp", "--quiet")


def planet(rows: int = 24, columns: int = 30) -> xr.Dataset:
    """A small regional field: temperature falls with height, pressure follows it."""
    y, x = np.linspace(50, 55, rows), np.linspace(0, 6, columns)
    height = 300 * (np.sin(2.1 * y)[:, None] + np.cos(3.0 * x)[None, :] + 2)
    temperature = 288 - 0.0065 * height + 0.3 * np.sin(y)[:, None]
    pressure = 1013 - 0.11 * height + np.cos(x)[None, :]
    dims = ("latitude", "longitude")
    coordinates = {
        "latitude": ("latitude", y, {"units": "degrees_north", "standard_name": "latitude"}),
        "longitude": ("longitude", x, {"units": "degrees_east", "standard_name": "longitude"}),
    }
    variables = {
        "t": (dims, temperature, {"units": "K", "standard_name": "air_temperature"}),
        "z": (dims, height, {"units": "m"}),
        "p": (dims, pressure, {"units": "hPa"}),
    }
    return xr.Dataset(variables, coordinates)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The small field as a NetCDF file."""
    path = tmp_path / "in.nc"
    planet().to_netcdf(path, engine="h5netcdf")
    return path


def test_the_issues_own_command(command, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.nc"
    answer = command(
        "downscale", file, "--target", "t", "--covariates", "z", "--mediators", "p", "--block", 3, 3,
        "--withhold", 0.5, "--seed", 0, "--model", "shrinkage_cmp", "--restarts", 1, "--steps", 3, "--output", out,
        "--centroid-gp",
    )  # fmt: skip
    assert answer.code == 0, answer.err
    found = answer.document
    assert found["command"] == "downscale" and found["settings"]["problem"]["block"] == [3, 3]
    models = [entry["model"] for entry in found["results"]]
    assert models[0] == "shrinkage_cmp" and {"constant", "bilinear", "bicubic", "centroid_gp"} <= set(models)
    first = found["results"][0]
    assert first["status"] == "ok" and first["units"]["rmse"] == "K" and first["seconds"]["wall"] > 0
    assert 0 < first["scores"]["rmse"] < 3 and "rmse_area" in first["scores"] and first["peak_mb"] > 0
    assert first["coarse_scores"]["withheld"]["rmse"] > 0 and first["settings"]["learn"] is False
    row = next(row for row in found["summary"] if (row["model"], row["score"]) == ("shrinkage_cmp", "rmse"))
    assert row["mean"] == first["scores"]["rmse"] and row["n"] == 1 and row["sd"] is None
    assert "Wrote" in answer.err and " of " in answer.err, "progress and the file are told on standard error"
    with xr.open_dataset(out, engine="h5netcdf") as written:
        assert {"mean", "sd", "coarse", "error"} <= set(written) and written["mean"].attrs["units"] == "K"
        error = written["error"].values
    assert np.sqrt(np.nanmean(error**2)) == pytest.approx(first["scores"]["rmse"], rel=0.05)


def test_several_seeds_write_several_files(command, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.nc"
    arguments = ("--target", "t", "--covariates", "z", "--block", 3, 3, "--seeds", 1, 2, "--output", out, *QUICK)
    answer = command("downscale", file, *arguments)
    assert answer.code == 0 and answer.err == ""
    found = answer.document
    mine = [entry for entry in found["results"] if entry["model"] == "bag_gp"]
    assert [entry["seed"] for entry in mine] == [1, 2] and mine[0]["scores"] != mine[1]["scores"]
    assert sorted(path.name for path in tmp_path.glob("out*")) == ["out_seed1.nc", "out_seed2.nc"]
    row = next(row for row in found["summary"] if (row["model"], row["score"]) == ("bag_gp", "rmse"))
    assert row["n"] == 2 and row["mean"] == pytest.approx(np.mean([entry["scores"]["rmse"] for entry in mine]))


def test_the_same_seed_gives_the_same_scores(command, file: Path) -> None:
    arguments = ("downscale", file, "--target", "t", "--covariates", "z", "--block", 3, 3, "--seed", 4, *QUICK)
    first, second = command(*arguments).document, command(*arguments).document
    assert [entry["scores"] for entry in first["results"]] == [entry["scores"] for entry in second["results"]]


def test_cells_are_hidden_revealed_and_kept_by_hand(command, file: Path, tmp_path: Path) -> None:
    """Written as on the page, kept in every file, and the scores are those of the file cut to the region."""
    out, cut = tmp_path / "out.nc", tmp_path / "cut.nc"
    given = ("--target", "t", "--covariates", "z", "--block", 3, 3, "--withhold", 0.25, *QUICK)
    by_hand = ("--region", 1, 6, 2, 9, "--hide", "2-3", "2-4.3-3", "--reveal", "6-9", "--output", out)
    answer = command("downscale", file, *given, *by_hand)
    assert answer.code == 0, answer.err
    problem = answer.document["settings"]["problem"]
    assert problem["hide"] == [[2, 3], [2, 4], [3, 3]] and problem["reveal"] == [[6, 9]]
    assert problem["region"] == [1, 6, 2, 9]
    with xr.open_dataset(out, engine="h5netcdf") as written:
        assert json.loads(written.attrs["problem"]) == problem
    planet().isel(latitude=slice(3, 21), longitude=slice(6, 30)).to_netcdf(cut, engine="h5netcdf")
    other = command("downscale", cut, *given, "--hide", "1-1", "1-2", "2-1", "--reveal", "5-7")
    first, second = (found.document["results"][0]["scores"]["rmse"] for found in (answer, other))
    assert first == pytest.approx(second, rel=1e-9)


def test_target_and_mediator_from_other_files(command, file: Path, tmp_path: Path) -> None:
    fine = planet()
    coarse, mediator = tmp_path / "coarse.nc", tmp_path / "mediator.nc"
    fine[["t"]].coarsen(latitude=3, longitude=3).mean().to_netcdf(coarse, engine="h5netcdf")
    fine[["p"]].to_netcdf(mediator, engine="h5netcdf")
    height = fine[["z"]].rename(z="orog").expand_dims(time=[np.datetime64("2100-01-01", "ns")])
    height.to_netcdf(tmp_path / "height.nc", engine="h5netcdf")
    answer = command(
        "downscale", file, tmp_path / "height.nc", "--coarse", coarse, "--mediator", mediator, "--target", "t",
        "--covariates", "z", "orog", "--mediators", "p", "--block", 3, 3, "--no-learn", "--withhold", 0.3,
        "--matching", "direct", "--output", tmp_path / "out.nc",
    )  # fmt: skip
    assert answer.code == 0 and "2100" not in answer.err, answer.err
    entry, *baselines = answer.document["results"]
    assert "no truth" in entry["message"] and "withheld coarse cells" in entry["message"]
    assert entry["scores"] == entry["coarse_scores"]["withheld"] and entry["scores"]["rmse"] < 3
    assert {"bilinear", "bicubic", "constant"} <= {each["model"] for each in baselines}
    with xr.open_dataset(tmp_path / "out.nc", engine="h5netcdf") as written:
        back = written.baseline_bilinear.coarsen(lat=3, lon=3).mean().values
        hidden = np.isnan(written.coarse.values)
        missed = (back - written.coarse_known.values)[hidden]
    bilinear = next(each["scores"] for each in baselines if each["model"] == "bilinear")
    assert bilinear["rmse"] == pytest.approx(np.sqrt(np.mean(missed**2)), rel=0.01)
    assert 0 <= entry["diagnostics"]["explained_share"]["share"] <= 1
    assert answer.document["settings"]["input"] == f"{file} + {tmp_path / 'height.nc'}"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--covariates", "z"], "`--target` is missing: name the variable to refine, such as `"),
        (["--target", "t", "--covariates", "t"], "is among the covariates"),
        (["--target", "none", "--covariates", "z"], "none"),
        (["--target", "t", "--covariates", "z", "--block", "500", "500"], "500"),
        (["--target", "t", "--covariates", "z", "--block", "12", "12"], "8"),
        (["--target", "t", "--covariates", "z", "--withhold", "1"], "withhold"),
        (["--target", "t", "--covariates", "z", "--select", "time"], "DIM=VALUE"),
        (["--target", "t", "--block", "3", "3", "--hide", "8-0"], "no cell 8-0"),
        (["--target", "t", "--hide", "8,0"], "'8,0' is not a cell"),
        (["--target", "t", "--block", "3", "3", "--region", "0", "8", "0", "9"], "the field has 8"),
        (["--target", "t", "--covariates", "z", "--seed", "-1"], "seed"),
        (["--target", "t", "--covariates", "z", "--model", "magic"], "magic"),
        (["--target", "t", "--covariates", "z", "--block", "3", "3", "--kernel", "magic"], "magic"),
        (["--target", "t", "--covariates", "z", "--block", "3", "3", "--noise", "nan"], "noise"),
        (["--target", "t", "--covariates", "z", "--output", "none/out.nc"], "does not exist"),
        (["--target", "t", "--covariates", "z", "--mediator", "m.nc"], "needs `--coarse`"),
        (["--target", "t", "--covariates", "z", "--coarse", "none.nc"], "none.nc"),
    ],
)
def test_bad_input_is_one_sentence(command, file: Path, arguments: list[str], said: str) -> None:
    answer = command("downscale", file, *arguments, "--quiet", "--no-learn")
    assert (answer.code, answer.out) == (2, ""), answer.err
    assert said in answer.err and answer.err.count("\n") == 1


def test_bad_files_are_one_sentence(command, file: Path, tmp_path: Path) -> None:
    rubbish = tmp_path / "rubbish.nc"
    rubbish.write_bytes(file.read_bytes()[:2000])
    for path in (rubbish, tmp_path / "none.nc", tmp_path, "no-such-data-set"):
        answer = command("downscale", path, "--target", "t", "--quiet")
        assert (answer.code, answer.out) == (2, "") and answer.err.count("\n") == 1, answer.err
    answer = command("downscale", file, "--target", "t", "--output", file)
    assert answer.code == 2 and "also an input" in answer.err and xr.open_dataset(file)["t"].size > 0


def test_a_seed_that_fails_does_not_take_the_others(command, file: Path, monkeypatch) -> None:
    from deconditioning.errors import InputError

    made = command_module._problem

    def fail_for_two(options, fields, spec):
        if spec.seed == 2:
            raise InputError("Seed two is unlucky.")
        return made(options, fields, spec)

    monkeypatch.setattr(command_module, "_problem", fail_for_two)
    arguments = ("--target", "t", "--covariates", "z", "--block", 3, 3, *QUICK)
    answer = command("downscale", file, *arguments, "--seeds", 1, 2)
    failed = answer.document["results"][-1]
    assert answer.code == 0 and (failed["status"], failed["message"]) == ("failed", "Seed two is unlucky.")
    assert failed["scores"] == {} and all(row["n"] == 1 for row in answer.document["summary"])
    alone = command("downscale", file, *arguments, "--seeds", 2)
    assert (alone.code, alone.out, alone.err) == (2, "", "Seed two is unlucky.\n")


def test_what_libraries_print_stays_off_the_result(command, file: Path, monkeypatch) -> None:
    made = command_module._problem

    def noisy(*arguments):
        print("a library talks")
        return made(*arguments)

    monkeypatch.setattr(command_module, "_problem", noisy)
    answer = command("downscale", file, "--target", "t", "--covariates", "z", "--block", 3, 3, *QUICK)
    assert answer.document["schema"] == 1 and "a library talks" in answer.err


def months(folder: Path) -> None:
    """Twelve months: a target of 100 times the month's number less the ground's height, in one file and in two."""
    lat, lon = 40.125 + 0.25 * np.arange(48), 5.125 + 0.25 * np.arange(48)
    height = np.add.outer(np.sin(lat), np.cos(2 * lon))
    target = 100.0 * np.arange(12)[:, None, None] - height
    coords = {"time": np.arange("2001-01", "2002-01", dtype="M8[M]").astype("M8[ns]"), "lat": lat, "lon": lon}
    fine = xr.Dataset({"t": (("time", "lat", "lon"), target), "orog": (("lat", "lon"), height)}, coords)
    fine.to_netcdf(folder / "both.nc", engine="h5netcdf")
    fine[["orog"]].to_netcdf(folder / "orog.nc", engine="h5netcdf")
    fine[["t"]].coarsen(lat=4, lon=4).mean().to_netcdf(folder / "coarse.nc", engine="h5netcdf")


def test_fields_fixed_in_time_are_covariates_unless_others_are_named(command, tmp_path: Path) -> None:
    months(tmp_path)
    both = (
        "downscale",
        tmp_path / "both.nc",
        "--target",
        "t",
        "--block",
        4,
        4,
        "--select",
        "time=2001-07",
        "--no-learn",
    )
    own = command(*both)
    assert own.code == 0 and "using those that do not change with time, `orog`" in own.err
    assert own.document["settings"]["problem"]["covariates"] == ["orog"]
    none = command(*both, "--covariates")
    assert none.document["settings"]["problem"]["covariates"] == [] and "do not change with time" not in none.err
    assert "needs `--coarse`" in command(*both, "--coarse-select", "time=#1").err


def test_a_coarse_file_has_a_time_of_its_own_and_keeps_its_cells(command, tmp_path: Path) -> None:
    months(tmp_path)
    files = (tmp_path / "orog.nc", "--coarse", tmp_path / "coarse.nc", "--output", tmp_path / "out.nc")
    pair = ("downscale", *files, "--target", "t", "--no-learn", "--quiet")
    july = command(*pair, "--coarse-select", "time=2001-07")
    problem = july.document["settings"]["problem"]
    assert july.code == 0 and problem["coarse_select"] == {"time": "2001-07"} and problem["withhold"] == 0
    with xr.open_dataset(tmp_path / "out.nc", engine="h5netcdf") as written:
        assert np.isfinite(written.coarse.values).all()
        assert abs(float(written.coarse.mean()) - 600) < 3 and abs(float(written["mean"].mean()) - 600) < 3
    half = command(*pair, "--coarse-select", "time=#6", "--withhold", 0.5)
    assert half.document["settings"]["problem"]["withhold"] == 0.5
    for given, said in (
        ("time=2001", "fits 12 values"),
        ("level=1", "no dimension `level`"),
        ("time", "--coarse-select time"),
    ):
        refused = command(*pair, "--coarse-select", given)
        assert refused.code == 2 and said in refused.err and refused.err.count("\n") == 1


def test_a_data_set_of_ours_brings_its_settings() -> None:
    import argparse

    from deconditioning.cli.commands.downscale import arguments, model_settings, problem_spec
    from deconditioning.datasets.entries import find

    parser = argparse.ArgumentParser()
    arguments(parser)
    options = parser.parse_args(["ukv-645m", "--block", "7", "9", "--select", "time=1", "t:level=-1", "--noise", "0.1"])
    spec = problem_spec(options, find("ukv-645m").default)
    assert spec.target == "air_potential_temperature" and spec.block == (7, 9)
    assert spec.select == {"time": "1", "t:level": "-1"}
    assert model_settings(options) == {"noise": 0.1, "learn": True}
    held = parser.parse_args(["ukv-645m", "--hold"]), parser.parse_args(["ukv-645m", "--hold", "noise"])
    assert [model_settings(given)["hold"] for given in held] == [[], ["noise"]]


def test_the_default_model_says_what_interpolation_does_better(command, tmp_path: Path) -> None:
    """The area-to-point GP; of a smooth field that no covariate tells of bilinear is the better guess, on stderr."""
    (tmp_path / "plane.nc").write_bytes(netcdf(plane()))
    arguments = ("--target", "t", "--covariates", "orog", "--block", 4, 4, "--no-learn", "--quiet")
    answer = command("downscale", tmp_path / "plane.nc", *arguments)
    assert answer.code == 0, answer.err
    first = answer.document["results"][0]
    told = first["diagnostics"]["leave_one_out"]
    assert first["model"] == "area_to_point_gp" and first["settings"]["point_noise"] == 0
    assert told["bilinear"] < told["model"] and told["kept"] is None
    (line,) = answer.err.splitlines()
    assert line.startswith("Warning: Bilinear interpolation predicts better here") and line[9:] in first["warnings"]
    share = first["diagnostics"]["explained_share"]
    assert share["basis"] == "truth" and 0 <= share["share"] < 0.3 and "expect little" in share["sentence"]


@pytest.mark.parametrize("options", [(), ("--bound", "stochastic", "--placement", "grid")])
def test_a_variational_model_of_unmatched_cells(command, file: Path, options) -> None:
    answer = command(
        "downscale", file, "--target", "t", "--covariates", "z", "--mediators", "p", "--block", 3, 3, "--withhold", 0.5,
        "--model", "variational_cmp", "--inducing", 30, "--restarts", 1, "--steps", 3, "--quiet", *options,
    )  # fmt: skip
    assert answer.code == 0, answer.err
    first = answer.document["results"][0]
    assert first["model"] == "variational_cmp" and 0 < first["scores"]["rmse"] < 4
    assert len(first["settings"]["inducing"]["locations"]) == 30


def test_what_the_file_holds_is_chosen(command, file: Path, tmp_path: Path) -> None:
    given = ("--target", "t", "--covariates", "z", "--block", 3, 3, *QUICK)
    answer = command(
        "downscale", file, *given, "--draws", 3, "--quantiles", "--float32", "--file-per-grid", "--drs",
        "--attributes", "doi=10.5281/zenodo.1", "--output", tmp_path,
    )  # fmt: skip
    assert answer.code == 0, answer.err
    names, version = sorted(path.name for path in tmp_path.glob("t_*")), __version__.replace(".", "-")
    assert names == [f"t_DeconditioningLab-bag-gp_v{version}{more}.nc" for more in ("", "_coarse")]
    with xr.open_dataset(tmp_path / names[0], engine="h5netcdf") as fine:
        assert fine["draws"].sizes["realization"] == 3 and fine["quantiles"].sizes["quantile"] == 5
        assert fine["mean"].dtype == np.float32 and fine.attrs["doi"] == "10.5281/zenodo.1" and "coarse" not in fine
    for more, said in (
        (("--drs", "--output", file), "is not an existing folder"),
        (("--draws", 5), "add `--output`"),
        (("--output", file.with_name("no") / "x.nc"), "does not exist"),
        (("--attributes", "doi", "--output", tmp_path / "x.nc"), "NAME=VALUE"),
    ):
        refused = command("downscale", file, *given, *more)
        assert refused.code == 2 and said in refused.err and not refused.out
