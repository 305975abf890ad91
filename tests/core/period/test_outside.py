"""An archive of part of a region: its climatology carried on, against dense matrices and against cells alone."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.datasets.weather import weather_region
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source
from deconditioning.downscaling.starting import spec_to_settings
from deconditioning.engine.reporting import NoReport
from deconditioning.errors import InputError, never
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.gridded import Fields
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.kernels.spec import KernelSpec
from deconditioning.kernels.tiles import evaluate
from deconditioning.metrics.predictive import Predictive
from deconditioning.period.archive import outside as outside_module
from deconditioning.period.archive.outside import Outside, kernel_gain
from deconditioning.period.archive.pair import downscale_pair
from deconditioning.period.archive.run import downscale_with_archive, predicted_with_archive
from deconditioning.period.archive.setting import Setting, prepare
from deconditioning.period.archive.training import Training, read_training
from deconditioning.period.correlation import days_of
from deconditioning.period.run import PeriodResult, downscale_series, of_a_series
from deconditioning.period.series import Series, read_series
from deconditioning.period.statistics import period_draws
from tests.core.period.dense import average_of
from tests.core.period.made import UNLEARNED
from tests.core.period.unit_draws import UNITS, correlation, units
from tests.core.period.unit_draws import covariance as unit_covariance

#: Columns of pixels that the archive has, of 20: whole cells of 4 × 4.
_COLUMNS = 12


def _western(fields: Fields, columns: int, name: str = "t") -> Fields:
    """The same without values of a variable in the east."""
    dataset = fields.dataset.copy()
    values = dataset[name].values.copy()
    values[..., columns:] = np.nan
    dataset[name] = (dataset[name].dims, values, dataset[name].attrs)
    return fields_from_dataset(dataset, source="western.nc")


@pytest.fixture(scope="module")
def western(fields: Fields) -> Fields:
    return _western(fields, _COLUMNS)


@pytest.fixture(scope="module")
def partial(series: Series, western: Fields) -> Training:
    return read_training(series, western)


@pytest.fixture(scope="module")
def of_part(series: Series, partial: Training) -> Setting:
    return prepare(series, partial, of_a_series(series, UNLEARNED, len(series)), NoReport())


def test_coarse_values_are_known_everywhere_and_fine_ones_in_part(
    series: Series, training: Training, partial: Training
) -> None:
    assert partial.covers_part and not training.covers_part and len(partial) == 48
    east = np.arange(320) % 20 >= _COLUMNS
    np.testing.assert_array_equal(partial.known, ~east)
    np.testing.assert_allclose(partial.coarse, training.coarse, rtol=1e-12)
    np.testing.assert_allclose(partial.cells, training.cells, rtol=1e-12)
    assert any("at 40 % of the pixels its climatology is carried on" in note for note in partial.notes)


def dense_kriging(series: Series, partial: Training, setting: Setting) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Universal kriging of the coefficients outside, written out: their estimates (p, h), s_k² (h,), and the covariance
    (p, p) of their errors for s_k² = 1.
    """
    problem, known, beyond = series.problem, np.flatnonzero(partial.known), np.flatnonzero(~partial.known)
    kernel = evaluate(setting.spec.kernel.build(problem.columns), problem.inputs, problem.inputs).detach().numpy()
    observe = np.vstack([average_of(series), np.eye(320)[known]])
    noise = np.zeros(len(observe))
    noise[:20] = setting.spec.noise
    covariance = observe @ kernel @ observe.T + np.diag(noise)
    covariance += 1e-4 * np.trace(covariance) / len(covariance) * np.eye(len(covariance))
    orog = problem.inputs[:, list(problem.columns).index("orog")].numpy()
    f = np.stack([np.ones(320), orog], axis=1)
    h = setting.coarse.design
    fit = np.linalg.inv(h.T @ h) @ h.T
    data = np.hstack([fit @ partial.cells, fit @ partial.fine[:, known]]).T / setting.unit
    inverse = np.linalg.inv(covariance)
    spread = np.linalg.inv((observe @ f).T @ inverse @ (observe @ f))
    slopes = spread @ (observe @ f).T @ inverse @ data
    left = data - observe @ f @ slopes
    cross = (observe @ kernel)[:, beyond]
    climate = f[beyond] @ slopes + cross.T @ inverse @ left
    scale = np.diag(left.T @ inverse @ left) / (len(data) - 2)
    off = f[beyond] - cross.T @ inverse @ observe @ f
    return climate, scale, kernel[np.ix_(beyond, beyond)] - cross.T @ inverse @ cross + off @ spread @ off.T


def test_the_climatology_is_that_of_dense_universal_kriging(
    series: Series, partial: Training, of_part: Setting
) -> None:
    found = Outside.of(of_part, 0.7, never)
    assert found is not None
    climate, scale, covariance = dense_kriging(series, partial, of_part)
    parts = list(found.tiles(never))
    assert np.array_equal(np.concatenate([pixels for pixels, _ in parts]), np.flatnonzero(~partial.known))
    np.testing.assert_allclose(torch.cat([each.climate for _, each in parts], 1).T, climate, rtol=0, atol=2e-5)
    mine = torch.cat([each.variance for _, each in parts])
    expected = (of_part.coarse.design**2).mean(0) @ scale * np.diag(covariance)
    np.testing.assert_allclose(mine, expected, rtol=2e-4)


