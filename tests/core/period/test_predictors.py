"""Other variables as predictors: their values, the gain against dense matrices, what is used, missing and refused."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.datasets.weather import weather_region
from deconditioning.downscaling.source import Source
from deconditioning.engine.reporting import NoReport
from deconditioning.errors import InputError, never
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.gridded import Fields
from deconditioning.kernels.tiles import evaluate
from deconditioning.period import series as series_module
from deconditioning.period.archive.gain import NOISE, Mixture, anomalies, gains
from deconditioning.period.archive.joint import _draw
from deconditioning.period.archive.left_out import Choice, choose_for_cells, choose_mixture, mixed
from deconditioning.period.archive.predictors import read_predictors
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.setting import Setting, prepare
from deconditioning.period.archive.training import Training, read_training
from deconditioning.period.run import of_a_series
from deconditioning.period.scores import series_scores
from deconditioning.period.series import Series, read_series
from tests.core.period.made import SPEC, UNLEARNED, made_dataset

LATER = ["#48/#59"]


def with_predictors(fields: Fields, series: Series, *names: str, missing: bool = False) -> Training:
    """The training period of the made-up series with some of its variables as predictors."""
    others = read_predictors(Source("x"), SPEC, lambda key: fields, LATER, names)
    if missing:
        gap = others[0].coarse.copy()
        gap[2, 7] = np.nan
        others = (replace(others[0], coarse=gap),)
    return read_training(series, fields, predictors=others)


def ready(series: Series, training: Training) -> Setting:
    return prepare(series, training, of_a_series(series, UNLEARNED, len(series)), NoReport())


@pytest.fixture(scope="module")
def windy(fields: Fields, series: Series) -> Training:
    return with_predictors(fields, series, "wind")


def test_cells_of_one_file_are_made_once(
    fields: Fields, series: Series, windy: Training, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A predictor read with the cells of the target's series has the values that it has when read alone."""
    made: list[bool] = []
    build = series_module.problem_with

    def counted(*arguments, are_sums: bool = True):
        made.append(are_sums)
        return build(*arguments, are_sums=are_sums)

    monkeypatch.setattr(series_module, "problem_with", counted)
    (alone,) = read_predictors(Source("x"), SPEC, lambda key: fields, LATER, ["wind"])
    (shared,) = read_predictors(Source("x"), SPEC, lambda key: fields, LATER, ["wind"], series)
    assert made == [False, True, True]
    np.testing.assert_array_equal(shared.coarse, alone.coarse)
    np.testing.assert_array_equal(shared.file.coarse(5), alone.file.coarse(5))
    np.testing.assert_array_equal(shared.problem.target_cell, alone.problem.target_cell)


def test_predictors_are_averages_over_the_cells(fields: Fields, series: Series, windy: Training) -> None:
    weights = series.problem.grid.area * (series.problem.cell == 3)
    of_cell = np.array([np.average(fields.values("wind", {"time": n}), weights=weights) for n in range(60)])
    mine = np.concatenate([windy.predictors.known[:, 3], windy.predictors.at(series.labels)[:, 3]])
    np.testing.assert_allclose(mine / mine[0], of_cell / of_cell[0], rtol=1e-9)
    about_mean = windy.predictors.known - windy.predictors.known.mean(0)
    assert np.mean(about_mean**2) == pytest.approx(1) and windy.predictors.known.shape == (48, 20)
    np.testing.assert_array_equal(windy.predictors.at(series.labels[4:6]), windy.predictors.at(series.labels)[4:6])


