"""Many times with one factorisation against each time alone, and against dense matrices."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
import xarray as xr

from deconditioning import downscale
from deconditioning.downscaling.prediction import predict
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import FurtherSource, Source
from deconditioning.downscaling.starting import columns_of, completed, starting_spec
from deconditioning.errors import InputError
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.gridded import Fields
from deconditioning.fields.grids.sphere import EARTH_KM
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.scaling import Scale, Scaling
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.kernels.tiles import evaluate
from deconditioning.period import posterior
from deconditioning.period.run import PeriodResult, downscale_series
from deconditioning.period.series import Series, read_series
from deconditioning.period.statistics import period_draws
from tests.core.period.made import SPEC, made_dataset, made_fields

FIXED = DownscaleSettings(model="area_to_point_gp", learn=False, local_scale=False)


def series_of(fields: Fields, spec: DownscalingSpec = SPEC, words: tuple[str, ...] = ("all",)) -> Series:
    return read_series(Source("x"), spec, lambda key: fields, words)


def alone(fields: Fields, spec: DownscalingSpec, series: Series, result: PeriodResult, time: int):
    """Mean and sd of one time by the problem and the prediction of that time alone, in the scales of the series."""
    label = series.labels[time]
    problem = make_problem(fields, replace(spec, select={"t:time": label, "wind:time": label}))
    values = problem.coarse_truth.flat[problem.target_cell]
    scale = Scale(float(values.mean()), series.scale)
    data = replace(problem.data, targets=torch.as_tensor(scale.forward(values)))
    problem = replace(problem, target_scale=scale, data=data)
    problem = in_scales(problem, series.problem.input_scaling)
    result = predict(result.spec, data, problem)
    return problem.physical_mean(result.mean), problem.physical_sd(result.sd)


def in_scales(problem: DownscalingProblem, scaling: Scaling) -> DownscalingProblem:
    """The problem with inputs in the scales of another, which has seen other cells."""
    means, sds = (
        torch.tensor([getattr(s, part) for s in problem.input_scaling.scales], dtype=torch.float64)
        for part in ("mean", "sd")
    )

    def carried(inputs: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(scaling.forward((inputs * sds + means).numpy()))

    bags = replace(problem.data.bags, inputs=carried(problem.data.bags.inputs))
    return replace(problem, inputs=carried(problem.inputs), data=replace(problem.data, bags=bags))


@pytest.fixture(scope="module")
def fields() -> Fields:
    return made_fields()


def test_every_time_has_the_mean_and_sd_that_it_has_alone(fields: Fields) -> None:
    series = series_of(fields)
    result = downscale_series(series, FIXED)
    assert len(series) == 6 and result.spreads.shape[0] == 1
    for time in range(len(series)):
        mean, sd = alone(fields, SPEC, series, result, time)
        np.testing.assert_allclose(result.means[time], mean, rtol=0, atol=1e-9)
        np.testing.assert_allclose(result.sd(time), result.amplitude[time] * sd, rtol=0, atol=1e-9)


def test_missing_cells_may_change_with_time() -> None:
    dataset = made_dataset()
    dataset["t"][1, :4, :4] = np.nan  # one cell
    dataset["t"][2, :4, :4] = np.nan
    dataset["t"][2, 8:12, 4:12] = np.nan
    dataset["t"][4] = np.nan
    dataset["t"][:, 12:, 16:] = np.nan  # never measured
    fields = fields_from_dataset(dataset)
    series = series_of(fields)
    assert len(series) == 5 and "1 of 6 times" in series.notes[0] and not series.problem.observed.all()
    assert len(series.notes) == 1  # whole cells are missing
    result = downscale_series(series, FIXED)
    assert sorted(np.bincount(result.spread_of)) == [1, 1, 3]
    for time in range(len(series)):
        mean, sd = alone(fields, SPEC, series, result, time)
        np.testing.assert_allclose(result.means[time], mean, rtol=0, atol=1e-9)
        np.testing.assert_allclose(result.sd(time), result.amplitude[time] * sd, rtol=0, atol=1e-9)


def test_pixels_that_are_missing_always_are_in_no_cell_and_others_are_said() -> None:
    dataset = made_dataset()
    dataset["t"][:, 0, :3] = np.nan
    series, kept = series_of(fields_from_dataset(dataset)), dataset["t"].copy()
    assert not series.notes and len(series.problem.data.bags.inputs) == 16 * 20 - 3
    dataset["t"][2, 5, :2] = np.nan
    assert series_of(fields_from_dataset(dataset)).notes == (
        "2 pixels lack the target at some times only: the mean over the rest of their cell then stands in for the "
        "mean over the whole cell.",
    )
    weights = np.cos(np.radians(dataset.lat)) * np.isfinite(kept[0])
    expected = (kept * weights).isel(lat=slice(0, 4), lon=slice(0, 4)).sum(("lat", "lon")) / weights[:4, :4].sum()
    np.testing.assert_allclose(series.coarse[:, 15], expected, atol=2e-3)  # areas of pixels are exact there


def test_dense_matrices_give_the_same(fields: Fields) -> None:
    """Mean, variance, evidence and amplitude of one time from K over all pixels."""
    series = series_of(fields)
    result = downscale_series(series, FIXED)
    problem, spec = series.problem, result.spec
    kernel = evaluate(spec.kernel.build(problem.columns), problem.inputs, problem.inputs).detach().numpy()
    area = problem.grid.area.ravel()[problem.pixel]
    average = (np.arange(20)[:, None] == problem.cell.ravel()[problem.pixel]) * area
    average /= average.sum(1, keepdims=True)
    covariance = average @ kernel @ average.T + spec.noise * np.eye(20)
    z = (series.coarse[3] - series.coarse[3].mean()) / series.scale
    gain = kernel @ average.T @ np.linalg.inv(covariance)
    fit = z @ np.linalg.solve(covariance, z)
    mean = series.coarse[3].mean() + series.scale * gain @ z
    var = np.diag(kernel - gain @ average @ kernel) + spec.point_noise
    amplitude = np.sqrt((10 + fit) / 30)
    np.testing.assert_allclose(result.means[3].ravel(), mean, rtol=0, atol=1e-9)
    np.testing.assert_allclose(result.sd(3).ravel(), series.scale * amplitude * np.sqrt(var), rtol=0, atol=1e-8)
    evidence = -0.5 * (fit + np.linalg.slogdet(covariance)[1] + 20 * np.log(2 * np.pi))
    assert result.evidence[3] == pytest.approx(evidence, abs=1e-8)


def test_covariates_that_change_with_time_have_scales_of_their_own_series(fields: Fields) -> None:
    """Means of a time are those of its own problem, whose kernel is carried to the covariates' scale of that time."""
    spec = DownscalingSpec("t", ("orog", "wind"), block=(4, 4), withhold=0.0)
    series = series_of(fields, spec)
    assert series.varying is not None
    result = downscale_series(series, FIXED)
    for time in (0, 4):
        problem = series.at(time)
        wind = fields.values("wind", {"time": time}).ravel()
        column = problem.columns.index("wind")
        scaled = problem.inputs[:, column].numpy() * problem.input_scaling.scales[column].sd
        np.testing.assert_allclose(scaled + problem.input_scaling.scales[column].mean, wind, atol=1e-9)
        kernel = evaluate(result.spec.kernel.build(problem.columns), problem.inputs, problem.inputs).detach().numpy()
        area = problem.grid.area.ravel()
        average = (np.arange(20)[:, None] == problem.cell.ravel()) * area
        average /= average.sum(1, keepdims=True)
        z = series.coarse[time] - series.coarse[time].mean()
        covariance = average @ kernel @ average.T + result.spec.noise * np.eye(20)
        mean = series.coarse[time].mean() + kernel @ average.T @ np.linalg.solve(covariance, z)
        np.testing.assert_allclose(result.means[time].ravel(), mean, rtol=0, atol=1e-8)


