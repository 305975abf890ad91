"""Rain in a period: moments, shifts, censored values, and that nothing is negative, against independent routes."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq, minimize
from scipy.stats import norm, truncnorm

from deconditioning.datasets.weather import weather_region
from deconditioning.downscaling.source import Source
from deconditioning.errors import InputError
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.gridded import Fields
from deconditioning.fields.problem.warp import Warp
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.period.archive import warp_choice
from deconditioning.period.archive.censoring import Censored, dry_below
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.training import Training, read_training
from deconditioning.period.behind_warp import CellsOfPixels, Shifted, censored_moments
from deconditioning.period.dataset import period_dataset
from deconditioning.period.run import PeriodResult, downscale_series
from deconditioning.period.scores import verified_result
from deconditioning.period.series import Series, read_series
from deconditioning.period.statistics import period_draws, period_statistics
from deconditioning.verification.report import verify
from deconditioning.verification.series import verified
from tests.core.period.made import UNLEARNED

SPEC = DownscalingSpec("pr", ("orography", "land"), block=(4, 4), withhold=0.0)
ROOT = Warp("box-cox", 0.5)


@pytest.fixture(scope="module")
def rain() -> Fields:
    return weather_region(300, 16)


@pytest.fixture(scope="module")
def wet(rain: Fields) -> Series:
    return read_series(Source("x"), SPEC, lambda key: rain, ["#240/#299"])


@pytest.fixture(scope="module")
def known(rain: Fields, wet: Series) -> Training:
    return read_training(wet, rain)


@pytest.fixture(scope="module")
def result(wet: Series, known: Training) -> PeriodResult:
    return downscale_with_archive(wet, known, UNLEARNED)


def true_fields(series: Series) -> np.ndarray:
    assert series.fine is not None
    return np.stack([series.fine(time) for time in range(len(series))])


def means_of_cells(series: Series, field: np.ndarray) -> np.ndarray:
    return series.problem.shares.mean(field, series.problem.grid.area)


@pytest.mark.parametrize(("m", "s"), [(0.7, 0.5), (-1.2, 0.9), (3.0, 0.2), (-4.0, 1.0), (0.4, 0.0), (-0.4, 0.0)])
def test_moments_are_those_of_integrals(m: float, s: float) -> None:
    found = censored_moments(np.array([m]), np.array([s]), 8)
    for k, value in enumerate(found):
        if s == 0:
            expected = max(m, 0.0) ** k if k else float(m > 0)
        else:
            expected = quad(lambda x, k=k: x**k * norm.pdf(x, m, s), 0, max(m, 0) + 12 * s, epsabs=1e-14)[0]
        assert float(value[0]) == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_shifts_are_those_of_a_root_finder() -> None:
    """Three cells, one of them dry: δ from the mean over a fine sample of the Gaussian, found by bisection."""
    rng = np.random.default_rng(0)
    row, cell = np.arange(12), np.repeat([0, 1, 2], 4)
    area = rng.uniform(0.5, 2, 12)
    shifted = Shifted(Warp("box-cox", 1 / 3), CellsOfPixels(row, cell, np.ones(12), area, 12, 3))
    m, s, aim = rng.normal(-3, 1, 12), rng.uniform(0.2, 2, 12), np.array([0.8, 0.0, 7.0])
    delta = shifted.shift(aim, m, s)
    z = norm.ppf((np.arange(20000) + 0.5) / 20000)
    for c in (0, 2):
        inside = cell == c

        def off(shift: float, inside: np.ndarray = inside, c: int = c) -> float:
            values = np.maximum(1 + (m[inside, None] + shift + s[inside, None] * z) / 3, 0) ** 3
            return float(np.average(values.mean(1), weights=area[inside]) - aim[c])

        assert delta[c] == pytest.approx(brentq(off, -20, 20), abs=1e-3)
    assert np.isneginf(delta[1])
    found = shifted.predictive(*shifted.gaussian(delta, m, s))
    assert np.allclose(shifted.cells.mean(found.mean), aim, rtol=1e-9)
    assert not found.mean[cell == 1].any() and not found.sd[cell == 1].any()


@pytest.mark.parametrize("start", [-80.0, -6.0, 0.0, 60.0])
def test_shifts_are_found_from_anywhere(start: float) -> None:
    cells = CellsOfPixels(np.arange(6), np.zeros(6, dtype=int), np.ones(6), np.ones(6), 6, 1)
    for s in (0.0, 0.7):
        m, aim = start + np.linspace(-2, 2, 6), np.array([1e-4])
        shifted = Shifted(ROOT, cells)
        delta = shifted.shift(aim, m, np.full(6, s))
        assert float(cells.mean(censored_moments(1 + (m + delta) / 2, np.full(6, s / 2), 2)[2])[0]) == pytest.approx(
            1e-4, rel=1e-6
        )


def test_pixels_in_two_cells_move_with_both() -> None:
    cells = CellsOfPixels(np.array([0, 1, 1, 2]), np.array([0, 0, 1, 1]), np.array([1.0, 0.25, 0.75, 1.0]),
                          np.array([1.0, 0.25, 0.75, 1.0]), 3, 2)  # fmt: skip
    shifted, m = Shifted(ROOT, cells), np.array([0.1, 0.4, 0.2])
    aim = np.array([1.5, 2.5])
    delta = shifted.shift(aim, m, np.full(3, 0.5))
    assert np.allclose(cells.at_pixels(delta), [delta[0], 0.25 * delta[0] + 0.75 * delta[1], delta[1]])
    found = shifted.predictive(*shifted.gaussian(delta, m, np.full(3, 0.5)))
    assert np.allclose(cells.mean(found.mean), aim, rtol=1e-8)


def test_scores_are_those_of_samples() -> None:
    """CRPS, quantiles and probabilities of a censored power against a hundred thousand of its values."""
    cells = CellsOfPixels(np.arange(3), np.zeros(3, dtype=int), np.ones(3), np.ones(3), 3, 1)
    predictive = Shifted(Warp("box-cox", 1 / 3), cells).predictive(np.array([-3.2, 0.5, -6.0]), np.array([1.0, 0.8, 2]))
    z = norm.ppf((np.arange(100_000) + 0.5) / 100_000)
    for pixel, (m, s) in enumerate(((-3.2, 1.0), (0.5, 0.8), (-6.0, 2.0))):
        sample = np.sort(np.maximum(1 + (m + s * z) / 3, 0) ** 3)
        assert predictive.mean[pixel] == pytest.approx(sample.mean(), rel=1e-3)
        assert predictive.sd[pixel] == pytest.approx(sample.std(), rel=1e-2)
        for level in (0.025, 0.5, 0.9):
            assert predictive.quantile(level)[pixel] == pytest.approx(np.quantile(sample, level), rel=1e-2, abs=1e-9)
        for y in (0.0, 0.02, 1.5):
            spread = 2 * np.mean(sample * (2 * np.arange(len(sample)) + 1 - len(sample))) / len(sample)
            expected = np.abs(sample - y).mean() - 0.5 * spread
            assert predictive[[pixel]].crps(np.array([y]))[0] == pytest.approx(expected, rel=2e-2, abs=2e-5)
            assert predictive.exceedance(y)[pixel] == pytest.approx(np.mean(sample > y), abs=1e-4)


def test_dry_values_are_drawn_from_the_tail(wet: Series, known: Training) -> None:
    """Wet values stay, dry ones have the distribution of a truncated Gaussian."""
    censored = Censored.of(wet, known, ROOT)
    dry = known.fine < dry_below(known.fine)
    assert np.array_equal(censored.dry, dry) and 0.3 < dry.mean() < 0.8
    assert np.allclose(censored.training.fine[~dry], ROOT.forward(known.fine[~dry]))
    assert (censored.training.fine[dry] <= censored.level).all()
    m, s = np.full(dry.shape, censored.level + 0.3), np.full(dry.shape, 0.8)
    drawn = censored.drawn(m, s, np.random.default_rng(3)).training
    values = drawn.fine[dry]
    exact = truncnorm(-np.inf, -0.3 / 0.8, loc=censored.level + 0.3, scale=0.8)
    assert values.mean() == pytest.approx(exact.mean(), abs=0.01) and values.std() == pytest.approx(
        exact.std(), abs=0.01
    )
    assert np.allclose(drawn.cells[5], means_of_cells(wet, wet.problem.on_grid(drawn.fine[5]))[wet.problem.target_cell])


def test_augmentation_finds_the_regression_of_the_largest_likelihood() -> None:
    """Drawing and regressing in turn is the Tobit model: slope, level and sd agree with its likelihood's maximum."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=3000)
    latent = -0.3 + 0.9 * x + 0.7 * rng.normal(size=3000)
    dry, y = latent < 0, np.maximum(latent, 0)

    def loss(p: np.ndarray) -> float:
        m, s = p[0] + p[1] * x, np.exp(p[2])
        return -float(np.where(dry, norm.logcdf(-m / s), norm.logpdf(y, m, s)).sum())

    best = minimize(loss, np.array([0.0, 1.0, 0.0]), method="Nelder-Mead").x
    empty = np.zeros((3000, 0))
    training = Training((), (), y[:, None], empty, empty)
    censored = Censored(ROOT, None, training, dry[:, None], 0.0)  # type: ignore[arg-type]
    found, values = [], y.copy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("deconditioning.period.archive.censoring.cell_means", lambda series, fine: empty)
        for _ in range(60):
            slope, level = np.polyfit(x, values, 1)
            s = (values - level - slope * x).std()
            found.append((level, slope, np.log(s)))
            m = (level + slope * x)[:, None]
            values = censored.drawn(m, np.full_like(m, s), rng).training.fine[:, 0]
    assert np.allclose(np.mean(found[20:], axis=0), best, atol=0.03)


