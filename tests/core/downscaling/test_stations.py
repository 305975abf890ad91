"""Stations beside cells: against dense algebra, against conditioning in two steps, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import xarray as xr

from deconditioning.bundled import bundled
from deconditioning.downscaling.prediction import matched_data, predict, predict_tiled
from deconditioning.downscaling.result_dataset import ResultDataset
from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source
from deconditioning.downscaling.starting import columns_of, spec_to_settings, starting_spec
from deconditioning.downscaling.stores.stored_model import condition_on_problem
from deconditioning.errors import InputError, never
from deconditioning.fields.footprints.gaussian import GaussianFootprint
from deconditioning.fields.footprints.station_data import Stations
from deconditioning.fields.footprints.stations import with_scored_stations, with_stations
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.kernels.tiles import evaluate
from deconditioning.metrics.predictive import Predictive
from deconditioning.models.learning.objectives import exact_objective
from deconditioning.models.learning.trainable import Trainable
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import PointErrors
from tests.benchmarks.real_stations_case import CASES, real_case
from tests.benchmarks.stations_case import gain, known_scores, station_case, station_scores
from tests.core.fields.samples import rectilinear

pytestmark = pytest.mark.usefixtures("short_chain")

ERROR, OFFSET = 0.3, 1.5


def problem(rows: int = 24, columns: int = 32, seed: int = 0, **changes) -> DownscalingProblem:
    data = rectilinear(40 + 0.25 * np.arange(rows), 5 + 0.25 * np.arange(columns), seed=seed)
    spec = DownscalingSpec("t", ("orog",), block=(4, 4), withhold=0.2, **changes)
    return make_problem(fields_from_dataset(data), spec)


def stations(
    found: DownscalingProblem, count: int, seed: int = 1, altitude: bool = False, off: float = 0.0
) -> Stations:
    """Values of the truth at random pixels, with an offset and errors; heights 50 m or so off their pixels'."""
    rng = np.random.default_rng(seed)
    pixel = rng.choice(found.grid.area.size, count, replace=False)
    value = found.truth.flat[pixel] + off + ERROR * rng.standard_normal(count)
    column = found.columns.index("orog")
    height = found.on_grid(found.input_scaling.scales[column].backward(found.inputs[:, column].numpy())).flat[pixel]
    above = 50 * rng.standard_normal(count)
    return Stations(
        found.grid.latitude.flat[pixel] + 0.05, found.grid.longitude.flat[pixel] + 0.05,
        value - 0.02 * above * altitude, np.full(count, ERROR), height + above if altitude else None,
    )  # fmt: skip


