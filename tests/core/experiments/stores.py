"""A small Zarr store of some months, written by the netCDF library, and a model conditioned on its first one."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import h5py  # noqa: F401  before netCDF4: each then keeps the HDF5 library it was built with
import netCDF4
import numpy as np

from core.datasets.atmosphere import make_atmosphere
from core.experiments.settings import DownscaleSettings
from core.experiments.source import Source
from core.experiments.stored_model import StoredModel
from core.fields import DownscalingSpec

SHAPE = (40, 80)
COVARIATES = ("total_cloud_cover", "cloud_albedo")


@lru_cache(maxsize=8)
def _planet(shape: tuple[int, int], seed: int) -> Any:
    return make_atmosphere(shape, seed=seed)


def write_store(
    path: Path,
    steps: int = 3,
    shape: tuple[int, int] = SHAPE,
    flip: bool = False,
    same: bool = False,
    change: Callable[[int, Any], None] = lambda step, planet: None,
    **units: str,
) -> Path:
    """A planet a step, chunks of one step and 16 rows; ``flip`` lets the latitudes descend, as most files do.

    ``same``: the first planet's covariates again and again, and no targets after the first step. ``change``: what to do
    to each planet; ``units`` other than theirs.
    """
    with netCDF4.Dataset(f"file://{path}#mode=zarr,file", "w") as file:
        for name, size in (("time", steps), ("latitude", shape[0]), ("longitude", shape[1])):
            file.createDimension(name, size)
        time = file.createVariable("time", "f8", ("time",))
        time.units, time.calendar = "days since 2001-01-15", "standard"
        time[:] = 30.0 * np.arange(steps)
        for step in range(steps):
            if step == 0 or not same:
                planet = _planet(shape, step).copy(deep=True)
                planet = planet.isel(latitude=slice(None, None, -1)) if flip else planet
            change(step, planet)
            if step == 0:
                _describe(file, planet, shape, units)
            for name in COVARIATES if same and step else planet.data_vars:
                file[name][step] = planet[name].values
    return path


def _describe(file: Any, planet: Any, shape: tuple[int, int], units: dict[str, str]) -> None:
    for name, array in planet.variables.items():
        field = array.ndim == 2
        dims = ("time", *array.dims) if field else array.dims
        more: dict[str, Any] = {"chunksizes": (1, 16, shape[1]), "compression": "zlib", "complevel": 1} if field else {}
        variable = file.createVariable(name, array.dtype, dims, fill_value=np.nan if field else None, **more)
        variable.setncatts({**array.attrs, **({"units": units[name]} if name in units else {})})
        if not field:
            variable[:] = array.values


def stored_model(store: Path, model: str = "shrinkage_cmp", **problem: Any) -> StoredModel:
    """The model at its starting hyperparameters, conditioned on the first step of the store."""
    given = {
        "target": "cloud_top_temperature", "covariates": COVARIATES, "mediators": ("cloud_top_pressure",),
        "block": (5, 5), "select": {"time": 0},
    }  # fmt: skip
    settings = DownscaleSettings(model=model, learn=False, device="cpu", inducing=20)
    return StoredModel(Source(str(store)), DownscalingSpec.from_dict({**given, **problem}), settings)