def test_errors_of_the_climatology_are_the_same_at_all_times(
    series: Series, partial: Training, of_part: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of the dense kriging's coefficients, times the harmonics of each time, in their share of the variance."""
    smooth = KernelSpec(tuple(t for t in of_part.spec.kernel.terms if t.factors[0].family == "powered_exponential"))
    settings = spec_to_settings(UNLEARNED, replace(of_part.spec, kernel=smooth))  # without the slopes and a constant
    of_part = prepare(series, partial, of_a_series(series, settings, len(series)), NoReport())
    found = Outside.of(of_part, 0.7, never)
    assert found is not None
    _, scale, covariance = dense_kriging(series, partial, of_part)
    beyond, design = np.flatnonzero(~partial.known), of_part.seasons.design(series.dates)
    units(monkeypatch, [outside_module], [outside_module])
    share, drawn = found.lasting.draw(UNITS, torch.Generator().manual_seed(0))
    assert not drawn[:, :, torch.as_tensor(partial.known)].any()
    errors = torch.einsum("th,nhp->ntp", torch.as_tensor(found.lasting.basis), drawn[:, :, beyond])
    between = (design * scale) @ design.T
    expected = np.kron(correlation(between), correlation(covariance))
    np.testing.assert_allclose(unit_covariance(errors), expected, rtol=0, atol=2e-4)
    stated = torch.cat([kernel_gain(of_part.coarse, each, 0.7).variance for _, each in found.tiles(never)]).numpy()
    kriged = (of_part.coarse.design**2).mean(0) @ scale * np.diag(covariance)
    np.testing.assert_allclose(share[beyond], kriged / (kriged + stated), rtol=2e-4)
    assert not share[torch.as_tensor(partial.known)].any() and share[beyond].min() > 0


def test_the_sd_of_a_mean_outside_has_the_errors_that_stay(series: Series, partial: Training) -> None:
    whole = downscale_with_archive(series, partial, UNLEARNED)
    residuals = whole.residuals
    assert residuals is not None and residuals.constant is not None and residuals.correlation is not None
    share, basis = residuals.constant.draw(1, torch.Generator())[0].numpy(), residuals.constant.basis
    changing, staying = residuals.correlation.matrix(days_of(series.dates)), basis @ basis.T
    sds = np.stack([whole.sd(time).ravel() for time in range(12)])
    variance = [np.einsum("tp,ts,sp->p", sds, each, sds) / 144 for each in (changing, staying)]
    expected = np.sqrt((1 - share) * variance[0] + share * variance[1])
    found = np.stack([draw for draw, _ in period_draws(whole, 300, 0)]).mean(1).std(0)
    beyond = ~partial.known
    assert np.mean(found[beyond] / expected[beyond]) == pytest.approx(1, abs=0.03)
    assert np.mean(expected[beyond] / np.sqrt(variance[0][beyond])) > 1.01
    np.testing.assert_allclose(residuals.only(np.arange(3, 7)).constant.basis, basis[3:7])


def test_anomalies_outside_have_the_gain_of_the_kernel(series: Series, partial: Training, of_part: Setting) -> None:
    result = downscale_with_archive(series, partial, UNLEARNED)
    found = Outside.of(of_part, _scale_of(of_part), never)
    assert found is not None
    problem, beyond, h = series.problem, np.flatnonzero(~partial.known), of_part.coarse.design
    kernel = evaluate(of_part.spec.kernel.build(problem.columns), problem.inputs, problem.inputs).detach().numpy()
    average = average_of(series)
    gram = found.scale * (average @ kernel @ average.T + of_part.spec.noise * np.eye(20))
    gram += 1e-4 * np.trace(gram) / 20 * np.eye(20)
    cross = found.scale * (average @ kernel)[:, beyond]
    gain = np.linalg.solve(gram, cross)
    climate = torch.cat([each.climate for _, each in found.tiles(never)], 1).numpy() * of_part.unit
    new = of_part.seasons.design(series.dates)
    coefficients = np.linalg.lstsq(h, partial.coarse, rcond=None)[0]
    anomaly = series.coarse[:, problem.target_cell] - new @ coefficients
    expected = new @ climate + anomaly @ gain
    np.testing.assert_allclose(result.means.reshape(12, -1)[:, beyond], expected, rtol=0, atol=2e-3)
    kriged = torch.cat([each.variance for _, each in found.tiles(never)]).numpy()
    variance = found.scale * np.diag(kernel)[beyond] - (gain * cross).sum(0) + kriged
    np.testing.assert_allclose(
        result.spreads[0].ravel()[beyond], of_part.unit * np.sqrt(found.ratio * variance), rtol=2e-3
    )


def _scale_of(setting: Setting) -> float:
    from deconditioning.period.archive.left_out import choose_mixture

    return choose_mixture(setting.coarse, setting.some(4000, never)).scale


def test_the_ratio_of_variances_is_that_of_quarters_left_out(of_part: Setting) -> None:
    """Four parts of equal size, each of one piece, with all points in exactly one."""
    points = np.flatnonzero(of_part.training.known)
    parts = outside_module._quarters(of_part, points)
    assert np.array_equal(sum(each.astype(int) for each in parts), np.ones(len(points), dtype=int))
    assert max(part.sum() for part in parts) <= 1.3 * min(part.sum() for part in parts)
    whole = Outside.of(of_part, 1.0, never)
    other = Outside.of(of_part, 4.0, never)
    assert whole is not None and other is not None and 0.05 < other.ratio < whole.ratio < 5


def test_cells_on_the_edge_of_the_archive_have_their_means(series: Series, fields: Fields) -> None:
    result = downscale_with_archive(series, read_training(series, _western(fields, 14)), UNLEARNED)
    problem = series.problem
    edge = np.arange(20) % 5 == 3
    for time in range(12):
        back = problem.shares.mean(result.means[time], problem.grid.area)
        np.testing.assert_allclose(back[edge], series.coarse[time][edge], rtol=0, atol=1e-9)


def test_an_archive_of_everything_has_no_pixels_outside(setting: Setting) -> None:
    assert Outside.of(setting, 1.0, never) is None


def test_missing_cells_and_draws_outside(series: Series, partial: Training) -> None:
    coarse = series.coarse.copy()
    coarse[2, 9] = np.nan
    result = downscale_with_archive(replace(series, coarse=coarse), partial, UNLEARNED)
    whole = downscale_with_archive(series, partial, UNLEARNED)
    assert np.isfinite(result.means).all()
    inside = series.problem.cell == 9
    assert (result.spreads[result.spread_of[2]][inside] > whole.spreads[0][inside]).all()
    draws = np.stack([draw for draw, _ in period_draws(whole, 200, 0)])
    sds = np.stack([whole.sd(time).ravel() for time in range(12)])
    standard = (draws - whole.means.reshape(12, -1)) / sds
    beyond = ~partial.known
    assert np.abs(standard[..., beyond].std() - 1) < 0.05 and np.abs(standard[..., ~beyond].std() - 1) < 0.05


def _scores(result: PeriodResult, where: np.ndarray) -> tuple[float, float]:
    """Mean CRPS and coverage of 95 % intervals over some pixels."""
    series, crps, held = result.series, [], []
    assert series.fine is not None
    for time in range(len(series)):
        mean, sd, truth = result.means[time][where], result.sd(time)[where], series.fine(time)[where]
        crps.append(Predictive(mean, sd).crps(truth).mean())
        held.append(np.mean(np.abs(mean - truth) < 1.959964 * sd))
    return float(np.mean(crps)), float(np.mean(held))


def test_it_is_as_good_inside_and_better_than_cells_alone_outside() -> None:
    region = weather_region(480, 48)
    spec = DownscalingSpec("t", ("orography", "land"), block=(8, 8), withhold=0.0)
    series = read_series(Source("x"), spec, lambda key: region, ["#365/#479"])
    settings = DownscaleSettings(model="area_to_point_gp", device="cpu", restarts=1, steps=25, integrate=False)
    part, whole = (read_training(series, each) for each in (_western(region, 32), region))
    of_part, of_all = (predicted_with_archive(series, each, settings, NoReport()).result for each in (part, whole))
    alone = downscale_series(series, settings)
    outside = np.broadcast_to(np.arange(48) >= 32, (48, 48))
    assert _scores(of_part, ~outside)[0] < 1.03 * _scores(of_all, ~outside)[0]
    crps, held = _scores(of_part, outside)
    assert crps < _scores(alone, outside)[0] and 0.88 < held < 0.98
    usual = [np.mean([each.sd(time)[outside].mean() for time in range(20)]) for each in (of_part, of_all)]
    assert usual[0] > 1.1 * usual[1]


def test_what_a_part_cannot_do_is_refused(fields: Fields, series: Series, western: Fields, partial: Training) -> None:
    file = replace(series.file, labels=series.labels)
    with pytest.raises(InputError, match="no values in 8 of 20 cells, and the target's file has 0 times"):
        read_training(replace(series, file=file), western)
    with pytest.raises(InputError, match="values at 5 % of the pixels, fewer than 10 %"):
        read_training(series, _western(fields, 1))
    region = weather_region(60, 8)
    spec = DownscalingSpec("pr", ("orography",), block=(2, 2), withhold=0.0)
    rain = read_series(Source("x"), spec, lambda key: region, ["#50/#59"])
    known = read_training(rain, _western(region, 4, "pr"))
    with pytest.raises(InputError, match="covers only part of it"):
        downscale_with_archive(rain, known, UNLEARNED)
    assert downscale_with_archive(rain, known, UNLEARNED.replace(warp="none")).behind is None
    with pytest.raises(InputError, match="covers only part of it"):
        downscale_pair(series, series, (partial, partial), UNLEARNED)
