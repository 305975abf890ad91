"""Units: spellings that mean the same, and the conversions that need no thought."""

import numpy as np

from core.errors import InputError

_SPELLINGS = {
    "kelvin": "K",
    "degk": "K",
    "celsius": "degC",
    "degc": "degC",
    "deg c": "degC",
    "°c": "degC",
    "c": "degC",
    "degrees c": "degC",
    "degrees celsius": "degC",
    "degree celsius": "degC",
    "degree_celsius": "degC",
    "degrees_celsius": "degC",
    "fahrenheit": "degF",
    "degf": "degF",
    "°f": "degF",
    "pascal": "Pa",
    "pascals": "Pa",
    "millibar": "hPa",
    "millibars": "hPa",
    "mbar": "hPa",
    "mb": "hPa",
    "metre": "m",
    "metres": "m",
    "meter": "m",
    "meters": "m",
    "gpm": "m",
    "percent": "%",
    "fraction": "1",
    "(0 - 1)": "1",
    "0-1": "1",
    "-": "1",
    "none": "1",
    "dimensionless": "1",
    "kg/kg": "1",
    "kg kg-1": "1",
    "g kg-1": "g/kg",
    "m/s": "m s-1",
    "km/h": "km h-1",
    "kg/m2": "kg m-2",
    "mm": "mm",
    "w/m2": "W m-2",
}
# unit: (dimension, factor, offset), value in the base unit = factor · value + offset
_BASE = {
    "K": ("temperature", 1.0, 0.0),
    "degC": ("temperature", 1.0, 273.15),
    "degF": ("temperature", 5.0 / 9.0, 459.67 * 5.0 / 9.0),
    "Pa": ("pressure", 1.0, 0.0),
    "hPa": ("pressure", 100.0, 0.0),
    "kPa": ("pressure", 1000.0, 0.0),
    "m": ("length", 1.0, 0.0),
    "km": ("length", 1000.0, 0.0),
    "cm": ("length", 0.01, 0.0),
    "mm": ("length", 0.001, 0.0),
    "ft": ("length", 0.3048, 0.0),
    "1": ("fraction", 1.0, 0.0),
    "%": ("fraction", 0.01, 0.0),
    "g/kg": ("fraction", 0.001, 0.0),
    "m s-1": ("speed", 1.0, 0.0),
    "km h-1": ("speed", 1.0 / 3.6, 0.0),
}


def normal(units: str) -> str:
    """One spelling of a unit: ``m s**-1``, ``m.s-1`` and ``m s^-1`` are ``m s-1``."""
    plain = " ".join(units.replace("**", "").replace("^", "").replace(".", " ").split())
    if plain in _BASE:
        return plain
    folded = plain.lower()
    return _SPELLINGS.get(folded, next((u for u in _BASE if u.lower() == folded and len(u) > 1), plain))


def is_temperature(units: str) -> bool:
    """Whether the unit measures temperature."""
    return _BASE.get(normal(units), ("",))[0] == "temperature"


def convert(values: np.ndarray, have: str, want: str, name: str) -> tuple[np.ndarray, str | None]:
    """Values in the wanted unit and a sentence if they were changed or a unit is unknown.

    Raises ``InputError`` where the units of one variable in two files are different quantities.
    """
    source, target = normal(have), normal(want)
    if source == target:
        return values, None
    if not source or not target:
        known = target or source
        return values, f"`{name}` has units {known} in one file and none in the other; they are taken to be the same."
    if source in _BASE and target in _BASE and _BASE[source][0] == _BASE[target][0]:
        (_, factor, offset), (_, factor_to, offset_to) = _BASE[source], _BASE[target]
        changed = (factor * values + offset - offset_to) / factor_to
        return changed, f"`{name}` is converted from {have} to {want}, the units of the other file."
    raise InputError(
        f"`{name}` has units {have!r} in one file and {want!r} in the other, which cannot be converted: "
        "give it in the same units in both."
    )
