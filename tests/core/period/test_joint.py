"""Joint draws in space and time, and the statistics of a period that come from them."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import gumbel_r

from deconditioning.downscaling.source import Source
from deconditioning.errors import InputError, never
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.gridded import Fields
from deconditioning.kernels.tiles import evaluate
from deconditioning.period import posterior
from deconditioning.period.archive.gain import NOISE, Mixture, anomalies
from deconditioning.period.archive.joint import residuals_of_archive
from deconditioning.period.archive.left_out import choose_mixture
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.setting import Setting
from deconditioning.period.archive.training import read_training
from deconditioning.period.correlation import (
    FIXED,
    Part,
    TimeCorrelation,
    correlation_of_cells,
    correlation_of_errors,
    days_of,
)
from deconditioning.period.dataset import period_dataset
from deconditioning.period.run import PeriodResult, downscale_series
from deconditioning.period.series import Series, read_series
from deconditioning.period.statistics import gumbel_level, period_draws, period_statistics, statistics_named
from tests.core.period.dense import average_of
from tests.core.period.made import SPEC, UNLEARNED, made_dataset, made_fields


@pytest.fixture(scope="module")
def result(series: Series) -> PeriodResult:
    return downscale_series(series, UNLEARNED)


def gram_of(series: Series, result: PeriodResult) -> np.ndarray:
    problem = series.problem
    kernel = result.spec.kernel.build(problem.columns)
    return evaluate(kernel, problem.inputs, problem.inputs).detach().numpy()


def test_errors_have_the_posteriors_correlation_and_leave_the_cells(series: Series, result: PeriodResult) -> None:
    kernel, average = gram_of(series, result), average_of(series)
    inner = average @ kernel @ average.T + result.spec.noise * np.eye(20)
    posterior = kernel - kernel @ average.T @ np.linalg.solve(inner, average @ kernel)
    sd = np.sqrt(np.diag(posterior))
    draws = result.residuals.draw(1500, torch.Generator().manual_seed(0)).numpy()
    np.testing.assert_allclose(draws.std(0), 1, atol=0.12)
    np.testing.assert_allclose(np.corrcoef(draws.T), posterior / np.outer(sd, sd), atol=0.17)
    assert np.abs((draws * sd) @ average.T).max() < 0.1 * sd.mean()


def test_a_file_whose_times_run_backwards_has_the_same_draws(series: Series, result: PeriodResult) -> None:
    backwards = fields_from_dataset(made_dataset(60).isel(time=slice(None, None, -1)))
    again = read_series(Source("x"), SPEC, lambda key: backwards, ["#0/#11"])
    assert again.labels == series.labels
    drawn = [next(period_draws(each, 1, 3))[0] for each in (result, downscale_series(again, UNLEARNED))]
    np.testing.assert_allclose(*drawn, rtol=0, atol=1e-9)
    usual, other = read_training(series, made_fields(60)), read_training(again, backwards)
    assert other.labels == usual.labels
    np.testing.assert_array_equal(other.fine, usual.fine)


def test_errors_of_a_field_that_does_not_fit_into_memory_are_the_same(
    series: Series, result: PeriodResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, _ = next(period_draws(result, 1, 3))
    monkeypatch.setattr(posterior, "fits_in_memory", lambda problem: False)
    np.testing.assert_allclose(
        next(period_draws(downscale_series(series, UNLEARNED), 1, 3))[0], whole, rtol=0, atol=1e-6
    )


@pytest.mark.parametrize("mixture", [Mixture(0.7, None), Mixture(0.7, 2.0), Mixture(1.0, 2.0)])
def test_errors_of_an_archive_have_the_mixtures_covariance(series, result, setting: Setting, mixture) -> None:
    fine = setting.some(10**6, never)
    choice = replace(choose_mixture(setting.coarse, fine), mixture=mixture)
    draws = residuals_of_archive(setting, choice).draw(1500, torch.Generator().manual_seed(0)).numpy()
    every = np.arange(48)
    known = anomalies(setting.coarse, fine, every)
    r, a, w = known.r.numpy(), known.coarse.a.numpy(), mixture.share
    cell = series.problem.cell.ravel()
    rho = np.exp(-0.5 * (setting.coarse.distance.numpy() / (mixture.reach or np.inf)) ** 2)
    kernel, average = gram_of(series, result), average_of(series)
    prior = w * r.T @ r / known.coarse.freedom * rho[cell][:, cell] + (1 - w) * choice.scale * kernel
    gram = w * a.T @ a / known.coarse.freedom * rho + (1 - w) * choice.scale * average @ kernel @ average.T
    gram += NOISE * np.trace(gram) / 20 * np.eye(20)
    cross = w * a.T @ r / known.coarse.freedom * rho[:, cell] + (1 - w) * choice.scale * average @ kernel
    posterior = prior - cross.T @ np.linalg.solve(gram, cross)
    sd = np.sqrt(np.diag(posterior))
    np.testing.assert_allclose(draws.std(0), 1, atol=0.15)
    apart = np.abs(np.corrcoef(draws.T) - posterior / np.outer(sd, sd))
    assert apart.max() < 0.25 and apart.mean() < 0.03


def test_draws_have_the_series_mean_and_sd_and_are_linked_in_time(series: Series, result: PeriodResult) -> None:
    correlation = TimeCorrelation((Part(0.6, 5.0), Part(0.4, math.inf)))
    result = replace(result, residuals=replace(result.residuals, correlation=correlation))
    draws = np.stack([draw for draw, _ in period_draws(result, 150, 1)])
    sds = np.stack([result.sd(time).ravel() for time in range(12)])
    standard = (draws - result.means.reshape(12, -1)) / sds
    assert np.abs(standard.mean(0)).max() < 0.35
    rho = np.einsum("dtp,dup->tu", standard, standard) / standard[:, 0].size
    expected = correlation.matrix(days_of(series.dates))
    np.testing.assert_allclose(rho, expected, atol=0.06)
    np.testing.assert_allclose(expected[0, 5], 0.6 * np.exp(-1) + 0.4)
    again, fixed = next(period_draws(result, 150, 1))
    np.testing.assert_array_equal(again, draws[0])
    np.testing.assert_allclose(np.ptp((fixed - result.means.reshape(12, -1)) / sds, axis=0), 0, atol=1e-9)


def test_the_sd_of_a_mean_is_that_of_linked_errors(series: Series, result: PeriodResult) -> None:
    """Fixed errors have the mean of the sds, unlinked ones the root of the sum of squares over T."""
    single = TimeCorrelation((Part(1.0, 0.0),))
    sds = np.stack([result.sd(time).ravel() for time in range(12)])
    for correlation, expected in ((FIXED, sds.mean(0)), (single, np.sqrt((sds**2).sum(0)) / 12)):
        own = replace(result, residuals=replace(result.residuals, correlation=correlation, of_archive=True))
        (mean,) = period_statistics(own, ["mean"], 100, 0)
        ratio = mean.sd[0].ravel() / expected
        assert np.abs(ratio - 1).max() < 0.28 and abs(ratio.mean() - 1) < 0.06 and mean.sd_if_fixed is None
    (mean,) = period_statistics(result, ["mean"], 50, 0)
    assert (mean.sd_if_fixed > mean.sd).mean() > 0.9
    ends = [period_dataset(result, [each]).period_mean_high.attrs for each in (mean, replace(mean, sd_if_fixed=None))]
    assert ends[0]["comment"].startswith("too narrow") and "comment" not in ends[1]


def test_intervals_of_few_draws_hold_nine_tenths_of_exact_gaussian_series(series: Series, result: PeriodResult) -> None:
    """Truths from the covariance of every pixel's series, written out; an interval of 50 draws, of any statistic."""
    correlation = TimeCorrelation((Part(0.3, 1.0), Part(0.5, 4.0), Part(0.2, math.inf)))
    own = replace(result, residuals=replace(result.residuals, correlation=correlation, of_archive=True))
    sds = np.stack([result.sd(time).ravel() for time in range(12)])
    lag = np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0)))
    rho = 0.3 * np.exp(-lag) + 0.5 * np.exp(-lag / 4) + 0.2
    truths = np.random.default_rng(0).multivariate_normal(np.zeros(12), rho, size=(100, 320)).transpose(0, 2, 1)
    truths = result.means.reshape(12, -1) + sds * truths
    held = {"mean": [], "max": [], "min": [], "trend": []}
    for seed in range(5):
        for name, each in zip(held, period_statistics(own, list(held), 50, seed), strict=True):
            values = np.stack([each.statistic.of(truth)[0] for truth in truths])
            held[name].append(np.mean((each.low.ravel() <= values) & (values <= each.high.ravel())))
    assert {name: np.mean(shares) for name, shares in held.items()} == pytest.approx(
        dict.fromkeys(held, 0.9), abs=0.012
    )


