"""Errors of cells over a period: against each time alone, one dense Gaussian, and what they change."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import xarray as xr

from deconditioning.cli.program import main
from deconditioning.downscaling.prediction import predict
from deconditioning.downscaling.source import Source
from deconditioning.downscaling.starting import columns_of, completed, starting_spec
from deconditioning.errors import InputError, never
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.problem.scaling import Scale
from deconditioning.fields.problem.two_files import make_problem_from_files
from deconditioning.kernels.tiles import evaluate
from deconditioning.models.learning.repeats import Repeats, averaged_objective, gap_patterns
from deconditioning.models.learning.trainable import Trainable
from deconditioning.period.correlation import days_of
from deconditioning.period.linking.cells import Lasting
from deconditioning.period.run import PeriodResult, downscale_series
from deconditioning.period.series import Series, read_series
from deconditioning.period.statistics import period_draws
from tests.core.period.dense import lasting
from tests.core.period.made import SPEC, UNLEARNED, made_dataset
from tests.core.period.test_stations import is_of_dense_matrices, table_of

ERROR = replace(SPEC, matching="direct", error="t_sd")
ALIKE = UNLEARNED.replace(noise=0.02)


def low_of(dataset: xr.Dataset, *, moving: bool) -> xr.Dataset:
    """Cell means with errors of 0.1 or 2 K that they contain, the same at all times or not."""
    rng, blocks = np.random.default_rng(3), dataset[["t"]].coarsen(lat=4, lon=4).mean()
    t = blocks["t"]
    error = rng.choice([0.1, 2.0], t.shape if moving else t.shape[1:])
    dims = t.dims if moving else t.dims[1:]
    noisy = (t + error * rng.normal(size=t.shape)).assign_attrs(dataset["t"].attrs)
    return xr.Dataset({"t": noisy, "t_sd": (dims, error, {"units": "K"})})


def of_files(times: int, *, moving: bool, error: str | None = "t_sd", words: str = "all", **more: str) -> Series:
    dataset = made_dataset(times)
    low = low_of(dataset, moving=moving)
    files = {"x": fields_from_dataset(dataset[["orog"]]), "low": fields_from_dataset(low)}
    return read_series(Source("x", "low", **more), replace(ERROR, error=error), files.__getitem__, [words])


def with_gaps(series: Series) -> Series:
    """The series with a quarter of the cells missing at random."""
    missing = np.random.default_rng(1).uniform(size=series.coarse.shape) < 0.25
    coarse = np.where(missing, np.nan, series.coarse)
    return replace(series, coarse=coarse, level=np.nanmean(coarse, axis=1))


def dense(series: Series, result: PeriodResult) -> tuple[np.ndarray, np.ndarray, float]:
    """Mean and variance (T, P), standardised, and log evidence by one covariance of all cells at all times, of fields
    whose levels are new at every time and whose rest lasts where times are linked.
    """
    problem, spec, count = series.problem, result.spec, len(series)
    kernel = evaluate(spec.kernel.build(problem.columns), problem.inputs, problem.inputs).detach().numpy()
    constant = sum(t.scale for t in spec.kernel.terms if all(f.family == "constant" for f in t.factors))
    area = problem.grid.area.ravel()
    average = (np.arange(20)[:, None] == problem.cell.ravel()) * area
    average /= average.sum(1, keepdims=True)
    days, lasts = days_of(series.dates), Lasting(1e-9) if result.linked is None else result.linked.lasting
    whole = lasting(kernel - constant, average, days, lasts).reshape(count * 320, -1)
    whole += np.kron(np.eye(count), np.full_like(kernel, constant))
    seen = np.kron(np.eye(count), average)
    z, noise = ((series.coarse - series.level[:, None]) / series.scale).ravel(), np.full(20 * count, spec.noise)
    if series.errors is not None:
        noise = noise + (series.errors.ravel() / series.scale) ** 2
    known = np.isfinite(z)
    seen, z, noise = seen[known], z[known], noise[known]
    covariance, across = seen @ whole @ seen.T + np.diag(noise), whole @ seen.T
    fit = np.linalg.solve(covariance, z)
    evidence = -0.5 * (z @ fit + np.linalg.slogdet(covariance)[1] + len(z) * np.log(2 * np.pi))
    variance = np.diag(whole) - (across * np.linalg.solve(covariance, across.T).T).sum(1)
    return (across @ fit).reshape(count, -1), variance.reshape(count, -1), evidence


def check(series: Series, result: PeriodResult) -> None:
    """Means, sds and evidence against `dense`."""
    mean, variance, evidence = dense(series, result)
    for time in range(len(series)):
        expected = series.level[time] + series.scale * mean[time]
        np.testing.assert_allclose(result.means[time].ravel(), expected, rtol=0, atol=1e-9)
        sd = series.scale * result.amplitude[time] * np.sqrt(variance[time])
        np.testing.assert_allclose(result.sd(time).ravel(), sd, rtol=0, atol=1e-9)
    assert result.evidence.sum() == pytest.approx(evidence, abs=1e-8)


def test_one_time_is_as_the_map_of_that_time() -> None:
    """With errors that are the same at all times, by the prediction of the single time, in the scales of the series."""
    series = of_files(4, moving=False)
    result = downscale_series(series, ALIKE)
    assert len(result.spreads) == 1
    dataset = made_dataset(4)
    low = low_of(dataset, moving=False)
    spec = replace(ERROR, select={"t:time": series.labels[2]})
    problem = make_problem_from_files(fields_from_dataset(dataset[["orog"]]), fields_from_dataset(low), None, spec)
    scale = Scale(float(series.level[2]), series.scale)
    values = problem.coarse_truth.flat[problem.target_cell]
    errors = problem.data.errors * (problem.target_scale.sd / scale.sd) ** 2
    data = replace(problem.data, targets=torch.as_tensor(scale.forward(values)), errors=errors)
    alone = predict(result.spec, data, replace(problem, target_scale=scale, data=data))
    np.testing.assert_allclose(result.means[2].ravel(), scale.mean + scale.sd * alone.mean, rtol=0, atol=1e-9)
    sd = result.amplitude[2] * scale.sd * alone.sd
    np.testing.assert_allclose(result.sd(2).ravel(), sd, rtol=0, atol=1e-9)
    assert float(series.at(2).data.errors.max()) == pytest.approx((2.0 / series.scale) ** 2)


@pytest.mark.parametrize("moving", [False, True])
def test_each_time_is_that_of_dense_matrices(moving: bool) -> None:
    """With gaps; the factor of each time's variance, and what a cell left out is predicted with."""
    series = with_gaps(of_files(5, moving=moving))
    result = downscale_series(series, ALIKE, link=False)
    check(series, result)
    problem, spec = series.problem, result.spec
    kernel = evaluate(spec.kernel.build(problem.columns), problem.inputs, problem.inputs).detach().numpy()
    area = problem.grid.area.ravel()
    average = (np.arange(20)[:, None] == problem.cell.ravel()) * area
    average /= average.sum(1, keepdims=True)
    known = np.isfinite(series.coarse[3])
    noise = spec.noise + (series.errors[3] / series.scale) ** 2
    covariance = (average @ kernel @ average.T + np.diag(noise))[known][:, known]
    z = (series.coarse[3][known] - series.level[3]) / series.scale
    fit = z @ np.linalg.solve(covariance, z)
    assert result.amplitude[3] == pytest.approx(np.sqrt((10 + fit) / (10 + known.sum())), abs=1e-10)


