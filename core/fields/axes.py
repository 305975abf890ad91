"""Which variables of a file are its horizontal coordinates (CF attributes first, then usual names)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.errors import InputError
from core.fields.grid import Kind

if TYPE_CHECKING:
    import xarray as xr

STANDARD = {
    "latitude": ("latlon", "y"),
    "longitude": ("latlon", "x"),
    "grid_latitude": ("rotated", "y"),
    "grid_longitude": ("rotated", "x"),
    "projection_y_coordinate": ("projected", "y"),
    "projection_x_coordinate": ("projected", "x"),
}
NAMES = {
    **dict.fromkeys(("lat", "latitude", "lats", "nav_lat", "xlat", "ylat", "tlat", "gphit"), ("latlon", "y")),
    **dict.fromkeys(("lon", "longitude", "lons", "long", "nav_lon", "xlong", "tlong", "glamt"), ("latlon", "x")),
    **dict.fromkeys(("rlat", "grid_latitude"), ("rotated", "y")),
    **dict.fromkeys(("rlon", "grid_longitude"), ("rotated", "x")),
    **dict.fromkeys(("y", "yc", "yt", "projection_y_coordinate"), ("projected", "y")),
    **dict.fromkeys(("x", "xc", "xt", "projection_x_coordinate"), ("projected", "x")),
}
NORTH = {"degrees_north", "degree_north", "degree_n", "degrees_n", "degreen", "degreesn"}
EAST = {"degrees_east", "degree_east", "degree_e", "degrees_e", "degreee", "degreese"}
METRES = {"m": 1.0, "metre": 1.0, "metres": 1.0, "meter": 1.0, "meters": 1.0, "km": 1e3, "kilometre": 1e3}


@dataclass(frozen=True)
class Axes:
    """The two horizontal dimensions and the variables that say where they are.

    ``kind`` as in ``Grid``; ``y``, ``x`` name the coordinate variables (1-D, or 2-D latitude and
    longitude for "curvilinear").
    """

    kind: Kind
    y_dim: str
    x_dim: str
    y: str
    x: str
    mapping: dict


def role(name: str, array: "xr.Variable") -> tuple[str, str] | None:
    """(kind, "y" or "x") of a coordinate variable, ``None`` if it is not one."""
    standard = str(array.attrs.get("standard_name", "")).lower()
    units = str(array.attrs.get("units", "")).lower().strip()
    if standard in STANDARD:
        return STANDARD[standard]
    if standard or array.dtype.kind not in "fiu":
        return None
    if units in NORTH | EAST and name.lower() not in ("rlat", "rlon"):
        return ("latlon", "y" if units in NORTH else "x")
    found = NAMES.get(name.lower())
    if found and found[0] == "projected" and units not in METRES and _looks_like_degrees(name, array, units):
        return ("latlon", found[1])
    return found


def _looks_like_degrees(name: str, array: "xr.Variable", units: str) -> bool:
    """Whether an axis just called y or x holds degrees: said by its units, or fractional and in range."""
    if units.startswith("degree"):
        return True
    values = np.asarray(array.values, dtype=float)
    limit = 90.0 if name.lower().startswith("y") else 360.0
    fractional = values.size > 1 and not np.array_equal(np.diff(values), np.ones(values.size - 1))
    return not units and fractional and bool(np.nanmax(np.abs(values)) <= limit)


def _mapping(dataset: "xr.Dataset") -> dict:
    """Attributes of the CF grid mapping that most fields name, or of the only one there is."""
    fields = [dataset.variables[name] for name in dataset.data_vars]
    named = [v.attrs.get("grid_mapping", v.encoding.get("grid_mapping")) for v in fields]
    names = [str(n).split(":")[0].split()[0] for n in named if n]
    found = [str(n) for n, v in dataset.variables.items() if "grid_mapping_name" in v.attrs or "crs_wkt" in v.attrs]
    best = max(set(names) & set(found), key=names.count, default=found[0] if found else None)
    return dict(dataset.variables[best].attrs) if best else {}


def _fields_on(dataset: "xr.Dataset", y: str, x: str) -> int:
    fields = [dataset.variables[name] for name in dataset.data_vars]
    return sum(1 for v in fields if v.dtype.kind in "fiub" and {y, x} <= set(v.dims))


def _lines(dataset: "xr.Dataset") -> dict[tuple[str, str], list[str]]:
    """1-D coordinate variables by (kind, side), those named like their dimension first."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, array in dataset.variables.items():
        if array.ndim == 1 and (what := role(str(name), array)):
            position = 0 if array.dims == (name,) else len(found.get(what, []))
            found.setdefault(what, []).insert(position, str(name))
    return found