def test_nothing_is_negative_and_cells_keep_their_means(wet: Series, result: PeriodResult) -> None:
    assert result.behind is not None and result.diagnostics["warp"]
    truth, target = true_fields(wet), wet.problem.target_cell
    for time in range(0, len(wet), 7):
        found = result.predictive(time)
        assert np.array_equal(found.mean, result.means[time]) and np.array_equal(found.sd, result.sd(time))
        assert found.mean.min() >= 0 and all(found.quantile(q).min() >= 0 for q in (0.001, 0.025, 0.5))
        cells = means_of_cells(wet, found.mean)[target]
        assert np.allclose(cells, wet.coarse[time][target], rtol=1e-7, atol=1e-8)
        dry = wet.coarse[time][wet.problem.cell] == 0
        assert not found.mean[dry].any() and not truth[time][dry].any()
    for draw, fixed in period_draws(result, 3, seed=0):
        assert fixed is None and draw.min() >= 0
        cells = means_of_cells(wet, wet.problem.on_grid(draw[11]))[target]
        assert np.allclose(cells, wet.coarse[11][target], rtol=1e-7, atol=1e-8)


def test_rain_is_better_than_bcsd_and_as_often_as_observed(wet: Series, result: PeriodResult) -> None:
    truth = true_fields(wet)
    scores = verify(verified_result(result)).scores
    own, bcsd = scores["prediction"].pooled, scores["delta"].pooled
    assert own["crps"] < 0.8 * bcsd["crps"] and own["crps"] < 0.8 * bcsd["mae"]
    for limit, near in ((0.0, 0.05), (0.5, 0.05), (5.0, 0.02)):
        stated = np.mean([result.predictive(time).exceedance(limit).mean() for time in range(len(wet))])
        assert stated == pytest.approx(np.mean(truth > limit), abs=near)
    assert 0.9 < own["coverage95"] <= 1
    held = [
        (result.predictive(n).quantile(0.025) <= y) & (y <= result.predictive(n).quantile(0.975))
        for n, y in enumerate(truth)
    ]
    assert 0.9 < np.stack(held)[truth > 0].mean() < 0.98


