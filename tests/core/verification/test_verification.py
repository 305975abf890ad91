"""Verification against other libraries, plain loops and limits."""

import json
from pathlib import Path

import numpy as np
import pytest
import scoringrules
import xarray as xr
from scipy.signal import lfilter
from sklearn.metrics import brier_score_loss, roc_auc_score

from deconditioning.cli.program import main
from deconditioning.downscaling.source import Source
from deconditioning.errors import InputError
from deconditioning.period.dataset import period_dataset
from deconditioning.period.run import downscale_series
from deconditioning.period.scores import verified_result
from deconditioning.period.series import read_series
from deconditioning.verification.comparison import block_length, skill
from deconditioning.verification.events import events
from deconditioning.verification.report import verify
from deconditioning.verification.scores import series_scores
from deconditioning.verification.series import BILINEAR, CELL_MEAN, CONSERVING, cell_means, verified
from tests.core.period.made import SPEC, UNLEARNED, made_fields

SIZE = (8, 12)


@pytest.fixture
def made() -> xr.Dataset:
    """Thirty times of a truth on a sphere, predicted with an error and an sd that differ from pixel to pixel."""
    rng = np.random.default_rng(2)
    times, dims = 30, ("time", "lat", "lon")
    truth = 280 + rng.normal(size=(times, *SIZE)).cumsum(0)
    sd = 0.5 + rng.random((times, *SIZE))
    mean = truth + 0.3 + sd * rng.normal(size=sd.shape)
    truth[3, 2, 5] = np.nan
    axes = {"time": np.arange(times), "lat": np.linspace(30, 65, SIZE[0]), "lon": np.linspace(0, 11, SIZE[1])}
    ends = {"lat": [[25, 47], [47, 70]], "lon": [[-1, 3.5], [3.5, 7.5], [7.5, 12]]}
    bounds = {f"coarse_{name}_bnds": ((f"coarse_{name}", "bnds"), np.array(each)) for name, each in ends.items()}
    fields = {"mean": (dims, mean), "sd": (dims, sd), "truth": (dims, truth, {"units": "K"})}
    return xr.Dataset({**fields, **bounds}, axes)


def flat(made: xr.Dataset) -> tuple[np.ndarray, ...]:
    """Truth, mean, sd and weight of every scored value."""
    weights = np.broadcast_to(np.cos(np.radians(made.lat.values))[:, None], made.truth.shape)
    there = np.isfinite(made.truth.values)
    return tuple(each[there] for each in (made.truth.values, made["mean"].values, made.sd.values, weights))


def test_pooled_scores_are_those_of_all_values_at_once(made: xr.Dataset) -> None:
    scores, weight = series_scores(verified(made))
    found = scores["prediction"]
    truth, mean, sd, weights = flat(made)

    def average(values: np.ndarray) -> float:
        return float(np.average(values, weights=weights))

    assert found.pooled["rmse"] == pytest.approx(np.sqrt(average((mean - truth) ** 2)))
    assert found.pooled["bias"] == pytest.approx(average(mean - truth))
    assert found.pooled["crps"] == pytest.approx(average(scoringrules.crps_normal(truth, mean, sd)))
    assert found.pooled["coverage95"] == pytest.approx(average(np.abs(truth - mean) < 1.959964 * sd))
    assert found.pooled["spread_skill"] == pytest.approx(np.sqrt(average(sd**2) / average((mean - truth) ** 2)))
    matrix = np.cov(mean, truth, aweights=weights)
    assert found.pooled["pearson"] == pytest.approx(matrix[0, 1] / np.sqrt(matrix[0, 0] * matrix[1, 1]))
    assert np.average(found.crps, weights=weight) == pytest.approx(found.pooled["crps"])
    assert found.pit.sum() == pytest.approx(1)
    low = sd < np.quantile(sd, 0.05, weights=weights, method="inverted_cdf")  # well inside the first tenth
    share, spread, error = found.spread.T
    assert share.sum() == pytest.approx(1) and len(share) == 10 and (np.diff(spread) > 0).all()
    assert np.sum(share * spread**2) == pytest.approx(average(sd**2))
    assert np.sum(share * error**2) == pytest.approx(average((mean - truth) ** 2))
    assert spread[0] >= np.sqrt(np.average(sd[low] ** 2, weights=weights[low]))
    error = (made["mean"] - made.truth).mean("time")
    np.testing.assert_allclose(found.maps["bias"], error)
    assert found.pooled["wasserstein"] > 0.2


