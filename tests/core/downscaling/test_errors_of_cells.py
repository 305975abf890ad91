"""Errors known for each cell: against dense algebra, in a file of cells or regions, and what they change."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import xarray as xr
from shapely import box

from deconditioning.downscaling.checks import patches
from deconditioning.downscaling.prediction import matched_data, predict
from deconditioning.downscaling.result_dataset import ResultDataset
from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import columns_of, starting_spec
from deconditioning.errors import InputError, never
from deconditioning.fields.footprints.region_files import Outlines, regions_of
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.two_files import make_problem_from_files
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.kernels.tiles import evaluate
from deconditioning.models.learning.objectives import exact_objective
from deconditioning.models.learning.trainable import Trainable
from tests.core.fields.samples import rectilinear

pytestmark = pytest.mark.usefixtures("short_chain")

SPEC = DownscalingSpec("t", ("orog",), withhold=0.0, error="t_sd")


def files(units: str = "K"):
    """Cells of a degree with exact means, and errors from 0.1 to 5 K that they contain; pixels of a quarter degree."""
    data = rectilinear(40.125 + 0.25 * np.arange(24), 5.125 + 0.25 * np.arange(32))
    plain = make_problem(fields_from_dataset(data), DownscalingSpec("t", ("orog",), block=(4, 4), withhold=0.0))
    rng = np.random.default_rng(5)
    error = rng.choice([0.1, 5.0], plain.coarse_shape)
    low = rectilinear(plain.coarse_grid.y, plain.coarse_grid.x).drop_vars(["orog", "q"])
    low.t.values[:] = plain.coarse_truth + error * rng.standard_normal(error.shape)
    low["t_sd"] = (low.t.dims, error, {"units": units})
    return fields_from_dataset(data), fields_from_dataset(low), error, data.t.values


def problem(**changes) -> DownscalingProblem:
    fine, low, *_ = files()
    return make_problem_from_files(fine, low, None, replace(SPEC, **changes))


def test_evidence_map_and_loss_are_those_of_dense_algebra() -> None:
    found = problem(region=(0, 2, 0, 4))
    spec = starting_spec(found, DownscaleSettings("area_to_point_gp", local_scale=False))
    data = matched_data(found, spec)
    error = files()[2].flat[[row * 8 + column for row in range(3) for column in range(5)]]
    assert torch.allclose(data.errors, torch.as_tensor((error / found.target_scale.sd) ** 2), atol=1e-12)
    average = torch.zeros(data.bags.count, len(found.inputs), dtype=torch.float64)
    average.index_put_((data.bags.bag, torch.as_tensor(found.bag_pixel)), data.bags.weights, accumulate=True)
    k = evaluate(spec.kernel.build(found.columns), found.inputs, found.inputs).detach()
    s = average @ k @ average.T + torch.diag(spec.noise + data.errors)
    across = k @ average.T
    prediction = predict(spec, data, found)
    assert torch.allclose(prediction.mean, across @ torch.linalg.solve(s, data.targets), atol=1e-8)
    variance = k.diagonal() - (across * torch.linalg.solve(s, across.T).T).sum(1)
    assert torch.allclose(prediction.sd.square(), variance, atol=1e-8)
    evidence = float(torch.distributions.MultivariateNormal(torch.zeros(len(s)).double(), s).log_prob(data.targets))
    assert prediction.evidence == pytest.approx(evidence, rel=1e-8)
    trainable = Trainable(spec, data, columns_of(found), hold=("noise",))
    assert -float(exact_objective(trainable, data, never)().detach()) * len(s) == pytest.approx(evidence, rel=1e-8)


def test_precise_cells_are_followed_and_others_hardly() -> None:
    fine, low, _, truth = files()
    with_errors, without = (
        downscale(make_problem_from_files(fine, low, None, replace(SPEC, error=name)), {"steps": 5, "restarts": 1})
        for name in ("t_sd", None)
    )
    rmse = [np.sqrt(np.nanmean((each.mean - truth) ** 2)) for each in (with_errors, without)]
    assert rmse[0] < 0.7 * rmse[1]
    assert with_errors.diagnostics["one_scale_up"]["cells"] > 8


def test_patches_of_many_cells_keep_the_errors_of_theirs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patches, "FROM", 40)
    monkeypatch.setattr(patches, "MOST", 40)
    monkeypatch.setattr(patches, "_SIDE", 2)
    found = problem()
    some = patches.some_cells(found)
    assert len(found.target_cell) == 48 and len(some.target_cell) == len(some.data.errors) == 40
    of = dict(zip(found.target_cell.tolist(), found.data.errors.tolist(), strict=True))
    assert some.data.errors.tolist() == [of[cell] for cell in some.target_cell.tolist()]


def test_draws_have_the_posteriors_sd() -> None:
    found = problem(region=(0, 3, 0, 4))
    spec = starting_spec(found, DownscaleSettings("area_to_point_gp", local_scale=False))
    prediction = predict(spec, matched_data(found, spec), found)
    mean, sd = found.physical_mean(prediction.mean), found.physical_sd(prediction.sd)
    draws = ResultDataset(found, spec, mean, sd, {}).drawing()(500, 1).fields
    assert np.nanmedian(draws.std(axis=0) / sd) == pytest.approx(1, abs=0.06)


def test_units_are_those_of_a_difference_and_odd_errors_are_refused() -> None:
    fine, *_ = files()
    celsius = make_problem_from_files(fine, files("degC")[1], None, SPEC)
    assert torch.allclose(celsius.data.errors, problem().data.errors)
    low = files()[1].dataset.assign(t_sd=lambda d: -d.t_sd)
    with pytest.raises(InputError, match="negative"):
        make_problem_from_files(fine, fields_from_dataset(low), None, SPEC)
    with pytest.raises(InputError, match="coarse file"):
        make_problem(fine, replace(SPEC, block=(4, 4)))
    found = problem()
    with pytest.raises(InputError, match="cannot use an error"):
        matched_data(found, starting_spec(found, DownscaleSettings("vbagg")))


def test_a_number_is_the_error_of_every_cell_and_region() -> None:
    fine, low, *_ = files()
    found = make_problem_from_files(fine, low, None, replace(SPEC, error="0.7"))
    assert torch.allclose(found.data.errors.sqrt(), torch.tensor(0.7 / found.target_scale.sd).double())
    outlines = Outlines(np.array([box(5, 40, 7, 42), box(7, 40, 9, 42)]), {"t": [1.0, 2.0], "3": [0.1, 0.2]}, "file")
    assert regions_of(outlines, "t", error="0.7").error.tolist() == [0.7, 0.7]
    assert regions_of(outlines, "t", error="3").error.tolist() == [0.1, 0.2]
    for wrong in ("-1", "0", "nan"):
        with pytest.raises(InputError, match="no standard deviation"):
            make_problem_from_files(fine, low, None, replace(SPEC, error=wrong))


def test_the_command_takes_errors(tmp_path: Path) -> None:
    from deconditioning.cli.program import main

    fine, low, _, truth = files()
    fine.dataset.drop_vars(["t", "q"]).to_netcdf(tmp_path / "fine.nc", engine="h5netcdf")
    low.dataset.to_netcdf(tmp_path / "low.nc", engine="h5netcdf")
    rmse = []
    for more in (["--error", "t_sd"], []):
        command = ["downscale", str(tmp_path / "fine.nc"), "--coarse", str(tmp_path / "low.nc"), "--target", "t",
                   "--covariates", "orog", "--no-learn", "--quiet", "--output", str(tmp_path / "o.nc")]  # fmt: skip
        assert main([*command, *more]) == 0
        with xr.open_dataset(tmp_path / "o.nc", engine="h5netcdf") as made:
            rmse.append(float(np.sqrt(np.nanmean((made["mean"].values - truth) ** 2))))
    assert rmse[0] < 0.7 * rmse[1]
