"""All times of a period as one run: the file holds what one prediction of all gives, also after an interruption."""

import json
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from deconditioning.cli.program import main
from deconditioning.datasets.weather import weather_region
from deconditioning.downscaling.source import Source, keep_upload
from deconditioning.engine.context import Context
from deconditioning.engine.records import RunSpec
from deconditioning.engine.tasks import find_task
from deconditioning.errors import Cancelled, InputError
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.training import read_training
from deconditioning.period.ensemble import downscale_ensemble, read_ensemble
from deconditioning.period.run import downscale_series
from deconditioning.period.series import Series, read_series
from deconditioning.period.tasks.write import FILE, PeriodTask, write_period_task
from tests.core.fields.samples import netcdf
from tests.core.period.made import SPEC, UNLEARNED, made_dataset, made_fields
from tests.waiting import wait_for

TIMES, LATER = 40, ("#32/#39",)


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PeriodTask:
    """Eight times in blocks of three."""
    monkeypatch.setenv("DECONDITIONING_RUNS", str(tmp_path))
    key, _ = keep_upload(netcdf(made_dataset(TIMES)), "made.nc")
    return PeriodTask(Source(key), SPEC, LATER, settings=UNLEARNED, at_once=3)


def read(context: Context) -> xr.Dataset:
    return xr.open_dataset(context.files[FILE], engine="h5netcdf").load()


def test_the_file_holds_every_time_of_one_prediction(task: PeriodTask) -> None:
    context = Context()
    told = write_period_task(PeriodTask.from_dict(task.to_dict()).to_dict(), context)
    fields = made_fields(TIMES)
    whole = downscale_series(read_series(Source("made"), SPEC, lambda key: fields, list(LATER)), UNLEARNED)
    found = read(context)
    np.testing.assert_allclose(found["mean"], whole.means, rtol=1e-6)
    np.testing.assert_allclose(found["sd"], np.stack([whole.sd(time) for time in range(8)]), rtol=1e-5)
    square, area = (found["mean"] - found["truth"]) ** 2, np.cos(np.radians(found["lat"]))
    rmse = float(square.weighted(area).mean() ** 0.5)
    assert told["scores"]["area_to_point_gp"]["rmse"] == pytest.approx(rmse, rel=1e-3)
    shares = [row["share"] for row in context.trace if "share" in row]
    assert told["times"] == 8 and not task.store.exists() and shares == sorted(shares)


def test_with_an_archive_it_is_that_of_the_archive(task: PeriodTask) -> None:
    fields, words = made_fields(TIMES), ["#0/#31"]
    series = read_series(Source("made"), SPEC, lambda key: fields, list(LATER))
    whole = downscale_with_archive(series, read_training(series, fields, words), UNLEARNED)
    context = Context()
    write_period_task(task.to_dict() | {"training": words}, context)
    np.testing.assert_allclose(read(context)["mean"], whole.means, rtol=1e-6)


def test_a_run_that_was_cancelled_computes_only_the_other_blocks(task: PeriodTask) -> None:
    whole, first = Context(), Context()
    write_period_task(task.to_dict(), whole)
    first._stop = lambda: any("Wrote" in row.get("message", "") for row in first.trace)
    with pytest.raises(Cancelled):
        write_period_task(task.to_dict(), first)
    assert task.store.exists() and FILE not in first.files
    again = Context()
    write_period_task(task.to_dict(), again)
    said = [row.get("message", "") for row in again.trace]
    assert any("holds 1 of 3 blocks of times" in each for each in said) and sum("Wrote" in each for each in said) == 2
    xr.testing.assert_allclose(read(again)["mean"], read(whole)["mean"], rtol=1e-6)


KILLED = """
import json, sys, time
from deconditioning.engine.context import Context
from deconditioning.period.tasks.write import write_period_task
wait = lambda row: time.sleep(600) if "Wrote" in row.get("message", "") else None
write_period_task(json.loads(sys.argv[1]), Context(wait))
"""


def test_a_run_that_was_killed_is_continued(task: PeriodTask) -> None:
    process = subprocess.Popen([sys.executable, "-c", KILLED, json.dumps(task.to_dict())])
    try:
        progress = task.store / ".downscaled.json"
        wait_for(lambda: progress.exists() and json.loads(progress.read_text())["done"] == [0], "the first block")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    again, whole = Context(), Context()
    write_period_task(task.to_dict(), again)
    assert any("holds 1 of 3" in row.get("message", "") for row in again.trace)
    write_period_task(task.to_dict(), whole)
    xr.testing.assert_allclose(read(again)["mean"], read(whole)["mean"], rtol=1e-6)


