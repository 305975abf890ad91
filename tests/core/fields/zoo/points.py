"""Stations: tables of text, and discrete samples of NetCDF."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from tests.core.fields.samples import netcdf
from tests.core.fields.zoo.animal import Animal

TIME = {"units": "days since 2001-01-01", "standard_name": "time"}


def animals() -> Iterator[Animal]:
    yield from _tables()
    yield from _samples()


def _csv(name: str, text: str, reads: str = "", **more) -> Animal:
    return Animal(f"{name}.csv", lambda path: path.write_text(text), reads, kind="stations", **more)


def _tables() -> Iterator[Animal]:
    yield _csv("repeated-rows", "lat,lon,t\n50,4,1\n50,4,1\n51,5,2\n", "2 stations: 1, 2", noted="1 of 3 rows repeat")
    yield _csv("stations-at-one-place", "lat,lon,t\n50,4,1\n50,4,3\n51,5,2\n", "3 stations: 1, 3, 2",
               noted="1 of 3 stations have the same position as another")  # fmt: skip
    yield _csv("altitudes-missing", "lat,lon,t,alt\n50,4,1,100\n50,5,3,\n51,5,2,-9999\n", "3 stations: 1, 3, 2",
               noted="-9999 is taken as missing")  # fmt: skip
    yield _csv("errors-missing", "lat,lon,t,error\n50,4,1,0.1\n50,5,3,\n", "2 stations: 1, 3", noted="1 of 2 stations")
    yield _csv("marked-stations", "lat,lon,t\n50,4,1\n50,5,-9999\n51,5,2\n51,6,3\n", "3 stations: 1, 2, 3",
               noted="1 of 4 stations have no value")  # fmt: skip
    yield _csv("units-below-names", "lat,lon,t\ndegN,degE,K\n50,4,281\n51,5,283\n", "2 stations: 281, 283")
    yield _csv("lon-in-lat", "lat,lon,t\n120,50,1\n121,52,2\n", refused="reach 121, as longitudes do")
    yield _csv("metres", "x,y,t\n4e6,3e6,1\n4.1e6,3e6,2\n", refused="Latitudes .* give degrees north")
    yield _csv("too-far-east", "lat,lon,t\n50,4,1\n51,500,2\n", refused="Longitudes .* reach 500")
    yield _csv("degrees-and-minutes", "lat,lon,t\n50°30'N,4°E,1\n51°30'N,5°E,2\n", "2 stations: 1, 2",
               noted="50°30'N is 50.5°")  # fmt: skip
    yield _csv("dates", "time,lat,lon,t\n2001-01-01,50,4,1\n2001-02-01,51,5,2\n", refused="several times")


def _nc(name: str, data: dict, reads: str = "", kind: str = "timeSeries", **more) -> Animal:
    """Four stations with altitudes in feet, and more."""
    n = np.arange(4.0)
    places = {"lat": ("station", 50 + n, {"units": "degrees_north"}), "lon": ("station", 4 + n, {"units":
              "degrees_east"}), "alt": ("station", 1000 * n, {"units": "ft", "positive": "up"})}  # fmt: skip
    found = xr.Dataset({**places, **data}, attrs={"featureType": kind})
    return Animal(f"{name}.nc", lambda path: path.write_bytes(netcdf(found)), reads, kind="stations", **more)


def _samples() -> Iterator[Animal]:
    kelvin, several = {"units": "K"}, "several times in 'time'"
    yield _nc("points", {"t": ("station", np.arange(4.0), kelvin)}, "4 stations: 0, 1, 2, 3 K", "point")
    one, three = ("time", [0.0], TIME), ("time", [0.0, 1, 2], TIME)
    table = np.arange(12.0).reshape(4, 3)
    yield _nc("one-time", {"t": (("station", "time"), table[:, 1:2], kelvin), "time": one}, "4 stations: 1, 4, 7, 10 K")
    yield _nc("one-time-first", {"t": (("time", "station"), table.T[1:2], kelvin), "time": one},
              "4 stations: 1, 4, 7, 10 K")  # fmt: skip
    yield _nc("several-times", {"t": (("station", "time"), table, kelvin), "time": three}, refused=several)
    yield _nc("several-times-first", {"t": (("time", "station"), table.T, kelvin), "time": three}, refused=several)
    yield _nc("times-without-dates", {"t": (("station", "time"), table, kelvin)}, refused=r"'t\[0\]', 't\[1\]'")
    rows = ("station", [1, 0, 2, 1], {"sample_dimension": "obs"})
    measured = {"t": ("obs", np.arange(4.0), kelvin), "time": ("obs", np.zeros(4), TIME)}
    yield _nc("ragged", {**measured, "row_size": rows}, "4 stations: 0, 1, 2, 3 K", noted="1 of 4 stations have the")
    index = ("obs", [3, 1, 2, 0], {"instance_dimension": "station"})
    yield _nc("indexed", {**measured, "index": index}, "4 stations: 0, 1, 2, 3 K")
    wrong = ("station", [1, 0, 2, 2], {"sample_dimension": "obs"})
    yield _nc("ragged-counts-that-differ", {**measured, "row_size": wrong}, refused="`row_size` does not say")
