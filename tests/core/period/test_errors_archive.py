"""Errors of cells beside an archive: against dense matrices, what left-out times know of them, and coverage."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import xarray as xr

from deconditioning.downscaling.source import Source
from deconditioning.engine.reporting import NoReport
from deconditioning.errors import InputError, never
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.period.archive.gain import Mixture, anomalies, gains, kernel_scale
from deconditioning.period.archive.left_out import choose_mixture, error_ratio, left_out_errors, mixed, spread_of
from deconditioning.period.archive.pair import downscale_pair
from deconditioning.period.archive.peers.alone import downscale_by_method
from deconditioning.period.archive.predicted import Recipe, predicted
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.setting import Setting, prepare
from deconditioning.period.archive.training import Training, read_training
from deconditioning.period.run import of_a_series
from deconditioning.period.series import Series, read_series
from deconditioning.period.statistics import period_draws
from tests.core.period.made import SPEC, UNLEARNED, made_dataset

LEARNED = UNLEARNED.replace(learn=True, restarts=1, steps=15)


def read(times: int, later: int, *, moving: bool, own: bool = False) -> tuple[Series, Training, np.ndarray]:
    """The last times of a series, whose cells have errors of 0.1 or 1.5 K, the archive of the others, and the truth;
    ``own`` if the file of the cells has the training period, too.
    """
    dataset, rng = made_dataset(times), np.random.default_rng(3)
    t = dataset[["t"]].coarsen(lat=4, lon=4).mean()["t"]
    t = t if own else t.isel(time=slice(times - later, None))
    error = rng.choice([0.1, 1.5], t.shape if moving else t.shape[1:])
    noisy = (t + error * rng.normal(size=t.shape)).assign_attrs(dataset["t"].attrs)
    low = xr.Dataset({"t": noisy, "t_sd": (t.dims if moving else t.dims[1:], error, {"units": "K"})})
    files = {"x": fields_from_dataset(dataset[["orog"]]), "low": fields_from_dataset(low)}
    spec = replace(SPEC, matching="direct", error="t_sd")
    words = f"#{len(t.time) - later}/#{len(t.time) - 1}"
    series = read_series(Source("x", "low"), spec, files.__getitem__, [words])
    training = read_training(series, fields_from_dataset(dataset[["t"]]), [f"#0/#{times - later - 1}"])
    return series, training, dataset["t"].values[times - later :, ::-1]


def setting_of(series: Series, training: Training) -> Setting:
    return prepare(series, training, of_a_series(series, UNLEARNED, len(series)), NoReport())


@pytest.fixture(scope="module")
def given() -> tuple[Series, Training, np.ndarray]:
    return read(60, 12, moving=True)


@pytest.fixture(scope="module")
def recipe(given: tuple[Series, Training, np.ndarray]) -> Recipe:
    """With two cells missing at one time."""
    series, training, _ = given
    coarse = series.coarse.copy()
    coarse[5, [3, 7]] = np.nan
    setting = setting_of(replace(series, coarse=coarse), training)
    some = setting.some(4000, never)
    choice = choose_mixture(setting.coarse, some, never)
    method = mixed(choice, setting.coarse, some, setting.parts)
    ratio = error_ratio(*left_out_errors(setting.coarse, some, method, setting.parts))
    return Recipe.of(setting, method, ratio, np.arange(len(series)), None, None, None)


@pytest.mark.parametrize("mixture", [Mixture(0.0, None), Mixture(0.5, 1.5), Mixture(0.9, None)])
def test_the_gain_is_that_of_dense_matrices(given: tuple[Series, Training, np.ndarray], mixture: Mixture) -> None:
    """Of anomalies whose covariance has that of the errors, times the squared slope of the archive on the cells."""
    series, training, _ = given
    training = replace(training, coarse=1.25 * training.coarse)
    setting = setting_of(series, training)
    rows, coarse, fine = np.arange(5, 40), setting.coarse, setting.some(10**6, never)
    known = anomalies(coarse, fine, rows)
    scale = kernel_scale(coarse, fine, known)
    h, y, z = coarse.design[rows], training.fine[rows] / setting.unit, training.coarse[rows] / setting.unit
    truth = training.cells[rows] / setting.unit
    fit = np.linalg.inv(h.T @ h) @ h.T
    r, left, right = y - h @ fit @ y, z - h @ fit @ z, truth - h @ fit @ truth
    slope = (left * right).sum(0) / (left**2).sum(0)
    np.testing.assert_allclose(slope, 0.8, atol=1e-9)
    own = slope**2 * (series.errors**2).mean(0)[series.problem.target_cell] / setting.unit**2
    free, w, a = len(rows) - h.shape[1], mixture.share, slope * left
    rho = np.exp(-0.5 * (coarse.distance.numpy() / (mixture.reach or np.inf)) ** 2)
    within = scale * coarse.gram.numpy() + np.diag(((right - a) ** 2).sum(0) / free)
    gram = w * a.T @ a / free * rho + (1 - w) * within
    at = series.problem.cell.ravel()
    cross = w * a.T @ r / free * rho[:, at] + (1 - w) * scale * fine.cross.numpy()
    gain = np.linalg.solve(gram + 1e-4 * np.trace(gram) / 20 * np.eye(20) + np.diag(own), cross)
    variance = w * (r**2).sum(0) / free + (1 - w) * scale * fine.prior.numpy() - (gain * cross).sum(0)
    (mine,) = gains(coarse, fine, known, scale, [mixture])
    np.testing.assert_allclose(mine.weights, gain, rtol=0, atol=1e-9)
    np.testing.assert_allclose(mine.variance, variance, rtol=0, atol=1e-9)


def test_every_time_has_the_gain_of_its_own_errors(recipe: Recipe) -> None:
    """Mean and sd of each time, also with cells missing, from the covariance of the mean errors and its own."""
    setting, coarse = recipe.setting, recipe.setting.coarse
    result, every = predicted(recipe, NoReport()), np.arange(len(coarse.z))
    fine, errors, z = setting.some(10**6, never), setting.errors_of_series(), setting.of_series()
    base = recipe.method(coarse, fine, every)
    assert errors is not None and len(recipe.groups) == 12
    base_square = spread_of(*left_out_errors(coarse, fine, recipe.method, setting.parts), recipe.ratio).square()
    for time in (5, 8):
        rows = torch.isfinite(z[time]).nonzero()[:, 0]
        side = replace(coarse.of(rows), own=replace(coarse.own.of(rows), variance=errors[time][rows]))
        fresh = recipe.method(side, fine.of(rows), every)
        design = setting.seasons.design([setting.series.dates[time]])
        np.testing.assert_allclose(result.means[time], fresh.mean(design, z[time : time + 1, rows])[0], atol=1e-9)
        more = fresh.variance - base.variance
        square = torch.where(more < 0, base_square * fresh.variance / base.variance, base_square + recipe.ratio * more)
        np.testing.assert_allclose(result.spreads[result.spread_of[time]], square.sqrt(), atol=1e-9)


def test_left_out_times_have_the_errors_of_the_series(given: tuple[Series, Training, np.ndarray]) -> None:
    """Drawn errors add to the squared left-out error what the weights make of their variance."""
    series, training, _ = given
    setting = setting_of(series, training)
    coarse, fine = setting.coarse, setting.some(10**6, never)
    choice = choose_mixture(coarse, fine, never)
    method = mixed(choice, coarse, fine, 2)
    noisy, _ = left_out_errors(coarse, fine, method, 2)
    assert coarse.own is not None
    silent = replace(coarse, own=replace(coarse.own, drawn=torch.zeros_like(coarse.own.drawn)))
    exact, _ = left_out_errors(silent, fine, method, 2)
    added = []
    for half in np.array_split(np.arange(48), 2):
        gain = method(coarse, fine, np.setdiff1d(np.arange(48), half))
        slope = gain.known.coarse.slope
        added.append((slope.square() * coarse.own.variance) @ gain.weights.square())
    expected = float(torch.stack(added).mean())
    assert float((noisy - exact).square().mean()) == pytest.approx(expected, rel=0.15)
    assert float(noisy.square().mean() - exact.square().mean()) == pytest.approx(expected, rel=0.3)


@pytest.mark.parametrize("moving", [False, True])
def test_maps_are_better_and_intervals_hold(moving: bool) -> None:
    series, training, truth = read(150, 30, moving=moving)
    results = [downscale_with_archive(each, training, LEARNED) for each in (series, replace(series, errors=None))]
    rmse, inside = zip(*(
        (np.sqrt(np.mean((each.means - truth) ** 2)),
         np.mean([np.abs(truth[n] - each.means[n]) < 1.96 * each.sd(n) for n in range(30)])) for each in results
    ), strict=True)  # fmt: skip
    assert rmse[0] < 0.75 * rmse[1] and 0.93 < inside[0] < 0.995 and inside[1] < 0.85
    assert not results[0].peers and results[1].peers
    drawn = results[0].residuals.draw(1500, torch.Generator().manual_seed(0))
    assert float(drawn.var(0).mean()) == pytest.approx(1, abs=0.03)
    assert len(list(period_draws(results[0], 2, 0))) == 2


def test_coarse_values_of_the_training_period_bring_their_own_errors() -> None:
    """Those of the same file have the same errors: nothing is added, the archive's regression on them knows."""
    series, training, truth = read(110, 30, moving=False, own=True)
    assert "those of the target's file" in training.notes[-1]
    np.testing.assert_allclose(training.errors, series.errors[0][series.problem.target_cell] ** 2)
    assert float(setting_of(series, training).errors_of_series().abs().max()) < 1e-12
    result = downscale_with_archive(series, training, LEARNED)
    assert 0.9 < np.mean([np.abs(truth[n] - result.means[n]) < 1.96 * result.sd(n) for n in range(30)]) < 0.995


def test_what_errors_cannot_be_combined_with_is_said(given: tuple[Series, Training, np.ndarray]) -> None:
    series, training, _ = given
    with pytest.raises(InputError, match="if the target has a warp"):
        downscale_with_archive(series, training, UNLEARNED.replace(warp="box-cox"))
    with pytest.raises(InputError, match="does not know errors"):
        downscale_by_method(series, training, "bcsd", UNLEARNED)
    with pytest.raises(InputError, match="cells of one variable"):
        downscale_pair(series, series, (training, training), UNLEARNED)
    with pytest.raises(InputError, match="cells with errors are predicted each time by itself"):
        downscale_with_archive(series, training, UNLEARNED, link=True)
    with pytest.raises(InputError, match="cannot be combined with stations"):
        downscale_with_archive(replace(series, stations=np.zeros((12, 1))), training, UNLEARNED)
