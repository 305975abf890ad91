"""Slopes that vary from place to place: a coast whose truth is known, and every route to the posterior."""

import numpy as np
import pytest
import torch
import xarray as xr
from scipy.ndimage import gaussian_filter

from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.bag_sums.direct import cross, gram
from deconditioning.downscaling import learning
from deconditioning.downscaling.learning import learn_model
from deconditioning.downscaling.prediction import predict, predict_tiled
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import columns_of, completed, starting_spec
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.models.area_to_point import is_local_slopes

SIZE = 72


def coast(seed: int, around: float) -> DownscalingProblem:
    """Land is 4 K warmer than sea at its own pixel, and by ``around`` K through how much land there is within 12
    pixels: a slope between cells that is another one inside them.
    """
    draw = np.random.default_rng(seed)

    def smooth(reach: float) -> np.ndarray:
        field = gaussian_filter(draw.standard_normal((SIZE, SIZE)), reach, mode="nearest")
        return (field - field.mean()) / field.std()

    land = (smooth(7) + 0.4 * smooth(2.5) > 0).astype(float)
    height = land * np.maximum(0, 400 * np.exp(0.7 * smooth(3)) - 150) * gaussian_filter(land, 2)
    inland = gaussian_filter(land, 12)
    truth = 283 + 2 * smooth(20) + 4 * land - 6.5e-3 * height + around * (inland - inland.mean()) + 0.3 * smooth(1.2)
    dims = ("lat", "lon")
    place = {
        "lat": ("lat", 40 + 0.1 * np.arange(SIZE), {"units": "degrees_north"}),
        "lon": ("lon", 5 + 0.1 * np.arange(SIZE), {"units": "degrees_east"}),
    }
    fields = {"t2m": (dims, truth, {"units": "K"}), "orog": (dims, height, {"units": "m"}), "land": (dims, land)}
    spec = DownscalingSpec("t2m", ("orog", "land"), block=(6, 6), withhold=0.5, seed=seed)
    return make_problem(fields_from_dataset(xr.Dataset(fields, place)), spec)


def on_mixed_land(problem: DownscalingProblem, local_slopes: bool) -> tuple[np.ndarray, np.ndarray]:
    """Errors and their sds at land pixels of cells that also have sea."""
    learned, _ = learn_model(problem, completed(problem, DownscaleSettings(local_slopes=local_slopes)))
    result = predict(learned.spec, problem.data, problem)
    assert any(is_local_slopes(term) for term in learned.spec.kernel.terms) is local_slopes
    land = problem.on_grid(problem.inputs[:, problem.columns.index("land")]) > 0
    share = land.reshape(SIZE // 6, 6, SIZE // 6, 6).mean((1, 3)).repeat(6, 0).repeat(6, 1)
    chosen = land & (share < 1)
    assert problem.truth is not None
    return (problem.physical_mean(result.mean) - problem.truth)[chosen], problem.physical_sd(result.sd)[chosen]


def test_on_a_coast_of_known_truth_mixed_cells_are_unbiased_and_their_intervals_are_nearly_wide_enough(monkeypatch):
    monkeypatch.setattr(learning, "one_scale_up", lambda *_: None)  # nothing is asked of it here
    coasts = [coast(100, 5.0), coast(111, -5.0)]
    held = {}
    for local_slopes in (True, False):
        each = [on_mixed_land(problem, local_slopes) for problem in coasts]
        held[local_slopes] = np.mean([(np.abs(error) < 1.96 * sd).mean() for error, sd in each])
        if local_slopes:
            assert all(abs(error.mean()) < 0.1 for error, _ in each)
    assert held[True] > 0.88 and held[False] < held[True] - 0.04


@pytest.fixture(scope="module")
def problem() -> DownscalingProblem:
    return coast(7, 3.0)


def test_the_picture_and_its_tiles_have_one_posterior(problem):
    spec = starting_spec(problem, DownscaleSettings(local_slopes=True))
    assert is_local_slopes(spec.kernel.terms[3])
    whole = predict(spec, problem.data, problem)
    tiles = predict_tiled(spec, problem.data, problem, problem.inputs[::7])
    torch.testing.assert_close(whole.mean[::7], tiles.mean, rtol=0, atol=1e-8)
    torch.testing.assert_close(whole.sd[::7], tiles.sd, rtol=0, atol=1e-6)
    for settings in (DownscaleSettings(), DownscaleSettings("area_to_point_gp")):
        assert not any(is_local_slopes(term) for term in starting_spec(problem, settings).kernel.terms)


def test_sums_are_those_of_the_written_out_kernel(problem):
    """``K̄`` and c of the term from fused tiles, against the exponential and the products by numpy."""
    term = starting_spec(problem, DownscaleSettings(local_slopes=True)).kernel.terms[3]
    reach, lines = term.factors
    kernel = type(starting_spec(problem, DownscaleSettings(local_slopes=True)).kernel)((term,)).build(problem.columns)
    bags, at = problem.data.bags.subset(torch.arange(6)), problem.inputs[::97]
    place = [problem.columns.index(name) for name in columns_of(problem).place]
    rest = [problem.columns.index(name) for name in lines.columns]

    def written(left: torch.Tensor, right: torch.Tensor) -> np.ndarray:
        left, right = left.numpy(), right.numpy()
        away = np.linalg.norm(left[:, None, place] - right[None, :, place], axis=2)
        slopes = (left[:, rest] / np.array(lines.lengthscales) ** 2) @ right[:, rest].T
        return np.exp(-away / reach.lengthscales[0]) * slopes

    weights = np.zeros((6, len(bags.inputs)))
    weights[bags.bag.numpy(), np.arange(len(bags.inputs))] = bags.weights.numpy()
    with torch.no_grad():
        between, across = gram(kernel, sort_bags(bags)), cross(kernel, sort_bags(bags), at)
    np.testing.assert_allclose(between.numpy(), weights @ written(bags.inputs, bags.inputs) @ weights.T, atol=1e-9)
    np.testing.assert_allclose(across.numpy(), weights @ written(bags.inputs, at), atol=1e-9)
