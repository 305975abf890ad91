"""A made-up series of any length, as files and the words of a command."""

from pathlib import Path

import numpy as np
import xarray as xr

#: The first time of the series; fine values of an archive are those of the times before.
_BEGIN = np.datetime64("1990-01-01", "ns")


def made_series(folder: Path, shape: tuple[int, int], block: int, times: int, archive: int = 0) -> list[str]:
    """Files of made-up altitudes and of coarse temperatures at many times, as the words of a command; fine ones of so
    many earlier times where there is an ``archive``.
    """
    rng, (rows, columns) = np.random.default_rng(0), shape
    altitude = rng.normal(size=shape).cumsum(0).cumsum(1)
    altitude *= 500 / altitude.std()
    coarse = altitude.reshape(rows // block, block, columns // block, block).mean((1, 3))
    values = 280 - 0.006 * coarse + rng.normal(size=(times, *coarse.shape))
    _write(folder, "altitude", altitude, 0.1, "m")
    _write(folder, "t", values, 0.1 * block, "K", 0)
    words = ["downscale", str(folder / "altitude.nc"), "--coarse", str(folder / "t.nc"), "--target", "t",
             "--covariates", "altitude", "--model", "area_to_point_gp", "--no-learn", "--quiet", "--json",
             str(folder / "run.json"), "--output", str(folder / "out.zarr")]  # fmt: skip
    if not archive:
        return words
    fine = (280 - 0.006 * altitude + rng.normal(size=(archive, 1, 1))).astype("f4")
    for row in fine:  # weather of a cell's size and a finer one
        weather = np.kron(rng.normal(size=coarse.shape), np.ones((block, block)))
        row += weather + 0.5 * rng.normal(size=shape)
    _write(folder, "t", fine, 0.1, "K", -archive, "archive")
    return [*words, "--archive", str(folder / "archive.nc")]


def _write(
    folder: Path, name: str, field: np.ndarray, size: float, units: str, first: int | None = None, file: str = ""
) -> None:
    """A file of a field, along times from the ``first`` on, in days from the begin, where it has any."""
    lat, lon = (size * (np.arange(count) + 0.5) for count in field.shape[-2:])
    where = {"lat": ("lat", 30 + lat, {"units": "degrees_north"}), "lon": ("lon", lon, {"units": "degrees_east"})}
    dims: tuple[str, ...] = ("lat", "lon")
    if first is not None:
        where["time"] = _BEGIN + (first + np.arange(len(field))) * np.timedelta64(1, "D")
        dims = ("time", *dims)
    xr.Dataset({name: (dims, field, {"units": units})}, where).to_netcdf(folder / f"{file or name}.nc")