def test_draws_have_the_distribution_that_is_stated(wet: Series, result: PeriodResult) -> None:
    """The share of wet draws and their mean are those of the distributions, also after the shift of every draw."""
    draws = np.stack([draw for draw, _ in period_draws(result, 40, seed=1)])
    every = [result.predictive(time) for time in range(len(wet))]
    stated = np.stack([each.exceedance(0.5).ravel() for each in every])
    assert np.mean(draws > 0.5) == pytest.approx(stated.mean(), abs=0.03)
    assert draws.mean() == pytest.approx(np.mean([each.mean for each in every]), rel=0.01)
    found = period_statistics(result, ["above=0.5", "max", "mean"], draws=[(draw, None) for draw in draws])
    assert np.allclose(found[0].mean.ravel(), (draws > 0.5).sum(1).mean(0))
    assert all(each.low.min() >= 0 for each in found)


def test_the_factor_and_the_warp_have_the_lowest_left_out_crps(wet: Series, known: Training) -> None:
    checked = warp_choice._Checked.of(wet, known)
    _, _, (means, sds) = warp_choice._augmented(wet, known, ROOT, UNLEARNED, warp_choice_context())
    crps, factor = checked.best(ROOT, means, sds)
    every = {each: checked.crps(ROOT, means, sds, each) for each in warp_choice._FACTORS}
    assert crps == min(every.values()) and every[factor] == crps
    chosen = warp_choice.choose_warp_of_period(wet, known, "auto", UNLEARNED, warp_choice_context())
    assert chosen.censored is not None
    assert chosen.crps[chosen.censored.warp.formula] == min(chosen.crps.values()) and len(chosen.crps) == 3


def warp_choice_context():
    from deconditioning.engine.reporting import NoReport

    return NoReport()


def test_some_times_are_those_of_all(wet: Series, known: Training, result: PeriodResult) -> None:
    """A stretch with the settings of the whole repeats it, as a run that is continued does."""
    part = downscale_with_archive(wet, known, result.settings, times=np.array([4, 9]))
    assert np.allclose(part.means, result.means[[4, 9]]) and np.allclose(part.sd(1), result.sd(9))


