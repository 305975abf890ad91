"""A made-up series of any length, as files and the words of a command."""

from pathlib import Path

import numpy as np
import xarray as xr


def made_series(folder: Path, shape: tuple[int, int], block: int, times: int) -> list[str]:
    """Files of made-up altitudes and of coarse temperatures at many times, as the words of a command."""
    rng, (rows, columns) = np.random.default_rng(0), shape
    altitude = rng.normal(size=shape).cumsum(0).cumsum(1)
    altitude *= 500 / altitude.std()
    coarse = altitude.reshape(rows // block, block, columns // block, block).mean((1, 3))
    values = 280 - 0.006 * coarse + rng.normal(size=(times, *coarse.shape))
    for name, dims, field, size, units in (
        ("altitude", ("lat", "lon"), altitude, 0.1, "m"), ("t", ("time", "lat", "lon"), values, 0.1 * block, "K"),
    ):  # fmt: skip
        lat, lon = (size * (np.arange(count) + 0.5) for count in field.shape[-2:])
        where = {"lat": ("lat", 30 + lat, {"units": "degrees_north"}), "lon": ("lon", lon, {"units": "degrees_east"})}
        when = {"time": np.datetime64("1990-01-01", "ns") + np.arange(times) * np.timedelta64(1, "D")}
        xr.Dataset({name: (dims, field, {"units": units})}, where | (when if "time" in dims else {})).to_netcdf(
            folder / f"{name}.nc"
        )
    return ["downscale", str(folder / "altitude.nc"), "--coarse", str(folder / "t.nc"), "--target", "t", "--covariates",
            "altitude", "--model", "area_to_point_gp", "--no-learn", "--quiet", "--json", str(folder / "run.json"),
            "--output", str(folder / "out.zarr")]  # fmt: skip
