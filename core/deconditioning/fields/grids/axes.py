"""Identifies the horizontal coordinates of a file (CF attributes first, then common names)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from deconditioning.errors import InputError
from deconditioning.fields.grids.grid import Kind
from deconditioning.fields.grids.roles import NAMES, places_nothing, role
from deconditioning.fields.grids.sphere import is_geographic
from deconditioning.fields.reading.mappings import grid_mapping
from deconditioning.fields.reading.meshes import no_rows_and_columns

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class Axes:
    """The two horizontal dimensions and the variables that say where they are.

    ``kind`` as in ``Grid``; ``y``, ``x`` name the coordinate variables (1-D, or 2-D latitude and
    longitude for "curvilinear"), ``notes`` what is taken for the mapping.
    """

    kind: Kind
    y_dim: str
    x_dim: str
    y: str
    x: str
    mapping: dict[str, Any]
    notes: tuple[str, ...] = ()


def _fields_on(dataset: "xr.Dataset", y: str, x: str) -> int:
    fields = [dataset.variables[name] for name in dataset.data_vars]
    return sum(1 for v in fields if v.dtype.kind in "fiub" and {y, x} <= set(v.dims))


def _lines(dataset: "xr.Dataset") -> dict[tuple[str, str], list[str]]:
    """1-D coordinate variables by (kind, side), those named like their dimension first."""
    result: dict[tuple[str, str], list[str]] = {}
    seen_from_above = any(v.attrs.get("grid_mapping_name") == "geostationary" for v in dataset.variables.values())
    flat = _is_flat(dataset)
    for name, array in dataset.variables.items():
        if array.ndim == 1 and (what := role(str(name), array)):
            by_name = NAMES.get(str(name).lower(), what)
            without = flat and not str(array.attrs.get("units", "")).strip()
            what = by_name if (seen_from_above or without) and by_name[0] == "projected" else what  # scan angles
            position = 0 if array.dims == (name,) else len(result.get(what, []))
            result.setdefault(what, []).insert(position, str(name))
    return result


def _is_flat(dataset: "xr.Dataset") -> bool:
    """Whether the axes of a grid mapping are lengths on a map."""
    try:
        mapping, _ = grid_mapping(dataset)
        return bool(mapping) and "rotated" not in str(mapping.get("grid_mapping_name")) and not is_geographic(mapping)
    except InputError:
        return False  # reported where it is used


def sheets(dataset: "xr.Dataset") -> list[Axes]:
    """Two-dimensional latitude and longitude variables on the same two dimensions.

    Of several on the same dimensions those that most fields name, then those of usual names.
    """
    sides: dict[tuple[str, str], dict[str, list[str]]] = {}
    for name, array in dataset.variables.items():
        if array.ndim >= 2 and (what := role(str(name), array)) and what[0] == "latlon":
            dims = (str(array.dims[-2]), str(array.dims[-1]))
            sides.setdefault(dims, {"y": [], "x": []})[what[1]].append(str(name))
    listed = [_named_coordinates(dataset.variables[name]) for name in dataset.data_vars]
    result = []
    for dims, both in sides.items():
        pairs = [(y, x) for y in both["y"] for x in both["x"]]
        best = max(
            pairs, default=None,
            key=lambda pair: (sum(set(pair) <= names for names in listed), sum(name.lower() in NAMES for name in pair)),
        )  # fmt: skip
        result += [Axes("curvilinear", *dims, *best, {})] if best else []
    return result


def _named_coordinates(array: "xr.Variable") -> set[str]:
    """What a field's attribute ``coordinates`` names."""
    return set(str(array.encoding.get("coordinates") or array.attrs.get("coordinates") or "").split())


def _candidates(dataset: "xr.Dataset") -> list[Axes]:
    """All pairs of coordinates that may be the axes; ``InputError`` if only an unclear grid mapping locates some."""
    lines = _lines(dataset)
    result, unclear = sheets(dataset), None
    kinds: tuple[Kind, ...] = ("projected", "rotated", "latlon")
    for kind in kinds:
        found = []
        for y in lines.get((kind, "y"), []):
            for x in lines.get((kind, "x"), []):
                try:
                    mapping, notes = ({}, []) if kind == "latlon" else grid_mapping(dataset, frozenset((y, x)))
                except InputError as error:
                    unclear = error
                    continue
                rotated = mapping.get("grid_mapping_name") == "rotated_latitude_longitude"
                usable = kind == "latlon" or (bool(mapping) and rotated == (kind == "rotated"))
                dims = str(dataset.variables[y].dims[0]), str(dataset.variables[x].dims[0])
                if usable and dims[0] != dims[1]:
                    found.append(Axes(kind, *dims, y, x, mapping, tuple(notes)))
        result = [*found, *result]
    if unclear and not result:
        raise unclear
    return result


def find_axes(dataset: "xr.Dataset") -> Axes:
    """The horizontal axes of most fields; ``InputError`` says what is missing if there are none."""
    fields = {name: dataset.variables[name] for name in dataset.data_vars}
    numeric = {n: v for n, v in fields.items() if v.dtype.kind in "fiub" and v.ndim}
    if not numeric:
        texts = ", ".join(f"`{n}`" for n in list(dataset.data_vars)[:5])
        raise InputError(f"The file holds no numeric field{f' (only {texts})' if texts else ''}: give a gridded file.")
    candidates = [(axes, _fields_on(dataset, axes.y_dim, axes.x_dim)) for axes in _candidates(dataset)]
    best = max(candidates, key=lambda pair: pair[1], default=None)
    if (best is None or best[1] == 0) and (why := no_rows_and_columns(dataset)):
        raise InputError(why)
    if all(v.ndim < 2 for v in numeric.values()):
        name, array = next(iter(numeric.items()))
        raise InputError(
            f"The fields are one-dimensional (`{name}` along {array.dims[0]}): a gridded field needs "
            "latitude and longitude as two dimensions."
        )
    if best is None or best[1] == 0:
        raise InputError(_lost(dataset))
    return best[0]


def _lost(dataset: "xr.Dataset") -> str:
    lines = _lines(dataset)
    coordinates = ", ".join(f"`{n}`" for n in list(dataset.coords)[:6]) or "none"
    for kind, words in (("rotated", "a rotated pole"), ("projected", "a map projection")):
        if (kind, "y") in lines and (kind, "x") in lines and ("latlon", "y") not in lines:
            return (
                f"The coordinates are those of {words} (`{lines[kind, 'y'][0]}`, `{lines[kind, 'x'][0]}`) but there "
                "is no grid mapping to locate them on Earth: add one, or add two-dimensional latitude and longitude."
            )
    units = next(
        (f"; `{n}` has the units {v.attrs['units']!r}" for n, v in dataset.coords.items() if places_nothing(v)), ""
    )
    return (
        f"No latitude and longitude were found for the fields (coordinates: {coordinates}{units}): name them `lat` and "
        "`lon`, or give them the units degrees_north and degrees_east."
    )
