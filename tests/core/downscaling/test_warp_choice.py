"""The choice of a warp one scale up, and what follows from it: maps, quantiles, draws, files and refusals."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.downscaling import learning
from deconditioning.downscaling.checks.assumptions import warped_intervals
from deconditioning.downscaling.checks.one_scale_up import one_scale_up
from deconditioning.downscaling.run import downscale, leaving
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.stores.stored_model import condition_on_problem
from deconditioning.downscaling.warping.choice import candidates, choose_warp
from deconditioning.engine.reporting import NoReport
from deconditioning.errors import InputError, never
from deconditioning.estimators.downscaling import AreaToPointGP
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.grids.blocks import reaggregate
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.warp import Warp
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.fields.writing.delivery import Delivery
from deconditioning.figures.downscaled_maps import MapKey
from deconditioning.slides.assembled import of_result
from deconditioning.slides.deck import downscaling_deck
from tests.core.fields.test_warp import field_of

pytestmark = pytest.mark.usefixtures("short_chain")

QUICK = DownscaleSettings("regression_kriging", steps=30)
SPEC = DownscalingSpec("rain", ("c",), block=(4, 4), withhold=0.4)


def gaussian_field(seed: int, size: int = 56, smooth: float = 5.0) -> np.ndarray:
    """A standardised Gaussian field with an exponential covariance, drawn on a torus."""
    rng = np.random.default_rng(seed)
    side = np.minimum(np.arange(2 * size), 2 * size - np.arange(2 * size))
    spectrum = np.fft.fft2(np.exp(-np.hypot(side[:, None], side) / smooth)).real.clip(0)
    noise = rng.normal(size=spectrum.shape) + 1j * rng.normal(size=spectrum.shape)
    return np.fft.fft2(np.sqrt(spectrum / spectrum.size) * noise).real[:size, :size]


def problem_of(values: np.ndarray, **more: str) -> DownscalingProblem:
    return make_problem(fields_from_dataset(field_of(values, **more)), SPEC)


@pytest.fixture(scope="module")
def lognormal() -> DownscalingProblem:
    return problem_of(np.exp(1.2 * gaussian_field(1)), standard_name="rainfall_amount")


@pytest.fixture(scope="module")
def results(lognormal: DownscalingProblem) -> dict:
    return {warp: downscale(lognormal, QUICK.replace(warp=warp)) for warp in ("none", "auto")}


def test_a_log_normal_field_is_warped_and_says_why(results: dict) -> None:
    warp = results["auto"].diagnostics["warp"]
    assert warp is not None and warp["kind"] == "box-cox" and warp["power"] < 0.5
    assert any("one scale up its CRPS is" in note for note in results["auto"].problem.notes)
    assert results["none"].diagnostics["warp"] is None


def test_scores_of_known_log_normal_truths() -> None:
    """On average over three fields: CRPS, coverage and bias of the logarithm against none."""
    found: dict[str, list[dict[str, float]]] = {"none": [], "log": []}
    for seed in (11, 12, 13):
        problem = problem_of(np.exp(1.2 * gaussian_field(seed, smooth=10.0)), standard_name="rainfall_amount")
        for warp, scores in found.items():
            scores.append(downscale(problem, QUICK.replace(warp=warp)).scores["regression_kriging"])
    mean = {warp: {name: np.mean([each[name] for each in rows]) for name in rows[0]} for warp, rows in found.items()}
    assert mean["log"]["crps"] < 0.9 * mean["none"]["crps"] and mean["log"]["rmse"] < mean["none"]["rmse"]
    assert abs(mean["log"]["coverage95"] - 0.95) < 0.03 and abs(mean["log"]["coverage50"] - 0.5) < 0.06
    assert abs(mean["log"]["bias"]) <= abs(mean["none"]["bias"]) + 0.01


def test_coverage_of_the_quantiles_counted_by_hand(lognormal: DownscalingProblem, results: dict) -> None:
    result = results["auto"]
    low, high = result.predictive.quantile(0.025), result.predictive.quantile(0.975)
    inside = np.mean((lognormal.truth >= low) & (lognormal.truth <= high))
    assert inside == pytest.approx(result.scores["regression_kriging"]["coverage95"], abs=1e-9)
    levels = (np.arange(1000) + 0.5) / 1000  # the integral of the loss, finer than the score has it
    off = [lognormal.truth - result.predictive.quantile(level) for level in levels]
    loss = np.mean([2 * np.maximum(level * o, (level - 1) * o) for level, o in zip(levels, off, strict=True)])
    assert loss == pytest.approx(result.scores["regression_kriging"]["crps"], rel=2e-3)


def test_rain_is_never_negative_and_averages_to_the_cells(lognormal: DownscalingProblem, results: dict) -> None:
    result = results["auto"]
    seen, spread = lognormal.observed, float(lognormal.coarse[lognormal.observed].std())
    assert np.abs(reaggregate(lognormal, result.mean) - lognormal.coarse)[seen].max() < 1e-6 * spread
    file = leaving(lognormal, result).dataset(Delivery(draws=4, quantiles=(0.001, 0.5), thresholds=(-1.0, 0.0, 2.0)))
    chance = file["exceedance"]
    assert chance.attrs["units"] == "1" and "standard_name" not in chance.attrs
    assert chance.sel(threshold=-1.0).min() == 1.0
    median = result.predictive.quantile(0.5)
    assert np.array_equal(chance.sel(threshold=2.0).values > 0.5, median > 2.0)
    for values in (file["mean"], file["quantiles"], file["draws"], results["none"].mean):
        assert float(np.min(values)) >= 0.0
    drawing, spectra = leaving(lognormal, result).drawn(Delivery(draws=4))
    assert np.array_equal(drawing(4, 0).mean, result.mean) and spectra is not None
    shown = of_result(lognormal, fields_from_dataset(field_of(lognormal.truth)), result)
    assert float(shown.panel(MapKey.MEAN).values.min()) >= 0.0
    assert any(line[0] == "Scale" and "scale" in line[1] for line in downscaling_deck(shown)["slides"][-2]["lines"])
    for draw in file["draws"].values:
        assert np.abs(reaggregate(lognormal, draw) - lognormal.coarse)[seen].max() < 1e-6 * spread


def test_the_refusal_goes_where_the_warp_is_calibrated(lognormal: DownscalingProblem, results: dict) -> None:
    refused = [name for name in results if any("Gaussian" in each for each in results[name].warnings)]
    assert refused == ["none"]
    warped = results["auto"].problem
    assert warped_intervals(warped, (0.5, 0.9, 0.95)).holds
    assert not warped_intervals(warped, (0.4, 0.7, 0.8)).holds and not warped_intervals(warped, (0.9, 0.99, 1.0)).holds
    assert "not calibrated" in warped_intervals(warped, (0.4, 0.7, 0.8)).sentence


def test_settings_reproduce_the_map_without_learning(lognormal: DownscalingProblem, results: dict) -> None:
    result = results["auto"]
    again = downscale(lognormal, DownscaleSettings.from_dict(result.settings.to_dict()))
    assert np.array_equal(again.mean, result.mean) and np.array_equal(again.sd, result.sd)


def test_the_estimator_takes_the_same_warp(results: dict) -> None:
    data = field_of(np.exp(1.2 * gaussian_field(1)), standard_name="rainfall_amount")
    fitted = AreaToPointGP(warp="log", steps=5).fit(data["rain"], data[["c"]], coarsen=(4, 4))
    assert fitted.settings_["warp"]["power"] == 0.0
    assert float(fitted.predict(quantiles=(0.01,))["quantiles"].min()) >= 0.0


def test_an_average_takes_its_weights_from_the_choice_of_the_warp(
    lognormal: DownscalingProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its test one scale up is that which learning would make again."""
    choice = choose_warp(lognormal, DownscaleSettings(steps=5), NoReport())
    anew = one_scale_up(choice.problem, choice.settings, never)
    assert choice.checked is not None and replace(anew, cpu_s=0.0) == replace(choice.checked, cpu_s=0.0)
    monkeypatch.setattr(learning, "one_scale_up", lambda *_: pytest.fail("made once more"))
    learned, guard = learning.learn_model(choice.problem, choice.settings, known=choice.checked)
    assert guard.one_scale_up == choice.checked
    parts = {spec.model.name: weight for weight, spec in learned.spec.components}
    assert parts == pytest.approx({name: weight for name, weight in choice.checked.weights.items() if weight})


