"""A Zarr store opened as fields: only coordinates are read until a region is asked for.

Read by the netCDF library (Zarr format 2, compressed by zlib, zstd, bzip2 or Blosc, on a file system). Its attributes
are read again here as the JSON they are: that library keeps neither escaped letters nor lists of mixed numbers.
"""

import json
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import InputError
from core.fields.gridded import UNMARKED_FILL, Fields

if TYPE_CHECKING:
    import xarray as xr

DIMENSIONS = "_ARRAY_DIMENSIONS"
Window = tuple[slice, slice]


def is_store(path: str | Path) -> bool:
    """Whether a folder says that it is a Zarr group, of any format."""
    return any((Path(path) / name).is_file() for name in (".zgroup", ".zmetadata", "zarr.json"))


def open_store(path: str | Path) -> Fields:
    """The fields of a Zarr store, on disk until read; ``region`` reads a part of one.

    Raises ``InputError`` where there is no store at that path (on the machine that asks), it is of format 3, it cannot
    be read, or it holds no gridded field.
    """
    from core.fields.opening import fields_from_dataset

    path = Path(path).absolute()
    _check(path)
    try:
        dataset = _lazily(path)
    except InputError:
        raise
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, OverflowError) as error:
        raise InputError(f"The Zarr store {path.name} could not be read ({_short(error)}): write it again.") from error
    fields = fields_from_dataset(dataset, source=path.name)
    return replace(fields, notes=tuple(f"{path.name}: {note}" for note in fields.notes))


def region(fields: Fields, name: str, select: Mapping[str, int], window: Window) -> np.ndarray:
    """(h, w) float64 values of a field in a window of rows and columns, NaN where missing; nothing else is read.

    ``select`` maps extra dimensions to an index, as in ``Fields.values``. Raises ``InputError`` for a chunk that cannot
    be read.
    """
    rows, columns = window
    array = fields.dataset[name]
    at = {dim: _index(name, str(dim), array.sizes[dim], select) for dim in array.dims[:-2]}
    try:
        values = np.array(array.isel({**at, array.dims[-2]: rows, array.dims[-1]: columns}).values, dtype=np.float64)
    except (OSError, RuntimeError, ValueError, IndexError) as error:
        raise InputError(
            f"A chunk of `{name}` could not be read ({_short(error)}): it is damaged or compressed by a codec other "
            "than zlib, zstd, bzip2 and Blosc; write the store again."
        ) from error
    values[~(np.abs(values) < UNMARKED_FILL)] = np.nan
    return values


def units_of(fields: Fields, name: str) -> str:
    """The units of a field."""
    return str(fields.dataset[name].attrs.get("units", "")).strip()


def _index(name: str, dim: str, size: int, select: Mapping[str, int]) -> int:
    """As ``Fields.chosen``, without reading the labels of the dimension."""
    index = int(select.get(f"{name}:{dim}", select.get(dim, 0) if size > 1 else 0))
    if not 0 <= index < size:
        raise InputError(f"Index {index} of dimension `{dim}` of `{name}` does not exist: choose 0 to {size - 1}.")
    return index


def _check(path: Path) -> None:
    if "#" in str(path):
        raise InputError(f"The path {path} holds a '#', which the reader takes for the end of it: rename the folder.")
    if (path / "zarr.json").is_file():
        raise InputError(
            f"{path.name} is a Zarr store of format 3, format 2 is read here: write it with `zarr_format=2` (xarray: "
            "`to_zarr(path, zarr_format=2)`)."
        )
    if not is_store(path):
        raise InputError(
            f"There is no Zarr store at {path} as this process sees it: give the path of a group of Zarr format 2; on "
            "a cluster every worker must see the same path."
        )


def _lazily(path: Path) -> "xr.Dataset":
    """The decoded dataset with attributes as the store's own JSON has them."""
    import h5py  # noqa: F401  before netCDF4: each then keeps the HDF5 library it was built with
    import xarray as xr
    from xarray.backends import NetCDF4DataStore

    options: dict[str, Any] = {"decode_timedelta": False, "create_default_indexes": False, "cache": False}
    files = NetCDF4DataStore.open(f"file://{path}#mode=zarr,file")
    files.is_remote = False  # else a damaged chunk, taken for a slow server, is asked for again for most of a minute
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            dataset = xr.open_dataset(files, **options)
        except (ValueError, OverflowError) as error:
            if "decode" not in str(error) and "calendar" not in str(error):
                raise
            dataset = xr.open_dataset(files, decode_times=False, **options)
    dataset.attrs = attributes(path)
    for name, variable in dataset.variables.items():
        own = attributes(path / str(name))
        variable.attrs = {key: own.get(key, value) for key, value in variable.attrs.items() if key != DIMENSIONS}
    return dataset


def attributes(path: Path) -> dict[str, Any]:
    """The attributes of a group or an array; none where it has no file of them."""
    try:
        found = json.loads((path / ".zattrs").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return {key: value for key, value in found.items() if not key.lower().startswith("_nc")}


def _short(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 120 else text[:117] + "…"