def test_deviations_inside_cells_are_those_of_a_loop(made: xr.Dataset) -> None:
    given = verified(made)
    products = np.zeros(3)
    weights = np.cos(np.radians(made.lat.values))[:, None] * np.ones(SIZE)
    for time in range(30):
        mean, truth = made["mean"].values[time], made.truth.values[time]
        for rows in (slice(0, 4), slice(4, 8)):
            for columns in (slice(0, 4), slice(4, 8), slice(8, 12)):
                own = np.isfinite(truth[rows, columns])
                m, z, w = (field[rows, columns][own] for field in (mean, truth, weights))
                m, z = m - np.average(m, weights=w), z - np.average(z, weights=w)
                products += [np.sum(w * m * z), np.sum(w * m * m), np.sum(w * z * z)]
    found = series_scores(given)[0]["prediction"].pooled
    assert found["correlation_inside"] == pytest.approx(products[0] / np.sqrt(products[1] * products[2]))
    assert found["variance_inside"] == pytest.approx(products[1] / products[2])


def test_a_shift_and_a_perfect_prediction(made: xr.Dataset) -> None:
    made["truth"] = made.truth.fillna(280.0)
    shifted = made.assign(mean=made.truth + 0.7).drop_vars("sd")
    found = series_scores(verified(shifted))[0]["prediction"].pooled
    for name in ("rmse", "bias", "mae", "crps", "wasserstein", "q01", "q50", "q99"):
        assert found[name] == pytest.approx(0.7), name
    assert found["tendency"] == found["variance_inside"] == pytest.approx(1) and found["ralsd"] == pytest.approx(
        0, abs=1e-6
    )
    assert "coverage95" not in found and "spread_skill" not in found
    half = made.assign(mean=0.5 * made.truth)
    assert series_scores(verified(half))[0]["prediction"].pooled["ralsd"] == pytest.approx(20 * np.log10(2))
    perfect = made.assign(mean=made.truth).drop_vars("sd")
    result = verify(verified(perfect, references={"shifted": shifted}))
    assert {each.skill for each in result.skills} == {1.0}


def test_events_are_those_of_another_library(made: xr.Dataset) -> None:
    found = {
        name: event
        for name, (event,) in events(verified(made, references={"mean only": made.drop_vars("sd")}), [281.0]).items()
    }
    truth, mean, sd, weights = flat(made)
    chance = scoringrules_chance(mean, sd, 281.0)
    outcome = truth > 281.0
    own = found["prediction"]
    assert own.brier == pytest.approx(brier_score_loss(outcome, chance, sample_weight=weights))
    assert own.roc_area == pytest.approx(roc_auc_score(outcome, chance, sample_weight=weights), abs=2e-3)
    assert own.observed == pytest.approx(np.average(outcome, weights=weights))
    assert own.skill == pytest.approx(1 - own.brier / (own.observed * (1 - own.observed)))
    assert np.nansum(own.reliability[:, 0] * own.reliability[:, 2]) == pytest.approx(own.observed)
    sharp = found["mean only"]
    assert (
        sharp.brier == pytest.approx(np.average(outcome != (mean > 281), weights=weights)) and sharp.brier > own.brier
    )
    assert events(verified(made), [1e9])["prediction"][0].roc_area is None


def scoringrules_chance(mean: np.ndarray, sd: np.ndarray, threshold: float) -> np.ndarray:
    from scipy.stats import norm

    return norm.sf(threshold, mean, sd)


def test_blocks_grow_with_the_memory_of_the_differences() -> None:
    noise = np.random.default_rng(0).normal(size=4000)
    assert block_length(noise) <= 2
    assert block_length(lfilter([1], [1, -0.8], noise)) == pytest.approx(9, abs=3)  # (1 + ρ)/(1 − ρ)
    assert block_length(np.ones(20)) == 1


def test_the_interval_of_a_skill_holds_it_as_often_as_it_says() -> None:
    """Losses with memory, of which the ratio of the expectations is known: a half."""
    held = []
    for seed in range(60):
        noise = np.random.default_rng(seed).normal(size=(2, 300))
        own, other = (
            scale * np.exp(0.3 * lfilter([1], [1, -0.6], each)) for scale, each in zip((0.5, 1), noise, strict=True)
        )
        found = skill(own, other, np.ones(300), reference="other", score="crps")
        assert found.p_value < 1e-6
        held.append(found.low < 0.5 < found.high)
    assert 0.85 <= np.mean(held) <= 1
    same = skill(own, own, np.ones(300), reference="itself", score="rmse")
    assert (same.skill, same.low, same.high, same.p_value) == (0.0, 0.0, 0.0, 1.0)
    few = skill(own[:5], other[:5], np.ones(5), reference="other", score="rmse")
    assert few.low is None and few.p_value is None


