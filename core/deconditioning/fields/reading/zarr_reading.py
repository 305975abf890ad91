"""Opens a Zarr store as fields: only coordinates are read until a region is requested.

Formats 2 and 3, read by xarray and zarr. A store is given on the command line by the person whose files it may read: no
upload is opened as one, symbolic links inside it are followed, and stores with chunks in other files are read only
through a file beside these (``deconditioning.fields.reading.kerchunk``).

Arrays are lazy but not Dask arrays: a region is read inside a task of a cluster, where a nested graph would be sent
back to the cluster. Fields on Dask arrays are supported too.
"""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.errors import InputError, short
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.gridded import Fields, check_index
from deconditioning.fields.reading.addresses import PACKAGES, missing_package, unreached
from deconditioning.fields.reading.kerchunk import is_reference, read_references
from deconditioning.fields.reading.validity import only_valid
from deconditioning.fill_values import fill_values_of

if TYPE_CHECKING:
    import xarray as xr

Window = tuple[slice, slice]
#: What opening or reading a damaged or foreign store raises.
_FAULTS = (OSError, ValueError, KeyError, TypeError, RuntimeError, OverflowError, IndexError, NotImplementedError)


def is_store(path: str | Path) -> bool:
    """Whether a folder is a Zarr group or array of either format; a URL is assumed to be one."""
    return (
        is_url(path)
        or is_reference(path)
        or any((Path(path) / name).is_file() for name in (".zgroup", ".zmetadata", "zarr.json"))
    )


def is_url(path: str | Path) -> bool:
    """Whether a store is named by a URL rather than by a path."""
    return "://" in str(path)


def open_store(path: str | Path) -> Fields:
    """The fields of a Zarr store (format 2 or 3), on disk until read; ``region`` reads a part of one.

    Raises ``InputError`` if there is no store at that path (on the calling machine), it cannot be read, or it contains
    no gridded field.
    """
    url = str(path) if is_url(path) else str(Path(path).absolute())
    name = url.rstrip("/").rpartition("/")[2]
    if any(part.partition(":")[0] == "reference" for part in url.split("::")):
        raise InputError(
            f"{name} describes a store whose chunks are parts of other files, which could be any file of yours: write "
            "the fields into a Zarr store."
        )
    if not is_store(url):
        raise InputError(
            f"There is no Zarr store at {path} as this process sees it: give the path of a Zarr group; on a cluster "
            "every worker must see the same path."
        )
    try:
        dataset, store_notes = _lazily(url)
        for coordinate in dataset.coords.values():
            if coordinate.ndim < 2:
                coordinate.variable.load()  # labels are asked for again and again
    except ImportError:
        raise InputError(missing_package(url)) from None
    except InputError:
        raise
    except _FAULTS as error:
        if url.partition("://")[0] in PACKAGES:
            raise InputError(unreached(url, error)) from error
        raise InputError(f"The Zarr store {name} could not be read ({short(error)}): write it again.") from error
    fields = fields_from_dataset(dataset, source=name, lazy=True)
    return replace(fields, notes=tuple(f"{name}: {note}" for note in (*store_notes, *fields.notes)))


def region(fields: Fields, name: str, select: Mapping[str, int | str], window: Window) -> np.ndarray:
    """(h, w) float64 values of a field in a window of rows and columns, NaN where missing; nothing else is read.

    ``select`` maps extra dimensions to an index, as in ``Fields.values``. Raises ``InputError`` for a chunk that cannot
    be read.
    """
    rows, columns = window
    array = fields.dataset[name]
    at = {dim: _index(fields, name, str(dim), array.sizes[dim], select) for dim in array.dims[:-2]}
    part = array.isel({**at, array.dims[-2]: rows, array.dims[-1]: columns})
    try:
        values = np.array(part.compute(scheduler="synchronous").values, dtype=np.float64)
    except _FAULTS as error:
        raise InputError(
            f"A chunk of `{name}` could not be read ({short(error)}): it is damaged or compressed by a codec that is "
            "not installed. Write the store again."
        ) from error
    values[fields.grid.area[window] == 0] = np.nan
    return only_valid(values, array.attrs, fill_values_of(fields.missing, name))


def units_of(fields: Fields, name: str) -> str:
    """The units of a field."""
    return str(fields.dataset[name].attrs.get("units", "")).strip()


def chunks_of(array: "xr.DataArray") -> dict[str, int]:
    """The chunks that a field lies in on disk, dimension by dimension; none if it is not chunked."""
    result = array.encoding.get("chunks") or array.encoding.get("chunksizes") or ()
    return {str(dim): int(size) for dim, size in zip(array.dims, result, strict=False)}


def _index(fields: Fields, name: str, dim: str, size: int, select: Mapping[str, int | str]) -> int:
    """As ``Fields.chosen``, without reading the labels of the dimension where an index is given."""
    requested = select.get(f"{name}:{dim}", select.get(dim, 0) if size > 1 else 0)
    index = fields.chosen(name, select)[dim] if isinstance(requested, str) else int(requested)
    check_index(name, dim, index, size)
    return index


def _lazily(url: str) -> "tuple[xr.Dataset, list[str]]":
    """The decoded dataset, and sentences."""
    from deconditioning.fields.reading.zarr_store import open_zarr

    options: dict[str, Any] = {}
    if is_reference(url):
        options = {"storage_options": {"fo": read_references(Path(url))}, "consolidated": False}
        url = "reference://"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return open_zarr(url, **options)
