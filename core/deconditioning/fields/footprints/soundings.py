"""Soundings along one dimension, each with the corners of its pixel: level-2 files of satellites, cells of a mesh."""

from typing import TYPE_CHECKING

import numpy as np
import shapely

from deconditioning.errors import InputError
from deconditioning.fields.grids.bounds import bounds_of
from deconditioning.fields.grids.roles import role
from deconditioning.fields.units import compass, factor

if TYPE_CHECKING:
    import xarray as xr

#: Fewest and most corners of a pixel.
_CORNERS = 3, 12
#: How names of latitudes and longitudes contain their side.
_SIDES = {"y": "lat", "x": "lon"}


def corners_of(data: "xr.Dataset") -> tuple[str, str] | None:
    """The latitudes and longitudes (n, k) of the corners of soundings along one dimension, by name.

    They are the bounds of positions (n,), or are called after them, as in ``vertex_latitude``; None without.
    """
    positions = {side: variable for name, variable in data.variables.items() if variable.ndim == 1
                 for kind, side in [role(str(name), variable) or ("", "")] if kind == "latlon"}  # fmt: skip
    if len(positions) < 2 or positions["y"].dims != positions["x"].dims:
        return None
    known = bounds_of(data)
    sides: dict[str, str] = {}
    for side, position in positions.items():
        called = [label for label in known if _SIDES[side] in label.lower()]
        for label in (str(position.attrs.get("bounds", "")), *called):
            variable = data.variables.get(label, position)
            if variable.ndim == 2 and variable.dims[0] == position.dims[0] and variable.dtype.kind in "fiu":
                if _CORNERS[0] <= variable.shape[1] <= _CORNERS[1]:
                    sides.setdefault(side, label)
    both = len(sides) == 2 and data.variables[sides["y"]].dims == data.variables[sides["x"]].dims
    return (sides["y"], sides["x"]) if both else None


def outlines_of(data: "xr.Dataset", corners: tuple[str, str], name: str) -> np.ndarray:
    """(n,) polygons in degrees: the convex hull of each sounding's corners, whatever their order; None without three
    corners. Raises ``InputError`` for corners whose units are no angle."""
    latitude, longitude = (_in_degrees(data, label, name) for label in corners)
    there = np.isfinite(latitude) & np.isfinite(longitude)
    first = longitude[np.arange(len(longitude)), there.argmax(axis=1)]
    longitude = first[:, None] + (longitude - first[:, None] + 180.0) % 360.0 - 180.0
    count = there.sum(axis=1)
    enough = np.flatnonzero(count >= _CORNERS[0])
    points = shapely.points(longitude[enough][there[enough]], latitude[enough][there[enough]])
    row = np.repeat(np.arange(len(enough)), count[enough])
    result = np.full(len(latitude), None, dtype=object)
    result[enough] = shapely.convex_hull(shapely.multipoints(points, indices=row))
    return result


def _in_degrees(data: "xr.Dataset", label: str, name: str) -> np.ndarray:
    variable = data.variables[label]
    middles = (each for each in data.variables.values() if each.attrs.get("bounds") == label)  # CF: the same units
    about = [each.attrs.get("units", "") for each in (variable, *middles)]
    units = next((text for each in about if (text := str(each).strip())), "degrees")
    side, degrees = compass(units), factor(units, "degree")
    if degrees is None:
        raise InputError(f"The corners `{label}` of {name} are in {units[:40]!r}, which is no angle: give degrees.")
    return np.asarray(variable.values, dtype=float) * degrees * (side[1] if side else 1)
