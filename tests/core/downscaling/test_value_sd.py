"""The sd is that of a pixel's own value, √(var f + ς²), by every route that makes a picture or a file."""

import json
import math
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest
import torch
import xarray as xr

from deconditioning.bag_sums.cached_terms import SumsStore
from deconditioning.downscaling import interactive
from deconditioning.downscaling.checks.local_scale_inputs import local_scale_inputs
from deconditioning.downscaling.prediction import picture_of, predict, predict_tiled
from deconditioning.downscaling.run import downscale, export
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import starting_spec
from deconditioning.downscaling.stores.stored_model import condition_on_problem
from deconditioning.errors import InputError
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.kernels.tiles import evaluate
from deconditioning.models.conditioning import condition
from deconditioning.models.indirect_gp import Columns, posterior
from deconditioning.models.local_scale import ScalePrior, local_scale
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import Bags, IndirectData
from tests.core.fields.samples import fields, region

POINT = 0.3


@pytest.fixture(scope="module")
def problem() -> DownscalingProblem:
    return make_problem(fields(region(24, 24)), DownscalingSpec("t", ("orog",), block=(4, 4), withhold=0.3))


@pytest.fixture(scope="module")
def many() -> DownscalingProblem:
    """So many visible cells that κ may narrow intervals too."""
    return make_problem(fields(region(36, 36)), DownscalingSpec("t", ("orog",), block=(4, 4), withhold=0.2))


def model(problem: DownscalingProblem, name: str, point_noise: float) -> ModelSpec:
    settings = DownscaleSettings(model=name, learn=False, point_noise=point_noise, noise=0.1, inducing=20)
    return starting_spec(problem, settings)


def test_two_pixels_and_one_target_by_hand():
    """f(x₁) observed once with both noises: var y(x₂) = s − k²/(s + σ² + ς²) + ς²."""
    x = torch.tensor([[0.0], [0.7]], dtype=torch.float64)
    place = x[:1]
    data = IndirectData(Bags(place, torch.tensor([0]), 1), place, place, torch.tensor([0.4], dtype=torch.float64))
    spec = ModelSpec("bag_gp", KernelSpec((Term((Factor("rbf", ("a",), (1.0,)),), 2.0),)), noise=0.1, point_noise=POINT)
    k = 2.0 * math.exp(-0.5 * 0.7**2)
    expected = 2.0 - k**2 / (2.0 + 0.1 + POINT) + POINT
    found = spec.value_sd(posterior(spec, data, Columns(("a",))).variance(x[1:]))
    assert float(found) ** 2 == pytest.approx(expected, rel=1e-12)
    latent = replace(spec, point_noise=0.0).value_sd(torch.tensor([-1e-18, 4.0], dtype=torch.float64))
    assert latent.tolist() == [0.0, 2.0]  # as ς² goes to 0 it is the sd of f


def route_sds(problem: DownscalingProblem, spec: ModelSpec) -> dict[str, np.ndarray]:
    """(P,) sds of every route, standardised."""
    data, store, picture = problem.data, SumsStore(), picture_of(problem)
    look, settings = interactive.sketch(problem), DownscaleSettings(
        model=spec.model.name, learn=False, point_noise=spec.point_noise, noise=spec.noise, inducing=20,
        local_scale=spec.local_scale,
    )  # fmt: skip
    conditioned = condition_on_problem(problem, settings, ("m",), torch.device("cpu"))
    read = conditioned.read(problem.inputs)
    found = {
        "exact": predict(spec, data, problem).sd.numpy(),
        "page": interactive.exact(spec, data, problem, "key", store, picture).sd.numpy(),
        "preview": interactive.preview(spec, data, problem, "key", store, picture, look).sd().numpy(),
        "stored": read.predictive.sd / problem.target_scale.sd,
    }
    if spec.model.name in ("bag_gp", "shrinkage_cmp"):
        found["tiled"] = predict_tiled(spec, data, problem, problem.inputs).sd.numpy()
    return found


@pytest.mark.parametrize("name", ["bag_gp", "shrinkage_cmp", "centroid_gp", "variational_cmp"])
def test_every_route_adds_the_pixels_own_noise(problem, name):
    """Second route: the posterior of f read point by point."""
    from deconditioning.downscaling.starting import columns_of
    from deconditioning.models.named_posterior import named_posterior

    spec = model(problem, name, POINT)
    latent = named_posterior(spec, problem.data, columns_of(problem)).variance(problem.inputs).numpy()
    for route, sd in route_sds(problem, spec).items():
        assert np.abs(sd**2 - latent - POINT).max() < 1e-5, route
    none = model(problem, name, 0.0)
    found = predict(none, problem.data, problem)
    assert torch.equal(found.sd, found.sd_latent)


