"""Values of regions from a table whose rows name them by a key, such as the code of a district."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.footprints.region_files import NAMES, Outlines
from deconditioning.tables.stations import has_positions
from deconditioning.tables.table import Table
from deconditioning.tables.times import dates_of_rows, labels_of_rows, rows_at

#: Keys that a sentence lists.
_LISTED = 4


def joined(outlines: Outlines, table: Table, key: str, time: str = "") -> Outlines:
    """Outlines with the columns of a table as attributes, each from the row with the region's key.

    ``key`` names the table's column of keys and the outlines' attribute, as ``ATTRIBUTE=COLUMN`` where they differ.
    Keys are compared as text, as numbers where the table's column holds numbers. Where keys have a row for each of
    several times, the rows of ``time`` count, which may be the beginning of a date. Regions without a row have no
    values, and rows without a region are left out, both with a note. Raises ``InputError`` for names that are not
    there, for several times of which ``time`` means none, for a key of several rows or several regions, and if no key
    agrees.
    """
    attribute, keys = _sides(outlines, table, key)
    date = None
    if (dated := _dates_of_repeated(table, keys))[0]:
        table, date = rows_at(
            table, *dated, time, "choose one (`--region-time TIME`), or give averages, one row per region"
        )
        attribute, keys = _sides(outlines, table, key)
    numbers = keys.dtype.kind == "f"
    theirs = _keys(keys.tolist(), numbers)
    ours = _keys(outlines.attributes[attribute], numbers)
    both = (set(theirs) & set(ours)) - {""}
    if not both:
        raise InputError(
            f"No key of {table.source} ({_listed(theirs)}) is one of {outlines.source} ({_listed(ours)}): choose "
            "columns with the same codes (`--key ATTRIBUTE=COLUMN`)."
        )
    _check_once(ours, both, f"regions of {outlines.source}", "join their outlines into one region each")
    _check_once(theirs, both, f"rows of {table.source}", "keep one row per region, such as that of the map's time")
    row = {each: number for number, each in enumerate(theirs) if each in both}
    at = [row.get(each) for each in ours]
    columns = {name: [None if n is None else values[n] for n in at]
               for name, values in ((name, each.tolist()) for name, each in table.columns.items())}  # fmt: skip
    notes = [*outlines.notes, *table.notes, *_unmatched(outlines.source, ours, table.source, theirs, both)]
    padded = any(str(each).strip().startswith("0") for each in outlines.attributes[attribute]) and numbers
    notes += [f"Keys are compared as numbers, since {table.source} has numbers: 01 is 1."] if padded else []
    if again := (set(columns) & set(outlines.attributes)) - {attribute}:
        notes.append(
            f"{_listed(sorted(again))} of {table.source} replace the attributes of the same name in {outlines.source}."
        )
    units = {name: text for name, text in outlines.units.items() if name not in columns} | dict(table.units)
    source = f"{outlines.source} with {table.source}"
    others = {name: each for name, each in outlines.attributes.items() if name not in columns}
    both_sides = {**columns, **others}
    both_sides.pop(attribute, None)
    attributes = {**both_sides, attribute: outlines.attributes[attribute]}
    return replace(outlines, attributes=attributes, source=source, notes=tuple(notes), units=units, time=date)


def times_of_rows(outlines: Outlines, table: Table, key: str) -> list[str]:
    """The dates of a table whose keys have a row for each of several times, as `joined` takes one; else none."""
    return labels_of_rows(_dates_of_repeated(table, _sides(outlines, table, key)[1])[1])


def joined_in_time(
    outlines: Outlines, table: Table, key: str
) -> tuple[list[str], np.ndarray, Callable[[int], Outlines]]:  # fmt: skip
    """The times of a table whose keys have a row for each of several: labels, dates (T,), and what joins the rows of
    one, as `joined` does. Raises ``InputError`` for a table without several times.
    """
    name, dates = _dates_of_repeated(table, _sides(outlines, table, key)[1])
    if not name:
        raise InputError(
            f"{table.source} has no dates at several of which regions have a row: give a table with a row for each "
            "region and date, or downscale one time."
        )
    several = np.unique(dates[~np.isnat(dates)])

    def at(number: int) -> Outlines:
        """The outlines with the columns of one of the times."""
        rows = dates == several[number]
        columns = {each: values[rows] for each, values in table.columns.items()}
        return replace(joined(outlines, replace(table, columns=columns), key), time=several[number])

    return labels_of_rows(dates), several, at


def _at_first_time(table: Table) -> Table:
    """The rows of the first of a table's several times, which have its keys once; the table for one without."""
    name, dates = dates_of_rows(table, lambda: True)
    return rows_at(table, name, dates, labels_of_rows(dates)[0], "")[0] if name else table


def _dates_of_repeated(table: Table, keys: np.ndarray) -> tuple[str, np.ndarray]:
    """`dates_of_rows` of a table in which a key occurs more than once."""
    counts = Counter(_keys(keys.tolist(), keys.dtype.kind == "f"))
    counts.pop("", None)
    if max(counts.values(), default=0) < 2:
        return "", np.zeros(0, dtype="datetime64[s]")
    return dates_of_rows(table, lambda: True)


