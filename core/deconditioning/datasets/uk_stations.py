"""Stations of the UK Met Office in March 2019: monthly means of daily extremes of temperature, and altitudes.

Source and licence of the bundled table: ``data/README.md``.
"""

import csv
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from deconditioning.bundled import bundled

if TYPE_CHECKING:
    from deconditioning.fields.footprints.station_data import Stations

LICENCE = "UK Open Government Licence v3.0; contains Met Office data, © Crown copyright"
FILE = bundled("uk_stations_2019-03.csv")
#: Of the bundled example one station in so many, in the order of the alphabet, is kept for scores.
_KEPT = 3
Part = Literal["seen", "scored", "all"]
Value = Literal["tmean", "tmax", "tmin"]
VALUES: tuple[Value, ...] = ("tmean", "tmax", "tmin")


@lru_cache(maxsize=12)
def uk_stations(part: Part = "all", value: Value = "tmean") -> "Stations":
    """Mean daily highest ("tmax") or lowest ("tmin") temperature of the month in °C, or "tmean", the mean of both.

    Stations whose values the Met Office has estimated are left out. Of the others, in the order of the alphabet, every
    third is "scored", the rest is "seen".
    """
    from deconditioning.fields.footprints.station_data import Stations

    with FILE.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["estimated"] == "no"]
    highest, lowest = (np.array([float(row[f"{name} [degC]"]) for row in rows]) for name in ("tmax", "tmin"))
    values = {"tmax": highest, "tmin": lowest, "tmean": (highest + lowest) / 2}
    latitude, longitude, altitude = (
        np.array([float(row[name]) for row in rows]) for name in ("lat", "lon", "altitude [m]")
    )
    every = Stations(
        latitude, longitude, values[value], np.zeros(len(rows)), altitude, units="degC", source="the Met Office",
        licence=LICENCE,
    )  # fmt: skip
    kept = np.arange(len(rows)) % _KEPT == _KEPT - 1
    return every if part == "all" else every.of(kept if part == "scored" else ~kept)
