"""Orography that varies over water, and predictions beyond the cells that name the covariate."""

import re

import numpy as np
import pytest
import torch
import xarray as xr

from deconditioning.downscaling.checks.assumptions import Assumption, assumptions, refused
from deconditioning.downscaling.checks.over_water import over_water
from deconditioning.downscaling.prediction import predict
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import starting_spec
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec


def coast(
    ripple: float, names: tuple[str, str] = ("orog", "lsm"), percent: bool = False, sea: bool = False
) -> DownscalingProblem:
    """The western half is sea, over which the orography has waves of this height."""
    rng = np.random.default_rng(1)
    land = np.zeros((32, 32))
    land[:, 16:] = 1.0
    height = np.where(land > 0, 500 * rng.random(land.shape), ripple * np.sin(np.arange(32) * 1.3))
    mask = (100 if percent else 1) * ((1 - land) if sea else land)
    lines = {
        "lat": ("lat", 40 + 0.1 * np.arange(32), {"standard_name": "latitude", "units": "degrees_north"}),
        "lon": ("lon", 5 + 0.1 * np.arange(32), {"standard_name": "longitude", "units": "degrees_east"}),
    }
    data = {"t": 290 - height / 150 + rng.normal(size=land.shape) / 5, names[0]: height, names[1]: mask}
    units = {"t": "K", names[0]: "m", names[1]: "1"}
    made = xr.Dataset({name: (("lat", "lon"), values, {"units": units[name]}) for name, values in data.items()}, lines)
    return make_problem(fields_from_dataset(made), DownscalingSpec("t", names, block=(4, 4), withhold=0.3))


@pytest.mark.parametrize(
    "more",
    [{}, {"percent": True}, {"names": ("surface_altitude", "land_area_fraction")},
     {"names": ("elevation", "sea_area_fraction"), "sea": True}],
)  # fmt: skip
def test_waves_over_the_sea_are_said_with_their_range(more: dict) -> None:
    problem = coast(100.0, **more)
    found = over_water(problem)
    assert found is not None
    sentence, size = found
    name = problem.spec.covariates[0]
    values = problem.input_scaling.scales[problem.columns.index(name)].backward(
        problem.inputs[:, problem.columns.index(name)].numpy()
    )
    low, high = np.quantile(values[problem.pixel % 32 < 16], (0.05, 0.95))
    assert size == pytest.approx(high - low) and f"`{name}`" in sentence
    assert f"{low:.3g} to {high:.3g}".replace("-", "−") in sentence


def test_a_flat_sea_and_missing_masks_say_nothing() -> None:
    assert over_water(coast(0.0)) is None
    assert over_water(coast(3.0)) is None
    assert over_water(coast(100.0, names=("orog", "humidity"))) is None
    assert over_water(coast(100.0, names=("pressure", "lsm"))) is None


def checked_map(problem: DownscalingProblem, rise: float, sd: float) -> tuple[Assumption, ...]:
    spec = starting_spec(problem, DownscaleSettings("area_to_point_gp"))
    found = predict(spec, problem.data, problem)
    mean = np.clip(problem.physical_mean(found.mean), np.nanmin(problem.coarse), np.nanmax(problem.coarse))
    spot = np.unravel_index(problem.pixel[int(problem.inputs[:, problem.columns.index("orog")].argmax())], mean.shape)
    mean[spot] = float(np.nanmax(problem.coarse)) + rise
    return assumptions(problem, spec, problem.data, mean, np.full(mean.shape, sd))


def test_a_prediction_some_sds_beyond_the_cells_names_the_covariate() -> None:
    problem = coast(0.0)
    (found,) = [each for each in checked_map(problem, 0.5, 0.1) if each.name == "reach"]
    assert re.search(r"the farthest pixel is \d+ m above the mean of its cell in orog\.", found.sentence)
    assert found.holds
    (usual,) = [each for each in checked_map(problem, 0.5, 1.0) if each.name == "reach"]
    assert "of its cell" not in usual.sentence


def test_waves_become_a_warning() -> None:
    problem = coast(100.0)
    assert any("varies over water" in each for each in refused(checked_map(problem, 0.0, 1.0)))
    assert torch.isfinite(problem.inputs).all()
