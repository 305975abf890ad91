"""Cells and stations linked through time, against one dense Gaussian over all of them and all times."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from deconditioning.downscaling.source import Source
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.kernels.tiles import evaluate
from deconditioning.period.correlation import days_of
from deconditioning.period.run import PeriodResult, downscale_series
from deconditioning.period.series import Series, read_series
from tests.core.period.dense import lasting
from tests.core.period.made import SPEC, UNLEARNED, made_dataset
from tests.core.period.test_stations import table_of


def with_gaps(folder: Path, times: int, share: float) -> Series:
    """Cells of which a share is missing at random, and stations that miss at some times."""
    dataset = made_dataset(times).drop_vars("wind")
    table = table_of(dataset, folder / "stations.csv", altitude=True)
    series = read_series(Source("x", stations=str(table)), SPEC, lambda key: fields_from_dataset(dataset), ["all"])
    missing = np.random.default_rng(1).uniform(size=series.coarse.shape) < share
    coarse = np.where(missing, np.nan, series.coarse)
    return replace(series, coarse=coarse, level=np.nanmean(coarse, axis=1))


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> Series:
    return with_gaps(tmp_path_factory.mktemp("stations"), 8, 0.4)


def two_members(series: Series) -> Series:
    """The series and a second member, warmer by one."""
    assert series.stations is not None
    return replace(
        series, labels=series.labels * 2, dates=series.dates * 2, coarse=np.vstack([series.coarse, series.coarse + 1]),
        level=np.tile(series.level, 2) + np.repeat([0, 1], len(series)), members=2,
        stations=np.vstack([series.stations, series.stations]),
    )  # fmt: skip


def check(series: Series, result: PeriodResult) -> None:
    """Mean, sd, evidence and effects from one covariance of all targets, pixels and effects."""
    spec, problem, count = result.spec, series.problem, len(series)
    data, points = problem.joint_data, problem.joint_data.points
    assert points is not None and result.linked is not None
    kernel = evaluate(spec.kernel.build(problem.columns), problem.inputs, problem.inputs).detach()
    constant = sum(t.scale for t in spec.kernel.terms if all(f.family == "constant" for f in t.factors))
    average = data.bags.mean(torch.eye(len(kernel), dtype=kernel.dtype)[torch.as_tensor(problem.joint_pixel)]).numpy()
    days, member = days_of(series.dates), np.equal.outer(series.member, series.member)
    whole = lasting(kernel.numpy() - constant, average, days, result.linked.lasting, series.member)
    whole = whole.reshape(count * len(kernel), -1) + np.kron(np.eye(count), np.full(kernel.shape, constant))
    (tau,), cells = spec.noises_of_sources, len(problem.data.targets)
    single = np.concatenate([np.full(cells, spec.noise), tau + points.variance.numpy()])
    single += spec.point_noise * np.square(average).sum(1)
    effects = np.vstack([np.zeros((cells, 2)), points.effects.numpy()])
    shared = np.kron(member[:, :: count // series.members], effects)
    prior = np.tile(points.prior.numpy(), series.members)
    z = series.targets(range(count)).numpy().T.ravel() - spec.mean
    there = np.isfinite(z)
    seen, shared = np.kron(np.eye(count), average)[there], shared[there]
    across = whole @ seen.T
    covariance = seen @ across + np.diag(np.tile(single, count)[there]) + (shared * prior) @ shared.T
    fit = np.linalg.solve(covariance, z[there])
    mean = (across @ fit).reshape(count, -1)
    variance = (np.diag(whole) - (across * np.linalg.solve(covariance, across.T).T).sum(1)).reshape(count, -1)
    for time in range(count):
        own = series.level[time] + series.scale * (spec.mean + mean[time])
        np.testing.assert_allclose(result.means[time].ravel(), own, rtol=0, atol=1e-9)
        sd = series.scale * result.amplitude[time] * spec.value_sd(torch.as_tensor(variance[time])).numpy()
        np.testing.assert_allclose(result.sd(time).ravel(), sd, rtol=0, atol=1e-9)
    evidence = -0.5 * (z[there] @ fit + np.linalg.slogdet(covariance)[1] + there.sum() * np.log(2 * np.pi))
    assert result.evidence.sum() == pytest.approx(evidence, abs=1e-8)
    told = result.diagnostics["stations"]
    found = prior * (shared.T @ fit)
    spread = np.diag(prior) - (prior[:, None] * shared.T) @ np.linalg.solve(covariance, shared * prior)
    for n, each in enumerate(told if series.members > 1 else [told]):
        assert each["offset"] == pytest.approx(series.scale * found[2 * n], abs=1e-9)
        sd = series.scale * np.sqrt(spread[2 * n + 1, 2 * n + 1])
        assert each["per_100_m_sd"] == pytest.approx(sd, abs=1e-9)


@pytest.mark.parametrize("noise", [1e-3, 0.2])
def test_mean_sd_evidence_and_effects_are_those_of_one_gaussian(series: Series, noise: float) -> None:
    assert series.stations is not None and np.isnan(series.stations).any() and np.isnan(series.coarse).any()
    check(series, downscale_series(series, UNLEARNED.replace(noise=noise), link=True))


def test_members_have_effects_of_their_own(series: Series) -> None:
    two = two_members(series)
    check(two, downscale_series(two, UNLEARNED, link=True))


def test_draws_have_the_joint_covariance_of_one_gaussian(series: Series) -> None:
    """Variances are one, and those of means over all times are those of the dense posterior."""
    result = downscale_series(series, UNLEARNED, link=True)
    residuals, problem, count = result.residuals, series.problem, len(series)
    assert residuals is not None and residuals.together is not None and result.linked is not None
    drawn = residuals.together(500, torch.Generator().manual_seed(0)).numpy()
    assert np.square(drawn).mean() == pytest.approx(1, abs=0.03)
    points, spec = problem.joint_data.points, result.spec
    assert points is not None
    kernel = evaluate(spec.kernel.build(problem.columns), problem.inputs, problem.inputs).detach().numpy()
    constant = sum(t.scale for t in spec.kernel.terms if all(f.family == "constant" for f in t.factors))
    average = problem.joint_data.bags.mean(torch.eye(320, dtype=torch.float64)[torch.as_tensor(problem.joint_pixel)])
    whole = lasting(kernel - constant, average.numpy(), days_of(series.dates), result.linked.lasting)
    whole = whole.reshape(count * len(kernel), -1) + np.kron(np.eye(count), np.full(kernel.shape, constant))
    there = np.isfinite(series.targets(range(count)).numpy().T.ravel())
    seen = np.kron(np.eye(count), average.numpy())[there]
    common = np.tile(np.vstack([np.zeros((20, 2)), points.effects.numpy()]), (count, 1))[there]
    (tau,) = spec.noises_of_sources
    single = np.tile(np.concatenate([np.full(20, spec.noise), tau + points.variance.numpy()]), count)[there]
    covariance = seen @ whole @ seen.T + np.diag(single) + (common * points.prior.numpy()) @ common.T
    posterior = whole - whole @ seen.T @ np.linalg.solve(covariance, seen @ whole)
    sd = np.sqrt(np.diag(posterior))
    wanted = posterior / sd / sd[:, None]
    chosen = np.random.default_rng(0).choice(len(wanted), 150, replace=False)
    own = drawn.reshape(500, -1)[:, chosen]
    wanted = wanted[np.ix_(chosen, chosen)]
    error = (own.T @ own / 500 - wanted) / np.sqrt((1 + wanted**2) / 500)
    assert np.sqrt(np.mean(error**2)) == pytest.approx(1, abs=0.15) and np.abs(error).max() < 6


def test_linked_by_default_where_it_pays(tmp_path: Path) -> None:
    series = with_gaps(tmp_path, 40, 0.5)
    alone, result = downscale_series(series, UNLEARNED, link=False), downscale_series(series, UNLEARNED)
    assert result.linked is not None and alone.linked is None
    truth = np.stack([series.fine(time) for time in range(40)])
    crps = [np.mean([each.predictive(t).crps(truth[t]) for t in range(40)]) for each in (alone, result)]
    assert crps[1] < 0.95 * crps[0]
