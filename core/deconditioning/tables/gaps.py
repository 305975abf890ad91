"""Missing-value codes of a table: detected and removed, or given by the user."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from deconditioning.fill_values import FillValue, checked_missing, equals_fill_value, fill_values_of, find_fill_values

#: In sentences on numbers that count as missing.
_TAKEN = "is taken as missing"
#: The switch of a page that keeps them as data.
SWITCH = "Count -9999 and other usual marks as missing"
#: Numbers that count as missing in a table; None: the usual ones.
Missing = Collection[str | float] | None


def without_marks(columns: Mapping[str, Any], missing: Missing) -> tuple[dict[str, Any], list[str]]:
    """The columns with NaN in place of marks for missing values, and a sentence on each.

    ``missing`` are the numbers that count as missing, ``-999.9`` in every column and ``NAME=-999.9`` in one; None:
    those that are usual and lie farther from all other values of their column than these from one another. Other
    numbers that look like marks are kept, with a note.
    """
    named = None if missing is None else checked_missing(missing)
    result, notes = dict(columns), list[str]()
    for name, values in columns.items():
        if not (isinstance(values, np.ndarray) and values.dtype.kind == "f"):
            continue
        marks = find_fill_values(values)
        used = [mark.value for mark in marks if mark.sure] if named is None else fill_values_of(named, name)
        for value in used:
            there = equals_fill_value(result[name], value)
            if there.any():
                result[name] = np.where(there, np.nan, result[name])
                notes.append(_mark_note(name, FillValue(value, int(there.sum()), True), result[name]))
        left = [mark for mark in marks if not any(equals_fill_value(mark.value, value) for value in used)]
        notes += [_doubt(name, mark) for mark in left]
    return result, notes


def mark_notes(notes: Collection[str]) -> str:
    """What a sentence on missing cells adds where some of them hold a number, and how to keep that as data."""
    about_marks = [note for note in notes if _TAKEN in note]
    return (
        f" {about_marks[0]} To keep it as data, turn '{SWITCH}' off, or give `--missing` alone." if about_marks else ""
    )


def _mark_note(name: str, mark: FillValue, rest: np.ndarray) -> str:
    rest = rest[np.isfinite(rest)]
    ends = f" and from {rest.min():g} to {rest.max():g} elsewhere" if rest.size else ""
    return f"{_where(name, mark)}{ends}: {mark.text} {_TAKEN}."


def _doubt(name: str, mark: FillValue) -> str:
    return (
        f"{_where(name, mark)}, far from all other values, and counts as data: if it marks missing values, leave those "
        f"cells empty, or give `--missing={mark.text}`."
    )


def _where(name: str, mark: FillValue) -> str:
    return f"'{name}' is {mark.text} in {mark.count:,} row{'s' if mark.count != 1 else ''}"
