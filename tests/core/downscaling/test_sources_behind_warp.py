"""Further sources of a warped target: against dense algebra, draws of the posterior, limits, and a log-normal field."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
import torch
import xarray as xr

from deconditioning.datasets.network import SIZE, network
from deconditioning.downscaling.further_sources.behind_warp import differences_by_warp, map_at
from deconditioning.downscaling.prediction import matched_data, predict
from deconditioning.downscaling.result_dataset import ResultDataset
from deconditioning.downscaling.run import DownscalingResult, downscale
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import spec_to_settings
from deconditioning.downscaling.stores.stored_model import condition_on_problem
from deconditioning.downscaling.warping.choice import choose_warp
from deconditioning.downscaling.warping.physical_map import in_warp_units, physical_map, shifts, warped
from deconditioning.engine.reporting import NoReport
from deconditioning.errors import InputError
from deconditioning.fields.footprints.gaussian import GaussianFootprint, footprint_pixels
from deconditioning.fields.footprints.hidden_values import with_hidden_values
from deconditioning.fields.footprints.station_data import SourceTargets, Stations
from deconditioning.fields.footprints.stations import with_further_stations, with_scored_stations, with_stations
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.grids.blocks import reaggregate
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.warp import Warp, fit_warp
from deconditioning.fields.spec import DownscalingSpec
from tests.core.downscaling.test_stations import Dense, spec_of
from tests.core.fields.samples import rectilinear

FAST = {"integrate": False, "average": False, "restarts": 1}
NOISE = 0.05


def rain(rows: int = 12, columns: int = 20) -> DownscalingProblem:
    """A log-normal field seen by cells of 4 × 4 pixels."""
    data = rectilinear(40 + 0.25 * np.arange(rows), 5 + 0.25 * np.arange(columns))
    value = 3 * np.exp(0.8 * (data.t - data.t.mean()) / data.t.std())
    data["pr"] = value.assign_attrs(units="mm", standard_name="precipitation_amount")
    return make_problem(fields_from_dataset(data), DownscalingSpec("pr", ("orog",), block=(4, 4), withhold=0.0))


def gauges(found: DownscalingProblem, count: int, factor: float = 1.0, seed: int = 1) -> Stations:
    """Values of the truth at random pixels, with errors in proportion to them."""
    rng = np.random.default_rng(seed)
    pixel = rng.choice(found.grid.area.size, count, replace=False)
    value = factor * found.truth.flat[pixel] * np.exp(NOISE * rng.standard_normal(count))
    place = found.grid.latitude.flat[pixel], found.grid.longitude.flat[pixel]
    return Stations(*place, value, NOISE * value, units="mm", source="the gauges")


def soundings(found: DownscalingProblem, count: int = 8, factor: float = 1.0, width: float = 80.0) -> Stations:
    """Means of the truth over Gaussian footprints at random pixels, of several widths."""
    rng = np.random.default_rng(4)
    pixel = rng.choice(found.grid.area.size, count, replace=False)
    place = found.grid.latitude.flat[pixel], found.grid.longitude.flat[pixel]
    widths = np.linspace(width, 1.5 * width, count)
    footprint = GaussianFootprint(widths, widths, np.zeros(count))
    pairs = footprint_pixels(found.grid, np.arange(found.grid.area.size), *place, footprint)
    sums, mass = (np.bincount(pairs.measurement, pairs.mass * each, count)
                  for each in (found.truth.ravel()[pairs.pixel], 1.0))  # fmt: skip
    value = factor * sums / mass
    return Stations(*place, value, NOISE * value, units="mm", source="the swath", footprint=footprint)


@pytest.fixture(scope="module")
def joined() -> DownscalingProblem:
    found = with_further_stations(rain(), soundings(rain()))
    found = with_stations(found, gauges(found, 9))
    return with_scored_stations(found, gauges(found, 5, seed=7))


LOG = Warp("box-cox", 0.0, 0.0, 0.0)


def by_hand(found: DownscalingProblem) -> DownscalingProblem:
    """The problem of the logarithm of everything, standardised as the cells are, without the code of warps."""
    logs = np.log(found.coarse.ravel()[found.target_cell])
    mean, sd = logs.mean(), logs.std()

    def of(source: SourceTargets) -> SourceTargets:
        value, error = source.measured.value, source.measured.error
        variance = torch.as_tensor((error / value / sd) ** 2)
        targets = torch.as_tensor((np.log(value) - mean) / sd)
        return replace(source, targets=targets, errors=replace(source.errors, variance=variance))

    data = replace(found.data, targets=torch.as_tensor((logs - mean) / sd))
    return replace(found, data=data, sources=tuple(map(of, found.sources)), scored=of(found.scored))


def spec_for(found: DownscalingProblem):
    return replace(spec_of(found), representativeness=(0.04, 0.07))


def test_the_posterior_of_the_warped_field_is_that_of_dense_algebra(joined: DownscalingProblem) -> None:
    found, spec = warped(joined, LOG), spec_for(joined)
    dense, prediction = Dense(by_hand(joined), spec), predict(spec, matched_data(found, spec), found)
    mean, covariance = dense.moments(dense.k @ dense.average.T, dense.k)
    assert prediction.evidence == pytest.approx(dense.evidence, rel=1e-8)
    assert torch.allclose(prediction.mean, mean, atol=1e-8)
    assert torch.allclose(prediction.sd_latent.square(), covariance.diagonal(), atol=1e-8)
    over = dense.average[-sum(len(each.row) for each in found.sources) :]
    between = over @ dense.k
    mean, covariance = dense.moments(between @ dense.average.T, between @ over.T)
    noise = spec.point_noise * over.square().sum(1)
    assert torch.allclose(prediction.sources.over_footprints[0], mean, atol=1e-8)
    assert torch.allclose(prediction.sources.over_footprints[1], covariance.diagonal() + noise, atol=1e-7)
    rows, h = torch.as_tensor(found.scored.row), by_hand(joined).scored.errors.effects
    columns = torch.cat([torch.zeros_like(h), h], dim=1)  # of the swath, then of the stations
    across = dense.k[rows] @ dense.average.T + columns @ dense.prior @ dense.effects.T
    value, _ = dense.moments(across, dense.k[rows][:, rows])
    assert torch.allclose(prediction.sources.scored[0], value, atol=1e-8)


def test_a_warped_problem_goes_back_and_hidden_values_are_warped_too(joined: DownscalingProblem) -> None:
    some = with_hidden_values(joined, ((2, 3),))
    found = warped(some, LOG)
    assert found.plain is some
    for each, plain in zip(found.sources, some.sources, strict=True):
        np.testing.assert_allclose(each.targets, found.standardised(plain.measured.value), atol=1e-12)
        assert torch.equal(each.errors.effects, plain.errors.effects)
    hidden = found.sources[1].hidden
    np.testing.assert_allclose(hidden.targets, found.standardised(hidden.measured.value), atol=1e-12)


@pytest.mark.parametrize(
    "warp",
    [LOG, Warp("box-cox", 0.4, 0.1, 0.0), Warp("logit", low=-1.0, high=25.0)],
    ids=["log", "power", "logit"],
)
def test_errors_go_through_a_warp_by_its_slope(warp: Warp) -> None:
    values, step = np.linspace(0.5, 20, 13), 1e-5
    slope = (warp.forward(values + step) - warp.forward(values - step)) / (2 * step)
    np.testing.assert_allclose(warp.errors(values, np.full(13, 0.3)), 0.3 * slope, rtol=1e-8)


def test_what_comes_of_the_warp_is_the_shift_of_a_pixel_and_the_mean_over_draws(joined: DownscalingProblem) -> None:
    found, spec = warped(joined, LOG), spec_for(joined)
    prediction = predict(spec, matched_data(found, spec), found)
    predictive = physical_map(found, prediction.parts)
    swath, stations = differences_by_warp(found, prediction.sources, predictive)
    delta = shifts(found, in_warp_units(found, prediction.parts)).ravel()
    np.testing.assert_allclose(found.target_scale.sd * stations, delta[found.pixel[found.stations.row]], atol=1e-8)
    dense = Dense(by_hand(joined), spec)
    mean, covariance = dense.moments(dense.k @ dense.average.T, dense.k)
    root = torch.linalg.cholesky(covariance + (spec.point_noise + 1e-9) * torch.eye(len(mean), dtype=torch.float64))
    generator = torch.Generator().manual_seed(0)
    draws = mean[:, None] + root @ torch.randn(len(mean), 4000, generator=generator, dtype=torch.float64)
    over, scale = dense.average[found.data.bags.count : -len(found.stations.row)], found.target_scale
    physical = np.exp(scale.backward(draws.numpy()) + delta[found.pixel][:, None])
    differences = (np.log(over.numpy() @ physical) - scale.mean) / scale.sd - (over @ draws).numpy()
    np.testing.assert_allclose(swath, differences.mean(axis=1), atol=0.01)
    assert np.abs(swath).max() > 0.1


def test_the_map_honours_its_cells_and_stays_positive(joined: DownscalingProblem) -> None:
    found, spec = warped(joined, LOG), spec_for(joined)
    prediction = predict(spec, matched_data(found, spec), found)
    predictive = physical_map(found, prediction.parts)
    np.testing.assert_allclose(reaggregate(found, predictive.mean), found.coarse, atol=1e-8 * np.std(found.coarse))
    assert predictive.quantile(1e-4).min() > 0
    drawn = ResultDataset(found, spec, predictive, {}).drawing()(5, 3).fields
    assert drawn.min() > 0
    np.testing.assert_allclose(reaggregate(found, drawn[0]), found.coarse, rtol=1e-6)


def test_a_stored_model_has_the_same_map(joined: DownscalingProblem) -> None:
    settings = DownscaleSettings("area_to_point_gp", local_scale=False, learn=False, warp=LOG.to_dict())
    found, spec = warped(joined, LOG), spec_for(joined)
    completed = spec_to_settings(settings, spec)
    stored = condition_on_problem(joined, completed, ("m",), torch.device("cpu"))
    shift = stored.shift(slice(None), slice(None), np.ones(found.grid.shape, bool))
    direct = physical_map(found, predict(spec, matched_data(found, spec), found).parts)
    np.testing.assert_allclose(
        stored.read(found.inputs, shift=shift).predictive.mean, direct.mean.ravel()[found.pixel], rtol=1e-7
    )


@lru_cache(maxsize=8)
def log_normal(factor: float, targets: bool, seed: int = 0) -> DownscalingResult:
    """16 cells of a log-normal field with or without 40 gauges, and 300 gauges that nothing saw."""
    drawn = network(seed, 0.0)
    t, height = (drawn.fields.values(name, {}) for name in ("t", "altitude"))
    dims = ("lat", "lon")
    about = {"units": "mm", "standard_name": "precipitation_amount"}
    data = {"pr": (dims, 3 * np.exp(0.8 * (t - t.mean()) / t.std()), about), "altitude": (dims, height, {"units": "m"})}
    lines = {name: (name, first + 0.05 * np.arange(SIZE), {"units": f"degrees_{way}"})
             for name, first, way in (("lat", 45, "north"), ("lon", -40, "east"))}  # fmt: skip
    fields = fields_from_dataset(xr.Dataset(data, lines), source="synthetic rain")
    found = make_problem(fields, DownscalingSpec("pr", ("altitude",), block=(18, 18), withhold=0.0))
    every = gauges(found, 340, factor)
    found = with_scored_stations(found, every.of(np.arange(40, 340)))
    return downscale(with_stations(found, every.of(np.arange(40))) if targets else found, {"warp": "log", **FAST})


def test_gauges_improve_the_map_of_a_log_normal_field() -> None:
    every = [[log_normal(1.0, targets, seed) for targets in (False, True)] for seed in (0, 1, 2)]
    rows = [[each.diagnostics["stations"] for each in pair] for pair in every]
    for measure in ("rmse", "crps"):
        ratios = [both["scored"][measure] / cells["scored"][measure] for cells, both in rows]
        assert np.mean(ratios) < 0.92 and max(ratios) < 1
    assert 0.93 < np.mean([both["scored"]["inside_95"] for _, both in rows]) < 0.99
    for (_, result), (_, both) in zip(every, rows, strict=True):
        assert both["targets"]["left_out"]["inside_95"] > 0.9
        assert np.nanmin(result.predictive.quantile(0.005)) > 0
        assert abs(both["targets"]["offset"]) < 3 * both["targets"]["offset_sd"]
        assert "near the middle of the values" in " ".join(both["sentences"])


def test_gauges_that_catch_less_have_an_offset_and_leave_the_map_where_it_is() -> None:
    right, less = log_normal(1.0, True), log_normal(0.7, True)
    offsets = [each.diagnostics["stations"]["targets"]["offset"] for each in (right, less)]
    expected = right.problem.target_sd * np.log(0.7) / right.problem.target_scale.sd
    assert offsets[1] - offsets[0] == pytest.approx(expected, rel=0.15)
    assert np.nanmean(np.abs(less.mean - right.mean)) < 0.1 * np.nanstd(right.mean)
    assert less.diagnostics["stations"]["scored"]["rmse"] < 1.1 * right.diagnostics["stations"]["scored"]["rmse"]


def test_a_swath_improves_the_map_and_its_offset_is_that_of_the_instrument() -> None:
    """45 soundings over 20 to 30 km, of an instrument that measures what there is, and of one that misses 30 %."""
    cells = log_normal(1.0, False)
    found = [with_further_stations(cells.problem.plain, soundings(cells.problem, 45, f, 20.0)) for f in (1.0, 0.7)]
    right, less = (downscale(each, {"warp": "log", **FAST}) for each in found)
    before, after = (each.scores["area_to_point_gp"] for each in (cells, right))
    assert after["rmse"] < 0.8 * before["rmse"] and after["crps"] < 0.85 * before["crps"] and after["coverage95"] > 0.93
    one, other = (each.diagnostics["stations"]["sources"][0] for each in (right, less))
    assert abs(one["offset"]) < 3 * one["offset_sd"]
    expected = right.problem.target_sd * np.log(0.7) / right.problem.target_scale.sd
    assert other["offset"] - one["offset"] == pytest.approx(expected, rel=0.03)
    np.testing.assert_allclose(less.mean, right.mean, atol=0.1)


def test_scored_stations_without_an_offset_are_predicted_by_the_map(joined: DownscalingProblem) -> None:
    found = warped(replace(joined, sources=joined.sources[:1]), LOG)
    result = downscale(found, {"learn": False, **FAST})
    predicted = map_at(found, result.predictive, found.scored)
    at = found.pixel[found.scored.row]
    scored = result.diagnostics["stations"]["scored"]
    assert scored["rmse"] == pytest.approx(np.sqrt(np.mean((predicted.mean - found.scored.measured.value) ** 2)))
    np.testing.assert_allclose(predicted.quantile(0.5), result.predictive.quantile(0.5).flat[at], rtol=1e-6)
    inside = result.predictive.interval(0.9)
    assert (predicted.quantile(0.95) > inside[1].flat[at]).all() and (
        predicted.quantile(0.05) < inside[0].flat[at]
    ).all()


def test_a_warp_is_chosen_with_sources_and_fitted_to_their_values() -> None:
    found = rain(24, 32)
    found = with_stations(found, gauges(found, 20))
    choice = choose_warp(found, DownscaleSettings("area_to_point_gp", integrate=False), NoReport())
    assert choice.problem.warp is not None and choice.checked is not None
    dry = gauges(found, 20)
    dry = replace(dry, value=np.where(np.arange(20) == 3, 0.0, dry.value))
    asked = choose_warp(with_stations(rain(), dry), DownscaleSettings("area_to_point_gp", warp="log"), NoReport())
    assert asked.problem.warp.shift > 0
    values = np.concatenate([rain().coarse.ravel(), with_stations(rain(), dry).stations.measured.value])
    assert asked.problem.warp == fit_warp("log", values, (0.0, np.inf))
    with pytest.raises(InputError, match=r"The values of the gauges range from 0 to .* is not defined"):
        warped(with_stations(rain(), dry), LOG)


def test_many_dry_gauges_leave_the_target_without_a_warp() -> None:
    dry = gauges(rain(), 30)
    found = with_stations(rain(), replace(dry, value=np.where(np.arange(30) % 2, 0.0, dry.value)))
    choice = choose_warp(found, DownscaleSettings("area_to_point_gp"), NoReport())
    assert (
        choice.problem.warp is None and "33 % of the visible values are exactly at a limit" in choice.problem.notes[-1]
    )
