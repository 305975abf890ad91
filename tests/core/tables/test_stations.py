"""Stations from tables: which columns are what, in several spellings, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from deconditioning.errors import InputError
from deconditioning.tables.stations import read_stations


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
