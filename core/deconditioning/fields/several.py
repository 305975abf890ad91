"""Several files as one: different variables, different dates of one variable, regridding to the first grid."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields, Variable
from deconditioning.fields.grids.regridding import how_sampled, sample
from deconditioning.fields.selecting import REPEATED, distinct
from deconditioning.fields.times import is_dates
from deconditioning.fill_values import FillValue

#: Stands between the names of files that are read as one.
_AND = " + "
#: Endings of files of fields, and of those that are taken from a folder.
FILE_ENDINGS = (".nc", ".nc4", ".cdf", ".netcdf", ".h5", ".grib", ".grb", ".grib2", ".grb2", ".tif", ".tiff")
_ENDINGS = (*FILE_ENDINGS, ".zarr")
_Select = Mapping[str, int | str]


def joined(keys: Sequence[str]) -> str:
    """One key for several files."""
    return _AND.join(keys)


def keys_of(key: str) -> list[str]:
    """The keys of the files that one key stands for."""
    return key.split(_AND)


def each_key(key: str, change: Callable[[str], str]) -> str:
    """The key with each of its files renamed."""
    return joined([change(one) for one in keys_of(key)])


def is_pattern(key: str) -> bool:
    """Whether a path is a pattern for several files."""
    return any(mark in key for mark in "*?[")


def places(text: str) -> list[str]:
    """The files given by a path, a pattern (``run_*.nc``), a folder, or several of these with `` + `` between.

    Raises ``InputError`` if a pattern or a folder contains none.
    """
    result: list[str] = []
    for one in [text] if Path(text).exists() else keys_of(text):
        path = Path(one)
        if "://" in one or path.is_file() or (path.is_dir() and _is_store(path)):
            result.append(one)
        elif path.is_dir():
            inside = sorted(str(p) for p in path.iterdir() if p.name.lower().endswith(_ENDINGS))
            if not inside:
                raise InputError(f"The folder {one} contains no file ending in {', '.join(_ENDINGS)}: choose another.")
            result += inside
        elif is_pattern(one):
            inside = sorted(glob(one, recursive=True))
            if not inside:
                raise InputError(f"No file matches the pattern `{one}`: check its folder.")
            result += inside
        else:
            result.append(one)
    return list(dict.fromkeys(result))


def _is_store(path: Path) -> bool:
    return any((path / name).is_file() for name in (".zgroup", ".zmetadata", "zarr.json"))


@dataclass(frozen=True, eq=False)
class Row:
    """One variable across the files that contain a part of it: ``dim`` with ``labels``, each of which
    is (file, index).
    """

    dim: str
    labels: tuple[str, ...]
    at: tuple[tuple[Fields, int], ...]


@dataclass(frozen=True, eq=False)
class Several(Fields):
    """The fields of several files on the grid of the first; each variable is read from its own file.

    ``files_of`` contains the file of every variable, or the first of those that it spans (``rows``).
    """

    files_of: Mapping[str, Fields] = field(default_factory=dict)
    rows: Mapping[str, Row] = field(default_factory=dict)

    def variables(self) -> dict[str, Variable]:
        """The numeric fields of all files, by name."""
        return {name: self.check(name) for name in self.files_of}

    def holds(self, name: str) -> bool:
        """Whether any of the files has the variable."""
        return name in self.files_of

    def check(self, name: str) -> Variable:
        """The description of a field, with the labels of all files along the dimension that it is joined on."""
        if name not in self.files_of:
            known = ", ".join(f"`{n}`" for n in self.files_of)
            raise InputError(f"The files have no variable `{name}`: choose one of {known}.")
        result, row = self.files_of[name].check(name), self.rows.get(name)
        if row is None:
            return result
        return Variable(
            result.name, result.long_name, result.units, result.standard_name, {**result.extra, row.dim: row.labels}
        )  # fmt: skip

    def at(self, name: str, select: _Select | None = None) -> tuple[Fields, dict[str, Any]]:
        """The file that holds what is chosen, and the choice there."""
        chosen: dict[str, Any] = {
            f"{name}:{dim}": position for dim, position in self.chosen(name, select or {}).items()
        }
        row = self.rows.get(name)
        if row is None:
            return self.files_of[name], chosen
        owner, index = row.at[chosen.pop(f"{name}:{row.dim}")]
        return owner, {**chosen, f"{name}:{row.dim}": index} if row.dim in owner.check(name).extra else chosen

    def when_and_where(self, name: str, select: _Select | None = None) -> tuple[str, ...]:
        """As the file says that holds what is chosen."""
        owner, chosen = self.at(name, select)
        return owner.when_and_where(name, chosen)

    def remarks(self, name: str, select: _Select | None = None) -> list[str]:
        """As the file says that holds what is chosen."""
        owner, chosen = self.at(name, select)
        return owner.remarks(name, chosen)

    def with_missing(self, missing: tuple[str, ...]) -> Fields:
        """The same of every file."""
        files = {id(one): one for row in self.rows.values() for one, _ in row.at} | {
            id(one): one for one in self.files_of.values()
        }
        new = {key: one.with_missing(missing) for key, one in files.items()}
        answered = {note for key, one in files.items() for note in one.notes if note not in new[key].notes}
        rows = {
            name: replace(row, at=tuple((new[id(one)], position) for one, position in row.at))
            for name, row in self.rows.items()
        }
        return replace(
            self, files_of={name: new[id(one)] for name, one in self.files_of.items()}, rows=rows, missing=missing,
            notes=tuple(note for note in self.notes if note not in answered),
        )  # fmt: skip

    def marks_in(self, name: str, select: _Select | None = None) -> tuple[FillValue, ...]:
        """Those of every file that was looked at and holds the variable, else of the one that holds what is chosen."""
        owner, chosen = self.at(name, select)
        row = self.rows.get(name)
        others = {id(one): one for one, _ in row.at if not one.lazy and one is not owner} if row else {}
        result = [*owner.marks_in(name, chosen), *(mark for one in others.values() for mark in one.marks_in(name))]
        return tuple({mark.value: mark for mark in reversed(result)}.values())

    def attributes(self, name: str) -> dict[str, Any]:
        """As its first file says."""
        return self.files_of[name].attributes(name)

    def is_static(self, name: str) -> bool:
        """Whether the variable is static where it is the only one of its name."""
        return name not in self.rows and self.files_of[name].is_static(name)

    def time_of(self, name: str, select: _Select | None = None) -> Any:
        """As the file says that holds what is chosen."""
        owner, chosen = self.at(name, select)
        return owner.time_of(name, chosen)

    def values(self, name: str, select: _Select | None = None) -> np.ndarray:
        """(H, W) values on the first file's grid: overlap-weighted means of a finer one, interpolation of a coarser."""
        owner, chosen = self.at(name, select)
        result = owner.values(name, chosen)
        if owner.grid is self.grid:
            return result
        carried = sample(owner.grid, result, self.grid)[0].reshape(self.grid.shape)
        if np.isnan(carried).all():
            raise InputError(
                f"`{name}` of {owner.name} covers a different region from the grid of {self.name}: give files for the "
                "same region."
            )
        return carried


