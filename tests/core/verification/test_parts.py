"""Scores of parts of times and pixels against pandas, which groups single values."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scoringrules
import xarray as xr

from deconditioning.cli.program import main
from deconditioning.verification.report import verify
from deconditioning.verification.series import verified

TIMES, SIZE = 48, (8, 12)


@pytest.fixture
def made() -> xr.Dataset:
    """Every 12 hours, from December to January, on hills beside a sea; some values are missing."""
    rng = np.random.default_rng(5)
    dims = ("time", "lat", "lon")
    truth = 280 + rng.normal(size=(TIMES, *SIZE))
    mean, sd = truth + rng.normal(size=truth.shape), 0.5 + rng.random(truth.shape)
    truth[rng.random(truth.shape) < 0.1] = np.nan
    axes = {"time": pd.date_range("2018-12-20", periods=TIMES, freq="12h"), "lat": np.linspace(30, 65, SIZE[0]),
            "lon": np.linspace(0, 11, SIZE[1])}  # fmt: skip
    height = 1000 * rng.random(SIZE)
    fields = {"mean": (dims, mean), "sd": (dims, sd), "truth": (dims, truth, {"units": "K"}),
              "orog": (dims[1:], height, {"units": "m"}), "sftlf": (dims[1:], 100.0 * (rng.random(SIZE) < 0.7)),
              }  # fmt: skip
    return xr.Dataset(fields, axes)


def single_values(made: xr.Dataset) -> pd.DataFrame:
    """One row for each scored value, with its date, altitude, weight and scores."""
    frame = made.to_dataframe().reset_index().dropna()
    frame["weight"] = np.cos(np.radians(frame.lat))
    frame["square"] = frame.weight * (frame["mean"] - frame.truth) ** 2
    frame["crps"] = frame.weight * scoringrules.crps_normal(frame.truth, frame["mean"], frame.sd)
    return frame


def test_scores_of_parts_are_those_of_their_single_values(made: xr.Dataset) -> None:
    result = verify(verified(made))
    frame = single_values(made)
    groups = {
        "year": frame.time.dt.strftime("%Y"), "month": frame.time.dt.strftime("%m"),
        "hour": frame.time.dt.strftime("%H:%M"), "surface": np.where(frame.sftlf > 50, "land", "sea"),
    }  # fmt: skip
    for by, labels in groups.items():
        sums = frame.groupby(labels)[["square", "crps", "weight"]].sum()
        found = {each.part: each for each in result.parts if each.by == by}
        assert set(found) == set(sums.index), by
        for part, row in sums.iterrows():
            assert found[part].rmse == pytest.approx(np.sqrt(row.square / row.weight)), (by, part)
            assert found[part].crps == pytest.approx(row.crps / row.weight), (by, part)
            assert found[part].share == pytest.approx(row.weight / frame.weight.sum()), (by, part)


def test_bands_of_altitude_are_of_land_and_have_about_equal_areas(made: xr.Dataset) -> None:
    bands = [each for each in verify(verified(made)).parts if each.by == "altitude"]
    frame = single_values(made)
    land = frame[frame.sftlf > 50]
    assert len(bands) == 4 and bands[0].part.startswith("below") and bands[-1].part.startswith("from")
    assert sum(each.share for each in bands) == pytest.approx(land.weight.sum() / frame.weight.sum())
    assert all(0.12 < each.share < 0.25 for each in bands)
    low, high = (float(each) for each in bands[1].part.removesuffix(" m").split(" to "))
    inside = land[(land.orog >= low) & (land.orog < high)]
    assert bands[1].crps == pytest.approx(inside.crps.sum() / inside.weight.sum())


def test_a_plain_at_the_lowest_altitude_is_in_the_first_band(made: xr.Dataset) -> None:
    """More than a quarter of the land is at 0 m: no band ends there."""
    half = made.assign(orog=made.orog.where(made.orog > 500, 0.0))
    bands = {each.part: each for each in verify(verified(half)).parts if each.by == "altitude"}
    land = single_values(half)[lambda frame: frame.sftlf > 50]
    first, *_ = bands
    low = land[land.orog < float(first.split()[1])]
    assert first.startswith("below") and 0 < float(first.split()[1]) and (low.orog == 0).any()
    assert bands[first].rmse == pytest.approx(np.sqrt(low.square.sum() / low.weight.sum()))
    peak = made.assign(orog=made.orog * 0 + made.orog.where(made.orog == made.orog.max(), 0.0))
    assert {each.part.split()[0] for each in verify(verified(peak)).parts if each.by == "altitude"} <= {"below", "from"}


def test_static_fields_may_be_of_another_file_with_rows_from_the_north(
    made: xr.Dataset, tmp_path: Path, capsys
) -> None:
    names = ["orog", "sftlf"]
    made.drop_vars(names).to_netcdf(tmp_path / "p.nc", engine="h5netcdf")
    made[names].isel(lat=slice(None, None, -1)).to_netcdf(tmp_path / "fx.nc", engine="h5netcdf")
    assert not [each for each in verify(verified(made.drop_vars(names))).parts if each.by in ("altitude", "surface")]
    out = tmp_path / "t.csv"
    command = ["verify", str(tmp_path / "p.nc"), "--quiet", "--table", str(out), "--static"]
    assert main([*command, str(tmp_path / "fx.nc")]) == 0
    rows = [row for row in csv.DictReader(out.read_text().splitlines()) if row["part"]]
    expected = {(each.by, each.part): each for each in verify(verified(made)).parts}
    assert {(row["by"], row["part"]) for row in rows} == set(expected)
    for row in rows:
        assert float(row["value"]) == getattr(expected[row["by"], row["part"]], row["score"])
    capsys.readouterr()
    assert main([*command, str(tmp_path / "p.nc")]) == 2
    assert "no field that is named as an altitude" in capsys.readouterr().err
    moved = made[names].assign_coords(lat=made.lat + 1)
    moved.to_netcdf(tmp_path / "moved.nc", engine="h5netcdf")
    assert main([*command, str(tmp_path / "moved.nc")]) == 2
    assert "other values of `lat`" in capsys.readouterr().err


def test_dates_that_do_not_recur_and_a_flat_land_have_no_parts(made: xr.Dataset) -> None:
    flat = made.isel(time=slice(2)).assign(orog=made.orog * 0, sftlf=made.sftlf * 0 + 100)
    assert verify(verified(flat)).parts == ()