def test_sums_by_region_are_those_kept_in_memory(fields: Fields, monkeypatch: pytest.MonkeyPatch) -> None:
    series = series_of(fields)
    kept = downscale_series(series, FIXED)
    monkeypatch.setattr(posterior, "fits_in_memory", lambda problem: False)
    monkeypatch.setattr(posterior, "tile_points", lambda *_: 50)
    again = downscale_series(series, FIXED)
    np.testing.assert_allclose(again.means, kept.means, rtol=0, atol=1e-7)
    np.testing.assert_allclose(again.spreads, kept.spreads, rtol=0, atol=1e-7)


def test_the_local_scale_of_repeated_times_is_that_of_one() -> None:
    """Six times the same field: κ is that of the field alone, and so is everything else."""
    dataset = made_dataset()
    dataset["t"][:] = dataset["t"][:1].values
    fields = fields_from_dataset(dataset)
    series = series_of(fields)
    settings = FIXED.replace(local_scale=True)
    many, one = downscale_series(series, settings), downscale_series(series_of(fields, words=("#0",)), settings)
    np.testing.assert_allclose(many.sd(5), one.sd(0), rtol=1e-9)
    assert not np.allclose(one.sd(0), downscale_series(series, FIXED).sd(0), rtol=1e-3)


def test_a_coarse_file_gives_what_block_means_give(fields: Fields) -> None:
    """The same cells as a file of its own, with latitudes turned round and further cells around."""
    dataset = made_dataset()
    weight = np.cos(np.radians(dataset.lat))
    boxes = {"lat": 4, "lon": 4}
    coarse = (dataset[["t"]] * weight).coarsen(boxes).sum() / (weight + 0 * dataset.t[0]).coarsen(boxes).sum()
    coarse["t"].attrs = dataset["t"].attrs
    one = downscale_series(series_of(fields), FIXED)
    files = {
        "fine": fields_from_dataset(dataset[["orog"]]),
        "coarse": fields_from_dataset(coarse.isel(lat=slice(None, None, -1))),
    }
    series = read_series(Source("fine", "coarse"), replace(SPEC, matching="direct"), files.__getitem__, ["#0/#5"])
    assert series.fine is None
    np.testing.assert_allclose(series.coarse, one.series.coarse, atol=2e-3)  # areas of cells are exact there
    two = downscale_series(series, FIXED)
    np.testing.assert_allclose(two.means, one.means, atol=0.01)


