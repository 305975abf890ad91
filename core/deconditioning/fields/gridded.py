"""Fields of a file on one horizontal grid."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.errors import InputError, short
from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.problem.static_fields import is_static
from deconditioning.fields.reading.packing import packing_in
from deconditioning.fields.reading.validity import (
    DOUBTFUL,
    Marks,
    doubt_of,
    look,
    marked_missing,
    only_valid,
)
from deconditioning.fields.selecting import distinct, index_of
from deconditioning.fields.times import is_dates, labels_of, text_of, words_of
from deconditioning.fill_values import FillValue, equals_fill_value, fill_values_of

if TYPE_CHECKING:
    import xarray as xr

#: Places along a dimension at which values are looked for where a selection has none.
_MOST_TRIED = 24


def check_index(name: str, dim: str, index: int, size: int) -> None:
    """Raise ``InputError`` if a dimension of this size has no such index."""
    if not size:
        raise InputError(f"Dimension `{dim}` of `{name}` has no values, so there is no field: choose another.")
    if not 0 <= index < size:
        which = f"choose 0 to {size - 1}" if size > 1 else "the only index is 0"
        raise InputError(f"Index {index} of dimension `{dim}` of `{name}` does not exist: {which}.")


@dataclass(frozen=True)
class Variable:
    """A numeric field: its names, its units and the labels of every dimension other than the horizontal two."""

    name: str
    long_name: str
    units: str
    standard_name: str
    extra: dict[str, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class Fields:
    """Co-located fields of one file, with the grid's rows and columns as last two dimensions.

    ``notes`` describe what was changed or assumed while reading. If ``lazy``, values are read when needed, and
    ``open_file`` keeps their file open. ``fixed`` is selected along dimensions whatever else is selected. ``marks`` are
    suspected missing values by field, where values were inspected; ``missing`` are those that the user declared, from
    `deconditioning.fill_values.checked_missing`.
    """

    dataset: "xr.Dataset"
    grid: Grid
    notes: tuple[str, ...]
    source: str
    licence: str
    lazy: bool = False
    open_file: Any = field(default=None, repr=False)
    fixed: Mapping[str, int | str] = field(default_factory=dict)
    marks: Marks = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    _labels: dict[str, tuple[str, ...]] = field(default_factory=dict, init=False, repr=False)

    @property
    def name(self) -> str:
        """Short name of the file for messages: the first part of its source."""
        return self.source.partition(";")[0]

    @property
    def doubts(self) -> tuple[str, ...]:
        """Notes on values that are treated as data but may be missing values; shown before the result."""
        return tuple(note for note in self.notes if DOUBTFUL in note)

    def with_missing(self, missing: tuple[str, ...]) -> "Fields":
        """The same fields with these numbers treated as missing."""
        if missing == self.missing:
            return self
        answered = {
            doubt_of(name, mark) for name, marks in self.marks.items() for mark in marks
            if any(equals_fill_value(mark.value, each) for each in fill_values_of(missing, name))
        }  # fmt: skip
        return replace(self, missing=missing, notes=tuple(note for note in self.notes if note not in answered))

    def marks_in(self, name: str, select: Mapping[str, int | str] | None = None) -> tuple[FillValue, ...]:
        """Suspected missing values of a field: in all its values, or in one selection if lazy."""
        if not self.lazy or self.dataset[name].dtype.kind not in "fiu":
            return self.marks.get(name, ())
        return self._look(name, self._read(name, select))[1]

    def variables(self) -> dict[str, Variable]:
        """The numeric fields on the grid, by name."""
        return {str(name): self._describe(str(name)) for name in self.dataset.data_vars if self._usable(str(name))}

    def holds(self, name: str) -> bool:
        """Whether there is a field of that name."""
        return name in self.dataset.data_vars

    def at(self, name: str, select: Mapping[str, int | str] | None = None) -> tuple["Fields", dict[str, int | str]]:
        """The file that contains a selection of a field, and the selection there."""
        return self, dict(select or {})

    def _usable(self, name: str) -> bool:
        array = self.dataset.variables[name]
        dims = (self.grid.y_name, self.grid.x_name)
        return array.dtype.kind in "fiub" and array.dims[-2:] == dims

    def _describe(self, name: str) -> Variable:
        array = self.dataset.variables[name]
        attributes = array.attrs
        extra = {str(dim): self.labels(str(dim)) for dim in array.dims[:-2]}
        return Variable(
            name,
            str(attributes.get("long_name", name)),
            str(attributes.get("units", "")).strip(),
            str(attributes.get("standard_name", "")),
            extra,
        )

    def labels(self, dim: str) -> tuple[str, ...]:
        """The label of each position along a dimension; repeated labels get their index, (#5)."""
        if dim not in self._labels:
            self._labels[dim] = self._label_texts(dim)
        return self._labels[dim]

    def _label_texts(self, dim: str) -> tuple[str, ...]:
        if dim not in self.dataset.coords:
            return tuple(str(i) for i in range(self.dataset.sizes[dim]))
        coordinate = self.dataset.coords[dim]
        values = coordinate.values
        if is_dates(values):
            return distinct(labels_of(values))
        units = str(coordinate.attrs.get("units", "")).strip()
        units = "" if units == "1" else units
        if values.dtype.kind in "fiu":
            return distinct([f"{text} {units}".strip() for text in _number_texts(values)])
        return distinct([str(v) for v in values])

    def check(self, name: str) -> Variable:
        """The description of a field; ``InputError`` if the file has no such numeric field on its grid."""
        if name not in self.dataset.variables:
            known = ", ".join(f"`{n}`" for n in self.variables())
            raise InputError(f"The file has no variable `{name}`: choose one of {known}.")
        array = self.dataset[name]
        if array.dtype.kind not in "fiub":
            raise InputError(f"`{name}` holds text or times, not numbers: choose a numeric field.")
        if name not in self.dataset.data_vars or not self._usable(name):
            raise InputError(
                f"`{name}` has the dimensions ({', '.join(map(str, array.dims))}): a field needs both "
                f"`{self.grid.y_name}` and `{self.grid.x_name}`."
            )
        return self._describe(name)

    def chosen(self, name: str, select: Mapping[str, int | str]) -> dict[str, int]:
        """Selected index along every extra dimension: ``"name:dim"`` before ``"dim"`` before 0.

        Text is looked up as in `fields.selecting`: a value, the beginning of a date, an index ``#5``. A dimension with
        one value ignores ``"dim"``, which may be meant for another file.
        """
        chosen, select = {}, {**select, **self.fixed}
        for dim, labels in self.check(name).extra.items():
            shared = select.get(dim, 0) if len(labels) > 1 else 0
            requested = select.get(f"{name}:{dim}", shared)
            index = index_of(dim, labels, requested)
            check_index(name, dim, index, len(labels))
            chosen[dim] = index
        return chosen

    def values(self, name: str, select: Mapping[str, int | str] | None = None) -> np.ndarray:
        """(H, W) float64 values of a field in its own units, NaN where missing.

        ``select`` maps an extra dimension to an index or a label (default: index 0).
        """
        values = only_valid(self._read(name, select), self.dataset[name].attrs, fill_values_of(self.missing, name))
        values[self.grid.area == 0] = np.nan
        if np.isnan(values).all():
            notes = self.selection_notes(name, select)
            where = f" {' '.join(notes)}" if notes else ""
            where += self._with_values(name, select)
            raise InputError(f"`{name}` has only missing values here: choose another field, time or level.{where}")
        return values

    def _with_values(self, name: str, select: Mapping[str, int | str] | None) -> str:
        """A sentence on the first place along one dimension, of some tried, at which a field has values; dimensions
        first along which nothing was requested."""
        chosen, extra = self.chosen(name, select or {}), self.check(name).extra
        requested = {key.removeprefix(f"{name}:") for key in select or {}}
        for dim, labels in sorted(extra.items(), key=lambda each: each[0] in requested):
            for index in range(min(len(labels), _MOST_TRIED)):
                there = self._read(name, {**chosen, dim: index})
                there = only_valid(there, self.dataset[name].attrs, fill_values_of(self.missing, name))
                if np.isfinite(there[self.grid.area > 0]).any():
                    return f" It has values for `{dim}={labels[index]}`."
        return ""

    def _read(self, name: str, select: Mapping[str, int | str] | None) -> np.ndarray:
        """A copy of the stored values of one choice; ``InputError`` if a file that is still open has none there."""
        chosen = self.chosen(name, select or {})
        try:
            return np.array(self.dataset[name].isel(chosen).values, dtype=np.float64)
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            if not self.lazy:
                raise
            raise InputError(
                f"`{name}` of {self.name} could not be read ({short(error)}): the file is damaged or has changed "
                "since it was opened."
            ) from error

    def remarks(self, name: str, select: Mapping[str, int | str] | None = None) -> list[str]:
        """Notes on the values of one selection: those declared missing, and, if values were not inspected when the file
        was opened, anything else unusual.
        """
        missing, notes = fill_values_of(self.missing, name), []
        if not missing and (not self.lazy or self.dataset[name].dtype.kind not in "fiu"):
            return []
        values = self._read(name, select)
        for mark in missing:
            if count := int(np.count_nonzero(there := equals_fill_value(values, mark))):
                notes.append(marked_missing(name, mark, count))
                values[there] = np.nan
        return notes + self._look(name, values)[0] if self.lazy else notes

    def _look(self, name: str, values: np.ndarray) -> tuple[list[str], tuple[FillValue, ...]]:
        variable = self.dataset.variables[name]
        valid_range = variable.attrs.get("valid_range")
        bounds = None if valid_range is None else (valid_range[0], valid_range[1])
        return look(name, values, bounds, packing_in(variable.encoding))[1:]

    def attributes(self, name: str) -> dict[str, Any]:
        """The file's attributes of a field."""
        return dict(self.dataset[name].attrs)

    def is_static(self, name: str) -> bool:
        """Whether a field does not change with time, whatever date the file gives it."""
        extra, dataset = self.check(name).extra, self.dataset
        times = [
            len(labels) for dim, labels in extra.items() if dim in dataset.coords and is_dates(dataset[dim].values)
        ]
        return is_static(name, dataset[name].attrs, dataset.attrs, max(times, default=1))

    def when_and_where(self, name: str, select: Mapping[str, int | str] | None = None) -> tuple[str, ...]:
        """The selection along every other dimension in words: "19 November 2009, 12:00 UTC", "level height 645 m".

        The date comes first, also if it is a coordinate without a dimension; so do heights and pressures.
        """
        words, dated = [], False
        for dim, index in self.chosen(name, select or {}).items():
            if dim not in self.dataset.coords:
                words += [f"{_plain(dim)} number {index + 1}"] if self.dataset.sizes[dim] > 1 else []
            elif _is_run(self.dataset.coords[dim]):
                words.append(f"run of {words_of(self.dataset.coords[dim].values[index])}")
            elif is_dates(self.dataset.coords[dim].values):
                words, dated = [words_of(self.dataset.coords[dim].values[index]), *words], True
            else:
                words.append(f"{_plain(dim)} {self.labels(dim)[index]}")
        time = None if dated else self.time_of(name, select)
        words += [
            f"{_plain(str(key))} {value:g} {value.attrs.get('units', '')}".strip()
            for key, value in self.dataset[name].coords.items()
            if value.ndim == 0 and value.dtype.kind in "fiu" and {"axis", "positive"} & set(value.attrs)
        ]
        return tuple(words) if time is None else (words_of(time), *words)

    def time_label(self, name: str, select: Mapping[str, int | str] | None = None) -> str | None:
        """The date and time of a field as text, ``None`` if the file gives none."""
        time = self.time_of(name, select)
        return None if time is None else text_of(time)

    def time_of(self, name: str, select: Mapping[str, int | str] | None = None) -> Any:
        """The first time coordinate that the choice makes a single date: CF's own time first, that of a run last."""
        chosen = self.chosen(name, select or {})
        coordinates = self.dataset.coords.values()
        for coordinate in sorted(coordinates, key=lambda c: (c.attrs.get("standard_name") != "time", _is_run(c))):
            if set(coordinate.dims) <= set(chosen) and is_dates(coordinate.values):
                return coordinate.values[tuple(chosen[str(d)] for d in coordinate.dims)]
        return None

    def selection_notes(self, name: str, select: Mapping[str, int | str] | None = None) -> list[str]:
        """A note for every extra dimension with more than one value: which one is selected."""
        labels = self.check(name).extra
        return [
            f"Dimension `{dim}` has {len(labels[dim])} values; {labels[dim][i]} (`{dim}=#{i}`) is used for `{name}`."
            for dim, i in self.chosen(name, select or {}).items()
            if len(labels[dim]) > 1
        ]


def _number_texts(values: np.ndarray) -> list[str]:
    """Numbers to six digits, or to as many as tell them from each other and from powers of ten."""
    short = [f"{value:g}" for value in values]
    if len(set(short)) == len(short) and not any("e" in text for text in short):
        return short
    return [f"{value:.15g}" if value.dtype.itemsize > 4 else str(value).removesuffix(".0") for value in values]


def _is_run(coordinate: "xr.DataArray") -> bool:
    """Whether a coordinate holds the times at which forecasts start, not those that they are valid at."""
    return coordinate.attrs.get("standard_name") == "forecast_reference_time" and is_dates(coordinate.values)


def _plain(name: str) -> str:
    """A dimension's name as a word."""
    return name.replace("_", " ")
