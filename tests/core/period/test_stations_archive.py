"""Stations beside cells with an archive: dense matrices of all times, times without stations, what is learned, files."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import xarray as xr

from deconditioning import downscale
from deconditioning.cli.program import main
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source
from deconditioning.engine.reporting import NoReport
from deconditioning.errors import InputError, never
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.kernels.tiles import evaluate
from deconditioning.period.archive.gain import NOISE
from deconditioning.period.archive.left_out import choose_mixture, error_ratio, left_out_errors, mixed, spread_of
from deconditioning.period.archive.pair import downscale_pair
from deconditioning.period.archive.predicted import Recipe, predicted
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.setting import Setting, prepare
from deconditioning.period.archive.stations import Network
from deconditioning.period.archive.training import Training, read_training
from deconditioning.period.ensemble import downscale_ensemble, read_ensemble
from deconditioning.period.run import PeriodResult, of_a_series
from deconditioning.period.series import Series, read_series
from deconditioning.period.statistics import period_draws
from tests.core.period.made import SPEC, UNLEARNED, made_dataset
from tests.core.period.test_ensemble import of_members
from tests.core.period.test_stations import NOISE as STATION_NOISE
from tests.core.period.test_stations import OFFSET, table_of

LATER = "#48/#59"


@pytest.fixture(scope="module")
def dataset() -> xr.Dataset:
    return made_dataset(60).drop_vars("wind")


@pytest.fixture(scope="module")
def table(dataset: xr.Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    later = dataset.isel(time=slice(48, 60))
    return table_of(later, tmp_path_factory.mktemp("stations") / "stations.csv", altitude=True)


def read(dataset: xr.Dataset, table: Path | None, words: str = LATER) -> tuple[Series, Training]:
    fields = fields_from_dataset(dataset)
    source = Source("x", stations=None if table is None else str(table))
    series = read_series(source, SPEC, lambda key: fields, [words])
    return series, read_training(series, fields, ["#0/#47"])


@pytest.fixture(scope="module")
def both(dataset: xr.Dataset, table: Path) -> tuple[Series, Training]:
    """With a cell that is missing at one time."""
    series, training = read(dataset, table)
    coarse = series.coarse.copy()
    coarse[5, 7] = np.nan
    return replace(series, coarse=coarse), training


@pytest.fixture(scope="module")
def result(both: tuple[Series, Training]) -> PeriodResult:
    return downscale_with_archive(*both, UNLEARNED)


@pytest.fixture(scope="module")
def recipe(both: tuple[Series, Training]) -> Recipe:
    """The parts that the prediction is made of."""
    series, training = both
    settings = of_a_series(series, UNLEARNED, len(series))
    setting = prepare(series, training, settings, NoReport())
    some = setting.some(4000, never)
    choice = choose_mixture(setting.coarse, some, never)
    method = mixed(choice, setting.coarse, some, setting.parts)
    ratio = error_ratio(*left_out_errors(setting.coarse, some, method, setting.parts))
    network = Network.of(setting, choice, ratio, settings)
    return Recipe.of(setting, method, ratio, np.arange(len(series)), None, network)


def network_of(recipe: Recipe) -> Network:
    assert recipe.network is not None
    return recipe.network


def dense(recipe: Recipe, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Covariances of all targets (32, 32), of targets with pixels (32, 320), and variances of pixels (320,), without
    the effects of stations, from the definition.
    """
    setting, network = recipe.setting, network_of(recipe)
    problem, mixture = setting.series.problem, network.choice.mixture
    kernel = evaluate(setting.spec.kernel.build(problem.columns), problem.inputs, problem.inputs).detach().numpy()
    average = (np.arange(20)[:, None] == problem.cell.ravel()) * problem.grid.area.ravel()
    average /= average.sum(1, keepdims=True)
    (source,) = problem.sources
    every = np.vstack([average, np.eye(320)[source.row]])
    y, h = setting.training.fine[rows] / setting.unit, setting.coarse.design[rows]
    r = y - h @ np.linalg.lstsq(h, y, rcond=None)[0]
    free, w = len(rows) - h.shape[1], mixture.share
    rho = np.exp(-0.5 * (setting.coarse.distance.numpy() / (mixture.reach or np.inf)) ** 2)
    at = problem.cell.ravel()
    cell = np.concatenate([np.arange(20), at[source.row]])
    scale, spec = network.choice.scale, setting.spec
    single = np.repeat([spec.noise, 0.0], [20, 12]) + spec.point_noise * (every**2).sum(1)
    a = r @ every.T
    gram = w * a.T @ a / free * rho[cell][:, cell] + (1 - w) * scale * (every @ kernel @ every.T + np.diag(single))
    cross = w * a.T @ r / free * rho[cell][:, at] + (1 - w) * scale * every @ kernel
    prior = w * (r**2).sum(0) / free + (1 - w) * scale * np.diag(kernel)
    return gram, cross, prior