@pytest.mark.parametrize("moving", [False, True])
def test_linked_times_are_those_of_one_gaussian_over_all(moving: bool) -> None:
    series = with_gaps(of_files(6, moving=moving))
    result = downscale_series(series, ALIKE, link=True)
    assert result.linked is not None
    check(series, result)
    drawn = result.residuals.together(400, torch.Generator().manual_seed(0))
    assert float(drawn.var(0).mean()) == pytest.approx(1, abs=0.03)


def test_noisy_cells_are_linked_by_default_where_that_pays() -> None:
    series = of_files(40, moving=True)
    assert np.isfinite(series.coarse).all() and downscale_series(replace(series, errors=None), ALIKE).linked is None
    linked, alone = downscale_series(series, ALIKE), downscale_series(series, ALIKE, link=False)
    truth = made_dataset(40)["t"].values[:, ::-1]  # rows from the south
    rmse = [np.sqrt(np.mean((each.means - truth) ** 2)) for each in (linked, alone)]
    assert linked.linked is not None and rmse[0] < 0.95 * rmse[1]


def test_precise_cells_are_followed_and_draws_have_the_sd() -> None:
    series = of_files(12, moving=True)
    settings = UNLEARNED.replace(learn=True, restarts=1, steps=20)
    results = [downscale_series(each, settings, link=False) for each in (series, replace(series, errors=None))]
    truth = made_dataset(12)["t"].values[:, ::-1]  # rows from the south
    rmse = [np.sqrt(np.mean((each.means - truth) ** 2)) for each in results]
    assert rmse[0] < 0.8 * rmse[1]
    errors = results[0].residuals.draw(3000, torch.Generator().manual_seed(0))
    assert float(errors.var(0).mean()) == pytest.approx(1, abs=0.02)
    assert any(part.scale > 0 for part in results[0].residuals.correlation.parts)  # although no two times are alike
    assert len(list(period_draws(results[0], 2, 0))) == 2