def together(files: Sequence[Fields]) -> Fields:
    """Several files as one, on the grid of the first.

    A variable in several files is joined along the dimension in which they differ, such as time. Raises ``InputError``
    if its grids or its other dimensions differ, or if two files contain the same part of it.
    """
    if len(files) == 1:
        return files[0]
    holders: dict[str, list[Fields]] = {}
    for one in files:
        for name in one.variables():
            holders.setdefault(name, []).append(one)
    notes = [note for one in files for note in one.notes]
    rows, files_of = {}, {name: held[0] for name, held in holders.items()}
    for name, held in holders.items():
        if len(held) > 1:
            rows[name] = _row(name, held)
    alone = [name for name, row in rows.items() if row is None]
    notes += [f"`{name}` is in {len(holders[name])} files; the one in {files_of[name].name} is used." for name in alone]
    notes += [_carried(name, files_of[name], files[0]) for name in files_of if files_of[name].grid is not files[0].grid]
    first = files[0]
    licences = dict.fromkeys(one.licence for one in files)
    return Several(
        first.dataset, first.grid, tuple(dict.fromkeys(n for n in notes if n)),
        "; ".join(dict.fromkeys(one.source for one in files)), "; ".join(licences), any(one.lazy for one in files),
        files_of=files_of, rows={name: row for name, row in rows.items() if row is not None},
    )  # fmt: skip


def _carried(name: str, owner: Fields, first: Fields) -> str:
    how = how_sampled(owner.grid, first.grid)
    if how == "its own values":
        return ""
    return f"`{name}` of {owner.name} is remapped to the grid of {first.name}: {how}."


def _row(name: str, files: list[Fields]) -> Row | None:
    """The variable along its files; None if it has neither a dimension nor a date that tells them apart."""
    first = files[0]
    for other in files[1:]:
        if how_sampled(other.grid, first.grid) != "its own values":
            raise InputError(
                f"`{name}` lies on {_size(other)} in {other.name} and on {_size(first)} in {first.name}: all files of "
                "a variable need the same grid. Remap them with `cdo remapcon`, or omit one."
            )
    extras = [one.check(name).extra for one in files]
    if any(extra.keys() != extras[0].keys() for extra in extras):
        raise InputError(f"`{name}` has other dimensions in {files[-1].name} than in {first.name}: omit one.")
    differing = [dim for dim in extras[0] if any(extra[dim] != extras[0][dim] for extra in extras)]
    if len(differing) > 1:
        raise InputError(
            f"`{name}` differs along {' and '.join(f'`{d}`' for d in differing)} between files: they can be joined "
            "along one dimension only."
        )
    if differing:
        return _along(name, differing[0], files, [extra[differing[0]] for extra in extras])
    dates = [one.time_label(name) for one in files]
    if None in dates or len(set(dates)) == 1:
        if extras[0] and any(len(labels) > 1 for labels in extras[0].values()):
            raise InputError(f"`{name}` is the same in {first.name} and {files[1].name}: give one of them.")
        return None
    dim = next((d for d in extras[0] if d == "time"), "time")
    return _along(name, dim, files, [(str(date).replace("T", " "),) for date in dates])


def _along(name: str, dim: str, files: list[Fields], labels: list[tuple[str, ...]]) -> Row:
    """The files one after the other, by date where the dimension has dates."""
    entries = [
        (REPEATED.sub("", label), (one, position))
        for one, labels_of_file in zip(files, labels, strict=True)
        for position, label in enumerate(labels_of_file)
    ]
    dated = dim == "time" or all(dim in f.dataset.coords and is_dates(f.dataset.coords[dim].values) for f in files)
    if dated:
        entries.sort(key=lambda entry: entry[0])
    holder: dict[str, Fields] = {}
    for label, (one, _) in entries:
        if holder.setdefault(label, one) is not one:
            both = f"{holder[label].name} and in {one.name}"
            raise InputError(f"`{name}` has {dim} {label} in {both}: omit one of them.")
    return Row(dim, distinct([label for label, _ in entries]), tuple(position for _, position in entries))


def _size(fields: Fields) -> str:
    rows, columns = fields.grid.shape
    return f"a grid of {rows} × {columns} cells"
