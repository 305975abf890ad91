"""A warp of a series from cells alone: each time against its own map, samples, the means of cells, files, refusals."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from deconditioning import downscale
from deconditioning.cli.program import main
from deconditioning.datasets.weather import weather_region
from deconditioning.downscaling.prediction import predict
from deconditioning.downscaling.source import Source
from deconditioning.downscaling.warping.physical_map import physical_map
from deconditioning.errors import InputError
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.problem.physical_limits import limits_of
from deconditioning.fields.problem.warp import Warp, fit_warp
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.period.dataset import period_dataset
from deconditioning.period.ensemble import downscale_ensemble, read_ensemble
from deconditioning.period.run import PeriodResult, downscale_series
from deconditioning.period.scores import verified_result
from deconditioning.period.series import Series, read_series
from deconditioning.period.statistics import period_draws, period_statistics
from deconditioning.verification.report import verify
from deconditioning.verification.series import verified
from tests.core.period.made import SPEC as WARM
from tests.core.period.made import UNLEARNED, made_dataset
from tests.core.period.test_ensemble import of_members

SPEC = DownscalingSpec("pr", ("orography", "land"), block=(4, 4), withhold=0.0)
ROOT = UNLEARNED.replace(warp=Warp("box-cox", 0.3, 0.05).to_dict())


@pytest.fixture(scope="module")
def wet() -> Series:
    rain = weather_region(60, 16)
    return read_series(Source("x"), SPEC, lambda key: rain, ["#0/#29"])


@pytest.fixture(scope="module")
def result(wet: Series) -> PeriodResult:
    return downscale_series(wet, ROOT)


def of_wet_cells(series: Series) -> np.ndarray:
    """Times at which no cell is dry."""
    return np.flatnonzero((series.coarse > 0.1).all(1))


def test_every_time_is_the_map_of_that_time(wet: Series, result: PeriodResult) -> None:
    """As the model of a single time has it, with the scale of the series and the factor of the time."""
    warp = Warp("box-cox", 0.3, 0.05)
    seen = warp.forward(wet.coarse)
    scale = float(np.sqrt(np.mean(np.var(seen, axis=1))))
    for time in (0, 7, 21):
        plain = wet.at(time)
        target_scale = replace(plain.target_scale, mean=float(seen[time].mean()), sd=scale)
        targets = (seen[time][plain.target_cell] - seen[time].mean()) / scale
        data = replace(plain.data, targets=plain.data.targets.new_tensor(targets))
        problem = replace(plain, data=data, warp=warp, target_scale=target_scale, unwarped=plain)
        moments = predict(result.spec, problem.joint_data, problem)
        expected = physical_map(problem, [(1.0, moments.mean, result.amplitude[time] * moments.sd)])
        np.testing.assert_allclose(result.means[time], expected.mean, rtol=0, atol=1e-8)
        np.testing.assert_allclose(result.sd(time), expected.sd, rtol=0, atol=1e-8)


def test_distributions_are_those_of_samples_and_cells_keep_their_means(wet: Series, result: PeriodResult) -> None:
    """v = ((1 + λ (m + δ + s z))₊)^(1/λ) − shift, by numbers z; nothing is negative."""
    assert result.means.min() >= 0 and result.behind is not None
    z = np.random.default_rng(0).normal(size=(20000, 1))
    weights = np.stack([(wet.problem.cell == cell) * wet.problem.grid.area for cell in range(wet.problem.coarse.size)])
    for time in of_wet_cells(wet)[:3]:
        ((_, centre, spread),) = result.predictive(time).parts
        values = np.maximum(np.maximum(1 + 0.3 * (centre.ravel() + spread.ravel() * z), 0) ** (1 / 0.3) - 0.05, 0)
        error = 6 * values.std(0) / np.sqrt(len(z)) + 1e-3
        assert (np.abs(values.mean(0) - result.means[time].ravel()) < error).all()
        np.testing.assert_allclose(values.std(0), result.sd(time).ravel(), rtol=0.12)
        means = (weights * result.means[time]).sum((1, 2)) / weights.sum((1, 2))
        np.testing.assert_allclose(means, wet.coarse[time], rtol=1e-6)
        draws = np.stack([draw[time] for draw, _ in period_draws(result, 5, 0)])
        kept = (draws @ weights.reshape(len(weights), -1).T) / weights.sum((1, 2))
        np.testing.assert_allclose(kept, np.broadcast_to(wet.coarse[time], kept.shape), rtol=1e-5)
        assert draws.min() >= 0


def test_it_is_better_than_a_gaussian_and_the_file_holds_the_distributions(wet: Series, result: PeriodResult) -> None:
    own = verify(verified_result(result)).scores["prediction"].pooled
    plain = verify(verified_result(downscale_series(wet, UNLEARNED))).scores["prediction"].pooled
    assert own["crps"] < 0.97 * plain["crps"]
    read = verify(verified(period_dataset(result))).scores["prediction"].pooled
    assert read["crps"] == pytest.approx(own["crps"], rel=1e-9)
    (statistic,) = period_statistics(result, ["max"], 20)
    assert float(statistic.low.min()) >= 0


def test_a_kind_is_fitted_to_all_coarse_values(wet: Series) -> None:
    found = downscale_series(wet, UNLEARNED.replace(warp="box-cox"))
    assert found.settings.warp == fit_warp("box-cox", wet.coarse.ravel(), limits_of(wet.problem)).to_dict()
    assert "as requested" in found.diagnostics["warp"] and not any("beyond" in each for each in found.warnings)
    share = np.mean(wet.coarse == 0)
    assert share > 0.1 and found.warnings[-1].startswith(f"{100 * share:.2g} % of the coarse values are exactly at")
    damp = replace(wet, coarse=wet.coarse + 1e-3)
    assert not any("exactly at" in each for each in downscale_series(damp, ROOT).warnings)
    again = downscale_series(wet, found.settings)
    np.testing.assert_array_equal(again.means, found.means)


def test_some_times_are_those_of_all_also_from_a_result(wet: Series, result: PeriodResult) -> None:
    some = np.array([2, 5, 21])
    first = downscale_series(wet, ROOT, times=np.array([0, 1]))
    for part in (downscale_series(wet, ROOT, times=some), downscale_series(wet, ROOT, times=some, like=first)):
        np.testing.assert_allclose(part.means, result.means[some], rtol=0, atol=1e-9)
        np.testing.assert_allclose(part.sd(1), result.sd(5), rtol=0, atol=1e-9)


def test_members_have_the_warp_too() -> None:
    """In units of a straight line and of a log, which 280 K hardly bends."""
    fields = fields_from_dataset(of_members(4))
    ensemble = read_ensemble(Source("x"), WARM, lambda key: fields, ["all"])
    assert ensemble is not None
    log = UNLEARNED.replace(warp=Warp("box-cox", 0.0).to_dict())
    members = downscale_ensemble(ensemble, log).members
    plain = downscale_ensemble(ensemble, UNLEARNED.replace(warp=Warp("box-cox", 1.0).to_dict())).members
    assert all(each.behind is None for each in plain)
    for member, straight in zip(members, plain, strict=True):
        assert member.behind is not None and member.behind.predictive(2).mean.shape == (16, 20)
        np.testing.assert_allclose(member.means, straight.means, rtol=0, atol=0.3)
        np.testing.assert_array_equal(member.predictive(2).mean, member.means[2])


def test_the_command_and_the_function_take_a_warp(tmp_path: Path, capsys) -> None:
    dataset = weather_region(20, 16).dataset[["pr", "orography", "land"]]
    dataset.to_netcdf(tmp_path / "rain.nc", engine="h5netcdf")
    words = ["downscale", tmp_path / "rain.nc", "--target", "pr", "--covariates", "orography", "land", "--block", 4, 4]
    words += ["--withhold", 0, "--model", "area_to_point_gp", "--no-learn", "--times", "all", "--warp", "box-cox"]
    assert main([*map(str, words), "--output", str(tmp_path / "out.nc")]) == 0
    found = json.loads(capsys.readouterr().out)["results"][0]
    assert found["settings"]["warp"]["kind"] == "box-cox" and "as requested" in found["diagnostics"]["warp"]
    settings = {"model": "area_to_point_gp", "learn": False, "coarsen": (4, 4), "withhold": 0.0, "warp": "box-cox"}
    function = downscale(dataset, dataset, target="pr", covariate_names=["orography", "land"], times="all", **settings)
    with xr.open_dataset(tmp_path / "out.nc") as written:
        assert float(written["mean"].min()) >= 0 and "warped_mean" in written
        np.testing.assert_allclose(function["mean"], written["mean"], atol=1e-8)


def test_what_a_warp_does_not_suit_is_refused(wet: Series) -> None:
    with pytest.raises(InputError, match="without known bounds"):
        downscale_series(wet, UNLEARNED.replace(warp="logit"))
    with pytest.raises(InputError, match="is not defined"):
        downscale_series(wet, UNLEARNED.replace(warp=Warp("logit", high=1.0).to_dict()))
    with pytest.raises(InputError, match="cannot be combined with a warp"):
        downscale_series(replace(wet, stations=np.zeros((30, 1))), ROOT)
    warm = fields_from_dataset(made_dataset(4))
    series = read_series(Source("x"), WARM, lambda key: warm, ["all"])
    with pytest.raises(InputError, match="not negative"):
        downscale_series(replace(series, coarse=series.coarse - 300), UNLEARNED.replace(warp="log"))
