"""Another method in place of the prediction from archive and kernel: cells restored by loops, sd, draws, refusals."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.datasets.weather import weather_region
from deconditioning.downscaling.source import Source
from deconditioning.errors import InputError, never
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.period.archive.peers import fitted
from deconditioning.period.archive.peers.alone import downscale_by_method, with_cell_means
from deconditioning.period.archive.peers.fitted import DELTA, EOFS, SHORT, peers
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.seasons import Seasons
from deconditioning.period.archive.setting import parts_of
from deconditioning.period.archive.training import Training, read_training
from deconditioning.period.behind_warp import CellsOfPixels
from deconditioning.period.series import Series, read_series
from deconditioning.period.statistics import period_draws, period_statistics
from tests.core.period.made import UNLEARNED


def shifted(series: Series, means: np.ndarray, coarse: np.ndarray) -> np.ndarray:
    """Each cell's pixels moved alike until their area-weighted mean is the coarse value, cell by cell."""
    problem, result = series.problem, means.copy()
    for time, values in enumerate(coarse):
        for cell, value in enumerate(values):
            inside = problem.cell.ravel()[problem.pixel] == cell
            area = problem.grid.area.ravel()[problem.pixel][inside]
            result[time, inside] += value - np.average(means[time, inside], weights=area)
    return result


def test_mean_and_sd_are_those_of_the_method_with_its_cells_moved_to_their_values(
    series: Series, training: Training, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fitted, "_strength", lambda known, method: 0.1)  # chosen from the times, which differ below
    result = downscale_by_method(series, training, "eof", UNLEARNED)
    seasons = Seasons.of(training.dates, series.dates)
    parts = parts_of(training, seasons)
    plain = peers(series, training, seasons, parts, never)[EOFS]
    found = np.stack([result.means[time].ravel() for time in range(len(series))])
    np.testing.assert_allclose(found, shifted(series, plain.means, series.coarse), atol=1e-9)
    assert np.abs(found - plain.means).max() > 0.01
    squares = []
    for block in np.array_split(np.arange(len(training)), parts):
        rest = np.setdiff1d(np.arange(len(training)), block)
        known = replace(
            training, labels=tuple(training.labels[n] for n in rest), dates=tuple(training.dates[n] for n in rest),
            fine=training.fine[rest], coarse=training.coarse[rest], cells=training.cells[rest],
        )  # fmt: skip
        part = replace(
            series, labels=tuple(training.labels[n] for n in block), dates=tuple(training.dates[n] for n in block),
            coarse=training.coarse[block],
        )  # fmt: skip
        alone = peers(part, known, seasons, parts, never)[EOFS].means
        squares.append((training.fine[block] - shifted(series, alone, training.coarse[block])) ** 2)
    sd = np.sqrt(np.concatenate(squares).mean(0))
    np.testing.assert_allclose(result.sd(3).ravel(), sd, rtol=1e-9)


def test_the_delta_method_keeps_its_cells_anyway_and_every_name_is_one_of_the_methods(
    series: Series, training: Training
) -> None:
    with_others = downscale_with_archive(series, training, UNLEARNED)
    assert set(SHORT.values()) == set(with_others.peers)
    result = downscale_by_method(series, training, "bcsd", UNLEARNED)
    other = with_others.peers[DELTA]
    np.testing.assert_allclose(result.means.reshape(len(series), -1), other.means, atol=1e-9)
    np.testing.assert_allclose(result.sd(0).ravel(), other.sd, rtol=1e-6)
    assert result.diagnostics["left_out_crps"][DELTA] == pytest.approx(other.left_out_crps, rel=1e-6)
    for sentence in [each for each in with_others.warnings if "--other-method" in each]:
        name = next(each for each in SHORT.values() if f"`{each}`" in sentence)
        assert f"`--other-method {next(key for key, each in SHORT.items() if each == name)}`" in sentence


def test_draws_have_the_covariance_of_left_out_errors_and_keep_the_cells(series: Series, training: Training) -> None:
    result = downscale_by_method(series, training, "ridge", UNLEARNED)
    assert result.residuals is not None
    fields = result.residuals.draw(4000, torch.Generator().manual_seed(0)).numpy()
    np.testing.assert_allclose(fields.std(0), 1, atol=0.08)
    cells = CellsOfPixels.of(series.problem, np.ones(fields.shape[1], dtype=bool))
    sd = result.sd(0).ravel()
    assert max(np.abs(cells.mean(each * sd)).max() for each in fields[:20]) < 1e-6
    draw = next(iter(period_draws(result, 1, 0)))[0]
    again = np.stack([cells.mean(row) for row in draw])
    np.testing.assert_allclose(again, series.coarse, atol=1e-6)
    (mean,) = period_statistics(result, ["mean"], 20)
    assert mean.sd_if_fixed is None and np.nanmin(mean.sd) > 0


def test_rain_is_multiplied_to_its_cells_and_is_never_negative() -> None:
    fields = weather_region(120, 16)
    spec = DownscalingSpec("pr", ("orography",), block=(4, 4), withhold=0.0)
    series = read_series(Source("x"), spec, lambda key: fields, ["#100/#119"])
    training = read_training(series, fields)
    for name in ("bcsd", "analogs"):
        result = downscale_by_method(series, training, name, UNLEARNED)
        cells = CellsOfPixels.of(series.problem, np.ones(256, dtype=bool))
        for time in (0, 7):
            field = result.means[time]
            assert np.nanmin(field) >= 0
            np.testing.assert_allclose(cells.mean(field.ravel()), series.coarse[time], atol=1e-8)
        assert np.nanmin(next(iter(period_draws(result, 1, 0)))[0]) >= 0


def test_pixels_in_several_cells_are_corrected_until_all_cells_are_right() -> None:
    rng = np.random.default_rng(0)
    row, cell = np.array([0, 1, 1, 2, 3, 3, 4]), np.array([0, 0, 1, 1, 1, 2, 2])
    share = np.array([1, 0.5, 0.5, 1, 0.25, 0.75, 1.0])
    cells = CellsOfPixels(row, cell, share, share, 5, 3)
    aim, values = np.array([1.0, 2.0, np.nan]), rng.uniform(0, 3, 5)
    for positive in (False, True):
        found = with_cell_means(cells, values, aim, positive=positive)
        np.testing.assert_allclose(cells.mean(found)[:2], aim[:2], atol=1e-9)
    dry = with_cell_means(cells, np.zeros(5), np.array([1.0, 0.0, np.nan]), positive=True)
    assert dry[0] == pytest.approx(cells.mean(dry)[0] * 1.5 - dry[1] * 0.5) and dry.min() >= 0 and dry[4] == 0


@pytest.mark.parametrize("what", ["name", "missing", "part"])
def test_what_a_method_is_not_there_for_is_said(series: Series, training: Training, what: str) -> None:
    name = "kriging" if what == "name" else "ridge"
    if what == "missing":
        coarse = series.coarse.copy()
        coarse[3, 2] = np.nan
        series = replace(series, coarse=coarse)
    if what == "part":
        training = replace(training, covers_part=True)
    words = {"name": "choose among bcsd", "missing": "1 of 12 times lack some", "part": "archive of the whole region"}
    with pytest.raises(InputError, match=words[what]):
        downscale_by_method(series, training, name, UNLEARNED)