def test_a_gaussian_field_is_left_alone() -> None:
    problem = problem_of(280 + gaussian_field(3), units="K")
    assert candidates(problem) == ([], "")
    found = choose_warp(problem, QUICK, NoReport())
    assert found.problem is problem and found.settings.warp == "none"
    results = [downscale(problem, QUICK.replace(warp=warp)) for warp in ("auto", "none")]
    assert np.array_equal(results[0].mean, results[1].mean) and np.array_equal(results[0].sd, results[1].sd)


def test_many_exact_zeros_are_refused_with_the_reason() -> None:
    rain = np.maximum(np.exp(1.5 * gaussian_field(4, smooth=20.0)) - 1.0, 0.0)
    problem = problem_of(rain, standard_name="rainfall_amount")
    warps, why = candidates(problem)
    assert warps == [] and "exactly at a limit" in why
    result = downscale(problem, QUICK)
    assert result.diagnostics["warp"] is None and why in result.problem.notes
    assert result.mean.min() >= 0.0


def test_a_share_stays_between_its_bounds() -> None:
    share = 1 / (1 + np.exp(-2 * gaussian_field(6) - 1))
    problem = problem_of(share, units="1", standard_name="cloud_area_fraction")
    result = downscale(problem, QUICK.replace(warp="logit"))
    assert result.diagnostics["warp"] == {"kind": "logit", "power": 0.0, "shift": 0.0, "low": 0.0, "high": 1.0}
    for values in (result.mean, result.predictive.quantile(0.001), result.predictive.quantile(0.999)):
        assert values.min() >= 0.0 and values.max() <= 1.0


