"""A coarse file's own time and level: matched to the covariates' file, chosen, or refused; never January by default."""

import numpy as np
import pytest
import xarray as xr

from deconditioning.errors import InputError
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.problem.matching import place_matching
from deconditioning.fields.problem.two_files import make_problem_from_files
from deconditioning.fields.spec import DownscalingSpec

MONTHS = np.arange("2001-01", "2002-01", dtype="datetime64[M]").astype("datetime64[ns]")
MIDDLES = MONTHS + np.timedelta64(15, "D")


def grid(step: float) -> tuple[np.ndarray, np.ndarray]:
    """Latitudes and longitudes of pixel or cell centres on the same 12 × 12 degrees."""
    count = round(12 / step)
    return 40 + step * (np.arange(count) + 0.5), 5 + step * (np.arange(count) + 0.5)


def fine(times: np.ndarray | None, **extra) -> xr.Dataset:
    """A static height, and where there are times a field ``h`` that changes with them."""
    lat, lon = grid(0.5)
    height = np.sin(lat)[:, None] + np.cos(lon)
    data = {"orog": (("lat", "lon"), height)}
    coords = {"lat": lat, "lon": lon, **extra}
    if times is not None:
        data["h"] = (("time", "lat", "lon"), height + np.arange(len(times))[:, None, None])
        coords["time"] = times
    return xr.Dataset(data, coords)


def coarse(times: np.ndarray, name: str = "time") -> xr.Dataset:
    """A target that is 100 times the number of its time, plus a slope of less than one."""
    lat, lon = grid(2.0)
    slope = 0.1 * np.add.outer(np.arange(len(lat)), np.arange(len(lon))) / 12
    values = 100.0 * np.arange(len(times))[:, None, None] + slope
    return xr.Dataset({"t": ((name, "lat", "lon"), values)}, {name: times, "lat": lat, "lon": lon})


def taken(fine_file: xr.Dataset, coarse_file: xr.Dataset, covariates=("orog", "h"), **settings) -> int:
    """The number of the time whose target the problem has."""
    spec = DownscalingSpec("t", covariates, matching="direct", withhold=0.0, **settings)
    problem = make_problem_from_files(fields_from_dataset(fine_file), fields_from_dataset(coarse_file), None, spec)
    assert np.ptp(problem.coarse) < 1
    return round(float(problem.coarse.mean()) / 100)


@pytest.mark.parametrize(
    ("fine_times", "coarse_times", "wanted", "expected"),
    [
        (MONTHS, MONTHS, "2001-07", 6),
        (MONTHS, MIDDLES, "2001-07", 6),  # the same month
        (MIDDLES[4:8], MONTHS, "#1", 5),  # another index there
        (MONTHS[::-1][:3], MONTHS, 0, 11),
        (np.arange("2001-03-01", "2001-03-05", dtype="datetime64[D]").astype("datetime64[ns]"), MIDDLES, "#2", 2),
    ],
)
def test_a_time_of_both_files_is_matched_by_its_date(fine_times, coarse_times, wanted, expected) -> None:
    assert taken(fine(fine_times), coarse(coarse_times), select={"time": wanted}) == expected
    renamed = coarse(coarse_times, "valid_time")
    assert taken(fine(fine_times), renamed, select={"time": wanted}) == expected


def test_a_choice_of_the_coarse_file_wins() -> None:
    both = fine(MONTHS), coarse(MONTHS)
    assert taken(*both, select={"time": "2001-07"}, coarse_select={"time": "2001-12"}) == 11
    assert taken(*both, select={"time": "2001-07"}, coarse_select={"t:time": "#3"}) == 3
    assert taken(*both, select={"time": 6, "t:time": 2}) == 2


def test_fixed_fields_leave_the_choice_to_the_coarse_file() -> None:
    static = fine(None)
    assert taken(static, coarse(MONTHS), ("orog",), coarse_select={"time": "2001-07"}) == 6
    assert taken(static, coarse(MONTHS), ("orog",), select={"time": "2001-08"}) == 7
    dated = static.expand_dims(time=[np.datetime64("2100-01-01", "ns")])
    assert taken(dated, coarse(MONTHS), ("orog",), select={"time": "2001-08"}) == 7
    spec = DownscalingSpec("t", ("orog",), matching="direct", withhold=0.0)
    problem = make_problem_from_files(fields_from_dataset(static), fields_from_dataset(coarse(MONTHS)), None, spec)
    assert any("12 values; 2001-01-01 00:00 (`time=#0`) is used" in note for note in problem.notes)


def test_no_match_is_refused_with_what_there_is() -> None:
    with pytest.raises(InputError, match=r"matches 2001-01-01 00:00 .* 2005-01-01 .*--coarse-select time=VALUE"):
        taken(fine(MONTHS), coarse(MONTHS + np.timedelta64(4 * 365 + 1, "D")))
    with pytest.raises(InputError, match="no dimension `level`"):
        taken(fine(MONTHS), coarse(MONTHS), coarse_select={"level": "5"})
    with pytest.raises(InputError, match="no value `1999`"):
        taken(fine(MONTHS), coarse(MONTHS), coarse_select={"time": "1999"})


def test_levels_match_in_other_units_and_mediators_follow() -> None:
    lat, lon = grid(0.5)
    levels = fine(MONTHS).expand_dims(plev=[100000.0, 85000.0, 50000.0])
    there = coarse(MONTHS).expand_dims(plev=[500.0, 850.0])
    levels["plev"].attrs["units"], there["plev"].attrs["units"] = "Pa", "hPa"
    there["t"] = there.t + 10_000 * xr.DataArray([0, 1], dims="plev")
    assert taken(levels, there, ("h",), select={"plev": "85000", "time": "2001-03"}) == 102
    assert place_matching(("r1", "r10"), "r10") == 1 and place_matching(("r1", "r2"), "r10") is None
    between = xr.Dataset(
        {"m": (("time", "lat", "lon"), np.arange(12)[:, None, None] + np.add.outer(lat, lon) / 100)},
        {"time": MIDDLES[::-1], "lat": lat, "lon": lon},
    )
    spec = DownscalingSpec("t", ("orog",), ("m",), block=(2, 2), withhold=0.0, coarse_select={"time": "2001-04"})
    files = (fields_from_dataset(each) for each in (fine(None), coarse(MONTHS), between))
    problem = make_problem_from_files(*files, spec)
    assert any("2001-04-16 00:00 (`time=#8`) is used for `m`" in note for note in problem.notes)


def test_settings_of_older_runs_are_as_they_were() -> None:
    spec = DownscalingSpec("t")
    assert "coarse_select" not in spec.to_dict()
    chosen = DownscalingSpec("t", coarse_select={"time": "2001-07"})
    assert DownscalingSpec.from_dict(chosen.to_dict()) == chosen
