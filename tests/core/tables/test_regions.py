"""A table that joins to shapes by key: what agrees, what does not, duplicates, gaps, codes as numbers."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import shapely
import xarray as xr

from deconditioning.downscaling.further_sources.opening import (
    REGION_TABLES,
    REGIONS,
    STATIONS,
    joins_of,
    keep_further_file,
    regions_at,
    stations_at,
    values_of_regions,
)
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.engine.visitors.uploads import stored_of_kind
from deconditioning.errors import InputError
from deconditioning.fields.footprints.region_files import read_outlines
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.tables.regions import joined, joins, times_of_rows
from deconditioning.tables.table import read_table
from tests.core.fields.samples import fields, region

CODES = ["DE3", "DE1", "DE2", "DE9"]


def shapes(folder: Path, codes: list, name: str = "code") -> str:
    features = [{"type": "Feature", "geometry": json.loads(shapely.to_geojson(shapely.box(n, 40, n + 1, 41))),
                 "properties": {name: code, "old": 100 + n}} for n, code in enumerate(codes)]  # fmt: skip
    (folder / "s.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return str(folder / "s.geojson")


def table(folder: Path, text: str) -> str:
    (folder / "v.csv").write_text(text)
    return str(folder / "v.csv")


def test_a_join_is_pandas_left_join_and_says_what_did_not_agree(tmp_path: Path) -> None:
    path = table(tmp_path, "code,rain,old\nDE1,1.5,1\nDE2,,2\nDE3,3.5,3\nFR1,4,4\n,5,5\n")
    found = regions_at(shapes(tmp_path, CODES), "rain", "mm", "old", path, "code")
    wanted = pd.DataFrame({"code": CODES}).merge(pd.read_csv(path), on="code", how="left")
    np.testing.assert_array_equal(found.value, wanted["rain"])
    np.testing.assert_array_equal(found.error, wanted["old"])
    assert found.name == tuple(CODES) and (found.units, found.source) == ("mm", "s.geojson with v.csv")
    notes = " ".join(found.notes)
    assert "1 of 4 regions of s.geojson have no row in v.csv ('DE9')" in notes
    assert "2 of 5 rows of v.csv belong to no region of s.geojson ('FR1', no key) and are left out" in notes
    assert "'old' of v.csv replace" in notes


@pytest.mark.parametrize("codes", [["01", "02", "10"], [1, 2, 10], [1.0, 2.0, 10.0], ["1", " 2", "10 "]])
def test_codes_of_digits_agree_whatever_a_table_makes_of_them(tmp_path: Path, codes: list) -> None:
    path = table(tmp_path, "id;rain\n10;3\n02;2\n01;1\n")
    found = regions_at(shapes(tmp_path, codes, "nuts"), "rain", "", None, path, "nuts=id")
    assert found.value.tolist() == [1, 2, 3]
    assert ("compared as numbers" in " ".join(found.notes)) == (codes[0] == "01")
    words = regions_at(
        shapes(tmp_path, [7, 8.0], "n"), "rain", "", None, table(tmp_path, "n,rain\n7,1\n8,2\nA,3\n"), "n"
    )
    assert words.value.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("codes", "text", "key", "said"),
    [
        (CODES, "code,rain\nA,1\nB,2\n", "code", r"No key of v.csv \('A', 'B'\) is one of s.geojson \('DE3', 'DE1'"),
        (CODES, "code,rain\nDE1,1\nDE2,2\nDE1,3\n", "code", r"'DE1' belongs to 2 rows of v.csv \(1, 3\): keep one row"),
        (["A", "B", "A"], "code,rain\nA,1\nB,2\n", "code", r"'A' belongs to 2 regions of s.geojson \(1, 3\): join"),
        (CODES, "code,rain\nDE1,1\nDE2,2\n", "id", "no attribute 'id'; they have 'code', 'old'"),
        (CODES, "code,rain\nDE1,1\nDE2,2\n", "code=id", "v.csv has no column 'id'"),
        (CODES, "code,snow\nDE1,1\nDE2,2\n", "code", "no attribute 'rain'"),
        (CODES, "code,rain\nDE1,1\nDE3,wet\n", "code", "'rain' of region 1 of s.geojson with v.csv is 'wet'"),
    ],
)
def test_what_does_not_join_is_refused_with_a_sentence(
    tmp_path: Path, codes: list, text: str, key: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        regions_at(shapes(tmp_path, codes), "rain", "", None, table(tmp_path, text), key)


def test_a_source_keeps_table_and_key_and_needs_both() -> None:
    options = {"input": "a.nc", "polygons": "s.geojson", "region_table": "v.csv", "key": "code"}
    source = Source.of_options(options)
    assert source == Source("a.nc", regions="s.geojson", table="v.csv", key="code")
    assert Source.from_dict(source.to_dict()) == source
    for missing in ("polygons", "key"):
        with pytest.raises(InputError, match="needs regions and a key"):
            Source.of_options(options | {missing: None})


def test_what_may_join_is_whatever_joins_and_gives_most_regions_a_row(tmp_path: Path) -> None:
    """By trying every attribute with every column."""
    outlines = read_outlines(shapes(tmp_path, CODES))
    rows = read_table(table(tmp_path, "place,code,rain,of\nDE1,DE1,101,DE1\nDE2,DE9,2,x\nDE3,FR1,3,y\n-,DE2,4,DE1\n"))
    tried = {}
    for attribute in outlines.attributes:
        for column in rows.columns:
            key = attribute if attribute == column else f"{attribute}={column}"
            try:
                values = joined(outlines, rows, key).attributes["place"]
            except InputError:
                continue
            tried[key] = (sum(each is not None for each in values), 4)
    assert tried == {"code": (3, 4), "code=place": (3, 4), "old=rain": (1, 4)}
    assert joins(outlines, rows) == tried and list(joins(outlines, rows)) == ["code", "code=place", "old=rain"]


def test_a_table_that_joins_by_nothing_is_refused_with_the_reason(tmp_path: Path) -> None:
    outlines = read_outlines(shapes(tmp_path, CODES))
    with pytest.raises(InputError, match=r"'DE1' belongs to 2 rows of v.csv"):
        joins(outlines, read_table(table(tmp_path, "code,rain\nDE1,1\nDE2,2\nDE1,3\n")))
    with pytest.raises(InputError, match=r"No column of v.csv \('id', 'rain'\) .* attributes are 'code', 'old': add"):
        joins(outlines, read_table(table(tmp_path, "id,rain\nA,1\nB,2\n")))


#: Rain of three regions in two months; DE2 has no row in February.
MONTHS = "code,month,rain\nDE1,2020-01-01,1\nDE2,2020-01-01,2\nDE1,2020-02-01,10\nDE3,2020-01-01,3\nDE3,2020-02-01,30\n"


@pytest.mark.parametrize("time", ["2020-01-01", "2020-02", "2020-02-01 00:00"])
def test_of_several_times_the_rows_of_one_are_joined(tmp_path: Path, time: str) -> None:
    """Against pandas: the rows of one month, joined."""
    outlines, path = read_outlines(shapes(tmp_path, CODES)), table(tmp_path, MONTHS)
    rows = read_table(path)
    found = joined(outlines, rows, "code", time)
    frame = pd.read_csv(path)
    month = frame[frame.month.str.startswith(time[:7])]
    wanted = pd.DataFrame({"code": CODES}).merge(month, on="code", how="left")["rain"]
    np.testing.assert_array_equal([np.nan if each is None else each for each in found.attributes["rain"]], wanted)
    assert str(found.time) == f"{time[:7]}-01T00:00:00"
    assert f"{len(month)} of 5 rows of v.csv are used, those of {time[:7]}-01 00:00." in found.notes
    assert times_of_rows(outlines, rows, "code") == ["2020-01-01 00:00", "2020-02-01 00:00"]
    assert joins(outlines, rows) == {"code": (3, 4)}


@pytest.mark.parametrize("time", ["", "2020", "2019-01"])
def test_a_time_that_is_not_clear_is_refused(tmp_path: Path, time: str) -> None:
    none = f", and {time} does not match exactly one" if time else ""
    said = (
        rf"v.csv has several times in 'month', from 2020-01-01 00:00 to 2020-02-01 00:00{none}: choose one "
        r"\(`--region-time TIME`\)"
    )
    with pytest.raises(InputError, match=said):
        joined(read_outlines(shapes(tmp_path, CODES)), read_table(table(tmp_path, MONTHS)), "code", time)


def test_dates_of_rows_with_keys_of_their_own_choose_nothing(tmp_path: Path) -> None:
    """Each region once, surveyed at different dates: every row counts."""
    path = table(tmp_path, "code,surveyed,rain\nDE1,2020-01-01,1\nDE2,2020-02-01,2\n")
    outlines = read_outlines(shapes(tmp_path, CODES))
    found = joined(outlines, read_table(path), "code")
    assert found.attributes["rain"] == [None, 1, 2, None] and found.time is None
    assert times_of_rows(outlines, read_table(path), "code") == []


def test_regions_and_stations_follow_the_time_of_the_covariates(tmp_path: Path) -> None:
    """The chosen month is that of the covariates, or a given one; stations follow the month of the regions."""
    data = region(24, 24)
    days = np.array(["2020-01-01", "2020-02-01"], dtype="datetime64[ns]")
    data["orog"] = data.orog.expand_dims(time=days).copy()
    squares = [shapely.box(float(data.lon[c]), float(data.lat[r]), float(data.lon[c + 5]), float(data.lat[r + 5]))
          for r in range(0, 18, 6) for c in range(0, 18, 6)]  # fmt: skip
    features = [{"type": "Feature", "geometry": json.loads(shapely.to_geojson(each)), "properties": {"code": f"R{n}"}}
                for n, each in enumerate(squares)]  # fmt: skip
    (tmp_path / "s.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    rows = [f"R{n},2020-0{m},{280 + n + 10 * m}" for n in range(9) for m in (1, 2)]
    path = table(tmp_path, "code,month,t\n" + "\n".join(rows) + "\n")
    (tmp_path / "towns.csv").write_text(
        f"lat,lon,time,t\n{float(data.lat[3])},{float(data.lon[3])},2020-01-01,291\n"
        f"{float(data.lat[3])},{float(data.lon[3])},2020-02-01,301\n"
    )

    def found(time: str, chosen: str = "") -> tuple[list[float], float, str]:
        source = Source("f", regions=str(tmp_path / "s.geojson"), units="K", table=path, key="code",
                        region_time=chosen, stations=str(tmp_path / "towns.csv"))  # fmt: skip
        spec = DownscalingSpec("t", ("orog",), (), (6, 6), 0.0, select={"time": time})
        problem = build_problem(source, spec, lambda key: fields(data), regions=regions_at, stations=stations_at)
        assert problem.stations is not None and Source.from_dict(source.to_dict()) == source
        values = sorted(problem.coarse[problem.observed].tolist())
        return values, float(problem.stations.measured.value[0]), problem.when_and_where[0]

    first, second = ([280 + n + 10 * m for n in range(9)] for m in (1, 2))
    assert found("2020-01") == (first, 291, "1 January 2020, 00:00 UTC")
    assert found("2020-02") == (second, 301, "1 February 2020, 00:00 UTC")
    assert found("2020-01", "2020-02") == (second, 301, "1 February 2020, 00:00 UTC")


@pytest.mark.parametrize("engine", ["h5netcdf", "scipy"])
def test_a_netcdf_table_has_keys_units_and_times(tmp_path: Path, engine: str) -> None:
    """Series of regions (CF conventions, chapter 9) against the same rows as text."""
    frame = pd.read_csv(table(tmp_path, MONTHS)).pivot(index="code", columns="month", values="rain")
    days = {"units": "days since 2020-01-01", "standard_name": "time"}
    data = {"code": ("region", list(frame.index), {"cf_role": "timeseries_id"}), "time": ("month", [0, 31], days),
            "rain": (("month", "region"), frame.to_numpy().T, {"units": "mm"})}  # fmt: skip
    for about in ({}, {"featureType": "timeSeries"}):
        xr.Dataset(data, attrs=about).to_netcdf(tmp_path / "v.nc", engine=engine)
        outlines = shapes(tmp_path, CODES)
        for time in ("2020-01", "2020-02"):
            found, other = (regions_at(outlines, "rain", "", None, str(tmp_path / name), "code", time)
                            for name in ("v.nc", "v.csv"))  # fmt: skip
            np.testing.assert_array_equal(found.value, other.value)
            assert (found.units, other.units) == ("mm", "") and found.time == other.time


@pytest.mark.parametrize(
    ("columns", "kind"),
    [
        ({"code": ["DE1", "DE2"], "rain": [1.0, 2.0]}, REGION_TABLES),
        ({"id": [7, 8], "rain": [1.0, 2.0]}, REGION_TABLES),
        ({"station": ["a", "b"], "lat": [50.0, 51.0], "lon": [4.0, 5.0], "rain": [1.0, 2.0]}, STATIONS),
        ({"level": [7, 8], "rain": [1.0, 2.0]}, "no column of latitude"),
        ({"id": [7.5, 8.2], "rain": [1.0, 2.0]}, "no column of latitude"),
    ],
)
def test_an_upload_of_netcdf_is_a_table_of_regions_by_its_keys(tmp_path: Path, columns: dict, kind: str) -> None:
    """Without positions and keys, a grid may have lost its coordinates, and the sentence says what is missing."""
    data = xr.Dataset({name: ("row", values) for name, values in columns.items()})
    data.to_netcdf(tmp_path / "v.nc", engine="h5netcdf")
    content = (tmp_path / "v.nc").read_bytes()
    if kind not in (REGION_TABLES, STATIONS):
        with pytest.raises(InputError, match=kind):
            keep_further_file(STATIONS, content, "v.nc")
        return
    key = keep_further_file(STATIONS, content, "v.nc")
    assert stored_of_kind(kind)[key] == "v.nc"
    if "code" in columns:
        outlines = keep_further_file(REGIONS, Path(shapes(tmp_path, CODES)).read_bytes(), "s.geojson")
        assert joins_of(outlines, key) == {"code": (2, 4)} and values_of_regions(outlines, key, "code") == [
            "rain",
            "old",
        ]
