"""Reads the target of a series from its file: its field at each time, as values of the cells, and their errors."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from deconditioning.downscaling.source import Source, build_problem
from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields
from deconditioning.fields.problem.cell_weights import errors_of_cells
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.several import Several
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.period.times import first_used

#: Opens the fields of a key.
Opener = Callable[[str], Fields]


@dataclass(frozen=True, eq=False)
class TargetReader:
    """The target (H, W) of a file at the time with an index, and its date; NaN everywhere where it has no value, or
    where its error is not known.

    ``per_area`` (H, W) is what makes means of sums over cells, one elsewhere. ``error`` is the field, or the number,
    with the sds of the values' errors, None for none.
    """

    fields: Fields
    target: str
    dim: str
    select: Mapping[str, int | str]
    per_area: np.ndarray
    error: str | None = None
    _errors: dict[int, np.ndarray] = field(default_factory=dict, init=False, repr=False)

    def at(self, index: int) -> dict[str, int | str]:
        """The selection of a time."""
        others = {key: value for key, value in self.select.items() if key.rpartition(":")[2] != self.dim}
        return {**others, self.dim: index}

    def date(self, index: int) -> Any:
        """The date as the file has it, None if it has none."""
        return self.fields.time_of(self.target, self.at(index))

    def selected(self) -> dict[str, str]:
        """The label taken along every dimension of several values but that of the times."""
        fields, select = self.fields.at(self.target, self.at(0))
        chosen = fields.chosen(self.target, select)
        extra = {dim: labels for dim, labels in fields.check(self.target).extra.items() if dim != self.dim}
        return {dim: labels[chosen[dim]] for dim, labels in extra.items() if len(labels) > 1}

    def guessed(self) -> list[str]:
        """A note for every such dimension along which nothing is selected: its first value is used."""
        extra = self.fields.check(self.target).extra
        requested = {key.rpartition(":")[2] for key in self.select}
        notes = [first_used(self.target, dim, extra[dim]) for dim in self.selected() if dim not in requested]
        for dim, labels in self._along_errors.items():
            if len(labels) > 1 and dim not in (*requested, *extra):
                notes.append(first_used(str(self.error), dim, labels))
        return notes

    @property
    def _along_errors(self) -> Mapping[str, tuple[str, ...]]:
        """The further dimensions of the errors' field."""
        return self.fields.check(self.error).extra if self.error and self.fields.holds(self.error) else {}

    def errors(self, index: int) -> np.ndarray | None:
        """(H, W) sds of the errors at a time, in the units of the values; None if none are known."""
        if self.error is None:
            return None
        key = index if self.dim in self._along_errors else 0
        if key not in self._errors:
            self._errors.clear()
            self._errors[key] = errors_of_cells(
                self.fields, DownscalingSpec(self.target, error=self.error, select=self.at(index))
            )
        return self._errors[key]

    def __call__(self, index: int) -> np.ndarray:
        """The values at a time."""
        errors = self.errors(index)
        try:
            values = self.per_area * self.fields.values(self.target, self.at(index))
            return values if errors is None else np.where(np.isfinite(errors), values, np.nan)
        except InputError as error:
            if "only missing values" in str(error):
                return np.full(self.fields.grid.shape, np.nan)
            raise


def _with_field(fields: Fields, name: str, values: np.ndarray, are_sums: bool) -> Fields:
    """The same fields, of which ``name`` has these values (H, W) and no further dimension."""
    if isinstance(fields, Several):
        files_of = {**fields.files_of, name: _with_field(fields.files_of[name], name, values, are_sums)}
        return replace(fields, files_of=files_of, rows={key: row for key, row in fields.rows.items() if key != name})
    import xarray as xr

    packing = ["valid_range", "valid_min", "valid_max", "missing_value", "_FillValue", "scale_factor", "add_offset"]
    packing += [] if are_sums else ["cell_methods"]
    attributes = {word: value for word, value in fields.attributes(name).items() if word not in packing}
    dims = (fields.grid.y_name, fields.grid.x_name)
    return replace(fields, dataset=fields.dataset.assign({name: xr.Variable(dims, values, attributes)}))


def problem_with(
    source: Source, spec: DownscalingSpec, opener: Opener, values: np.ndarray, *, are_sums: bool = True
) -> DownscalingProblem:
    """The problem of the source with other values (H, W) of the target, which has no further dimension then;
    ``are_sums`` if its own are."""
    key = source.coarse or source.fields

    def open_with(each: str) -> Fields:
        """Fields of a key, those of the target with the given values."""
        fields = opener(each)
        return _with_field(fields, spec.target, values, are_sums) if each == key else fields

    if source.coarse == source.fields:
        raise InputError(
            "The coarse file is also the file of the covariates: give the coarse target in a separate file."
        )
    gone = opener(key).check(spec.target).extra
    coarse_select = {name: value for name, value in spec.coarse_select.items() if name.rpartition(":")[2] not in gone}
    marks = [mark.partition("=")[::2] if "=" in mark else ("", mark) for mark in spec.missing]
    others = (*spec.covariates, *spec.mediators)  # numbers of cells are no marks of missing values
    missing = tuple(f"{name}={mark}" for held, mark in marks for name in others if held in ("", name))
    return build_problem(source, replace(spec, coarse_select=coarse_select, missing=missing), open_with)


def cell_reader(numbered: DownscalingProblem) -> Callable[[np.ndarray], np.ndarray]:
    """Coarse values (cells,) from a field of the target's file; ``numbered`` is the problem of numbered values."""
    if numbered.truth is None:
        number = numbered.coarse_truth.ravel().astype(int)
        return lambda values: values.flat[number]
    pixels = numbered.truth.astype(int)
    return lambda values: numbered.shares.mean(values.flat[pixels], numbered.grid.area)


def truth_reader(numbers: np.ndarray, read: TargetReader, chosen: list[int]) -> Callable[[int], np.ndarray]:
    """What reads the target at the pixels with these ``numbers`` in the file, at each of the ``chosen`` times."""
    pixels = numbers.astype(int)
    return lambda time: read(chosen[time]).flat[pixels]


def cells_of_errors(
    read: TargetReader, cells: Callable[[np.ndarray], np.ndarray]
) -> Callable[[int], np.ndarray] | None:
    """What reads the sds (cells,) of the errors of the coarse values at an index; None if none are known."""
    if read.error is None:
        return None

    def of(index: int) -> np.ndarray:
        """(cells,) at the time with this index."""
        errors = read.errors(index)
        assert errors is not None
        return cells(errors)

    return of


def errors_of_times(
    read: TargetReader, cells: Callable[[np.ndarray], np.ndarray], chosen: Sequence[int]
) -> np.ndarray | None:
    """(T, cells) the same at the ``chosen`` times."""
    of = cells_of_errors(read, cells)
    return None if of is None else np.stack([of(index) for index in chosen])
