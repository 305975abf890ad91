"""Cells with errors of their own and a warp of the target: against dense algebra, in limits, in draws and in files."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
import xarray as xr

from deconditioning.bag_sums.cached_terms import SumsStore
from deconditioning.downscaling.checks.one_scale_up import one_scale_up
from deconditioning.downscaling.checks.problem_one_scale_up import problem_one_scale_up
from deconditioning.downscaling.interactive import exact, picture_or_none, preview, sketch
from deconditioning.downscaling.prediction import Prediction, matched_data, predict
from deconditioning.downscaling.result_dataset import ResultDataset
from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import spec_to_settings, starting_spec
from deconditioning.downscaling.stores.stored_model import condition_on_problem
from deconditioning.downscaling.warping.cell_values import cell_values_of_draws
from deconditioning.downscaling.warping.physical_map import physical_map, warped
from deconditioning.errors import never
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.grids.blocks import reaggregate
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.two_files import make_problem_from_files
from deconditioning.fields.problem.warp import Warp
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.kernels.tiles import evaluate
from tests.core.downscaling.test_errors_of_cells import problem as temperatures
from tests.core.downscaling.test_warp_choice import gaussian_field
from tests.core.fields.samples import rectilinear

pytestmark = pytest.mark.usefixtures("short_chain")

LOG = Warp("box-cox", 0.0, 0.0, 0.0)
SPEC = DownscalingSpec("pr", ("orog",), withhold=0.0, error="pr_sd")
MODEL = DownscaleSettings("area_to_point_gp", local_scale=False, learn=False)


@cache
def files() -> tuple[xr.Dataset, xr.Dataset]:
    """A log-normal field, and its means over cells of a degree with errors of 2 % or 30 % that they contain."""
    data = rectilinear(40.125 + 0.25 * np.arange(40), 5.125 + 0.25 * np.arange(48))
    about = {"units": "mm", "standard_name": "precipitation_amount", "long_name": "rain"}
    data["pr"] = (data.t.dims, 3 * np.exp(gaussian_field(2)[:40, :48]), about)
    plain = make_problem(fields_from_dataset(data), DownscalingSpec("pr", ("orog",), block=(4, 4), withhold=0.0))
    rng = np.random.default_rng(2)
    error = rng.choice([0.02, 0.3], plain.coarse_shape) * plain.coarse_truth
    low = rectilinear(plain.coarse_grid.y, plain.coarse_grid.x).drop_vars(["orog", "q"])
    low["pr"] = (low.t.dims, np.maximum(plain.coarse_truth + error * rng.standard_normal(error.shape), 0.02), about)
    low["pr_sd"] = (low.t.dims, error, {"units": "mm"})
    return data, low.drop_vars("t")


def problem(factor: float = 1.0, **changes) -> DownscalingProblem:
    """The problem, with all errors times a ``factor``."""
    fine, low = files()
    low = low.assign(pr_sd=(factor * low.pr_sd).assign_attrs(low.pr_sd.attrs))
    return make_problem_from_files(fields_from_dataset(fine), fields_from_dataset(low), None, replace(SPEC, **changes))


def predicted(found: DownscalingProblem, noise: float = 0.01, point_noise: float = 0.0) -> Prediction:
    spec = replace(starting_spec(found, MODEL), noise=noise, point_noise=point_noise)
    return predict(spec, matched_data(found, spec), found)


def dense_values(found: DownscalingProblem, noise: float, point_noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of g(z) less its error, from the joint Gaussian of targets and errors, in units of g."""
    spec, data = starting_spec(found, MODEL), found.data
    average = torch.zeros(data.bags.count, len(found.inputs), dtype=torch.float64)
    average.index_put_((data.bags.bag, torch.as_tensor(found.bag_pixel)), data.bags.weights, accumulate=True)
    k = evaluate(spec.kernel.build(found.columns), found.inputs, found.inputs).detach()
    values = found.coarse.flat[found.target_cell]
    sd = np.log(values).std()
    low = files()[1]
    at = (
        [low.lat.values.tolist().index(y) for y in found.coarse_grid.y],
        [low.lon.values.tolist().index(x) for x in found.coarse_grid.x],
    )
    error = torch.as_tensor((low.pr_sd.values[np.ix_(*at)].ravel()[found.target_cell] / values / sd) ** 2)
    u = average @ k @ average.T + noise * torch.eye(len(error)) + point_noise * average.square().sum(1).diag()
    s = u + error.diag()
    targets = torch.as_tensor((np.log(values) - np.log(values).mean()) / sd)
    mean, covariance = u @ torch.linalg.solve(s, targets), u - u @ torch.linalg.solve(s, u)
    return np.log(values).mean() + sd * mean.numpy(), sd**2 * covariance.numpy()


