"""Stations in a period: the posterior against dense matrices of all times, one time by itself, and cells alone."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import xarray as xr

from deconditioning import downscale
from deconditioning.cli.program import main
from deconditioning.downscaling.further_sources.opening import stations_at
from deconditioning.downscaling.prediction import predict
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.downscaling.starting import columns_of, completed, starting_spec
from deconditioning.errors import InputError, never
from deconditioning.fields.footprints.stations import standardised_again
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.kernels.tiles import evaluate
from deconditioning.models.learning.objectives import exact_objective
from deconditioning.models.learning.repeats import Repeats, averaged_objective
from deconditioning.models.learning.trainable import Trainable
from deconditioning.period.ensemble import Ensemble, downscale_ensemble, read_ensemble
from deconditioning.period.posterior import condition_times, pixel_sums
from deconditioning.period.run import PeriodResult, downscale_series
from deconditioning.period.series import Series, read_series
from deconditioning.period.statistics import period_draws
from tests.core.period.made import SPEC, UNLEARNED, made_dataset
from tests.core.period.test_ensemble import of_members

OFFSET, NOISE = 1.5, 0.4


def table_of(dataset: xr.Dataset, path: Path, count: int = 12, *, altitude: bool = False) -> Path:
    """Stations in pixels of the dataset, too warm by the offset; some miss at some times, all at the fourth."""
    rng, rows = np.random.default_rng(1), []
    at = rng.choice(dataset.lat.size * dataset.lon.size, count, replace=False)
    for n, (i, j) in enumerate(zip(*np.unravel_index(at, (dataset.lat.size, dataset.lon.size)), strict=True)):
        for time in range(dataset.time.size):
            if time == 3 or (n + time) % 5 == 0:
                continue
            value = float(dataset["t"][time, i, j]) + OFFSET + NOISE * rng.normal()
            place = {"lat": float(dataset.lat[i]) + 0.01, "lon": float(dataset.lon[j]) - 0.01}
            height = {"altitude": float(dataset["orog"][i, j]) + 40 * (n % 3)} if altitude else {}
            rows.append({"date": dataset.time.values[time], **place, "t [K]": value, "error": 0.1, **height})
    pd.DataFrame(rows).sort_values(["date", "lat"]).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def dataset() -> xr.Dataset:
    return made_dataset(6).drop_vars("wind")


@pytest.fixture(scope="module")
def table(dataset: xr.Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return table_of(dataset, tmp_path_factory.mktemp("stations") / "stations.csv", altitude=True)


def series_of(dataset: xr.Dataset, table: Path | None, words: str = "all") -> Series:
    fields = fields_from_dataset(dataset)
    return read_series(Source("x", stations=None if table is None else str(table)), SPEC, lambda key: fields, [words])


def ensemble_of(dataset: xr.Dataset, table: Path) -> Ensemble:
    fields = fields_from_dataset(dataset)
    found = read_ensemble(Source("x", stations=str(table)), SPEC, lambda key: fields, ["all"])
    assert found is not None
    return found


@pytest.fixture(scope="module")
def series(dataset: xr.Dataset, table: Path) -> Series:
    return series_of(dataset, table)


def test_the_series_has_every_station_once_and_gaps_where_it_has_no_value(series: Series, table: Path) -> None:
    rows = pd.read_csv(table)
    assert series.stations is not None and series.stations.shape == (6, 12)
    assert int(np.isfinite(series.stations).sum()) == len(rows) and np.isnan(series.stations[3]).all()
    assert any("12 stations of" in note and "at 5 of 6 times" in note for note in series.problem.notes)
    (source,) = series.problem.sources
    for n in (0, 7):
        there = np.isclose(rows["lat"], source.measured.latitude[n]) & np.isclose(
            rows["lon"], source.measured.longitude[n]
        )
        known = series.stations[:, n][np.isfinite(series.stations[:, n])]
        np.testing.assert_allclose(np.sort(known), np.sort(rows["t [K]"][there]), atol=1e-9)


def is_of_dense_matrices(series: Series, result: PeriodResult) -> tuple[torch.Tensor, torch.Tensor]:
    """Means and sds are those of all pixels of all times and the stations' effects b in one Gaussian: f_t independent
    between times, errors of cells their own at each, b common to all. Gives the mean and covariance of b, standardised.
    """
    spec, problem, times = result.spec, series.problem, range(len(series))
    data, points, cells = problem.joint_data, problem.joint_data.points, len(problem.data.targets)
    assert points is not None
    kernel = evaluate(spec.kernel.build(problem.columns), problem.inputs, problem.inputs).detach()
    average = data.bags.mean(torch.eye(len(kernel), dtype=kernel.dtype)[torch.as_tensor(problem.joint_pixel)])
    (tau,) = spec.noises_of_sources
    of_cells = torch.full((len(series), cells), spec.noise, dtype=kernel.dtype)
    if series.errors is not None:
        of_cells += torch.as_tensor(series.errors[:, problem.target_cell] / series.scale) ** 2
    every, of_pixels = average @ kernel @ average.T, spec.point_noise * average.square().sum(1)
    common = torch.cat([torch.zeros(cells, points.effects.shape[1], dtype=kernel.dtype), points.effects])
    targets = series.targets(times)
    known = [targets[:, time].isfinite().nonzero()[:, 0] for time in times]
    blocks = [
        (every + torch.diag(of_pixels + torch.cat([of_cells[time], tau + points.variance])))[rows][:, rows]
        for time, rows in enumerate(known)
    ]
    shared = torch.cat([common[rows] for rows in known])
    covariance = torch.block_diag(*blocks) + (shared * points.prior) @ shared.T
    values = torch.cat([targets[rows, time] for time, rows in enumerate(known)]) - spec.mean
    begin = np.cumsum([0, *map(len, known)])
    for time, rows in enumerate(known):
        cross = torch.zeros(len(covariance), len(kernel), dtype=kernel.dtype)
        cross[begin[time] : begin[time + 1]] = average[rows] @ kernel
        solved = torch.linalg.solve(covariance, cross)
        mean = series.level[time] + series.scale * problem.on_grid(spec.mean + solved.T @ values)
        sd = series.scale * problem.on_grid(spec.value_sd(kernel.diagonal() - (cross * solved).sum(0)))
        np.testing.assert_allclose(result.means[time], mean, rtol=0, atol=1e-8)
        np.testing.assert_allclose(result.sd(time), result.amplitude[time] * sd, rtol=0, atol=1e-8)
    prior = points.prior[:, None] * shared.T
    return prior @ torch.linalg.solve(covariance, values), torch.diag(points.prior) - prior @ torch.linalg.solve(
        covariance, prior.T
    )


def test_means_and_sds_are_those_of_dense_matrices_of_all_times(series: Series) -> None:
    assert series.problem.joint_data.points is not None
    assert series.problem.joint_data.points.effects.shape == (12, 2)
    result = downscale_series(series, UNLEARNED)
    effects, spread = is_of_dense_matrices(series, result)
    about = result.diagnostics["stations"]
    assert about["offset"] == pytest.approx(series.scale * float(effects[0]), abs=1e-8)
    assert about["per_100_m_sd"] == pytest.approx(series.scale * float(spread[1, 1].sqrt()), abs=1e-8)


def test_one_time_is_as_the_map_of_that_time(dataset: xr.Dataset, table: Path) -> None:
    series = series_of(dataset, table, "#2")
    result = downscale_series(series, UNLEARNED)
    fields, spec = fields_from_dataset(dataset), replace(SPEC, select={"t:time": "#2"})
    source = Source("x", stations=str(table), station_time=series.labels[0])
    problem = build_problem(source, spec, lambda key: fields, stations=stations_at)
    moments = predict(result.spec, problem.joint_data, problem)
    np.testing.assert_allclose(result.means[0], problem.physical_mean(moments.mean), rtol=0, atol=1e-8)
    sd = result.amplitude[0] * problem.physical_sd(moments.sd)
    np.testing.assert_allclose(result.sd(0), sd, rtol=0, atol=1e-8)


def test_a_time_without_stations_is_that_of_cells_alone(dataset: xr.Dataset, series: Series) -> None:
    both, cells = downscale_series(series, UNLEARNED), downscale_series(series_of(dataset, None), UNLEARNED)
    np.testing.assert_allclose(both.means[3], cells.means[3], rtol=0, atol=1e-9)
    np.testing.assert_allclose(both.sd(3), cells.sd(3), rtol=0, atol=1e-9)
    assert (
        np.abs(both.means[2] - cells.means[2]).max() > 0.1
        and (both.sd(2) / both.amplitude[2]).mean() < (cells.sd(2) / cells.amplitude[2]).mean()
    )


def test_draws_have_the_sd_that_is_stated(series: Series) -> None:
    """Standardised errors have variance one, with the part that is uncertain in the offset."""
    result = downscale_series(series, UNLEARNED)
    assert result.residuals is not None
    errors = result.residuals.draw(4000, torch.Generator().manual_seed(0))
    assert float(errors.var(0).mean()) == pytest.approx(1, abs=0.01)
    assert len(list(period_draws(result, 2, 0))) == 2


def test_the_averaged_evidence_of_one_time_is_that_of_its_map(series: Series) -> None:
    spec = starting_spec(series.problem, completed(series.problem, UNLEARNED))
    data = series.problem.joint_data
    targets = torch.nan_to_num(series.targets([0]), nan=0.3)
    trainable = Trainable(spec, data, columns_of(series.problem))
    averaged = averaged_objective(trainable, [Repeats(data, targets)], never)()
    exact = exact_objective(trainable, replace(data, targets=targets[:, 0]), never)()
    assert float(averaged.detach()) == pytest.approx(float(exact.detach()), abs=1e-10)


def test_learned_together_they_make_the_maps_better_and_find_the_offset(tmp_path: Path) -> None:
    dataset = made_dataset(12).drop_vars("wind")
    settings = DownscaleSettings(model="area_to_point_gp", local_scale=False, device="cpu")
    table = table_of(dataset, tmp_path / "many.csv", 60)
    both = downscale_series(series_of(dataset, table), settings)
    cells = downscale_series(series_of(dataset, None), settings)
    truth = dataset["t"].values[:, ::-1]
    with_values = [time for time in range(12) if time != 3]
    errors = [np.sqrt(np.mean((each.means[with_values] - truth[with_values]) ** 2)) for each in (both, cells)]
    about = both.diagnostics["stations"]
    assert errors[0] < 0.9 * errors[1]
    assert about["offset"] == pytest.approx(OFFSET, abs=4 * about["offset_sd"] + 0.05)
    assert 0.1 < about["representativeness"] < 1.0 and about["times"] == 11


def test_every_member_is_as_by_itself_with_the_scale_of_all(table: Path) -> None:
    """Means, sds, offsets, evidence and draws, also where a cell is missing in one member alone."""
    dataset = of_members(6)
    dataset["t"].values[1, 2, :4, :4] = np.nan
    ensemble = ensemble_of(dataset, table)
    result = downscale_ensemble(ensemble, UNLEARNED)
    offsets = []
    for n, member in enumerate(result.members):
        each = ensemble.series[n]
        problem = replace(each.problem, target_scale=ensemble.pooled.problem.target_scale)
        problem = replace(problem, sources=tuple(standardised_again(problem, one) for one in problem.sources))
        alone = downscale_series(replace(each, problem=problem), UNLEARNED)
        np.testing.assert_allclose(member.means, alone.means, rtol=0, atol=1e-8)
        np.testing.assert_allclose(member.evidence, alone.evidence, rtol=0, atol=1e-8)
        for time in range(6):
            np.testing.assert_allclose(member.sd(time), alone.sd(time), rtol=0, atol=1e-8)
        assert member.diagnostics["stations"] == pytest.approx(alone.diagnostics["stations"], abs=1e-8)
        offsets.append(member.diagnostics["stations"]["offset"])
    assert np.ptp(offsets) > 0.01 and result.pooled.diagnostics["stations"][1]["offset"] == offsets[1]


def test_members_with_the_same_gaps_share_a_factorisation(table: Path) -> None:
    ensemble, single = ensemble_of(of_members(6), table), ensemble_of(of_members(6), table).series[0]
    counts = []
    for series in (ensemble.pooled, single):
        spec = starting_spec(series.problem, completed(series.problem, UNLEARNED))
        gram = pixel_sums(spec, series.problem, torch.device("cpu")).gram
        targets = series.targets(range(len(series)))
        counts.append(len(condition_times(spec, series.problem, targets, gram, series.member)))
    assert counts[0] == counts[1] > 1


def test_learned_members_have_the_offset_of_their_own(tmp_path: Path) -> None:
    """The second member is 1 K too warm everywhere, so that its cells differ from the stations by 1 K less."""
    dataset = of_members(8, changed=0.0)
    dataset["t"][1] += 1.0
    ensemble = ensemble_of(dataset, table_of(made_dataset(8), tmp_path / "many.csv", 40))
    settings = DownscaleSettings(model="area_to_point_gp", local_scale=False, device="cpu", steps=20)
    first, second, third = (each.diagnostics["stations"] for each in downscale_ensemble(ensemble, settings).members)
    assert first == pytest.approx(third) and first["offset"] - second["offset"] == pytest.approx(1.0, abs=0.02)
    assert first["offset"] == pytest.approx(OFFSET, abs=4 * first["offset_sd"] + 0.05)


def test_the_command_takes_members_and_stations(table: Path, tmp_path: Path, capsys) -> None:
    of_members(6).to_netcdf(tmp_path / "made.nc", engine="h5netcdf")
    words = ["downscale", tmp_path / "made.nc", "--target", "t", "--covariates", "orog", "--block", 4, 4]
    words += ["--withhold", 0, "--model", "area_to_point_gp", "--no-learn", "--times", "all", "--stations", table]
    words += ["--output", tmp_path / "out.nc", "--statistics", "mean"]
    assert main([*map(str, words)]) == 0
    about = json.loads(capsys.readouterr().out)["results"][0]["diagnostics"]["stations"]
    assert [each["targets"] for each in about] == [12, 12, 12]
    with xr.open_dataset(tmp_path / "out.nc") as result:
        assert result["mean"].shape == (3, 6, 16, 20) and "ensemble_mean" in result


def test_the_command_downscales_cells_and_stations(dataset: xr.Dataset, table: Path, tmp_path: Path, capsys) -> None:
    dataset.to_netcdf(tmp_path / "made.nc", engine="h5netcdf")
    words = ["downscale", tmp_path / "made.nc", "--target", "t", "--covariates", "orog", "--block", 4, 4]
    words += ["--withhold", 0, "--model", "area_to_point_gp", "--no-learn", "--times", "all", "--stations", table]
    out = ["--output", tmp_path / "out.nc", "--statistics", "mean", "--realizations", 3]
    assert main([*map(str, words), *map(str, out)]) == 0
    found = capsys.readouterr()
    about = json.loads(found.out)["results"][0]["diagnostics"]["stations"]
    assert about["targets"] == 12 and about["times"] == 5 and "values at 5 of 6 times" in found.err
    with xr.open_dataset(tmp_path / "out.nc") as result:
        assert result["mean"].shape == (6, 16, 20) and "period_mean_sd" in result
        settings = {"model": "area_to_point_gp", "learn": False, "coarsen": (4, 4), "withhold": 0.0, "times": "all"}
        function = downscale(dataset, dataset, target="t", covariate_names=["orog"], stations=table, **settings)
        np.testing.assert_allclose(function["mean"], result["mean"], atol=1e-8)
    assert main([*map(str, words), "--station-time", "2001"]) != 0
    assert "`--station-time` applies to a single time" in capsys.readouterr().err


def test_what_stations_over_a_period_cannot_be_combined_with_is_refused(
    dataset: xr.Dataset, table: Path, tmp_path: Path
) -> None:
    rows = pd.read_csv(table)
    rows[rows["date"] == rows["date"][0]].drop(columns="date").to_csv(tmp_path / "one.csv", index=False)
    with pytest.raises(InputError, match="has no column of several dates"):
        series_of(dataset, tmp_path / "one.csv")
    rows.assign(date=pd.to_datetime(rows["date"]) + pd.Timedelta("3650D")).to_csv(tmp_path / "late.csv", index=False)
    with pytest.raises(InputError, match="None of the 6 times, 2001-01-01"):
        series_of(dataset, tmp_path / "late.csv")
    with pytest.raises(InputError, match="covariates that are the same at all times"):
        series_of(dataset.assign(orog=made_dataset(6)["wind"]), table)
