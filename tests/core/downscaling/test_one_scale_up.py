"""One scale up: by dense matrices over pixels, on what may be seen alone, and what it says of nearer ways."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ttest_rel

from deconditioning.downscaling.checks.one_scale_up import moments, one_scale_up
from deconditioning.downscaling.checks.problem_one_scale_up import problem_one_scale_up
from deconditioning.downscaling.checks.scale_up_result import OneScaleUp
from deconditioning.downscaling.checks.sums_one_scale_up import cells_of
from deconditioning.downscaling.learning import learn_model
from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import columns_of, starting_spec
from deconditioning.errors import Cancelled, never
from deconditioning.fields.problem.baselines import bilinear, bilinear_of_joined
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.joined_cells import join, join_targets
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.kernels.tiles import evaluate
from deconditioning.models.indirect_gp import weights_and_noise
from tests.core.downscaling.test_run import Context
from tests.core.fields.samples import fields, plane, rectilinear, region, runaway

pytestmark = pytest.mark.usefixtures("short_chain")

ALL_POINTS = 16
QUICK = {"restarts": 1, "steps": 15, "points": ALL_POINTS}


def problem(data=None, **changes) -> DownscalingProblem:
    spec = {"block": (4, 4), "withhold": 0.3, "mediators": ()} | changes
    return make_problem(fields(runaway() if data is None else data), DownscalingSpec("t", ("orog",), **spec))


@pytest.fixture(scope="module")
def quick() -> OneScaleUp:
    """What the bag GP finds on the usual problem."""
    return one_scale_up(problem(), DownscaleSettings("bag_gp", **QUICK), never)


def dense(given: DownscalingProblem, spec, scene) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean and variance of every scored cell's measured value, and the cells, from the covariance of all pixels."""
    cell, area = given.cell.flat[given.pixel], given.grid.area.flat[given.pixel]
    nx = given.coarse_shape[1]
    square = (cell // nx // 2) * nx + cell % nx // 2

    def average(of: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        rows = np.stack([np.where(of == one, area, 0.0) for one in chosen])
        return rows / rows.sum(axis=1, keepdims=True)

    visible = np.isin(cell, given.target_cell)
    is_bag = visible if given.matched else np.isin(cell, given.bag_cell)
    taken = {one: len(np.unique(cell[is_bag & (square == one)])) for one in np.unique(square[is_bag])}
    larger = average(np.where(is_bag, square, -1), np.array([one for one, count in taken.items() if count >= 2]))
    seen = {one: len(np.unique(cell[visible & (square == one)])) for one in np.unique(square[visible])}
    scored = [c for c in given.target_cell if seen[(c // nx // 2) * nx + c % nx // 2] >= 2]
    own = average(cell, np.array(scored))
    covariance = evaluate(spec.kernel.build(given.columns), given.inputs, given.inputs).detach().numpy()
    weights, noise = (each.numpy() for each in weights_and_noise(spec, scene.data, columns_of(given)))
    s = weights.T @ larger @ covariance @ larger.T @ weights + noise
    cross = own @ covariance @ larger.T @ weights
    mean = cross @ np.linalg.solve(s, scene.data.targets.numpy())
    own_noise = spec.noise + spec.point_noise * np.square(own).sum(axis=1)
    variance = np.diag(own @ covariance @ own.T - cross @ np.linalg.solve(s, cross.T)) + own_noise
    return mean, variance, np.array(scored)


@pytest.mark.parametrize(
    ("model", "matching"), [("area_to_point_gp", "direct"), ("bag_gp", "direct"), ("shrinkage_cmp", "indirect")]
)
def test_it_is_the_posterior_of_cell_means_given_larger_cells(model, matching):
    given = problem(matching=matching, withhold=0.5 if matching == "indirect" else 0.3, block=(3, 3))
    settings = DownscaleSettings(model=model, points=ALL_POINTS, noise=0.02, point_noise=0.3, local_scale=False)
    spec, scene = starting_spec(given, settings), problem_one_scale_up(given, settings)
    found = [each.numpy() for each in moments(scene, spec, scene.data, given, cells_of(scene, spec, given, never))]
    mean, variance, cells = dense(given, spec, scene)
    assert np.array_equal(given.target_cell[scene.targets.item][scene.joined], cells) and len(cells) > 30
    assert found[0] == pytest.approx(mean, abs=1e-7) and found[1] == pytest.approx(variance, abs=1e-7)


def test_larger_cells_hold_their_visible_members_and_nothing_else():
    given = problem()
    joined, data = join_targets(given), problem_one_scale_up(given, DownscaleSettings(points=ALL_POINTS)).data
    cell, nx = given.target_cell[joined.item], given.coarse_shape[1]
    for group in range(joined.count):
        mine = cell[joined.group == group]
        assert len({(c // nx // 2, c % nx // 2) for c in mine}) == 1 and len(mine) >= 2
        area = given.coarse_grid.area.flat[mine]
        value = given.target_scale.forward(np.average(given.coarse.flat[mine], weights=area))
        assert float(data.targets[group]) == pytest.approx(value)
        pixels = np.isin(given.cell, mine)
        assert int((data.bags.bag == group).sum()) == int(pixels.sum())
        weights = given.grid.area[pixels] / given.grid.area[pixels].sum()
        assert float(data.bags.contamination[group]) == pytest.approx(float(np.square(weights).sum()))
    square = given.target_cell // nx // 2 * nx + given.target_cell % nx // 2
    alone = np.setdiff1d(given.target_cell, cell)
    assert len(alone) and all((square == c // nx // 2 * nx + c % nx // 2).sum() == 1 for c in alone)


def test_squares_with_less_than_half_of_their_places_are_left_out():
    joined = join(np.array([0, 1, 0, 5, 4, 4]), np.array([0, 1, 2, 5, 0, 1]), np.array([1.0, 3.0, 1.0, 1.0, 2.0, 2.0]))
    assert joined.item.tolist() == [0, 1, 4, 5] and joined.group.tolist() == [0, 0, 1, 1]
    assert joined.share == pytest.approx([0.25, 0.75, 0.5, 0.5]) and joined.square.tolist() == [[0, 0], [2, 0]]


def test_bilinear_one_scale_up_is_bilinear_of_a_problem_with_larger_cells():
    """Where nothing is hidden: the larger problem's own interpolation, read at the pixel in the middle of each cell."""
    given, larger = (problem(region(36, 48), block=(side, side), withhold=0.0) for side in (3, 6))
    joined = join_targets(given)
    found = bilinear_of_joined(given, joined, joined.mean(given.coarse.flat[given.target_cell]))
    assert joined.count == larger.coarse.size and found == pytest.approx(bilinear(larger)[1::3, 1::3].ravel())


def test_a_last_row_of_single_cells_is_interpolated_to():
    """Nine rows of cells make four and a half: on a plane every row but the first lies between centres."""
    given = problem(plane(), block=(4, 3), withhold=0.0)
    joined = join_targets(given)
    found = bilinear_of_joined(given, joined, joined.mean(given.coarse.flat[given.target_cell]))
    error = np.abs(found.reshape(given.coarse_shape) - given.coarse)
    assert given.coarse_shape == (9, 12) and error[1:, 1:-1].max() < 0.2 < error[0].min()


def test_a_plane_is_interpolated_exactly_inside_where_cells_are_hidden():
    given = problem(plane(), block=(3, 3), withhold=0.4)
    joined = join_targets(given)
    found = bilinear_of_joined(given, joined, joined.mean(given.coarse.flat[given.target_cell]))
    error = np.abs(found - given.coarse.flat[given.target_cell[joined.item]])
    assert np.median(error) < 0.02 and error.max() > 0.5  # the nearest larger cell stands in outside their hull


def test_cells_across_the_seam_of_a_globe_are_interpolated_across_it():
    globe = rectilinear(np.arange(-87.5, 90, 5), np.arange(2.5, 360, 5))
    given = problem(globe, withhold=0.2)
    joined = join_targets(given)
    means = joined.mean(given.coarse.flat[given.target_cell])
    found = bilinear_of_joined(given, joined, means)
    turned = replace(given.coarse_grid, wraps=False)
    apart = bilinear_of_joined(replace(given, coarse_grid=turned), joined, means)
    column = given.target_cell[joined.item] % given.coarse_shape[1]
    at_seam = (column == 0) | (column == given.coarse_shape[1] - 1)
    known = given.coarse.flat[given.target_cell[joined.item]]
    assert np.abs((found - known)[at_seam]).mean() < np.abs((apart - known)[at_seam]).mean()


def test_what_the_model_may_not_see_has_no_say(quick):
    given = problem()
    hidden = replace(given, truth=np.flipud(given.truth), coarse_truth=np.where(given.observed, given.coarse, 1e3))
    found = one_scale_up(hidden, DownscaleSettings("bag_gp", **QUICK), never)
    assert replace(found, cpu_s=0.0) == replace(quick, cpu_s=0.0)


def test_it_finds_what_helps_and_what_does_not():
    """A covariate that carries the field in a straight line, and one that has nothing to do with it."""
    usual, right = (
        one_scale_up(problem(), DownscaleSettings(m, **QUICK), never) for m in ("auto", "regression_kriging")
    )
    assert set(usual.weights) == {"area_to_point_gp", "regression_kriging"} and usual.weights[usual.model] > 0
    assert right.rmse[right.method] == pytest.approx(usual.rmse["regression_kriging"], rel=1e-6) and not right.weights
    assert usual.rmse[usual.method] < 0.5 * usual.rmse["bilinear"] and usual.claims["bilinear"] is True
    assert {usual.method, "constant", "bilinear", "start"} < set(usual.rmse)
    assert 0.7 < usual.within < 1.3 and sum(usual.pit) == pytest.approx(usual.cells)
    lost = one_scale_up(problem(), DownscaleSettings(model="shrinkage_cmp", **QUICK), never)
    assert lost.t["regression_kriging"] > 3
    assert (
        lost.better == "regression_kriging"
        and "area-to-point regression kriging predicts the known" in lost.sentences[0]
    )
    assert f"{lost.rmse[lost.better]:.3g} K and {lost.rmse['shrinkage_cmp']:.3g} K" in lost.sentences[0]


@pytest.mark.parametrize(("error", "warns"), [(0.0613, False), (0.0622, True)])
def test_another_way_must_be_nearer_by_more_than_two_per_cent_for_a_warning(error: float, warns: bool) -> None:
    rmse, apart = {"bag_gp": error, "constant": 0.1, "bilinear": 0.0609, "start": 0.07}, {"bilinear": 5.0}
    found = OneScaleUp("bag_gp", 20, 60, "K", 1.0, rmse, apart, 0.3, (0.5, 0.75, 1.0), (0.4,) * 10, 0.9, {})
    assert found.better == "bilinear" and found.beaten == warns == ("0.0609 K" in "".join(found.sentences))
    assert "(probability under 1 %)" in found.comparison
    sure = replace(found, t={"bilinear": -5.0})
    assert "yes (probability over 99 %)" in sure.comparison and sure.better is None


@pytest.mark.parametrize(
    ("t", "better"), [((1.6, -1), None), ((1.7, -1), "bilinear"), ((2.0, 9.0), "bilinear"), ((0.0, 1.7), "start")]
)
def test_another_way_has_to_be_nearer_by_more_than_chance(t, better):
    rmse = {"bag_gp": 1.0, "constant": 0.1, "start": 0.9, "bilinear": 0.8}
    apart = dict(zip(("bilinear", "start"), t, strict=True))
    found = OneScaleUp("bag_gp", 2, 4, "K", 1.0, rmse, apart, 0.3, (0.5, 0.75, 1.0), (0.4,) * 10, 0.9, {})
    assert found.better == better and len(found.sentences) == (2 if better == "start" else 1)
    assert ("cannot tell" in found.sentences[-1]) == (better != "bilinear")


def test_standard_errors_are_those_of_a_paired_t_test_over_larger_cells(quick):
    found = quick
    given, joined = problem(), join_targets(problem())
    known, own = (np.array(found.values[name]) for name in ("known", "mean"))
    other = bilinear_of_joined(given, joined, joined.mean(given.coarse.flat[given.target_cell]))
    area = given.coarse_grid.area.flat[given.target_cell[joined.item]]
    sums = [
        [np.sum((area * (value - known) ** 2)[joined.group == group]) for group in range(joined.count)]
        for value in (own, other)
    ]
    assert found.t["bilinear"] == pytest.approx(ttest_rel(*sums).statistic)
    assert found.rmse["bilinear"] == pytest.approx(np.sqrt(np.average((other - known) ** 2, weights=area)))


def test_it_goes_with_the_result_and_the_file():
    given = problem()
    found = downscale(given, {"model": "shrinkage_cmp", **QUICK, "points": 4})
    told = found.diagnostics["one_scale_up"]
    again = OneScaleUp.from_dict(json.loads(json.dumps(told)))
    assert again.to_dict() == told and again.cells == len(again.values["known"])
    if again.better:
        assert set(again.sentences) <= set(found.warnings)
    assert downscale(given, {"model": "shrinkage_cmp", "learn": False}).diagnostics["one_scale_up"] is None


@pytest.mark.parametrize(
    "damage", [{"held": [0.5]}, {"rmse": {}}, {"values": {"cell": [1]}}, {"pit": None}, {"rmse": 1}, {"cells": 3}]
)
def test_damaged_findings_are_none(damage, quick):
    with pytest.raises((TypeError, ValueError, KeyError, AttributeError)):
        OneScaleUp.from_dict({**quick.to_dict(), **damage})


@pytest.mark.parametrize("model", ["centroid_gp", "vbagg"])
def test_models_that_do_not_read_the_bags_are_not_checked(model):
    assert one_scale_up(problem(), DownscaleSettings(model=model, inducing=9, **QUICK), never) is None


def test_too_few_neighbours_are_not_checked():
    assert one_scale_up(problem(withhold=0.88), DownscaleSettings(**QUICK), never) is None


def test_a_cancelled_check_keeps_what_was_learned():
    given, settings = problem(), DownscaleSettings(model="bag_gp", **QUICK | {"steps": 3})

    class Impatient(Context):
        def report(self, **event):
            super().report(**event)
            self.over = getattr(self, "over", False) or event.get("message") == "Checking one scale up"

        def check(self):
            if getattr(self, "over", False):
                raise Cancelled("enough")

    whole, _ = learn_model(given, settings)
    learned, guard = learn_model(given, settings, Impatient())
    assert learned.cancelled and learned.spec == whole.spec and guard.one_scale_up is None
