"""The role of a coordinate variable: latitude, longitude, or the rows and columns of a map (CF first, then names)."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from deconditioning.fields.units import compass, may_be_place

if TYPE_CHECKING:
    import xarray as xr

_STANDARD = {
    "latitude": ("latlon", "y"),
    "longitude": ("latlon", "x"),
    "grid_latitude": ("rotated", "y"),
    "grid_longitude": ("rotated", "x"),
    "projection_y_coordinate": ("projected", "y"),
    "projection_x_coordinate": ("projected", "x"),
    "projection_y_angular_coordinate": ("projected", "y"),
    "projection_x_angular_coordinate": ("projected", "x"),
}
NAMES = {
    **dict.fromkeys(("lat", "latitude", "lats", "nav_lat", "xlat", "xlat_m", "ylat", "tlat", "gphit"), ("latlon", "y")),
    **dict.fromkeys(
        ("lon", "longitude", "lons", "long", "nav_lon", "xlong", "xlong_m", "tlong", "glamt"), ("latlon", "x")
    ),
    **dict.fromkeys(("rlat", "grid_latitude"), ("rotated", "y")),
    **dict.fromkeys(("rlon", "grid_longitude"), ("rotated", "x")),
    **dict.fromkeys(("y", "yc", "yt", "projection_y_coordinate"), ("projected", "y")),
    **dict.fromkeys(("x", "xc", "xt", "projection_x_coordinate"), ("projected", "x")),
}

#: Names of orography, as files have them.
_OROGRAPHY = ("orog", "surface_altitude", "elevation", "elev", "dem", "topo", "altitude", "terrain", "hgt", "zsurf")
#: Names of land masks and shares of land, as files have them.
LAND = ("land_binary_mask", "land_area_fraction", "landmask", "land_mask", "landfrac", "land", "lsm", "sftlf")

#: How standard names of latitudes begin that are those of something else than cells.
_OTHER_PLACES = ("platform_", "deployment_", "cloud_", "geographic_")
_DEGREES = ("degrees", "degree", "deg")
#: Names as NCL and GRIB tools number them: lat_0, g0_lon_1.
_NUMBERED = re.compile(r"(?:g\d+_)?(lat|lon|latitude|longitude)_?\d+")


def role(name: str, array: "xr.Variable") -> tuple[str, str] | None:
    """(kind, "y" or "x") of a coordinate variable, ``None`` if it is not one."""
    standard = str(array.attrs.get("standard_name", "")).lower()
    units = str(array.attrs.get("units", "")).strip()
    if standard in _STANDARD:
        return _STANDARD[standard] if may_be_place(units) else None
    if array.dtype.kind not in "fiu" or standard.startswith(_OTHER_PLACES):
        return None
    if (side := compass(units)) and name.lower() not in ("rlat", "rlon"):
        return ("latlon", side[0])
    if standard and standard not in NAMES:
        return None
    result = NAMES.get(standard) or NAMES.get(name.lower()) or _numbered(name)
    if not result and (axis := str(array.attrs.get("axis", "")).lower()) in ("y", "x") and units.lower() in _DEGREES:
        result = ("latlon", axis)
    if result and result[0] == "projected" and _looks_like_degrees(name, array, units):
        return ("latlon", result[1])
    return result


def places_nothing(array: "xr.Variable | xr.DataArray") -> bool:
    """Whether a coordinate by its standard name says where cells lie, but its units, such as K, cannot."""
    units = str(array.attrs.get("units", ""))
    return str(array.attrs.get("standard_name", "")).lower() in _STANDARD and not may_be_place(units)


def _numbered(name: str) -> tuple[str, str] | None:
    result = _NUMBERED.fullmatch(name.lower())
    return NAMES[result[1]] if result else None


def _looks_like_degrees(name: str, array: "xr.Variable", units: str) -> bool:
    """Whether an axis just called y or x holds degrees, by its units or as fractional values in range."""
    if units.lower().startswith("degree"):
        return True
    values = np.asarray(array.values, dtype=float)
    limit = 90.0 if name.lower().startswith("y") else 360.0
    fractional = values.size > 1 and not np.array_equal(np.diff(values), np.ones(values.size - 1))
    return not units and fractional and bool(np.nanmax(np.abs(values)) <= limit)


def is_among(name: str, known: tuple[str, ...]) -> bool:
    """Whether a variable has one of these names, or one that begins or ends with it."""
    plain = name.lower()
    return any(plain == each or plain.startswith(f"{each}_") or plain.endswith(f"_{each}") for each in known)


def orography_of(names: Iterable[str]) -> str | None:
    """The first of these variables that is named as an orography."""
    return next((name for name in names if is_among(name, _OROGRAPHY)), None)
