"""Dates that stand twice, times to the second, and many daily files as one."""

import gc
import time

import numpy as np
import pytest
import xarray as xr

from deconditioning.errors import InputError
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.several import together
from tests.core.fields.samples import fields, region

DATA = region(4, 5)


def dated(dates, start: float = 0.0) -> xr.Dataset:
    """`t` = start + step number everywhere, on any dates."""
    steps = xr.DataArray(start + np.arange(len(dates)), dims="time")
    return (0 * DATA[["t"]] + steps).transpose("time", ...).assign_coords(time=("time", dates))


def days(start: str, stop: str) -> np.ndarray:
    return np.arange(start, stop, dtype="datetime64[D]").astype("datetime64[ns]")


WEEK = np.concatenate([days("1965-12-26", "1966-01-01"), days("1965-12-22", "1966-01-01")])


def test_dates_that_stand_twice_are_named_and_chosen_by_index():
    found = fields(dated(WEEK))
    assert any("12 values along `time` occur more than once, 1965-12-26 00:00 (#0)" in note for note in found.notes)
    for given in ("1965-12-27", "1965-12-27 00:00", "1965-12-27T00:00"):
        with pytest.raises(InputError, match=r"fits 2 values .*`time=#1` or `time=#11`"):
            found.values("t", {"time": given})
    assert (found.values("t", {"time": "#11"}) == 11).all() and (found.values("t", {"time": "#1"}) == 1).all()
    assert (found.values("t", {"time": "1965-12-27 00:00 (#11)"}) == 11).all()
    assert (found.values("t", {"time": "1965-12-24"}) == 8).all()  # stands once


def test_dates_that_stand_once_are_plain():
    found = fields(dated(days("2001-01-01", "2001-01-05")))
    assert not found.notes and found.check("t").extra["time"][0] == "2001-01-01 00:00"


def test_a_calendar_of_its_own_and_levels_can_stand_twice_too():
    dates = xr.date_range("2001-02-28", periods=3, calendar="360_day", use_cftime=True).values
    found = fields(dated(np.concatenate([dates, dates[:1]])))
    assert found.check("t").extra["time"] == ("2001-02-28 00:00 (#0)", "2001-02-29 00:00", "2001-02-30 00:00",
                                              "2001-02-28 00:00 (#3)")  # fmt: skip
    levels = dated(np.array([1000.0, 850.0, 850.0])).rename(time="plev")
    levels.plev.attrs["units"] = "hPa"
    found = fields(levels)
    assert found.check("t").extra["plev"] == ("1000 hPa", "850 hPa (#1)", "850 hPa (#2)")
    with pytest.raises(InputError, match="fits 2 values"):
        found.values("t", {"plev": "850"})


@pytest.mark.parametrize(
    ("units", "numbers", "labels"),
    [
        # hours since the year 0, as COARDS writes a climatology: the middles of January and February
        ("hour since 0000-01-01 00:00:00", [372.0, 1080.0], ["0000-01-16 12:00", "0000-02-15 00:00"]),
        ("days since 0-1-1", [59.0, 365.0], ["0000-02-29 00:00", "0000-12-31 00:00"]),
        ("days since 0000-01-01", [730000.0, 730001.0], ["730000 days since 0000-01-01"]),  # of which calendar?
    ],
)
def test_the_year_zero_of_a_climatology(tmp_path, units, numbers, labels):
    dataset = dated(days("2001-01-01", "2001-01-03"))
    dataset["time"] = ("time", numbers, {"units": units})
    dataset.to_netcdf(tmp_path / "a.nc")
    found = open_fields(tmp_path / "a.nc")
    assert list(found.labels("time"))[: len(labels)] == labels
    assert any("could not be read as dates" in note for note in found.notes) == (numbers[0] > 1e5)


def test_times_within_a_minute_are_told_apart_by_seconds():
    found = fields(dated(np.array(["2001-01-01T00:00:00", "2001-01-01T00:00:20", "2001-01-01T00:01:00"], "M8[ns]")))
    assert found.check("t").extra["time"][1] == "2001-01-01 00:00:20" and not found.notes
    assert (found.values("t", {"time": "2001-01-01T00:00:20"}) == 1).all()


def test_files_may_hold_dates_twice_but_not_share_one():
    first, second = fields(dated(WEEK)), fields(dated(days("1966-01-01", "1966-01-04"), start=50))
    both = together([second, first])
    labels = both.check("t").extra["time"]
    assert len(labels) == len(set(labels)) == 19
    for number, label in enumerate(labels):
        date = label[:10]
        want = {50.0 + n for n, d in enumerate(days("1966-01-01", "1966-01-04")) if str(d)[:10] == date}
        want |= {float(n) for n, d in enumerate(WEEK) if str(d)[:10] == date}
        assert float(both.values("t", {"time": number})[0, 0]) in want
        assert not label.endswith(")") or label.endswith(f"(#{number})")
    with pytest.raises(InputError, match="has time 1965-12-31 00:00 in test and in test: omit one of them"):
        together([first, fields(dated(days("1965-12-31", "1966-01-04")))])


def made(years: int, each: int) -> list:
    """Daily files without leap days, of ``each`` years."""
    found = []
    for start in range(0, years, each):
        line = xr.Variable("time", np.arange(365.0 * each) + 365 * start, {"units": "days since 1950-01-01",
                                                                           "calendar": "noleap"})  # fmt: skip
        dates = xr.decode_cf(xr.Dataset({"time": line})).time.values
        found.append(fields(dated(dates, start=365 * start)))
    return found


def seconds_to_join(files: list) -> float:
    """CPU time without the collection of garbage, which looks at all objects of the process."""
    gc.disable()
    try:
        begun = time.process_time()
        together(files)
        return time.process_time() - begun
    finally:
        gc.enable()


def test_many_daily_files_are_joined_in_linear_time():
    """150 years: four times the days take about four times as long (quadratic: sixteen), and few seconds."""
    files = made(150, 5)
    few, many = (min(seconds_to_join(files[:count]) for _ in range(3)) for count in (7, 28))
    assert many < 9 * few and many < 5
    both = together(files)
    assert len(both.check("t").extra["time"]) == 150 * 365
    assert (both.values("t", {"time": "2099-12-31"}) == 150 * 365 - 1).all()
    with pytest.raises(InputError, match="fits 365 values"):
        both.values("t", {"time": "1956"})


def test_a_file_of_dates_that_stand_twice_is_read(tmp_path):
    dated(WEEK).to_netcdf(tmp_path / "a.nc", engine="h5netcdf")
    found = open_fields(tmp_path / "a.nc")
    assert any("occur more than once" in note for note in found.notes)
    assert (found.values("t", {"time": "#15"}) == 15).all()
