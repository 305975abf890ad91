"""An archive as prior: its gain against dense matrices, what drops out, what is refused."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal

from deconditioning.downscaling.source import Source
from deconditioning.downscaling.starting import columns_of, starting_spec
from deconditioning.errors import InputError, never
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.gridded import Fields
from deconditioning.kernels.tiles import evaluate
from deconditioning.models.learning.trainable import Trainable
from deconditioning.period import posterior
from deconditioning.period.archive.day import DayFactor
from deconditioning.period.archive.gain import Mixture, anomalies, gains, kernel_scale
from deconditioning.period.archive.kernel import composite_objective
from deconditioning.period.archive.left_out import (
    Choice,
    choose_for_cells,
    choose_mixture,
    error_ratio,
    gaussian_crps,
    left_out_errors,
    mixed,
    spread_of,
)
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.seasons import Seasons, climatology
from deconditioning.period.archive.setting import Setting
from deconditioning.period.archive.training import Training, matched_directly, read_training
from deconditioning.period.learning import repeats_of
from deconditioning.period.run import downscale_series, of_a_series
from deconditioning.period.scores import series_scores
from deconditioning.period.series import Series, read_series
from tests.core.period.made import SPEC, UNLEARNED, made_dataset


def test_the_training_period_is_what_is_not_downscaled(fields: Fields, series: Series, training: Training) -> None:
    assert (
        len(training) == 48
        and np.array_equal(training.cells, training.coarse)
        and training.labels[0] == "2001-01-01 00:00"
    )
    truth = fields.values("t", {"time": 7})
    np.testing.assert_array_equal(training.fine[7], truth.ravel())
    weights = series.problem.grid.area * (series.problem.cell == 3)
    assert training.coarse[7, 3] == pytest.approx(np.average(truth, weights=weights))


@pytest.mark.parametrize("mixture", [Mixture(0.0, None), Mixture(0.5, 1.5), Mixture(0.9, None)])
def test_the_gain_is_that_of_dense_matrices(series: Series, training: Training, setting: Setting, mixture) -> None:
    problem = series.problem
    kernel = evaluate(setting.spec.kernel.build(problem.columns), problem.inputs, problem.inputs).detach().numpy()
    area = problem.grid.area.ravel()
    average = (np.arange(20)[:, None] == problem.cell.ravel()) * area
    average /= average.sum(1, keepdims=True)
    rows = np.arange(5, 40)
    y, z = training.fine[rows] / setting.unit, training.coarse[rows] / setting.unit
    h = setting.coarse.design[rows]
    fit = np.linalg.inv(h.T @ h) @ h.T
    r, a = y - h @ fit @ y, z - h @ fit @ z
    within = average @ kernel @ average.T + setting.spec.noise * np.eye(20)
    between = average @ kernel
    alone = np.linalg.solve(within + 1e-4 * np.trace(within) / 20 * np.eye(20), between)
    scale = np.mean((r - a @ alone) ** 2) / np.mean(np.diag(kernel) - (alone * between).sum(0))
    lat, lon = np.radians(problem.coarse_grid.latitude.ravel()), np.radians(problem.coarse_grid.longitude.ravel())
    angle = np.arccos(np.clip(np.sin(lat)[:, None] * np.sin(lat) + np.cos(lat)[:, None] * np.cos(lat)
                              * np.cos(lon[:, None] - lon), -1, 1))  # fmt: skip
    chord = 2 * np.sin(angle / 2)
    edges = np.radians(50.125 - np.arange(5))  # of the rows of cells
    width = np.sqrt(np.median(np.repeat(np.radians(1.0) * -np.diff(np.sin(edges)), 5)))
    reach, w, free = mixture.reach or np.inf, mixture.share, len(rows) - h.shape[1]
    rho = np.exp(-0.5 * (chord / width / reach) ** 2)
    gram = w * a.T @ a / free * rho + (1 - w) * scale * within
    cross = w * a.T @ r / free * rho[:, problem.cell.ravel()] + (1 - w) * scale * between
    gain = np.linalg.solve(gram + 1e-4 * np.trace(gram) / 20 * np.eye(20), cross)
    variance = w * (r**2).sum(0) / free + (1 - w) * scale * np.diag(kernel) - (gain * cross).sum(0)
    fine = setting.some(10**6, never)
    known = anomalies(setting.coarse, fine, rows)
    assert kernel_scale(setting.coarse, fine, known) == pytest.approx(scale, rel=1e-6)
    (mine,) = gains(setting.coarse, fine, known, scale, [mixture])
    np.testing.assert_allclose(mine.weights, gain, rtol=0, atol=1e-6)
    np.testing.assert_allclose(mine.variance, variance, rtol=0, atol=1e-7)
    new, new_z = setting.coarse.design[:3], training.coarse[:3] / setting.unit
    expected = new @ fit @ y + (new_z - new @ fit @ z) @ gain
    np.testing.assert_allclose(mine.mean(new, torch.as_tensor(new_z)), expected, rtol=0, atol=1e-6)


def test_the_archive_beats_cells_alone_and_returns_the_cells(series: Series, training: Training) -> None:
    mine, alone = downscale_with_archive(series, training, UNLEARNED), downscale_series(series, UNLEARNED)
    better, plain = (series_scores(series, each.means.__getitem__, each.sd) for each in (mine, alone))
    assert better["crps"] < 0.9 * plain["crps"] and 0.85 < better["coverage95"] <= 1
    problem = series.problem
    back = [problem.shares.mean(mean, problem.grid.area) for mean in mine.means]
    apart = np.abs(np.array(back) - series.coarse).mean()
    assert apart < 0.1 * np.abs(alone.means - np.stack([series.fine(t) for t in range(12)])).mean()


def test_a_bias_of_another_models_climatology_drops_out(series: Series, training: Training) -> None:
    bias = 3 + np.arange(20) / 7
    moved = replace(series, coarse=series.coarse + bias, fine=None)
    plain = downscale_with_archive(series, training, UNLEARNED)
    biased = downscale_with_archive(moved, replace(training, coarse=training.coarse + bias), UNLEARNED)
    np.testing.assert_allclose(biased.means, plain.means, atol=1e-7)
    np.testing.assert_allclose(biased.spreads, plain.spreads, atol=1e-7)


def test_a_coarse_model_of_wrong_variance_is_corrected_and_a_trend_followed(series: Series, training: Training) -> None:
    """Coarse anomalies twice as large, in training and after: the covariance with the fine ones knows it."""
    plain = downscale_with_archive(series, training, UNLEARNED)
    level = training.coarse.mean(0)
    doubled = replace(training, coarse=level + 2 * (training.coarse - level))
    cells = series.problem.target_cell
    coarse = series.coarse.copy()
    coarse[:, cells] = level + 2 * (series.coarse[:, cells] - level)
    other = downscale_with_archive(replace(series, coarse=coarse), doubled, UNLEARNED)
    rmse = [series_scores(series, each.means.__getitem__)["rmse"] for each in (plain, other)]
    assert rmse[1] < 1.35 * rmse[0]
    warmer = downscale_with_archive(replace(series, coarse=series.coarse + 2.0), training, UNLEARNED)
    assert (warmer.means - plain.means).mean() == pytest.approx(2.0, abs=0.1)


@pytest.mark.gpu
def test_a_gpu_gives_the_same_from_an_archive(series: Series, training: Training) -> None:
    here, there = (downscale_with_archive(series, training, UNLEARNED.replace(device=name)) for name in ("cpu", "cuda"))
    assert there.diagnostics["device"] == "cuda" and there.diagnostics["mixture"] == here.diagnostics["mixture"]
    np.testing.assert_allclose(there.means, here.means, rtol=0, atol=1e-6)
    np.testing.assert_allclose(there.spreads, here.spreads, rtol=1e-6)


def test_missing_cells_leave_the_others_and_a_wider_sd(series: Series, training: Training, setting: Setting) -> None:
    coarse = series.coarse.copy()
    coarse[2, 7] = np.nan
    result, whole = (
        downscale_with_archive(each, training, UNLEARNED) for each in (replace(series, coarse=coarse), series)
    )
    others = np.arange(12) != 2
    np.testing.assert_allclose(result.means[others], whole.means[others], atol=1e-9)
    fine, there = setting.some(10**6, never), np.delete(np.arange(20), 7)
    mixture = next(m for m in [Mixture(w, r) for w in (0.0, 0.25, 0.5, 0.75, 0.9, 0.97, 0.99) for r in (4.0, None)]
                   if m.words == result.diagnostics["mixture"])  # fmt: skip
    every = np.arange(48)
    known = anomalies(setting.coarse, fine, every)
    scale = kernel_scale(setting.coarse, fine, known)
    (gain,) = gains(setting.coarse, fine, known, scale, [mixture])
    of_cells = choose_for_cells(setting.coarse, Choice(mixture, {}, scale))
    gram = noisy(known.coarse.mixed(setting.coarse, of_cells.mixture, of_cells.scale).numpy())
    design, z = setting.seasons.design(series.dates)[2], series.coarse[2] / setting.unit
    climate = design @ known.coarse.coefficients.numpy()
    z[7] = climate[7] + gram[7, there] @ np.linalg.solve(gram[np.ix_(there, there)], (z - climate)[there])
    mean = setting.unit * gain.mean(design[None], torch.as_tensor(z)[None])[0]
    np.testing.assert_allclose(result.means[2].ravel(), mean, atol=1e-6)
    left = gram[7, 7] - gram[7, there] @ np.linalg.solve(gram[np.ix_(there, there)], gram[there, 7])
    errors = left_out_errors(setting.coarse, fine, mixed(Choice(mixture, {}, scale), setting.coarse, fine, 2), 2)
    more = setting.unit**2 * error_ratio(*errors) * left * gain.weights[7].numpy() ** 2
    squares = result.spreads[result.spread_of[2]] ** 2
    np.testing.assert_allclose(squares.ravel(), whole.spreads[0].ravel() ** 2 + more, rtol=1e-6)
    inside = series.problem.cell == 7
    assert (result.spreads[result.spread_of[2]][inside] > whole.spreads[0][inside]).all()


def noisy(gram: np.ndarray) -> np.ndarray:
    """With a ten-thousandth of the mean variance on its diagonal."""
    return gram + 1e-4 * np.trace(gram) / len(gram) * np.eye(len(gram))


def test_the_mixture_for_missing_cells_is_the_one_that_makes_left_out_cells_likeliest(setting: Setting) -> None:
    start = choose_mixture(setting.coarse, setting.some(100, never))
    found = choose_for_cells(setting.coarse, start)

    def density(mixture: Mixture, scale: float) -> float:
        total = 0.0
        for block in np.array_split(np.arange(48), 5):
            known = setting.coarse.anomalies(np.setdiff1d(np.arange(48), block))
            a = setting.coarse.z[block].numpy() - setting.coarse.design[block] @ known.coefficients.numpy()
            gram = noisy(known.mixed(setting.coarse, mixture, scale).numpy())
            total += multivariate_normal.logpdf(a * known.slope.numpy(), cov=gram).sum()
        return total

    best = density(found.mixture, found.scale)
    assert best > density(start.mixture, start.scale)
    for share, reach, factor in product((0.0, 0.5, 0.97), (4.0, None), (0.03, 1.0, 3.0)):
        assert best >= density(Mixture(share, reach), factor * start.scale) - 1e-6


def test_tiles_do_not_matter(series: Series, training: Training, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = downscale_with_archive(series, training, UNLEARNED)
    monkeypatch.setattr(posterior, "tile_points", lambda *_: 37)
    again = downscale_with_archive(series, training, UNLEARNED)
    np.testing.assert_allclose(again.means, whole.means, atol=1e-9)
    np.testing.assert_allclose(again.sd(3), whole.sd(3), rtol=1e-9)


def test_the_mixture_is_the_one_with_the_lowest_left_out_crps(setting: Setting) -> None:
    fine = setting.some(100, never)
    choice = choose_mixture(setting.coarse, fine)
    assert choice.crps[choice.mixture.words] == min(choice.crps.values()) and len(choice.crps) == 25
    errors, variance = torch.zeros_like(fine.y), torch.zeros_like(fine.prior)
    for block in np.array_split(np.arange(48), 5):
        known = anomalies(setting.coarse, fine, np.setdiff1d(np.arange(48), block))
        scale = kernel_scale(setting.coarse, fine, known)
        (gain,) = gains(setting.coarse, fine, known, scale, [choice.mixture])
        errors[block] = fine.y[block] - gain.mean(setting.coarse.design[block], setting.coarse.z[block])
        variance += gain.variance / 5
    assert gaussian_crps(errors, spread_of(errors, variance)) == pytest.approx(choice.crps[choice.mixture.words])


def test_the_composite_likelihood_is_that_of_dense_matrices(series: Series) -> None:
    problem = series.problem
    settings = of_a_series(series, UNLEARNED, len(series))
    spec = starting_spec(problem, settings)
    rng = np.random.default_rng(0)
    a, r, pixels = rng.normal(size=(20, 5)), rng.normal(size=(5, 9)), np.arange(0, 270, 30)
    known = repeats_of(problem, spec, torch.as_tensor(a), settings.replace(points=100), never)
    trainable = Trainable(spec, known.data, columns_of(problem), hold=("noise", "point_noise"))
    loss = composite_objective(trainable, known, problem, pixels, torch.as_tensor(r), never)()
    kernel = evaluate(spec.kernel.build(problem.columns), problem.inputs, problem.inputs).detach().numpy()
    area = problem.grid.area.ravel()
    average = (np.arange(20)[:, None] == problem.cell.ravel()) * area
    average /= average.sum(1, keepdims=True)
    covariance = average @ kernel @ average.T + spec.noise * np.eye(20)
    cross = (average @ kernel)[:, pixels]
    gain = np.linalg.solve(covariance, cross)
    left = np.diag(kernel)[pixels] - (gain * cross).sum(0) + spec.point_noise
    densities = -0.5 * (np.log(2 * np.pi * left) + (r - a.T @ gain) ** 2 / left)
    assert float(loss.detach()) == pytest.approx(-densities.mean(), abs=1e-5)
    loss.backward()
    assert all(p.raw.grad is not None and bool(p.raw.grad.isfinite().all()) for p in trainable.vector.parameters)


def test_the_factor_of_a_time_finds_what_makes_times_bad() -> None:
    rng = np.random.default_rng(1)
    size = np.exp(rng.normal(size=400))
    a = rng.normal(size=(400, 30)) * size[:, None]
    squares = size**2 * rng.chisquare(50, 400) / 50
    factor = DayFactor.fit(squares, np.ones((400, 1)), a)
    g = factor(np.ones((400, 1)), a)
    assert np.corrcoef(np.log(g), np.log(size))[0, 1] > 0.9
    assert np.mean(squares / g**2) == pytest.approx(1.0)
    assert factor(np.ones((1, 1)), 1e6 * np.ones((1, 30)))[0] <= g.max() * (1 + 1e-9)


def test_what_cannot_be_used_is_refused(fields: Fields, series: Series, training: Training) -> None:
    with pytest.raises(InputError, match="at least 20"):
        read_training(series, fields, ["#0/#9"])
    with pytest.raises(InputError, match="has no variable `t`"):
        read_training(series, replace(fields, dataset=fields.dataset.drop_vars(["t", "wind"])))
    moving = replace(series, varying=object())
    with pytest.raises(InputError, match="must not change with time"):
        downscale_with_archive(moving, training, UNLEARNED)


def test_cells_matched_through_mediators_are_matched_directly_with_an_archive(fields: Fields) -> None:
    """Half of the cells have targets, the others covariates; the archive knows fine values in both."""
    mediated = replace(SPEC, withhold=0.5, mediators=("wind",), covariates=("orog",))
    source, spec, notes = matched_directly(Source("x", mediator="y"), mediated)
    assert source.mediator is None and not spec.indirect and "not through `wind`" in notes[0]
    plain = replace(SPEC, withhold=0.5)
    assert matched_directly(Source("x"), plain) == (Source("x"), plain, ())
    results = []
    for each in (spec, plain):
        series = read_series(Source("x"), each, lambda key: fields, ["#48/#59"])
        results.append(downscale_with_archive(series, read_training(series, fields), UNLEARNED))
    assert int(results[0].series.problem.observed.sum()) == 10
    np.testing.assert_allclose(results[0].means, results[1].means, atol=1e-9)
    np.testing.assert_allclose(results[0].sd(3), results[1].sd(3), atol=1e-9)


def test_coarse_values_far_from_the_archives_climatology_are_told(series: Series, training: Training) -> None:
    """Each cell is so many times the training anomalies' sd above the climatology, at every time."""
    seasons = Seasons.of(training.dates, series.dates)
    usual = climatology(training.dates, training.coarse, series.dates)
    sd = (training.coarse - climatology(training.dates, training.coarse, training.dates)).std()
    assert seasons.annual == 0
    near, far = (replace(series, coarse=usual + times * sd) for times in (1.9, 3.2))
    assert not any("away from" in each for each in downscale_with_archive(near, training, UNLEARNED).warnings)
    sentence = " ".join(downscale_with_archive(far, training, UNLEARNED).warnings)
    assert "3.2 times the sd of the training period's anomalies" in sentence and "bias" not in sentence
    sentence = " ".join(downscale_with_archive(replace(far, fine=None), training, UNLEARNED).warnings)
    assert "by which a bias would be removed" in sentence


def test_times_without_dates_have_no_seasons_and_say_so(series: Series, training: Training) -> None:
    undated = replace(training, dates=(None,) * len(training))
    result = downscale_with_archive(replace(series, dates=(None,) * len(series)), undated, UNLEARNED)
    assert any("without seasons" in each for each in result.warnings)


@pytest.mark.parametrize("pixels", [5, 200, 320])
def test_pixels_that_lack_a_value_once_are_told(series: Series, pixels: int) -> None:
    gappy = made_dataset(60)
    gappy.t.values[np.arange(pixels) % 48, *np.unravel_index(np.arange(pixels), (16, 20))] = np.nan
    archive = fields_from_dataset(gappy)
    if pixels == 320:
        with pytest.raises(InputError, match="Every pixel lacks a value at some time"):
            read_training(series, archive)
        return
    found = read_training(series, archive)
    assert (~found.known).sum() == pixels
    (note,) = (each for each in found.notes if "lack a value" in each)
    assert note.startswith(f"{pixels} pixels") and ("fill these gaps first" in note) == (pixels == 200)
