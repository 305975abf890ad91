"""Rows of a table that has several times: its dates, and those of one of them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.problem.matching import place_matching
from deconditioning.fields.times import labels_of
from deconditioning.tables.dates import dates_of_parts
from deconditioning.tables.table import Table


def dates_of_rows(table: Table, repeats: Callable[[], bool]) -> tuple[str, np.ndarray]:
    """The name of the column with several dates, or of those that make them, and the dates of its rows (N,); "" and
    none for a table without.

    Years, months or hours alone count where places or keys occur more than once, as ``repeats`` says: a year may be
    that of a station's begin.
    """
    for name, values in table.columns.items():
        if values.dtype.kind == "M" and len(_several(values)) > 1:
            return name, values
    name, parts = dates_of_parts(table.columns)
    if parts is not None and len(_several(parts)) > 1 and ("," in name or repeats()):
        return name, parts
    return "", np.zeros(0, dtype="datetime64[s]")


def labels_of_rows(dates: np.ndarray) -> list[str]:
    """The dates of rows, each once and in order, as ``2001-02-30 06:00``."""
    return labels_of(_several(dates))


def rows_at(table: Table, column: str, dates: np.ndarray, time: str, remedy: str) -> tuple[Table, np.datetime64]:
    """The rows whose date (N,) is the one that ``time`` means, which may be the beginning of it, and that date.

    Raises ``InputError`` with the ``remedy`` if ``time`` means none or several of the dates in ``column``.
    """
    several = _several(dates)
    labels = labels_of(several)
    index = place_matching(labels, time) if time else None
    if index is None:
        none = f", and {time} does not match exactly one" if time else ""
        raise InputError(
            f"{table.source} has several times in '{column}', from {labels[0]} to {labels[-1]}{none}: {remedy}."
        )
    rows = dates == several[index]
    note = f"{int(rows.sum())} of {len(rows)} rows of {table.source} are used, those of {labels[index]}."
    columns = {each: values[rows] for each, values in table.columns.items()}
    return replace(table, columns=columns, notes=(*table.notes, note)), several[index]


def _several(dates: np.ndarray) -> np.ndarray:
    return np.unique(dates[~np.isnat(dates)])
