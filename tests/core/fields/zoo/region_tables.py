"""Tables with the values of regions, joined by codes, and tables of soundings with footprints."""

from collections.abc import Iterator

import numpy as np
import xarray as xr

from tests.core.fields.samples import netcdf
from tests.core.fields.zoo.animal import Animal

_MONTHS = "code,month,rain\n01,2001-01-01,1\n02,2001-01-01,2\n01,2001-02-01,10\n10,2001-02-01,30\n"
_WIDE = "lat,lon,t,{},minor,angle\n50,4,281,{},10,30\n51,5,283,{},12,40\n"


def animals() -> Iterator[Animal]:
    yield _table("months-of-regions", _MONTHS, "4 regions: 10, none, none, 30 in 2001-02",
                 noted="2 of 4 rows of months-of-regions.csv are used, those of 2001-02-01")  # fmt: skip
    yield _table(
        "seasons-of-regions", _MONTHS.replace("-02-01", "-04-01"), refused="and 2001-02 does not match exactly"
    )
    yield _table("one-month-in-two-rows", _MONTHS + "01,2001-02-01,11\n", refused="'1' belongs to 2 rows")
    data = {"code": ("region", ["01", "10"], {"cf_role": "timeseries_id"}),
            "rain": (("time", "region"), np.arange(4.0).reshape(2, 2), {"units": "mm"}),
            "time": ("time", [0.0, 31], {"units": "days since 2001-01-01", "standard_name": "time"})}  # fmt: skip
    yield Animal("series-of-regions.nc", lambda path: path.write_bytes(netcdf(xr.Dataset(data))),
                 "4 regions: 2, none, none, 3 mm in 2001-02", kind="region table")  # fmt: skip
    yield _soundings("widths-in-metres", _WIDE.format("major [m]", "20000", "25000"),
                     "2 soundings: 281, 283; 20 to 25 × 10 to 12 km")  # fmt: skip
    yield _soundings("a-width-missing", _WIDE.format("major", "20", ""), "1 soundings: 281; 20 × 10 km",
                     noted="1 of 2 values have no footprint in 'major' and 'minor' and 'angle'")  # fmt: skip
    yield _soundings("widths-in-kelvin", _WIDE.format("major [K]", "20", "25"), refused="which is not a length")


def _table(name: str, text: str, reads: str = "", **more) -> Animal:
    return Animal(f"{name}.csv", lambda path: path.write_text(text), reads, kind="region table", **more)


def _soundings(name: str, text: str, reads: str = "", **more) -> Animal:
    return Animal(f"{name}.csv", lambda path: path.write_text(text), reads, kind="soundings", **more)
