"""Opens files of fields, locally or remotely, and reports what could not be read."""

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from deconditioning.errors import InputError, short
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.gridded import Fields
from deconditioning.fields.reading.addresses import is_address, open_address
from deconditioning.fields.reading.decoding import Decoded, decode
from deconditioning.fields.reading.geotiff import is_geotiff
from deconditioning.fields.reading.grib.dataset import is_grib
from deconditioning.fields.reading.zarr_reading import is_store, open_store
from deconditioning.fields.several import places, together
from deconditioning.fields.store import load_fields
from deconditioning.sandbox import read_apart

if TYPE_CHECKING:
    import xarray as xr

#: What the process that reads a GRIB or GeoTIFF file may use of memory, and of computing time.
_APART_MB, _APART_S = 12_000, 600
#: Files of more bytes, once decoded, or of more variables are opened without their values.
_MOST_BYTES, _MOST_VARIABLES = 200_000_000, 60


def open_fields(path: str | Path) -> Fields:
    """The fields of a trusted NetCDF, GeoTIFF or GRIB file, of a Zarr store or a URL, or of several of these as one.

    A folder, a pattern such as ``run_*.nc`` and paths with `` + `` between them stand for several files (`together`).
    Large files and stores are read where needed, others completely. Raises ``InputError`` if a file does not exist, is
    of another format or contains no gridded field.
    """
    result = places(str(path))
    return _open_one(result[0]) if len(result) == 1 else together([_open_one(one) for one in result])


def _open_one(path: str | Path) -> Fields:
    """The fields of one trusted file, store or address."""
    if is_address(path):
        return open_address(str(path), _open_one, lazily_decoded)
    if is_store(path):
        return open_store(path)
    path = Path(path)
    if not path.is_file():
        raise InputError(f"File {path.name} does not exist: give the path of a NetCDF file.")
    if is_grib(path) or is_geotiff(path):
        return read_apart(
            "deconditioning.fields.reading.upload_process",
            path,
            path.name,
            load_fields,
            memory_mb=_APART_MB,
            seconds=_APART_S,
        )
    try:
        with contextlib.ExitStack() as stack:
            decoded = stack.enter_context(decode(path))
            if not is_large(decoded.dataset):
                return fields_from_decoded(decoded, path.name)
            return replace(_lazily(decoded, path.name), open_file=stack.pop_all())
    except InputError:
        raise
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, IndexError, EOFError) as error:
        raise InputError(f"{path.name} could not be read: it looks damaged ({short(error)}). Copy it again.") from error


def is_large(dataset: "xr.Dataset") -> bool:
    """Whether a file is opened without its values."""
    return dataset.nbytes > _MOST_BYTES or len(dataset.variables) > _MOST_VARIABLES


def _lazily(decoded: Decoded, source: str) -> Fields:
    """The fields of a file that stays open; values are read when needed."""
    fields = lazily_decoded(decoded.dataset, source)
    return replace(fields, notes=(*decoded.sentences(), *fields.notes))


def lazily_decoded(dataset: "xr.Dataset", source: str) -> Fields:
    """The fields of a dataset with remote values; only its coordinates are read."""
    for coordinate in dataset.coords.values():
        if coordinate.ndim < 2:
            coordinate.variable.load()  # labels are asked for again and again
    return fields_from_dataset(dataset, source=source, lazy=True)


def fields_from_decoded(decoded: Decoded, source: str) -> Fields:
    """The fields of a decoded file in memory; unreadable variables are skipped and noted.

    Raises ``InputError`` as ``fields_from_dataset``, with the skipped variables.
    """
    loaded = decoded.load()
    try:
        fields = fields_from_dataset(loaded, source=source)
    except InputError as error:
        lost = f" Skipped because it could not be read: {decoded.reasons()}." if decoded.left else ""
        raise InputError(f"{error}{lost}") from error
    return replace(fields, notes=(*decoded.sentences(), *fields.notes))