def test_statistics_are_those_of_each_draw(series: Series, result: PeriodResult) -> None:
    words = ["mean", "max", "min", "month", "season", "trend", "above=280", "below=280.5"]
    asked = statistics_named(words, series)
    field, _ = next(period_draws(result, 1, 0))
    values = [each.of(field) for each in asked]
    np.testing.assert_allclose(values[0][0], field.mean(0))
    np.testing.assert_array_equal(values[1][0], field.max(0))
    february = np.array([label[5:7] == "02" for label in series.labels])
    np.testing.assert_allclose(values[3][asked[3].groups.index("February")], field[february].mean(0))
    assert asked[4].groups == ("DJF", "MAM")
    slope = np.polyfit(np.arange(12.0), field, 1)[0] * 365.2425
    np.testing.assert_allclose(values[5][0], slope, rtol=1e-8)
    np.testing.assert_array_equal(values[6][0], (field > 280).sum(0))
    np.testing.assert_array_equal(values[7][0], (field < 280.5).sum(0))
    with pytest.raises(InputError, match="unknown"):
        statistics_named(["median"], series)
    spell, heat = statistics_named(["spell_above=280", "degree_days_below=280.5"], series)
    runs = ["".join("x" if value > 280 else " " for value in column).split() for column in field.T]
    np.testing.assert_array_equal(spell.of(field)[0], [max(map(len, each), default=0) for each in runs])
    np.testing.assert_allclose(heat.of(field)[0], np.where(field < 280.5, 280.5 - field, 0).sum(0))
    (change,) = statistics_named(["change"], series)
    steps = [(field[time + 1] - field[time]) ** 2 for time in range(11)]
    np.testing.assert_allclose(change.of(field)[0], (sum(steps) / 11) ** 0.5)
    with pytest.raises(InputError, match="the series has 1: choose a longer period"):
        statistics_named(["return=20"], series)
    undated = replace(series, dates=(None,) * 12)
    for word in ("month", "trend", "degree_days_above=280"):
        with pytest.raises(InputError, match="have no dates"):
            statistics_named([word], undated)
    with pytest.raises(InputError, match="needs a threshold"):
        statistics_named(["above=x"], series)