@pytest.mark.parametrize("point_noise", [0.0, 0.05])
def test_cells_have_the_mean_of_their_values_less_errors(point_noise: float) -> None:
    found = warped(problem(region=(0, 2, 0, 4)), LOG)
    prediction = predicted(found, 0.01, point_noise)
    mean, covariance = dense_values(found, 0.01, point_noise)
    scale = found.target_scale
    ((_, u, sd),) = prediction.cells
    np.testing.assert_allclose(scale.backward(u.numpy()), mean, atol=1e-8)
    np.testing.assert_allclose(scale.sd**2 * sd.numpy() ** 2, covariance.diagonal(), atol=1e-8)
    back = reaggregate(found, physical_map(found, prediction.parts, prediction.cells).mean)
    log_normal = np.exp(mean + covariance.diagonal() / 2)
    np.testing.assert_allclose(back.ravel()[found.target_cell], log_normal, rtol=1e-7)
    off = np.abs(log_normal / found.coarse.flat[found.target_cell] - 1)
    assert off.max() > 0.05  # the map does not have the cells' own values


def test_small_errors_give_the_map_without_any() -> None:
    found, usual = warped(problem(1e-7), LOG), warped(problem(error=None), LOG)
    maps = [physical_map(each, p.parts, p.cells) for each in (found, usual) for p in [predicted(each)]]
    np.testing.assert_allclose(maps[0].mean, maps[1].mean, rtol=1e-8)
    np.testing.assert_allclose(maps[0].sd, maps[1].sd, rtol=1e-8)


def test_a_straight_line_gives_the_map_without_a_warp() -> None:
    """λ = 1 without σ² and ς²: the value less its error is the mean of f over the cell, so that nothing is shifted."""
    plain = temperatures()  # far from zero, where the line ends
    found = warped(plain, Warp("box-cox", 1.0, 0.0, -np.inf))
    ours, usual = predicted(found, 1e-10), predicted(plain, 1e-10)
    shown, expected = physical_map(found, ours.parts, ours.cells), physical_map(plain, usual.parts)
    np.testing.assert_allclose(shown.mean, expected.mean, atol=1e-7 * np.std(plain.coarse))
    np.testing.assert_allclose(shown.sd, expected.sd, rtol=1e-7)


def test_a_map_without_what_is_known_of_its_cells_is_an_error() -> None:
    found = warped(problem(), LOG)
    with pytest.raises(ValueError, match="have errors"):
        physical_map(found, predicted(found).parts)


