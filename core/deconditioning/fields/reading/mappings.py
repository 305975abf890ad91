"""Converts a file's grid mapping to CF form: poles as GRIB gives them, projections as text, cameras of satellites.

CF conventions, section 5.6 and appendix F.
"""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

#: Attributes in which GDAL, WRF's tools and satellite products write a projection as text.
_TEXTS = ("spatial_ref", "proj4", "proj4text", "proj4_params", "proj4_string", "proj_params", "proj_string",
          "proj_parameters")  # fmt: skip
#: A rotated pole in other words, in small letters: of the north pole, and of the south pole as in GRIB.
_NORTH = (("grid_north_pole_latitude", "pollat"), ("grid_north_pole_longitude", "pollon"))
_SOUTH = (
    ("grid_south_pole_latitude", "latitude_of_southern_pole", "latitudeofsouthernpoleindegrees", "south_pole_latitude"),
    ("grid_south_pole_longitude", "longitude_of_southern_pole", "longitudeofsouthernpoleindegrees",
     "south_pole_longitude"),
)  # fmt: skip
_ANGLES = ("grid_south_pole_angle", "angle_of_rotation", "angleofrotationindegrees", "angleofrotation")
_POLES = {name for side in (*_NORTH, *_SOUTH) for name in side}
#: Longitudes of a projection's middle, of which each projection has one and many files another.
_MIDDLES = ("longitude_of_central_meridian", "longitude_of_projection_origin", "straight_vertical_longitude_from_pole")
_MIDDLE_OF = {
    **dict.fromkeys(("lambert_conformal_conic", "albers_conical_equal_area", "transverse_mercator"), _MIDDLES[0]),
    **dict.fromkeys(
        ("lambert_azimuthal_equal_area", "azimuthal_equidistant", "stereographic", "orthographic", "mercator",
         "geostationary", "vertical_perspective"), _MIDDLES[1]
    ),
    "polar_stereographic": _MIDDLES[2],
}  # fmt: skip
#: Cameras by their sweep axis (GOES-R product guide, CGMS specification of HRIT).
_SWEEPS = {
    "x": re.compile(r"\b(?:GOES[- ]?(?:1[6-9]|R|S|T|U|East|West)|G1[6-9]|ABI)\b", re.IGNORECASE),
    "y": re.compile(r"\b(?:Meteosat\w*|MSG\w*|MTG\w*|SEVIRI|Himawari\w*|AHI|COMS|GK-?2A|FY-?4[AB]?|INSAT\w*|Elektro\w*"
                    r"|Electro\w*)\b", re.IGNORECASE),
}  # fmt: skip


def grid_mapping(dataset: "xr.Dataset", pair: frozenset[str] = frozenset()) -> tuple[dict[str, Any], list[str]]:
    """Attributes of the CF grid mapping that most fields name for a pair of coordinates, or of the only one there is,
    and sentences on what is taken for it.

    A field may name several, each with its coordinates: ``crs: x y wgs84: lat lon`` (CF conventions, section 5.6).
    """
    fields = [dataset.variables[name] for name in dataset.data_vars]
    named = [v.attrs.get("grid_mapping", v.encoding.get("grid_mapping")) for v in fields]
    sentences = [each for text in named if text for each in _mappings_in(str(text))]
    names = [name for name, about in sentences if not about or not pair or pair <= about]
    elsewhere = {name for name, about in sentences if about} - set(names)
    result = [str(n) for n, v in dataset.variables.items() if _is_mapping(v) and str(n) not in elsewhere]
    best = max(sorted(set(names) & set(result)), key=names.count, default=result[0] if result else None)
    if best is None and elsewhere:
        return {}, []
    attributes = (
        dict(dataset.variables[best].attrs) if best else {k: dataset.attrs[k] for k in _TEXTS if k in dataset.attrs}
    )
    return _usual_mapping(attributes, " ".join(str(value) for value in dataset.attrs.values()))


def _is_mapping(variable: "xr.Variable") -> bool:
    known = {"grid_mapping_name", "crs_wkt", *_TEXTS} & set(variable.attrs)
    return bool(known) or len(_POLES & {str(key).lower() for key in variable.attrs}) > 1


def _mappings_in(text: str) -> list[tuple[str, frozenset[str]]]:
    """Names of grid mappings with the coordinates that each belongs to; none for all."""
    if ":" not in text:
        return [(name, frozenset()) for name in text.split()[:1]]
    words = text.replace(":", " : ").split()
    starts = [n for n, word in enumerate(words[1:]) if word == ":"]
    ends = [*starts[1:], len(words)]
    return [(words[n], frozenset(words[n + 2 : end])) for n, end in zip(starts, ends, strict=True)]


