"""Messages of a GRIB file (edition 1 or 2): the field of each, its grid, and its distinguishing keys.

Only the separate process that reads a file imports ecCodes (see ``deconditioning.fields.reading.grib``). Keys are those
of https://codes.ecmwf.int/grib/ and of code tables 4.7 and 4.9 of WMO's *Manual on Codes*, volume I.2.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

#: Grids of rows and columns whose rows and columns have a latitude and a longitude of their own; others have positions.
_LINES = ("regular_ll", "regular_gg")
_NO_ROWS = ("sh", "unstructured_grid", "healpix")
_MISSING = 9e35
#: What GRIB 1 gives a level in, by the type of level; GRIB 2 says it.
_FIRST_EDITION_UNITS = {
    "isobaricInhPa": "hPa", "isobaricInPa": "Pa", "heightAboveGround": "m", "heightAboveSea": "m", "depthBelowSea": "m",
    "depthBelowLand": "cm", "depthBelowLandLayer": "cm", "isobaricLayer": "hPa", "heightAboveGroundLayer": "hm",
    "theta": "K",
}  # fmt: skip
_DERIVED = {
    0: "mean", 1: "weighted mean", 2: "standard deviation", 3: "normalised standard deviation", 4: "spread",
    5: "large anomaly index", 6: "cluster mean", 7: "interquartile range", 8: "minimum", 9: "maximum",
}  # fmt: skip
_PROBABILITY = {0: "below {low:g}", 1: "above {high:g}", 2: "from {low:g} to {high:g}", 3: "above {low:g}",
                4: "below {high:g}", 5: "equal to {low:g}"}  # fmt: skip
#: Coded keys that say how values are packed and where they lie, not what they are.
_ABOUT_PACKING = re.compile(
    r"(?i).*(length|offset|padding|bitmap|referenceValue|scaleFactor$|bitsPer|numberOfVal|numberOf.*Points|codedValues|"
    r"^values$|section\d|numberOfSection|group|spatialDifferenc|packing|dataRepresentation|identifier$|GTS|7777|ccsds|"
    r"numberOfOctets|numberOfUnusedBits|dataFlag|unusedBits|halfByte|missingValueManagement|typeOfOriginal).*"
)


@dataclass(frozen=True, eq=False)
class Message:
    """One field of a GRIB file.

    Parameters
    ----------
    place : number of the message in the file, from 0; each part of a multi-field message counts.
    name, long_name, units : of the parameter, as ecCodes has them.
    parameter : what identifies the parameter, also where it has no name.
    kind : ecCodes' type of level.
    level_units : of the level in ``keys``.
    grid : ecCodes' digest of the grid.
    keys : ``number``, ``level`` (top, bottom), ``reference_time``, ``step`` and ``period`` (hours), ``time``, and
        ``percentile``, ``derived``, ``probability`` where the message has them ("" otherwise).
    values : (Nj, Ni) float32, NaN where missing.
    """

    place: int
    name: str
    long_name: str
    units: str
    parameter: tuple[Any, ...]
    kind: str
    level_units: str
    grid: str
    keys: dict[str, Any]
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Positions:
    """(Nj, Ni) latitudes and longitudes of a grid; ``lines`` where rows and columns have one each."""

    latitude: np.ndarray
    longitude: np.ndarray
    lines: bool

    def agree(self, other: "Positions") -> bool:
        """Whether two grids are one, but for the 0.001° to which GRIB 1 rounds."""
        if self.latitude.shape != other.latitude.shape or self.lines != other.lines:
            return False
        turned = (self.longitude - other.longitude + 180) % 360 - 180
        return bool(np.abs(self.latitude - other.latitude).max() < 2e-3 and np.abs(turned).max() < 2e-3)


def read_messages(path: Path) -> tuple[list[Message], dict[str, Positions], dict[str, int]]:
    """Messages on rows and columns, the positions of their grids by digest, and how many have another kind of grid."""
    from eccodes import codes_get

    result, positions = [], dict[str, Positions]()
    others, same = dict[str, int](), dict[str, str]()
    for number, handle in enumerate(_handles(path)):
        kind = codes_get(handle, "gridType")
        rows = _defined(handle, "Nj", "Ny")
        if not rows or not _defined(handle, "Ni", "Nx") or kind.startswith("reduced") or kind in _NO_ROWS:
            others[kind] = others.get(kind, 0) + 1
            continue
        grid = codes_get(handle, "md5GridSection")
        if grid not in same:
            new = _positions(handle, kind)
            same[grid] = next((known for known, held in positions.items() if held.agree(new)), grid)
            positions.setdefault(same[grid], new)
        result.append(_message(handle, number, same[grid]))
    return result, positions, others


def coded_keys(path: Path, places: set[int]) -> dict[int, dict[str, str]]:
    """For messages at ``places`` all keys that they code, but those of packing and of the grid's size."""
    import eccodes

    result = {}
    for number, handle in enumerate(_handles(path)):
        if number not in places:
            continue
        keys, iterator = dict[str, str](), eccodes.codes_keys_iterator_new(handle)
        eccodes.codes_skip_computed(iterator)
        while eccodes.codes_keys_iterator_next(iterator):
            name = eccodes.codes_keys_iterator_get_name(iterator)
            if not _ABOUT_PACKING.fullmatch(name) and eccodes.codes_get_size(handle, name) == 1:
                keys[name] = str(eccodes.codes_get_string(handle, name))
        eccodes.codes_keys_iterator_delete(iterator)
        result[number] = keys
    return result


