"""Other methods from the same archive, against other libraries, loops and what they must keep."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge

from deconditioning.errors import never
from deconditioning.fields.problem.baselines import bilinear
from deconditioning.period.archive.peers import fitted as module
from deconditioning.period.archive.peers.fitted import (
    ANALOGS,
    DELTA,
    EOFS,
    FOREST,
    QUANTILES,
    RIDGE,
    interpolated,
    peers,
)
from deconditioning.period.archive.peers.methods import Known, analogs, eof_regression, forest, quantile_mapping
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.seasons import Seasons
from deconditioning.period.archive.training import Training
from deconditioning.period.scores import verified_result
from deconditioning.period.series import Series
from deconditioning.verification.scores import series_scores as scores_of
from deconditioning.verification.series import BILINEAR, CONSERVING
from tests.core.period.made import UNLEARNED

CONSTANT = Seasons(0, 0)
EVERY = {DELTA, RIDGE, QUANTILES, ANALOGS, EOFS, FOREST}


def test_the_delta_method_is_climatology_and_interpolated_anomalies(series: Series, training: Training) -> None:
    found = peers(series, training, CONSTANT, 2, never)[DELTA]
    z, mean = series.coarse, training.coarse.mean(0)
    problem = series.problem
    for time in (0, 7):
        cells = (z[time] - mean).reshape(problem.coarse_shape)
        field = bilinear(replace(problem, coarse=cells))
        means = problem.shares.mean(field, problem.grid.area).reshape(problem.coarse_shape)
        field = field + (cells - means).ravel()[problem.cell]
        np.testing.assert_allclose(found.means[time], training.fine.mean(0) + field.ravel(), atol=1e-9)
        again = problem.shares.mean(problem.on_grid(found.means[time]), problem.grid.area)
        np.testing.assert_allclose(again, z[time], atol=1e-9)


def test_ridge_is_that_of_another_library(series: Series, training: Training, monkeypatch) -> None:
    monkeypatch.setattr(module, "_strength", lambda known, method: 0.3)
    found = peers(series, training, CONSTANT, 2, never)
    x, y = training.coarse, training.fine
    delta = y.mean(0) + interpolated(series.problem, x - x.mean(0), never)
    anomalies = x - x.mean(0)
    alpha = 0.3 * np.mean(np.linalg.svd(anomalies, compute_uv=False) ** 2)
    model = Ridge(alpha=alpha, fit_intercept=False).fit(anomalies, y - delta)
    expected = found[DELTA].means + model.predict(series.coarse - x.mean(0))
    np.testing.assert_allclose(found[RIDGE].means, expected, atol=1e-8)
    monkeypatch.setattr(module, "_strength", lambda known, method: 1e12)
    stiff = peers(series, training, CONSTANT, 2, never)
    np.testing.assert_allclose(stiff[RIDGE].means, stiff[DELTA].means, atol=1e-8)


@pytest.fixture
def known(series: Series, training: Training) -> Known:
    seasons = Seasons.of(training.dates, series.dates)
    smooth = interpolated(series.problem, training.coarse, never)
    return Known(seasons.design(training.dates), training.fine, smooth, training.coarse)


def split(known: Known) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The first 36 times, and design, interpolated and coarse values of the others."""
    return np.arange(36), (known.design[36:], known.smooth[36:], known.coarse[36:])


def climate(known: Known, values: np.ndarray) -> np.ndarray:
    """The climatology of all times from the first 36."""
    return known.design @ np.linalg.lstsq(known.design[:36], values[:36], rcond=None)[0]


def test_quantile_mapping_gives_the_distribution_of_the_fine_anomalies_and_keeps_a_shift(known: Known) -> None:
    rows, at = split(known)
    again = quantile_mapping(known, rows, known.design[:36], known.smooth[:36], known.coarse[:36])
    fine, smooth = climate(known, known.fine), climate(known, known.smooth)
    np.testing.assert_allclose(
        np.sort(again - fine[:36], axis=0), np.sort(known.fine[:36] - fine[:36], axis=0), atol=1e-9
    )
    found = quantile_mapping(known, rows, *at)
    for pixel in (0, 77, 200):
        mine = known.smooth[36:, pixel] - smooth[36:, pixel]
        levels = [(np.sum(mine < value) + 0.5) / len(mine) for value in mine]
        past, true = (
            np.interp(levels, (np.arange(36) + 0.5) / 36, np.sort((field - of)[:36, pixel]))
            for field, of in ((known.smooth, smooth), (known.fine, fine))
        )
        np.testing.assert_allclose(found[:, pixel], fine[36:, pixel] + mine + true - past, atol=1e-9)
    np.testing.assert_allclose(quantile_mapping(known, rows, at[0], at[1] + 2.0, at[2]), found + 2, atol=1e-9)


