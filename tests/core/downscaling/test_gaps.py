"""Clouds: a coarse value that was averaged over some pixels of its cell is conditioned on as the mean of these."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.downscaling.prediction import matched_data, predict
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import starting_spec
from deconditioning.downscaling.warping.physical_map import in_warp_units, physical_map, shifts, warped
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.grids.blocks import reaggregate
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.two_files import make_problem_from_files
from deconditioning.fields.problem.warp import Warp
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.kernels.tiles import evaluate
from tests.core.fields.samples import rectilinear

SPEC = DownscalingSpec("t", ("orog",), block=(4, 4), withhold=0.1)


@pytest.fixture(scope="module")
def fields() -> tuple[DownscalingProblem, np.ndarray]:
    """The problem of a field that follows a rough terrain, without most of its high pixels, and the field itself."""
    data, rng = rectilinear(40 + 0.25 * np.arange(16), 5 + 0.25 * np.arange(20)), np.random.default_rng(0)
    height = 1000 + 400 * rng.normal(size=(16, 20))
    data["orog"].values[:] = height
    data["t"].values[:] = truth = 290 - 0.0065 * height
    data["t"].values[(height > 1000) & (rng.random(height.shape) < 0.6)] = np.nan
    return make_problem(fields_from_dataset(data), SPEC), truth


def test_a_map_below_clouds_is_that_of_means_over_the_pixels_that_were_seen(fields) -> None:
    """Dense algebra with the averages written out by hand; the field is recovered, also where it was not seen."""
    problem, truth = fields
    spec = starting_spec(problem, DownscaleSettings("area_to_point_gp", local_scale=False))
    area = np.where(np.isfinite(problem.truth), np.cos(np.radians(problem.grid.latitude)), 0.0).ravel()
    index = (np.arange(16) // 4)[:, None] * 5 + np.arange(20) // 4
    average = (problem.target_cell[:, None] == index.ravel()) * area
    average /= average.sum(1, keepdims=True)
    k = evaluate(spec.kernel.build(problem.columns), problem.inputs, problem.inputs).detach().numpy()
    s = average @ k @ average.T + spec.noise * np.eye(len(average))
    targets = problem.standardised(average @ np.nan_to_num(problem.truth).ravel())
    mean = k @ average.T @ np.linalg.solve(s, targets)
    variance = np.diag(k) - np.einsum("pm,mp->p", k @ average.T, np.linalg.solve(s, average @ k))
    found = predict(spec, matched_data(problem, spec), problem)
    np.testing.assert_allclose(found.mean, mean, atol=1e-4)  # areas are differences of sines
    np.testing.assert_allclose(found.sd_latent.square(), variance, atol=1e-4)
    assert np.sqrt(np.mean((problem.physical_mean(found.mean) - truth) ** 2)) < 0.05 * truth.std()


def _coast() -> tuple[DownscalingProblem, np.ndarray]:
    """Cells matched through mean heights, which land follows; the sea has height 0 and no target. And the field."""
    data, rng = rectilinear(40 + 0.25 * np.arange(40), 5 + 0.25 * np.arange(48)), np.random.default_rng(3)
    sea = np.kron(rng.random((20, 24)) < 0.3, np.ones((2, 2))) > 0
    height = np.where(sea, 0.0, 800 + 300 * rng.normal(size=sea.shape))
    data["orog"].values[:], data["t"].values[:] = height, np.where(sea, np.nan, 290 - 0.0065 * height)
    data["q"].values[:] = rng.normal(size=sea.shape)
    data["q"].values[rng.random(sea.shape) < 0.1] = np.nan  # bags have gaps too
    spec = DownscalingSpec("t", ("orog", "q"), ("orog",), block=(4, 4), withhold=0.5)
    return make_problem(fields_from_dataset(data), spec), np.where(sea, np.nan, 290 - 0.0065 * height)


def test_mediators_of_coasts_are_means_over_the_pixels_of_their_cell_s_mean() -> None:
    """The mediator is a covariate: in bags and footprints its mean over their own pixels, but for one scale."""
    problem, truth = _coast()
    height, data = problem.inputs[:, problem.columns.index("orog")], problem.data
    inside = data.bags.mean(height[torch.as_tensor(problem.bag_pixel)])
    heights = (290 - np.nan_to_num(truth, nan=290)) / 0.0065
    area = np.where(np.isfinite(truth), np.cos(np.radians(problem.grid.latitude)), 0.0).ravel()
    mass, total = (np.bincount(problem.cell.ravel(), area * v, problem.observed.size) for v in (heights.ravel(), 1))
    scale = problem.input_scaling.scales[problem.columns.index("orog")]
    over_land = scale.forward((mass / total)[problem.target_cell])
    means = np.concatenate([inside.numpy(), over_land])
    mediators = torch.cat([data.mediators, data.query_mediators])[:, problem.mediator_columns.index("orog")].numpy()
    slope, level = np.polyfit(means, mediators, 1)
    np.testing.assert_allclose(mediators, level + slope * means, atol=1e-4)  # areas are differences of sines


def test_mediators_of_bags_from_another_file_are_means_over_the_pixels_with_covariates() -> None:
    fine, rng = rectilinear(40 + 0.25 * np.arange(40), 5 + 0.25 * np.arange(48)), np.random.default_rng(5)
    fine["orog"].values[:] = 500 + 300 * rng.normal(size=(40, 48))
    fine["q"].values[rng.random((40, 48)) < 0.3] = np.nan
    coarse = fine.drop_vars("q").coarsen(lat=4, lon=4).mean()
    spec = DownscalingSpec("t", ("orog", "q"), ("orog",), block=(4, 4), matching="indirect")
    fields = fields_from_dataset(fine.drop_vars("t")), fields_from_dataset(coarse)
    problem = make_problem_from_files(fields[0], fields[1], None, spec)
    height = problem.inputs[:, problem.columns.index("orog")]
    inside = problem.data.bags.mean(height[torch.as_tensor(problem.bag_pixel)]).numpy()
    mediators = problem.data.mediators[:, problem.mediator_columns.index("orog")].numpy()
    slope, level = np.polyfit(inside, mediators, 1)
    np.testing.assert_allclose(mediators, level + slope * inside, atol=1e-4)


def test_the_slope_of_a_field_that_ends_at_coasts_is_found_through_mediators() -> None:
    problem, truth = _coast()
    spec = starting_spec(problem, DownscaleSettings("area_to_point_gp", local_scale=False))
    found = problem.physical_mean(predict(spec, matched_data(problem, spec), problem).mean)
    assert np.sqrt(np.nanmean((found - truth) ** 2)) < 0.05 * np.nanstd(truth)


def test_warped_cells_are_honoured_where_they_were_seen_and_move_as_wholes(fields) -> None:
    problem = warped(fields[0], Warp("box-cox"))
    spec = starting_spec(problem, DownscaleSettings("area_to_point_gp", local_scale=False))
    found = predict(replace(spec, noise=1e-6), matched_data(problem, spec), problem)
    back = reaggregate(problem, physical_map(problem, found.parts).mean)
    np.testing.assert_allclose(back[problem.observed], problem.coarse[problem.observed], rtol=1e-9)
    moved = shifts(problem, in_warp_units(problem, [(1.0, found.mean + 0.5, torch.full_like(found.sd, 0.3))]))
    for cell in problem.target_cell:
        assert np.ptp(moved[problem.cell == cell]) == 0 and moved[problem.cell == cell][0] < 0
