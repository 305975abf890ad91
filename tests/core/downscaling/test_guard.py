"""The default must not hurt: what is kept after learning, what is said, and how it does on real fields."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from deconditioning.downscaling.checks.learning_check import bilinear_error
from deconditioning.downscaling.learning import learn_model
from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.downscaling.starting import completed, starting_spec
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.spec import DownscalingSpec
from tests.core.fields.samples import fields, plane, runaway

#: A model and little learning of it, which runs away on the fields below.
QUICK = {"model": "shrinkage_cmp", "restarts": 1, "steps": 20, "points": 4}


def problem(data: xr.Dataset, **changes) -> DownscalingProblem:
    return make_problem(fields(data), DownscalingSpec("t", ("orog",), **{"block": (4, 4), "withhold": 0.5} | changes))


@pytest.fixture(scope="module")
def lost() -> tuple:
    """What a learning that ran away comes to."""
    given = problem(runaway())
    return given, downscale(given, QUICK)


def test_the_start_is_kept_where_learning_made_the_left_out_cells_worse(lost):
    given, found = lost
    told = found.diagnostics["leave_one_out"]
    assert told["kept"] == "start" and told["learned"] > 1.5 * told["start"]
    start = starting_spec(given, DownscaleSettings.from_dict(QUICK))
    assert (found.spec.kernel, found.spec.mediator_kernel) == (start.kernel, start.mediator_kernel)
    assert (found.spec.regularisation, found.settings.noise) == (start.regularisation, start.noise)
    (sentence,) = [warning for warning in found.warnings if "Learning made the model worse" in warning]
    assert f"{told['learned']:.3g} K with the learned" in sentence and f"{told['start']:.3g} K" in sentence
    assert told["cells"] == int(given.observed.sum()) and told["units"] == "K"


def test_what_the_model_may_not_see_has_no_say(lost):
    """Another truth, and other values in the withheld cells: the same choice and the same numbers."""
    given, found = lost
    hidden = replace(given, truth=np.flipud(given.truth), coarse_truth=np.where(given.observed, given.coarse, 1e3))
    learned, guard = learn_model(hidden, DownscaleSettings.from_dict(QUICK))
    told = found.diagnostics["leave_one_out"]
    assert (guard.start, guard.learned, guard.kept) == (told["start"], told["learned"], told["kept"])
    assert bilinear_error(hidden) == told["bilinear"] and learned.spec == found.spec


def test_learning_that_helps_is_kept_in_silence():
    given = problem(runaway())
    found = downscale(given, {**QUICK, "model": "bag_gp"})
    told = found.diagnostics["leave_one_out"]
    assert told["kept"] == "learned" and told["learned"] < told["start"] and told["model"] < told["bilinear"]
    assert not [warning for warning in found.warnings if "leaving out" in warning]


def test_it_is_said_where_bilinear_interpolation_is_the_better_guess():
    found = downscale(problem(plane()), {"learn": False})
    told = found.diagnostics["leave_one_out"]
    assert told["bilinear"] < told["model"] and told["kept"] is None
    assert any(warning.startswith("Bilinear interpolation predicts better") for warning in found.warnings)


def test_pseudo_targets_are_no_measurements_to_be_left_out():
    found = downscale(problem(runaway(), matching="indirect"), {**QUICK, "model": "bag_gp", "steps": 5})
    told = found.diagnostics["leave_one_out"]
    assert told["model"] is None and told["kept"] is None and told["bilinear"] > 0


def test_the_default_suits_the_matching():
    matched, other = problem(runaway()), problem(runaway(), matching="indirect")
    usual = completed(matched, DownscaleSettings())
    assert (usual.model, usual.noise, usual.point_noise) == ("area_to_point_gp", 1e-6, 0.0)
    assert usual.hold == ("noise", "point_noise") and (usual.every_pixel, usual.prior_sd, usual.restarts) == (
        True,
        1,
        1,
    )
    families = [term.factors[0].family for term in starting_spec(matched, usual).kernel.terms]
    assert families == ["powered_exponential", "rbf", "linear", "constant"]
    varying = starting_spec(matched, usual.replace(local_slopes=True)).kernel.terms
    assert [term.factors[0].family for term in varying] == [*families[:3], "matern12", "constant"]
    bag = completed(matched, DownscaleSettings(model="bag_gp"))
    assert (bag.noise, bag.hold, bag.every_pixel, bag.prior_sd, bag.restarts) == (1e-6, usual.hold, False, 0, 2)
    assert [t.factors[0].family for t in starting_spec(matched, bag).kernel.terms] == ["matern12", "rbf"]
    assert completed(problem(runaway(), coordinates=False), DownscaleSettings()).model == "bag_gp"
    mediated = completed(other, DownscaleSettings())
    assert (mediated.model, mediated.noise, mediated.hold) == ("area_to_point_gp", 1e-6, usual.hold)
    pseudo = completed(other, DownscaleSettings(model="bag_gp", noise=0.2, hold=()))
    assert (pseudo.noise, pseudo.point_noise, pseudo.hold) == (0.2, 0.01, ())


UKV = {"target": "air_potential_temperature", "covariates": ["surface_altitude"], "block": [9, 9]}
REAL = {
    "ukv-645m": (UKV | {"select": {"time": 2, "level_height": 4}}, 0.4),
    "ukv-75m": (UKV | {"select": {"time": 2, "level_height": 1}}, 0.75),
    "era5_1995-07-14T12.nc": ({"target": "t2m", "covariates": ["sp", "d2m"], "block": [7, 7]}, 0.65),
    "ncep_gdas_flux_20060401_t62.nc": (
        {"target": "ttop", "covariates": ["orog", "clt", "clh", "clm"], "block": [6, 6]}, 0.6,
    ),
}  # fmt: skip
#: The rows and columns of cells that are downscaled of each field, half of it: whole fields are in the benchmark.
HALF = {
    name: (11, 21, 0, 19) if name.startswith("ukv") else (7, 14, 0, 32 if name.startswith("era5") else 31)
    for name in REAL
}


def real(name: str, real_data, **changes) -> DownscalingProblem:
    spec = DownscalingSpec.from_dict(REAL[name][0] | changes)
    return make_problem(open_fields(real_data / name), spec) if name.endswith(".nc") else build_problem(
        Source(name), spec
    )  # fmt: skip


@pytest.mark.parametrize("name", list(REAL))
def test_the_default_beats_bilinear_on_real_fields_and_its_intervals_hold(name, real_data):
    """Half of the cells withheld; the share of bilinear's RMSE leaves a tenth to chance."""
    found = downscale(real(name, real_data, region=HALF[name]), {})
    scores = found.scores
    assert found.spec.model.name == "area_to_point_gp"
    assert scores["area_to_point_gp"]["rmse"] < REAL[name][1] * scores["bilinear"]["rmse"]
    assert 0.88 < scores["area_to_point_gp"]["coverage95"] < 0.99


def test_a_learning_that_hurts_on_a_real_field_is_not_kept(real_data):
    """Fluxes of half the globe, matched, by the shrinkage CMP: cells left out 6.3 K off when learned, else 4.8."""
    given = real("ncep_gdas_flux_20060401_t62.nc", real_data, region=(0, 6, 0, 31))
    found = downscale(
        given, {"model": "shrinkage_cmp", "restarts": 1, "steps": 40, "hold": (), "stage_one": "leave_one_bag_out"}
    )
    assert found.diagnostics["leave_one_out"]["kept"] == "start"
    assert found.scores["shrinkage_cmp"]["rmse"] < 0.8 * found.scores["bilinear"]["rmse"]
