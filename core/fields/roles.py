"""What a coordinate variable says of itself: latitude, longitude, or the rows and columns of a map (CF, then names)."""

from typing import TYPE_CHECKING

import numpy as np

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
