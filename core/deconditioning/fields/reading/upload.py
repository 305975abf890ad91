"""Uploads: opened in a separate process under limits, so that no file can harm the application."""

from pathlib import Path

from deconditioning.fields.gridded import Fields
from deconditioning.fields.store import load_fields
from deconditioning.sandbox import read_apart


def open_upload(data: bytes | Path, name: str, *, memory_mb: int = 1500, seconds: float = 20) -> Fields:
    """The fields of an uploaded NetCDF file, read in a fresh process.

    Parameters
    ----------
    data, name : content of the file, or the path where it is kept, and its name, from anywhere.
    memory_mb : address space the reader may use; about a third of it may be data.
    seconds : computing time it may take, and three times that by the clock.

    Raises ``InputError`` (one sentence) on anything wrong: not NetCDF, damaged, too large, too slow, no
    gridded field in it.
    """
    return read_apart(
        "deconditioning.fields.reading.upload_process", data, name, load_fields, memory_mb=memory_mb, seconds=seconds
    )
