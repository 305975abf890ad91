"""Regions over a period: against the map of each time, beside an archive, and by the command."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import shapely
import torch
import xarray as xr

from deconditioning.cli.program import main
from deconditioning.downscaling.further_sources.opening import regions_at
from deconditioning.downscaling.prediction import predict
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.errors import InputError
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.problem.scaling import Scale
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.training import read_training
from deconditioning.period.run import downscale_series
from deconditioning.period.series import Series, read_series
from tests.core.fields.test_regions import geojson, weights
from tests.core.period.made import SPEC, UNLEARNED, made_dataset
from tests.core.period.test_series import in_scales

PLAIN = replace(SPEC, covariates=("orog",))


def hexagons() -> list[shapely.Polygon]:
    """Hexagons over the made-up region, some of them across its edge."""
    angle = np.deg2rad(60 * np.arange(6) + 30)
    return [
        shapely.Polygon(np.stack([5.3 + 0.95 * (c + 0.5 * (r % 2)) + 0.55 * np.cos(angle),
                                  46.7 + 0.82 * r + 0.55 * np.sin(angle)], axis=1))
        for r in range(4) for c in range(5)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def dataset() -> xr.Dataset:
    return made_dataset(60)


@pytest.fixture(scope="module")
def files(dataset: xr.Dataset, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Outlines, and a table of their means with errors, which lacks a region at one date and a value at another."""
    folder = tmp_path_factory.mktemp("regions")
    fields, shapes = fields_from_dataset(dataset), np.array(hexagons(), dtype=object)
    area = weights(fields.grid, shapes) * fields.grid.area.ravel()
    rows, sds = [], np.random.default_rng(0).choice([0.05, 1.0], len(shapes))
    for n, date in enumerate(dataset.time.values):
        means = area @ fields.values("t", {"time": n}).ravel() / area.sum(1)
        rows += [(f"no {k}", str(date)[:10], mean, sd) for k, (mean, sd) in enumerate(zip(means, sds, strict=True))]
    table = pd.DataFrame(rows, columns=["name", "date", "t", "t_sd"])
    table.loc[table.index[(table.date == "2001-02-20") & (table.name == "no 3")], "t"] = np.nan
    table = table[~((table["date"] == "2001-02-22") & (table["name"] == "no 7"))]
    table.loc[(table["date"] == "2001-02-20") & (table["name"] == "no 3"), "t"] = np.nan
    table.to_csv(folder / "v.csv", index=False)
    return geojson(folder / "a.geojson", list(shapes), [None] * len(shapes)), folder / "v.csv"


def source_of(files: tuple[Path, Path], **more: str) -> Source:
    return Source("x", regions=str(files[0]), table=str(files[1]), key="name", units="K", **more)


def series_of(dataset: xr.Dataset, files: tuple[Path, Path], words: str, **changes: object) -> Series:
    fields = fields_from_dataset(dataset[["orog", "wind"]])
    return read_series(source_of(files), replace(PLAIN, **changes), lambda key: fields, [words])


@pytest.mark.parametrize("error", [None, "t_sd"])
def test_each_time_is_as_the_map_of_that_time(
    dataset: xr.Dataset, files: tuple[Path, Path], error: str | None
) -> None:  # fmt: skip
    """Also where a row or a value is missing; with errors of the regions."""
    series = series_of(dataset, files, "2001-02-19/2001-02-23", error=error)
    assert len(series) == 5 and np.isnan(series.coarse[:, series.problem.target_cell]).sum() == 2
    result = downscale_series(series, UNLEARNED, link=False)
    fields = fields_from_dataset(dataset[["orog"]])
    for time in (0, 1, 3):
        source = source_of(files, region_time=series.labels[time])
        problem = build_problem(source, replace(PLAIN, error=error), lambda key: fields, regions=regions_at)
        problem = in_scales(problem, series.problem.input_scaling)
        scale = Scale(float(series.level[time]), series.scale)
        values = problem.coarse_truth.flat[problem.target_cell]
        known = problem.data.errors
        errors = None if known is None else known * (problem.target_scale.sd / scale.sd) ** 2
        data = replace(problem.data, targets=torch.as_tensor(scale.forward(values)), errors=errors)
        alone = predict(result.spec, data, replace(problem, target_scale=scale, data=data))
        mean, sd = problem.on_grid(scale.mean + scale.sd * alone.mean), problem.on_grid(scale.sd * alone.sd)
        np.testing.assert_allclose(result.means[time], mean, rtol=0, atol=1e-9)
        np.testing.assert_allclose(result.sd(time), result.amplitude[time] * sd, rtol=0, atol=1e-9)