def dense(
    setting: Setting, rows: np.ndarray, w: float, reach: float, scale: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Covariances of coarse values and predictors (40, 40), with pixels (40, 320), and of pixels (320, 320), from the
    definition: sample covariances times a taper, and the kernel's, where predictors are noise.
    """
    problem, coarse = setting.series.problem, setting.coarse
    kernel = evaluate(setting.spec.kernel.build(problem.columns), problem.inputs, problem.inputs).detach().numpy()
    average = (np.arange(20)[:, None] == problem.cell.ravel()) * problem.grid.area.ravel()
    average /= average.sum(1, keepdims=True)
    y, z = setting.training.fine[rows] / setting.unit, coarse.z.numpy()[rows]
    h = coarse.design[rows]
    r, a = (each - h @ np.linalg.lstsq(h, each, rcond=None)[0] for each in (y, z))
    free, rho = len(rows) - h.shape[1], np.exp(-0.5 * (coarse.distance.numpy() / reach) ** 2)
    cell, at = np.tile(np.arange(20), 2), problem.cell.ravel()
    kernel_part = np.zeros((40, 40))
    kernel_part[:20, :20] = scale * (average @ kernel @ average.T + setting.spec.noise * np.eye(20))
    kernel_part[range(20, 40), range(20, 40)] = (a[:, 20:] ** 2).sum(0) / free
    between = np.vstack([scale * average @ kernel, np.zeros((20, 320))])
    gram = w * a.T @ a / free * rho[cell][:, cell] + (1 - w) * kernel_part
    cross = w * a.T @ r / free * rho[cell][:, at] + (1 - w) * between
    prior = w * r.T @ r / free * rho[at][:, at] + (1 - w) * scale * kernel
    return gram, cross, prior


def noisy(gram: np.ndarray) -> np.ndarray:
    return gram + NOISE * np.diag(gram).mean() * np.eye(len(gram))


@pytest.mark.parametrize(("w", "reach"), [(0.5, 1.5), (0.9, None)])
def test_gain_and_draws_are_those_of_dense_matrices(series: Series, windy: Training, w: float, reach) -> None:
    setting, rows, scale = ready(series, windy), np.arange(48), 0.7
    mixture = Mixture(w, reach, predictors=True)
    gram, cross, prior = dense(setting, rows, w, reach or np.inf, scale)
    gain, fine = np.linalg.solve(noisy(gram), cross), setting.some(10**6, never)
    (mine,) = gains(setting.coarse, fine, anomalies(setting.coarse, fine, rows), scale, [mixture])
    np.testing.assert_allclose(mine.weights, gain, rtol=0, atol=2e-6)
    left = prior - gain.T @ cross
    np.testing.assert_allclose(mine.variance, np.diag(left), rtol=0, atol=1e-6)
    choice = Choice(mixture, {}, scale)
    method = mixed(choice, setting.coarse, fine, setting.parts)
    draws = _draw(setting, choice, method, 3000, torch.Generator().manual_seed(0)).numpy()
    correlation = left / np.sqrt(np.outer(np.diag(left), np.diag(left)))
    apart = np.abs(draws.T @ draws / 3000 - correlation)
    assert apart.max() < 5.5 / np.sqrt(3000) and np.sqrt(np.mean(apart**2)) < 1.2 / np.sqrt(3000)


def test_without_use_they_change_nothing(series: Series, training: Training, windy: Training) -> None:
    mixture, rows = Mixture(0.75, 4.0), np.arange(48)
    found = []
    for each in (training, windy):
        setting = ready(series, each)
        fine = setting.some(10**6, never)
        (gain,) = gains(setting.coarse, fine, anomalies(setting.coarse, fine, rows), 1.0, [mixture])
        found.append((gain.mean(setting.seasons.design(series.dates), setting.of_series()), gain.variance))
    for plain, other in zip(*found, strict=True):
        np.testing.assert_allclose(other, plain, rtol=0, atol=1e-9)


def test_a_missing_predictor_is_left_out_at_its_time(fields: Fields, series: Series, windy: Training) -> None:
    whole = downscale_with_archive(series, windy, UNLEARNED)
    assert "with predictors" in whole.diagnostics["mixture"]
    gap = downscale_with_archive(series, with_predictors(fields, series, "wind", missing=True), UNLEARNED)
    np.testing.assert_allclose(np.delete(gap.means, 2, 0), np.delete(whole.means, 2, 0), atol=1e-9)
    setting = ready(series, windy)
    choice = choose_mixture(setting.coarse, setting.some(4000, never))
    reach = choice.mixture.reach or np.inf
    gram, cross, _ = dense(setting, np.arange(48), choice.mixture.share, reach, choice.scale)
    there, gain = np.delete(np.arange(40), 27), np.linalg.solve(noisy(gram), cross)
    of_cells = choose_for_cells(setting.coarse, choice)
    between, *_ = dense(
        setting, np.arange(48), of_cells.mixture.share, of_cells.mixture.reach or np.inf, of_cells.scale
    )
    between = noisy(between)
    h, later = setting.coarse.design, setting.seasons.design(series.dates)[2]
    of_z, of_y = (np.linalg.lstsq(h, each, rcond=None)[0] for each in (setting.coarse.z.numpy(), windy.fine))
    anomaly = setting.of_series().numpy()[2] - later @ of_z
    anomaly[27] = between[27, there] @ np.linalg.solve(between[there][:, there], anomaly[there])
    expected = later @ of_y + setting.unit * anomaly @ gain
    np.testing.assert_allclose(gap.means[2].ravel(), expected, atol=1e-4)
    assert np.abs(gap.means[2] - whole.means[2]).max() > 0.01
    assert (gap.spreads[gap.spread_of[2]] >= whole.spreads[whole.spread_of[2]] - 1e-9).all()


def test_the_wind_tells_when_its_pattern_appears_and_noise_tells_nothing() -> None:
    fields = weather_region(240, 32)
    noise = np.random.default_rng(0).normal(size=(240, 32, 32))
    dataset = fields.dataset.assign(noise=(fields.dataset.u.dims, noise))
    fields = fields_from_dataset(dataset, source="made.nc")
    spec = replace(SPEC, target="t", covariates=("orography", "land"), block=(8, 8))
    series = read_series(Source("x"), spec, lambda key: fields, ["#180/#239"])
    crps, mixtures = [], []
    for names in ((), ("u",), ("noise",)):
        others = read_predictors(Source("x"), spec, lambda key: fields, ["#180/#239"], names)
        result = downscale_with_archive(series, read_training(series, fields, ["#0/#179"], others), UNLEARNED)
        crps.append(series_scores(series, result.means.__getitem__, result.sd)["crps"])
        mixtures.append(result.diagnostics["mixture"])
    assert crps[1] < 0.98 * crps[0] and "with predictors" in mixtures[1]
    assert crps[2] < 1.01 * crps[0] and "with predictors" not in mixtures[2]


@pytest.mark.parametrize(
    ("change", "name", "sentence"),
    [
        (lambda data: data, "t", "is the target"),
        (lambda data: data, "orog", "is a covariate"),
        (lambda data: data.assign(height=data.orog), "height", "`height` has no times in made.nc"),
        (lambda data: data, "rain", "rain"),
        (lambda data: data.assign(wind=data.wind.where(data.time.dt.day > 3)), "wind", "no cell that varies"),
    ],
)
def test_what_cannot_predict_is_refused(series: Series, change: Callable, name: str, sentence: str) -> None:
    fields = fields_from_dataset(change(made_dataset(60)), source="made.nc")
    with pytest.raises(InputError, match=sentence):
        with_predictors(fields, series, name)


def test_a_predictor_has_to_be_known_in_the_training_period(fields: Fields, series: Series) -> None:
    (other,) = read_predictors(Source("x"), SPEC, lambda key: fields, LATER, ["wind"])
    short = replace(other, file=replace(other.file, labels=other.file.labels[10:]))
    with pytest.raises(InputError, match="known at 38 of the 48 times"):
        read_training(series, fields, predictors=(short,))
