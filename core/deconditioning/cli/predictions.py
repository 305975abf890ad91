"""Files of predictions that commands read, and the tables that they write of them."""

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deconditioning.errors import InputError
from deconditioning.wording import table_cell

if TYPE_CHECKING:
    import xarray as xr


def opened(path: str) -> "xr.Dataset":
    """A NetCDF-4 file or a Zarr store; ``InputError`` if it cannot be read."""
    import xarray as xr

    if not Path(path).exists():
        raise InputError(f"{path} does not exist: give a NetCDF file or a Zarr store.")
    try:
        return xr.open_zarr(path) if Path(path).is_dir() else xr.open_dataset(path, engine="h5netcdf")
    except Exception as error:
        raise InputError(f"{path} cannot be read ({error}): give a NetCDF-4 file or a Zarr store.") from None


def csv_of(rows: list[dict[str, Any]]) -> str:
    """Rows with a `prediction` as CSV; names that a spreadsheet would take for formulas are made texts."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(row | {"prediction": table_cell(row["prediction"])} for row in rows)
    return stream.getvalue()
