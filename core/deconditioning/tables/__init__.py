"""A user's own table: named columns of numbers or words, from CSV or NetCDF."""

from typing import TYPE_CHECKING

from deconditioning.lazy import lazily

if TYPE_CHECKING:
    from deconditioning.tables.table import MOST_ROWS, Table, load_table, open_table, read_table

_MODULES = {
    "MOST_ROWS": "table",
    "Table": "table",
    "load_table": "table",
    "open_table": "table",
    "read_table": "table",
}

__all__ = [
    "MOST_ROWS",
    "Table",
    "load_table",
    "open_table",
    "read_table",
]

__getattr__ = lazily(__name__, _MODULES)
