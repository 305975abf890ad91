"""Large files opened: 400 variables listed, and 20 GB of which one step is read, each in a process of its own."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.benchmarks.apart import output_of
from tests.benchmarks.table import Row, keep

VARIABLES, GRID = 400, (180, 360)
STEPS, LARGE = 5000, (1000, 1000)
SMOKE = {"VARIABLES": 5, "GRID": (9, 12), "STEPS": 3, "LARGE": (20, 30)}

#: Opens a file as the command line does, lists its fields and reads one at the last step.
_OPEN = """
import json, sys, time
from deconditioning.fields.reading.opening import open_fields
import psutil
begun = psutil.Process().memory_info().rss
start, spent = time.perf_counter(), time.process_time()
found = open_fields(sys.argv[1])
names = list(found.variables())
told = {"names": len(names), "wall": time.perf_counter() - start, "cpu": time.process_time() - spent}
start = time.perf_counter()
step = {"time": int(sys.argv[2]) - 1} if int(sys.argv[2]) else {}
values = found.values(names[-1], step)
memory = psutil.Process().memory_info()
told |= {"read": time.perf_counter() - start, "corner": float(values.ravel()[0]), "mb": memory.rss / 1e6,
         "imports_mb": begun / 1e6}
print(json.dumps(told))
"""


def bench_files() -> None:
    """Wall seconds until the fields are listed, then until one is read, and memory, against the limits agreed on."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = f"{STEPS:,} × {LARGE[0]:,} × {LARGE[1]:,} float32, {4 * STEPS * LARGE[0] * LARGE[1] / 1e9:.0f} GB"
        many = f"{VARIABLES} variables of {GRID[0]} × {GRID[1]}"
        cases: list[tuple[str, str, str, Callable[[Path], None], int, float]] = [
            ("NetCDF: fields listed", many, "many.nc", _many, 0, 2.0),
            ("NetCDF: opened, fields listed", size, "large.nc", _large_netcdf, STEPS, 3.0),
            ("Zarr: opened, fields listed", size, "large.zarr", _large_zarr, STEPS, 3.0),
        ]
        for what, of, file, make, steps, limit in cases:
            make(folder / file)
            found = _opened(folder / file, steps)
            assert found["corner"] == 7.0, "the value that was written last"
            note = (
                f"{found['cpu']:.2g} CPU s; {found['names']} listed; one field read in {found['read']:.2g} s more; "
                f"{found['imports_mb']:.0f} MB are the imports"
            )
            against = "the limit agreed on"
            rows.append(
                Row(what, of, found["wall"], "s", limit, against=against, peak_mb=found["mb"], note=note)
            )  # fmt: skip
    keep("files", rows)


def _opened(path: Path, steps: int) -> dict[str, float]:
    told: dict[str, float] = json.loads(output_of("-c", _OPEN, str(path), str(steps)).splitlines()[-1])
    return told


def _coordinates(rows: int, columns: int) -> dict[str, tuple[np.ndarray, str]]:
    return {
        "lat": (np.linspace(-80, 80, rows), "degrees_north"),
        "lon": (np.linspace(-170, 170, columns), "degrees_east"),
    }


def _many(path: Path) -> None:
    import xarray as xr

    places = {name: (name, values, {"units": units}) for name, (values, units) in _coordinates(*GRID).items()}
    values = np.full(GRID, 7.0, "f4")
    xr.Dataset({f"v{n:03d}": (("lat", "lon"), values, {"units": "K"}) for n in range(VARIABLES)}, places).to_netcdf(
        path
    )


def _large_netcdf(path: Path) -> None:
    """All of it is declared, the last step alone is written: the file system holds no more."""
    import h5py

    with h5py.File(path, "w") as file:
        file["time"] = np.arange(STEPS, dtype=float)
        file["time"].attrs["units"] = "hours since 2001-01-01"
        for name, (values, units) in _coordinates(*LARGE).items():
            file[name] = values
            file[name].attrs["units"] = units
        field = file.create_dataset("t", (STEPS, *LARGE), "f4", chunks=(1, *LARGE))
        field.attrs["units"] = "K"
        field[-1] = np.full(LARGE, 7.0, "f4")
        for place, name in enumerate(("time", "lat", "lon")):
            file[name].make_scale(name)
            field.dims[place].attach_scale(file[name])


def _large_zarr(path: Path) -> None:
    import zarr

    root = zarr.open_group(path, mode="w")
    times = root.create_array("time", data=np.arange(STEPS, dtype=float), dimension_names=("time",))
    times.attrs["units"] = "hours since 2001-01-01"
    for name, (values, units) in _coordinates(*LARGE).items():
        root.create_array(name, data=values, dimension_names=(name,)).attrs["units"] = units
    field = root.create_array(
        "t", shape=(STEPS, *LARGE), dtype="f4", chunks=(1, *LARGE), dimension_names=("time", "lat", "lon")
    )  # fmt: skip
    field.attrs["units"] = "K"
    field[-1] = np.full(LARGE, 7.0, "f4")
