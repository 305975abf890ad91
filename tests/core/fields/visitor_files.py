"""Files as scientists have them: a reanalysis, a coarse model with a fine height map, a projected model."""

import numpy as np
import pandas as pd
import xarray as xr
from scipy.ndimage import gaussian_filter


def _height(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    """Mountains of some hundred metres."""
    rough = gaussian_filter(np.random.default_rng(seed).standard_normal((rows, columns)), 2.0)
    return 800 + 400 * rough / rough.std()


def _hours(count: int) -> np.ndarray:
    return pd.date_range("2019-03-01", periods=count, freq="h").values


def reanalysis(rows: int = 48, columns: int = 64, hours: int = 6, repeated: bool = False) -> xr.Dataset:
    """Temperature of several hours as ERA5 has it, with the geopotential of the ground and a mask of land; both are
    ``repeated`` for every hour in some downloads."""
    rng = np.random.default_rng(1)
    height = _height(rows, columns)
    day = 3 * np.sin(np.arange(hours))[:, None, None]
    latitude = 60 - 0.25 * np.arange(rows)
    t2m = 300 - 0.5 * latitude[:, None] - 0.0065 * height + day + 0.1 * rng.standard_normal((hours, rows, columns))
    dims, fixed = ("time", "latitude", "longitude"), ("latitude", "longitude")
    data = xr.Dataset(
        {
            "d2m": (dims, t2m - 4, {"units": "K", "long_name": "2 metre dewpoint temperature"}),
            "t2m": (dims, t2m, {"units": "K", "long_name": "2 metre temperature"}),
            "z": (fixed, 9.80665 * height,
                  {"units": "m**2 s**-2", "long_name": "Geopotential", "standard_name": "geopotential"}),
            "lsm": (fixed, (height > 600).astype(float),
                    {"units": "(0 - 1)", "long_name": "Land-sea mask", "standard_name": "land_binary_mask"}),
        },
        {"time": _hours(hours), "latitude": latitude, "longitude": 5 + 0.25 * np.arange(columns)},
    )  # fmt: skip
    data.latitude.attrs.update(units="degrees_north", standard_name="latitude")
    data.longitude.attrs.update(units="degrees_east", standard_name="longitude")
    if repeated:
        for name in ("z", "lsm"):
            data[name] = data[name].expand_dims(time=data.time).copy()
    return data


def fine_heights(rows: int = 60, columns: int = 72, step: float = 0.1) -> xr.Dataset:
    """Height and slope on a fine grid, without a time."""
    height = _height(rows, columns, seed=2)
    names = ("lat", "lon")
    data = xr.Dataset(
        {
            "elevation": (names, height, {"units": "m", "long_name": "height of the ground"}),
            "slope": (names, np.hypot(*np.gradient(height)), {"units": "m"}),
        },
        {"lat": 44.05 + step * np.arange(rows), "lon": 6.05 + step * np.arange(columns)},
    )
    data.lat.attrs["units"], data.lon.attrs["units"] = "degrees_north", "degrees_east"
    return data


def coarse_months(months: int = 4) -> xr.Dataset:
    """A climate model's monthly temperature over ``fine_heights``, on pixels ten times as wide on either side."""
    rng = np.random.default_rng(3)
    heights = fine_heights()["elevation"].coarsen(lat=5, lon=6, boundary="trim").mean()
    rows, columns = heights.shape
    tas = 285 - 0.006 * heights.values + rng.standard_normal((months, 1, 1)) + 0.1 * rng.random((months, rows, columns))
    data = xr.Dataset(
        {"tas": (("time", "lat", "lon"), tas, {"units": "K", "standard_name": "air_temperature"})},
        {"time": pd.date_range("2001-01-01", periods=months, freq="MS").values, "lat": heights.lat.values,
         "lon": heights.lon.values},
    )  # fmt: skip
    data.lat.attrs["units"], data.lon.attrs["units"] = "degrees_north", "degrees_east"
    return data


def projected(rows: int = 40, columns: int = 50, hours: int = 3) -> xr.Dataset:
    """A regional model on a projected grid that the file gives only as two-dimensional latitudes and longitudes."""
    rng = np.random.default_rng(4)
    height = _height(rows, columns, seed=4)
    j, i = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    latitude, longitude = 45 + 0.09 * j + 0.01 * i, 8 + 0.12 * i - 0.015 * j
    tas = 15 - 0.0065 * height + np.arange(hours)[:, None, None] + 0.1 * rng.standard_normal((hours, rows, columns))
    where = {"coordinates": "lat lon"}
    return xr.Dataset(
        {
            "pr": (("time", "y", "x"), rng.random((hours, rows, columns)), {"units": "kg m-2 s-1", **where}),
            "tas": (("time", "y", "x"), tas, {"units": "degC", "standard_name": "air_temperature", **where}),
            "orog": (("y", "x"), height, {"units": "m", "standard_name": "surface_altitude", **where}),
        },
        {
            "time": _hours(hours),
            "lat": (("y", "x"), latitude, {"units": "degrees_north", "standard_name": "latitude"}),
            "lon": (("y", "x"), longitude, {"units": "degrees_east", "standard_name": "longitude"}),
        },
    )


#: Name → bytes that are no file of fields.
def rubbish() -> dict[str, bytes]:
    """A picture of a document, nothing, text, and bytes."""
    return {
        "paper.pdf": b"%PDF-1.7\n1 0 obj\n<<>>\nendobj\n",
        "empty.nc": b"",
        "notes.txt": b"station,weather\nA,fair\n",
        "cut.nc": b"\x89HDF\r\n\x1a\n" + bytes(100),
    }


def unusable() -> dict[str, xr.Dataset]:
    """Files that can be read and hold nothing to downscale: no grid, no values, one pixel."""
    series = xr.Dataset({"t": ("time", np.arange(5.0))}, {"time": _hours(5)})
    missing = reanalysis(hours=2)[["t2m"]] * np.nan
    return {
        "series.nc": series,
        "missing.nc": missing,
        "pixel.nc": reanalysis(hours=1).isel(latitude=[3], longitude=[4]),
    }
