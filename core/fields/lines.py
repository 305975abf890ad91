"""Coordinates of rows and columns in degrees or metres: what their units say is done, and said."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from core.errors import InputError
from core.fields.sphere import is_geographic, perspective_height
from core.fields.units import compass, factor, read_unit, says_nothing

if TYPE_CHECKING:
    import xarray as xr

    from core.fields.axes import Axes

#: No geostationary camera looks so far aside (radians): the Earth's edge is at 0.151.
_WIDEST_SCAN = 0.4


def scale_of(array: "xr.DataArray", axes: "Axes") -> tuple[float, list[str]]:
    """What a coordinate's values are multiplied by to be in degrees north or east, or in metres, and sentences.

    Scan angles of a geostationary satellite become metres: radians times ``perspective_point_height`` (CF conventions,
    appendix F). Degrees west or south are negated. Raises ``InputError`` for units that can't be those of the axis.
    """
    units = str(array.attrs.get("units", "")).strip()
    if axes.kind != "projected":
        return _angle(str(array.name), units)
    if says_nothing(units):
        return _unsaid(array, axes.mapping)
    if (metres := factor(units, "meter")) is not None:
        return metres, [] if metres == 1 else [f"`{array.name}` was in {units}; metres are used."]
    if factor(units, "degree") is not None:
        return _angle(str(array.name), units) if is_geographic(axes.mapping) else _scan(array, units, axes.mapping)
    raise InputError(
        f"The axis `{array.name}` has the units {units!r}, {_what(units)}: the rows and columns of a map projection "
        "need lengths, such as m or km."
    )


def line(array: "xr.DataArray", axes: "Axes") -> tuple[np.ndarray, list[str]]:
    """Values (n,) of a 1-D coordinate in degrees or metres, and sentences."""
    values = np.asarray(array.values, dtype=float)
    if not np.isfinite(values).all():
        raise InputError(f"The coordinate `{array.name}` has missing values: every row and column needs its position.")
    scale, notes = scale_of(array, axes)
    return values if scale == 1 else values * scale, notes


def _what(units: str) -> str:
    return "which are not known" if read_unit(units) is None else "which measure something else"


def _angle(name: str, units: str) -> tuple[float, list[str]]:
    if found := compass(units):
        side = "north" if found[0] == "y" else "east"
        return found[1], [] if found[1] == 1 else [f"`{name}` was in {units}; degrees {side} are used."]
    degrees = 1.0 if says_nothing(units) else factor(units, "degree")
    if degrees is None:
        raise InputError(
            f"The coordinate `{name}` has the units {units!r}, {_what(units)}: latitude and longitude are given in "
            "degrees_north and degrees_east, or in another angle."
        )
    return degrees, [] if degrees == 1 else [f"`{name}` was in {units}; degrees are used."]


def _scan(array: "xr.DataArray", units: str, mapping: Mapping) -> tuple[float, list[str]]:
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


def _unsaid(array: "xr.DataArray", mapping: Mapping) -> tuple[float, list[str]]:
    """An axis of a map projection without units: radians where nothing else can be, never counts of cells."""
    values = np.asarray(array.values, dtype=float)
    if perspective_height(mapping) is not None and np.abs(values).max() < _WIDEST_SCAN:
        return _scan(array, "rad", mapping)
    if is_geographic(mapping):
        return 1.0, []
    if np.array_equal(np.abs(np.diff(values)), np.ones(values.size - 1)):
        raise InputError(
            f"The axis `{array.name}` counts {values[0]:g}, {values[1]:g} … without units, which is no place on a map: "
            "give it in metres with the units m, or add two-dimensional latitude and longitude."
        )
    return 1.0, [f"`{array.name}` has no units; it is taken to be in metres."]
