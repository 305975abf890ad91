"""The format of a text table: encoding, separator, header, comments, and lines above the header."""

import contextlib
import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

from deconditioning.errors import InputError, one_line
from deconditioning.wording import at_start

Source = Path | bytes
#: Separators that are tried, the more telling ones first; a space stands for any run of spaces and tabs.
_SEPARATORS = (";", "\t", "|", ",", " ")
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe\x00\x00", "utf-32"), (b"\xff\xfe", "utf-16"),
          (b"\xfe\xff", "utf-16"))  # fmt: skip
#: Lines that are looked at, their longest length, bytes that are looked at for an encoding.
_SAMPLE, _LONGEST, _BLOCK = 400, 1_000_000, 1 << 20
_EXCEL = re.compile(r"#(N/A|NA|NV|VALUE!|WERT!|DIV/0!|REF!|BEZUG!|NUM!|ZAHL!|NAME\?|NULL!)", re.IGNORECASE)
#: Loggers' first lines, which say what wrote the file.
_LOGGERS = ("TOA5", "TOACI1")


@dataclass(frozen=True)
class Dialect:
    """How a table is written.

    ``names`` of the columns (one more than the header has where rows begin with a name of their own), ``first`` the
    number of lines above the first row of cells, ``counted`` whether the first column only counts the rows and is
    skipped, ``notes`` on what is unusual.
    """

    encoding: str
    separator: str
    names: tuple[str, ...]
    first: int
    counted: bool = False
    notes: tuple[str, ...] = ()

    def lines(self, source: Source) -> Iterator[str]:
        """The lines of cells, with an empty one for each that holds none (comments, what stands above)."""
        with opened(source, self.encoding) as text:
            for number, line in enumerate(text):
                yield line if number >= self.first and not is_comment(line) else "\n"


def is_comment(line: str) -> bool:
    """Whether a whole line is a comment, not a row that begins with one of Excel's errors."""
    return line.startswith("#") and not _EXCEL.match(line)


def opened(source: Source, encoding: str) -> IO[str]:
    """The text of a file or of an upload's bytes, without change to its lines' ends."""
    file: IO[bytes] = io.BytesIO(source) if isinstance(source, bytes) else open(source, "rb")
    return io.TextIOWrapper(file, encoding=encoding, newline="")


def _encoding_of(source: Source, name: str) -> str:
    """UTF-8, UTF-16 or UTF-32 by their mark or their zeros, else UTF-8 where all of it is, else Windows-1252.

    Raises ``InputError`` for what is not a text.
    """
    with io.BytesIO(source) if isinstance(source, bytes) else open(source, "rb") as file:
        start = file.read(4096)
    result = next((encoding for mark, encoding in _MARKS if start.startswith(mark)), None)
    if result is None and b"\x00" in start:
        result = "utf-16-be" if start[0] == 0 else "utf-16-le"
    for encoding in (result,) if result else ("utf-8", "cp1252"):
        if _is_text(source, encoding):
            return encoding
    raise InputError(
        f"{at_start(name)} is not a text file (UTF-8, UTF-16 or Windows-1252): save it as CSV (UTF-8) first."
    )


def _is_text(source: Source, encoding: str) -> bool:
    try:
        with opened(source, encoding) as text:
            while block := text.read(_BLOCK):
                if any(ord(sign) < 32 and sign not in "\t\n\r\f\x1a" for sign in set(block)):
                    return False
    except UnicodeError:
        return False
    return True