@pytest.mark.parametrize("apart", [False, True])
def test_sums_over_cells_are_densities_at_every_time(apart: bool) -> None:
    """Sums over blocks over the blocks' areas between parallels and meridians, by hand."""
    dataset = made_dataset(3)
    dataset["t"].attrs = {"units": "kg", "cell_methods": "area: sum"}
    blocks = dataset[["t"]].coarsen({"lat": 4, "lon": 4})
    edges = np.sin(np.radians(50.125 - np.arange(5)))
    expected = blocks.sum().t.values / (EARTH_KM**2 * np.radians(1) * -np.diff(edges)[:, None])
    files = {"x": fields_from_dataset(dataset)}
    if apart:
        low = xr.Dataset({"t": blocks.sum().t.assign_attrs(dataset.t.attrs)}, blocks.mean().coords)
        files = {"x": fields_from_dataset(dataset[["orog"]]), "low": fields_from_dataset(low)}
    spec = replace(SPEC, matching="direct") if apart else SPEC
    series = read_series(Source("x", "low" if apart else None), spec, files.__getitem__, ["all"])
    assert series.problem.units == "kg km-2"
    np.testing.assert_allclose(series.coarse.reshape(3, 4, 5)[:, ::-1], expected, rtol=1e-9)
    if not apart:
        truth = series.fine(2)
        np.testing.assert_allclose(series.problem.shares.mean(truth, series.problem.grid.area), series.coarse[2])


def test_what_is_of_one_time_is_refused_over_a_period() -> None:
    def opened(key: str) -> Fields:
        raise AssertionError("nothing is read")

    for source, spec, said in (
        (Source("x", scored="s"), SPEC, "Scored stations"),
        (Source("x", also=(FurtherSource("s"),)), SPEC, "Further sources"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=f"{said} apply to a single time"):
            read_series(source, spec, opened, ["all"])


def test_what_cannot_be_downscaled_over_a_period_is_refused(fields: Fields) -> None:
    series = series_of(fields)
    with pytest.raises(InputError, match="several times at once"):
        downscale_series(series, FIXED.replace(model="variational_cmp"))
    with pytest.raises(InputError, match="no dimension of several times"):
        series_of(fields, DownscalingSpec("orog", ("wind",), block=(4, 4)))
    with pytest.raises(InputError, match="No time matches '2002'"):
        series_of(fields, words=("2002",))


def test_spec_is_that_of_one_problem(fields: Fields) -> None:
    series = series_of(fields)
    spec = starting_spec(series.problem, completed(series.problem, FIXED))
    assert downscale_series(series, FIXED).spec == spec and columns_of(series.problem).inputs[-1] == "orog"


def test_the_function_downscale_takes_times_and_an_archive() -> None:
    dataset = made_dataset(30)
    settings = {"model": "area_to_point_gp", "learn": False, "coarsen": (4, 4), "withhold": 0.0}
    fine = dataset[["t", "orog"]]
    result = downscale(fine, fine, target="t", covariate_names=["orog"], times="#24/#29", archive=fine, **settings)
    assert result["mean"].shape == (6, 16, 20) and result["mean"].dims[0] == "time"
    np.testing.assert_array_equal(result.time.values, dataset.time.values[24:])
    assert np.sqrt((result.error**2).mean()) < 1.5
    with pytest.raises(InputError, match="needs `times`"):
        downscale(fine, fine, target="t", archive=fine, **settings)


@pytest.mark.gpu
@pytest.mark.parametrize("changes", [{}, {"local_scale": True}, {"learn": True, "restarts": 1, "steps": 5}])
def test_a_gpu_gives_the_same_series_and_draws(changes: dict) -> None:
    series = series_of(made_fields(6))
    here, there = (downscale_series(series, FIXED.replace(device=name, **changes)) for name in ("cpu", "cuda"))
    assert there.diagnostics["device"] == "cuda"
    for name in ("means", "spreads", "amplitude", "evidence"):
        np.testing.assert_allclose(getattr(there, name), getattr(here, name), rtol=1e-5 if changes else 1e-8)
    np.testing.assert_allclose(*(next(period_draws(each, 1, 0))[0] for each in (here, there)), atol=1e-4)


def test_times_may_be_dates_of_an_array() -> None:
    data = made_dataset(9)
    more: dict[str, Any] = {"coarsen": (4, 4), "withhold": 0.0, "learn": False, "device": "cpu"}
    words, dates, stamps = (
        downscale(data.t, data.orog, times=times, **more)
        for times in (["2001-01-03", "2001-01-05"], data.time[[2, 4]], list(pd.to_datetime(data.time.values[[2, 4]])))
    )
    xr.testing.assert_equal(words, dates)
    xr.testing.assert_equal(words, stamps)
    with pytest.raises(InputError, match="3 is no time"):
        downscale(data.t, data.orog, times=3, **more)
