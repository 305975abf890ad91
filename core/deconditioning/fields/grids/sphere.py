"""Points on the sphere: unit vectors, longitudes that wrap, rotated poles, map projections."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.errors import InputError

if TYPE_CHECKING:
    from pyproj import CRS, Transformer


#: Mean radius of the earth.
EARTH_KM = 6371.0


def wrap_longitude(longitude: np.ndarray, centre: float | np.ndarray = 0.0) -> np.ndarray:
    """Longitude (degrees) moved into [c − 180, c + 180) of a ``centre`` c; what is not finite is missing.

    Round its own centre, a region across a seam is in one piece.
    """
    with np.errstate(invalid="ignore"):
        return (np.asarray(longitude, dtype=float) - centre + 180.0) % 360.0 - 180.0 + centre


def unit_vectors(latitude: np.ndarray, longitude: np.ndarray) -> np.ndarray:
    """Unit vectors (..., 3) of points given in degrees: x towards (0, 0), z towards the north pole."""
    phi, lam = np.deg2rad(latitude), np.deg2rad(longitude)
    return np.stack([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)], axis=-1)


def from_unit_vectors(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Latitude and longitude (degrees) of vectors (..., 3) of any positive length."""
    x, y, z = np.moveaxis(vectors, -1, 0)
    return np.rad2deg(np.arctan2(z, np.hypot(x, y))), wrap_longitude(np.rad2deg(np.arctan2(y, x)))


def _turn(latitude: np.ndarray, longitude: np.ndarray, pole: float) -> tuple[np.ndarray, np.ndarray]:
    """Exchange two poles that lie ``90 − pole`` degrees apart on each other's meridian 0; its own inverse."""
    phi, lam, p = np.deg2rad(latitude), np.deg2rad(longitude), np.deg2rad(pole)
    up = np.sin(p) * np.sin(phi) + np.cos(p) * np.cos(phi) * np.cos(lam)
    ahead = np.cos(p) * np.sin(phi) - np.sin(p) * np.cos(phi) * np.cos(lam)
    aside = -np.cos(phi) * np.sin(lam)
    return np.rad2deg(np.arcsin(np.clip(up, -1, 1))), np.rad2deg(np.arctan2(aside, ahead))


def _pole(mapping: Mapping[Any, Any]) -> tuple[float, float, float]:
    try:
        latitude = float(mapping["grid_north_pole_latitude"])
        longitude = float(mapping["grid_north_pole_longitude"])
    except (KeyError, TypeError, ValueError):
        raise InputError(
            "The rotated grid does not define its pole: its grid mapping needs `grid_north_pole_latitude` and "
            "`grid_north_pole_longitude`."
        ) from None
    try:
        turn = float(mapping.get("north_pole_grid_longitude", 0.0))
    except (TypeError, ValueError):
        turn = np.nan
    for name, value, most in (
        ("grid_north_pole_latitude", latitude, 90.0),
        ("grid_north_pole_longitude", longitude, 360.0),
        ("north_pole_grid_longitude", turn, 360.0),
    ):
        if not abs(value) <= most:
            raise InputError(
                f"The grid mapping's `{name}` is {value:g}, which is not a position on Earth: use degrees within "
                f"±{most:g}."
            )
    return latitude, longitude, turn


