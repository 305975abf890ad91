"""A global climate model's field brought onto a fine regional grid by its orography: two files, no truth between."""

import json
import tempfile
from pathlib import Path

import numpy as np

from tests.benchmarks.apart import output_of
from tests.benchmarks.table import Row, keep

#: What was agreed on for the whole command, learning and checks included.
LIMIT_CPU_S = 60.0
#: Grid of the European domain at 0.11°, and the model's at 1.25° by 1.875°.
FINE, COARSE = (412, 424), (145, 192)
#: Options of the command beside the files; none: it learns as it does for everybody.
OPTIONS: tuple[str, ...] = ()
SMOKE = {"FINE": (60, 62), "COARSE": (37, 48), "OPTIONS": ("--no-learn",)}
POLE = {"grid_north_pole_latitude": 39.25, "grid_north_pole_longitude": -162.0}


def bench_two_grids() -> None:
    """CPU seconds, of one thread, of the command line from two files to a scored map; fine fields are made up."""
    with tempfile.TemporaryDirectory() as name:
        fine, coarse, out = (Path(name) / file for file in ("orog.nc", "tas.nc", "out.json"))
        _fine(fine)
        _coarse(coarse)
        command = ["downscale", str(fine), "--target", "tas", "--coarse", str(coarse), "--covariates", "orog"]
        command += ["--withhold", "0.5", *OPTIONS]  # scored on the other half
        output_of("-m", "deconditioning", *command, "--json", str(out))
        found, *_ = json.loads(out.read_text())["results"]
    size = f"{COARSE[0]} × {COARSE[1]} onto {FINE[0]} × {FINE[1]}"
    note = f"learned; RMSE of withheld cells {found['scores']['rmse']:.2g} K"
    keep(
        "two_grids",
        [
            Row(
                "Two files, way (b): learned, mapped, checked",
                size,
                found["seconds"]["cpu"],
                "CPU s",
                LIMIT_CPU_S,
                against="the limit agreed on",
                peak_mb=found["peak_mb"],
                note=note,
            )
        ],
    )


def _fine(path: Path) -> None:
    """An orography on the rotated grid."""
    import cartopy.crs as ccrs
    import xarray as xr
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng(0)
    y, x = np.linspace(-23.375, 21.835, FINE[0]), np.linspace(-28.375, 18.155, FINE[1])
    rotated = ccrs.RotatedPole(pole_longitude=-162.0, pole_latitude=39.25)
    places = ccrs.PlateCarree().transform_points(rotated, *np.meshgrid(x, y))
    rough = sum(height * width * gaussian_filter(rng.normal(size=FINE), width)
                for height, width in ((400, 3), (500, 8), (700, 25)))  # fmt: skip
    height = np.maximum(rough, 0).astype("f4")
    of = {"units": "m", "standard_name": "surface_altitude", "grid_mapping": "crs", "coordinates": "lat lon"}
    mapping = {"grid_mapping_name": "rotated_latitude_longitude", **POLE}
    coordinates = {
        "rlat": ("rlat", y, {"standard_name": "grid_latitude", "units": "degrees"}),
        "rlon": ("rlon", x, {"standard_name": "grid_longitude", "units": "degrees"}),
        "lat": (("rlat", "rlon"), places[..., 1], {"standard_name": "latitude", "units": "degrees_north"}),
        "lon": (("rlat", "rlon"), places[..., 0], {"standard_name": "longitude", "units": "degrees_east"}),
    }
    xr.Dataset({"orog": (("rlat", "rlon"), height, of), "crs": ((), 0, mapping)}, coordinates).to_netcdf(path)


def _coarse(path: Path) -> None:
    """A temperature that falls towards the poles, with weather."""
    import xarray as xr
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng(1)
    lat, lon = np.linspace(-90, 90, COARSE[0]), np.arange(COARSE[1]) * 360 / COARSE[1]
    values = 288 - 40 * np.sin(np.deg2rad(lat))[:, None] ** 2 + 20 * gaussian_filter(rng.normal(size=COARSE), 3)
    coordinates = {
        "lat": ("lat", lat, {"standard_name": "latitude", "units": "degrees_north"}),
        "lon": ("lon", lon, {"standard_name": "longitude", "units": "degrees_east"}),
    }
    of = {"units": "K", "standard_name": "air_temperature"}
    xr.Dataset({"tas": (("lat", "lon"), values.astype("f4"), of)}, coordinates).to_netcdf(path)
