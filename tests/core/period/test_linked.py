"""Cells linked through time against one dense Gaussian over all cells and times."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.errors import InputError, never
from deconditioning.kernels.tiles import evaluate
from deconditioning.period.correlation import days_of
from deconditioning.period.ensemble import members_of
from deconditioning.period.linking.cells import Lasting, learned
from deconditioning.period.run import PeriodResult, downscale_series
from deconditioning.period.series import Series
from deconditioning.period.space_time import drawn_chain
from tests.core.period.dense import lasting
from tests.core.period.made import UNLEARNED, with_gaps


@pytest.fixture(scope="module")
def series() -> Series:
    return with_gaps(9, 0.4)


def parts_of(series: Series, result: PeriodResult) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Prior covariance (T P, T P) of all pixels at all times, what the targets see of it, and the targets."""
    problem, spec, count = series.problem, result.spec, len(series)
    kernel = evaluate(spec.kernel.build(problem.columns), problem.inputs, problem.inputs).detach().numpy()
    constant = sum(t.scale for t in spec.kernel.terms if all(f.family == "constant" for f in t.factors))
    assert constant > 0
    area = problem.grid.area.ravel()
    average = (np.arange(20)[:, None] == problem.cell.ravel()) * area
    average /= average.sum(1, keepdims=True)
    days, ones = days_of(series.dates), np.ones_like(kernel)
    whole = lasting(kernel - constant, average, days, result.linked.lasting, series.member)
    whole = whole.reshape(count * len(kernel), -1) + np.kron(np.eye(count), constant * ones)
    seen = np.kron(np.eye(count), average)
    z = ((series.coarse - series.level[:, None]) / series.scale).ravel()
    return whole, seen[np.isfinite(z)], z[np.isfinite(z)]


def dense(series: Series, result: PeriodResult) -> tuple[np.ndarray, np.ndarray, float]:
    """Mean and variance (T, P), standardised, and log evidence by one covariance of all cells at all times."""
    whole, seen, z = parts_of(series, result)
    spec, count = result.spec, len(series)
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
    assert result.linked is not None and (result.linked.lasting.exponent > 0) == (noise < 0.1)
    check(series, result, noise)


def test_how_long_patterns_last_is_learned(series: Series) -> None:
    """From cells of 300 times that are drawn from the model: large patterns last ten days, others less or as long."""
    linked = downscale_series(series, UNLEARNED, link=True).linked
    assert linked is not None
    cells, days, member = linked.cells, np.arange(300.0), np.zeros(300, dtype=int)
    for exponent in (0.0, 0.5):
        chain = cells.chain(days, member, Lasting(10.0, exponent), 1e-4)
        drawn = drawn_chain(chain, torch.full((20, 300), np.nan), 1, torch.Generator().manual_seed(0))[:, :, 0]
        targets = chain.loading @ drawn.T
        lasting, _ = learned(cells, targets, days, 1e-4, learn=False, check=never)
        assert lasting.exponent == pytest.approx(exponent, abs=0.06)
        assert np.log(lasting.days / 10) == pytest.approx(0, abs=0.4)


def test_members_of_an_ensemble_are_not_linked_with_each_other(series: Series) -> None:
    two = replace(
        series, labels=series.labels * 2, dates=series.dates * 2, coarse=np.vstack([series.coarse, series.coarse + 1]),
        level=np.tile(series.level, 2) + np.repeat([0, 1], len(series)), members=2,
    )  # fmt: skip
    result = downscale_series(two, UNLEARNED, link=True)
    check(two, result, result.spec.noise)
    np.testing.assert_allclose(result.means[9:], result.means[:9] + 1, rtol=0, atol=1e-9)


def check(series: Series, result: PeriodResult, noise: float) -> None:
    """Mean, sd and evidence against `dense`."""
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


def test_without_gaps_and_noise_the_mean_is_that_of_each_time(series: Series) -> None:
    whole = with_gaps(9, 0.0)
    settings = UNLEARNED.replace(noise=1e-8)
    alone, together = (downscale_series(whole, settings, link=link) for link in (False, True))
    np.testing.assert_allclose(together.means, alone.means, rtol=0, atol=2e-3)
    assert downscale_series(whole, settings).linked is None
    with_less = downscale_series(series, settings, link=True).means
    assert np.abs(with_less - downscale_series(series, settings, link=False).means).max() > 0.1


