"""Uploaded long tables, kept by content beside the runs so that a reload or a link finds them again."""

import json
from pathlib import Path

from deconditioning.distribution_regression.subjects import Subjects
from deconditioning.distribution_regression.table import MOST_BYTES, Roles, columns_of, open_subjects
from deconditioning.engine.visitors.uploads import claim, digest_of, keep, upload_folder, uploaded_names
from deconditioning.errors import InputError


def keep_table(data: bytes, name: str, mark: str = "") -> str:
    """Keep a table whose header can be read, in that visitor's list; its key, or an ``InputError`` and nothing kept."""
    if len(data) > MOST_BYTES:
        raise InputError(f"{name} has {len(data) / 1e6:,.0f} MB; the limit is {MOST_BYTES / 1e6:,.0f} MB.")
    names = columns_of(data)
    if len(names) < 3:
        raise InputError(f"{name} has the columns {', '.join(names)}: it needs a subject, a value and an outcome.")
    key = digest_of(data)
    about = json.dumps({"name": name[:120]}).encode()
    keep(upload_folder() / "tables", {f"{key}.csv": data, f"{key}.json": about})
    claim(key, mark, name[:120])
    return key


def stored_tables(mark: str = "") -> dict[str, str]:
    """Key → file name of every table that is kept, or of those of one visitor."""
    return uploaded_names(upload_folder() / "tables", ".csv", mark)


def table_columns(key: str) -> tuple[str, ...]:
    """The header of a kept table."""
    return columns_of(_path(key))


def table_subjects(key: str, roles: Roles) -> Subjects:
    """The subjects of a kept table; ``InputError`` with one sentence on what is wrong with it."""
    return open_subjects(Path(_path(key)), roles)


def _path(key: str) -> str:
    if key not in stored_tables():
        raise InputError("This table is no longer stored: upload it again.")
    return str(upload_folder() / "tables" / f"{key}.csv")
