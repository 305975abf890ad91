"""Guesses which variable of a file to downscale and which are its covariates, from standard names, units and names."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.problem.static_fields import ALTITUDES, NAMES
from deconditioning.fields.selecting import is_dated
from deconditioning.fields.units import convert

if TYPE_CHECKING:
    from deconditioning.fields.gridded import Fields, Variable

_T = TypeVar("_T")
_MOST_COVARIATES = 4
#: Covariates explain at least this share of the target's variance inside cells; copies are those above the other.
_LEAST_SHARE, _SAME = 0.02, 0.995
#: Only so many variables, and a window of so many rows and columns, are compared with the target.
_MOST_VARIABLES, _WINDOW = 24, 1024
#: Masks of land are covariates although their values are codes.
_LAND = {"land_binary_mask", "lsm", "landmask", "land_mask"}
#: Static fields that describe the grid, or are codes and angles, and make no covariate by themselves.
_NO_COVARIATES = {"cell_area", "areacella", "areacello", "latitude", "longitude", "lat", "lon", "xlat", "xlong",
                  "xlat_m", "xlong_m", "grid_latitude", "grid_longitude", "soil_type", "soiltype", "aspect", "region",
                  "basin", "forecast_reference_time"}  # fmt: skip
#: Variables that describe another one: its error, its quality, the number of its observations.
_ABOUT_OTHERS = re.compile(
    r"\b(uncertainty|error|stderr|flags?|quality|qc|counts?|number of|nobs|bounds|bnds|std|stdev|standard deviation"
    r"|variance|mask)\b"
)
_TEMPERATURE = re.compile(r"\btemperature\b|^(ta|tas|tasmin|tasmax|tair|t2m?|t 2m|t|temp|tmp|tmin|tmax|tmean)\b")
#: Temperatures that are rarely the one to downscale where there is another.
_OTHER_TEMPERATURE = re.compile(r"\b(dew|dewpoint|d2m|td2|soil|stl\d|tslb|brightness|wet bulb)\b")
_NEAR_SURFACE = re.compile(r"\b(air temperature|2 ?m|2 met(re|er)|t2m?|tas|tasmin|tasmax|near surface)\b")
_WEATHER = re.compile(r"\b(precipitation|rainfall|rain|wind|humidity|radiation|radiative|pressure|salinity|tp|pr)\b")


@dataclass(frozen=True)
class Guess(Generic[_T]):
    """A value, and in half a sentence why it was guessed."""

    value: _T
    reason: str


def guess_target(fields: "Fields") -> Guess[str]:
    """The variable that looks most like a near-surface air temperature, else like another quantity of the weather, else
    the first that may change with time.

    Errors: `InputError` if no numeric field lies on the grid.
    """
    return target_candidates(fields)[0]


def target_candidates(fields: "Fields") -> list[Guess[str]]:
    """All variables, those that look most like a target first."""
    variables = fields.variables()
    if not variables:
        raise InputError("The file has no numeric field on a horizontal grid: choose a file with one.")
    names = sorted(variables, key=lambda each: -target_rank(fields, each))
    return [Guess(name, _why_target(fields, variables[name], len(variables))) for name in names]


def target_rank(fields: "Fields", name: str) -> int:
    """How much a variable looks like one to downscale; negative for what describes the grid or another variable."""
    variable = fields.check(name)
    words = _words(variable)
    if _names(variable) & _NO_COVARIATES or "flag_values" in fields.attributes(name) or _ABOUT_OTHERS.search(words):
        return -3
    if _static_reason(fields, name):
        return -2
    rank = 2 * _is_temperature(variable.units)
    if (rank and _TEMPERATURE.search(words)) or "temperature" in words:
        rank += 4 if _OTHER_TEMPERATURE.search(words) else 6
        return rank + bool(_NEAR_SURFACE.search(words))
    return rank + bool(_WEATHER.search(words))


def _is_temperature(units: str) -> bool:
    """Whether units are those of a temperature."""
    try:
        convert(np.zeros(1), units, "K", "")
    except InputError:
        return False
    return bool(units)


def _words(variable: "Variable") -> str:
    """Name, long name and standard name as lower-case words."""
    return f"{variable.name} {variable.long_name} {variable.standard_name}".lower().replace("_", " ").replace("-", " ")


def _names(variable: "Variable") -> set[str]:
    return {variable.name.lower(), variable.standard_name.lower()}


def _why_target(fields: "Fields", variable: "Variable", count: int) -> str:
    called = variable.long_name if variable.long_name != variable.name else ""
    if variable.standard_name:
        first = f"standard_name {variable.standard_name}"
    elif called and _TEMPERATURE.search(_words(variable)):
        first = f"long_name “{called}”"
    elif _is_temperature(variable.units):
        first = f"a temperature, in {variable.units}"
    else:
        first = "the only field" if count == 1 else f"the first of {count} fields that may be downscaled"
    times = [len(labels) for labels in variable.extra.values() if is_dated(labels)]
    return first + (f", varies in time ({times[0]} times)" if times and times[0] > 1 else "")


def _static_reason(fields: "Fields", name: str) -> str:
    """Why a field counts as one that does not change with time; empty if it may change.

    Known by name, without a date where other fields have several, geopotential at the ground, or the same at the first,
    the middle and the last time.
    """
    variable = fields.check(name)
    if fields.is_static(name):
        return "does not change with time"
    dated = [dim for dim, labels in variable.extra.items() if _has_dates(labels)]
    if not variable.extra and any(
        any(map(_has_dates, other.extra.values())) for key, other in fields.variables().items() if key != name
    ):
        return "has no time, where other fields have several"
    known = _names(variable) & (ALTITUDES | set(NAMES) | _LAND)
    cheap = not fields.lazy and fields.at(name)[0] is fields
    if dated and (known or cheap) and _stays(fields, name, dated[0], len(variable.extra[dated[0]])):
        return "is the same at all times"
    ground = "geopotential" in _names(variable) or (variable.name == "z" and "geopotential" in _words(variable))
    if ground and not dated and not _has_level(fields, variable):
        return "is the geopotential of the ground"
    return ""


def _has_dates(labels: tuple[str, ...]) -> bool:
    return len(labels) > 1 and is_dated(labels)


def _has_level(fields: "Fields", variable: "Variable") -> bool:
    """Whether a field lies on a level: a further dimension without dates, or a height or pressure as one number."""
    levels = [dim for dim, labels in variable.extra.items() if not is_dated(labels)]
    holder = fields.at(variable.name)[0]
    scalars = [
        coordinate for coordinate in holder.dataset[variable.name].coords.values()
        if coordinate.ndim == 0 and coordinate.dtype.kind in "fiu" and {"axis", "positive"} & set(coordinate.attrs)
    ]  # fmt: skip
    return bool(levels or scalars)


def _stays(fields: "Fields", name: str, dim: str, count: int) -> bool:
    """Whether the first, the middle and the last time hold the same values."""
    try:
        first, *others = (fields.values(name, {f"{name}:{dim}": index}) for index in (0, count // 2, count - 1))
    except InputError:
        return False
    return all(np.array_equal(first, other, equal_nan=True) for other in others)


def static_covariates(fields: "Fields", target: str = "") -> list[Guess[str]]:
    """Fields on the grid that do not change with time, such as the height of the ground.

    Cell areas, positions and codes (soil types, aspects) are left out, and fields that are constant or missing on half
    of the grid. Heights come first; four in all.
    """
    variables, result = fields.variables(), []
    for name, variable in variables.items():
        codes = "flag_values" in fields.attributes(name) and not _names(variable) & _LAND
        if name == target or codes or _names(variable) & _NO_COVARIATES or not (why := _static_reason(fields, name)):
            continue
        values = values_or_gap(fields, name, fields.grid.shape)
        there = values[np.isfinite(values)]
        if there.size > values.size / 2 and np.ptp(there) > 0:
            result.append(Guess(name, why))
    return sorted(result, key=lambda guess: _rank(variables[guess.value]))[:_MOST_COVARIATES]


def _rank(variable: "Variable") -> int:
    """Heights of the ground first, then masks of land."""
    height = _names(variable) & ALTITUDES or variable.name == "z"
    return 0 if height else 1 if _names(variable) & _LAND else 2


def guess_covariates(fields: "Fields", target: str, block: int, select: Mapping[str, int | str]) -> list[Guess[str]]:
    """Covariates for a target of the same file: the fields that do not change with time, then those that correlate most
    with the target inside blocks of ``block`` pixels; four in all.

    The squared correlation is above 0.02; copies of the target or of each other (above 0.995 in size) are left out.
    """
    result = static_covariates(fields, target)
    if len(result) == _MOST_COVARIATES:
        return result
    goal = _within(fields.values(target, select)[:_WINDOW, :_WINDOW], block)
    variables = fields.variables()
    others = [
        name for name, each in variables.items()
        if name != target and not _names(each) & _NO_COVARIATES and not _ABOUT_OTHERS.search(_words(each))
    ]  # fmt: skip
    shape = fields.grid.shape
    anomaly = {
        name: _within(values_or_gap(fields, name, shape, select)[:_WINDOW, :_WINDOW], block)
        for name in others[:_MOST_VARIABLES]
    }
    strength = {name: _correlation(goal, each) for name, each in anomaly.items()}
    known = {guess.value for guess in result}
    for name in sorted(anomaly.keys() - known, key=lambda n: (-round(abs(strength[n]), 3), others.index(n))):
        others_chosen = [anomaly[guess.value] for guess in result if guess.value in anomaly]
        copy = any(abs(_correlation(anomaly[name], each)) > _SAME for each in others_chosen)
        if _LEAST_SHARE < strength[name] ** 2 <= _SAME**2 and not copy and len(result) < _MOST_COVARIATES:
            result.append(Guess(name, f"correlates with the target inside cells, r = {strength[name]:.2f}"))
    return result


def declared_error(fields: "Fields", target: str) -> str | None:
    """The field that its standard name makes the standard error of a target (CF conventions, appendix C)."""
    variables = fields.variables()
    expected = f"{variables[target].standard_name} standard_error".strip()
    return next((name for name, each in variables.items() if name != target and each.standard_name == expected), None)


def values_or_gap(
    fields: "Fields", name: str, shape: tuple[int, ...], select: Mapping[str, int | str] | None = None
) -> np.ndarray:
    """Values of a field; all missing where the field has none at that time and level."""
    try:
        return fields.values(name, select or {})
    except InputError:
        return np.full(shape, np.nan)


def _within(values: np.ndarray, block: int) -> np.ndarray:
    """Anomalies of (H, W) values from their block means, flat; NaN where a block holds a gap."""
    rows, columns = values.shape[0] // block, values.shape[1] // block
    cells = values[: rows * block, : columns * block].reshape(rows, block, columns, block)
    return (cells - cells.mean(axis=(1, 3), keepdims=True)).ravel()


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Correlation of anomalies over the points where both are there; 0 where one is constant."""
    there = np.isfinite(a) & np.isfinite(b)
    a, b = a[there], b[there]
    scale = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / scale) if scale > 0 else 0.0
