"""What intervals hold one scale up, for a series, and how smooth learning from cells alone lets a field be."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source
from deconditioning.errors import never
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.kernels.tiles import evaluate
from deconditioning.models.learning.learning import Learned
from deconditioning.period import one_scale_up
from deconditioning.period.learning import SMOOTHEST, spread_times
from deconditioning.period.one_scale_up import held_one_scale_up, sentences_one_scale_up
from deconditioning.period.run import downscale_series
from deconditioning.period.series import Series, read_series
from tests.core.period.made import SPEC, UNLEARNED, made_dataset


def read(dataset: xr.Dataset, spec: DownscalingSpec = SPEC) -> Series:
    return read_series(Source("x"), spec, lambda key: fields_from_dataset(dataset), ["all"])


def smooth_dataset(times: int = 15) -> xr.Dataset:
    """A few long waves: their means over cells are those of an analytic field."""
    rng, result = np.random.default_rng(2), made_dataset(times, (24, 24))
    y, x = np.meshgrid(np.arange(24) / 24, np.arange(24) / 24, indexing="ij")
    waves = [np.sin(2 * np.pi * (a * y + b * x) + c) for a, b, c in rng.uniform(-1.3, 1.3, (8, 3))]
    result["t"][:] = 280 + np.tensordot(rng.normal(size=(times, 8)), np.stack(waves), 1)
    return result


def test_what_intervals_hold_is_that_of_all_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells and merged cells as averages of the pixels' covariance, at hyperparameters that do not change."""
    series = read(made_dataset(14, (40, 32)))
    monkeypatch.setattr(one_scale_up, "learn", lambda start, *rest, **more: Learned(start, 0.0, (), False))
    found = held_one_scale_up(series, UNLEARNED.replace(points=16), never)  # all pixels of a cell
    problem, spec = series.problem, downscale_series(series, UNLEARNED).spec
    kernel = evaluate(spec.kernel.build(problem.columns), problem.inputs, problem.inputs).detach().numpy()
    area = problem.grid.area.ravel()
    average = (np.arange(80)[:, None] == problem.cell.ravel()) * area
    cell_area = average.sum(1)
    average /= cell_area[:, None]
    row, column = np.divmod(np.arange(80), 8)
    merge = (np.arange(20)[:, None] == row // 2 * 4 + column // 2) * cell_area
    merge /= merge.sum(1, keepdims=True)
    cells = average @ kernel @ average.T
    z = series.targets(spread_times(series)).numpy()
    gain = np.linalg.solve(merge @ cells @ merge.T + spec.noise * np.eye(20), merge @ cells)
    mean, variance = gain.T @ (merge @ z), np.diag(cells - cells @ merge.T @ gain) + spec.noise
    inside = np.abs(z - mean) <= 1.959964 * np.sqrt(variance)[:, None]
    assert found["merged"] == 20
    assert found["coverage95"] == pytest.approx(np.average(inside.mean(1), weights=cell_area), abs=1e-9)
    assert 0.3 < found["coverage95"] < 1.0


def test_there_is_no_such_test_of_few_cells_or_without_a_time_with_all() -> None:
    assert held_one_scale_up(read(made_dataset(6)), UNLEARNED, never) == {}
    series = read(made_dataset(6, (40, 32)))
    series.coarse[:, 3] = np.nan
    assert held_one_scale_up(series, UNLEARNED, never) == {}


def test_a_sentence_says_when_too_few_values_are_inside() -> None:
    assert sentences_one_scale_up({}) == () == sentences_one_scale_up({"merged": 30, "coverage95": 0.9})
    (sentence,) = sentences_one_scale_up({"merged": 30, "coverage95": 0.55})
    assert "30 larger cells" in sentence and "hold 55 %" in sentence and "--archive" in sentence


def test_learning_from_cells_alone_leaves_the_field_rougher_than_an_analytic_one() -> None:
    """Without the bound α goes to 2 here."""
    series = read(smooth_dataset(), replace(SPEC, covariates=()))
    result = downscale_series(series, DownscaleSettings(model="area_to_point_gp", restarts=1, device="cpu"))
    factors = [factor for term in result.spec.kernel.to_dict()["terms"] for factor in term["factors"]]
    (alpha,) = (factor["alpha"] for factor in factors if "alpha" in factor)
    assert alpha == pytest.approx(SMOOTHEST) and not any("bound" in each for each in result.warnings)
    inside = [np.abs(result.means[t] - series.fine(t)) <= 1.96 * result.sd(t) for t in range(len(series))]
    assert np.mean(inside) > 0.9