def _rotated_to_true(y: np.ndarray, x: np.ndarray, mapping: Mapping[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
    """True latitude and longitude (degrees) of rotated ones.

    sin φ = sin φ_p sin φ_r + cos φ_p cos φ_r cos(λ_r − N), with (φ_p, λ_p) the rotated grid's north
    pole and N the grid longitude of the true pole (CF conventions, Appendix F, rotated pole).
    """
    latitude, longitude, offset = _pole(mapping)
    phi, lam = _turn(y, np.asarray(x) - offset, latitude)
    return phi, wrap_longitude(lam + longitude)


def _true_to_rotated(
    latitude: np.ndarray, longitude: np.ndarray, mapping: Mapping[Any, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Rotated latitude and longitude (degrees) of true ones; the inverse of ``_rotated_to_true``."""
    pole_latitude, pole_longitude, offset = _pole(mapping)
    y, x = _turn(latitude, np.asarray(longitude) - pole_longitude, pole_latitude)
    return y, wrap_longitude(x + offset)


#: What says that an ellipsoid is no sphere.
_FLATTENED = ("semi_minor_axis", "inverse_flattening", "reference_ellipsoid_name", "horizontal_datum_name",
              "geographic_crs_name", "earth_radius")  # fmt: skip
#: Metres that no Earth's radius, and no geostationary satellite's height, lies below.
_LEAST_METRES = 1e5
#: Projections as seen from any height.
_LOW = ("vertical_perspective",)


def _written_out(mapping: Mapping[Any, Any]) -> dict[str, Any]:
    """A grid mapping in full where pyproj would read it otherwise than CF conventions, appendix F.

    An ellipsoid of one axis is a sphere; a cone with one standard parallel touches there, whatever latitude its origin
    has; a polar projection's parallel is on the side of its pole. A mapping with a projection as text is unchanged.
    Raises ``InputError`` for a radius or a height that is not in metres.
    """
    result = dict(mapping)
    if {"crs_wkt", "spatial_ref"} & set(result):
        return result
    for key in ("earth_radius", "semi_major_axis", "semi_minor_axis", "perspective_point_height"):
        if 0 < (metres := _number(result.get(key))) < _LEAST_METRES and result.get("grid_mapping_name") not in _LOW:
            raise InputError(f"The grid mapping's `{key}` is {metres:g}, too small for the Earth: give it in metres.")
    if "semi_major_axis" in result and not set(_FLATTENED) & set(result):
        result["semi_minor_axis"] = result["semi_major_axis"]
    name, origin = result.get("grid_mapping_name"), _number(result.get("latitude_of_projection_origin"))
    single = _number(result.get("standard_parallel"))
    conformal = name == "lambert_conformal_conic" and not np.isnan(origin) and origin != single
    if np.isfinite(single) and (conformal or name == "albers_conical_equal_area"):
        result["standard_parallel"] = [single, single]
    elif np.isfinite(single) and name in ("stereographic", "polar_stereographic") and abs(origin) == 90:
        result["grid_mapping_name"] = name = "polar_stereographic"
        result["standard_parallel"] = float(np.copysign(single, origin))
    if name == "polar_stereographic" and "longitude_of_projection_origin" in result:
        result.setdefault("straight_vertical_longitude_from_pole", result["longitude_of_projection_origin"])
    return result


def _number(value: Any) -> float:
    """One number, NaN where an attribute is none."""
    parts = np.ravel(np.asarray(value))
    try:
        return float(parts[0]) if parts.size == 1 else np.nan
    except (TypeError, ValueError):
        return np.nan


def _crs(mapping: Mapping[Any, Any]) -> "CRS":
    from pyproj import CRS
    from pyproj.exceptions import ProjError

    written = _written_out(mapping)
    try:
        return CRS.from_cf(written)
    except KeyError as error:
        name, lost = mapping.get("grid_mapping_name", "without a name"), str(error).strip("'\"")
        raise InputError(
            f"The grid mapping {name!r} has no `{lost}`: add it, or two-dimensional latitude and longitude."
        ) from None
    except (ProjError, TypeError, ValueError):
        name = mapping.get("grid_mapping_name", "without a name")
        raise InputError(
            f"The map projection {name!r} is not supported: add two-dimensional latitude and longitude variables to "
            "the file."
        ) from None


def is_geographic(mapping: Mapping[Any, Any]) -> bool:
    """Whether a grid mapping's own coordinates are degrees."""
    return bool(mapping) and _crs(mapping).is_geographic


def perspective_height(mapping: Mapping[Any, Any]) -> float | None:
    """Metres from a geostationary satellite's mapping, where its scan angles are lengths; None for others."""
    sentence = dict(mapping) if "perspective_point_height" in mapping else _crs(mapping).to_cf()
    try:
        return (
            float(sentence["perspective_point_height"])
            if "geostationary" in str(sentence["grid_mapping_name"])
            else None
        )
    except (KeyError, TypeError, ValueError):
        return None


def _degrees(crs: "CRS") -> "CRS | None":
    """Latitude and longitude on a projection's ellipsoid, in degrees from Greenwich where its own are in grads, or from
    Paris."""
    from pyproj import CRS

    geodetic = crs.geodetic_crs
    if geodetic is None or geodetic.prime_meridian is None or geodetic.ellipsoid is None:
        return geodetic
    in_degrees = all(abs(axis.unit_conversion_factor - np.pi / 180) < 1e-9 for axis in geodetic.axis_info)
    if in_degrees and geodetic.prime_meridian.longitude == 0:
        return geodetic
    ellipsoid = geodetic.ellipsoid
    return CRS.from_dict({"proj": "longlat", "a": ellipsoid.semi_major_metre, "b": ellipsoid.semi_minor_metre})


def _transformer(crs: "CRS", inverse: bool) -> "Transformer":
    from pyproj import Transformer
    from pyproj.exceptions import ProjError

    try:
        degrees = _degrees(crs)
        start, end = (crs, degrees) if inverse else (degrees, crs)
        return Transformer.from_crs(start, end, always_xy=True)
    except (ProjError, TypeError):
        raise InputError(
            f"The map projection {crs.name!r} is not supported: add two-dimensional latitude and longitude variables "
            "to the file."
        ) from None


def _metres(crs: "CRS") -> float:
    """Metres in the unit that a projection counts in: one made for feet or kilometres takes those."""
    return float(crs.axis_info[0].unit_conversion_factor) if crs.is_projected and crs.axis_info else 1.0


def _projected_to_true(y: np.ndarray, x: np.ndarray, mapping: Mapping[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
    """True latitude and longitude (degrees) of projected coordinates in metres, by the CF grid mapping."""
    crs = _crs(mapping)
    unit = _metres(crs)
    longitude, latitude = _transformer(crs, inverse=True).transform(x / unit, y / unit)
    return np.asarray(latitude), wrap_longitude(longitude)


def _true_to_projected(
    latitude: np.ndarray, longitude: np.ndarray, mapping: Mapping[Any, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Projected coordinates (y, x) in metres of true latitude and longitude."""
    crs = _crs(mapping)
    x, y = _transformer(crs, inverse=False).transform(longitude, latitude)
    return np.asarray(y) * _metres(crs), np.asarray(x) * _metres(crs)


def solid_angles(ring: np.ndarray) -> np.ndarray:
    """(…,) solid angle of spherical polygons (…, n, 3) whose corners go round: Ω = Σ 2 atan2(a·b×c, 1 + ab + bc + ca)
    over the triangles from the first corner."""
    first, total = ring[..., 0, :], np.zeros(ring.shape[:-2])
    for index in range(1, ring.shape[-2] - 1):
        second, third = ring[..., index, :], ring[..., index + 1, :]
        triple = np.sum(first * np.cross(second, third), axis=-1)
        pairs = (first, second), (second, third), (third, first)
        total += 2 * np.arctan2(triple, 1 + sum(np.sum(a * b, axis=-1) for a, b in pairs))
    return np.abs(total)


def true_position(kind: str, y: np.ndarray, x: np.ndarray, mapping: Mapping[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
    """True latitude and longitude (degrees) of native coordinates of a ``rotated``, ``projected`` or other grid."""
    if kind == "rotated":
        return _rotated_to_true(y, x, mapping)
    return _projected_to_true(y, x, mapping) if kind == "projected" else (y, x)


def native_position(
    kind: str, latitude: np.ndarray, longitude: np.ndarray, mapping: Mapping[Any, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Native coordinates (y, x) of true latitudes and longitudes (degrees): the inverse of `true_position`."""
    if kind == "rotated":
        return _true_to_rotated(latitude, longitude, mapping)
    return _true_to_projected(latitude, longitude, mapping) if kind == "projected" else (latitude, longitude)
