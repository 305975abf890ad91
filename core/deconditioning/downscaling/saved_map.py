"""The fields of a run, read back from its NetCDF file."""

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.grids.grid import Grid

if TYPE_CHECKING:
    import xarray as xr

#: The file of a downscaling run, and its small picture.
FILE, THUMBNAIL = "downscaled.nc", "thumbnail.png"


@dataclass(frozen=True)
class SavedMap:
    """Mean, sd and truth (H, W) of a run in its target's ``units``, on their grid; ``name`` is the target's.

    ``coarse`` are the coarse values (h, w) that the model saw, on ``coarse_grid``, NaN where a cell was hidden. What
    the file does not hold is None.
    """

    grid: Grid
    mean: np.ndarray
    sd: np.ndarray | None
    name: str
    units: str
    truth: np.ndarray | None = None
    coarse: np.ndarray | None = None
    coarse_grid: Grid | None = None


def saved_map(data: bytes) -> SavedMap:
    """What the bytes of a run's file hold. Raises ``InputError`` if they are not such a file."""
    import xarray as xr

    try:
        with xr.open_dataset(io.BytesIO(data), engine="h5netcdf") as dataset:
            if "mean" not in dataset:
                raise InputError("The run's file has no variable `mean`; the file was changed. Run it again.")
            grid, fine = _on_one_grid(dataset, ("mean", "sd", "truth"), "crs")
            coarse_grid, coarse = _coarse(dataset)
            mean = dataset["mean"]
            name = str(mean.attrs.get("long_name") or "mean").removeprefix("posterior mean of ")
            units = str(mean.attrs.get("units") or "")
            return SavedMap(grid, fine["mean"], fine.get("sd"), name, units, fine.get("truth"), coarse, coarse_grid)
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"The run's file cannot be read ({type(error).__name__}): run it again.") from None


def _coarse(dataset: "xr.Dataset") -> tuple[Grid | None, np.ndarray | None]:
    """The coarse grid and its values; None for both where the cells are no grid, such as regions or a swath."""
    try:
        grid, found = _on_one_grid(dataset, ("coarse",), "coarse_crs")
    except InputError:
        return None, None
    return grid, found["coarse"]


def _on_one_grid(dataset: "xr.Dataset", names: tuple[str, ...], mapping: str) -> tuple[Grid, dict[str, np.ndarray]]:
    """The grid of those of the variables that the dataset has, and their values by name."""
    there = [name for name in (*names, mapping) if name in dataset]
    if not set(there) & set(names):
        raise InputError(f"The run's file has none of the variables {', '.join(names)}.")
    fields = fields_from_dataset(dataset[there].load())
    return fields.grid, {name: fields.dataset[name].values for name in names if name in fields.dataset}
