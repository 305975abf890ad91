"""Separated text (CSV): a row with more cells than the header has names is refused, so that no cell is lost."""

import csv
from typing import IO

from core.errors import InputError


def refuse_long_rows(text: IO[str], separator: str, columns: int, name: str) -> None:
    """Read all of ``text``; ``InputError``, with the line, for a row of more than ``columns`` cells.

    Empty cells at a row's end do not count. A reader that expects a number of columns drops what lies beyond it.
    """
    text.seek(0)
    if all(line.count(separator) < columns and '"' not in line for line in text):
        return
    text.seek(0)
    reader = csv.reader(text, delimiter=separator, skipinitialspace=True)
    try:
        for cells in reader:
            if len(cells) > columns and any(cell.strip() for cell in cells[columns:]):
                raise InputError(
                    f"Line {reader.line_num} of {name} has {len(cells)} cells, the header has {columns} names: give "
                    "one cell a name, and quote cells that hold the separator."
                )
    except csv.Error as error:
        raise InputError(f"{name} is no regular table ({error}): save it as CSV again.") from None