def test_a_series_of_ours_beside_the_interpolations_of_its_cells(tmp_path: Path, capsys) -> None:
    series = read_series(Source("x"), SPEC, lambda key: made_fields(14), ["all"])
    result = downscale_series(series, UNLEARNED)
    dataset = period_dataset(result)
    dataset.to_netcdf(tmp_path / "ours.nc", engine="h5netcdf")
    scores, _ = series_scores(verified(dataset))
    assert list(scores) == ["prediction", CELL_MEAN, BILINEAR, CONSERVING]
    for name, other in series_scores(verified_result(result))[0].items():
        for score in set(other.pooled) - {"q01", "q05", "q50", "q95", "q99"}:
            assert scores[name].pooled[score] == pytest.approx(other.pooled[score], rel=1e-4, abs=1e-6), (name, score)
    given = verified(dataset)
    means = cell_means(given.forecasts[CONSERVING].mean, given.cells, given.area)
    np.testing.assert_allclose(means, given.forecasts[CELL_MEAN].mean, atol=1e-9)

    words = ["verify", str(tmp_path / "ours.nc"), "--above", "280", "--table", str(tmp_path / "t.csv"), "--maps",
             str(tmp_path / "m.nc"), "--against", f"@again={tmp_path / 'ours.nc'}"]  # fmt: skip
    assert main(words) == 0
    said = capsys.readouterr()
    written = json.loads(said.out)
    assert written["results"][0]["scores"]["rmse"] == pytest.approx(scores["prediction"].pooled["rmse"])
    assert written["results"][0]["units"]["ralsd"] == "dB" and written["results"][0]["units"]["wasserstein"] == "K"
    assert "RMSE skill against bilinear" in said.err and written["events"]["ours"][0]["threshold"] == 280
    assert [each["skill"] for each in written["skill"] if each["reference"] == "@again"] == [0.0, 0.0]
    table = (tmp_path / "t.csv").read_text()
    assert (
        table.startswith("prediction,score,threshold,value,window,by,part\nours,rmse,,") and "\n'@again,rmse,," in table
    )
    with xr.open_dataset(tmp_path / "m.nc") as maps:
        assert set(maps) == {"bias", "rmse", "crps", "coverage95"} and maps.rmse.attrs["units"] == "K"


def test_an_ensemble_is_the_mixture_of_its_members(made: xr.Dataset) -> None:
    """CRPS, coverage and moments against draws of a member at random; without sds members are points."""
    rng = np.random.default_rng(3)
    means = xr.concat([made["mean"] + shift for shift in (-0.8, 0.1, 1.3)], "realization")
    sds = xr.concat([factor * made["sd"] for factor in (0.5, 1.0, 1.5)], "realization")
    ensemble = made.assign(mean=means, sd=sds)
    for dataset in (ensemble, ensemble.drop_vars("sd")):
        given = verified(dataset)
        forecast, at = next(iter(given.forecasts.values())), (4, slice(0, 3), slice(0, 3))
        found = forecast.predictive(4)[at[1:]]
        member = rng.integers(0, 3, 40_000)
        spread = dataset["sd"].values[(member, *at)] if "sd" in dataset else 0.0
        draws = means.values[(member, *at)] + spread * rng.normal(size=(40_000, 3, 3))
        truth = made["truth"].values[at]
        other = rng.permutation(draws)
        crps = np.abs(draws - truth).mean(0) - 0.5 * np.abs(draws - other).mean(0)
        np.testing.assert_allclose(found.crps(truth), crps, atol=0.02)
        np.testing.assert_allclose(found.mean, draws.mean(0), atol=0.03)
        np.testing.assert_allclose(found.sd, draws.std(0), rtol=0.02)
        assert series_scores(given)[0]["prediction"].pooled["crps"] > 0
    with pytest.raises(InputError, match="Each member of `realization` has a truth of its own"):
        verified(ensemble.assign(truth=xr.concat([made["truth"]] * 3, "realization")))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda made: (made.drop_vars("mean"), None), "no variable `mean`"),
        (lambda made: (made.drop_vars("truth"), None), "no variable `truth`"),
        (lambda made: (made, made.truth.isel(lat=slice(4))), "remap one to the grid"),
        (lambda made: (made, made.truth.assign_coords(lat=made.lat + 1)), "other values of `lat`"),
        (lambda made: (made, made.truth.isel(time=slice(9))), "lacks some of the prediction's 30 times"),
        (lambda made: (made, made.truth * np.nan), "no pixels in common"),
    ],
)
def test_what_does_not_fit_is_one_sentence(made: xr.Dataset, change, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        verify(verified(*change(made)))
