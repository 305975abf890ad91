"""Units of fields and axes, parsed by pint with the registry of cf-xarray, which knows most spellings of UDUNITS.

Spellings in files that the registry misreads or does not know are in ``_SPELLINGS``. A number may precede the unit
(``1000 meter``). Units come from untrusted files: only names with small powers reach the parser, which would compute
``9**9**9``.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from deconditioning.errors import InputError

#: Spellings in lower case, and what the registry calls them.
_SPELLINGS = {
    **dict.fromkeys(("c", "°c", "degc", "deg c", "deg_c", "degree c", "degrees c"), "degC"),
    **dict.fromkeys(("degree celsius", "degrees celsius", "degrees_celsius", "deg celsius"), "degC"),
    **dict.fromkeys(("f", "°f", "degf", "deg f", "degree f", "degrees f", "degrees fahrenheit"), "degF"),
    **dict.fromkeys(("degk", "deg k", "degrees k", "degree k", "degrees kelvin"), "K"),
    **dict.fromkeys(("mb", "mbar", "mbars"), "hPa"),
    **{"pa": "Pa", "hpa": "hPa", "kpa": "kPa", "w/m2": "W m-2", "w m-2": "W m-2"},
    **dict.fromkeys(("fraction", "(0 - 1)", "(0-1)", "0 - 1", "0-1", "-", "none", "unitless", "ratio"), "1"),
    **{"ppmv": "ppm", "ppb": "1e-9", "ppbv": "1e-9", "gpdm": "10 m"},
    **dict.fromkeys(("decimal degrees", "decimal degree", "decimal_degrees", "degree_true", "degrees_true"), "degree"),
    **dict.fromkeys(("ft_us", "ftus", "foot_survey_us", "us survey feet"), "survey_foot"),
    **dict.fromkeys(("us_survey_foot", "us survey foot", "foot_us", "us-ft", "us_survey_feet"), "survey_foot"),
}
#: What else describes heights: above which level they are.
_ABOVE = re.compile(
    r"\s+(a\.?m?\.?s\.?l\.?|msl|a\.?g\.?l\.?|above (mean )?sea level|above ground( level)?)$", re.IGNORECASE
)
_NUMBER = re.compile(
    r"(?:10(?:\^|\*\*)?([-+]\d{1,2})|10(?:\^|\*\*)(\d{1,2})|([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d{1,2})?))(?![\d.])"
)
_FACTOR = r"(?:°?[^\W\d]+|[°%])(?:(?:\^|\*\*)?[-+]?\d{1,2})?"
_SHAPE = re.compile(rf"[\s*/.(]*{_FACTOR}(?:[\s*/.()]+{_FACTOR})*[\s)]*")
_LONGEST = 60
_TYPESET = str.maketrans("−⁻⁰¹²³⁴⁵⁶⁷⁸⁹·", "--0123456789 ")
#: Degrees that say from where they count, and units that need no look into the registry.
_COMPASS = re.compile(
    r"(?!(?:degrees|Degrees|DEGREES|degs)$)"  # in which no s stands for the south
    r"(?i:(?:deg(?:ree)?s?[ _]?|°)(?:(n|north|lat|latitude)|(s|south)|(e|east|lon|long|longitude)|(w|west)))"
)
_PLAIN = {"degree": ("degree", "degrees", "deg"), "meter": ("m", "metre", "metres", "meter", "meters")}

Side = Literal["y", "x"]


@dataclass(frozen=True)
class Unit:
    """``number`` times a unit of the registry; ``quantity`` is the product of base units that tells what it measures,
    with angles apart from pure numbers."""

    number: float
    unit: Any
    quantity: str

    def convert(self, values: Any, to: "Unit") -> Any:
        """Values in another unit of the same quantity."""
        return _registry().Quantity(values * self.number, self.unit).to(to.unit).magnitude / to.number


@cache
def _registry() -> Any:
    from cf_xarray.units import units  # takes a second

    return units


@cache
def read_unit(text: str) -> Unit | None:
    """The unit that a text means; None if it means none that is known."""
    text = _ABOVE.sub("", " ".join(text.translate(_TYPESET).split()))
    text = _SPELLINGS.get(text.lower(), text)
    number, rest = 1.0, text
    if ahead := _NUMBER.match(text):
        power = ahead[1] or ahead[2]
        number, rest = 10.0 ** int(power) if power else float(ahead[3]), text[ahead.end() :].lstrip(" *")
    if len(text) > _LONGEST or not 0 < abs(number) < np.inf or not (not rest or _SHAPE.fullmatch(rest)):
        return None
    rest = f"1{rest}" if rest.startswith("/") else _SPELLINGS.get(rest.lower(), rest)
    for spelling in dict.fromkeys((rest, rest.lower())):
        try:
            unit = _registry().parse_units(spelling)
            return Unit(number, unit, str(_registry().get_root_units(unit)[1]))
        except Exception:  # whatever a parser makes of a stranger's text
            continue
    return None


def compass(units: str) -> tuple[Side, int] | None:
    """What degrees from north, south, east or west lie along, and their sign; None of other units."""
    result = _COMPASS.fullmatch(units.strip())
    if result is None:
        return None
    return "y" if result[1] or result[2] else "x", -1 if result[2] or result[4] else 1


def factor(units: str, base: Literal["degree", "meter"]) -> float | None:
    """What a value in some units is multiplied by to be in degrees or metres; None if it is no angle, no length."""
    plain = units.strip().lower()
    if plain in _PLAIN[base] or (base == "degree" and compass(units)):
        return 1.0
    return factor_between(units, base)


def factor_between(have: str, want: str) -> float | None:
    """What a difference in some units is multiplied by to be in others; None if they are unknown or not alike."""
    source, target = read_unit(have), read_unit(want)
    if source is None or target is None or source.quantity != target.quantity:
        return None
    return float(source.convert(1.0, target) - source.convert(0.0, target))


def is_plain_number(units: str) -> bool:
    """Whether units are missing, or those of a pure number: ``""``, ``"1"``."""
    plain = units.strip().lower()
    if plain in ("", "1"):
        return True
    if plain in (*_PLAIN["degree"], *_PLAIN["meter"]):
        return False
    unit = read_unit(units)
    return unit is not None and unit.quantity == "dimensionless" and unit.number == 1


def may_be_place(units: str) -> bool:
    """Whether a coordinate may have such units: an angle, a length, none, or one that is not known."""
    plain = units.strip().lower()
    if plain in ("", *_PLAIN["degree"], *_PLAIN["meter"]) or compass(units):
        return True
    unit = read_unit(units)
    return unit is None or unit.quantity in ("radian", "meter", "dimensionless")


def is_temperature(units: str) -> bool:
    """Whether the unit measures temperature."""
    unit = read_unit(units)
    return unit is not None and unit.quantity == "kelvin"


def convert(values: np.ndarray, have: str, want: str, name: str) -> tuple[np.ndarray, str | None]:
    """Values in the wanted unit and a sentence if they were changed or a unit is unknown.

    Raises ``InputError`` if the units of one variable in two files are different quantities.
    """
    if " ".join(have.split()) == " ".join(want.split()):
        return values, None
    if not have.strip() or not want.strip():
        known = want.strip() or have.strip()
        return values, f"`{name}` has units {known} in one file and none in the other; they are assumed to be the same."
    source, target = read_unit(have), read_unit(want)
    if source is not None and source == target:
        return values, None
    if source is not None and target is not None and source.quantity == target.quantity:
        changed = source.convert(values, target)
        return changed, f"`{name}` is converted from {have} to {want}, the units of the other file."
    unknown = [text for text, unit in ((have, source), (want, target)) if unit is None]
    why = f"and {unknown[0]!r} is not a known unit" if unknown else "which measure different things"
    raise InputError(
        f"`{name}` has units {have!r} in one file and {want!r} in the other, {why}: give it in the same units in both."
    )


def convert_errors(values: np.ndarray, have: str, want: str, name: str) -> np.ndarray:
    """Standard deviations in the wanted unit, which an offset of scales such as °C does not change; as `convert`."""
    return convert(values, have, want, name)[0] - convert(np.zeros(1), have, want, name)[0]