def test_return_levels_are_those_of_the_distribution_that_maxima_come_from() -> None:
    rng = np.random.default_rng(0)
    largest = rng.gumbel(300.0, 2.0, size=(4000, 3))
    np.testing.assert_allclose(gumbel_level(largest, 20.0), gumbel_r.ppf(1 - 1 / 20, 300.0, 2.0), atol=0.5)
    few = largest[:9, :1]
    scale = np.abs(few - few.T).sum() / (9 * 8) / 2 / np.log(2)  # the second L-moment is half a mean difference
    expected = gumbel_r.ppf(0.9, few.mean() - np.euler_gamma * scale, scale)
    np.testing.assert_allclose(gumbel_level(few, 10.0), expected)


def test_an_archives_period_means_hold_the_truth(series: Series, fields: Fields) -> None:
    result = downscale_with_archive(series, read_training(series, fields), UNLEARNED)
    (mean,) = period_statistics(result, ["mean"], 60, 0)
    held = (mean.low <= mean.truth) & (mean.truth <= mean.high)
    assert 0.75 < held.mean() <= 1 and mean.sd_if_fixed is None
    sds = np.stack([result.sd(time) for time in range(12)])
    assert (mean.sd[0] < sds.mean(0) * 1.1).mean() > 0.9


def test_the_correlation_of_errors_is_found_again() -> None:
    rng = np.random.default_rng(0)
    true = TimeCorrelation((Part(0.3, 0.0), Part(0.4, 4.0), Part(0.3, math.inf)))
    days = np.arange(200.0)
    root = np.linalg.cholesky(true.matrix(days) + 1e-12 * np.eye(200))
    found = correlation_of_errors(root @ rng.normal(size=(200, 400)), days)
    np.testing.assert_allclose(found.matrix(days)[0, :50], true.matrix(days)[0, :50], atol=0.05)
    assert found.fixed == pytest.approx(0.3, abs=0.08)
    assert np.linalg.eigvalsh(found.matrix(days)).min() > -1e-9
    assert sum(part.weight for part in found.parts) == pytest.approx(1)