def joins(outlines: Outlines, table: Table) -> dict[str, tuple[int, int]]:
    """What may join a table's rows to regions, best first: the ``key`` of `joined`, and how many regions of all of them
    it gives a row.

    An attribute and a column may join where they have keys in common, none of which occurs twice on either side, or at
    the first of a table's several times. Raises ``InputError`` if there are none.
    """
    result: dict[str, tuple[int, int]] = {}
    repeated: dict[str, int] = {}
    as_numbers, as_text = ({name: Counter(_keys(own, numbers)) for name, own in outlines.attributes.items()}
                           for numbers in (True, False))  # fmt: skip
    for column, values in table.columns.items():
        numbers = values.dtype.kind == "f"
        theirs = Counter(_keys(values.tolist(), numbers))
        for attribute, ours in (as_numbers if numbers else as_text).items():
            both = (set(ours) & set(theirs)) - {""}
            key = attribute if attribute == column else f"{attribute}={column}"
            if both and all(ours[each] == theirs[each] == 1 for each in both):
                result[key] = (len(both), len(outlines.geometry))
            elif both:
                repeated[key] = len(both)
    if not result and repeated:
        if len(first := _at_first_time(table)) < len(table):
            return joins(outlines, first)
        joined(outlines, table, max(repeated, key=repeated.__getitem__))  # its sentence says what occurs twice
    if not result:
        raise InputError(
            f"No column of {table.source} ({_listed(list(table.columns))}) has a key of the regions of "
            f"{outlines.source}, whose attributes are {_listed(list(outlines.attributes)) or 'none'}: add a column "
            "with the codes or names of one of them."
        )
    return dict(sorted(result.items(), key=lambda item: (-item[1][0], "=" in item[0])))


def may_hold_values(table: Table) -> bool:
    """Whether a table can give values of regions and has no positions, as one of stations has: neither latitudes nor
    longitudes, a column of numbers and one beside it."""
    return len(table.columns) > 1 and bool(table.numeric) and not has_positions(table)


def has_keys(table: Table) -> bool:
    """Whether a column of words, or of whole numbers called as keys are, may name regions."""
    return any(
        values.dtype.kind == "U" or (name.lower() in NAMES and np.array_equal(values, np.round(values)))
        for name, values in table.columns.items() if values.dtype.kind in "Uf"
    )  # fmt: skip


def _sides(outlines: Outlines, table: Table, key: str) -> tuple[str, np.ndarray]:
    """The attribute, and the table's column, that hold the keys."""
    attribute, _, column = (key, "", "") if key in table.columns else key.partition("=")
    if attribute not in outlines.attributes:
        known = ", ".join(f"'{each}'" for each in list(outlines.attributes)[:12]) or "none"
        raise InputError(
            f"The regions of {outlines.source} have no attribute '{attribute}'; they have {known}: name the one with "
            "the keys (`--key ATTRIBUTE=COLUMN`)."
        )
    return attribute, table.column(column or attribute)


def _keys(values: Sequence[Any], numbers: bool) -> list[str]:
    """Keys as text, "" for none; whole numbers without a point, and as ``numbers`` whatever reads as one."""
    result = []
    for value in values:
        text = "" if value is None or value != value else str(value).strip()
        try:
            number = float(text) if numbers or isinstance(value, float | np.floating) else np.nan
        except ValueError:
            number = np.nan
        result.append(f"{number:.15g}" if np.isfinite(number) else text)
    return result


def _check_once(keys: list[str], both: set[str], what: str, remedy: str) -> None:
    """``InputError`` if several regions, or several rows, have the same key."""
    often = [key for key, count in Counter(keys).items() if count > 1 and key in both]
    if often:
        places = [str(number + 1) for number, key in enumerate(keys) if key == often[0]]
        more = f", and {len(often) - 1} other keys occur several times" if len(often) > 1 else ""
        raise InputError(
            f"The key '{often[0][:40]}' belongs to {len(places)} {what} ({', '.join(places[:_LISTED])}"
            f"{' …' if len(places) > _LISTED else ''}){more}: {remedy}."
        )


def _unmatched(shapes: str, ours: list[str], table: str, theirs: list[str], both: set[str]) -> list[str]:
    """Notes on keys on one side only."""
    notes = []
    if lone := [key for key in ours if key not in both]:
        notes.append(f"{len(lone)} of {len(ours)} regions of {shapes} have no row in {table} ({_listed(lone)}).")
    if lone := [key for key in theirs if key not in both]:
        notes.append(
            f"{len(lone)} of {len(theirs)} rows of {table} belong to no region of {shapes} ({_listed(lone)}) and are "
            "left out."
        )
    return notes


def _listed(keys: Sequence[str]) -> str:
    named = [f"'{key[:40]}'" if key else "no key" for key in dict.fromkeys(keys)]
    return ", ".join(named[:_LISTED]) + (" …" if len(named) > _LISTED else "")
