"""Reads a text table as written by people and data loggers, for every page, with notes on anything unusual."""

import csv
import io
import re
from array import array
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from deconditioning.errors import InputError, one_line
from deconditioning.tables.cells import MISSING, Column, tidy
from deconditioning.tables.dates import clock_of, clock_of_numbers, dates_of, dates_of_numbers
from deconditioning.tables.dialect import Dialect, Source, is_comment, opened, refuse_long_rows, sniff
from deconditioning.tables.gaps import Missing, without_marks
from deconditioning.wording import at_start

#: Rows that are parsed at once.
CHUNK = 200_000
#: Rows below the names that may hold units or what a logger did, not data.
_MOST_UNITS = 2
#: Names of positions, in which 52:30 is no time of day, and words of dates and times in names.
_PLACE = re.compile(r"\W*(?:lat|lon|lng|x\b|y\b)", re.IGNORECASE)
_TIME_WORDS = re.compile(r"date|datum|day|time|zeit|hour|hhmm|hrmn|clock|[\W_]")
#: A last row is odd beside more rows than these.
_FEW = 10


@dataclass(frozen=True)
class TextTable:
    """``columns`` by name: float64 (NaN where missing), ``datetime64[s]``, or a pandas Series of words; the ``lines``
    of the file (N,) that the rows stand in, from 1; ``notes``, sentences on what was unusual and how it was read."""

    columns: dict[str, Any]
    lines: np.ndarray
    notes: tuple[str, ...]


def read_text(
    source: Source, name: str, *, most_rows: int, words: Collection[str] = (), wanted: Collection[str] | None = None,
    missing: Missing = None,
) -> TextTable:  # fmt: skip
    """The columns of a table, or those ``wanted``; those in ``words`` stay as they are written.

    ``missing`` is as `deconditioning.tables.gaps.without_marks` takes it.

    Raises ``InputError`` for a row of more cells than names, and for more than ``most_rows``.
    """
    dialect = sniff(source, name)
    refuse_long_rows(lambda: dialect.lines(source), dialect, name)
    names = [each for each in dialect.names[dialect.counted :] if wanted is None or each in wanted]
    numbers: dict[str, Column] = {each: Column() for each in names if each not in words}
    pieces: dict[str, list[Any]] = {each: [] for each in names}
    stream, notes, skipped, rows = _Stream(dialect.lines(source)), list(dialect.notes), 0, 0
    for number, frame in enumerate(_frames(stream, dialect, names, name)):
        if not number:
            skipped, gap_notes = _units(frame, names)
            notes += [f"{each} {name} are units or labels of the columns, not data." for each in gap_notes]
            frame = frame.iloc[skipped:]
        rows += len(frame)
        if rows > most_rows:
            raise InputError(f"{at_start(name)} has more than {most_rows:,} rows, the limit: keep those you need.")
        for each in names:
            pieces[each].append(frame[each])
            if each in numbers:
                numbers[each].add(frame[each])
    columns = _columns(dialect, names, pieces, numbers, notes)
    columns = _with_clock(columns, notes)
    with opened(source, dialect.encoding) as text:
        comments = sum(is_comment(line) for number, line in enumerate(text) if number >= dialect.first)
    if comments:
        notes.append(f"Lines of {name} that begin with # are left out, {comments:,} in all.")
    columns, gap_notes = without_marks(columns, missing)
    notes += gap_notes
    lines = np.frombuffer(stream.numbers, dtype=np.uint32).astype(np.int64)[skipped:]
    fits = len(lines) == rows
    return TextTable(columns, lines if fits else dialect.first + 1 + skipped + np.arange(rows), tuple(notes))