def test_every_route_takes_the_sd_times_the_same_local_scale(many):
    """κ once more from the residuals of a dense S, at the cells nearest to each pixel; the mean stays."""
    problem = many
    spec = replace(model(problem, "bag_gp", POINT), local_scale=True)
    plain, found = (predict(each, problem.data, problem) for each in (replace(spec, local_scale=False), spec))
    assert torch.equal(plain.mean, found.mean) and plain.scale is None
    assert float(found.scale.max() / found.scale.min()) > 1.1
    for route, sd in route_sds(problem, spec).items():
        assert np.abs(sd**2 - (found.scale * plain.sd_latent).numpy() ** 2 - POINT).max() < 1e-5, route
    where = local_scale_inputs(problem)
    s = found_s(problem, spec)
    inverse = np.linalg.inv(s)
    residual = inverse @ problem.data.targets.numpy() / np.sqrt(np.diag(inverse))
    own = where.of(problem.target_cell)
    identity = torch.eye(len(residual)).double()
    again = local_scale(
        condition(0 * identity, identity, identity, torch.as_tensor(residual)), ScalePrior(own, where.places)
    )
    assert again.at(where.near(problem.inputs)).numpy() == pytest.approx(found.scale.numpy(), rel=1e-6)


def found_s(problem: DownscalingProblem, spec: ModelSpec) -> np.ndarray:
    """S = K̄ + Σ written out over all pairs of pixels."""
    bags = problem.data.bags
    rows = torch.nn.functional.one_hot(bags.bag, bags.count).double().T * bags.weights
    covariance = evaluate(spec.kernel.build(problem.columns), bags.inputs, bags.inputs).detach()
    noise = spec.noise * torch.eye(bags.count).double() + spec.point_noise * torch.diag(bags.contamination)
    return (rows @ covariance @ rows.T + noise).numpy()


def test_cells_lie_where_their_pixels_do_and_are_as_rough(problem):
    where = local_scale_inputs(problem)
    cell = problem.cell.flat[problem.pixel]
    orog = problem.on_grid(problem.inputs[:, problem.columns.index("orog")])
    around = np.pad(orog, 1, mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(around, (3, 3)).reshape(*orog.shape, 9)
    rough = np.log(np.array([windows.var(-1).flat[problem.pixel][cell == c].mean() for c in range(36)]) + 1e-4)
    seen = rough[problem.target_cell]
    assert where.places.roughness.numpy() == pytest.approx((rough - seen.mean()) / seen.std(), abs=1e-8)
    places = problem.inputs[:, where.columns].numpy()
    means = np.stack([places[cell == c].mean(axis=0) for c in range(36)])
    assert where.places.position.numpy() * where.width == pytest.approx(means)
    steps = np.linalg.norm(np.diff(means.reshape(6, 6, 2), axis=1), axis=-1)
    assert 0.5 < steps.mean() / where.width < 2  # in cell widths


@pytest.mark.parametrize(
    ("changes", "settings", "said"),
    [
        ({"matching": "indirect"}, {"model": "bag_gp"}, "match the cells directly"),
        ({"coordinates": False}, {"model": "bag_gp"}, "match the cells directly"),
        ({}, {"model": "vbagg"}, "has no local scale"),
        ({}, {"model": "centroid_gp"}, "has no local scale"),
    ],
)
def test_where_there_is_no_local_scale_a_sentence_says_so(changes, settings, said):
    given = make_problem(fields(region(24, 24)), DownscalingSpec("t", ("orog",), block=(4, 4), withhold=0.3, **changes))
    with pytest.raises(InputError, match=said):
        starting_spec(given, DownscaleSettings(**settings, local_scale=True))


def test_the_default_has_it_and_files_hold_it(problem):
    found = downscale(problem, {"learn": False, "point_noise": POINT})
    assert found.spec.local_scale and found.settings.local_scale and np.isfinite(found.local_scale).all()
    with xr.open_dataset(BytesIO(export(problem, found)), engine="h5netcdf") as file:
        assert file["local_scale"].attrs["units"] == "1" and np.allclose(file["local_scale"], found.local_scale)
    assert downscale(problem, {"model": "bag_gp", "learn": False}).local_scale is None


def test_files_say_what_their_sd_is(problem):
    settings = {"model": "bag_gp", "learn": False, "noise": 0.1}
    noisy = downscale(problem, {**settings, "point_noise": POINT})
    plain = downscale(problem, {**settings, "point_noise": 0.0})
    with xr.open_dataset(BytesIO(export(problem, noisy)), engine="h5netcdf") as file:
        own = POINT * problem.target_scale.sd**2
        assert np.allclose(file["sd"] ** 2 - file["sd_latent"] ** 2, own, rtol=1e-8)
        assert "value of the pixel" in file["sd"].attrs["comment"] and "latent" in file["sd_latent"].attrs["long_name"]
        assert file["mean"].attrs["ancillary_variables"] == "sd sd_latent"
        assert json.loads(file.attrs["settings"])["model"]["point_noise"] == POINT
    with xr.open_dataset(BytesIO(export(problem, plain)), engine="h5netcdf") as file:
        assert "sd_latent" not in file and file["mean"].attrs["ancillary_variables"] == "sd"


def test_scores_are_of_the_values_sd(problem):
    found = downscale(problem, {"model": "bag_gp", "learn": False, "point_noise": POINT})
    there = np.isfinite(problem.truth) & np.isfinite(found.mean)
    inside = np.abs(found.mean - problem.truth)[there] <= 1.959963984540054 * found.sd[there]
    assert found.scores["bag_gp"]["coverage95"] == pytest.approx(inside.mean(), abs=1e-12)