def test_the_file_holds_the_distributions(wet: Series, result: PeriodResult) -> None:
    """Scores from the file are those of the result; a Gaussian of the same mean and sd has others."""
    dataset = period_dataset(result)
    assert float(dataset["mean"].min()) >= 0 and dataset["warped_sd"].dims == dataset["mean"].dims
    own = verify(verified_result(result)).scores["prediction"].pooled
    read = verify(verified(dataset)).scores["prediction"].pooled
    assert read["crps"] == pytest.approx(own["crps"], rel=1e-9)
    alone = verify(verified(dataset.drop_vars(["warped_mean", "warped_sd"]))).scores["prediction"].pooled
    assert alone["crps"] > 1.03 * own["crps"]


def test_drizzle_counts_as_dry_and_missing_pixels_are_left_out(rain: Fields) -> None:
    """Small values in place of zeros change neither the CRPS nor the coverage; pixels in the sea have no prediction."""
    dataset, rng = rain.dataset[["pr", "orography", "land"]].copy(), np.random.default_rng(0)
    wet = dataset["pr"].values + 10 ** rng.normal(-4, 0.5, dataset["pr"].shape)
    wet[:, 2:4, 1:6] = np.nan
    dataset["pr"] = (dataset["pr"].dims, wet, dataset["pr"].attrs)
    fields = fields_from_dataset(dataset, source="x")
    series = read_series(Source("x"), SPEC, lambda key: fields, ["#240/#299"])
    found = downscale_with_archive(series, read_training(series, fields), UNLEARNED)
    assert np.isnan(found.means[:, 2:4, 1:6]).all() and np.isfinite(found.means).mean() > 0.9
    target = series.problem.target_cell
    assert np.allclose(means_of_cells(series, found.means[5])[target], series.coarse[5][target], rtol=1e-6)
    assert 0.9 < verify(verified_result(found)).scores["prediction"].pooled["coverage95"] <= 1
    read = verify(verified(period_dataset(found))).scores["prediction"].pooled
    assert 0.9 < read["coverage95"] <= 1


def test_another_models_cells_are_not_kept(wet: Series, known: Training) -> None:
    """Coarse values of a model that rains too often are no means of the truth: they only predict."""
    rng = np.random.default_rng(0)
    wrong = 1.5 * known.coarse + 0.2 * rng.random(known.coarse.shape)
    given = np.full_like(wet.coarse, np.nan)
    given[:, wet.problem.target_cell] = 1.5 * wet.coarse[:, wet.problem.target_cell] + 0.1
    found = downscale_with_archive(replace(wet, coarse=given), replace(known, coarse=wrong), UNLEARNED)
    truth = true_fields(wet)
    assert found.means.min() >= 0 and abs(found.means.mean() / truth.mean() - 1) < 0.25
    assert abs(given[:, wet.problem.target_cell].mean() / truth.mean() - 1) > 0.5


def test_warps_that_a_period_lacks_are_refused(wet: Series, known: Training) -> None:
    for warp, words in (("logit", "kind 'logit'"), (Warp("box-cox", 0.4).to_dict(), "λ = 0.40")):
        with pytest.raises(InputError, match=words):
            downscale_with_archive(wet, known, UNLEARNED.replace(warp=warp))
    below = replace(known, fine=known.fine - 1)
    with pytest.raises(InputError, match="negative values"):
        downscale_with_archive(wet, below, UNLEARNED.replace(warp="box-cox"))
    with pytest.raises(InputError, match="All values of the archive are zero"):
        dry_below(np.zeros((3, 4)))
    plain = downscale_with_archive(wet, known, UNLEARNED.replace(warp="none"))
    assert plain.behind is None and plain.means.min() < 0


def test_zeros_that_packing_made_negative_are_zeros(wet: Series, known: Training) -> None:
    """−2e-19 in place of 0 changes neither the candidates nor which values are dry."""
    packed = replace(known, fine=np.where(known.fine > 0, known.fine, -2e-19))
    coarse = np.where(wet.coarse > 0, wet.coarse, -2e-19)
    problem = replace(wet.problem, coarse=wet.problem.coarse - 1e3)  # no limits by its values
    series = replace(wet, coarse=coarse, problem=problem)
    assert len(warp_choice._candidates(series, packed, "auto")) == 3
    assert np.array_equal(Censored.of(series, packed, ROOT).dry, Censored.of(wet, known, ROOT).dry)


def test_cells_alone_say_that_means_are_negative(wet: Series) -> None:
    found = downscale_series(wet, UNLEARNED)
    share = 100 * np.mean(found.means < 0)
    assert share > 1 and found.warnings[-1].startswith(f"{share:.2g} % of the means are beyond the physical limits")


def test_temperature_is_tried_without_a_warp(series: Series, training: Training) -> None:
    found = downscale_with_archive(series, training, UNLEARNED)
    assert found.behind is None and "warp" not in found.diagnostics
