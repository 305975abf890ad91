"""Make the small CF NetCDF file of a month of ERA5 over the British Isles that belongs to the bundled stations.

Run once, in the project's environment, on hourly temperatures (see `convert_era5_uk.py` for their source) and on the
file ``pvlib/data/Altitude.h5`` of the PyPI package pvlib 0.16.1 (altitudes of 1/12° in steps of 28 m)::

    python data/convert_era5_uk_month.py era5-2mt-2019-03-uk.nc Altitude.h5 data/era5_uk_month_2019-03.nc

What is changed: the hottest and the coldest hour of every day (UTC) are averaged over the month; altitudes are averaged
over the 3 × 3 values of a pixel, with what lies below the sea at 0 m; the share of land is that of
``era5_uk_2019-03.nc``, to which the altitudes are added.
"""

import argparse
from pathlib import Path

import h5py
import numpy as np
import xarray as xr

SERIES = Path(__file__).parent / "era5_uk_2019-03.nc"
#: Of the altitudes: values a degree, value that stands for none, metres of one step and of the value 0.
A_DEGREE, NONE, STEP, LOWEST = 12, 255, 28, -450
LICENCE = (
    "Altitude: EU-DEM, produced using Copernicus data and information funded by the European Union; © Environment "
    "Agency copyright and/or database right 2015 (UK Open Government Licence v3.0); U.S. Geological Survey; NOAA"
)
ATTRIBUTES = {
    "Conventions": "CF-1.11",
    "title": "ERA5 daily extremes of 2 m temperature over the British Isles, means of March 2019",
    "institution": "ECMWF, Copernicus Climate Change Service",
    "source": "ERA5 hourly data on single levels, by way of era5-2mt-2019-03-uk.grib of pydata/xarray-data; share of "
    "land from Natural Earth; altitude from Terrain Tiles by way of pvlib",
    "license": f"Copernicus licence; contains modified Copernicus Climate Change Service information 2019. {LICENCE}",
    "history": "monthly means of daily maxima and minima, and means of altitude, by data/convert_era5_uk_month.py",
    "references": "Hersbach et al. 2020, doi:10.1002/qj.3803",
}


def pixel_altitude(path: Path, latitude: np.ndarray, longitude: np.ndarray) -> np.ndarray:
    """(H, W) metres: means over pixels of 0.25° whose centres are given, latitudes descending."""
    half, across = 0.125, 3
    row, column = (round(each * A_DEGREE) for each in (90 - latitude[0] - half, longitude[0] - half + 180))
    shape = len(latitude), len(longitude)
    with h5py.File(path) as file:
        step = file["Altitude"][row : row + across * shape[0], column : column + across * shape[1]]
    metres = np.where(step == NONE, 0.0, np.maximum(step.astype(float) * STEP + LOWEST, 0.0))
    return metres.reshape(shape[0], across, shape[1], across).mean((1, 3))


def add_altitude(path: Path, altitude: xr.DataArray) -> None:
    """Add the altitudes to the file of the series on the same grid, which is otherwise unchanged."""
    with xr.open_dataset(path, engine="h5netcdf") as file:
        series = file.load()
    kept = ("dtype", "scale_factor", "add_offset", "_FillValue", "units", "calendar", "zlib", "complevel", "shuffle",
            "chunksizes")  # fmt: skip
    names = ("t2m", "land", "time")
    encoding = {n: {key: value for key, value in series[n].encoding.items() if key in kept} for n in names}
    series["altitude"] = (altitude.dims, altitude.values.astype("float32"), altitude.attrs)
    encoding["altitude"] = {"dtype": "float32", "zlib": True, "complevel": 9, "shuffle": True}
    if LICENCE not in series.attrs["license"]:
        series.attrs["license"] += f". {LICENCE}"
        series.attrs["source"] += "; altitude from Terrain Tiles by way of pvlib"
        series.attrs["history"] += "; altitude added by data/convert_era5_uk_month.py"
    series.to_netcdf(path, engine="h5netcdf", encoding=encoding)


def main() -> None:
    """Read the files named first and write the one named last."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("hourly", "altitude", "output"):
        parser.add_argument(name, type=Path)
    paths, place = parser.parse_args(), ("latitude", "longitude")
    with xr.open_dataset(paths.hourly) as whole, xr.open_dataset(SERIES) as three_hourly:
        days = whole["t2m"].load().resample(time="1D")
        land = three_hourly[["land"]].load()
    highest, lowest = (each.mean("time") for each in (days.max(), days.min()))
    about = {"standard_name": "air_temperature", "units": "K"}
    fields = {
        "tmean": ((highest + lowest) / 2, "mean of daily highest and lowest 2 m temperature", "time: mean"),
        "tmax": (highest, "daily highest 2 m temperature", "time: maximum within days time: mean over days"),
        "tmin": (lowest, "daily lowest 2 m temperature", "time: minimum within days time: mean over days"),
    }
    for name, (values, words, methods) in fields.items():
        land[name] = (place, values.values, about | {"long_name": f"{words}, March 2019", "cell_methods": methods})
    altitude = pixel_altitude(paths.altitude, land["latitude"].values, land["longitude"].values)
    land["altitude"] = (
        place,
        altitude,
        {"standard_name": "surface_altitude", "long_name": "mean altitude", "units": "m"},
    )
    land.attrs = ATTRIBUTES
    small = {"zlib": True, "complevel": 9, "shuffle": True}
    packed = {"dtype": "int16", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": -32768}
    encoding = {name: packed | small for name in fields} | {
        "land": {"dtype": "float32"} | small,
        "altitude": {"dtype": "float32"} | small,
    }
    land[[*fields, "altitude", "land"]].to_netcdf(paths.output, engine="h5netcdf", encoding=encoding)
    add_altitude(SERIES, land["altitude"])


if __name__ == "__main__":
    main()