def test_errors_that_are_smooth_in_time_change_as_little_as_they_do() -> None:
    """The correlation at the first lag, which an exponential has too small, is that of the process itself."""
    rng, days = np.random.default_rng(0), np.arange(240) / 24
    lag = np.abs(np.subtract.outer(days, days)) * math.sqrt(3) / 0.2
    true = (1 + lag) * np.exp(-lag)
    found = correlation_of_errors(np.linalg.cholesky(true + 1e-9 * np.eye(240)) @ rng.normal(size=(240, 600)), days)
    np.testing.assert_allclose(found.matrix(days)[0, :24], true[0, :24], atol=0.06)
    assert 1 - found.matrix(days)[0, 1] == pytest.approx(1 - true[0, 1], rel=0.15)  # an exponential: 0.12 for 0.05
    assert np.linalg.eigvalsh(found.matrix(days)).min() > -1e-9


def test_errors_that_return_every_day_are_found() -> None:
    rng = np.random.default_rng(0)
    days = np.arange(240) / 24
    phase = 2 * np.pi * days[:, None]
    errors = np.cos(phase) * rng.normal(size=(1, 500)) + np.sin(phase) * rng.normal(size=(1, 500))
    found = correlation_of_errors(errors, days)
    np.testing.assert_allclose(found.matrix(days)[0], np.cos(2 * np.pi * days), atol=0.1)


def test_the_time_scale_of_cells_is_found_again() -> None:
    rng = np.random.default_rng(0)
    places = rng.uniform(size=(30, 2))
    space = np.exp(-np.linalg.norm(places[:, None] - places[None], axis=-1) / 0.5)
    days = np.arange(120.0)
    time = np.exp(-np.abs(np.subtract.outer(days, days)) / 6)
    targets = np.linalg.cholesky(space) @ rng.normal(size=(30, 120)) @ np.linalg.cholesky(time).T
    found = correlation_of_cells(torch.as_tensor(space), torch.as_tensor(targets), 1e-6, days)
    assert found.parts[0].scale == pytest.approx(6, rel=0.35)


def test_noise_of_single_times_does_not_last(fields: Fields) -> None:
    """Cells with errors that are new at every time: ρ of the map's errors is that of dense algebra."""
    noise, scale = 0.3, 6.0
    whole = read_series(Source("x"), SPEC, lambda key: fields, ["#0/#59"])
    start = downscale_series(whole, UNLEARNED.replace(noise=noise))
    kernel, average, rng = gram_of(whole, start), average_of(whole), np.random.default_rng(1)
    constant = sum(t.scale for t in start.spec.kernel.terms if all(f.family == "constant" for f in t.factors))
    space, lag = average @ (kernel - constant) @ average.T, np.abs(np.subtract.outer(np.arange(60.0), np.arange(60.0)))
    lasting = np.linalg.cholesky(np.exp(-lag / scale)) @ rng.normal(size=(60, 20)) @ np.linalg.cholesky(space).T
    values = whole.scale * (lasting + math.sqrt(noise) * rng.normal(size=(60, 20)))
    made = replace(whole, coarse=values, level=np.zeros(60))
    found = downscale_series(made, UNLEARNED.replace(noise=noise)).residuals.correlation
    gain = kernel @ average.T @ np.linalg.inv(average @ kernel @ average.T + noise * np.eye(20))
    variance = np.diag(kernel - gain @ average @ kernel)
    single = np.mean(noise * np.square(gain).sum(1) / variance)
    assert single > 0.1
    np.testing.assert_allclose(found.matrix(np.arange(60.0))[0, 1:10], (1 - single) * np.exp(-lag / scale)[0, 1:10],
                               atol=0.06)  # fmt: skip


def test_days_are_those_of_every_calendar() -> None:
    import cftime

    noleap = [cftime.DatetimeNoLeap(2000, 2, 28), cftime.DatetimeNoLeap(2000, 3, 1, 12)]
    np.testing.assert_allclose(days_of(noleap), [0, 1.5])
    np.testing.assert_allclose(days_of([np.datetime64("2000-02-28"), np.datetime64("2000-03-01T12")]), [0, 2.5])
    np.testing.assert_allclose(days_of([None, None, None]), [0, 1, 2])
