"""Cells linked through time against one dense Gaussian over all cells and times."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.downscaling.source import Source
from deconditioning.errors import InputError
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.gridded import Fields
from deconditioning.kernels.tiles import evaluate
from deconditioning.period.correlation import days_of
from deconditioning.period.run import PeriodResult, downscale_series
from deconditioning.period.series import Series, read_series
from tests.core.period.made import SPEC, UNLEARNED, made_dataset


def with_gaps(times: int, share: float) -> Series:
    """A series of which a share of the cells is missing at random, at uneven times."""
    series = read_series(Source("x"), SPEC, lambda key: fields_from_dataset(made_dataset(times + 2)), ["#0/#4", f"#7/#{times + 1}"])
    missing = np.random.default_rng(1).uniform(size=series.coarse.shape) < share
    coarse = np.where(missing, np.nan, series.coarse)
    return replace(series, coarse=coarse, level=np.nanmean(coarse, axis=1))


@pytest.fixture(scope="module")
def series() -> Series:
    return with_gaps(9, 0.4)


def dense(series: Series, result: PeriodResult) -> tuple[np.ndarray, np.ndarray, float]:
    """Mean and variance (T, P), standardised, and log evidence by one covariance of all cells at all times."""
    problem, spec, count = series.problem, result.spec, len(series)
    kernel = evaluate(spec.kernel.build(problem.columns), problem.inputs, problem.inputs).detach().numpy()
    constant = sum(t.scale for t in spec.kernel.terms if all(f.family == "constant" for f in t.factors))
    assert constant > 0
    area = problem.grid.area.ravel()
    average = (np.arange(20)[:, None] == problem.cell.ravel()) * area
    average /= average.sum(1, keepdims=True)
    days = days_of(series.dates)
    between = np.exp(-np.abs(np.subtract.outer(days, days)) / result.linked.scale)
    ones = np.ones_like(kernel)
    whole = np.kron(between, kernel - constant) + np.kron(np.eye(count), constant * ones)
    seen = np.kron(np.eye(count), average)
    z = ((series.coarse - series.level[:, None]) / series.scale).ravel()
    seen, z = seen[np.isfinite(z)], z[np.isfinite(z)]
    covariance = seen @ whole @ seen.T + spec.noise * np.eye(len(z))
    fit = np.linalg.solve(covariance, z)
    evidence = -0.5 * (z @ fit + np.linalg.slogdet(covariance)[1] + len(z) * np.log(2 * np.pi))
    across = whole @ seen.T
    variance = np.diag(whole) - (across * np.linalg.solve(covariance, across.T).T).sum(1)
    return (across @ fit).reshape(count, -1), variance.reshape(count, -1), evidence


@pytest.mark.parametrize("noise", [1e-3, 0.2])
def test_mean_sd_and_evidence_are_those_of_one_gaussian_over_all_times(series: Series, noise: float) -> None:
    assert len(np.unique(np.diff(days_of(series.dates)).round())) > 1 and np.isnan(series.coarse).any()
    result = downscale_series(series, UNLEARNED.replace(noise=noise), link=True)
    mean, variance, evidence = dense(series, result)
    assert result.spec.noise == noise
    for time in range(len(series)):
        np.testing.assert_allclose(
            result.means[time].ravel(), series.level[time] + series.scale * mean[time], rtol=0, atol=1e-9
        )
        np.testing.assert_allclose(
            result.sd(time).ravel(), series.scale * result.amplitude[time] * np.sqrt(variance[time]), rtol=0, atol=1e-9
        )
    assert result.evidence.sum() == pytest.approx(evidence, abs=1e-9)
