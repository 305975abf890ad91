"""Coordinates of rows and columns in degrees or metres, converted from their units with a note."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.grids.grid import cell_edges
from deconditioning.fields.grids.sphere import is_geographic, perspective_height
from deconditioning.fields.units import compass, factor, factor_between, is_plain_number, read_unit

if TYPE_CHECKING:
    import xarray as xr

    from deconditioning.fields.grids.axes import Axes

#: No geostationary camera looks so far aside (radians): the Earth's edge is at 0.151.
_WIDEST_SCAN = 0.4


def scale_of(array: "xr.DataArray", axes: "Axes") -> tuple[float, list[str]]:
    """Factor that converts a coordinate to degrees north or east, or to metres, and notes.

    Scan angles of a geostationary satellite become metres: radians times ``perspective_point_height`` (CF conventions,
    appendix F). Degrees west or south are negated. Raises ``InputError`` for units that are wrong for the axis.
    """
    units = str(array.attrs.get("units", "")).strip()
    if axes.kind != "projected":
        return _angle(str(array.name), units)
    if is_plain_number(units):
        return _without_units(array, axes.mapping)
    if (metres := factor(units, "meter")) is not None:
        _check_metres(array, metres, units)
        return metres, [] if metres == 1 else [f"`{array.name}` was in {units} and is converted to metres."]
    if factor(units, "degree") is not None:
        return _angle(str(array.name), units) if is_geographic(axes.mapping) else _scan(array, units, axes.mapping)
    raise InputError(
        f"The axis `{array.name}` has the units {units!r}, {_what(units)}: the rows and columns of a map projection "
        "need lengths, such as m or km."
    )


def _check_metres(array: "xr.DataArray", metres: float, units: str) -> None:
    """``InputError`` for a line of a map that counts its cells, or that is no wider than a step: nm are read as
    nanometres."""
    values = np.asarray(array.values, dtype=float)
    if array.ndim != 1 or values.size < 2:
        return
    if metres == 1 and _counts(values) and values.min() in (0.0, 1.0):
        raise InputError(
            f"The axis `{array.name}` counts {values[0]:g}, {values[1]:g} … in {units}, so it gives no position on a "
            "map: write the coordinates of the projection, or add two-dimensional latitude and longitude."
        )
    if metres != 1 and np.ptp(values) * metres < _NARROWEST:
        raise InputError(
            f"The axis `{array.name}` in {units!r} is {np.ptp(values) * metres:.2g} m long, which is no map: give it "
            "the units m or km."
        )


def _check_turn(values: np.ndarray, name: str) -> None:
    """``InputError`` for longitudes in degrees or without units that go once round in radians."""
    count, span = values.size, float(np.ptp(values))
    if count > _FEW and min(abs(span * count / (count - 1) - 2 * np.pi), abs(span - 2 * np.pi)) < _TURN:
        raise InputError(
            f"The longitude `{name}` runs from {values.min():g} to {values.max():g}, a full circle in radians: give it "
            "the units radians."
        )


def _counts(values: np.ndarray) -> bool:
    """Whether all steps are one."""
    return np.array_equal(np.abs(np.diff(values)), np.ones(values.size - 1))


def origin_in_metres(mapping: Mapping[Any, Any], scale_y: float, scale_x: float) -> tuple[dict[str, Any], list[str]]:
    """A grid mapping with its false easting and northing in metres, and notes.

    They are in the units of their axes, of which ``scale_y`` and ``scale_x`` are the metres (CF conventions, appendix
    F), unless that would be farther than round the Earth. A projection as text has its own units.
    """
    result, notes = dict(mapping), list[str]()
    if {"crs_wkt", "spatial_ref"} & set(result):
        return result, notes
    for key, scale in (("false_northing", scale_y), ("false_easting", scale_x)):
        try:
            value = float(result.get(key, 0.0))
        except (TypeError, ValueError):
            continue
        if value and scale != 1 and abs(value * scale) < _ROUND_THE_EARTH:
            result[key] = value * scale
            notes.append(f"The grid mapping's `{key}` of {value:g} is in the units of its axis, {scale:g} m.")
    return result, notes


def line(array: "xr.DataArray", axes: "Axes") -> tuple[np.ndarray, float, list[str]]:
    """Values (n,) of a 1-D coordinate in degrees or metres, their scale (`scale_of`), and notes."""
    values = np.asarray(array.values, dtype=float)
    if not np.isfinite(values).all():
        raise InputError(f"The coordinate `{array.name}` has missing values: every row and column needs its position.")
    scale, notes = scale_of(array, axes)
    if axes.kind == "latlon" and array.name == axes.x and scale == 1:
        _check_turn(values, str(array.name))
    return values if scale == 1 else values * scale, scale, notes


def _what(units: str) -> str:
    return "which are unknown" if read_unit(units) is None else "which measure a different quantity"


def _angle(name: str, units: str) -> tuple[float, list[str]]:
    if result := compass(units):
        side = "north" if result[0] == "y" else "east"
        return result[1], [] if result[1] == 1 else [f"`{name}` was in {units} and is converted to degrees {side}."]
    degrees = 1.0 if is_plain_number(units) else factor(units, "degree")
    if degrees is None:
        raise InputError(
            f"The coordinate `{name}` has the units {units!r}, {_what(units)}: latitude and longitude are given in "
            "degrees_north and degrees_east, or in another angle."
        )
    return degrees, [] if degrees == 1 else [f"`{name}` was in {units} and is converted to degrees."]


def _scan(array: "xr.DataArray", units: str, mapping: Mapping[Any, Any]) -> tuple[float, list[str]]:
    height, degrees = perspective_height(mapping), factor(units, "degree")
    assert degrees is not None
    if height is None:
        raise InputError(
            f"The axis `{array.name}` is in {units}, an angle, and the grid mapping gives no "
            "`perspective_point_height` that makes it a length: add that, or give the axis in m."
        )
    return float(np.deg2rad(degrees)) * height, [
        f"`{array.name}` holds scan angles in {units}; metres are used, the angle times the satellite's height of "
        f"{height / 1e3:,.0f} km."
    ]


def _without_units(array: "xr.DataArray", mapping: Mapping[Any, Any]) -> tuple[float, list[str]]:
    """An axis of a map projection without units: radians where nothing else can be, never counts of cells."""
    values = np.asarray(array.values, dtype=float)
    if perspective_height(mapping) is not None and np.abs(values).max() < _WIDEST_SCAN:
        return _scan(array, "rad", mapping)
    if is_geographic(mapping):
        return 1.0, []
    if _counts(values):
        raise InputError(
            f"The axis `{array.name}` counts {values[0]:g}, {values[1]:g} … without units, so it gives no position on "
            "a map: use metres with the units m, or add two-dimensional latitude and longitude."
        )
    if np.ptp(values) < _NARROW_MAP:
        raise InputError(
            f"The axis `{array.name}` runs from {values.min():g} to {values.max():g} without units: metres or "
            "kilometres? Give it the units m or km."
        )
    return 1.0, [f"`{array.name}` has no units and is assumed to be in metres."]


#: Usual names of the bounds of a coordinate that names none.
_BOUNDS = ("{}_bnds", "{}_bounds", "bounds_{}", "{}_edges", "{}_b")
#: Columns above which a turn is one, and how closely.
_FEW, _TURN = 8, 1e-3
#: A map narrower than so many metres may well be one in kilometres.
_NARROW_MAP = 20_000.0
#: Metres that a map in other units is at least long, and those round the Earth.
_NARROWEST, _ROUND_THE_EARTH = 1.0, 4.1e7
#: Distances that are none, relative to a cell: what single precision rounds, and what makes a gap between bounds.
_ROUNDED, _GAP = 1e-4, 1e-3
#: How far from the middle of its cell, relative to it, a coordinate may lie to stand for it.
_OFF_MIDDLE = 0.25


def bounded(
    dataset: "xr.Dataset", axis: tuple[str, str], scale: float, ordered: tuple[np.ndarray, np.ndarray], turn: bool
) -> tuple[np.ndarray, np.ndarray | None, list[str]]:
    """Centres (n,) and edges (n+1,) of the cells along an axis from the file's CF bounds, and notes.

    ``axis`` is its coordinate and its dimension, ``scale`` the factor of the coordinate, ``ordered`` its values in
    ascending order and that order; ``turn`` whether it is periodic in 360 degrees. Edges are None if there are no
    bounds, if they are half-way between coordinates, or if they cannot be used, which is noted. Coordinates at an edge
    of their cells are replaced by the centres. Source: CF conventions, section 7.1.
    """
    name, (values, order) = axis[0], ordered
    bounds = _bounds(dataset, *axis)
    if bounds is None:
        return values, None, []
    away = scale * (bounds - np.asarray(dataset[name].values, dtype=float)[:, None])[order]
    away = np.sort((away + 180.0) % 360.0 - 180.0 if turn else away, axis=1)
    width = np.diff(away, axis=1)[:, 0]
    lower, upper = values + away[:, 0], values + away[:, 1]
    if not (np.isfinite(away).all() and (width > 0).all()):
        return values, None, [f"The bounds of `{name}` are not used: some are missing or empty."]
    if (np.abs(lower[1:] - upper[:-1]) > _GAP * np.minimum(width[1:], width[:-1])).any():
        return values, None, [f"The bounds of `{name}` are not used: cells overlap or leave gaps."]
    if (away[:, 0] > _GAP * width).any() or (away[:, 1] < -_GAP * width).any():
        return values, None, [f"The bounds of `{name}` are not used: some do not contain their coordinate."]
    edges = np.concatenate([lower[:1], (lower[1:] + upper[:-1]) / 2, upper[-1:]])
    if np.median(np.abs(0.5 * (away[:, 0] + away[:, 1])) / width) > _OFF_MIDDLE:
        middles = 0.5 * (edges[:-1] + edges[1:])
        return (
            middles,
            edges,
            [f"`{name}` gives an edge of each cell: the midpoints between its bounds are used."],
        )
    usual = cell_edges(values, False)
    clipped = np.clip(usual, edges.min(), edges.max())  # cells at a pole end there
    if (np.abs(edges - clipped) <= _ROUNDED * width.min()).all():
        return values, None, []
    return values, edges, [f"The cell edges along `{name}` are the bounds in the file."]


def _bounds(dataset: "xr.Dataset", name: str, dim: str) -> np.ndarray | None:
    """(n, 2) bounds of a coordinate in its units; None if the file gives none of that shape.

    COARDS and xESMF write the n + 1 edges of the cells instead.
    """
    about = {**dataset[name].encoding, **dataset[name].attrs}
    for result in (about.get("bounds"), about.get("edges"), *(each.format(name) for each in _BOUNDS)):
        if result not in dataset.variables:
            continue
        array, size, values = dataset[result], dataset.sizes[dim], None
        if array.ndim == 2 and dim in array.dims and array.size == 2 * size:
            values = np.asarray(array.transpose(dim, ...).values, dtype=float)
        elif array.ndim == 1 and array.size == size + 1 and array.dtype.kind in "fiu":
            values = np.stack([array.values[:-1], array.values[1:]], axis=1).astype(float)
        if values is not None:
            units = (str(each.attrs.get("units", "")) for each in (array, dataset[name]))
            return values * (factor_between(*units) or 1.0)
    return None
