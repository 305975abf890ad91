"""``deconditioning downscale --times``: files in, files out."""

import json
from pathlib import Path

import cftime
import numpy as np
import pytest
import xarray as xr
from scipy.stats import norm

from deconditioning.cli.program import main
from deconditioning.datasets.weather import weather_region
from deconditioning.errors import InputError
from deconditioning.estimators.downscaling import downscale
from deconditioning.period import store
from deconditioning.period.archive import stored
from deconditioning.period.archive.peers.fitted import ANALOGS, DELTA, EOFS, FOREST, QUANTILES, RIDGE
from tests.core.period.made import made_dataset

ROOT = Path(__file__).resolve().parents[3]
FIXED = ["--model", "area_to_point_gp", "--no-learn", "--quiet"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "made.nc"
    made_dataset(60).to_netcdf(path, engine="h5netcdf")
    return path


def run(capsys: pytest.CaptureFixture[str], *words: object) -> dict:
    assert main(["downscale", *map(str, words)]) == 0
    return json.loads(capsys.readouterr().out)


def options(file: Path, *more: object) -> list[object]:
    return [file, "--target", "t", "--covariates", "orog", "--block", 4, 4, "--withhold", 0, *FIXED, *more]


def test_all_times_are_written_with_their_calendar(file: Path, tmp_path: Path, capsys) -> None:
    with xr.open_dataset(file) as dataset:
        moved = dataset.load()
    dates = cftime.num2date(np.arange(60), "days since 2001-02-20", calendar="360_day")
    moved = moved.assign_coords(time=("time", dates))
    moved.to_netcdf(tmp_path / "months.nc", engine="h5netcdf")
    out = tmp_path / "out.nc"
    given = run(capsys, *options(tmp_path / "months.nc", "--times", "2001-02", "--output", out))
    assert given["results"][0]["times"] == 11 and given["settings"]["times"] == ["2001-02"]
    with xr.open_dataset(out) as result:
        assert result.sizes["time"] == 11 and result.time.values[-1].calendar == "360_day"
        assert str(result.time.values[-1])[:10] == "2001-02-30"
        assert set(result["mean"].dims) == {"time", "lat", "lon"} and result["sd"].shape == (11, 16, 20)
        weights = np.broadcast_to(np.cos(np.radians(result.lat.values))[:, None], result.error.shape)
        error = float(np.sqrt(np.average(result.error.values**2, weights=weights)))
        assert given["results"][0]["scores"]["rmse"] == pytest.approx(error, rel=1e-3)
        assert given["results"][1]["model"] == "bilinear"


def test_an_archive_and_statistics_go_through_the_command(file: Path, tmp_path: Path, capsys) -> None:
    out = tmp_path / "out.zarr"
    words = ["--times", "#48/#59", "--archive", file, "--statistics", "month", "above=280", "--realizations", 4]
    given = run(capsys, *options(file, *words, "--output", out))
    alone = run(capsys, *options(file, "--times", "#48/#59"))
    scores = [each["results"][0]["scores"] for each in (given, alone)]
    assert scores[0]["crps"] < 0.9 * scores[1]["crps"]
    assert given["results"][0]["diagnostics"]["training_times"] == 48
    with xr.open_zarr(out, consolidated=True) as result:
        assert list(result.month_mean_group.values) == ["February", "March"]
        assert result.month_mean_sd.shape == (2, 16, 20) and "month_mean_sd_if_fixed" not in result
        assert result.times_above_280_truth.max() <= 12 and result.times_above_280.attrs["units"] == "1"


def test_joint_draws_are_written_verified_and_the_same_in_python(
    file: Path, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, words = tmp_path / "out.nc", ["--times", "#48/#59", "--archive", file, "--draws", 5]
    run(capsys, *options(file, *words, "--output", out))
    assert main(["verify", str(out), "--quiet", "--table", str(tmp_path / "scores.csv")]) == 0
    verified = json.loads(capsys.readouterr().out)["draws"]
    with xr.open_dataset(out) as written, xr.open_dataset(file) as fine:
        assert written["draws"].dims == ("realization", "time", "lat", "lon") and written.sizes["realization"] == 5
        result = downscale(
            fine, fine, target="t", covariate_names=["orog"], coarsen=(4, 4), withhold=0.0, times="#48/#59",
            archive=fine, learn=False, model="area_to_point_gp", draws=5,
        )  # fmt: skip
        np.testing.assert_allclose(result["draws"], written["draws"], rtol=0, atol=1e-3)
        standard = ((written["draws"] - written["mean"]) / written["sd"]).values
        assert standard.std() == pytest.approx(1, abs=0.15)
        lag = np.mean(standard[:, 1:] * standard[:, :-1])
        changes = [float(np.square(np.diff(each, axis=-3)).mean()) for each in (written.draws, written.truth)]
        assert lag > 0.1 and verified["tendency"] == pytest.approx(np.sqrt(changes[0] / changes[1]), rel=0.03)
    assert "draws of out,tendency,," in (tmp_path / "scores.csv").read_text() and len(verified["ranks"]) == 6
    for name, value in (("_CHUNK", 3 * 320), ("WHOLE_BYTES", 0), ("STRETCH_BYTES", 8 * 320 * 3)):
        monkeypatch.setattr(store, name, value)
    assert main(["downscale", *map(str, options(file, *words, "--output", tmp_path / "out.zarr"))]) != 0
    assert "`--draws` need all times in memory" in capsys.readouterr().err


def test_probabilities_of_exceeding_are_those_of_the_distribution_at_each_time(
    file: Path, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, words = tmp_path / "out.nc", ["--times", "#48/#59", "--archive", file, "--exceedance", 283, 278]
    run(capsys, *options(file, *words, "--output", out))
    with xr.open_dataset(out) as written:
        assert written.exceedance.dims == ("threshold", "time", "lat", "lon") and written.exceedance.units == "1"
        assert written.threshold.values.tolist() == [278, 283] and written.threshold.units == "K"
        expected = norm.sf(written.threshold.values[:, None, None, None], written["mean"], written.sd)
        np.testing.assert_allclose(written.exceedance, expected, atol=1e-6)
        assert 0.01 < float(written.exceedance.mean()) < 0.99
    for name, value in (("_CHUNK", 3 * 320), ("WHOLE_BYTES", 0), ("STRETCH_BYTES", 8 * 320 * 3)):
        monkeypatch.setattr(store, name, value)
    assert main(["downscale", *map(str, options(file, *words, "--output", tmp_path / "out.zarr"))]) != 0
    assert "`--exceedance` needs all times in memory" in capsys.readouterr().err


def test_a_statistic_that_a_series_does_not_allow_is_refused_before_anything_is_computed(
    file: Path, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deconditioning.cli.period._training", lambda *given: pytest.fail("the archive was read"))
    words = ["--times", "#48/#59", "--archive", file, "--statistics", "return=20", "--output", tmp_path / "out.nc"]
    assert main(["downscale", *map(str, options(file, *words))]) != 0
    assert "the series has 1: choose a longer period" in capsys.readouterr().err


def test_a_large_archive_is_kept_beside_the_output_and_its_cost_is_said_first(
    file: Path, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    words = ["--times", "#48/#59", "--archive", file, "--output", folder / "out.nc"]
    inside = run(capsys, *options(file, *words))
    monkeypatch.setattr(stored, "IN_MEMORY", 0)
    places, new_file = [], stored._new_file
    monkeypatch.setattr(stored, "_new_file", lambda size, place: places.append(place) or new_file(size, place))
    spoken = [word for word in options(file, *words) if word != "--quiet"]
    assert main(["downscale", *map(str, spoken)]) == 0
    printed = capsys.readouterr()
    lines = printed.err.splitlines()
    cost = next(n for n, line in enumerate(lines) if line.startswith("The archive has 48 times of 320 pixels"))
    assert cost < next(n for n, line in enumerate(lines) if "Coarse values of the training period" in line)
    assert places == [folder] and [each.name for each in folder.iterdir()] == ["out.nc"]
    filed = json.loads(printed.out)["results"]
    assert filed[0]["scores"]["rmse"] == pytest.approx(inside["results"][0]["scores"]["rmse"], rel=1e-5)
    others = {each["model"] for each in inside["results"]} - {each["model"] for each in filed}
    assert others == {DELTA, RIDGE, QUANTILES, ANALOGS, EOFS, FOREST}


def test_cells_that_are_missing_at_some_times_are_linked_through_the_command(tmp_path: Path, capsys) -> None:
    """Files with gaps are scored; the option says whether times are linked, also stretch by stretch."""
    dataset, missing = made_dataset(20), np.random.default_rng(0).uniform(size=(20, 4, 5)) < 0.4
    dataset["t"] = dataset["t"].where(~np.kron(missing, np.ones((1, 4, 4))).astype(bool))
    file = tmp_path / "gaps.nc"
    dataset.to_netcdf(file, engine="h5netcdf")
    words = ["--times", "all", "--output"]
    on = run(capsys, *options(file, *words, tmp_path / "on.nc", "--link-times", "on"))
    off = run(capsys, *options(file, *words, tmp_path / "off.nc", "--link-times", "off"))
    assert on["settings"]["link_times"] == "on" and "τ" in on["results"][0]["diagnostics"]["linked"]
    assert "linked" not in off["results"][0]["diagnostics"] and on["results"][0]["scores"]["crps"] > 0
    assert {each["model"] for each in on["results"]} > {"bilinear"}
    full = made_dataset(20)["t"]
    with xr.open_dataset(tmp_path / "on.nc") as linked, xr.open_dataset(tmp_path / "off.nc") as alone:
        errors = [float(np.sqrt(((each["mean"] - full) ** 2).mean())) for each in (linked, alone)]
    assert errors[0] < 0.95 * errors[1]
    assert main(["downscale", *map(str, options(file, *words, tmp_path / "no.nc"))]) == 0


def test_missing_cells_are_linked_beside_an_archive_through_the_command(file: Path, tmp_path: Path, capsys) -> None:
    """The archive is complete, the series has gaps."""
    dataset, missing = made_dataset(60), np.random.default_rng(0).uniform(size=(60, 4, 5)) < 0.5
    dataset["t"] = dataset["t"].where(~np.kron(missing, np.ones((1, 4, 4))).astype(bool))
    gaps = tmp_path / "gaps.nc"
    dataset.to_netcdf(gaps, engine="h5netcdf")
    words = ["--times", "#48/#59", "--archive", file, "--period", "#0/#47"]
    errors = []
    for link in ("on", "off"):
        out = tmp_path / f"{link}.nc"
        given = run(capsys, *options(gaps, *words, "--output", out, "--link-times", link))
        assert ("linked" in given["results"][0]["diagnostics"]) == (link == "on")
        with xr.open_dataset(file) as fine, xr.open_dataset(out) as written:
            errors.append(float(np.sqrt(((written["mean"] - fine["t"].isel(time=slice(48, 60))) ** 2).mean())))
    assert errors[0] < 0.98 * errors[1]
    said = [each for each in options(gaps, *words, "--link-times", "on") if each != "--quiet"]
    assert main(["downscale", *map(str, said)]) == 0
    assert "Note: Missing cells are linked with those before and after" in capsys.readouterr().err


def test_predictors_go_through_the_command_and_the_library(file: Path, tmp_path: Path, capsys) -> None:
    out, words = tmp_path / "out.nc", ["--times", "#48/#59", "--archive", file, "--predictors", "wind"]
    given = run(capsys, *options(file, *words, "--output", out))
    assert given["settings"]["predictors"] == ["wind"]
    assert "with predictors" in given["results"][0]["diagnostics"]["mixture"]
    with xr.open_dataset(file) as fine, xr.open_dataset(out) as written:
        result = downscale(
            fine, fine, target="t", covariate_names=["orog"], coarsen=(4, 4), withhold=0.0, times="#48/#59",
            archive=fine, predictors="wind", learn=False, model="area_to_point_gp",
        )  # fmt: skip
        np.testing.assert_allclose(result["mean"], written["mean"], rtol=0, atol=1e-4)


def test_rain_and_a_pair_go_through_the_command(tmp_path: Path, capsys) -> None:
    """The file of rain has no negative value and the note names the warp; that of a pair has both in their order."""
    file, words = tmp_path / "region.nc", ["--times", "#140/#149", "--archive", tmp_path / "region.nc"]
    weather_region(150, 16).dataset.to_netcdf(file, engine="h5netcdf")
    fixed = [file, "--covariates", "orography", "--block", 4, 4, "--withhold", 0, *FIXED, *words]
    more = ["--statistics", "above=1", "--exceedance", 1]
    given = run(capsys, *fixed, "--target", "pr", "--output", tmp_path / "rain.nc", *more)
    assert "Box-Cox" in given["results"][0]["diagnostics"]["warp"]
    assert given["results"][0]["settings"]["warp"]["kind"] == "box-cox"
    with xr.open_dataset(tmp_path / "rain.nc") as rain:
        assert float(rain["mean"].min()) >= 0 and float(rain["times_above_1_low"].min()) >= 0
        days, of_draws = rain.exceedance.sel(threshold=1).sum("time"), rain["times_above_1"]
        assert float(days.mean()) == pytest.approx(float(of_draws.mean()), rel=0.1)  # the mean count of joint draws
        assert float(np.abs(days - of_draws).max()) < 1.5
    assert main(["verify", str(tmp_path / "rain.nc"), "--sal", "--above", "1"]) == 0
    verified = json.loads(capsys.readouterr().out)
    assert {each["window"] for each in verified["fractions"]} == {1, 3, 9}
    assert verified["sal"]["rain"]["sal_structure"] > 0  # a mean is smoother than rain
    read = verified["results"][0]["scores"]
    assert read["crps"] == pytest.approx(given["results"][0]["scores"]["crps"], rel=1e-3)
    given = run(capsys, *fixed, "--target", "tmin", "--upper", "tmax", "--output", tmp_path / "pair.nc",
                "--exceedance", 280)  # fmt: skip
    assert given["settings"]["upper"] == "tmax" and len(given["results"]) > 5
    with xr.open_dataset(tmp_path / "pair.nc") as both:
        assert bool((both["mean"] <= both["upper_mean"]).all()) and "upper_truth" in both
        assert float(both["exceedance"].mean()) < float(both["upper_exceedance"].mean())


def test_one_time_of_several_says_how_to_have_all(file: Path, capsys) -> None:
    words = [each for each in options(file) if each != "--quiet"]
    assert main(["downscale", *map(str, words)]) == 0
    assert "has 60 times and only one is downscaled" in capsys.readouterr().err
    assert main(["downscale", *map(str, words), "--select", "time=#3"]) == 0
    assert "only one is downscaled" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--archive", "x.nc"], "give `--times all`"),
        (["--times", "all", "--predictors", "wind"], "add `--archive`"),
        (["--times", "all", "--upper", "wind"], "needs the archive of both"),
        (["--link-times", "on"], "is for many times: add `--times`"),
        (
            ["--times", "all", "--archive", "x.nc", "--other-method", "bcsd", "--link-times", "off"],
            "`--other-method` cannot be combined with `--link-times`",
        ),
        (["--times", "all", "--period", "all"], "`--period` is the training period"),
        (["--times", "all", "--quantiles", "--output", "o.nc"], "`--quantiles` applies to a single time"),
        (["--times", "all", "--statistics", "mean"], "add `--output`"),
        (["--times", "1999"], "No time matches '1999'"),
    ],
)
def test_what_does_not_go_together_is_refused(file: Path, capsys, words, sentence, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["downscale", *map(str, options(file, *words))]) != 0
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("archive", [False, True])
def test_stretches_of_times_are_those_of_all_at_once_also_after_an_end(
    file: Path, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch, archive: bool
) -> None:
    more = ["--archive", file] if archive else []
    words = ["--times", "#40/#59", *more]
    whole = run(capsys, *options(file, *words, "--output", tmp_path / "whole.zarr"))
    monkeypatch.setattr(store, "_CHUNK", 3 * 320)
    monkeypatch.setattr(store, "WHOLE_BYTES", 0)
    monkeypatch.setattr(store, "STRETCH_BYTES", 8 * 320 * 8)
    out, written = tmp_path / "parts.zarr", store._write

    def ended(*given: object) -> None:
        if (out / ".downscaled.json").exists() and json.loads((out / ".downscaled.json").read_text())["done"]:
            raise InputError("the machine is switched off")
        written(*given)

    monkeypatch.setattr(store, "_write", ended)
    assert main(["downscale", *map(str, options(file, *words, "--output", out))]) == 2
    monkeypatch.setattr(store, "_write", written)
    assert main(["downscale", *map(str, options(file, "--times", "#39/#59", *more, "--output", out))]) == 2
    assert "started by another command" in capsys.readouterr().err
    parts = run(capsys, *options(file, *words, "--output", out))
    with xr.open_zarr(tmp_path / "whole.zarr") as one, xr.open_zarr(out) as other:
        assert set(one) == set(other) and one.attrs["settings"] == other.attrs["settings"]
        for name in one.variables:
            if one[name].dtype.kind == "f":
                np.testing.assert_allclose(other[name], one[name], atol=1e-8, err_msg=str(name))
        np.testing.assert_array_equal(one.time, other.time)
    first, second = (each["results"][0] for each in (whole, parts))
    assert second["scores"] == pytest.approx(first["scores"]) and second["times"] == 20
    assert main(["downscale", *map(str, options(file, *words, "--output", out))]) == 2
    assert "is a folder" in capsys.readouterr().err


def test_a_climatology_is_a_covariate_of_one_time_and_of_many(file: Path, tmp_path: Path, capsys) -> None:
    """The made-up region has a fixed pattern that altitude does not explain."""
    out, given = tmp_path / "out.nc", ["--climatology", file, "--period", "#0/#39"]
    drawn = ["--statistics", "mean", "--realizations", 20, "--draws", 3, "--exceedance", 280]
    for words, more in ((["--times", "#48/#59"], drawn), (["--select", "time=#50"], [])):
        own = run(capsys, *options(file, *words, *given, *more, "--output", out))
        alone = run(capsys, *options(file, *words))
        assert own["settings"]["climatology"] == str(file) and own["settings"]["period"] == ["#0/#39"]
        rmse = [each["results"][0]["scores"]["rmse"] for each in (own, alone)]
        assert rmse[0] < 0.99 * rmse[1] if "--times" in words else rmse[0] != rmse[1]
        with xr.open_dataset(out) as written:
            assert "climatology" in json.loads(written.attrs["problem"])["covariates"]
            if more:  # the climatology changes with time
                assert written.draws.sizes["realization"] == 3 and (written.exceedance <= 1).all()
                sds = written.period_mean_sd, written.period_mean_sd_if_fixed
                assert 0 < float(sds[0].mean()) < float(sds[1].mean()) < 1.1 * float(written.sd.mean())
    for words, sentence in (
        (["--times", "all", "--archive", file, "--climatology", file], "leave `--climatology` out"),
        (["--period", "#0/#9"], "the training period of `--archive` or `--climatology`"),
        (["--climatology", file, "--polygons", "regions.json", "--value", "t"], "needs a target on a grid"),
    ):
        assert main(["downscale", *map(str, options(file, *words))]) != 0
        assert sentence in capsys.readouterr().err


def test_another_method_is_written_verified_and_the_same_in_python(file: Path, tmp_path: Path, capsys) -> None:
    out, words = tmp_path / "out.nc", ["--times", "#48/#59", "--archive", file, "--other-method", "ridge"]
    given = run(capsys, *options(file, *words, "--output", out, "--statistics", "mean"))
    assert [each["model"] for each in given["results"]] == ["ridge", "bilinear"]
    assert main(["verify", str(out), "--quiet"]) == 0
    verified = json.loads(capsys.readouterr().out)["results"][0]["scores"]
    assert verified["crps"] == pytest.approx(given["results"][0]["scores"]["crps"], rel=1e-5)
    with xr.open_dataset(out) as written, xr.open_dataset(file) as fine:
        assert written.attrs["model"] == "ridge" and json.loads(written.attrs["settings"])["other_method"] == "ridge"
        result = downscale(
            fine, fine, target="t", covariate_names=["orog"], coarsen=(4, 4), withhold=0.0, times="#48/#59",
            archive=fine, learn=False, model="area_to_point_gp", other_method="ridge",
        )  # fmt: skip
        for name in ("mean", "sd"):
            np.testing.assert_allclose(result[name], written[name], rtol=0, atol=1e-4)
    for more, sentence in (
        (["--other-method", "ridge", "--times", "all"], "`--other-method` is fitted to an archive"),
        ([*words, "--predictors", "wind"], "cannot be combined with `--predictors`"),
    ):
        assert main(["downscale", *map(str, options(file, *more))]) != 0
        assert sentence in capsys.readouterr().err


def test_a_plan_is_said_before_anything_is_computed_and_is_near_what_was_measured(
    file: Path, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By stored rows of parts of long series; what is held grows with the times, but not if they are in stretches."""
    monkeypatch.setattr("deconditioning.cli.period._downscaled", lambda *given: pytest.fail("computed"))
    words, out = ["--times", "all", "--plan"], tmp_path / "out.zarr"
    plan = run(capsys, *options(file, *words, "--output", out))["plan"]
    assert (plan["times"], plan["pixels"], plan["cells"], plan["learning"]) == (60, 320, 20, 0) and not out.exists()
    half = run(capsys, *options(file, "--times", "#0/#29", "--plan"))["plan"]
    assert plan["disk"] == pytest.approx(2 * half["disk"]) and plan["memory"] > half["memory"]
    for name, value in (("_CHUNK", 3 * 320), ("WHOLE_BYTES", 0), ("STRETCH_BYTES", 8 * 320 * 3)):
        monkeypatch.setattr(store, name, value)
    parts = [
        run(capsys, *options(file, "--times", times, "--plan", "--output", out))["plan"] for times in ("all", "#0/#29")
    ]
    assert parts[0]["memory"] == parts[1]["memory"] < half["memory"]
    stored_rows = json.loads((ROOT / "tests/benchmarks/results/period_plan.json").read_text())["rows"]
    assert stored_rows
    for row in stored_rows:
        part, whole = row["more"]["plans"]
        assert 0.5 < row["ours"] / part["seconds"] < 2 and 0.7 < row["more"]["bytes"] / part["disk"] < 1.4
        assert whole["times"] >= 1000 and whole["seconds"] > part["seconds"]
    other = [*words, "--archive", file, "--other-method", "ridge"]
    for more, sentence in ((["--plan"], "add `--times`"), (other, "`--plan` does not cover `--other-method`")):
        assert main(["downscale", *map(str, options(file, *more))]) != 0
        assert sentence in capsys.readouterr().err


def test_the_plan_with_an_archive_is_near_what_was_measured_and_counts_stretches(
    file: Path, tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An archive in memory has other methods beside it, one in a file has that file; each stretch needs the archive."""
    monkeypatch.setattr("deconditioning.cli.period._downscaled", lambda *given: pytest.fail("computed"))
    words = ["--times", "#48/#59", "--archive", file, "--plan", "--output", tmp_path / "out.zarr"]
    plan = run(capsys, *options(file, *words))["plan"]
    alone = run(capsys, *options(file, "--times", "#48/#59", "--plan"))["plan"]
    assert (plan["archive"], plan["temporary"], plan["times"]) == (48, 0, 12) and plan["disk"] == alone["disk"]
    assert plan["seconds"] > alone["seconds"]
    learned = [str(word) for word in options(file, *words) if word != "--no-learn"]
    assert main(["downscale", *learned]) == 0  # 12, 29 and 75 s were measured for 9,216, 20,736 and 57,600 pixels
    assert json.loads(capsys.readouterr().out)["plan"]["learning"] / 320 == pytest.approx(29 / 20_736, rel=0.1)
    part = run(capsys, *options(file, *words, "--period", "#0/#29"))["plan"]
    assert part["archive"] == 30 and part["seconds"] < plan["seconds"] and part["memory"] < plan["memory"]
    monkeypatch.setattr(stored, "IN_MEMORY", 0)
    assert main(["downscale", *map(str, options(file, *words))]) == 0
    found = capsys.readouterr()
    assert json.loads(found.out)["plan"]["temporary"] == 4 * 48 * 320
    assert "and an archive of 48 times" in found.err and "a temporary one of 6.1e-05 GB for the archive" in found.err
    monkeypatch.setattr(stored, "IN_MEMORY", 10**9)
    for name, value in (("_CHUNK", 3 * 320), ("WHOLE_BYTES", 0), ("STRETCH_BYTES", 8 * 320 * 3)):
        monkeypatch.setattr(store, name, value)
    in_four = run(capsys, *options(file, *words))["plan"]
    assert 3.9 < (in_four["seconds"] - alone["seconds"]) / (plan["seconds"] - alone["seconds"]) < 4
    stored_rows = json.loads((ROOT / "tests/benchmarks/results/period_plan_archive.json").read_text())["rows"]
    assert len(stored_rows) == 3 and stored_rows[-1]["more"]["plan"]["temporary"] > 0
    for row in stored_rows:
        given, more = row["more"]["plan"], row["more"]
        assert 0.5 < row["ours"] / given["seconds"] < 2 and 0.7 < more["memory"] / given["memory"] < 1.4
        assert 0.7 < more["bytes"] / given["disk"] < 1.4