class Dense:
    """The joint Gaussian of cells and further sources, written out: y = A f + H b + e over f at every pixel."""

    def __init__(self, found: DownscalingProblem, spec: ModelSpec) -> None:
        cells, count = found.data.bags, sum(len(each.row) for each in found.sources)
        kernel = spec.kernel.build(found.columns)
        self.k = evaluate(kernel, found.inputs, found.inputs).detach()
        average = torch.zeros(cells.count + count, len(found.inputs), dtype=torch.float64)
        average.index_put_((cells.bag, torch.as_tensor(found.bag_pixel)), cells.weights, accumulate=True)
        self.effects = torch.zeros(len(average), sum(len(each.effects) for each in found.sources), dtype=torch.float64)
        noise = torch.full((len(average),), spec.noise, dtype=torch.float64)
        noise[: cells.count] += 0.0 if found.data.errors is None else found.data.errors
        row, column = cells.count, 0
        for seen, tau in zip(found.sources, spec.noises_of_sources, strict=True):
            if seen.footprints is None:
                average[row + torch.arange(len(seen.row)), torch.as_tensor(seen.row)] = 1.0
            else:
                pixel, measurement, weight = map(torch.as_tensor, seen.footprints)
                average[row + measurement, pixel] = weight
            rows, columns = slice(row, row + len(seen.row)), slice(column, column + len(seen.effects))
            self.effects[rows, columns] = seen.errors.effects
            noise[rows] = tau + seen.errors.variance
            row, column = rows.stop, columns.stop
        pixels = average.square().sum(1) * spec.point_noise
        self.prior = torch.diag(torch.cat([each.errors.prior for each in found.sources]))
        s = average @ self.k @ average.T + self.effects @ self.prior @ self.effects.T + torch.diag(noise + pixels)
        targets = [found.data.targets, *(each.targets for each in found.sources)]
        self.targets, self.average = torch.cat(targets) - spec.mean, average
        self.s, self.inverse = s, torch.linalg.inv(s)

    @property
    def evidence(self) -> float:
        return float(torch.distributions.MultivariateNormal(torch.zeros(len(self.s)), self.s).log_prob(self.targets))

    def moments(self, across: torch.Tensor, prior: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Mean and covariance of what has these covariances with the targets (n, M) and this prior (n, n)."""
        return across @ self.inverse @ self.targets, prior - across @ self.inverse @ across.T


@pytest.fixture(scope="module")
def joined() -> DownscalingProblem:
    found = problem(12, 20)
    found = with_stations(found, stations(found, 9, altitude=True, off=OFFSET))
    return with_scored_stations(found, stations(problem(12, 20), 5, seed=7, altitude=True))


def spec_of(found: DownscalingProblem, **changes) -> ModelSpec:
    given = starting_spec(found, DownscaleSettings("area_to_point_gp", local_scale=False))
    return replace(given, noise=1e-3, point_noise=0.02, representativeness=0.07, **changes)


def test_evidence_map_effects_and_scored_values_are_those_of_dense_algebra(joined: DownscalingProblem) -> None:
    spec = spec_of(joined)
    data, dense = matched_data(joined, spec), Dense(joined, spec)
    one, other = predict(spec, data, joined), predict_tiled(spec, data, joined, joined.inputs)
    mean, covariance = dense.moments(dense.k @ dense.average.T, dense.k)
    for found in (one, other):
        assert found.evidence == pytest.approx(dense.evidence, rel=1e-8)
        assert torch.allclose(found.mean, mean, atol=1e-8)
        assert torch.allclose(found.sd_latent.square(), covariance.diagonal(), atol=1e-8)
        effects, spread = dense.moments(dense.prior @ dense.effects.T, dense.prior)
        assert torch.allclose(found.sources.effects[0], effects, atol=1e-8)
        assert torch.allclose(found.sources.effects[1], spread.diagonal(), atol=1e-8)
        rows, h = torch.as_tensor(joined.scored.row), joined.scored.errors.effects
        across = dense.k[rows] @ dense.average.T + h @ dense.prior @ dense.effects.T
        value, variance = dense.moments(across, dense.k[rows][:, rows] + h @ dense.prior @ h.T)
        noise = spec.point_noise + spec.representativeness + joined.scored.errors.variance
        assert torch.allclose(found.sources.scored[0], value, atol=1e-8)
        assert torch.allclose(found.sources.scored[1], variance.diagonal() + noise, atol=1e-8)


def test_cells_of_unequal_errors_go_with_stations_and_a_mean_of_the_prior(joined: DownscalingProblem) -> None:
    errors = torch.linspace(0, 0.5, joined.data.bags.count, dtype=torch.float64)
    given = replace(joined, data=replace(joined.data, errors=errors))
    spec = spec_of(given, mean=0.7)
    dense, found = Dense(given, spec), predict(spec, matched_data(given, spec), given)
    mean, covariance = dense.moments(dense.k @ dense.average.T, dense.k)
    assert found.evidence == pytest.approx(dense.evidence, rel=1e-8)
    assert torch.allclose(found.mean, 0.7 + mean, atol=1e-8)
    assert torch.allclose(found.sd_latent.square(), covariance.diagonal(), atol=1e-8)
    rows, h = torch.as_tensor(given.scored.row), given.scored.errors.effects
    across = dense.k[rows] @ dense.average.T + h @ dense.prior @ dense.effects.T
    assert torch.allclose(found.sources.scored[0], 0.7 + across @ dense.inverse @ dense.targets, atol=1e-8)
    own = dense.targets - dense.inverse @ dense.targets / dense.inverse.diagonal()
    assert torch.allclose(found.sources.left_out[0], 0.7 + own[-9:], atol=1e-8)


def test_shares_of_the_sources_and_the_gain_of_one_more_station_are_those_of_posteriors_with_and_without(
    joined: DownscalingProblem,
) -> None:
    spec = spec_of(joined)
    assert joined.stations.effects == ("offset", "altitude")
    found = predict(spec, matched_data(joined, spec), joined).sources.explained
    alone, rows = replace(joined, sources=()), found.rows
    by_cells = predict(spec, matched_data(alone, spec), alone).sd_latent.square()[rows].mean()
    both = predict(spec, matched_data(joined, spec), joined).sd_latent.square()[rows].mean()
    prior = Dense(joined, spec).k.diagonal()[rows].mean()
    assert found.left == pytest.approx(float(both), abs=1e-8)
    assert found.cells == pytest.approx(float(prior - by_cells), abs=1e-8)
    assert found.further == (pytest.approx(float(by_cells - both), abs=1e-8),)
    for place in (0, len(rows) // 3, int(found.gain.argmax())):
        row = int(rows[place])
        seen, errors = joined.stations, joined.stations.errors
        alike = torch.tensor([[1.0, 0.0]]).double()  # of the same network, at its pixel's altitude
        more = PointErrors(
            torch.cat([errors.variance, torch.zeros(1).double()]), torch.cat([errors.effects, alike]), errors.prior
        )
        targets = torch.cat([seen.targets, torch.zeros(1)])
        further = replace(joined, sources=(replace(seen, row=np.append(seen.row, row), targets=targets, errors=more),))
        less = predict(spec, matched_data(further, spec), further).sd_latent.square()[rows].mean()
        assert float(found.gain[place]) == pytest.approx(float(both - less), abs=1e-8)


def test_leaving_one_station_out_is_conditioning_on_all_others(joined: DownscalingProblem) -> None:
    spec = spec_of(joined)
    found, dense = predict(spec, matched_data(joined, spec), joined), Dense(joined, spec)
    cells = joined.data.bags.count
    for station in (0, 4, 8):
        rest = torch.arange(len(dense.s)) != cells + station
        part = dense.s[rest][:, rest]
        across = dense.s[cells + station, rest]
        mean = across @ torch.linalg.solve(part, dense.targets[rest])
        variance = dense.s[cells + station, cells + station] - across @ torch.linalg.solve(part, across)
        assert float(found.sources.left_out[0][station]) == pytest.approx(float(mean), abs=1e-8)
        assert float(found.sources.left_out[1][station]) == pytest.approx(float(variance), abs=1e-8)
    assert found.missed is not None and len(found.missed) == cells  # the cells' own


@pytest.fixture(scope="module")
def with_soundings() -> DownscalingProblem:
    found = problem(12, 20)
    footprint = GaussianFootprint(60.0, 40.0, 25.0)
    found = with_stations(found, replace(stations(found, 9, altitude=True), footprint=footprint))
    return with_scored_stations(found, stations(problem(12, 20), 5, seed=7))


def test_footprints_are_those_of_dense_algebra_and_leave_scored_points_alone(
    with_soundings: DownscalingProblem,
) -> None:
    spec = spec_of(with_soundings)
    data, dense = matched_data(with_soundings, spec), Dense(with_soundings, spec)
    cells = with_soundings.data.bags.count
    assert dense.average[cells:].sum(1) == pytest.approx(1) and dense.average[cells:].max() < 0.5
    mean, covariance = dense.moments(dense.k @ dense.average.T, dense.k)
    rows = torch.as_tensor(with_soundings.scored.row)
    for found in (
        predict(spec, data, with_soundings),
        predict_tiled(spec, data, with_soundings, with_soundings.inputs),
    ):
        assert found.evidence == pytest.approx(dense.evidence, rel=1e-8)
        assert torch.allclose(found.mean, mean, atol=1e-8)
        assert torch.allclose(found.sd_latent.square(), covariance.diagonal(), atol=1e-8)
        own = dense.targets - dense.inverse @ dense.targets / dense.inverse.diagonal()
        assert torch.allclose(found.sources.left_out[0], own[cells:], atol=1e-8)
        assert torch.allclose(found.sources.left_out[1], (1 / dense.inverse.diagonal())[cells:], atol=1e-8)
        assert torch.allclose(found.sources.scored[0], mean[rows], atol=1e-8)
        noise = spec.point_noise + with_soundings.scored.errors.variance
        assert torch.allclose(found.sources.scored[1], covariance.diagonal()[rows] + noise, atol=1e-8)
    trainable = Trainable(spec, data, columns_of(with_soundings), hold=("noise", "point_noise"))
    loss = exact_objective(trainable, data, never)()
    assert -float(loss.detach()) * len(data.targets) == pytest.approx(dense.evidence, rel=1e-8)


def test_values_over_footprints_are_not_values_of_pixels() -> None:
    base = problem(24, 32)
    centres = stations(base, 60)
    footprint = GaussianFootprint(70.0, 70.0)
    seen = with_stations(base, replace(centres, footprint=footprint)).stations
    pixel, measurement, weight = seen.footprints
    value = np.bincount(measurement, weight * base.truth.flat[base.pixel[pixel]])
    measured = replace(seen.measured, value=value, error=np.full(len(value), 0.02))
    errors = {}
    for given in (measured, replace(measured, footprint=None)):
        found = with_stations(base, given)
        spec = replace(spec_of(found), representativeness=1e-4)
        errors[given.footprint] = np.nanstd(
            found.physical_mean(predict(spec, matched_data(found, spec), found).mean) - base.truth
        )
    assert errors[footprint] < 0.9 * errors[None]


def test_the_loss_of_learning_is_the_dense_evidence_and_its_slope_in_tau(joined: DownscalingProblem) -> None:
    spec = spec_of(joined)
    data = matched_data(joined, spec)
    trainable = Trainable(spec, data, columns_of(joined), hold=("noise", "point_noise"))
    loss = exact_objective(trainable, data, never)()
    assert -float(loss.detach()) * len(data.targets) == pytest.approx(Dense(joined, spec).evidence, rel=1e-8)
    assert "representativeness τ²" in trainable.vector.names
    loss.backward()
    step = 1e-4
    up, down = (Dense(joined, spec_of(joined) if s is None else replace(spec, representativeness=0.07 * np.exp(s)))
                for s in (step, -step))  # fmt: skip
    slope = -(up.evidence - down.evidence) / (2 * step) / len(data.targets)
    mine = trainable.vector.gradient()[trainable.vector.names.index("representativeness τ²")]
    assert mine == pytest.approx(slope, rel=1e-4)


def test_draws_have_the_posteriors_moments(joined: DownscalingProblem) -> None:
    spec = spec_of(joined)
    found = predict(spec, matched_data(joined, spec), joined)
    sd = joined.physical_sd(found.sd_latent)
    result = ResultDataset(joined, spec, Predictive(joined.physical_mean(found.mean), sd), {})
    draws = result.drawing()(600, 3).fields
    z = (draws.mean(axis=0) - joined.physical_mean(found.mean)) / (sd / np.sqrt(600))
    assert np.sqrt(np.nanmean(z**2)) < 1.5
    assert np.nanmedian(draws.std(axis=0) / sd) == pytest.approx(1, abs=0.06)


def test_an_offset_of_all_stations_is_learned_and_does_not_move_the_map() -> None:
    base = problem()
    seen = stations(base, 30)
    maps = {}
    for off in (0.0, 4.0):
        found = with_stations(base, replace(seen, value=seen.value + off))
        spec = spec_of(found)
        prediction = predict(spec, matched_data(found, spec), found)
        maps[off] = found.physical_mean(prediction.mean), float(prediction.sources.effects[0][0]) * found.target_sd
    assert maps[4.0][1] - maps[0.0][1] == pytest.approx(4, abs=0.1)
    assert np.nanmax(np.abs(maps[4.0][0] - maps[0.0][0])) < 0.1


def test_downscale_learns_from_both_and_reports_in_units() -> None:
    base = problem()
    found = with_stations(base, stations(base, 40, off=OFFSET))
    found = with_scored_stations(found, stations(base, 60, seed=9, off=OFFSET))
    result = downscale(found, {"steps": 8, "restarts": 1})
    said = result.diagnostics["stations"]
    assert said["targets"]["count"] == 40 and said["scored"]["count"] == 60
    assert abs(said["targets"]["offset"] - OFFSET) < 4 * said["targets"]["offset_sd"]
    assert said["scored"]["rmse"] < 1.2 * min(said["scored"]["rmse_of"].values())
    assert said["scored"]["inside_95"] > 0.8 and "40 stations" in " ".join(said["sentences"])
    assert result.settings.representativeness == result.spec.representativeness > 0
    again = starting_spec(result.problem, spec_to_settings(result.settings, result.spec))
    assert again.representativeness == result.spec.representativeness
    assert result.diagnostics["one_scale_up"]["cells"] > 8


def test_scored_stations_change_nothing_of_the_map() -> None:
    base = problem()
    plain = downscale(base, {"learn": False})
    scored = downscale(with_scored_stations(base, stations(base, 25)), {"learn": False})
    assert np.array_equal(plain.mean, scored.mean, equal_nan=True)
    assert scored.diagnostics["stations"]["scored"]["rmse_of"].keys() == scored.fields.keys()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"latitude": np.full(4, 10.0)}, "None of the 4 stations"),
        ({"value": np.array([11.0, 12, 13, 14])}, "cannot be in the same units"),
        ({"units": "hPa"}, "measure different things"),
    ],
)
def test_stations_that_cannot_be_are_refused(change, said) -> None:
    base = problem()
    with pytest.raises(InputError, match=said):
        with_stations(base, replace(stations(base, 4), **change))


def test_units_are_converted_and_stations_outside_left_out() -> None:
    base = problem()
    seen = stations(base, 6)
    celsius = replace(seen, value=seen.value - 273.15, units="degC", latitude=np.append(seen.latitude[:5], 10.0))
    found = with_stations(base, celsius)
    assert np.allclose(found.stations.measured.value, seen.value[:5])
    assert np.allclose(found.stations.measured.error, ERROR)
    assert any("1 of 6 stations lie outside" in note for note in found.notes)


def test_models_that_take_no_stations_are_refused() -> None:
    base = problem()
    found = with_stations(base, stations(base, 5))
    for model in ("vbagg", "centroid_gp"):
        with pytest.raises(InputError, match="cannot use stations"):
            matched_data(found, starting_spec(found, DownscaleSettings(model)))


def test_the_command_takes_both_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from deconditioning.cli.program import main

    data = rectilinear(40 + 0.25 * np.arange(24), 5 + 0.25 * np.arange(32))
    data.to_netcdf(tmp_path / "fine.nc", engine="h5netcdf")
    base = problem()
    for name, seed in (("some", 1), ("others", 5)):
        rows = stations(base, 20, seed=seed)
        lines = [
            f"{a:.4f};{o:.4f};{v - 273.15:.3f}"
            for a, o, v in zip(rows.latitude, rows.longitude, rows.value, strict=True)
        ]
        (tmp_path / f"{name}.csv").write_text("Lat;Lon;T2M [degC]\n" + "\n".join(lines) + "\n")
    out = tmp_path / "out.nc"
    code = main(
        ["downscale", str(tmp_path / "fine.nc"), "--target", "t", "--covariates", "orog", "--block", "4", "4",
         "--stations", str(tmp_path / "some.csv"), "--score-stations", str(tmp_path / "others.csv"), "--no-learn",
         "--output", str(out), "--json", str(tmp_path / "out.json")]
    )  # fmt: skip
    assert code == 0
    said = capsys.readouterr().err
    assert "20 stations are targets in addition to the cells" in said and "At the stations that no method used" in said
    with xr.open_dataset(out, engine="h5netcdf") as made:
        assert made["mean"].shape == (24, 32)
    code = main(
        ["downscale", str(tmp_path / "fine.nc"), "--target", "t", "--covariates", "orog", "--block", "4", "4",
         "--stations", str(tmp_path / "some.csv"), "--station-footprint", "80", "--no-learn", "--output", str(out)]
    )  # fmt: skip
    assert code == 0 and "full width at half maximum: 80 km" in capsys.readouterr().err


def test_the_stored_gain_of_both_sources_is_computed_again() -> None:
    """50 stations and 16 cells together against each alone, at 300 stations that neither saw."""
    table = json.loads((bundled("benchmarks") / "stations.json").read_text())
    row = table["rows"][2]
    scored = downscale(station_case(row["seed"]), {}).diagnostics["stations"]["scored"]
    assert scored["rmse"] == pytest.approx(row["both"], rel=0.02)
    assert scored["inside_95"] == pytest.approx(row["inside_95"], abs=0.02)
    mean = {name: np.mean([each[name] for each in table["rows"]]) for name in table["mean"]}
    assert mean == pytest.approx(table["mean"]) and 0.93 < mean["inside_95"] < 0.975
    assert mean["both"] < 0.85 * min(mean["cells"], mean["stations"])


def test_the_stored_gain_is_that_of_the_covariance_that_made_the_field() -> None:
    """Plain algebra with the known covariance bounds what a model can gain; the learned one comes within 3 %."""
    found = json.loads((bundled("benchmarks") / "stations.json").read_text())["rows"]
    assert known_scores(found[1]["seed"]) == pytest.approx(found[1]["known"], rel=1e-8)
    known, both = (np.mean(each) for each in zip(*((row["known"]["both"], row["both"]) for row in found), strict=True))
    assert known < both < 1.03 * known
    assert np.mean([gain(row) for row in found]) > np.mean([gain(row["known"]) for row in found]) - 0.01


def test_the_stored_gain_on_real_fields_is_computed_again() -> None:
    """Pseudo-stations at random pixels of three fields; on one of them both sources gain 15 %, on the others less."""
    table = json.loads((bundled("benchmarks") / "stations_real.json").read_text())["rows"]
    case = "ERA5, British Isles, 2 m"
    row = next(each for each in table if each["case"] == case and each["seed"] == 1)
    found = real_case(case, 1)
    truth = found.truth.flat[found.pixel[found.scored.row]]
    assert np.std(found.scored.measured.value - truth) == pytest.approx(np.hypot(0.1, 0.15), rel=0.15)
    scores = station_scores(found)
    assert {name: row[name] for name in ("both", "cells", "stations")} == pytest.approx(
        {name: scores[name] for name in ("both", "cells", "stations")}, rel=0.02
    )
    gains, inside = {}, {}
    for name in CASES:
        rows = [each for each in table if each["case"] == name]
        both, cells, stations = (np.mean([each[key] for each in rows]) for key in ("both", "cells", "stations"))
        gains[name], inside[name] = 1 - both / min(cells, stations), np.mean([each["inside_95"] for each in rows])
        assert len(rows) == 6 and min(gain(each) for each in rows) > 0
    assert max(gains.values()) > 0.2 and min(gains.values()) > 0.05
    assert all(0.92 < each < 0.97 for each in inside.values())


@pytest.mark.gpu
def test_a_gpu_gives_the_same_map_and_effects(joined: DownscalingProblem) -> None:
    spec = spec_of(joined)
    data = matched_data(joined, spec)
    here, there = (predict(spec, data, joined, device=torch.device(name)) for name in ("cpu", "cuda"))
    assert torch.allclose(there.mean.cpu(), here.mean, atol=1e-8)
    assert torch.allclose(there.sd.cpu(), here.sd, atol=1e-8)
    for one, other in zip(here.sources.effects, there.sources.effects, strict=True):
        assert torch.allclose(other.cpu(), one, atol=1e-8)


def a_stored_model_predicts_as_the_model_does(problem: DownscalingProblem, settings: DownscaleSettings) -> None:
    spec = starting_spec(problem, settings)
    completed = spec_to_settings(settings, spec)
    stored = condition_on_problem(problem, completed, ("m",), torch.device("cpu")).read(problem.inputs).predictive
    direct = predict(spec, matched_data(problem, spec), problem)
    np.testing.assert_allclose(stored.mean, problem.target_scale.backward(direct.mean.numpy()), atol=1e-8)
    np.testing.assert_allclose(stored.sd, problem.target_scale.sd * direct.sd.numpy(), atol=1e-8)


@pytest.mark.parametrize("model", ["area_to_point_gp", "bag_gp"])
def test_a_stored_model_sees_the_stations_of_its_source(joined: DownscalingProblem, model: str) -> None:
    settings = DownscaleSettings(model, local_scale=False, learn=False, representativeness=0.07)
    a_stored_model_predicts_as_the_model_does(joined, settings)


def test_a_source_comes_back_from_a_command_and_from_plain_data() -> None:
    options = {"input": "a.nc", "coarse": None, "mediator": None, "polygons": "b.json", "value_units": "mm",
               "stations": "c.csv", "score_stations": "d.csv", "station_value": "x", "value": "rain"}  # fmt: skip
    source = Source.of_options(options)
    assert source == Source("a.nc", regions="b.json", units="mm", stations="c.csv", scored="d.csv", station_value="x")
    assert Source.from_dict(source.to_dict()) == source
    assert Source("a.nc", "b.nc").to_dict() == {"fields": "a.nc", "coarse": "b.nc", "mediator": None}
    with pytest.raises(InputError, match="Regions and a coarse file both give the target"):
        Source("a.nc", coarse="b.nc", regions="c.json")
    with pytest.raises(InputError, match="A footprint needs stations that are targets"):
        Source("a.nc", station_footprint="20")