def test_values_in_draws_are_those_of_the_posterior() -> None:
    """f drawn from its dense posterior, then u given f: their mean and covariance are those of u itself."""
    found, noise, point_noise = warped(problem(region=(0, 2, 0, 4)), LOG), 0.05, 0.05
    spec, data = replace(starting_spec(found, MODEL), noise=noise, point_noise=point_noise), found.data
    average = torch.zeros(data.bags.count, len(found.inputs), dtype=torch.float64)
    average.index_put_((data.bags.bag, torch.as_tensor(found.bag_pixel)), data.bags.weights, accumulate=True)
    k = evaluate(spec.kernel.build(found.columns), found.inputs, found.inputs).detach()
    across = k @ average.T
    s = average @ across + (noise + data.errors + point_noise * average.square().sum(1)).diag()
    covariance = k - across @ torch.linalg.solve(s, across.T) + 1e-9 * torch.eye(len(k))
    random = torch.randn(len(k), 6000, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    draws = (across @ torch.linalg.solve(s, data.targets))[:, None] + torch.linalg.cholesky(covariance) @ random
    parts = cell_values_of_draws(spec, found, list(draws.T), torch.arange(len(k)), 0)
    values = found.target_scale.backward(torch.stack([each[0][1] for each in parts]).numpy())
    mean, expected = dense_values(found, noise, point_noise)
    unit = expected.diagonal() ** 0.5
    np.testing.assert_allclose((values.mean(axis=0) - mean) / unit, 0, atol=0.06)
    np.testing.assert_allclose(np.cov(values.T) / np.outer(unit, unit), expected / np.outer(unit, unit), atol=0.08)


def test_draws_average_to_the_map_and_stay_positive() -> None:
    found = warped(problem(region=(0, 3, 0, 4)), LOG)
    spec = replace(starting_spec(found, MODEL), noise=0.02)
    prediction = predict(spec, matched_data(found, spec), found)
    predictive = physical_map(found, prediction.parts, prediction.cells)
    fields = ResultDataset(found, spec, predictive, {}).drawing()(400, 1).fields
    assert fields.min() > 0
    cells = np.stack([reaggregate(found, each) for each in fields])
    standard_error = cells.std(axis=0) / len(cells) ** 0.5
    assert np.abs((cells.mean(axis=0) - reaggregate(found, predictive.mean)) / standard_error).max() < 4.5
    relative = (cells.std(axis=0) / cells.mean(axis=0)).ravel()
    precise = found.data.errors.sqrt().numpy() * found.target_scale.sd < 0.1
    assert relative[precise].max() < 0.03 and relative[~precise].min() > 0.06


def test_pages_and_stores_have_the_same_map() -> None:
    found = warped(problem(), LOG)
    spec = replace(starting_spec(found, MODEL), noise=0.02)
    data = matched_data(found, spec)
    direct = predict(spec, data, found)
    expected = physical_map(found, direct.parts, direct.cells).mean
    picture = picture_or_none(found, spec)
    shown = exact(spec, data, found, "", SumsStore(), picture)
    np.testing.assert_allclose(physical_map(found, shown.parts, shown.cells).mean, expected, rtol=1e-9)
    quick = preview(spec, data, found, "", SumsStore(), picture, sketch(found, every_pixel=True))
    parts = [(1.0, quick.mean, quick.sd())]
    np.testing.assert_allclose(physical_map(found, parts, quick.cells).mean, expected, rtol=1e-4)
    settings = spec_to_settings(MODEL.replace(warp=LOG.to_dict()), spec)
    stored = condition_on_problem(problem(), settings, ("m",), torch.device("cpu"))
    shift = stored.shift(slice(None), slice(None), np.ones(found.grid.shape, bool))
    of_store = stored.read(found.inputs, shift=shift).predictive.mean
    np.testing.assert_allclose(of_store, expected.ravel()[found.pixel], rtol=1e-7)


def test_a_warp_is_chosen_and_precise_cells_are_followed() -> None:
    truth = files()[0].pr.values
    settings = DownscaleSettings("area_to_point_gp", steps=20, restarts=1)
    rmse, chosen = {}, {}
    for name in ("pr_sd", None):
        for warp in ("auto", "none"):
            found = downscale(problem(error=name), settings.replace(warp=warp))
            rmse[name, warp] = float(np.sqrt(np.nanmean((found.mean - truth) ** 2)))
            chosen[name, warp] = found.diagnostics["warp"]
            assert name is None or warp == "none" or found.mean.min() > 0
    assert chosen["pr_sd", "auto"] is not None
    assert rmse["pr_sd", "auto"] < min(rmse[None, "auto"], rmse["pr_sd", "none"])


def test_one_scale_up_frees_the_merged_cells_of_their_errors() -> None:
    """With hardly any errors the test is that of cells without; errors are those of means, and of what is predicted."""
    settings = DownscaleSettings("area_to_point_gp", steps=3, restarts=1)
    tiny, none = (one_scale_up(warped(each, LOG), settings, never) for each in (problem(1e-7), problem(error=None)))
    assert tiny.crps == pytest.approx(none.crps, rel=1e-6)
    plain = problem()
    found = warped(plain, LOG)
    scene = problem_one_scale_up(found, settings)
    joined, sd = scene.targets, plain.target_scale.sd * plain.data.errors.sqrt().numpy()
    values, group = found.coarse.flat[found.target_cell], joined.group
    share = np.zeros((len(values), joined.count))
    share[joined.item, group] = joined.share
    expected = ((share**2).T @ sd**2) / (share.T @ values) ** 2 / found.target_scale.sd**2
    np.testing.assert_allclose(scene.data.errors, expected, rtol=1e-9)
    mean = np.linspace(-1, 1, len(scene.joined))
    predicted = np.exp(found.target_scale.backward(mean))
    of_scored = (sd[joined.item[scene.joined]] / predicted / found.target_scale.sd) ** 2
    np.testing.assert_allclose(scene.errors(found, mean), of_scored, rtol=1e-9)


@pytest.mark.parametrize("warp", ["auto", "box-cox", "log"])
def test_the_command_takes_errors_and_a_warp(tmp_path: Path, warp: str) -> None:
    from deconditioning.cli.program import main

    fine, low = files()
    fine.drop_vars(["t", "q", "pr"]).to_netcdf(tmp_path / "fine.nc", engine="h5netcdf")
    low.to_netcdf(tmp_path / "low.nc", engine="h5netcdf")
    command = ["downscale", str(tmp_path / "fine.nc"), "--coarse", str(tmp_path / "low.nc"), "--target", "pr",
               "--covariates", "orog", "--error", "pr_sd", "--warp", warp, "--steps", "3", "--quiet",
               "--output", str(tmp_path / "o.nc")]  # fmt: skip
    assert main(command) == 0
    with xr.open_dataset(tmp_path / "o.nc", engine="h5netcdf") as made:
        assert float(made["mean"].min()) > 0