class _Stream(io.TextIOBase):
    """Lines as a file that pandas reads, with the ``numbers`` of those that are not empty."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines, self._line, self._rest = lines, 0, ""
        self.numbers = array("I")

    def read(self, size: int | None = -1) -> str:
        """At least one line, or so many signs."""
        limit = size if size is not None and size > 0 else 1 << 62
        lines, length = [self._rest], len(self._rest)
        while length < limit and (line := next(self._lines, None)) is not None:
            self._line += 1
            if line.strip():
                self.numbers.append(self._line)
            lines.append(line)
            length += len(line)
        text = "".join(lines)
        self._rest = text[limit:]
        return text[:limit]


def _frames(stream: _Stream, dialect: Dialect, names: list[str], name: str) -> Iterator[Any]:
    import pandas as pd

    try:
        reader = pd.read_csv(
            stream, sep=r"\s+" if dialect.separator == " " else dialect.separator, header=None,
            names=list(dialect.names), usecols=names, dtype=str, keep_default_na=False, na_values=[], chunksize=CHUNK,
            skip_blank_lines=True, skipinitialspace=True, index_col=False, quoting=csv.QUOTE_MINIMAL,
        )  # fmt: skip
        yield from reader
    except pd.errors.EmptyDataError:
        return
    except (pd.errors.ParserError, csv.Error) as error:
        message = one_line(str(error))[:100].rstrip(".")
        raise InputError(
            f"{at_start(name)} is not a regular table ({message}): give the same number of cells in every row."
        ) from None


def _units(frame: Any, names: list[str]) -> tuple[int, list[str]]:
    """How many of the first rows hold words alone above columns of numbers, and sentences that say what they hold."""
    for count in range(1, _MOST_UNITS + 1):
        rows = [[str(frame[each].iloc[row]).strip() for each in names] for row in range(min(count, len(frame)))]
        if len(frame) > count and all(map(_is_label, rows)) and _has_numbers(frame.iloc[count:200], names, rows[0]):
            cells = (
                ", ".join(f"{each} in {cell}" for each, cell in zip(names, row, strict=True) if cell) for row in rows
            )
            return count, [f"'{one_line(name)[:120]}' below the names of" for name in cells]
    return 0, []


def _is_label(cells: list[str]) -> bool:
    """Whether a row holds words, and neither numbers nor dates."""
    return any(cell.lower() not in MISSING for cell in cells) and not any(map(_is_value, cells))


def _has_numbers(frame: Any, names: list[str], labels: list[str]) -> bool:
    """Whether a column below a label holds numbers alone."""
    for each, label in zip(names, labels, strict=True):
        column = Column()
        column.add(frame[each])
        if column.filled and label.lower() not in MISSING and column.numbers(".") is not None:
            return True
    return False


def _is_value(cell: str) -> bool:
    import pandas as pd

    one = Column()
    text, missing = tidy(pd.Series([cell], dtype=str))
    one.add(text)
    return not missing[0] and (one.numbers(".") is not None or dates_of(text)[0] is not None)


def _columns(
    dialect: Dialect, names: list[str], pieces: dict[str, list[Any]], numbers: dict[str, Column], notes: list[str]
) -> dict[str, Any]:  # fmt: skip
    """Every column as numbers, dates or words; columns that do not show their decimal mark take the others'."""
    import pandas as pd

    shown = {column.evidence for column in numbers.values()} - {""}
    usual = shown.pop() if len(shown) == 1 and len(next(iter(shown))) == 1 else "."
    has_decimals = bool({column.evidence for column in numbers.values()} & {".", ","})
    result: dict[str, Any] = {}
    for each in names:
        text = pd.concat(pieces[each], ignore_index=True) if pieces[each] else pd.Series([], dtype=str)
        mark = usual if has_decimals else _unshown_mark(dialect, text)
        values = numbers[each].numbers(mark) if each in numbers else None
        if values is not None:
            result[each] = values
            if numbers[each].either and not has_decimals and dialect.separator != ",":
                notes.append(_two_readings(each, text, values))
            if numbers[each].percent:
                notes.append(f"'{each}' is in percent: the signs are left out.")
            continue
        cells, missing = tidy(text)
        dates, note = dates_of(cells.where(~missing, "")) if each in numbers else (None, "")
        result[each] = dates if dates is not None else _switches(text) if each in numbers else text
        if note:
            notes.append(f"'{each}': {note}.")
        elif dates is None and each in numbers and (sums := _row_of_sums(cells)):
            notes.append(f"'{each}' {sums}")
    for each, values in result.items():
        if isinstance(values, np.ndarray) and values.dtype.kind == "f":
            dates, note = dates_of_numbers(each, values)
            result[each] = values if dates is None else dates
            notes += [f"'{each}': {note}."] if note else []
    if usual == "," and any(column.either for column in numbers.values()):
        notes.append("Numbers have decimal commas, so 1.234 is read as 1234.")
    if usual == "," and dialect.separator == ",":
        notes.append(
            "Numbers in quotes have decimal commas: if the part after the comma is a code, put it in a separate column."
        )
    return result


