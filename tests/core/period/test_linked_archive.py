"""Cells linked through time with an archive, against one dense Gaussian over all cells and times."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal

from deconditioning.datasets.weather import weather_region
from deconditioning.downscaling.source import Source
from deconditioning.engine.reporting import NoReport
from deconditioning.errors import InputError, never
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.metrics.predictive import Predictive
from deconditioning.period.archive.left_out import choose_for_cells, choose_mixture, left_out_errors, mixed, spread_of
from deconditioning.period.archive.run import downscale_with_archive, predicted_with_archive
from deconditioning.period.archive.setting import Setting
from deconditioning.period.archive.training import Training, read_training
from deconditioning.period.correlation import days_of
from deconditioning.period.linking.archive import Lasting, LinkedCells, linked_cells, log_density
from deconditioning.period.run import PeriodResult
from deconditioning.period.series import Series, read_series
from tests.core.period.made import SPEC, UNLEARNED, made_dataset


def with_gaps(series: Series, share: float) -> Series:
    """The series of which a share of the cells is missing at random."""
    missing = np.random.default_rng(1).uniform(size=series.coarse.shape) < share
    return replace(series, coarse=np.where(missing, np.nan, series.coarse))


@pytest.fixture(scope="module")
def uneven() -> tuple[Series, Training]:
    """Nine times with gaps, at uneven intervals, and a training period."""
    fields = fields_from_dataset(made_dataset(60))
    series = read_series(Source("x"), SPEC, lambda key: fields, ["#48/#52", "#55/#58"])
    return with_gaps(series, 0.4), read_training(series, fields, ["#0/#47"])


@pytest.fixture(scope="module")
def result(uneven: tuple[Series, Training]) -> tuple[PeriodResult, Setting]:
    found = predicted_with_archive(*uneven, UNLEARNED, NoReport(), link=True)
    return found.result, found.setting


def parts_of(setting: Setting) -> tuple[Any, Any, Any, LinkedCells]:
    """The mixture for the cells, some pixels, errors at left-out times, and the linked cells."""
    some = setting.some(4000, never)
    choice = choose_mixture(setting.coarse, some)
    method = mixed(choice, setting.coarse, some, setting.parts)
    left_out = left_out_errors(setting.coarse, some, method, setting.parts)
    of_cells = choose_for_cells(setting.coarse, choice)
    linked = linked_cells(setting, of_cells, method, some, left_out, True)
    assert linked is not None
    return of_cells, (some, method), left_out, linked


def dense(
    setting: Setting, choice: Any, rows: np.ndarray, lasting: Lasting | None, given: tuple[np.ndarray, np.ndarray, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Anomalies (t, M) of the cells and their covariance (t, M, M) from all cells at all times in one matrix; ``given``
    are a design, coarse values and dates, and ``rows`` the training times.
    """
    coarse, (design, z, days) = setting.coarse, given
    known = coarse.anomalies(rows)
    gram = known.mixed(coarse, choice.mixture, choice.scale).numpy()
    size = len(gram)
    values, vectors = np.linalg.eigh(gram + 1e-4 * np.trace(gram) / size * np.eye(size))
    lag = np.abs(np.subtract.outer(days, days))
    whole = np.zeros((len(days), size, len(days), size))
    for value, vector in zip(values, vectors.T, strict=True):
        between = np.eye(len(days))
        if lasting is not None:
            between = np.exp(-lag / (lasting.days * (value / values[-1]) ** lasting.exponent))
        whole += value * np.einsum("ts,i,j->tisj", between, vector, vector)
    whole = whole.reshape(len(days) * size, -1)
    a = ((z - design @ known.coefficients.numpy()) * known.slope.numpy()).ravel()
    there = np.isfinite(a)
    gain = np.linalg.solve(whole[np.ix_(there, there)], whole[there]).T
    left = (whole - gain @ whole[there]).reshape(len(days), size, len(days), size)
    return (gain @ a[there]).reshape(len(days), size), np.einsum("titj->tij", left)


