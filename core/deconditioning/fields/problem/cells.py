"""Cells of the whole field and regions of them: checked, and written as text.

Cells are (row, column) of the whole field's coarse cells, counted from 0 at the first row and column of the grid.
"""

import re
from collections.abc import Iterable
from typing import Any

from deconditioning.errors import InputError

Cell = tuple[int, int]
#: First row, last row, first column, last column of cells, both ends included.
Region = tuple[int, int, int, int]
#: Rows and columns of cells that a region must have.
LEAST_SIDE = 3
_CELL = re.compile(r"(\d{1,6})-(\d{1,6})", re.ASCII)


def cells_text(cells: Iterable[Cell]) -> str:
    """Cells as addresses and commands write them: ``12-3.14-7``."""
    return ".".join(f"{row}-{column}" for row, column in cells)


def cells_of_text(text: str) -> tuple[Cell, ...]:
    """The cells of such a text; ``InputError`` with a sentence where it is none."""
    result = []
    for part in filter(None, text.strip().split(".")):
        match = _CELL.fullmatch(part)
        if match is None:
            raise InputError(
                f"'{part[:40]}' is not a cell: write row-column, cells separated by dots, such as 12-3.14-7."
            )
        result.append((int(match[1]), int(match[2])))
    return tuple(result)


def checked_cells(cells: Any, name: str) -> tuple[Cell, ...]:
    """Cells in order, each once; ``InputError`` if they are not pairs of whole numbers from 0."""
    try:
        result = {(_whole(row), _whole(column)) for row, column in cells or ()}
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"`{name}` must be pairs of a row and a column of cells, counted from 0: got {str(cells)[:80]}."
        ) from None
    return tuple(sorted(result))


def checked_region(region: Any) -> Region | None:
    """A region or None; ``InputError`` if it is not four whole numbers in order, or too small."""
    if region is None:
        return None
    try:
        top, bottom, left, right = (_whole(number) for number in region)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            "`region` must be four whole numbers, first and last row, first and last column of cells, counted from 0: "
            f"got {str(region)[:80]}."
        ) from None
    rows, columns = bottom - top + 1, right - left + 1
    if min(rows, columns) < LEAST_SIDE:
        raise InputError(
            f"The region has {max(rows, 0)} × {max(columns, 0)} cells: take at least {LEAST_SIDE} × {LEAST_SIDE}."
        )
    return top, bottom, left, right


def _whole(value: Any) -> int:
    """A whole number from 0; ``ValueError`` where it is none."""
    number = int(value)
    if number != value or number < 0:
        raise ValueError(value)
    return number
