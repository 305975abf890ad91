"""What a map rests on: each number by a second route, and what fails where it should."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import xarray as xr

from deconditioning.downscaling.checks.assumptions import assumptions, intervals, refused
from deconditioning.downscaling.checks.few_cells import sentences
from deconditioning.downscaling.prediction import matched_data, predict
from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.downscaling.starting import starting_spec
from deconditioning.fields.footprints.station_data import Stations
from deconditioning.fields.footprints.stations import with_stations
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.explained_variation import explained_share
from deconditioning.fields.problem.physical_limits import limits_of
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.kernels.spec import KernelSpec
from tests.core.fields.samples import fields, plane, region, runaway
from tests.core.models.small import dense

pytestmark = pytest.mark.usefixtures("short_chain")


def problem(data=None, **changes) -> DownscalingProblem:
    spec = {"block": (3, 3), "withhold": 0.5, "matching": "indirect"} | changes
    return make_problem(fields(runaway() if data is None else data), DownscalingSpec("t", ("orog",), **spec))


def asked(given: DownscalingProblem, model: str, **changes) -> dict:
    spec = replace(starting_spec(given, DownscaleSettings(model)), **changes)
    data = matched_data(given, spec)
    found = predict(spec, data, given)
    mean, sd = given.physical_mean(found.mean), given.physical_sd(found.sd)
    return {each.name: each for each in assumptions(given, spec, data, mean, sd)} | {"mean": mean, "sd": sd}


def test_covariates_are_the_explained_share():
    good, bad = problem(), problem(plane(), matching="direct", withhold=0.0)
    first, second = asked(good, "shrinkage_cmp")["covariates"], asked(bad, "area_to_point_gp")["covariates"]
    assert first.number == explained_share(good).share and first.holds
    assert second.number < 0.3 and not second.holds and second.sentence == explained_share(bad).sentence
    assert "mediation" not in asked(bad, "area_to_point_gp")


def test_few_cells_are_a_caution_where_they_are_few():
    few = problem(plane(), matching="direct", withhold=0.75)
    found, count = asked(few, "area_to_point_gp"), int(few.observed.sum())
    many = problem(plane(), matching="direct", withhold=0.0)
    assert count < 40 <= int(many.observed.sum()) and "cells" not in asked(many, "area_to_point_gp")
    assert found["cells"].number == count and not found["cells"].holds and str(count) in found["cells"].sentence


def test_stations_inside_few_cells_count_beside_them():
    """A cell means little for the roughness inside it; a station is a point inside it."""
    few = problem(plane(), matching="direct", withhold=0.75)
    cells, grid = int(few.observed.sum()), few.grid
    for count, holds in ((40 - cells, True), (39 - cells, False)):
        at = np.linspace(0, grid.area.size - 1, count).astype(int)
        places = grid.latitude.flat[at], grid.longitude.flat[at], few.truth.flat[at], np.full(count, 0.1)
        given = with_stations(few, Stations(*places))
        found = asked(given, "area_to_point_gp")["cells"]
        assert found.number == cells + count and found.holds == holds
        assert f"{cells} cells and {count} stations are visible" in found.sentence
        assert (sentences(given, integrated=False) == ()) == holds


def test_what_mediators_tell_is_what_leaving_each_cell_out_shows():
    """Second route: every regression without its cell, solved anew."""
    given = problem(mediators=("orog",))
    spec = starting_spec(given, DownscaleSettings("shrinkage_cmp"))
    y, count = given.data.mediators, given.data.bags.count
    k = dense(spec.mediator_kernel, given.mediator_columns, y, y).numpy()
    covariate = given.columns.index("orog")
    means = np.array([
        np.average(rows, weights=weights) for rows, weights in (
            (given.data.bags.inputs[mine, covariate], given.data.bags.weights[mine])
            for mine in (given.data.bags.bag == bag for bag in range(count))
        )
    ])  # fmt: skip
    means -= means.mean()
    errors = []
    for out in range(count):
        rest = np.arange(count) != out
        system = k[rest][:, rest] + count * spec.regularisation * np.eye(count - 1)
        errors.append(means[out] - k[out, rest] @ np.linalg.solve(system, means[rest]))
    found = asked(given, "shrinkage_cmp")["mediation"]
    assert found.number == pytest.approx(1 - np.square(errors).sum() / np.square(means).sum(), abs=1e-6)
    assert found.holds and found.number > 0.9
    lost = asked(problem(mediators=()), "shrinkage_cmp")["mediation"]
    assert lost.number < found.number


def test_of_pseudo_targets_their_own_doubt_counts():
    given = problem()
    spec = starting_spec(given, DownscaleSettings("area_to_point_gp"))
    data = matched_data(given, spec)
    found = asked(given, "area_to_point_gp")["mediation"]
    told, doubt = (
        float(np.var(data.targets.numpy(), ddof=1)),
        float(np.trace(data.covariance.numpy())) / data.bags.count,
    )
    assert found.number == pytest.approx(told / (told + doubt)) and found.holds == (found.number >= 0.5)


@pytest.mark.parametrize("model", ["area_to_point_gp", "shrinkage_cmp"])
def test_what_varies_inside_cells_is_told_by_the_mean_or_in_the_sd(model):
    given = problem()
    found = asked(given, model)
    told = doubt = 0.0
    for cell in range(given.coarse.size):
        mine = given.cell == cell
        area, mean = given.grid.area[mine], found["mean"][mine]
        told += np.sum(area * (mean - np.sum(area * mean) / area.sum()) ** 2)
        doubt += np.sum(area * found["sd"][mine] ** 2)
    assert found["aggregation"].number == pytest.approx(told / (told + doubt))
    assert found["aggregation"].holds == (told >= doubt)


def test_an_exponent_at_its_bound_is_told():
    given = problem()
    spec = starting_spec(given, DownscaleSettings("area_to_point_gp"))
    rough, *rest = spec.kernel.terms
    assert asked(given, "area_to_point_gp")["roughness"].holds
    factor = replace(rough.factors[0], parameters={"alpha": 2.0})
    ended = KernelSpec((replace(rough, factors=(factor,)), *rest))
    found = asked(given, "area_to_point_gp", kernel=ended)["roughness"]
    assert not found.holds and found.number == 2.0 and "is at an end of its range" in found.sentence
    assert "roughness" not in asked(given, "shrinkage_cmp")


@pytest.mark.parametrize(
    ("name", "units", "low", "high", "limits"),
    [
        ("cloud_area_fraction", "%", 0.2, 99.0, (0, 100)),
        ("cloud_area_fraction", "1", 0.0, 0.9, (0, 1)),
        ("relative_humidity", "1", 12.0, 95.0, (0, 100)),
        ("precipitation_flux", "kg m-2 s-1", 0.0, 0.01, (0, np.inf)),
        ("surface_albedo", "1", 0.1, 0.8, (0, 1)),
        ("", "%", 0.0, 70.0, (0, 100)),
        ("", "%", 20.0, 70.0, None),
        ("", "%", -5.0, 70.0, None),
        ("relative_humidity", "%", 20.0, 104.0, None),
        ("air_temperature", "K", 200.0, 300.0, None),
        ("precipitation_flux_anomaly", "mm", -1.0, 1.0, None),
    ],
)
def test_limits_follow_from_names_units_and_values(name, units, low, high, limits):
    given = problem(matching="direct", withhold=0.0)
    values = np.linspace(low, high, given.coarse.size).reshape(given.coarse.shape)
    assert limits_of(replace(given, standard_name=name, units=units, coarse=values)) == limits


def test_intervals_of_a_target_with_limits_are_refused_where_they_leave_them():
    given = replace(problem(), standard_name="precipitation_flux", long_name="rain_rate", units="mm")
    given = replace(given, coarse=np.where(given.observed, 1.0, np.nan))
    mean, sd = np.full(given.grid.shape, 1.0), np.full(given.grid.shape, 0.1)
    assert intervals(given, mean, sd).holds and refused([intervals(given, mean, sd)]) == ()
    sd[:9] = 0.6
    found = intervals(given, mean, sd)
    assert found.number == pytest.approx(given.grid.area[9:].sum() / given.grid.area.sum()) and not found.holds
    assert refused([found])[0].startswith("Rain rate is never negative: 95 % intervals respect this on ")


def test_skewed_values_are_told():
    given = problem()
    mean = sd = np.ones(given.grid.shape)
    values = given.coarse[given.observed]
    centred = values - values.mean()
    assert intervals(given, mean, sd).number == pytest.approx((centred**3).mean() / (centred**2).mean() ** 1.5)
    long = replace(given, coarse=np.where(given.observed, np.exp(given.coarse - np.nanmean(given.coarse)), np.nan))
    assert not intervals(long, mean, sd).holds and "skewness" in intervals(long, mean, sd).sentence


def test_cloud_cover_of_the_bundled_globe_has_no_right_intervals():
    """Half of the truth at 0 or 100 %; the result says so, and nothing of temperatures."""
    spec = {"target": "clt", "covariates": ["orog", "prate"], "mediators": [], "block": [6, 6], "withhold": 0.0}
    source = Source("gdas-ttop")
    given = build_problem(source, DownscalingSpec.from_dict(spec | {"covariates": ["orog"]}))
    found = downscale(given, {"learn": False})
    (said,) = [each for each in found.warnings if "no interval is right" in each]
    assert "lies between 0 and 100" in said
    told = {each["name"]: each for each in found.diagnostics["assumptions"]}
    assert not told["intervals"]["holds"] and told["intervals"]["number"] < 0.95
    assert not torch.isnan(torch.as_tensor(found.sd)).all()


def test_overlap_is_the_effective_share_of_the_cells_and_cells_are_weighed_when_asked():
    given = problem(mediators=("orog",), coordinates=False, reweigh=True)
    found = asked(given, "shrinkage_cmp")["overlap"]
    w = given.data.importance
    assert found.number == pytest.approx(float(w.sum() ** 2 / (len(w) * (w**2).sum())))
    plain = problem(mediators=("orog",), coordinates=False)
    assert plain.data.importance is None and asked(plain, "shrinkage_cmp")["overlap"].number == pytest.approx(
        found.number
    )
    assert "reweigh" in given.spec.to_dict() and "reweigh" not in plain.spec.to_dict()
    assert problem(matching="direct", withhold=0.0, reweigh=True).data.importance is None
    maps = [asked(each, "shrinkage_cmp", regularisation=1e-2)["mean"] for each in (given, plain)]
    assert np.nanmax(np.abs(maps[0] - maps[1])) > 1e-3


def test_mediators_that_have_shifted_are_told():
    """The targets' ground lies six sds higher than that of the covariates."""
    given = problem(plane(), mediators=("orog",), coordinates=False)
    data = replace(given.data, query_mediators=given.data.query_mediators + 6)
    found = {each.name: each for each in assumptions(
        replace(given, data=data), starting_spec(given, DownscaleSettings("shrinkage_cmp")), data,
        np.zeros(given.grid.shape), np.ones(given.grid.shape),
    )}  # fmt: skip
    assert not found["overlap"].holds and "have shifted" in found["overlap"].sentence


