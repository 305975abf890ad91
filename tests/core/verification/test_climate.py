"""Climate indices and diagnostics against xarray's groups, plain loops and scipy."""

import csv
import json
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from scipy.stats import wasserstein_distance

from deconditioning.cli.program import main
from deconditioning.errors import InputError
from deconditioning.verification import climate
from deconditioning.verification.climate import Days, climate_scores, correlation_scores
from deconditioning.verification.indices import in_index_units, kind_of, longest
from deconditioning.verification.ml_bench import ml_bench_file
from deconditioning.verification.series import verified

SIZE, DRAWS = (8, 9), 11


def made(kind: str) -> xr.Dataset:
    """Three years of days: a truth, a prediction with an error, draws; with a missing value of the truth."""
    rng = np.random.default_rng(3)
    time = xr.date_range("2001-01-01", periods=3 * 365, freq="D")
    dims, shape = ("time", "lat", "lon"), (len(time), *SIZE)
    year = 8 * np.sin(2 * np.pi * np.arange(len(time)) / 365.25 - 1.8)[:, None, None]
    if kind == "temperature":
        truth = 290 + year + 4 * rng.normal(size=shape)
        mean, units, name = truth + 0.4 + rng.normal(size=shape), "K", "air_temperature"
        draws = mean + rng.normal(size=(DRAWS, *shape))
    else:
        truth = np.maximum(rng.gamma(0.6, 5, shape) - 1.5, 0)
        mean, units, name = 0.8 * truth + 0.5, "mm", "lwe_thickness_of_precipitation_amount"
        draws = np.maximum(mean + rng.normal(size=(DRAWS, *shape)), 0)
    truth[40, 3, 4] = np.nan
    about = {"units": units, "standard_name": name}
    axes = {"time": time, "lat": np.linspace(40, 47, SIZE[0]), "lon": np.linspace(5, 13, SIZE[1])}
    fields = {"mean": (dims, mean, about), "truth": (dims, truth, about),
              "draws": (("realization", *dims), draws, about)}  # fmt: skip
    return xr.Dataset(fields, axes)


def found(dataset: xr.Dataset, kind: str) -> dict[tuple[str, str, str], climate.ClimateScore]:
    scores = climate_scores(verified(dataset), Days.of(dataset.time), kind)
    return {(each.prediction, each.season, each.score): each for each in scores}


def yearly(field: xr.DataArray, reduce: str) -> xr.DataArray:
    return getattr(field.resample(time="1YE"), reduce)().mean("time")


@pytest.fixture(scope="module")
def warm() -> xr.Dataset:
    return made("temperature")


@pytest.fixture(scope="module")
def warm_scores(warm: xr.Dataset) -> dict[tuple[str, str, str], climate.ClimateScore]:
    """With two draws."""
    return found(warm.isel(realization=[0, 1]), "temperature")


@pytest.fixture(scope="module")
def wet() -> xr.Dataset:
    return made("precipitation")


@pytest.mark.parametrize("season", ["year", "JJA", "DJF"])
def test_indices_of_temperature_are_those_of_groups_of_days(warm: xr.Dataset, warm_scores, season: str) -> None:
    scores = warm_scores
    chosen = warm if season == "year" else warm.where(warm["time.season"] == season, drop=True)

    def by_hand(z: xr.DataArray) -> dict[str, xr.DataArray]:
        return {
            "mean": z.mean("time"), "q02": z.quantile(0.02, "time"), "q98": z.quantile(0.98, "time"),
            "summer_days": (z > 300).groupby("time.year").sum("time").mean("year"),
            "frost_days": (z < 273.15).groupby("time.year").sum("time").mean("year"),
            "txx": yearly(z, "max"), "txn": yearly(z, "min"),
            "lag1": xr.corr(z, z.shift(time=1), "time"),
            "interannual_sd": z.groupby("time.year").mean("time").std("year"),
        }  # fmt: skip

    truth, mean = by_hand(chosen.truth), by_hand(chosen["mean"])
    drawn = [by_hand(chosen.draws[each]) for each in range(2)]
    for name, true in truth.items():
        mine = scores["prediction", season, name]
        bias = mean[name] - true
        assert mine.truth == pytest.approx(float(true.mean()), rel=1e-9)
        assert mine.bias == pytest.approx(float(bias.mean()), rel=1e-6, abs=1e-9)
        assert mine.absolute_bias == pytest.approx(float(abs(bias).mean()), rel=1e-6)
        if bool((true != 0).any()):
            assert mine.ratio == pytest.approx(float((mean[name] / true).where(true != 0).mean()), rel=1e-6)
        each = scores["draws of prediction", season, name].predicted
        assert each == pytest.approx(float(np.mean([one[name].mean() for one in drawn])), rel=1e-9)


