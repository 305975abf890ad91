"""Opens uploads in a separate process with limits, so that no file can harm the application."""

from pathlib import Path

from deconditioning.fields.gridded import Fields
from deconditioning.fields.store import load_fields
from deconditioning.sandbox import read_apart


def open_upload(data: bytes | Path, name: str, *, memory_mb: int = 1500, seconds: float = 20) -> Fields:
    """The fields of an uploaded NetCDF file, read in a new process.

    Parameters
    ----------
    data, name : content of the file, or its path, and its name; both untrusted.
    memory_mb : address space of the reader; about a third of it may be data.
    seconds : limit of computing time; the limit of elapsed time is three times that.

    Raises ``InputError`` for a file that is not NetCDF, damaged, too large, too slow, or without a gridded field.
    """
    return read_apart(
        "deconditioning.fields.reading.upload_process", data, name, load_fields, memory_mb=memory_mb, seconds=seconds
    )
