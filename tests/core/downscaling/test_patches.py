"""Learning from some of many cells: which they are, that nothing else is looked at, that the map takes all of them."""

import numpy as np
import pytest
import torch

from deconditioning.downscaling.checks import patches
from deconditioning.downscaling.checks.one_scale_up import one_scale_up
from deconditioning.downscaling.checks.patches import some_cells
from deconditioning.downscaling.duration import about_seconds
from deconditioning.downscaling.prediction import picture_of
from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.warping.physical_map import warped
from deconditioning.errors import never
from deconditioning.fields.grids.blocks import reaggregate
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.warp import Warp
from deconditioning.fields.spec import DownscalingSpec
from tests.core.fields.samples import fields, region

QUICK = DownscaleSettings("regression_kriging", steps=12, centroid_gp=True)


@pytest.fixture(scope="module")
def problem() -> DownscalingProblem:
    """20 × 20 cells of 2 × 2 pixels, a tenth of them hidden."""
    return make_problem(fields(region(40, 40)), DownscalingSpec("t", ("orog",), block=(2, 2), withhold=0.1))


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(patches, "FROM", 200)
    monkeypatch.setattr(patches, "MOST", 140)
    return 140


def test_few_cells_and_mediated_ones_are_left_alone(problem: DownscalingProblem, few: int) -> None:
    assert len(problem.data.targets) > few
    small = make_problem(fields(region(24, 24)), DownscalingSpec("t", ("orog",), block=(2, 2)))
    through = make_problem(
        fields(region(48, 48)), DownscalingSpec("t", ("orog",), ("orog",), block=(2, 2), withhold=0.5)
    )
    assert some_cells(small) is small and some_cells(through) is through


def test_they_are_whole_patches_with_their_own_pixels(problem: DownscalingProblem, few: int) -> None:
    some = some_cells(problem, seed=3)
    assert few / 2 < len(some.data.targets) <= few
    place = {cell: i for i, cell in enumerate(problem.target_cell)}
    chosen = [place[cell] for cell in some.target_cell]
    assert torch.equal(some.data.targets, problem.data.targets[chosen])
    means, whole = (each.data.bags.mean(each.data.bags.inputs) for each in (some, problem))
    assert torch.allclose(means, whole[chosen])
    assert torch.equal(some.inputs[torch.as_tensor(some.bag_pixel)], some.data.bags.inputs)
    assert picture_of(some).bags.count == len(chosen)
    assert some.observed.sum() == len(chosen) and np.isnan(some.coarse[~some.observed]).all()
    row, column = np.divmod(np.flatnonzero(problem.observed), problem.coarse_shape[1])
    inside = {(r // 8, c // 8) for r, c in zip(*np.divmod(some.target_cell, problem.coarse_shape[1]), strict=True)}
    there = sum((r // 8, c // 8) in inside for r, c in zip(row, column, strict=True))
    assert there == len(chosen), "a patch is taken whole"
    assert not np.array_equal(some_cells(problem, seed=4).target_cell, some.target_cell)


def test_a_warped_problem_keeps_its_warp_and_what_it_was_before(problem: DownscalingProblem, few: int) -> None:
    some = some_cells(warped(problem, Warp("box-cox")))
    assert some.warp is not None and np.array_equal(some.plain.target_cell, some.target_cell)
    assert len(some.plain.data.targets) == len(some.data.targets) and some.plain.warp is None


def test_the_test_one_scale_up_and_learning_look_at_no_other_cell(problem: DownscalingProblem, few: int) -> None:
    some = some_cells(problem, QUICK.seed)
    checked = one_scale_up(problem, QUICK, never)
    assert checked is not None and set(checked.values["cell"]) <= set(some.target_cell)
    assert max(checked.values["known"]) < 1e3


def test_the_map_takes_all_cells(problem: DownscalingProblem, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    result = downscale(problem, QUICK)
    spread, seen = float(np.nanstd(problem.coarse)), problem.observed
    assert np.abs(reaggregate(problem, result.mean) - problem.coarse)[seen].max() < 0.05 * spread
    short = about_seconds(problem, QUICK)
    monkeypatch.setattr(patches, "FROM", 10_000)
    whole = downscale(problem, QUICK)
    names = ("rmse", "crps")
    for method in ("regression_kriging", "centroid_gp"):
        ours, theirs = (each.scores[method] for each in (result, whole))
        assert all(ours[name] < 1.1 * theirs[name] for name in names) and ours != theirs
    assert result.seconds["cpu"] < whole.seconds["cpu"] and short < about_seconds(problem, QUICK)
