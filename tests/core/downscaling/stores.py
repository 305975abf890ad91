"""A small Zarr store of some months, written step by step by xarray, and a model conditioned on its first one."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import xarray as xr

from deconditioning.datasets.atmosphere import make_atmosphere
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source
from deconditioning.downscaling.stores.stored_model import StoredModel
from deconditioning.fields.spec import DownscalingSpec

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
    zarr_format: Literal[2, 3] = 3,
    **units: str,
) -> Path:
    """A planet a step, chunks of one step and 16 rows; ``flip`` lets the latitudes descend, as most files do.

    ``same``: the first planet's covariates again and again, and no targets after the first step. ``change``: what to do
    to each planet; ``units`` other than theirs.
    """
    chunks = {"chunks": (1, 16, shape[1])}
    for step in range(steps):
        planet = _planet(shape, 0 if same else step).copy(deep=True)
        planet = planet.isel(latitude=slice(None, None, -1)) if flip else planet
        change(step, planet)
        for name, array in planet.data_vars.items():
            array.attrs["units"] = units.get(str(name), array.attrs["units"])
            if same and step and name not in COVARIATES:
                array[:] = np.nan
        time = xr.Variable("time", [30.0 * step], {"units": "days since 2001-01-15", "calendar": "standard"})
        planet = planet.expand_dims("time").assign_coords(time=time)
        if step:
            planet.drop_vars(["latitude", "longitude"]).to_zarr(path, append_dim="time", consolidated=False)
        else:
            encoding = dict.fromkeys(planet.data_vars, chunks)
            planet.to_zarr(path, encoding=encoding, zarr_format=zarr_format, consolidated=False)
    return path


def stored_model(store: Path, model: str = "shrinkage_cmp", **problem: Any) -> StoredModel:
    """The model at its starting hyperparameters, conditioned on the first step of the store."""
    given = {
        "target": "cloud_top_temperature", "covariates": COVARIATES, "mediators": ("cloud_top_pressure",),
        "block": (5, 5), "select": {"time": 0},
    }  # fmt: skip
    settings = DownscaleSettings(model=model, learn=False, device="cpu", inducing=20)
    return StoredModel(Source(str(store)), DownscalingSpec.from_dict({**given, **problem}), settings)
