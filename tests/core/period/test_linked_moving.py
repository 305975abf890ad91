"""Cells whose covariates change with time, against one dense Gaussian over all cells and times."""

from dataclasses import replace

import numpy as np
import pytest

from deconditioning.errors import InputError
from deconditioning.period.run import PeriodResult, downscale_series
from deconditioning.period.series import Series
from tests.core.period.dense import average_of, prior_in_time
from tests.core.period.made import UNLEARNED, with_wind


@pytest.fixture(scope="module")
def series() -> Series:
    return with_wind(8, 0.4)


def dense(series: Series, result: PeriodResult) -> tuple[np.ndarray, np.ndarray, float]:
    """Mean and variance (T, P), standardised, and log evidence by one covariance of all cells at all times."""
    count, average = len(series), average_of(series)
    assert result.linked is not None
    whole = prior_in_time(series, result.spec.kernel, result.linked.lasting).reshape(count * 320, -1)
    z = ((series.coarse - series.level[:, None]) / series.scale).ravel()
    there = np.isfinite(z)
    across = whole @ np.kron(np.eye(count), average)[there].T
    covariance = np.kron(np.eye(count), average)[there] @ across + result.spec.noise * np.eye(there.sum())
    fit = np.linalg.solve(covariance, z[there])
    evidence = -0.5 * (z[there] @ fit + np.linalg.slogdet(covariance)[1] + there.sum() * np.log(2 * np.pi))
    variance = np.diag(whole) - (across * np.linalg.solve(covariance, across.T).T).sum(1)
    return (across @ fit).reshape(count, -1), variance.reshape(count, -1), evidence


@pytest.mark.parametrize("noise", [1e-3, 0.2])
def test_mean_sd_and_evidence_are_those_of_one_gaussian_over_all_times(series: Series, noise: float) -> None:
    result = downscale_series(series, UNLEARNED.replace(noise=noise), link=True)
    mean, variance, evidence = dense(series, result)
    assert series.varying is not None and result.linked is not None and result.spec.noise == noise
    assert (result.linked.lasting.exponent > 0) == (noise < 0.1)
    for time in range(len(series)):
        np.testing.assert_allclose(
            result.means[time].ravel(), series.level[time] + series.scale * mean[time], rtol=0, atol=1e-9
        )
        np.testing.assert_allclose(
            result.sd(time).ravel(), series.scale * result.amplitude[time] * np.sqrt(variance[time]), rtol=0, atol=1e-9
        )
    assert result.evidence.sum() == pytest.approx(evidence, abs=1e-8)


def test_linked_by_default_where_it_pays_and_some_times_are_those_of_the_whole() -> None:
    series = with_wind(40, 0.5)
    alone, result = downscale_series(series, UNLEARNED, link=False), downscale_series(series, UNLEARNED)
    assert result.linked is not None and alone.linked is None and "τ" in result.diagnostics["linked"]
    truth = np.stack([series.fine(time) for time in range(40)])
    crps = [np.mean([each.predictive(t).crps(truth[t]) for t in range(40)]) for each in (alone, result)]
    assert crps[1] < 0.95 * crps[0]
    part = downscale_series(series, UNLEARNED, times=np.arange(5, 9))
    np.testing.assert_allclose(part.means, result.means[5:9], rtol=0, atol=1e-10)
    np.testing.assert_allclose(part.evidence, result.evidence[5:9])


def test_what_cannot_be_linked_is_said(series: Series) -> None:
    settings = UNLEARNED.replace(model="regression_kriging")
    assert series.varying is not None
    nothing_stays = replace(
        series, varying=replace(series.varying, moving=frozenset(("latitude", "longitude", "orog", "wind")))
    )
    with pytest.raises(InputError, match="every term of the kernel has covariates that change with time"):
        downscale_series(nothing_stays, settings, link=True)