def test_spells_and_amounts_of_rain_are_those_of_plain_loops(wet: xr.Dataset) -> None:
    scores = found(wet.isel(realization=[0]), "precipitation")
    truth, years = wet.truth.values.reshape(len(wet.time), -1), wet["time.year"].values

    def spell(days: np.ndarray) -> int:
        return max((len(list(run)) for key, run in groupby(days) if key), default=0)

    pixels = range(truth.shape[1])
    dry = np.mean([[spell(truth[years == year, at] < 1) for year in (2001, 2002, 2003)] for at in pixels])
    long_wet = np.mean([[spell(truth[years == year, at] >= 1) for year in (2001, 2002, 2003)] for at in pixels])
    assert scores["prediction", "year", "cdd"].truth == pytest.approx(dry)
    assert scores["prediction", "year", "cwd"].truth == pytest.approx(long_wet)
    amounts = [truth[truth[:, at] >= 1, at].mean() for at in pixels]
    assert scores["prediction", "year", "sdii"].truth == pytest.approx(np.mean(amounts))
    shares = [(truth[:, at] >= 1).sum() / np.isfinite(truth[:, at]).sum() for at in pixels]
    assert scores["prediction", "year", "wet_days"].truth == pytest.approx(np.mean(shares))
    largest = [[np.nanmax(truth[years == year, at]) for year in (2001, 2002, 2003)] for at in pixels]
    assert scores["prediction", "year", "rx1day"].truth == pytest.approx(np.mean(largest))
    assert list(longest(np.array([[1, 0], [1, 0], [0, 0], [1, 0]], dtype=bool))) == [2, 0]


def test_diagnostics_are_those_of_all_values(warm: xr.Dataset, warm_scores) -> None:
    scores = warm_scores
    truth, mean = warm.truth.values, warm["mean"].values
    error = (mean - truth)[np.isfinite(truth)]
    assert scores["prediction", "year", "rmse"].value == pytest.approx(np.sqrt(np.mean(error**2)))
    distance = wasserstein_distance(truth[np.isfinite(truth)], mean.ravel())
    assert scores["prediction", "year", "wasserstein"].value == pytest.approx(distance)
    pixels = [
        wasserstein_distance(truth[:, i, j], mean[:, i, j]) for i in range(8) for j in range(9) if (i, j) != (3, 4)
    ]
    assert scores["prediction", "year", "wasserstein_pixel"].value == pytest.approx(np.mean(pixels))
    power: list[dict[int, list[float]]] = [{}, {}]
    for rings, fields in zip(power, (truth, mean), strict=True):
        for field in fields:
            transform = np.fft.fftshift(np.fft.fft2(np.nan_to_num(field)))
            for i in range(8):
                for j in range(9):
                    rings.setdefault(int(np.hypot(i - 3.5, j - 4)), []).append(abs(transform[i, j]) ** 2)
    one, other = (np.array([np.mean(rings[key]) for key in sorted(rings)]) for rings in power)
    ralsd = np.sqrt(np.mean((10 * np.log10(one / other)) ** 2))
    assert scores["prediction", "year", "ralsd"].value == pytest.approx(ralsd)