def test_too_many_values_are_refused_and_other_settings_have_their_own_store(
    task: PeriodTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deconditioning.period.tasks.write.MOST_VALUES", 2000)
    with pytest.raises(InputError, match="8 times of 320 pixels are more than a run writes"):
        write_period_task(task.to_dict(), Context())
    other: dict[str, Any] = task.to_dict() | {"owner": "b"}
    assert PeriodTask.from_dict(other).store != task.store
    assert find_task(RunSpec("write-period").task) is write_period_task


def test_linked_blocks_are_those_of_one_linked_prediction(task: PeriodTask, monkeypatch: pytest.MonkeyPatch) -> None:
    """What linking gives is of all times of the series, whichever block they are in."""

    def gappy(*given: Any) -> Series:
        series = read_series(*given)
        missing = np.random.default_rng(1).uniform(size=series.coarse.shape) < 0.3
        coarse = np.where(missing, np.nan, series.coarse)
        return replace(series, coarse=coarse, level=np.nanmean(coarse, axis=1))

    monkeypatch.setattr("deconditioning.period.tasks.write.read_series", gappy)
    fields, found = made_fields(TIMES), {}
    series = gappy(Source("made"), SPEC, lambda key: fields, list(LATER))
    for link in (True, False):
        context = Context()
        write_period_task(replace(task, link=link).to_dict(), context)
        found[link] = read(context)["mean"]
        np.testing.assert_allclose(found[link], downscale_series(series, UNLEARNED, link=link).means, rtol=1e-6)
    assert float(abs(found[True] - found[False]).max()) > 0.05


def test_a_pair_is_written_as_the_command_writes_it(task: PeriodTask, tmp_path: Path, capsys: Any) -> None:
    region = weather_region(60, 8)
    key, _ = keep_upload(netcdf(region.dataset), "region.nc")
    spec = DownscalingSpec("tmin", ("orography",), block=(2, 2), withhold=0.0)
    pair = PeriodTask(Source(key), spec, ("#50/#59",), ("#0/#49",), upper="tmax", settings=UNLEARNED)
    context = Context()
    told = write_period_task(PeriodTask.from_dict(pair.to_dict()).to_dict(), context)
    found, out = read(context), tmp_path / "out.nc"
    (tmp_path / "region.nc").write_bytes(netcdf(region.dataset))
    words = ["downscale", tmp_path / "region.nc", "--target", "tmin", "--upper", "tmax", "--covariates", "orography",
             "--block", 2, 2, "--withhold", 0, "--model", "area_to_point_gp", "--no-learn", "--no-local-scale",
             "--times", "#50/#59", "--archive", tmp_path / "region.nc", "--period", "#0/#49"]  # fmt: skip
    assert main([*map(str, words), "--output", str(out), "--quiet"]) == 0
    said = json.loads(capsys.readouterr().out)["results"]
    with xr.open_dataset(out) as written:
        for name in ("mean", "sd", "upper_mean", "upper_sd", "truth", "upper_truth"):
            np.testing.assert_allclose(found[name], written[name], rtol=1e-4)
    assert float((found["mean"] - found["upper_mean"]).max()) <= 0 and told["times"] == 10
    assert told["scores"]["area_to_point_gp"]["rmse"] == pytest.approx(said[0]["scores"]["rmse"], rel=1e-3)
    assert list(told["scores"]) == ["area_to_point_gp", "tmax: area_to_point_gp"]
    with pytest.raises(InputError, match="need the archive of both"):
        write_period_task(replace(pair, training=()).to_dict(), Context())


@pytest.mark.parametrize("training", [(), ("#0/#31",)])
def test_all_members_are_written_together(
    task: PeriodTask, training: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mean of each is that of a prediction of all, and the spread the sd between these."""
    made = made_dataset(TIMES)
    along = xr.concat([made["t"] + warmer for warmer in (0.0, 3.0, 7.0)], "member").assign_attrs(made["t"].attrs)
    key, fields = keep_upload(netcdf(made.assign(t=along)), "members.nc")
    members, context = replace(task, source=Source(key), training=training), Context()
    told = write_period_task(members.to_dict(), context)
    found = read(context)
    ensemble = read_ensemble(Source(key), SPEC, lambda _: fields, list(LATER))
    assert ensemble is not None
    known = read_training(ensemble.pooled, fields, list(training)) if training else None
    whole = downscale_ensemble(ensemble, UNLEARNED, training=known)
    means = np.stack([each.means for each in whole.members])
    np.testing.assert_allclose(found["mean"].transpose("member", ...), means, rtol=1e-6)
    np.testing.assert_allclose(found["ensemble_spread"], means.std(0, ddof=1), rtol=1e-3)
    assert told["times"] == 8 and told["scores"]["area_to_point_gp"]["rmse"] > 0
    monkeypatch.setattr("deconditioning.period.tasks.write.MOST_TOGETHER", 7000)
    with pytest.raises(InputError, match="8 times of 320 pixels of 3 members are more than a run predicts"):
        write_period_task(members.to_dict(), Context())
