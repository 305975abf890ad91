"""The delta method and ridge regression from the same archive, against other libraries and what they must keep."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from deconditioning.errors import never
from deconditioning.fields.problem.baselines import bilinear
from deconditioning.period.archive import peers as module
from deconditioning.period.archive.peers import DELTA, RIDGE, interpolated, peers
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.seasons import Seasons
from deconditioning.period.archive.training import Training
from deconditioning.period.scores import verified_result
from deconditioning.period.series import Series
from deconditioning.verification.scores import series_scores as scores_of
from deconditioning.verification.series import BILINEAR, CONSERVING
from tests.core.period.made import UNLEARNED

CONSTANT = Seasons(0, 0)


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
    monkeypatch.setattr(module, "_strength", lambda known: 0.3)
    found = peers(series, training, CONSTANT, 2, never)
    x, y = training.coarse, training.fine
    delta = y.mean(0) + interpolated(series.problem, x - x.mean(0), never)
    anomalies = x - x.mean(0)
    alpha = 0.3 * np.mean(np.linalg.svd(anomalies, compute_uv=False) ** 2)
    model = Ridge(alpha=alpha, fit_intercept=False).fit(anomalies, y - delta)
    expected = found[DELTA].means + model.predict(series.coarse - x.mean(0))
    np.testing.assert_allclose(found[RIDGE].means, expected, atol=1e-8)
    monkeypatch.setattr(module, "_strength", lambda known: 1e12)
    stiff = peers(series, training, CONSTANT, 2, never)
    np.testing.assert_allclose(stiff[RIDGE].means, stiff[DELTA].means, atol=1e-8)


def test_bias_and_scale_of_another_model_drop_out(series: Series, training: Training) -> None:
    seasons = Seasons.of(training.dates, series.dates)
    other = replace(training, coarse=1.5 * training.coarse + 3)
    moved = replace(series, coarse=1.5 * series.coarse + 3)
    for name, peer in peers(series, training, seasons, 2, never).items():
        again = peers(moved, other, seasons, 2, never)[name]
        np.testing.assert_allclose(again.means, peer.means, atol=1e-8)
        np.testing.assert_allclose(again.sd, peer.sd, atol=1e-8)


def test_the_result_holds_their_scores_and_says_if_one_is_better(
    series: Series, training: Training, monkeypatch
) -> None:
    result = downscale_with_archive(series, training, UNLEARNED)
    scores, left_out = scores_of(verified_result(result))[0], result.diagnostics["left_out_crps_of_peers"]
    assert set(result.peers) == set(left_out) == {DELTA, RIDGE} == set(scores) - {"prediction", BILINEAR, CONSERVING}
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