def test_the_averaged_evidence_knows_the_errors() -> None:
    series = with_gaps(of_files(3, moving=True))
    problem = series.problem
    spec = starting_spec(problem, completed(problem, ALIKE))
    (block,) = series.blocks()
    trainable = Trainable(spec, problem.data, columns_of(problem))
    repeats = Repeats(problem.data, block.targets, errors=block.errors)
    loss = float(averaged_objective(trainable, [repeats], never)().detach())
    evidence = dense(series, downscale_series(series, ALIKE, link=False))[2]
    assert -loss * 3 * 20 == pytest.approx(evidence, abs=1e-8)
    assert len(gap_patterns(block.targets, block.errors)) == 3
    learned = downscale_series(series, ALIKE.replace(learn=True, steps=3, restarts=1), link=False)
    assert np.isfinite(learned.means).all()


def test_stations_stand_beside_cells_with_errors(tmp_path: Path) -> None:
    table = table_of(made_dataset(4), tmp_path / "stations.csv", altitude=False)
    series = of_files(4, moving=True, stations=str(table))
    is_of_dense_matrices(series, downscale_series(series, UNLEARNED))


def test_a_number_is_the_error_of_every_cell_and_unknown_errors_hide_a_cell() -> None:
    same = of_files(3, moving=False, error="0.7")
    assert same.errors is not None and np.all(same.errors == 0.7)
    dataset = made_dataset(3)
    low = low_of(dataset, moving=True)
    low["t_sd"][1, 0, 0] = np.nan
    files = {"x": fields_from_dataset(dataset[["orog"]]), "low": fields_from_dataset(low)}
    series = read_series(Source("x", "low"), ERROR, files.__getitem__, ["all"])
    assert np.isnan(series.coarse).sum() == 1 and np.isnan(series.coarse[1]).any()
    result = downscale_series(series, ALIKE, link=False)
    check(replace(series, errors=np.nan_to_num(series.errors)), result)


def test_what_has_no_errors_is_refused() -> None:
    fields = fields_from_dataset(made_dataset(3))
    with pytest.raises(InputError, match="values of a coarse file"):
        read_series(Source("x"), replace(SPEC, error="t"), lambda key: fields, ["all"])
    with pytest.raises(InputError, match="no standard deviation"):
        of_files(3, moving=False, error="-1")
    with pytest.raises(InputError, match="cannot be combined with a warp"):
        downscale_series(of_files(3, moving=False), ALIKE.replace(warp="log"))


def test_the_command_takes_errors(tmp_path: Path, capsys) -> None:
    dataset = made_dataset(6)
    low = low_of(dataset, moving=True)
    dataset[["orog"]].to_netcdf(tmp_path / "fine.nc", engine="h5netcdf")
    low.to_netcdf(tmp_path / "low.nc", engine="h5netcdf")
    command = ["downscale", tmp_path / "fine.nc", "--coarse", tmp_path / "low.nc", "--target", "t", "--times", "all",
               "--model", "area_to_point_gp", "--steps", 20, "--restarts", 1, "--quiet",
               "--matching", "direct"]  # fmt: skip
    rmse = []
    for more in (["--error", "t_sd"], ["--error", "1.4"], []):
        assert main([*map(str, command), *more, "--output", str(tmp_path / "o.nc")]) == 0
        given = json.loads(capsys.readouterr().out)
        assert given["settings"]["problem"].get("error") == (more[1] if more else None)
        with xr.open_dataset(tmp_path / "o.nc", engine="h5netcdf") as made:
            off = made["mean"] - dataset["t"].interp(lat=made.lat, lon=made.lon)
            rmse.append(float(np.sqrt((off**2).mean())))
    assert rmse[0] < 0.8 * rmse[2] and rmse[0] < rmse[1] < rmse[2]


def test_covariates_may_change_beside_the_errors() -> None:
    """Each time as the problem of that time alone predicts it; of linked times the errors are part of the noise."""
    dataset = made_dataset(9)
    files = {
        "x": fields_from_dataset(dataset[["orog", "wind"]]),
        "low": fields_from_dataset(low_of(dataset, moving=True)),
    }
    spec = replace(ERROR, covariates=("orog", "wind"))
    series = read_series(Source("x", "low"), spec, files.__getitem__, ["all"])
    assert series.varying is not None
    result = downscale_series(series, ALIKE, link=False)
    problem = series.at(4)
    alone = predict(result.spec, problem.data, problem)
    np.testing.assert_allclose(result.means[4], problem.physical_mean(alone.mean), rtol=0, atol=1e-8)
    np.testing.assert_allclose(result.sd(4), result.amplitude[4] * problem.physical_sd(alone.sd), rtol=0, atol=1e-8)
    linked = downscale_series(series, ALIKE, link=True)
    silent = downscale_series(replace(series, errors=np.zeros_like(series.errors)), ALIKE, link=True)
    assert linked.linked is not None and silent.linked is not None
    added = (linked.linked.cells.noise - silent.linked.cells.noise).diagonal(dim1=1, dim2=2)
    np.testing.assert_allclose(added, series.variances(range(9)).T, atol=1e-9)