def test_mean_and_sd_are_those_of_one_gaussian_over_all_times(uneven, result: tuple[PeriodResult, Setting]) -> None:
    """μ is what left-out halves of the training period give, with the same cells missing."""
    found, setting = result
    series, _ = uneven
    assert len(np.unique(np.diff(days_of(series.dates)).round())) > 1 and np.isnan(series.coarse).any()
    choice, (some, method), _, linked = parts_of(setting)
    every, design = np.arange(48), setting.seasons.design(series.dates)
    anomalies, covariance = dense(
        setting, choice, every, linked.lasting, (design, series.coarse / setting.unit, days_of(series.dates))
    )
    gain = method(setting.coarse, some, every)
    weights = gain.weights.numpy()
    mean = design @ gain.known.fine.numpy() + anomalies @ weights
    np.testing.assert_allclose(found.means.reshape(9, -1), setting.unit * mean, rtol=0, atol=1e-9)
    complete = replace(series, coarse=np.nan_to_num(series.coarse, nan=280.0))
    whole = predicted_with_archive(complete, setting.training, UNLEARNED, NoReport()).result
    added = np.einsum("ip,tij,jp->tp", weights, covariance, weights)
    squares = whole.spreads[0].ravel() ** 2 + setting.unit**2 * linked.ratio * added
    np.testing.assert_allclose(found.spreads[found.spread_of].reshape(9, -1), np.sqrt(squares), rtol=0, atol=1e-9)
    off, stated = left_out_cells(setting, choice, linked.lasting, np.isnan(series.coarse))
    assert linked.ratio == pytest.approx(np.square(off).sum() / np.einsum("tii->", stated), rel=1e-9)


