"""Stations from tables: which columns are what, in several spellings, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from deconditioning.downscaling.further_sources.opening import stations_at
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.errors import InputError
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.tables.stations import read_stations
from tests.core.fields.samples import fields, region


def written(folder: Path, text: str, name: str = "stations.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "target", "value"),
    [
        ("lat,lon,value\n50,4.5,11\n51,5.5,12.5\n", "", ""),
        (
            "Station;Latitude;Longitude;tas [degC];Elevation (m);sd\n"
            "A;50,0;4,5;11,0;100;0,5\nB;51;5,5;12,5;200;0,4\n", "tas", ""
        ),
        (
            "Stations_id;Stationshoehe;geoBreite;geoLaenge;TT [degC];sd\n"
            "44;100;50,0;4,5;11,0;0,5\n71;200;51,0;5,5;12,5;0,4\n", "", "TT [degC]"
        ),
        ("id,x,y,temperature,height_of_mast\n1,4.5,50,11,2\n2,5.5,51,12.5,2\n", "tas", "temperature"),
        ("lon\tlat\tt2m\n4.5\t50\t11\n5.5\t51\t12.5\n5\t50\t\n", "tas", ""),
    ],
)  # fmt: skip
def test_columns_are_found_in_many_spellings(tmp_path: Path, text: str, target: str, value: str) -> None:
    found = read_stations(written(tmp_path, text), target, value)
    assert found.latitude.tolist() == [50, 51] and found.longitude.tolist() == [4.5, 5.5]
    assert found.value.tolist() == [11, 12.5]
    if "sd" in text:
        assert found.units == "degC" and found.altitude.tolist() == [100, 200] and found.error.tolist() == [0.5, 0.4]
    else:
        assert found.units == "" and found.error.tolist() == [0, 0]


def test_altitudes_in_feet_are_metres(tmp_path: Path) -> None:
    found = read_stations(written(tmp_path, "lat,lon,value,elevation [ft]\n50,4,11,1000\n51,5,12,0\n"))
    assert found.altitude == pytest.approx([304.8, 0])


def test_a_discrete_sampling_file_is_a_table(tmp_path: Path) -> None:
    columns = {"lat": [50.0, 51], "lon": [4.5, 5.5], "tas": [284.0, 285]}
    data = xr.Dataset({name: ("station", values) for name, values in columns.items()}, attrs={"featureType": "point"})
    data.to_netcdf(tmp_path / "stations.nc", engine="h5netcdf")
    assert read_stations(tmp_path / "stations.nc", "tas").value.tolist() == [284, 285]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("latt,lon,value\n50,4,1\n", "no column of latitude"),
        ("lat,lon,a,b\n50,4,1,2\n", "not clear"),
        ("lat,lon,value\n95,4,1\n51,5,2\n", "Latitudes"),
        ("lat,lon,value,sd\n50,4,1,-1\n51,5,2,1\n", "negative"),
        ("lat,lon,value,time\n50,4,1,2020-01-01\n51,5,2,2020-01-02\n", "several times"),
        ("lat,lon,value,alt [K]\n50,4,1,3\n51,5,2,4\n", "is not a length"),
        ("lat,lon,value\n50,4,\n51,5,\n", "value"),
    ],
)
def test_unclear_tables_are_refused_with_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_stations(written(tmp_path, text))


def test_rows_without_a_value_are_left_out_with_a_note(tmp_path: Path) -> None:
    found = read_stations(written(tmp_path, "lat,lon,value\n50,4,1\n51,5,NA\n52,5,3\n"))
    assert len(found) == 2 and np.isfinite(found.value).all() and "1 of 3 stations" in found.notes[0]


TIMES = """time,lat,lon,value
2020-01-01 06:00,30.5,4,280
2020-01-01 12:00,30.5,4,281
2020-01-01 12:00,31.5,5,282
2020-02-01 12:00,30.5,4,283
2020-02-01 12:00,31.5,5,
"""


@pytest.mark.parametrize(
    ("time", "values"), [("2020-01-01 12:00", [281, 282]), ("2020-02", [283]), ("2020-01-01 06:00", [280])]
)
def test_of_several_times_the_rows_of_one_count(tmp_path: Path, time: str, values: list[float]) -> None:
    found = read_stations(written(tmp_path, TIMES), time=time)
    assert found.value.tolist() == values
    assert any(note.startswith(f"{TIMES.count(time)} of 5 rows of stations.csv are used") for note in found.notes)


@pytest.mark.parametrize(
    ("time", "said"),
    [
        ("", "to 2020-02-01 12:00: choose one"),
        ("2020-01", "2020-01 does not match exactly one"),
        ("2019", "2019 does not match exactly one"),
    ],
)
def test_a_time_that_is_not_clear_is_refused(tmp_path: Path, time: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_stations(written(tmp_path, TIMES), time=time)


def test_stations_follow_the_time_of_the_map(tmp_path: Path) -> None:
    days = np.array(["2020-01-01T12:00", "2020-02-01T12:00"], dtype="datetime64[ns]")
    data = region(24, 24)
    data["t"] = data.t.expand_dims(time=days).copy()
    path = str(written(tmp_path, TIMES))

    def values(time: str, **more: str) -> list[float]:
        spec = DownscalingSpec("t", ("orog",), (), (6, 6), 0.0, select={"time": time})
        problem = build_problem(
            Source("f", stations=path, **more), spec, lambda key: fields(data), stations=stations_at
        )
        return problem.stations.measured.value.tolist()

    assert values("2020-01-01") == [281, 282] and values("2020-02") == [283]
    assert values("2020-02", station_time="2020-01-01 06:00") == [280]


ODD_STATIONS = {
    "west and south in the units": (
        "lat [degS],lon (°W),t2m [K]\n52.5,5.25,280\n51,4.5,281\n", ([-52.5, -51], [-5.25, -4.5], [0, 0])
    ),
    "radians": (
        "lat [rad],lon [rad],t2m [K]\n0.5235987755982988,0.1,280\n0.6,0.2,281\n",
        ([30, 34.37746770784939], [5.729577951308232, 11.459155902616466], [0, 0]),
    ),
    "letters in columns": ("lat,NS,lon,EW,t2m\n52.5,N,5,W,280\n51,S,6,E,281\n", ([52.5, -51], [-5, 6], [0, 0])),
    "errors in mK": ("lat,lon,t2m [K],error [mK]\n52.5,5,280,500\n51,6,281,300\n", ([52.5, 51], [5, 6], [0.5, 0.3])),
    "errors in °F": ("lat,lon,t2m [K],sd [degF]\n52.5,5,280,1.8\n51,6,281,3.6\n", ([52.5, 51], [5, 6], [1, 2])),
    "errors in K of °C": ("lat,lon,t2m [degC],sd [K]\n52.5,5,10,1.8\n51,6,11,3.6\n", ([52.5, 51], [5, 6], [1.8, 3.6])),
}  # fmt: skip


@pytest.mark.parametrize("kind", ODD_STATIONS)
def test_units_of_positions_and_errors(tmp_path: Path, kind: str) -> None:
    text, expected = ODD_STATIONS[kind]
    (tmp_path / "s.csv").write_text(text, encoding="utf-8")
    stations = read_stations(tmp_path / "s.csv", "t2m")
    for values, right in zip((stations.latitude, stations.longitude, stations.error), expected, strict=True):
        np.testing.assert_allclose(values, right, rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "words"),
    [("lat,lon,t2m [K],error [%]\n52.5,5,280,5\n51,6,281,3\n", "give standard deviations in the units"),
     ("lat,lon,t2m [K],error [K^2]\n52.5,5,280,5\n51,6,281,3\n", "give standard deviations in the units"),
     ("y [m],x [m],t2m\n52.5,5,280\n51,6,281\n", "give degrees north"),
     ("lat [degE],lon [degN],t2m\n52.5,5,280\n51,6,281\n", "give degrees north")],
)  # fmt: skip
def test_units_of_something_else(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "s.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        read_stations(tmp_path / "s.csv", "t2m")


def test_columns_just_called_x_and_y_are_told(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text("x,y,t2m\n5,52.5,280\n6,51,281\n", encoding="utf-8")
    stations = read_stations(tmp_path / "s.csv", "t2m")
    assert stations.latitude.tolist() == [52.5, 51] and "are taken to be degrees east and north" in stations.notes[0]


ANGLES = [
    ("52°30'15\"N", "4°15'W", 52 + 30 / 60 + 15 / 3600, -4.25),
    ("52 30 15 S", "004 15 30 E", -(52 + 30 / 60 + 15 / 3600), 4 + 15 / 60 + 30 / 3600),
    ("N52 30.5", "W004 15.5", 52 + 30.5 / 60, -(4 + 15.5 / 60)),
    ("-52:30:15", "-0:30:00", -(52 + 30 / 60 + 15 / 3600), -0.5),
    ("52d30m15s", "4 deg 15 min W", 52 + 30 / 60 + 15 / 3600, -4.25),
    ("52.5N", "4.25W", 52.5, -4.25),
]


@pytest.mark.parametrize(("north", "east", "latitude", "longitude"), ANGLES)
def test_degrees_minutes_and_seconds(
    tmp_path: Path, north: str, east: str, latitude: float, longitude: float
) -> None:  # fmt: skip
    found = read_stations(written(tmp_path, f"lat;lon;t\n{north};{east};1.5\n{north};{east};2.5\n"))
    assert found.latitude == pytest.approx([latitude] * 2, abs=1e-12)
    assert found.longitude == pytest.approx([longitude] * 2, abs=1e-12)
    assert any("is read as degrees, minutes and seconds" in note for note in found.notes)


@pytest.mark.parametrize("cell", ["52°75'N", "4°15'E", "52.5°30'", "-4°15'S", "a hill"])
def test_what_is_no_latitude(tmp_path: Path, cell: str) -> None:
    with pytest.raises(InputError, match="choose a column of numbers, or correct the cell"):
        read_stations(written(tmp_path, f"lat;lon;t\n{cell};4.5;1.5\n{cell};5.5;2.5\n"))


OF_PARTS = {
    "year, month, day, hour": ("2001,2,3,6", "2001,2,3,18"),
    "yyyy, mm, dd, hhmm": ("2001,2,3,600", "2001,2,3,1800"),
    "year, doy, hour": ("2001,34,6", "2001,34,18"),
    "year, month, day, hour ": ("2001,Feb,3,6", "2001,Feb,3,18"),
    "date, time": ("2001-02-03,06:00 AM", "2001-02-03,6:00 pm"),
    "date, clock": ("2001-02-03,060000", "2001-02-03,180000"),
    "date, HHMM": ("2001-02-03,0600", "2001-02-03,1800"),
    "date, hour (UTC)": ("20010203,6", "20010203,18"),
    "UTC_DATE, UTC_TIME, LST_DATE, LST_TIME": ("20010203,600,20010203,100", "20010203,1800,20010203,1300"),
}


@pytest.mark.parametrize("names", OF_PARTS)
def test_times_in_several_columns(tmp_path: Path, names: str) -> None:
    morning, evening = OF_PARTS[names]
    rows = f"50,4,{morning},11\n50,4,{evening},12\n51,5,{morning},13\n51,5,{evening},14\n"
    path = written(tmp_path, f"lat,lon,{names.replace(', ', ',')},value\n{rows}")
    assert read_stations(path, time="2001-02-03 18:00").value.tolist() == [12, 14]
    with pytest.raises(InputError, match="from 2001-02-03 06:00 to 2001-02-03 18:00: choose one"):
        read_stations(path)


def test_the_year_of_a_stations_begin_is_no_time(tmp_path: Path) -> None:
    assert read_stations(written(tmp_path, "lat,lon,year,value\n50,4,1961,11\n51,5,1970,12\n")).value.tolist() == [
        11,
        12,
    ]
    with pytest.raises(InputError, match="several times in 'year'"):
        read_stations(written(tmp_path, "lat,lon,year,value\n50,4,1961,11\n50,4,1970,12\n"))


@pytest.mark.parametrize("exchanged", [True, False])
def test_columns_exchanged_where_some_lie_on_the_map(tmp_path: Path, exchanged: bool) -> None:
    data = fields(region(24, 24))
    places = ["4.5,31", "4.7,31", "4.9,31.1"] if exchanged else ["31,4.5", "31,4.7", "31.1,4.9"]
    rows = "".join(f"{place},290\n" for place in (*places, "30.5,4.5", "60,60.5"))
    source = Source("f", stations=str(written(tmp_path, f"lat,lon,value\n{rows}")))
    spec = DownscalingSpec("t", ("orog",), (), (6, 6), 0.0)
    notes = " ".join(build_problem(source, spec, lambda key: data, stations=stations_at).notes)
    assert exchanged is ("1 of 5 stations of stations.csv lie on the map, 3 with latitudes and" in notes)


def test_a_number_and_a_code_in_quotes_are_no_number(tmp_path: Path) -> None:
    text = 'lat,lon,TMP\n50,4,"+0105,1"\n51,5,"-0015,1"\n'
    with pytest.raises(InputError, match="holds '\\+0105,1' in row 1"):
        read_stations(written(tmp_path, text), value="TMP")
    found = read_stations(written(tmp_path, 'lat,lon,TMP\n50,4,"10,5"\n51,5,"-1,5"\n'))
    assert found.value.tolist() == [10.5, -1.5] and "if the part after the comma is a code" in " ".join(found.notes)
