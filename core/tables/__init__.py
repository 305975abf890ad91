"""A user's own table: named columns of numbers or words, from CSV or NetCDF."""

from core.tables.table import MOST_ROWS, Table, load_table, open_table, read_table

__all__ = ["MOST_ROWS", "Table", "load_table", "open_table", "read_table"]
