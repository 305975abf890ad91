"""Files of fields: opened, read where they lie, and what could not be read is said."""

from dataclasses import replace
from pathlib import Path

from core.errors import InputError, short
from core.fields.decoding import Decoded, decode
from core.fields.from_dataset import fields_from_dataset
from core.fields.gridded import Fields
from core.fields.zarr_reading import is_store, open_store


def open_fields(path: str | Path) -> Fields:
    """The fields of a trusted NetCDF 3 or 4 file, read in this process, or of a Zarr store, read where needed.

    Raises ``InputError`` where the file does not exist, is not NetCDF or holds no gridded field.
    """
    if is_store(path):
        return open_store(path)
    path = Path(path)
    if not path.is_file():
        raise InputError(f"There is no file {path.name}: give the path of a NetCDF file.")
    try:
        with decode(path) as decoded:
            return fields_from_decoded(decoded, path.name)
    except InputError:
        raise
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, IndexError, EOFError) as error:
        raise InputError(f"{path.name} could not be read, it looks damaged ({short(error)}): copy it again.") from error


def fields_from_decoded(decoded: Decoded, source: str) -> Fields:
    """The fields of a decoded file, loaded; variables that cannot be read are left out and named in the notes.

    Raises ``InputError`` as ``fields_from_dataset``, with what was left out.
    """
    loaded = decoded.load()
    try:
        fields = fields_from_dataset(loaded, source=source)
    except InputError as error:
        lost = f" Left out, for it could not be read: {decoded.reasons()}." if decoded.left else ""
        raise InputError(f"{error}{lost}") from error
    return replace(fields, notes=(*decoded.sentences(), *fields.notes))