def sea(height: float, rows: int = 24) -> xr.Dataset:
    """Sea of 3 K from south to north; one pixel of each cell rises out of it, by chance the more the warmer it is."""
    data = region(rows, rows)
    y = np.linspace(1, 0, rows)
    data.t.values[:] = 300 + 3 * y[:, None] + 0.05 * np.random.default_rng(1).standard_normal((rows, rows))
    land = np.zeros((rows, rows))
    land[1::4, 2::4] = height * y[1::4, None]
    data.orog.values[:] = land
    return data


def test_a_mean_far_beyond_the_cells_is_a_warning_that_names_the_covariate():
    given = problem(sea(0.18), block=(4, 4), matching="direct", withhold=0.0)
    values = given.coarse
    low, high = values.min(), values.max()
    for reach, holds in ((high, True), (high + 0.4 * (high - low), True), (high + 0.6 * (high - low), False)):
        mean = np.full(given.grid.shape, low)
        mean[1, 6] = reach
        found = next(a for a in assumptions(
            given, starting_spec(given, DownscaleSettings("area_to_point_gp")), given.data, mean, 0 * mean + 10.0
        ) if a.name == "reach")  # fmt: skip
        assert found.holds == holds and found.number == pytest.approx((reach - high) / (high - low))
        assert ("where height" in found.sentence) != holds and bool(refused([found])) != holds


@pytest.mark.parametrize("model", ["area_to_point_gp", "regression_kriging"])
def test_terrain_of_centimetres_over_the_sea_does_not_drive_a_mean_without_a_word(model):
    found = downscale(problem(sea(0.18), block=(4, 4), matching="direct", withhold=0.0), {"model": model, "steps": 12})
    assert np.nanmax(found.mean) > 304.5
    assert any("height lies" in w and "no cell supports these values" in w for w in found.warnings)