def test_few_cells_and_mediators_go_through_a_warp_too(lognormal: DownscalingProblem) -> None:
    few = make_problem(
        fields_from_dataset(field_of(np.exp(gaussian_field(1)))), replace(SPEC, withhold=0.85, region=None)
    )  # fmt: skip
    result = downscale(few, QUICK.replace(warp="log", integrate=True))
    assert result.spec.spread is not None and result.mean.min() > 0
    through = make_problem(fields_from_dataset(field_of(np.exp(gaussian_field(1)))), replace(SPEC, matching="indirect"))
    unmatched = downscale(through, QUICK.replace(warp="log"))
    assert np.isfinite(unmatched.mean).all() and unmatched.mean.min() > 0


def test_a_stored_model_has_the_same_distributions(lognormal: DownscalingProblem, results: dict) -> None:
    result = results["auto"]
    given = condition_on_problem(lognormal, result.settings, ("1",), torch.device("cpu"))
    every = np.ones(lognormal.grid.shape, dtype=bool)
    read = given.read(lognormal.inputs, shift=given.shift(slice(None), slice(None), every)).predictive
    spread = float(result.mean.std())
    for mine, theirs in (
        (read.mean, result.mean), (read.sd, result.sd), (read.quantile(0.95), result.predictive.quantile(0.95))
    ):  # fmt: skip
        assert np.abs(mine - theirs.ravel()).max() < 1e-6 * spread


def test_values_outside_the_domain_of_a_warp_are_refused(lognormal: DownscalingProblem) -> None:
    settings = QUICK.replace(learn=False, warp=Warp("logit", high=1.0).to_dict())
    with pytest.raises(InputError, match="where the logit between 0 and 1 is not defined"):
        downscale(lognormal, settings)
