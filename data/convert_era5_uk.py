"""Make the small CF NetCDF file of ERA5 over the British Isles that the project ships.

Run once, in the project's environment, on the file of the repository pydata/xarray-data (licence: Copernicus), after
``grib_to_netcdf`` or `cfgrib` has made a NetCDF file of it::

    python data/convert_era5_uk.py era5-2mt-2019-03-uk.nc data/era5_uk_2019-03.nc

What is changed: every third hour is kept, values are rounded to 0.01 K, and the share of land of each pixel is added,
from Natural Earth's coastlines (public domain), which the project has.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import xarray as xr

COASTLINES = Path(__file__).parents[1] / "core/deconditioning/figures/coastlines/world_50m.json"
EVERY = 3
#: Points along a pixel's side at which land is looked for.
POINTS = 10
ATTRIBUTES = {
    "Conventions": "CF-1.11",
    "title": "ERA5 2 m temperature over the British Isles, March 2019, every three hours",
    "institution": "ECMWF, Copernicus Climate Change Service",
    "source": "ERA5 hourly data on single levels, by way of era5-2mt-2019-03-uk.grib of pydata/xarray-data; share of "
    "land from Natural Earth",
    "license": "Copernicus licence; contains modified Copernicus Climate Change Service information 2019",
    "history": "every third hour, rounded to 0.01 K, share of land added by data/convert_era5_uk.py",
    "references": "Hersbach et al. 2020, doi:10.1002/qj.3803",
}


def land_polygons() -> list:
    """The land of Natural Earth at 1:50 million as shapely polygons in degrees."""
    from shapely import Polygon

    topology = json.loads(COASTLINES.read_text(encoding="utf-8"))
    scale, translate = (np.array(topology["transform"][name]) for name in ("scale", "translate"))
    arcs = [np.cumsum(np.asarray(arc, dtype=float), axis=0) * scale + translate for arc in topology["arcs"]]

    def ring(numbers: list[int]) -> np.ndarray:
        return np.concatenate([arcs[n] if n >= 0 else arcs[~n][::-1] for n in numbers])

    shapes = topology["objects"]["land"]["geometries"]
    parts = [part for shape in shapes
             for part in ([shape["arcs"]] if shape["type"] == "Polygon" else shape["arcs"])]  # fmt: skip
    return [Polygon(ring(part[0]), [ring(hole) for hole in part[1:]]) for part in parts if part]


def land_share(latitude: np.ndarray, longitude: np.ndarray) -> np.ndarray:
    """(H, W) share of the land in every pixel, from `POINTS` × `POINTS` points."""
    from shapely import contains_xy, prepare, union_all

    land = union_all([each.buffer(0) for each in land_polygons()])
    prepare(land)
    inside = (np.arange(POINTS) + 0.5) / POINTS - 0.5
    step = abs(float(latitude[1] - latitude[0]))
    y = (latitude[:, None] + step * inside).ravel()
    x = (longitude[:, None] + step * inside).ravel()
    there = contains_xy(land, *np.meshgrid(x, y))
    return there.reshape(len(latitude), POINTS, len(longitude), POINTS).mean((1, 3))


def main() -> None:
    """Read the NetCDF file named first and write the one named second."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input", type=Path)
    parser.add_argument("output", type=Path)
    paths = parser.parse_args()
    with xr.open_dataset(paths.input) as whole:
        values = whole["t2m"][::EVERY].load()
    place = ("latitude", "longitude")
    about = {"standard_name": "air_temperature", "long_name": "temperature at 2 m", "units": "K",
             "cell_methods": "time: point"}  # fmt: skip
    land = land_share(values["latitude"].values, values["longitude"].values)
    result = xr.Dataset(
        {
            "t2m": (("time", *place), values.values, about),
            "land": (place, land, {"standard_name": "land_area_fraction", "long_name": "share of land", "units": "1"}),
        },
        {
            "time": ("time", values["time"].values, {"standard_name": "time", "axis": "T"}),
            "latitude": ("latitude", values["latitude"].values,
                         {"standard_name": "latitude", "units": "degrees_north"}),
            "longitude": ("longitude", values["longitude"].values,
                          {"standard_name": "longitude", "units": "degrees_east"}),
        },
        ATTRIBUTES,
    )  # fmt: skip
    packed = {"dtype": "int16", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": -32768}
    small = {"zlib": True, "complevel": 9, "shuffle": True}
    shape = (len(values), *land.shape)
    encoding = {"t2m": packed | small | {"chunksizes": shape}, "land": {"dtype": "float32"} | small,
                "time": {"units": "hours since 2019-03-01", "dtype": "int32"}}  # fmt: skip
    result.to_netcdf(paths.output, engine="h5netcdf", encoding=encoding)


if __name__ == "__main__":
    main()