def sniff(source: Source, name: str) -> Dialect:
    """The dialect of a table; ``InputError`` if it is empty, no text, or has no row of names."""
    encoding = _encoding_of(source, name)
    with opened(source, encoding) as text:
        sample = [line[:_LONGEST] for line in islice(text, _SAMPLE)]
    if not "".join(sample).strip("\ufeff \r\n\t"):
        raise InputError(f"{at_start(name)} is empty: give a table with a row of names and at least one row below it.")
    notes = [f"{at_start(name)} is in Windows-1252, not in UTF-8."] if encoding == "cp1252" else []
    declared, above = _named_separator(sample[0]), [n for n, line in enumerate(sample) if is_comment(line)]
    body = [line if n not in above and (n or not declared) else "" for n, line in enumerate(sample)]
    separator, width = (declared, _width(body, declared)) if declared else _separator(body)
    records = _records(body, separator)
    if not records:
        what = "cannot be read" if "".join(body).strip() else "is missing (the file has only comments)"
        raise InputError(f"The header of {name} {what}: give every column a distinct name.")
    while len(records) > 1 and _is_title(records[0][1], width):
        notes.append(f"The line '{one_line(_joined(records[0][1]))[:80]}' above the names of {name} is skipped.")
        records = records[1:]
    number, cells = records[0]
    names, first = [cell.strip() for cell in cells], number + 1
    commented = _names_above(sample, above, separator, number, len(names))
    if commented and any(map(_looks_like_number, names)):
        names, first = commented, number
    elif all(map(_looks_like_number, names)):
        raise InputError(f"The first row of {name} contains numbers: put a row of names above them.")
    while names and not names[-1]:
        names.pop()
    if twice := next((each for n, each in enumerate(names) if each and each in names[:n]), None):
        raise InputError(f"In the header of {name} '{twice}' occurs twice: give every column a distinct name.")
    if "" in names[1:]:
        raise InputError(f"In the header of {name} the name of column {names.index('', 1) + 1} is empty: add one.")
    return _named(Dialect(encoding, separator, tuple(names), first, notes=tuple(notes)), records, body, name)


def _named(dialect: Dialect, records: list[tuple[int, list[str]]], body: Sequence[str], name: str) -> Dialect:
    """With a name for the column that R and pandas leave without one, and whether that only counts the rows."""
    rows = [(number, cells) for number, cells in records if number >= dialect.first]
    names, notes = dialect.names, dialect.notes
    firsts = [cells[0].strip() for _, cells in rows if cells]
    counting = len(firsts) > 0 and _counts(firsts)
    longer = bool(rows) and all(len(_filled(cells)) == len(names) + 1 for _, cells in rows)
    quoted = all(body[number].lstrip().startswith('"') for number, _ in rows)
    if longer and names and (quoted or counting):
        names = ("", *names)
    if len(names) > 1 and not names[0]:
        what = "counts the rows and is skipped" if counting else "is called 'index'"
        notes = (*notes, f"The first column of {name} has no name: it {what}.")
        names = ("index", *names[1:])
        return Dialect(dialect.encoding, dialect.separator, names, dialect.first, counting, notes)
    return Dialect(dialect.encoding, dialect.separator, names, dialect.first, notes=notes)


def _named_separator(line: str) -> str:
    """The separator that Excel's first line ``sep=;`` names."""
    plain = line.lstrip("\ufeff").strip("\r\n").strip('"')
    return plain[4] if plain.lower().startswith("sep=") and len(plain) == 5 else ""


def _separator(lines: Sequence[str]) -> tuple[str, int]:
    """The separator that gives most lines the same number of cells, more than one, and that number."""
    best, result = 0.0, (",", 1)
    for separator in _SEPARATORS:
        records = _records(lines, separator)
        width = _width(lines, separator)
        if width < 2:
            continue
        wide = [len(_filled(cells)) in (width, width - 1) for _, cells in records]
        share = sum(wide) / len(wide)
        if separator == " " and not (share == 1 and len(wide) > 1):
            continue
        if share > best + 0.1:
            best, result = share, (separator, width)
    return result


def _width(lines: Sequence[str], separator: str) -> int:
    """The most usual number of cells of a line."""
    counts = Counter(len(_filled(cells)) for _, cells in _records(lines, separator))
    return max(counts, key=lambda width: (counts[width], width), default=0)


