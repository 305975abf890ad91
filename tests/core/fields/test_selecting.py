"""What a text selects along a dimension: values before everything, one date by its beginning, indices with #."""

import numpy as np
import pytest
import xarray as xr

from deconditioning.errors import InputError
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.problem.matching import check_select
from deconditioning.fields.selecting import index_of
from deconditioning.fields.spec import DownscalingSpec

MONTHS = [f"{year}-{month:02d}-01 00:00" for year in (2023, 2024) for month in range(1, 13)]
HOURS = [f"2024-04-0{day} {hour:02d}:00" for day in (1, 2) for hour in (0, 6, 12)]


@pytest.mark.parametrize(
    ("labels", "wanted", "found"),
    [
        (("1", "5"), "5", 1),
        (("1", "5"), "#1", 1),
        (("1", "5"), " # 0", 0),
        (("1", "5"), 1, 1),
        (("850 hPa", "500 hPa", "50 hPa"), "50", 2),
        (("850 hPa", "500 hPa", "50 hPa"), "500.0", 1),
        (("850 hPa", "500 hPa", "50 hPa"), "850 hPa", 0),
        (("100000 Pa", "5000 Pa"), "1e5", 0),
        (("-5 K", "5 K"), "-5", 0),
        (("0", "1", "2", "3"), "2", 2),  # a dimension without a coordinate
        (("r1i1p1f1", "r10i1p1f1"), "r1", 0),
        (("r1i1p1f1", "r10i1p1f1"), "r10i1p1f1", 1),
        (MONTHS, "2024-04", 15),
        (MONTHS, "2", 2),  # no date begins so
        (MONTHS, "2024-4", 15),
        (MONTHS, "2024/4/1", 15),
        (MONTHS, "202404", 15),
        (MONTHS, "20240401", 15),
        (MONTHS, "2024-04-01T00:00:00Z", 15),
        (MONTHS, "2024-04-01T00", 15),
        (HOURS, "2024-04-02T06", 4),
        (HOURS, "2024-04-02_06:00:00", 4),
        (["1955-06-01 12:00", "1956-06-01 12:00"], "1956", 1),
        (["2001-02-29 00:00", "2001-02-30 00:00"], "2001-02-30", 1),
    ],
)
def test_what_is_selected(labels, wanted, found) -> None:
    assert index_of("d", labels, wanted) == found


@pytest.mark.parametrize(
    ("labels", "wanted", "words"),
    [
        (MONTHS, "2024", "fits 12 values .* 2024-01-01 00:00 to 2024-12-01 00:00.*`d=#12` to `d=#23`"),
        (MONTHS, "1956", "no value `1956`; it has 24 values from 2023-01-01 .* `d=#0` to `d=#23`"),
        (MONTHS, "24", "no value `24`"),
        (MONTHS, "202", "no value `202`"),  # not 2023 and 2024
        (HOURS, "2024-04-01", "fits 3 values"),
        (("850 hPa", "500 hPa"), "5", "no value `5`; it has 850 hPa, 500 hPa: .*#0` to `d=#1"),
        (("850 hPa", "500 hPa"), "0", "no value `0`"),
        (("r10i1p1f1", "r2i1p1f1"), "r1", "no value `r1`"),
        (("a", "b"), "", "no value"),
    ],
)
def test_what_is_refused_with_what_there_is(labels, wanted, words) -> None:
    with pytest.raises(InputError, match=words):
        index_of("d", labels, wanted)


def daily() -> xr.Dataset:
    """Six years of days from 1950 on a small grid, value = day number, with two expver of which one is a gap each."""
    days = np.arange("1950-01-01", "1957-01-01", dtype="datetime64[D]").astype("datetime64[ns]")
    values = np.broadcast_to(np.arange(len(days))[:, None, None], (len(days), 6, 7)).astype("f4")
    coords = {"time": days, "lat": 40.0 + np.arange(6), "lon": 5.0 + np.arange(7)}
    return xr.Dataset({"t": (("time", "lat", "lon"), values)}, coords)


def test_a_year_of_daily_values_is_no_index() -> None:
    fields = fields_from_dataset(daily())
    with pytest.raises(InputError, match=r"fits 366 values of dimension `time`, 1956-01-01 00:00 to 1956-12-31 00:00"):
        fields.values("t", {"time": "1956"})
    assert fields.values("t", {"time": "1956-02-29"})[0, 0] == 365 * 6 + 1 + 59
    assert fields.values("t", {"time": "#1956"})[0, 0] == fields.values("t", {"time": 1956})[0, 0] == 1956


def test_a_choice_without_values_is_told_where_there_are_some() -> None:
    values = np.full((3, 2, 6, 7), np.nan)
    values[:2, 0] = values[2, 1] = 280.0  # the last month comes from the other experiment
    months = np.array(["2024-02", "2024-03", "2024-04"], dtype="datetime64[ns]")
    coords = {"time": months, "expver": [1, 5], "lat": 40.0 + np.arange(6), "lon": 5.0 + np.arange(7)}
    fields = fields_from_dataset(xr.Dataset({"t": (("time", "expver", "lat", "lon"), values)}, coords))
    with pytest.raises(InputError, match=r"only missing values here.* It has values for `expver=5`"):
        fields.values("t", {"time": "2024-04"})
    with pytest.raises(InputError, match=r"It has values for `time=2024-04-01"):
        fields.values("t", {"time": "2024-02", "expver": "5"})
    empty = fields_from_dataset(xr.Dataset({"t": (("time", "expver", "lat", "lon"), 0 * values + np.nan)}, coords))
    with pytest.raises(InputError) as refused:
        empty.values("t", {"time": "2024-04"})
    assert "It has values" not in str(refused.value)


def test_a_value_wins_over_an_index_and_numbers_are_told_apart() -> None:
    codes = np.array([20240401, 20240402, 20240403])
    data = xr.Dataset(
        {"t": (("code", "lat", "lon"), np.arange(3.0)[:, None, None] + np.zeros((3, 6, 7)))},
        {"code": codes, "lat": 40.0 + np.arange(6), "lon": 5.0 + np.arange(7)},
    )
    fields = fields_from_dataset(data)
    assert fields.check("t").extra["code"] == ("20240401", "20240402", "20240403")
    assert fields.values("t", {"code": "20240402"})[0, 0] == 1


def test_settings_keep_a_text_and_an_index_apart() -> None:
    spec = DownscalingSpec("t", select={"time": "5", "level": 5, "t:step": "#5"})
    assert spec.select == {"time": "5", "level": 5, "t:step": "#5"}
    assert DownscalingSpec.from_dict(spec.to_dict()) == spec


def test_a_choice_that_nothing_in_use_has_is_refused() -> None:
    fields = fields_from_dataset(daily())
    one = fields_from_dataset(daily().isel(time=[3]))
    check_select({"time": "1956-02-01"}, [fields, one], ["t"])
    with pytest.raises(InputError, match=r"have no dimension `level` .*`time`"):
        check_select({"level": "5"}, [fields], ["t"])
    with pytest.raises(InputError, match="`u` has no dimension `time`"):
        check_select({"u:time": "1956-02-01"}, [fields], ["t"])
    with pytest.raises(InputError, match="no value `1956`; it has 1950-01-04"):
        check_select({"time": "1956"}, [one], ["t"])
