"""Joint draws where covariates change with time: the covariance of what they are made from, against dense Gaussians."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.downscaling.source import Source
from deconditioning.errors import InputError
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.kernels.spec import KernelSpec
from deconditioning.period import joint, space_time
from deconditioning.period.correlation import Part, TimeCorrelation, days_of
from deconditioning.period.dataset import period_dataset
from deconditioning.period.linking import moving, moving_draws
from deconditioning.period.linking.cells import Lasting
from deconditioning.period.linking.moving import Parted
from deconditioning.period.linking.moving_draws import MovingErrors
from deconditioning.period.posterior import condition_times, pixel_sums
from deconditioning.period.run import PeriodResult, downscale_series
from deconditioning.period.series import Series, read_series
from deconditioning.period.statistics import period_draws, period_statistics
from tests.core.period.dense import average_of, prior_in_time
from tests.core.period.made import SPEC, UNLEARNED, made_dataset, with_wind
from tests.core.period.unit_draws import UNITS, correlation, covariance, units

#: Where random numbers are drawn.
_NORMAL, _KERNEL = (moving, moving_draws, space_time, joint), (joint, moving, moving_draws)


@pytest.fixture(scope="module")
def series() -> Series:
    return with_wind(7, 0.3).only(np.arange(2, 6))


@pytest.fixture(scope="module")
def result(series: Series) -> PeriodResult:
    return downscale_series(series, UNLEARNED.replace(noise=0.05), link=False)


def predictors(series: Series, result: PeriodResult) -> tuple[np.ndarray, np.ndarray]:
    """What errors of each time by itself are made of: B of f (T, P, P), and G of the noise of the cells (T, P, 20)."""
    average, own = average_of(series), prior_in_time(series, result.spec.kernel, None)
    gains = np.zeros((len(series), 320, 20))
    for time in range(len(series)):
        rows = np.isfinite(series.coarse[time])
        cross = own[time, :, time] @ average[rows].T
        gains[time][:, rows] = cross @ np.linalg.inv(average[rows] @ cross + result.spec.noise * np.eye(rows.sum()))
    return np.eye(320) - gains @ average, gains


def test_each_time_by_itself(series: Series, result: PeriodResult, monkeypatch: pytest.MonkeyPatch) -> None:
    """B_t cov(f_t, f_s) B_sᵀ, and noise that is new at every time."""
    errors = MovingErrors.of(series, result.spec, torch.device("cpu"))
    assert errors.scale.days is not None
    left, gains = predictors(series, result)
    prior = prior_in_time(series, result.spec.kernel, Lasting(errors.scale.days))
    expected = np.einsum("tpq,tqsr,sur->tpsu", left, prior, left, optimize=True)
    for time, gain in enumerate(gains):
        expected[time, :, time] += result.spec.noise * gain @ gain.T
    units(monkeypatch, _NORMAL, _KERNEL)
    found = covariance(errors.lasting(UNITS, torch.Generator().manual_seed(0)))
    np.testing.assert_allclose(found, correlation(expected.reshape(1280, 1280)), rtol=0, atol=1e-8)


def test_errors_that_never_change(series: Series, result: PeriodResult, monkeypatch: pytest.MonkeyPatch) -> None:
    """One function of the covariates, and one error of each cell, at all times."""
    left, gains = predictors(series, result)
    prior = prior_in_time(series, result.spec.kernel, None)
    expected = np.einsum("tpq,tqsr,sur->tpsu", left, prior, left, optimize=True)
    expected += result.spec.noise * np.einsum("tpm,sum->tpsu", gains, gains)
    units(monkeypatch, _NORMAL, _KERNEL, prior)
    errors = MovingErrors.of(series, result.spec, torch.device("cpu"))
    found = covariance(errors.fixed(UNITS, torch.Generator().manual_seed(0)))
    np.testing.assert_allclose(found, correlation(expected.reshape(1280, 1280)), rtol=0, atol=1e-8)


def test_linked_times(series: Series, monkeypatch: pytest.MonkeyPatch) -> None:
    """The posterior of all pixels and times given all cells of all times."""
    linked = downscale_series(series, UNLEARNED.replace(noise=0.05), link=True)
    assert linked.linked is not None and linked.residuals is not None and linked.residuals.together is not None
    prior = prior_in_time(series, linked.spec.kernel, linked.linked.lasting).reshape(1280, 1280)
    observe = np.kron(np.eye(4), average_of(series))[np.isfinite(series.coarse).ravel()]
    inner = observe @ prior @ observe.T + linked.spec.noise * np.eye(len(observe))
    posterior = prior - prior @ observe.T @ np.linalg.solve(inner, observe @ prior)
    units(monkeypatch, _NORMAL, _KERNEL)
    found = covariance(linked.residuals.together(UNITS, torch.Generator().manual_seed(0)))
    np.testing.assert_allclose(found, correlation(posterior), rtol=0, atol=1e-8)
    part = linked.residuals.only(np.array([1, 3])).together
    assert part is not None
    inside = np.flatnonzero(np.isin(np.arange(1280) // 320, [1, 3]))
    some = covariance(part(UNITS, torch.Generator().manual_seed(0)))
    np.testing.assert_allclose(some, correlation(posterior)[np.ix_(inside, inside)], rtol=0, atol=1e-8)


def test_a_covariate_that_stays_has_the_errors_of_static_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """ρ ⊗ R of `residuals_of_kernel`, where every term lasts and cells are exact."""
    moves = with_wind(7, 0.0).only(np.arange(2, 6))
    assert moves.varying is not None
    first = moves.varying(0)
    stays = replace(moves, problem=first, varying=replace(moves.varying, build=lambda time: first, _last=None))
    spec = downscale_series(stays, UNLEARNED.replace(noise=1e-9)).spec
    terms = Parted.of(spec.kernel, moves.varying.moving)
    spec = replace(spec, kernel=KernelSpec(terms.still + terms.linear))
    errors = MovingErrors.of(stays, spec, torch.device("cpu"))
    assert errors.scale.days is not None
    rho = TimeCorrelation((Part(1.0, errors.scale.days),))
    problem = stays.at(0)
    sums = pixel_sums(spec, problem, torch.device("cpu"))
    (group,) = condition_times(spec, problem, stays.targets([0]), sums.gram, np.zeros(1, dtype=int))
    static = joint.residuals_of_kernel(spec, problem, sums, group, rho)
    fixed = errors.fixed(2, torch.Generator().manual_seed(0))
    np.testing.assert_allclose(fixed, fixed[:, :1].expand(-1, 4, -1), rtol=0, atol=1e-9)
    units(monkeypatch, _NORMAL, _KERNEL)
    space = covariance(static.draw(UNITS, torch.Generator().manual_seed(0)))
    found = covariance(errors.lasting(UNITS, torch.Generator().manual_seed(0)))
    np.testing.assert_allclose(found, np.kron(rho.matrix(days_of(stays.dates)), space), rtol=0, atol=1e-6)


@pytest.mark.parametrize("link", [False, True])
def test_draws_and_statistics_have_mean_and_sd_of_the_result(series: Series, link: bool) -> None:
    result = downscale_series(series, UNLEARNED, link=link)
    draws = np.stack([draw for draw, _ in period_draws(result, 120, 1)])
    sds = np.stack([result.sd(time).ravel() for time in range(4)])
    standard = (draws - result.means.reshape(4, -1)) / sds
    assert np.abs(standard.mean(0)).max() < 0.45 and np.abs(standard.std(0).mean() - 1) < 0.03
    again, _ = next(period_draws(result, 120, 1))
    np.testing.assert_array_equal(again, draws[0])
    (mean,) = period_statistics(result, ["mean"], 50, 0)
    assert mean.sd_if_fixed is not None and (mean.sd_if_fixed > mean.sd).mean() > 0.9
    assert np.all(mean.sd_if_fixed[0].ravel() < 1.4 * sds.mean(0))
    assert period_dataset(result, [mean], 2).sizes["realization"] == 2
    some = downscale_series(series, UNLEARNED, times=np.array([1, 2]), link=link)
    assert next(period_draws(some, 2, 0))[0].shape == (2, 320)


def test_pixels_that_change_with_time_are_refused(series: Series) -> None:
    """A covariate that lacks a pixel at one time."""
    dataset = made_dataset(4)
    dataset["wind"].values[2, 3, 4] = np.nan
    spec, fields = replace(SPEC, covariates=("orog", "wind")), fields_from_dataset(dataset)
    result = downscale_series(read_series(Source("x"), spec, lambda key: fields, ["all"]), UNLEARNED)
    assert result.residuals is None and np.isnan(result.means).sum((1, 2)).tolist() == [0, 0, 1, 0]
    with pytest.raises(InputError, match="not available when pixels or cells change with time"):
        next(period_draws(result, 1, 0))