def errors_of(recipe: Recipe, gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Variances (32,) of the targets' errors and H (32, 2), in units of the setting."""
    network, series = network_of(recipe), recipe.setting.series
    square, (source,) = (series.scale / recipe.setting.unit) ** 2, series.problem.sources
    of_stations = square * (recipe.setting.spec.noises_of_sources[0] + source.errors.variance.numpy())
    least = network.ratio * NOISE * np.diag(gram)[:20].mean()
    return least + np.concatenate([np.zeros(20), of_stations]), np.vstack([np.zeros((20, 2)), source.errors.effects])


def test_means_and_variances_are_those_of_dense_matrices_of_all_times(recipe: Recipe, result: PeriodResult) -> None:
    """All targets of all times and the effects in one Gaussian: anomalies independent between times, b common."""
    setting, network = recipe.setting, network_of(recipe)
    series, every = setting.series, np.arange(48)
    gram, cross, prior = dense(recipe, every)
    variances, effects = errors_of(recipe, gram)
    b = (series.scale / setting.unit) ** 2 * series.problem.sources[0].errors.prior.numpy()
    h, h_t = setting.coarse.design, setting.seasons.design(series.dates)
    fit = np.linalg.inv(h.T @ h) @ h.T
    (source,) = series.problem.sources
    of_pixels = fit @ setting.training.fine / setting.unit
    climate = np.hstack([fit @ setting.training.cells / setting.unit, of_pixels[:, source.row]])
    assert series.stations is not None
    left = np.hstack([series.coarse, series.stations]) / setting.unit - h_t @ climate
    known = [np.flatnonzero(np.isfinite(row)) for row in left]
    begin = np.cumsum([0, *map(len, known)])
    single = network.ratio * gram + np.diag(variances)
    covariance = np.zeros((begin[-1], begin[-1]))
    for time, rows in enumerate(known):
        covariance[begin[time] : begin[time + 1], begin[time] : begin[time + 1]] = single[np.ix_(rows, rows)]
    shared = np.vstack([effects[rows] for rows in known])
    covariance += (shared * b) @ shared.T
    values = np.concatenate([left[time, rows] for time, rows in enumerate(known)])
    fine = network.setting.some(10**6, never)
    for time, rows in enumerate(known):
        between = np.zeros((len(values), 320))
        between[begin[time] : begin[time + 1]] = network.ratio * cross[rows]
        solved = np.linalg.solve(covariance, between)
        mean = setting.unit * (h_t[time] @ of_pixels + values @ solved)
        if time == 3:  # cells alone have a noise of their own mean, also in the archive without stations
            np.testing.assert_allclose(result.means[time].ravel(), mean, rtol=0, atol=1e-3)
            continue
        np.testing.assert_allclose(result.means[time].ravel(), mean, rtol=0, atol=1e-8)
        given = next(each for each in recipe.groups if time in each.times)
        gain = recipe.method(given.side, fine.of(given.rows), every)
        stated = network.ratio * prior - (between * solved).sum(0)
        np.testing.assert_allclose(network.ratio * gain.variance, stated, rtol=0, atol=1e-8)
    posterior = b * (shared.T @ np.linalg.solve(covariance, values))
    spread = np.diag(b) - (b[:, None] * shared.T) @ np.linalg.solve(covariance, shared * b)
    about = result.diagnostics["stations"]
    assert about["offset"] == pytest.approx(setting.unit * posterior[0], abs=1e-8)
    assert about["per_100_m_sd"] == pytest.approx(setting.unit * np.sqrt(spread[1, 1]), abs=1e-8)


def test_a_time_without_stations_is_that_of_cells_alone(both: tuple[Series, Training], result: PeriodResult) -> None:
    series, training = both
    alone = replace(series, problem=replace(series.problem, sources=()), stations=None)
    cells = downscale_with_archive(alone, training, UNLEARNED)
    np.testing.assert_allclose(result.means[3], cells.means[3], rtol=0, atol=1e-9)
    np.testing.assert_allclose(result.sd(3), cells.sd(3), rtol=0, atol=1e-9)
    assert np.abs(result.means[2] - cells.means[2]).max() > 0.1 and result.sd(2).mean() < cells.sd(2).mean()


def test_the_sd_with_all_stations_is_that_of_left_out_times(recipe: Recipe, result: PeriodResult) -> None:
    """Each half of the archive predicted from the other, its values at the stations drawn with their errors."""
    setting, network = recipe.setting, network_of(recipe)
    fine = network.setting.some(10**6, never)
    side = network.side(network.effects[0])
    weights = recipe.method(side, fine, np.arange(48)).weights.numpy()
    errors, variance = left_out_errors(side, fine, recipe.method, setting.parts)
    assert side.errors is not None and side.carried is not None
    rng = np.random.default_rng(0)
    own = network.ratio * (np.diag(side.errors.numpy()) + side.carried.numpy() @ side.carried.numpy().T)[20:, 20:]
    drawn = rng.multivariate_normal(np.zeros(12), own, 20000) @ weights[20:]
    more = torch.as_tensor((drawn**2).mean(0))
    some = network.setting.some(1000, never)
    ratio = float(((errors**2).mean(0) + more).mean() / variance.mean())
    expected = spread_of(errors, variance, ratio, more).numpy()
    filled = replace(setting, series=replace(setting.series, stations=np.nan_to_num(setting.series.stations, nan=280.0),
                                             coarse=np.nan_to_num(setting.series.coarse, nan=280.0)))  # fmt: skip
    full = replace(network, setting=replace(network.setting, series=filled.series),
                   values=torch.nan_to_num(network.values, nan=280.0 / setting.unit))  # fmt: skip
    whole = Recipe.of(filled, recipe.method, recipe.ratio, np.arange(12), None, full)
    assert len(whole.groups) == 1 and len(some.prior) == 320
    found = predicted(whole, NoReport()).spreads[0]
    np.testing.assert_allclose(found, expected, rtol=0.02)
