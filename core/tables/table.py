"""Named columns from a CSV or NetCDF file; what is wrong with a cell is said with its row."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from core.errors import InputError
from core.sandbox import read_apart
from core.separated import refuse_long_rows

#: Longer tables are refused.
MOST_ROWS, MOST_COLUMNS = 1_000_000, 512
#: A second dimension up to this length makes columns `name[0]`, `name[1]` …
MOST_PARTS = 64
_NO_TEXT = "{} is neither NetCDF nor text in UTF-8: save it as CSV (UTF-8) first."


@dataclass(frozen=True)
class Table:
    """``columns`` (name → N values, float64 or words) in the order of the file, and its ``source`` name."""

    columns: Mapping[str, np.ndarray]
    source: str = "the table"

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    @property
    def numeric(self) -> list[str]:
        """Names of the columns of numbers."""
        return [name for name, values in self.columns.items() if values.dtype.kind == "f"]

    def numbers(self, names: list[str]) -> np.ndarray:
        """Those columns side by side (N, k); ``InputError`` for an unknown name, words, gaps or infinite values."""
        found = []
        for name in names:
            values = self.column(name)
            if values.dtype.kind != "f":
                row = next(i for i, cell in enumerate(values) if not _is_number(cell))
                raise InputError(
                    f"Column '{name}' of {self.source} holds '{values[row][:40]}' in row {row + 1}: choose a column of "
                    "numbers, or mend the cell."
                )
            bad = ~np.isfinite(values)
            if bad.any():
                raise InputError(
                    f"Column '{name}' of {self.source} has {int(bad.sum())} empty or infinite cells, the first in row "
                    f"{int(bad.argmax()) + 1}: fill them or remove those rows."
                )
            found.append(values)
        return np.stack(found, axis=1) if found else np.empty((len(self), 0))

    def column(self, name: str) -> np.ndarray:
        """One column as it is; ``InputError`` for an unknown name."""
        if name not in self.columns:
            raise InputError(f"{self.source} has no column '{name}': it has {_listed(list(self.columns))}.")
        return self.columns[name]


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell == ""
    return True


def _listed(names: list[str], most: int = 12) -> str:
    return ", ".join(f"'{name}'" for name in names[:most]) + (" …" if len(names) > most else "")


def open_table(data: bytes, name: str, *, memory_mb: int = 1500, seconds: float = 20) -> Table:
    """The table of an uploaded file, read in a process of its own; ``InputError`` on anything wrong with it."""
    return read_apart("core.tables.reader", data, name, load_table, memory_mb=memory_mb, seconds=seconds)


def read_table(path: str | Path, name: str | None = None) -> Table:
    """The table of a trusted file, CSV unless its first bytes are NetCDF's."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"There is no file {path.name}: give the path of a CSV or NetCDF file.")
    name = name or path.name
    with open(path, "rb") as file:
        head = file.read(8)
    netcdf = head.startswith((b"CDF", b"\x89HDF"))
    columns = _netcdf_columns(path, name) if netcdf else _csv_columns(path, name)
    if not columns or not len(next(iter(columns.values()))):
        raise InputError(f"{name} holds no rows: give a table with a header and at least one row.")
    if len(columns) > MOST_COLUMNS:
        raise InputError(f"{name} has {len(columns)} columns, at most {MOST_COLUMNS} are read: keep those you need.")
    return Table(columns, name)


def _csv_columns(path: Path, name: str) -> dict[str, np.ndarray]:
    import pandas as pd

    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            start = file.read(8192)
    except UnicodeDecodeError:
        raise InputError(_NO_TEXT.format(name)) from None
    if "\x00" in start:
        raise InputError(f"{name} is neither NetCDF nor text: save it as CSV (UTF-8) first.")
    first = start.splitlines()[0] if start.strip() else ""
    separator = max(",;\t", key=first.count) if any(mark in first for mark in ",;\t") else ","
    decimal = "," if separator == ";" and "." not in start else "."
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            names = next(csv.reader(file, delimiter=separator, skipinitialspace=True), [])
            refuse_long_rows(file, separator, max(1, len(names)), name)
        frame = pd.read_csv(
            path, sep=separator, decimal=decimal, encoding="utf-8-sig", nrows=MOST_ROWS + 1, skipinitialspace=True,
            low_memory=False, quoting=csv.QUOTE_MINIMAL, index_col=False, compression=None,
        )  # fmt: skip
    except pd.errors.EmptyDataError:
        raise InputError(f"{name} is empty: give a table with a header and at least one row.") from None
    except UnicodeDecodeError:
        raise InputError(_NO_TEXT.format(name)) from None
    except (pd.errors.ParserError, csv.Error) as error:
        said = " ".join(str(error).split())[:100].rstrip(".")
        raise InputError(f"{name} is no regular table ({said}): give the same number of cells in every row.") from None
    if len(frame) > MOST_ROWS:
        raise InputError(f"{name} has more than {MOST_ROWS:,} rows, the most that are read: keep those you need.")
    return {str(label).strip(): _plain(frame[label].to_numpy()) for label in frame.columns}


def _plain(values: np.ndarray) -> np.ndarray:
    """Numbers as float64, all else as words; a missing word is empty."""
    if values.dtype.kind in "fiub":
        return values.astype(np.float64)
    return np.array(["" if cell is None or cell != cell else str(cell) for cell in values])


def _netcdf_columns(path: Path, name: str) -> dict[str, np.ndarray]:
    from core.fields.decoding import decode

    with decode(path) as decoded:
        dataset = decoded.dataset
        lengths: dict[str, int] = {}
        for variable in dataset.variables.values():
            for dimension in variable.dims[:1]:
                lengths[str(dimension)] = lengths.get(str(dimension), 0) + 1
        if not lengths:
            raise InputError(f"{name} has no variable along a dimension: give columns along one, such as time.")
        rows = max(lengths, key=lambda dimension: (lengths[dimension], dataset.sizes[dimension]))
        if dataset.sizes[rows] > MOST_ROWS:
            raise InputError(f"{name} has {dataset.sizes[rows]:,} rows along {rows}, at most {MOST_ROWS:,} are read.")
        found: dict[str, np.ndarray] = {}
        for label, variable in dataset.variables.items():
            if variable.dims[:1] != (rows,) or variable.dtype.kind not in "fiubM":
                continue
            values = np.asarray(variable.values)
            if values.dtype.kind == "M":
                values = (values - values.min()) / np.timedelta64(1, "s")
            if values.ndim == 1:
                found[str(label)] = values.astype(np.float64)
            elif values.ndim == 2 and values.shape[1] <= MOST_PARTS:
                found |= {f"{label}[{part}]": values[:, part].astype(np.float64) for part in range(values.shape[1])}
    return found


def write_table(table: Table, target: Path) -> None:
    """Columns in an .npz archive, for ``load_table`` in another process."""
    names = np.array([table.source, *table.columns])
    with open(target, "wb") as file:
        columns = {f"c{number}": column for number, column in enumerate(table.columns.values())}
        np.savez(file, names=names, **columns)  # type: ignore[arg-type]


def load_table(path: Path) -> Table:
    """A table back from ``write_table``; nothing is unpickled."""
    with np.load(path, allow_pickle=False) as archive:
        source, *names = (str(name) for name in archive["names"])
        return Table({name: archive[f"c{number}"] for number, name in enumerate(names)}, source)