def test_pixels_in_several_blocks_give_the_same(warm: xr.Dataset, warm_scores, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = warm_scores
    monkeypatch.setattr(climate, "_ROOM", 10 * 1095 * 4)
    parts = found(warm.isel(realization=[0, 1]), "temperature")
    assert whole.keys() == parts.keys()
    for key, score in whole.items():
        assert vars(parts[key]) == pytest.approx(vars(score)) if score.value is None else True
        assert score.value is None or parts[key].value == pytest.approx(score.value)


def test_the_bias_of_the_correlation_of_two_variables(warm: xr.Dataset, wet: xr.Dataset) -> None:
    rows = correlation_scores(verified(warm), verified(wet), Days.of(warm.time), ("tasmax", "pr"))
    (summer,) = (each for each in rows if (each.prediction, each.season) == ("prediction", "JJA"))
    one, other = (each.where(each["time.season"] == "JJA", drop=True) for each in (warm, wet))
    truth, mean = (xr.corr(one[name], other[name], "time") for name in ("truth", "mean"))
    assert summer.bias == pytest.approx(float((mean - truth).mean()))
    assert summer.score == "correlation of tasmax and pr"
    with pytest.raises(InputError, match="different times"):
        correlation_scores(verified(warm), verified(wet.isel(time=slice(10))), Days.of(warm.time))


@pytest.mark.parametrize(
    ("units", "value", "expected"), [("mm", 2.0, 2.0), ("mm day-1", 2.0, 2.0), ("kg m-2 s-1", 2 / 86400, 2.0),
                                     ("m", 0.002, 2.0), ("kg m-2", 2.0, 2.0)],
)  # fmt: skip
def test_precipitation_is_in_mm_a_day(units: str, value: float, expected: float) -> None:
    assert kind_of(units, "precipitation_flux") == "precipitation"
    converted, found_units = in_index_units(np.array([value]), units, "precipitation")
    assert (converted[0], found_units) == (pytest.approx(expected), "mm")


def test_kinds_and_refusals(warm: xr.Dataset) -> None:
    assert kind_of("degC", "") == "temperature" and kind_of("m s-1", "wind_speed") == "other"
    assert in_index_units(np.array([20.0]), "degC", "temperature")[0][0] == pytest.approx(293.15)
    with pytest.raises(InputError, match="give mm"):
        in_index_units(np.ones(1), "W m-2", "precipitation")
    with pytest.raises(InputError, match="daily values"):
        Days.of(xr.DataArray(xr.date_range("2001-01-01", periods=9, freq="3h"), dims="time"))
    with pytest.raises(InputError, match="dates"):
        Days.of(xr.DataArray(np.arange(9), dims="time"))
    calendar = xr.date_range("2001-01-01", periods=90, freq="D", calendar="360_day", use_cftime=True)
    assert set(Days.of(xr.DataArray(calendar, dims="time")).month) == {1, 2, 3}


def test_the_command_prints_writes_a_table_and_the_benchmark_s_file(
    warm: xr.Dataset, wet: xr.Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [str(tmp_path / name) for name in ("t.nc", "p.nc")]
    small = [each.isel(time=slice(300), lat=slice(3), lon=slice(3)) for each in (warm, wet)]
    for dataset, path in zip(small, paths, strict=True):
        dataset.to_netcdf(path, engine="h5netcdf")
    table, out = tmp_path / "scores.csv", tmp_path / "bench.nc"
    assert main(["climate", *paths, "--table", str(table), "--ml-bench", str(out), "--json", "-"]) == 0
    printed = capsys.readouterr()
    assert "summer_days, d" in printed.err and "Precipitation:" in printed.err
    rows = list(csv.DictReader(table.open()))
    assert len(rows) == len(json.loads(printed.out)["scores"]) and {row["season"] for row in rows} >= {"year", "SON"}
    with xr.open_dataset(out, engine="h5netcdf") as bench:
        assert bench.tasmax.dims == ("member", "time", "y", "x") and bench.sizes["member"] == 10
        assert bench.lat.dims == ("y", "x") and np.ptp(bench.lat.values[0]) == 0
        assert np.allclose(bench.pr.values, small[1].draws[:10].values, rtol=1e-6)
    assert main(["climate", paths[0], paths[0]]) == 2
    alone = ml_bench_file({"temperature": warm.drop_vars("draws")})
    assert alone.tasmax.dims == ("time", "y", "x") and "pr" not in alone
