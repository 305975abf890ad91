"""Columns of text as latitudes and longitudes: degrees, minutes and seconds, and letters for the side of the Earth."""

import re

import numpy as np

from deconditioning.fields.units import Side
from deconditioning.tables.cells import MISSING

_UNITS = (
    (re.compile(r"(?<=\d)\s*(?:degrees|degree|deg|d|º|˚)\.?\s*", re.IGNORECASE), "°"),
    (re.compile(r"(?<=\d)\s*(?:minutes|minute|min|m|′|’|´)\.?\s*", re.IGNORECASE), "'"),
    (re.compile(r"(?<=\d)\s*(?:seconds|second|sec|″|”|''|′′)\.?\s*", re.IGNORECASE), '"'),
    (re.compile(r"(?<='\d\d)s(?=\s*[NSEW]?$)"), '"'),
)
_NUMBER = r"\d{1,3}(?:\.\d*)?"
_ANGLE = re.compile(
    rf"([NSEW])?\s*([-+])?\s*({_NUMBER})(?:\s*[°:\s-]\s*(?:({_NUMBER})\s*(?:[':\s-]\s*(?:({_NUMBER})\s*\"?)?)?)?)?\s*([NSEW])?",
    re.IGNORECASE,
)


def angles_of(values: np.ndarray, side: Side) -> np.ndarray | None:
    """Degrees north or east (N,) of cells such as ``52°30'15"N``, ``-4 15 30``, ``N52 30.5`` or ``4.25W``, NaN where a
    cell is missing; None if a cell is not an angle or on another side.

    degrees + minutes / 60 + seconds / 3600, negative with a minus, S or W.
    """
    result = np.full(len(values), np.nan)
    for row, cell in enumerate(values.astype(np.str_)):
        text = str(cell).strip().replace("\u2212", "-")
        if text.lower() in MISSING:
            continue
        degrees = _degrees(text, "NS" if side == "y" else "EW")
        if degrees is None:
            return None
        result[row] = degrees
    return result


def _degrees(text: str, letters: str) -> float | None:
    """One angle; None if the text is not one."""
    text = text if "." in text else text.replace(",", ".")
    for unit, sign in _UNITS:
        text = unit.sub(sign, text)
    match = _ANGLE.fullmatch(text.strip())
    if match is None:
        return None
    before, minus, degrees, minutes, seconds, after = match.groups()
    letter = (before or after or "").upper()
    if (before and after) or (letter and letter not in letters) or (letter and minus):
        return None
    parts = [float(part or 0) for part in (degrees, minutes, seconds)]
    fractions = [part for part in (degrees, minutes) if part and "." in part]
    if max(parts[1:]) >= 60 or (minutes and "." in degrees) or (seconds and fractions):
        return None
    size = parts[0] + parts[1] / 60 + parts[2] / 3600
    return -size if minus == "-" or letter in ("S", "W") else size
