"""The command that lists files: what is there, in which units, along what; what would be taken of it."""

import numpy as np
import xarray as xr

from tests.core.fields.samples import netcdf, region


def test_what_a_file_holds_and_what_would_be_taken(command, tmp_path) -> None:
    data = region(24, 30)
    times = np.array(["2001-01-01", "2001-02-01", "2001-03-01"], dtype="M8[ns]")
    t = (data.t + xr.DataArray([0.0, 1.0, 2.0], dims="time")).transpose("time", ...).assign_attrs(data.t.attrs)
    both = data.assign(t=t).assign_coords(time=times).drop_vars("q")
    (tmp_path / "a.nc").write_bytes(netcdf(both))
    (tmp_path / "bad.nc").write_bytes(b"rubbish")
    answer = command("fields", tmp_path / "a.nc", tmp_path / "bad.nc", tmp_path / "none.nc")
    assert answer.code == 2 and answer.err.count("\n") == 2 and "none.nc" in answer.err
    first, names, *rows = answer.out.splitlines()
    assert "24 × 30 pixels (latlon), latitudes 20.5 to 43.5, longitudes -9.5 to 19.5" in first
    assert names.split() == ["NAME", "UNITS", "DIMENSIONS", "TIME", "WHAT"]
    assert any(row.startswith("t ") and "time (3, 2001-01-01 00:00 to 2001-03-01 00:00)" in row for row in rows)
    assert any(row.startswith("orog ") and "fixed" in row and "height" in row for row in rows)
    assert "Would be used: target t of 1 January 2001, 00:00 UTC; covariates: orog; cells of 2 × 2 pixels." in rows


def test_the_same_as_json(command, tmp_path) -> None:
    (tmp_path / "a.nc").write_bytes(netcdf(region(24, 30)))
    answer = command("fields", tmp_path / "a.nc", "ukv-645m", "--json", "-")
    own, ours = answer.document["files"]
    assert answer.code == 0 and own["taken"]["target"] == "t" and own["grid"]["rows"] == 24
    assert {field["name"]: field["units"] for field in own["fields"]} == {"t": "K", "orog": "m", "q": "g kg-1"}
    heights = next(field for field in ours["fields"] if field["name"] == "air_potential_temperature")["dimensions"]
    assert heights["level_height"] == {"size": 7, "first": "5 m", "last": "1325 m"}
    assert ours["taken"]["covariates"] == ["surface_altitude"]


def test_what_cannot_be_guessed_is_said(command, tmp_path, monkeypatch) -> None:
    data = region(24, 30)
    (tmp_path / "empty.nc").write_bytes(netcdf(data[["t"]] * np.nan))
    answer = command("fields", tmp_path / "empty.nc")
    assert answer.code == 0 and "only missing values" in answer.out
    monkeypatch.setattr("deconditioning.cli.commands.fields.MOST_PIXELS", 10)
    assert "choose the target and covariates yourself" in command("fields", tmp_path / "empty.nc").out
