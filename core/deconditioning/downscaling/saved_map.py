"""The fields of a run, read back from its NetCDF file."""

import io
from dataclasses import dataclass

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.grids.grid import Grid

#: The file of a downscaling run, and its small picture.
FILE, THUMBNAIL = "downscaled.nc", "thumbnail.png"


@dataclass(frozen=True)
class SavedMap:
    """Mean and sd (H, W) of a run in its target's ``units``, on their grid; ``name`` is the target's."""

    grid: Grid
    mean: np.ndarray
    sd: np.ndarray | None
    name: str
    units: str


def saved_map(data: bytes) -> SavedMap:
    """What the bytes of a run's file hold. Raises ``InputError`` if they are not such a file."""
    import xarray as xr

    try:
        with xr.open_dataset(io.BytesIO(data), engine="h5netcdf") as dataset:
            fine = [name for name in ("mean", "sd") if name in dataset]
            if "mean" not in fine:
                raise InputError("The run's file has no variable `mean`; the file was changed. Run it again.")
            mappings = [name for name in ("crs",) if name in dataset]
            fields = fields_from_dataset(dataset[[*fine, *mappings]].load())
            mean = fields.dataset["mean"]
            sd = fields.dataset["sd"].values if "sd" in fields.dataset else None
            name = str(mean.attrs.get("long_name") or "mean").removeprefix("posterior mean of ")
            return SavedMap(fields.grid, mean.values, sd, name, str(mean.attrs.get("units") or ""))
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"The run's file cannot be read ({type(error).__name__}): run it again.") from None