def _unshown_mark(dialect: Dialect, text: Any) -> str:
    """The decimal mark of cells that can be read both ways: Excel puts semicolons where the comma marks decimals."""
    return "," if dialect.separator == ";" and text.str.contains(",", regex=False).any() else "."


def _two_readings(name: str, text: Any, values: np.ndarray) -> str:
    """The note on cells such as 1.234, which may be one and a bit or one thousand."""
    at = int((text.str.contains("[.,]") & np.isfinite(values)).to_numpy().argmax())
    return (
        f"Numbers such as {text.iloc[at].strip()} of '{name}' are read as {values[at]:.10g}; the file does not show "
        "whether this mark separates decimals or thousands."
    )


def _row_of_sums(cells: Any) -> str:
    """What is odd where only the last of many tidy cells is neither a number nor a date; empty if nothing is."""
    others, last = Column(), str(cells.iloc[-1]) if len(cells) > _FEW else ""
    others.add(cells.iloc[:-1])
    if last.lower() in MISSING or not (others.numbers(".") is not None or dates_of(cells.iloc[:-1])[0] is not None):
        return ""
    return (
        f"is read as text, because its last row, {len(cells):,}, holds '{one_line(last)[:40]}'. That row counts as "
        "data: remove it if it is a total or a remark."
    )


def _switches(text: Any) -> Any:
    """True and False as 1 and 0; other words as they are."""
    small = text.str.strip().str.lower()
    if len(small) and small.isin(["true", "false"]).all():
        return (small == "true").to_numpy(dtype=np.float64)
    return text


def _with_clock(columns: dict[str, Any], notes: list[str]) -> dict[str, Any]:
    """Times of day in a column of their own added to the column of dates beside it: the only one, or that of the same
    name but for words of time, as UTC_DATE and UTC_TIME."""
    days = [each for each, values in columns.items() if isinstance(values, np.ndarray) and values.dtype.kind == "M"]
    clocks = {each: clock for each, values in columns.items() if (clock := _clock(each, values))[0] is not None}
    result = dict(columns)
    for day in days:
        names = [each for each in clocks if _other_words(each) == _other_words(day)]
        names = list(clocks) if len(days) == len(clocks) == 1 else names
        if len(names) != 1 or (columns[day] != columns[day].astype("datetime64[D]")).any():
            continue
        times, words = clocks[names[0]]
        notes.append(f"'{day}' and '{names[0]}' together are the time{words}.")
        result[day] = columns[day] + times
    return result


def _clock(name: str, values: Any) -> tuple[np.ndarray | None, str]:
    """Times of day of a column, and in which form where they are numbers; None for a column of something else."""
    if isinstance(values, np.ndarray):
        result, words = clock_of_numbers(name, values) if values.dtype.kind == "f" else (None, "")
        return result, f", '{name}' read as {words}" if words else ""
    return (None, "") if _PLACE.match(name) else (clock_of(tidy(values)[0]), "")


def _other_words(name: str) -> str:
    """A column's name without words of dates and times."""
    return _TIME_WORDS.sub("", name.lower())
