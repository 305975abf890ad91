"""Times: every calendar, every way to write a date."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from tests.core.fields.zoo.animal import Animal, of, small, timed

ALL = "t orog q"
DAYS = "days since 2001-02-01"


def animals() -> Iterator[Animal]:
    for calendar, said in (
        ("standard", "3 March 2001, 00:00 UTC"),
        ("gregorian", "3 March 2001, 00:00 UTC"),
        ("proleptic_gregorian", "3 March 2001, 00:00 UTC"),
        ("julian", "3 March 2001, 00:00 UTC"),
        ("noleap", "3 March 2001, 00:00 UTC"),
        ("365_day", "3 March 2001, 00:00 UTC"),
        ("all_leap", "2 March 2001, 00:00 UTC"),
        ("366_day", "2 March 2001, 00:00 UTC"),
        ("360_day", "1 March 2001, 00:00 UTC"),
    ):
        data = timed([0.0, 30.0], DAYS, calendar)
        yield of(f"calendar-{calendar}", data, ALL, when=(said,), select={"time": 1})
    data = timed([28.0, 29.0], DAYS, "360_day")
    yield of("thirtieth-of-february", data, ALL, when=("30 February 2001, 00:00 UTC",), select={"time": "2001-02-30"})
    data = timed([0.0, 0.25], DAYS, "noleap")
    yield of("by-date", data, ALL, when=("1 February 2001, 06:00 UTC",), select={"time": "2001-02-01T06"})
    yield of("months-since", timed([0, 13], "months since 1960-01-15"), ALL,
             when=("15 February 1961, 00:00 UTC",), select={"time": 1})  # fmt: skip
    yield of("calendar-360", timed([0.5, 13.5], "months since 1960-01-01", "360"), ALL,
             when=("16 February 1961, 00:00 UTC",), select={"time": 1})  # fmt: skip
    yield of("day-as-number", timed([20010201.0, 20010303.25], "day as %Y%m%d.%f"), ALL,
             when=("3 March 2001, 06:00 UTC",), select={"time": 1})  # fmt: skip
    yield of("year-zero", timed([0.0], "days since 0000-01-01", "noleap"), ALL, when=("1 January 0000, 00:00 UTC",))
    yield of("deep-past", timed([0.0], "days since -9999-01-01", "proleptic_gregorian"), ALL)
    yield of("martian-calendar", timed([0.0, 1.0], DAYS, "martian"), ALL, noted="could not be read as dates")
    scalar = small().assign_coords(time=((), 40.0, {"units": DAYS, "calendar": "noleap", "standard_name": "time"}))
    yield of("scalar-time", scalar, ALL, when=("13 March 2001, 00:00 UTC",))
    data = timed([15.0, 45.0], DAYS, "noleap")
    data["time_bnds"] = (("time", "bnds"), np.array([[0.0, 28.0], [28.0, 59.0]]))
    data.time.attrs["bounds"] = "time_bnds"
    yield of("time-bounds", data, ALL, when=("16 February 2001, 00:00 UTC",))
    late = timed([0.0], "days since 3001-01-01", "standard")
    yield of("far-future", late, ALL, when=("1 January 3001, 00:00 UTC",))
    yield of("text-times", small().expand_dims(time=2).assign_coords(time=["2001-02-01", "2001-02-02"]), ALL)
    steps = small().expand_dims(step=2).assign_coords(
        step=("step", [6.0, 12.0], {"units": "hours", "standard_name": "forecast_period"}),
        time=((), 0.0, {"units": DAYS, "standard_name": "forecast_reference_time"}),
        valid_time=("step", [6.0, 12.0], {"units": "hours since 2001-02-01", "standard_name": "time"}),
    )  # fmt: skip
    yield of("forecast-steps", steps, ALL, when=("1 February 2001, 12:00 UTC", "step 12 hours"), select={"step": 1})
    wrf: xr.Dataset = small().expand_dims(Time=2)
    wrf["Times"] = ("Time", np.array([b"2001-02-01_06:00:00", b"2001-02-01_12:00:00"]))
    yield of("wrf-times", wrf, ALL, when=("1 February 2001, 12:00 UTC",), select={"Time": 1})