def test_analogs_are_the_weighted_times_that_are_most_alike(known: Known) -> None:
    rows, at = split(known)
    again = analogs(known, rows, known.design[:36], known.smooth[:36], known.coarse[:36])
    np.testing.assert_allclose(again, known.fine[:36], atol=1e-3)  # each time is its own best analog
    found, cells = analogs(known, rows, *at), known.coarse - climate(known, known.coarse)
    left = known.fine - known.smooth - climate(known, known.fine - known.smooth)
    scores = PCA(10, svd_solver="full").fit(np.vstack([cells[:36], -cells[:36]])).components_ @ cells.T
    for time in (36, 47):
        distance = ((scores[:, :36] - scores[:, [time]]) ** 2).sum(0)
        best = np.argsort(distance)[:30]
        weight = 1 / (distance[best] + 1e-9 * np.mean(cells[:36] ** 2))
        delta = known.smooth[time] + climate(known, known.fine - known.smooth)[time]
        expected = delta + weight @ left[best] / weight.sum()
        np.testing.assert_allclose(found[time - 36], expected, atol=1e-8)


def test_patterns_and_trees_are_those_of_another_library(known: Known) -> None:
    rows, at = split(known)
    cells, fine = (each - climate(known, each) for each in (known.coarse, known.fine))
    pca = PCA(20, svd_solver="full").fit(np.vstack([fine[:36], -fine[:36]]))
    alpha = 0.1 * np.mean(np.linalg.svd(cells[:36], compute_uv=False) ** 2)
    model = Ridge(alpha=alpha, fit_intercept=False).fit(cells[:36], pca.transform(fine[:36]))
    expected = climate(known, known.fine)[36:] + pca.inverse_transform(model.predict(cells[36:]))
    np.testing.assert_allclose(next(eof_regression(known, rows, *at, (0.1,))), expected, atol=1e-8)
    found = forest(known, rows, *at)
    delta = known.smooth + climate(known, known.fine - known.smooth)
    left = known.fine - delta
    u, s, v = np.linalg.svd(left[:36], full_matrices=False)
    trees = RandomForestRegressor(200, min_samples_leaf=3, max_features=1 / 3, random_state=1)
    trees.fit(np.hstack([cells, known.design])[:36], (u * s)[:, :20])
    other = delta[36:] + trees.predict(np.hstack([cells, known.design])[36:]) @ v[:20]
    away, moved = np.sqrt(np.mean((found - other) ** 2)), np.sqrt(np.mean((other - delta[36:]) ** 2))
    assert away < 0.35 * moved  # another seed and more trees


def test_bias_and_scale_of_another_model_drop_out(series: Series, training: Training) -> None:
    seasons = Seasons.of(training.dates, series.dates)
    other = replace(training, coarse=1.5 * training.coarse + 3)
    moved = replace(series, coarse=1.5 * series.coarse + 3)
    for name, peer in peers(series, training, seasons, 2, never).items():
        again = peers(moved, other, seasons, 2, never)[name]
        most = 0.1 if name == FOREST else 1e-8  # a rounding error moves a time to another leaf
        np.testing.assert_allclose(again.means, peer.means, atol=most)
        np.testing.assert_allclose(again.sd, peer.sd, atol=most)


def test_the_result_holds_their_scores_and_says_if_one_is_better(
    series: Series, training: Training, monkeypatch
) -> None:
    result = downscale_with_archive(series, training, UNLEARNED)
    scores, left_out = scores_of(verified_result(result))[0], result.diagnostics["left_out_crps_of_peers"]
    assert set(result.peers) == set(left_out) == EVERY
    assert set(scores) - {"prediction", BILINEAR, CONSERVING} == EVERY
    truth = np.stack([series.fine(time) for time in range(len(series))])
    own = peers(series, training, Seasons.of(training.dates, series.dates), 2, never)[RIDGE]
    error = own.means.reshape(truth.shape) - truth
    area = np.broadcast_to(series.problem.grid.area, truth.shape)
    assert scores[RIDGE].pooled["rmse"] == pytest.approx(np.sqrt(np.average(error**2, weights=area)))
    better = [
        name for name, crps in left_out.items() if crps < 0.98 * min(result.diagnostics["left_out_crps"].values())
    ]
    assert [name for name in left_out if any(f"`{name}`" in each for each in result.warnings)] == better
    gaps = series.coarse.copy()
    gaps[3, 2] = np.nan
    assert peers(replace(series, coarse=gaps), training, CONSTANT, 2, never) == {}