def test_covariates_may_change_and_regions_keep_their_means(dataset: xr.Dataset, files: tuple[Path, Path]) -> None:
    series = series_of(dataset, files, "#0/#3", covariates=("orog", "wind"))
    assert series.varying is not None and series.labels[0] == "2001-01-01 00:00"
    result = downscale_series(series, UNLEARNED.replace(noise=1e-8))
    problem = series.problem
    for time in range(4):
        mean = problem.shares.mean(result.means[time], problem.grid.area)[problem.target_cell]
        np.testing.assert_allclose(mean, series.coarse[time][problem.target_cell], atol=2e-3)


def test_an_archive_is_a_prior_for_regions(dataset: xr.Dataset, files: tuple[Path, Path]) -> None:
    """Its means over the regions are those of the table; maps are better than from regions alone and nearly
    keep the means, up to pixels that several regions share."""
    series = series_of(dataset, files, "#48/#59")
    archive = fields_from_dataset(dataset[["t"]])
    training = read_training(series, archive, ["#0/#47"])
    at_first = series.file.coarse(3)[series.problem.target_cell]
    np.testing.assert_allclose(training.cells[3], at_first, atol=1e-6)
    result, alone = downscale_with_archive(series, training, UNLEARNED), downscale_series(series, UNLEARNED)
    truth = dataset["t"].values[48:, ::-1]
    known = np.isfinite(result.means[0])
    rmse = [np.sqrt(np.nanmean((each.means - truth)[:, known] ** 2)) for each in (result, alone)]
    assert rmse[0] < 0.8 * rmse[1]
    problem = series.problem
    for time in (0, 6):
        mean = problem.shares.mean(result.means[time], problem.grid.area)[problem.target_cell]
        there = np.isfinite(series.coarse[time][problem.target_cell])
        np.testing.assert_allclose(mean[there], series.coarse[time][problem.target_cell][there], atol=0.1)
    inside = [np.abs(truth[n] - result.means[n]) < 1.96 * result.sd(n) for n in range(12)]
    assert 0.85 < np.mean(np.array(inside)[:, known]) < 0.995


def test_what_regions_need_over_a_period_is_said(dataset: xr.Dataset, files: tuple[Path, Path], tmp_path: Path) -> None:
    fields = fields_from_dataset(dataset[["orog"]])
    once = pd.read_csv(files[1])
    once[once["date"] == "2001-01-05"].to_csv(tmp_path / "once.csv", index=False)
    for source, said in (
        (Source("x", regions=str(files[0])), "need a table with a row for each region and date"),
        (source_of(files, region_time="2001-01-05"), "applies to a single map"),
        (source_of((files[0], tmp_path / "once.csv")), "no dates at several of which"),
    ):
        with pytest.raises(InputError, match=said):
            read_series(source, PLAIN, lambda key: fields, ["all"])


@pytest.mark.parametrize("archive", [False, True])
def test_the_command_takes_regions_and_their_dates(
    dataset: xr.Dataset, files: tuple[Path, Path], tmp_path: Path, capsys, archive: bool
) -> None:
    dataset[["orog"]].to_netcdf(tmp_path / "fine.nc", engine="h5netcdf")
    dataset[["t"]].to_netcdf(tmp_path / "archive.nc", engine="h5netcdf")
    words = ["downscale", tmp_path / "fine.nc", "--polygons", files[0], "--value", "t", "--value-units", "K",
             "--region-table", files[1], "--key", "name", "--covariates", "orog", "--error", "t_sd", "--no-learn",
             "--times", "2001-02-19/2001-02-28", "--output", tmp_path / "o.nc"]  # fmt: skip
    words += ["--archive", tmp_path / "archive.nc", "--period", "2001-01"] if archive else []
    assert main([*map(str, words)]) == 0
    captured = capsys.readouterr()
    assert "20 regions" in captured.err and json.loads(captured.out)["results"][0]["times"] == 10
    with xr.open_dataset(tmp_path / "o.nc", engine="h5netcdf") as made:
        assert str(made.time.values[0])[:10] == "2001-02-19" and made["mean"].shape == (10, 16, 20)
        off = made["mean"] - dataset["t"].sel(time=made.time).interp(lat=made.lat, lon=made.lon)
        assert float(np.sqrt((off**2).mean())) < (1.2 if archive else 2.2)
    assert main([*map(str, words), "--region-time", "2001-02-20"]) == 2
    assert "`--region-time` applies to a single time" in capsys.readouterr().err