def test_gaps_are_linked_by_default_where_times_are_alike() -> None:
    """A slow series, and how long the errors of its draws last; cells that are new at every time are not linked."""
    series = with_gaps(40, 0.5)
    alone, result = downscale_series(series, UNLEARNED, link=False), downscale_series(series, UNLEARNED)
    assert result.linked is not None and "τ" in result.diagnostics["linked"]
    truth = np.stack([series.fine(time) for time in range(40)])
    crps = [[each.predictive(time).crps(truth[time]).mean() for time in range(40)] for each in (alone, result)]
    assert np.mean(crps[1]) < 0.9 * np.mean(crps[0])
    assert result.residuals.correlation.parts[0].scale == result.linked.lasting.days
    new = series.scale * np.random.default_rng(0).normal(size=series.coarse.shape)
    unlike = replace(series, coarse=np.where(np.isnan(series.coarse), np.nan, new), level=np.zeros(40))
    assert downscale_series(unlike, UNLEARNED).linked is None


def test_some_times_are_those_of_the_whole_series() -> None:
    series = with_gaps(12, 0.4)
    whole = downscale_series(series, UNLEARNED, link=True)
    first = downscale_series(series, UNLEARNED, times=np.arange(5), link=True)
    rest = downscale_series(series, UNLEARNED, times=np.arange(5, 12), like=first)
    np.testing.assert_allclose(np.vstack([first.means, rest.means]), whole.means, rtol=0, atol=1e-10)
    sds = [each.sd(time) for each in (first, rest) for time in range(len(each.series))]
    np.testing.assert_allclose(sds, [whole.sd(time) for time in range(12)], rtol=0, atol=1e-10)
    np.testing.assert_allclose(np.concatenate([first.evidence, rest.evidence]), whole.evidence)


def test_noise_is_learned_where_linking_is_requested() -> None:
    """Cells with errors that are new at every time."""
    series = with_gaps(40, 0.0)
    noisy = series.coarse + 0.4 * series.scale * np.random.default_rng(0).normal(size=series.coarse.shape)
    series = replace(series, coarse=noisy, level=noisy.mean(axis=1))
    settings = UNLEARNED.replace(learn=True, restarts=1, steps=20)
    result, held = (downscale_series(series, settings.replace(hold=hold), link=True) for hold in ((), ("noise",)))
    assert 0.2 < np.sqrt(result.spec.noise) < 0.5 and held.spec.noise < 0.02
    truth = np.stack([series.fine(time) for time in range(40)])
    rmse = [np.sqrt(np.mean((each.means - truth) ** 2)) for each in (result, held)]
    assert rmse[0] < 0.95 * rmse[1]


def test_what_cannot_be_linked_is_said(series: Series) -> None:
    with pytest.raises(InputError, match="cannot be linked: they are not in order"):
        downscale_series(replace(series, dates=series.dates[::-1]), UNLEARNED, link=True)


@pytest.mark.parametrize("noise", [1e-3, 0.2])
def test_draws_have_the_joint_covariance_of_one_gaussian_over_all_times(series: Series, noise: float) -> None:
    """Covariances between pixels and times, over their sds, from 600 draws."""
    result = downscale_series(series, UNLEARNED.replace(noise=noise), link=True)
    whole, seen, z = parts_of(series, result)
    chosen = np.random.default_rng(0).choice(len(whole), 200, replace=False)
    across = whole[chosen] @ seen.T
    covariance = seen @ whole @ seen.T + noise * np.eye(len(z))
    posterior = whole[np.ix_(chosen, chosen)] - across @ np.linalg.solve(covariance, across.T)
    sd = np.sqrt(np.diag(posterior))
    wanted = posterior / sd / sd[:, None]
    assert result.residuals is not None and result.residuals.together is not None
    drawn = result.residuals.together(600, torch.Generator().manual_seed(0)).reshape(600, -1).numpy()[:, chosen]
    error = (drawn.T @ drawn / 600 - wanted) / np.sqrt((1 + wanted**2) / 600)
    assert np.sqrt(np.mean(error**2)) == pytest.approx(1, abs=0.15) and np.abs(error).max() < 6
    assert np.abs(drawn.mean(0)).max() < 5 / np.sqrt(600) and np.abs(wanted - np.eye(200)).max() > 0.5


def test_draws_of_members_are_those_of_their_times(series: Series) -> None:
    two = replace(
        series, labels=series.labels * 2, dates=series.dates * 2, coarse=np.vstack([series.coarse, series.coarse]),
        level=np.tile(series.level, 2), members=2,
    )  # fmt: skip
    result = downscale_series(two, UNLEARNED, link=True)
    whole, *others = (
        each.residuals.together(60, torch.Generator().manual_seed(0)).numpy() for each in (result, *members_of(result))
    )
    np.testing.assert_array_equal(np.concatenate(others, axis=1), whole)
    assert abs(np.mean(whole[:, 4] * whole[:, 13])) < 0.1  # the same time of the other member