def _usual_mapping(attributes: Mapping[str, Any], about: str) -> tuple[dict[str, Any], list[str]]:
    """A grid mapping's attributes as CF has them, and sentences on what is taken for them.

    ``about`` is what else the file says, such as the name of its satellite. Raises ``InputError`` for a rotated pole
    with an angle of rotation, and for a projection whose middle or whose camera's sweep is not known.
    """
    result = dict(attributes)
    if result and not {"grid_mapping_name", "crs_wkt"} & set(result):
        result = _from_text(result)
    result, notes = _with_pole(result)
    name = str(result.get("grid_mapping_name", ""))
    if {"crs_wkt", "spatial_ref"} & set(result):
        return result, notes
    if (usual := _MIDDLE_OF.get(name)) and usual not in result:
        other = next((each for each in _MIDDLES if each in result), None)
        if other is None:
            raise InputError(f"The grid mapping {name!r} has no longitude of its middle: add `{usual}`.")
        result[usual] = result[other]
    if name == "geostationary" and not {"sweep_angle_axis", "fixed_angle_axis"} & set(result):
        result["sweep_angle_axis"], note = _sweep(f"{about} {' '.join(map(str, attributes.values()))}")
        notes.append(note)
    return result, notes


def _from_text(attributes: dict[str, Any]) -> dict[str, Any]:
    """A grid mapping's attributes from a projection's text; those given where it is none."""
    from pyproj import CRS
    from pyproj.exceptions import CRSError

    text = next((str(attributes[name]) for name in _TEXTS if name in attributes), "")
    if "ob_tran" in text:  # PROJ turns radians by -m, and has the pole's grid longitude 0 by default
        text = re.sub(r"^\s*-m\s+\S+\s+", "", text)
        text = text if "o_lon_p" in text else f"{text} +o_lon_p=0"
    try:
        crs = CRS.from_user_input(text)
        rotated = crs.to_cf() if "ob_tran" in text else {}
        return rotated if rotated.get("grid_mapping_name") else {"crs_wkt": crs.to_wkt()}
    except (CRSError, KeyError, TypeError, ValueError):
        return attributes


def _with_pole(mapping: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The mapping with the north pole of its rotated grid; ``InputError`` for one that is turned about this."""
    plain = {str(key).lower(): value for key, value in mapping.items()}
    north, south = (
        [next((each for each in side if each in plain), None) for side in pole] for pole in (_NORTH, _SOUTH)
    )
    if "rotated" not in str(mapping.get("grid_mapping_name", "rotated")).lower() or not (all(north) or all(south)):
        return mapping, []
    result = {**mapping, "grid_mapping_name": "rotated_latitude_longitude"}
    keys = [str(key) for key in (north if all(north) else south)]
    try:
        latitude, longitude = (float(np.ravel(plain[key])[0]) for key in keys)
        angle = next((float(np.ravel(plain[key])[0]) for key in _ANGLES if key in plain), 0.0)
    except (TypeError, ValueError, IndexError):
        return result, []
    if all(north):
        return {**result, _NORTH[0][0]: latitude, _NORTH[1][0]: longitude}, []
    if angle:
        raise InputError(
            f"The rotated grid is turned about its pole by {angle:g}°, which is not supported: add two-dimensional "
            "latitude and longitude."
        )
    pole = {_NORTH[0][0]: -latitude, _NORTH[1][0]: (longitude + 360.0) % 360.0 - 180.0}
    words = f"{pole[_NORTH[0][0]]:g}° north, {pole[_NORTH[1][0]]:g}° east"
    return {**result, **pole}, [f"The rotated grid is given by its south pole; its north pole is at {words}."]


def _sweep(about: str) -> tuple[str, str]:
    """The sweep axis of the camera that a text names, and a sentence; ``InputError`` if it names none or both."""
    found = {axis: match[0] for axis, known in _SWEEPS.items() if (match := known.search(about))}
    if len(found) != 1:
        raise InputError(
            "The grid mapping 'geostationary' has no `sweep_angle_axis`: add it, 'x' for GOES-R, 'y' for Meteosat, "
            "Himawari and others."
        )
    ((axis, name),) = found.items()
    return axis, f"The grid mapping has no `sweep_angle_axis`; '{axis}' is used, that of {name}."
