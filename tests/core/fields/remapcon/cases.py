"""Cases of carrying a field from grid to grid, whose means ``cdo remapcon`` has computed.

``python -m tests.core.fields.remapcon.cases`` makes the numbers anew where cdo is installed: each case is written as
SOURCE.nc and TARGET.nc, and ``cdo -O -s -f nc4 remapcon,TARGET.nc SOURCE.nc OUT.nc`` does the rest.
"""

import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import xarray as xr

from deconditioning.fields.grids.grid import Grid, make_grid
from deconditioning.fields.writing.export import grid_coordinates

NUMBERS = Path(__file__).with_name("remapcon.json")
ROTATED = {"grid_mapping_name": "rotated_latitude_longitude", "grid_north_pole_latitude": 39.25,
           "grid_north_pole_longitude": -162.0}  # fmt: skip
LAMBERT = {"grid_mapping_name": "lambert_conformal_conic", "standard_parallel": [46.0, 48.0],
           "latitude_of_projection_origin": 47.0, "longitude_of_central_meridian": 10.0,
           "earth_radius": 6371229.0}  # fmt: skip


def lines(low: float, high: float, step: float) -> np.ndarray:
    return np.arange(low + step / 2, high, step)


def sheet(rows: int, columns: int, corner: tuple[float, float], step: float) -> Grid:
    """A curvilinear grid: rows and columns that turn and stretch."""
    i, j = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    latitude = corner[0] + step * (i + 0.25 * j + 0.004 * i * j)
    longitude = corner[1] + step * (1.3 * j - 0.3 * i + 0.003 * j**2)
    return make_grid("curvilinear", np.arange(rows), np.arange(columns), position=(latitude, longitude))


GRIDS = {
    "fine": make_grid("latlon", lines(30, 66, 0.75), lines(-14, 40, 0.9)),
    "coarse": make_grid("latlon", lines(34, 62, 3.5), lines(-10, 35, 4.5)),
    "globe": make_grid("latlon", lines(-90, 90, 2.5), lines(0, 360, 3.75), wraps=True),
    "turned": make_grid("latlon", lines(-90, 90, 10), lines(-180, 180, 15), wraps=True),
    "rotated": make_grid("rotated", lines(-12, 12, 0.8), lines(-16, 14, 0.8), mapping=ROTATED),
    "cells": make_grid("rotated", lines(-9, 9, 3), lines(-12, 12, 3), mapping=ROTATED),
    "lambert": make_grid("projected", lines(-1.2e6, 1.2e6, 8e4), lines(-1.6e6, 1.6e6, 8e4), mapping=LAMBERT),
    "sheet": sheet(40, 44, (33.0, 2.0), 0.6),
    "plates": sheet(7, 8, (40.0, -2.0), 2.4),
}
#: From grid to grid, with holes or without.
CASES = (
    ("fine", "coarse", False), ("fine", "coarse", True), ("globe", "turned", False), ("rotated", "coarse", True),
    ("lambert", "coarse", False), ("sheet", "coarse", False), ("fine", "cells", False), ("globe", "cells", False),
    ("fine", "plates", False), ("rotated", "plates", True),
)  # fmt: skip


def field(grid: Grid, holes: bool) -> np.ndarray:
    """Waves down to a few degrees on 280; with ``holes`` nothing where it is high."""
    phi, lam = np.deg2rad(grid.latitude), np.deg2rad(grid.longitude)
    values = 280 + 12 * np.cos(2 * phi) * np.cos(lam) + 4 * np.sin(11 * phi + 3) * np.cos(9 * lam)
    values = values + 2 * np.sin(40 * phi) * np.sin(33 * lam + 1)
    return np.where(holes & (values > 289), np.nan, values)


def dataset(grid: Grid, values: np.ndarray) -> xr.Dataset:
    variables, dims, said = grid_coordinates(grid, "", vertices=True)
    if grid.kind != "latlon":
        said = {**said, "coordinates": "latitude longitude"}
    made = xr.Dataset(variables).assign(v=(dims, values, {"units": "K", **said}))
    edges = [name for name in made.variables if str(name).endswith(("_bnds", "_vertices")) or name == "crs"]
    return made.set_coords([n for n in made.variables if n not in edges and n != "v"])


def by_cdo(source: Grid, onto: Grid, values: np.ndarray) -> np.ndarray:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.nc" for name in ("SOURCE", "TARGET", "OUT")]
        for path, grid, what in zip(paths, (source, onto), (values, np.zeros(onto.shape)), strict=False):
            made = dataset(grid, what)
            for name in made.variables:
                made[name].encoding["_FillValue"] = 1e30 if name == "v" else None
                if name != "v":
                    made[name].encoding["coordinates"] = None
            made.v.encoding["coordinates"] = made.v.attrs.pop("coordinates", None)
            made.to_netcdf(path, engine="h5netcdf")
        command = ["cdo", "-O", "-s", "-f", "nc4", f"remapcon,{paths[1]}", str(paths[0]), str(paths[2])]
        subprocess.run(command, check=True)
        with xr.open_dataset(paths[2]) as found:
            return found.v.values.astype(float)


def main() -> None:
    numbers = {}
    for source, onto, holes in CASES:
        found = by_cdo(GRIDS[source], GRIDS[onto], field(GRIDS[source], holes))
        numbers[f"{source} {onto}{' holes' if holes else ''}"] = [
            [None if np.isnan(v) else round(float(v), 5) for v in row] for row in found
        ]
    version = subprocess.run(["cdo", "--version"], capture_output=True, text=True, check=True)
    about = (version.stdout + version.stderr).splitlines()[0]
    command = "cdo -O -s -f nc4 remapcon,TARGET.nc SOURCE.nc OUT.nc"
    NUMBERS.write_text(json.dumps({"by": about, "command": command, "means": numbers}) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
