"""Named columns from a text or NetCDF file; errors name the row of the cell."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.sandbox import read_apart
from deconditioning.tables.cells import MISSING, Column
from deconditioning.tables.gaps import Missing, without_marks
from deconditioning.tables.samples import long_form
from deconditioning.tables.text import read_text
from deconditioning.wording import at_start

#: Longer tables are refused.
MOST_ROWS, _MOST_COLUMNS = 1_000_000, 512
#: A second dimension up to this length makes columns `name[0]`, `name[1]` …
_MOST_PARTS = 64


@dataclass(frozen=True)
class Table:
    """``columns`` (name → N values: float64, ``datetime64[s]`` or words) in the order of the file, its ``source`` name,
    ``notes``, sentences on what was unusual and how it was read, and the ``units`` of columns that a NetCDF file gives.
    """

    columns: Mapping[str, np.ndarray]
    source: str = "the table"
    notes: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    @property
    def numeric(self) -> list[str]:
        """Names of the columns of numbers."""
        return [name for name, values in self.columns.items() if values.dtype.kind == "f"]

    def numbers(self, names: list[str]) -> np.ndarray:
        """Those columns side by side (N, k); ``InputError`` for an unknown name, words, gaps or infinite values."""
        values = self.with_gaps(names)
        for name, column in zip(names, values.T, strict=True):
            if (bad := ~np.isfinite(column)).any():
                raise InputError(
                    f"Column '{name}' of {self.source} has {int(bad.sum())} empty or infinite cells, the first in row "
                    f"{int(bad.argmax()) + 1}: fill them or remove those rows."
                )
        return values

    def with_gaps(self, names: list[str]) -> np.ndarray:
        """Those columns side by side (N, k), NaN where a cell is empty; ``InputError`` for an unknown name or words."""
        result = []
        for name in names:
            values = self.column(name)
            if values.dtype.kind != "f":
                row = _first_word(values)
                raise InputError(
                    f"Column '{name}' of {self.source} holds '{str(values[row])[:40]}' in row {row + 1}: choose "
                    "a column of numbers, or correct the cell."
                )
            result.append(values)
        return np.stack(result, axis=1) if result else np.empty((len(self), 0))

    def column(self, name: str) -> np.ndarray:
        """One column as it is; ``InputError`` for an unknown name."""
        if name not in self.columns:
            raise InputError(f"{at_start(self.source)} has no column '{name}': it has {_listed(list(self.columns))}.")
        return self.columns[name]


def _first_word(values: np.ndarray) -> int:
    """The first cell that is not a number, with the decimal mark that most cells have."""
    import pandas as pd

    column = Column()
    column.add(pd.Series(values.astype(np.str_), dtype=str))
    mark = min(".,", key=lambda each: column.words[each])
    text = pd.Series(values.astype(np.str_), dtype=str)
    odd = np.isnan(column.values[mark][0]) & ~text.str.strip().str.lower().isin(MISSING).to_numpy()
    return int(odd.argmax())


def _listed(names: list[str], most: int = 12) -> str:
    return ", ".join(f"'{name}'" for name in names[:most]) + (" …" if len(names) > most else "")


def open_table(
    data: bytes | Path,
    name: str,
    missing: Missing = None,
    *,
    memory_mb: int = 1500,
    seconds: float = 20,
) -> Table:
    """The table of an uploaded file, read in a separate process; ``InputError`` if anything is wrong with it."""
    settings = "" if missing is None else json.dumps(list(missing))
    return read_apart(
        "deconditioning.tables.reader", data, name, load_table, memory_mb=memory_mb, seconds=seconds, settings=settings
    )


def read_table(path: str | Path, name: str | None = None, missing: Missing = None) -> Table:
    """The table of a trusted file, text unless its first bytes are NetCDF's.

    ``missing`` is as in `deconditioning.tables.gaps.without_marks`.

    Raises ``InputError`` if anything is wrong with the file.
    """
    from deconditioning.fields.reading.decoding import NETCDF

    path = Path(path)
    if not path.is_file():
        raise InputError(f"There is no file {path.name}: give the path of a CSV or NetCDF file.")
    name = name or path.name
    with open(path, "rb") as file:
        head = file.read(8)
    netcdf = head.startswith(NETCDF)
    table = _netcdf_table(path, name, missing) if netcdf else _text_table(path, name, missing)
    columns = table.columns
    if not columns or not len(table):
        raise InputError(f"{at_start(name)} contains no rows: give a table with a header and at least one row.")
    if len(columns) > _MOST_COLUMNS:
        raise InputError(
            f"{at_start(name)} has {len(columns)} columns; the limit is {_MOST_COLUMNS}: keep those you need."
        )
    return table


def _netcdf_table(path: Path, name: str, missing: Missing) -> Table:
    raw, units = _netcdf_columns(path, name)
    columns, notes = without_marks(raw, missing)
    return Table(columns, name, tuple(notes), units)


def _text_table(path: Path, name: str, missing: Missing) -> Table:
    text_table = read_text(path, name, most_rows=MOST_ROWS, missing=missing)
    columns = {
        label: values if isinstance(values, np.ndarray) else _plain(values)
        for label, values in text_table.columns.items()
    }
    return Table(columns, name, text_table.notes)


def _plain(values: Any) -> np.ndarray:
    """Words as an array; a missing word is empty."""
    return np.array([str(cell).strip() for cell in values], dtype=np.str_)


def _netcdf_columns(path: Path, name: str) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Columns, and the units of those that have some."""
    from deconditioning.fields.reading.decoding import decode

    with decode(path) as decoded:
        samples = long_form(decoded.dataset, MOST_ROWS)
        dataset = decoded.dataset if samples is None else samples
        lengths: dict[str, int] = {}
        for variable in dataset.variables.values():
            for dimension in variable.dims[:1]:
                lengths[str(dimension)] = lengths.get(str(dimension), 0) + 1
        if not lengths:
            raise InputError(
                f"{at_start(name)} has no variable along a dimension: give columns along one, such as time."
            )
        rows = max(lengths, key=lambda dimension: (lengths[dimension], dataset.sizes[dimension]))
        if dataset.sizes[rows] > MOST_ROWS:
            raise InputError(
                f"{at_start(name)} has {dataset.sizes[rows]:,} rows along {rows}; the limit is {MOST_ROWS:,}: "
                "keep those you need."
            )
        result: dict[str, np.ndarray] = {}
        for label, variable in dataset.variables.items():
            if variable.dims[:1] != (rows,) or variable.dtype.kind not in "fiubMUSO":
                continue
            values = np.asarray(variable.values)
            if values.dtype.kind in "USO":
                result |= {str(label): words for words in (_words(values),) if words is not None}
                continue
            if values.dtype.kind == "M" and values.ndim == 1:
                result[str(label)] = values.astype("datetime64[s]")
            elif values.dtype.kind == "M":
                continue
            elif values.ndim == 1:
                result[str(label)] = values.astype(np.float64)
            elif values.ndim == 2 and values.shape[1] <= _MOST_PARTS:
                result |= {f"{label}[{part}]": values[:, part].astype(np.float64) for part in range(values.shape[1])}
        known = dataset.variables
        units = {label: str(known[label].attrs["units"]) for label in result
                 if label in known and "units" in known[label].attrs}  # fmt: skip
    return result, units


def _words(values: np.ndarray) -> np.ndarray | None:
    """Words of a NetCDF file, such as the codes of regions, empty where one is missing; None for anything else."""
    if values.ndim != 1 or not all(isinstance(each, str | bytes) or each is None or each != each for each in values):
        return None
    return _plain(
        each.decode("utf-8", "replace") if isinstance(each, bytes) else each if isinstance(each, str) else ""
        for each in values.tolist()
    )


def write_table(table: Table, target: Path) -> None:
    """Columns in an .npz archive, for ``load_table`` in another process."""
    names = np.array(json.dumps([table.source, list(table.notes), list(table.columns), dict(table.units)]))
    with open(target, "wb") as file:
        columns = {f"c{number}": column for number, column in enumerate(table.columns.values())}
        np.savez(file, names=names, **columns)  # type: ignore[arg-type]


def load_table(path: Path) -> Table:
    """A table back from ``write_table``; nothing is unpickled."""
    with np.load(path, allow_pickle=False) as archive:
        source, notes, names, units = json.loads(str(archive["names"]))
        columns = {name: archive[f"c{number}"] for number, name in enumerate(names)}
        return Table(columns, source, tuple(notes), units)