def _sheets(dataset: "xr.Dataset") -> list[Axes]:
    """Two-dimensional latitude and longitude variables on the same two dimensions."""
    pairs: dict[tuple[str, str], dict[str, str]] = {}
    for name, array in dataset.variables.items():
        if array.ndim >= 2 and (what := role(str(name), array)) and what[0] == "latlon":
            dims = (str(array.dims[-2]), str(array.dims[-1]))
            pairs.setdefault(dims, {}).setdefault(what[1], str(name))
    return [Axes("curvilinear", *dims, p["y"], p["x"], {}) for dims, p in pairs.items() if len(p) == 2]


def _candidates(dataset: "xr.Dataset") -> list[Axes]:
    lines, mapping = _lines(dataset), _mapping(dataset)
    rotated = mapping.get("grid_mapping_name") == "rotated_latitude_longitude"
    found = []
    kinds: tuple[tuple[Kind, bool], ...] = (
        ("latlon", True),
        ("rotated", rotated),
        ("projected", bool(mapping) and not rotated),
    )
    for kind, usable in kinds:
        for y in lines.get((kind, "y"), []) if usable else []:
            for x in lines.get((kind, "x"), []):
                dims = str(dataset.variables[y].dims[0]), str(dataset.variables[x].dims[0])
                if dims[0] != dims[1]:
                    found.append(Axes(kind, *dims, y, x, {} if kind == "latlon" else mapping))
    return found + _sheets(dataset)


def find_axes(dataset: "xr.Dataset") -> Axes:
    """The horizontal axes that carry most fields; ``InputError`` says what is missing otherwise."""
    fields = {name: dataset.variables[name] for name in dataset.data_vars}
    numeric = {n: v for n, v in fields.items() if v.dtype.kind in "fiub" and v.ndim}
    if not numeric:
        texts = ", ".join(f"`{n}`" for n in list(dataset.data_vars)[:5])
        raise InputError(f"The file holds no numeric field{f' (only {texts})' if texts else ''}: give a gridded file.")
    if all(v.ndim < 2 for v in numeric.values()):
        name, array = next(iter(numeric.items()))
        raise InputError(
            f"The fields are one-dimensional (`{name}` along {array.dims[0]}): a gridded field needs "
            "latitude and longitude as two dimensions."
        )
    candidates = [(axes, _fields_on(dataset, axes.y_dim, axes.x_dim)) for axes in _candidates(dataset)]
    best = max(candidates, key=lambda pair: pair[1], default=None)
    if best is None or best[1] == 0:
        raise InputError(_lost(dataset))
    return best[0]


def _lost(dataset: "xr.Dataset") -> str:
    lines = _lines(dataset)
    coordinates = ", ".join(f"`{n}`" for n in list(dataset.coords)[:6]) or "none"
    for kind, words in (("rotated", "a rotated pole"), ("projected", "a map projection")):
        if (kind, "y") in lines and (kind, "x") in lines and ("latlon", "y") not in lines:
            return (
                f"The coordinates are those of {words} (`{lines[kind, 'y'][0]}`, `{lines[kind, 'x'][0]}`) without the "
                "grid mapping that places them on Earth: add it, or two-dimensional latitude and longitude."
            )
    return (
        f"No latitude and longitude were found for the fields (coordinates: {coordinates}): name them `lat` and "
        "`lon`, or give them the units degrees_north and degrees_east."
    )