def _records(lines: Sequence[str], separator: str) -> list[tuple[int, list[str]]]:
    """The number of the line where each record that is not empty ends, from 0, and its cells."""
    if separator == " ":
        return [(number, _between_spaces(line)) for number, line in enumerate(lines) if line.strip()]
    reader, result = csv.reader(iter(lines), delimiter=separator, skipinitialspace=True), []
    with contextlib.suppress(csv.Error):  # the lines before it decide the dialect; reading the table reports the error
        for cells in reader:
            if any(cell.strip() for cell in cells):
                result.append((reader.line_num - 1, cells))
    if result:
        result[0] = (result[0][0], [result[0][1][0].lstrip("\ufeff"), *result[0][1][1:]])
    return result


def _between_spaces(line: str) -> list[str]:
    """Cells between runs of spaces and tabs, without the quotes in which R writes names and words."""
    if '"' not in line:
        return line.split()
    text = " ".join(line.replace("\t", " ").strip().splitlines())
    return next(csv.reader([text], delimiter=" ", skipinitialspace=True), [])


def _filled(cells: Sequence[str]) -> list[str]:
    """Cells up to the last that is not empty."""
    last = max((n for n, cell in enumerate(cells) if cell.strip()), default=-1)
    return list(cells[: last + 1])


def _joined(cells: Sequence[str]) -> str:
    return " ".join(filter(None, (cell.strip() for cell in cells)))


def _is_title(cells: Sequence[str], width: int) -> bool:
    """Whether a line above a table of several columns is none of it: one cell, or what a logger says of itself."""
    filled = [cell for cell in cells if cell.strip()]
    return width > 1 and ((len(filled) == 1 and len(_filled(cells)) <= 1) or cells[0].strip() in _LOGGERS)


def _names_above(sample: Sequence[str], above: list[int], separator: str, row: int, width: int) -> list[str]:
    """Names from the comment above the first row, as numpy writes them, where it has as many."""
    last = max((n for n in above if n < row), default=None)
    records = [] if last is None else _records([sample[last].lstrip("#")], separator)
    return [cell.strip() for cell in records[0][1]] if records and len(records[0][1]) == width else []


def _looks_like_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def _counts(cells: Sequence[str]) -> bool:
    """Whether cells are 0, 1, 2 … or 1, 2, 3 …"""
    return cells[0] in ("0", "1") and all(cell == str(int(cells[0]) + n) for n, cell in enumerate(cells))


def refuse_long_rows(lines: Callable[[], Iterator[str]], dialect: Dialect, name: str) -> None:
    """``InputError``, with the line, for a row of more cells than there are names, of which one would be lost.

    Empty cells at a row's end do not count. Between spaces a row has no fewer cells either: which one is empty cannot
    be seen.
    """
    separator, columns = dialect.separator, len(dialect.names)
    if separator != " " and all(line.count(separator) < columns and '"' not in line for line in lines()):
        return
    rows: Iterator[tuple[int, list[str]]]
    if separator == " ":
        rows = ((number, _between_spaces(line)) for number, line in enumerate(lines(), 1))
    else:
        reader = csv.reader(lines(), delimiter=separator, skipinitialspace=True)
        rows = ((reader.line_num, cells) for cells in reader)
    try:
        for number, cells in rows:
            if len(cells) > columns and any(cell.strip() for cell in cells[columns:]):
                raise InputError(
                    f"Line {number} of {name} has {len(cells)} cells, the header has {columns} names: give one "
                    "cell per name, and quote cells that hold the separator."
                )
            if separator == " " and 0 < len(cells) < columns:
                raise InputError(
                    f"Line {number} of {name} has {len(cells)} cells between its spaces, the header has {columns} "
                    "names: write NA for an empty cell, or separate cells by commas."
                )
    except csv.Error as error:
        raise InputError(f"{at_start(name)} is not a regular table ({error}): save it as CSV again.") from None