def left_out_cells(
    setting: Setting, choice: Any, lasting: Lasting | None, missing: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Errors and covariance of cells of both halves that are missing as those of the series are."""
    off, stated, days = [], [], days_of(setting.training.dates)
    for half in (np.arange(24), np.arange(24, 48)):
        rest, block = np.setdiff1d(np.arange(48), half), half[:9]
        design, z = setting.coarse.design[block], setting.coarse.z[block].numpy()
        known = setting.coarse.anomalies(rest)
        truth = (z - design @ known.coefficients.numpy()) * known.slope.numpy()
        found, covariance = dense(setting, choice, rest, lasting, (design, np.where(missing, np.nan, z), days[block]))
        off.append(truth - found)
        stated.append(covariance)
    return np.concatenate(off), np.concatenate(stated)


def test_both_crps_are_those_of_left_out_halves(uneven, result: tuple[PeriodResult, Setting]) -> None:
    found, setting = result
    choice, (some, method), (errors, variance), linked = parts_of(setting)
    every, missing = np.arange(48), np.isnan(uneven[0].coarse)
    square, used = spread_of(errors, variance).square().numpy(), np.r_[0:9, 24:33]
    ratio = float(errors.square().mean(0).mean() / variance.mean())
    weights = [method(setting.coarse, some, np.setdiff1d(every, half)).weights.numpy()
               for half in (every[:24], every[24:])]  # fmt: skip
    own = []
    for lasting, factor in ((None, ratio), (linked.lasting, linked.ratio)):
        off, stated = left_out_cells(setting, choice, lasting, missing)
        more = np.concatenate([off[:9] @ weights[0], off[9:] @ weights[1]])
        added = np.concatenate([np.einsum("ip,tij,jp->tp", w, v, w)
                                for w, v in zip(weights, (stated[:9], stated[9:]), strict=True)])  # fmt: skip
        off = errors.numpy()[used] + more
        own.append(setting.unit * Predictive(np.zeros_like(off), np.sqrt(square + factor * added)).crps(off).mean())
    np.testing.assert_allclose(linked.crps, own, rtol=1e-9)
    assert list(found.diagnostics["left_out_crps_of_gaps"].values()) == pytest.approx(own)


def test_the_evidence_of_patterns_is_that_of_dense_gaussians() -> None:
    rng, days = np.random.default_rng(0), np.array([0.0, 1.0, 2.5, 3.0, 7.0])
    v, values, lasting = rng.normal(size=(5, 3)), torch.tensor([4.0, 1.0, 0.2], dtype=torch.float64), Lasting(3.0, 0.4)
    own = log_density(torch.as_tensor(v), lasting.kept(days, np.zeros(5, dtype=int), values))
    lag = np.abs(np.subtract.outer(days, days))
    scales = 3.0 * (values.numpy() / 4.0) ** 0.4
    wanted = sum(multivariate_normal.logpdf(v[:, n], cov=np.exp(-lag / scales[n])) for n in range(3))
    assert own == pytest.approx(wanted, abs=1e-9)


def test_draws_have_the_joint_covariance_of_the_errors(uneven, result: tuple[PeriodResult, Setting]) -> None:
    """Covariances between pixels and times from 600 draws: errors of complete cells, which last as those of the archive
    do, and those of the cells.
    """
    found, setting = result
    series, _ = uneven
    _, (some, method), _, linked = parts_of(setting)
    chosen = np.arange(0, 320, 23)
    days, size = days_of(series.dates), len(setting.coarse.cell)
    loading, values = linked.cells.patterns.loading.numpy(), linked.cells.patterns.values.numpy()
    lag = np.abs(np.subtract.outer(days, days))
    scales = linked.lasting.days * (values / values[0]) ** linked.lasting.exponent
    whole = np.einsum("jts,ij,kj->tisk", np.exp(-lag / scales[:, None, None]), loading, loading)
    whole = whole.reshape(9 * size, -1)
    there = np.isfinite(series.coarse).ravel()
    left = whole - whole[:, there] @ np.linalg.solve(whole[np.ix_(there, there)], whole[there])
    weights = np.kron(np.eye(9), method(setting.coarse, some, np.arange(48)).weights.numpy()[:, chosen])
    cells = setting.unit**2 * linked.ratio * weights.T @ left @ weights
    residuals = found.residuals
    assert residuals is not None and residuals.together is not None
    alone = residuals.draw(4000, torch.Generator().manual_seed(1)).numpy()[:, chosen]
    complete = predicted_with_archive(
        replace(series, coarse=np.nan_to_num(series.coarse, nan=280.0)), setting.training, UNLEARNED, NoReport()
    ).result.spreads[0].ravel()[chosen]  # fmt: skip
    own = np.kron(residuals.correlation.matrix(days), alone.T @ alone / 4000 * np.outer(complete, complete))
    sd = np.sqrt(np.diag(cells + own))
    np.testing.assert_allclose(sd, found.spreads.reshape(9, -1)[:, chosen].ravel(), rtol=0.03)
    wanted = (cells + own) / sd / sd[:, None]
    drawn = residuals.together(600, torch.Generator().manual_seed(0)).numpy()[:, :, chosen].reshape(600, -1)
    error = (drawn.T @ drawn / 600 - wanted) / np.sqrt((1 + wanted**2) / 600)
    assert np.sqrt(np.mean(error**2)) == pytest.approx(1, abs=0.15) and np.abs(error).max() < 6
    assert np.abs(wanted - np.eye(len(wanted))).max() > 0.5


def test_gaps_are_linked_by_default_where_that_pays() -> None:
    """Slow weather is linked, with intervals that hold; days in random order are not."""
    fields = weather_region(240, 24)
    spec = DownscalingSpec("t", ("orography",), block=(4, 4), withhold=0.0)
    whole = read_series(Source("x"), spec, lambda key: fields, ["#180/#239"])
    training, series = read_training(whole, fields, ["#0/#179"]), with_gaps(whole, 0.5)
    alone, linked = (downscale_with_archive(series, training, UNLEARNED, link=link) for link in (False, None))
    assert "linked" in linked.diagnostics and "linked" not in alone.diagnostics
    truth = np.stack([series.fine(time) for time in range(60)])
    crps, held = zip(*(
        (np.mean([each.predictive(t).crps(truth[t]) for t in range(60)]),
         np.mean([np.abs(each.means[t] - truth[t]) < 1.96 * each.sd(t) for t in range(60)]))
        for each in (alone, linked)
    ), strict=True)  # fmt: skip
    assert crps[1] < 0.97 * crps[0] and 0.9 < held[1] < 0.99
    order = np.random.default_rng(0).permutation(180)
    shuffled = replace(training, fine=training.fine[order], coarse=training.coarse[order], cells=training.cells[order])
    assert "linked" not in downscale_with_archive(series, shuffled, UNLEARNED).diagnostics


def test_complete_cells_some_times_and_members(uneven, result: tuple[PeriodResult, Setting]) -> None:
    """Complete cells are those of each time by itself; some times and each of two members are those of the whole."""
    (series, training), (found, _) = uneven, result
    complete = replace(series, coarse=np.nan_to_num(series.coarse, nan=280.0))
    each = [downscale_with_archive(complete, training, UNLEARNED, link=link).means for link in (True, False)]
    np.testing.assert_array_equal(*each)
    part = downscale_with_archive(series, training, UNLEARNED, times=np.arange(3, 7), link=True)
    np.testing.assert_allclose(part.means, found.means[3:7], rtol=0, atol=1e-10)
    np.testing.assert_allclose([part.sd(t) for t in range(4)], [found.sd(t) for t in range(3, 7)], rtol=0, atol=1e-10)
    draws = [each.residuals.together(2, torch.Generator().manual_seed(0)) for each in (found, part)]
    np.testing.assert_allclose(draws[1], draws[0][:, 3:7], rtol=0, atol=1e-12)
    two = replace(
        series, labels=series.labels * 2, dates=series.dates * 2, coarse=np.vstack([series.coarse, series.coarse + 1]),
        level=np.tile(series.level, 2), members=2,
    )  # fmt: skip
    both = downscale_with_archive(two, training, UNLEARNED, link=True)
    np.testing.assert_allclose(both.means[:9], found.means, rtol=0, atol=1e-9)


def test_what_cannot_be_linked_is_said(uneven) -> None:
    series, training = uneven
    backwards = replace(series, dates=series.dates[::-1])
    with pytest.raises(InputError, match="cannot be linked: they are not in order"):
        downscale_with_archive(backwards, training, UNLEARNED, link=True)
    assert "linked" not in downscale_with_archive(backwards, training, UNLEARNED).diagnostics