def _handles(path: Path) -> Iterator[Any]:
    """ecCodes' handle of each message, and of each part of a message of several fields."""
    import eccodes

    eccodes.codes_grib_multi_support_on()
    with open(path, "rb") as file:
        while (handle := eccodes.codes_grib_new_from_file(file)) is not None:
            try:
                yield handle
            finally:
                eccodes.codes_release(handle)


def _message(handle: Any, number: int, grid: str) -> Message:
    name = _get(handle, "cfVarName") or "unknown"
    name = _get(handle, "shortName") or "unknown" if name in ("unknown", "~") else name
    parts = ("discipline", "parameterCategory", "parameterNumber", "table2Version", "indicatorOfParameter")
    identity = _get(handle, "paramId"), *(_get(handle, part) for part in parts)
    if name in ("unknown", "~"):
        sentence = identity[:1] if identity[0] else [part for part in identity[1:] if part is not None]
        name = "_".join(["parameter", *map(str, sentence)])
    kind = str(_get(handle, "typeOfLevel") or "unknown")
    units = _FIRST_EDITION_UNITS.get(kind, "")
    if _get(handle, "edition") == 2 and not kind.startswith("isobaricIn"):
        units = str(_get(handle, "unitsOfFirstFixedSurface") or "")
    keys = {**_place_in_ensemble(handle), "level": _level(handle, kind), **_times(handle)}
    return Message(
        number, str(name), str(_get(handle, "name") or name), str(_get(handle, "units") or ""),
        identity[:1] if identity[0] else identity, kind, "" if units in ("unknown", "Numeric", "~") else units, grid,
        keys, _values(handle),
    )  # fmt: skip


def _level(handle: Any, kind: str) -> tuple[float, float]:
    """Top and bottom of the level or layer, scaled; infinite where a layer is open below.

    GRIB 2: scaled value · 10^(−scale factor) of both surfaces, which ecCodes' own ``level`` rounds.
    """
    both = [_surface(handle, side) for side in ("First", "Second")]
    if both[0] is None:  # GRIB 1, or a level that has no number, such as the surface
        both = [_get(handle, name, float) for name in ("topLevel", "bottomLevel")]
    elif both[1] is None:
        both[1] = np.inf if kind.endswith("Layer") else both[0]
    top, bottom = (np.inf if end is not None and abs(end) >= 2**31 - 1 else end for end in both)
    hecto = 100.0 if kind == "isobaricInhPa" and _get(handle, "edition") == 2 else 1.0
    return (0.0, 0.0) if top is None else (top / hecto, (top if bottom is None else bottom) / hecto)


def _surface(handle: Any, side: str) -> float | None:
    """What GRIB 2 says of one of the two surfaces, None if it says nothing."""
    if _get(handle, f"typeOf{side}FixedSurface", int) in (None, 255):
        return None
    value, scale = (_get(handle, f"scale{part}Of{side}FixedSurface", int) for part in ("dValue", "Factor"))
    return None if value is None or scale is None else round(value * 10.0**-scale, 12)


def _times(handle: Any) -> dict[str, Any]:
    """``reference_time``, ``time`` (of validity), and in hours ``step`` and ``period`` (that values are taken over)."""
    from eccodes import CodesInternalError, codes_set

    reference = _date(_get(handle, "dataDate"), _get(handle, "dataTime"), _get(handle, "second") or 0)
    time = _date(_get(handle, "validityDate"), _get(handle, "validityTime"))
    try:
        codes_set(handle, "stepUnits", "s")
        start, end = (_get(handle, name, int) for name in ("startStep", "endStep"))
    except CodesInternalError:
        start = end = None
    time = reference if np.isnat(time) else time
    if end is None:
        end = int((time - reference).astype(int))
    elif abs(int((reference + np.timedelta64(end, "s") - time).astype(int))) < 60:
        time = reference + np.timedelta64(end, "s")  # the key of validity ends at minutes
    return {
        "reference_time": reference, "step": end / 3600, "time": time,
        "period": 0.0 if start is None else (end - start) / 3600,
    }  # fmt: skip


def _date(date: int | None, clock: int | None, second: int = 0) -> np.datetime64:
    if date is None or clock is None:
        return np.datetime64("NaT", "s")
    day = f"{date // 10000:04d}-{date // 100 % 100:02d}-{date % 100:02d}"
    return np.datetime64(f"{day}T{clock // 100:02d}:{clock % 100:02d}:{second:02d}", "s")


def _place_in_ensemble(handle: Any) -> dict[str, Any]:
    """Member, percentile, what is derived of all members, the event that a probability is of."""
    percentile, derived, event = (_get(handle, n) for n in ("percentileValue", "derivedForecast", "probabilityType"))
    ends = {
        end: float(_get(handle, f"scaledValueOf{side}Limit") or 0)
        * 10.0 ** -float(_get(handle, f"scaleFactorOf{side}Limit") or 0)
        for end, side in (("low", "Lower"), ("high", "Upper"))
        if isinstance(event, int)
    }
    return {
        "number": int(_get(handle, "number") or 0),
        "percentile": "" if percentile is None else int(percentile),
        "derived": "" if derived is None else _DERIVED.get(derived, f"kind {derived}"),
        "probability": _PROBABILITY.get(event, f"kind {event}").format(**ends) if ends else "",
    }


def _values(handle: Any) -> np.ndarray:
    from eccodes import codes_get_array, codes_set

    codes_set(handle, "missingValue", _MISSING)
    values = np.asarray(codes_get_array(handle, "values"))
    values = _arranged(handle, np.where(values > 0.9 * _MISSING, np.nan, values).astype("f4"))
    if _get(handle, "alternativeRowScanning"):  # every other row runs the other way; the positions do not
        lines = values.T if _get(handle, "jPointsAreConsecutive") else values
        lines[1::2] = lines[1::2, ::-1].copy()
    return values


def _arranged(handle: Any, values: np.ndarray) -> np.ndarray:
    """(Nj, Ni) values of a grid from the order in which it is scanned."""
    shape = _defined(handle, "Nj", "Ny"), _defined(handle, "Ni", "Nx")
    return values.reshape(shape, order="F" if _get(handle, "jPointsAreConsecutive") else "C")


def _positions(handle: Any, kind: str) -> Positions:
    from eccodes import codes_get_array

    latitude, longitude = (
        _arranged(handle, np.asarray(codes_get_array(handle, name))) for name in ("latitudes", "longitudes")
    )
    straight = np.allclose(latitude, latitude[:, :1]) and np.allclose(longitude, longitude[:1])
    return Positions(latitude, longitude, kind in _LINES and straight)


def _get(handle: Any, name: str, kind: type | None = None) -> Any:
    """The value of a key, None if the message has no such key or leaves it missing."""
    from eccodes import CodesInternalError, codes_get, codes_is_defined, codes_is_missing

    try:
        if not codes_is_defined(handle, name) or codes_is_missing(handle, name):
            return None
        return codes_get(handle, name, kind) if kind else codes_get(handle, name)
    except CodesInternalError:
        return None


def _defined(handle: Any, *names: str) -> int:
    """The value of the first key that a message has, 0 where it has none."""
    return int(next((result for name in names if (result := _get(handle, name)) is not None), 0))
