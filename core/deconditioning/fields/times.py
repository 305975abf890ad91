"""Dates of every calendar: unusual encodings in files, words, and numbers.

CF conventions, section 4.4.1 (calendar). Dates of calendars that numpy does not know are ``cftime.datetime`` objects.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import xarray as xr

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip
#: Season → its months.
SEASONS = {"DJF": (12, 1, 2), "MAM": (3, 4, 5), "JJA": (6, 7, 8), "SON": (9, 10, 11)}
#: A date as CDO writes it into numbers, 20010714.25, by its units.
_AS_NUMBER = re.compile(r"days? as %Y%m%d(\.%f)?")
_MONTHS = re.compile(r"months? since (\d{1,4})-(\d{1,2})-(\d{1,2})(?:[T ]+(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.0*)?)?)?"
                     r"(?: ?(?:Z|UTC|GMT))?", re.IGNORECASE)  # fmt: skip
#: Dates since the year 0, by which COARDS and old files mark a climatology, and the calendars without such a year.
_YEAR_ZERO = re.compile(r"[a-z]+ since 0{1,4}-\d{1,2}-\d{1,2}\b.*", re.IGNORECASE)
_WITHOUT_ZERO = ("", "standard", "gregorian", "julian")
_SINCE = re.compile(r"\s*([a-z_]+)\s+since\s+(.*?)\s*", re.IGNORECASE | re.DOTALL)
#: Zones in letters that are not UTC, and first dates whose day and month may stand either way round.
_ZONE = re.compile(r"\d\s*(?!UTC|GMT|UT|Z)([A-Z]{3,4})$")
_EITHER = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-]\d{4}(?!\d)")
#: Calendars as files spell them otherwise.
_CALENDARS = {"gregorian_proleptic": "proleptic_gregorian", "365_days": "365_day", "366_days": "366_day",
              "360_days": "360_day", "360d": "360_day", "no_leap": "noleap"}  # fmt: skip
_WORDS = re.compile(r"(\d{4})-(\d\d)-(\d\d)[_T ](\d\d):(\d\d):(\d\d)")
_PARTS = ("year", "month", "day", "hour", "minute", "second", "microsecond")


def is_dates(values: np.ndarray) -> bool:
    """Whether an array holds dates of any calendar."""
    if values.dtype.kind == "M":
        return True
    first = next((v for v in values.flat if v is not None), None) if values.dtype.kind == "O" and values.size else None
    return hasattr(first, "calendar")


def text_of(date: Any) -> str:
    """``2001-02-30T06:00``: ISO 8601 to the minute, in the date's own calendar; "no date" where missing."""
    if isinstance(date, np.datetime64):
        return "no date" if np.isnat(date) else str(date.astype("datetime64[m]"))
    if not hasattr(date, "calendar"):
        return "no date"
    return f"{date.year:04d}-{date.month:02d}-{date.day:02d}T{date.hour:02d}:{date.minute:02d}"


def labels_of(dates: np.ndarray) -> list[str]:
    """``2001-02-30 06:00``, as lists show them; with seconds where minutes do not tell them apart."""
    labels = [text_of(date).replace("T", " ") for date in dates]
    if len(set(labels)) == len(labels) or dates.dtype.kind != "M":
        return labels
    fine = np.datetime_as_string(dates, unit="s")
    exact = [label if text == "NaT" else str(text).replace("T", " ") for label, text in zip(labels, fine, strict=True)]
    return exact if len(set(exact)) > len(set(labels)) else labels


def words_of(date: Any) -> str:
    """``30 February 2001, 06:00 UTC``; times are UTC, as CF has them."""
    if isinstance(date, np.datetime64):
        at = None if np.isnat(date) else date.astype("datetime64[m]").item()
        if at is not None and not isinstance(at, datetime):  # beyond the years that Python's dates know
            return f"{text_of(date).replace('T', ', ')} UTC"
        date = at
    if not hasattr(date, "month"):
        return "no date"
    return f"{date.day} {MONTHS[date.month - 1]} {date.year:04d}, {date.hour:02d}:{date.minute:02d} UTC"


def is_odd(attributes: Mapping[Any, Any]) -> bool:
    """Whether ``read_odd`` reads times with these attributes, which xarray does not."""
    units = str(attributes.get("units", "")).strip()
    months = units.lower().startswith(("month since", "months since"))
    calendar = str(attributes.get("calendar", "")).lower()
    zero = bool(_YEAR_ZERO.fullmatch(units)) and calendar in _WITHOUT_ZERO
    return bool(_AS_NUMBER.fullmatch(units)) or months or zero or calendar == "360"


def read_odd(dataset: "xr.Dataset") -> "xr.Dataset":
    """The dataset with dates in place of ``20010714.25``, of months since a date, of a climatology's times since the
    year 0, and of WRF's ``Times``.

    Numbers that make no date stay as they are.
    """
    import xarray as xr

    result = {}
    for name, variable in dataset.variables.items():
        dates = None
        if variable.dtype.kind in "fiu" and variable.ndim <= 1 and is_odd(variable.attrs):
            dates = dates_from_numbers(np.asarray(variable.values, dtype=float), variable.attrs)
        elif str(name) == "Times" and variable.ndim == 1 and variable.dtype.kind in "SOU":
            dates = _from_text(variable.values)
        if dates is not None:
            attributes = {key: value for key, value in variable.attrs.items() if key not in ("units", "calendar")}
            result[str(name)] = xr.Variable(variable.dims, dates, attributes)
    named = {}
    for name, variable in result.items():
        dim = str(variable.dims[0]) if variable.ndim else name
        free = name == "Times" and dim not in dataset.variables
        named[dim if free else name] = variable
    return dataset.drop_vars(list(result)).assign_coords(xr.Coordinates(named, indexes={})) if result else dataset


def dates_from_numbers(values: np.ndarray, attributes: Mapping[Any, Any]) -> np.ndarray | None:
    """Dates from numbers whose units xarray does not know (`is_odd`); None if they make none."""
    units = str(attributes["units"]).strip()
    try:
        if _AS_NUMBER.fullmatch(units):
            whole = np.floor(values + 1e-9)
            days = [f"{int(v) // 10000:04d}-{int(v) // 100 % 100:02d}-{int(v) % 100:02d}" for v in whole.flat]
            seconds = np.round((values - whole) * 86400).astype("timedelta64[s]")
            return np.array(days, dtype="datetime64[s]").reshape(values.shape) + seconds
        if str(attributes.get("calendar", "")) in ("360", "360_day"):
            import cftime

            return np.asarray(cftime.num2date(values, units, calendar="360_day"))
        return _months_since(values, units) if "month" in units.lower() else _since_zero(values, units)
    except (ValueError, OverflowError, IndexError, TypeError):
        return None


def _since_zero(values: np.ndarray, units: str) -> np.ndarray | None:
    """Dates of a climatology, in the years 0 and 1: those of later years depend on the calendar that was meant."""
    import cftime

    dates = np.asarray(cftime.num2date(values, units, calendar="proleptic_gregorian", has_year_zero=True))
    return dates if all(date.year in (0, 1) for date in dates.flat) else None


def _months_since(values: np.ndarray, units: str) -> np.ndarray | None:
    """Dates so many months after a first one: at its day and clock, or at the last day of a shorter month; a part of a
    month is that part of its days."""
    first = _MONTHS.fullmatch(units)
    if first is None:
        return None
    year, month, day, *clock = (int(part or 0) for part in first.groups())
    whole = np.floor(values)
    months = np.datetime64(f"{year:04d}-{month:02d}", "M") + whole.astype("timedelta64[M]")
    starts = months.astype("datetime64[D]")
    length = ((months + 1).astype("datetime64[D]") - starts).astype(int)
    seconds = clock[0] * 3600 + clock[1] * 60 + clock[2] + np.round((values - whole) * 30 * 86400)
    into = (np.minimum(day, length) - 1) * 86400 + seconds
    return starts.astype("datetime64[s]") + into.astype("timedelta64[s]")


def usual_spelling(attributes: Mapping[Any, Any]) -> dict[Any, Any]:
    """Attributes with units such as ``Days Since 2000-01-01``, and calendars, spelled as xarray knows them."""
    result = dict(attributes)
    if isinstance(units := result.get("units"), str) and (parts := _SINCE.fullmatch(units)):
        result["units"] = f"{parts[1].lower()} since {parts[2]}"
        calendar = str(result.get("calendar", "")).lower()
        result |= {"calendar": _CALENDARS[calendar]} if calendar in _CALENDARS else {}
    return result


def first_date_of(name: str, units: str) -> tuple[bool, str]:
    """Whether the first date of time's units can be read one way only, and a sentence where it cannot, or where its
    zone is not applied."""
    parts = _SINCE.fullmatch(units)
    date = "" if parts is None else parts[2]
    if (either := _EITHER.match(date)) and max(int(either[1]), int(either[2])) <= 12 and either[1] != either[2]:
        return False, (
            f"`{name}` counts since {date}, which may have day or month first: its raw numbers are used. Write the "
            "year first."
        )
    zone = _ZONE.search(date)
    return True, f"`{name}` counts since {date}: the zone {zone[1]} is not known and is read as UTC." if zone else ""


def period_notes(dataset: "xr.Dataset") -> list[str]:
    """A sentence for dates that stand at the end of the periods that their bounds give."""
    notes = []
    for name, dates in dataset.variables.items():
        bounds = dataset.variables.get({**dates.encoding, **dates.attrs}.get("bounds"))
        if bounds is None or dates.dtype.kind != "M" or bounds.dtype.kind != "M":
            continue
        if bounds.shape == (*dates.shape, 2) and dates.ndim == 1 and dates.size:
            ends, starts = bounds.values[:, 1], bounds.values[:, 0]
            if (dates.values == ends).all() and (starts < ends).all():
                notes.append(
                    f"`{name}` is the end of each period: the one that ends at {text_of(ends[0]).replace('T', ' ')} "
                    f"begins at {text_of(starts[0]).replace('T', ' ')}."
                )
    return notes


def _from_text(values: np.ndarray) -> np.ndarray | None:
    texts = [v.decode("ascii", "replace") if isinstance(v, bytes) else str(v) for v in values]
    if not texts or not all(_WORDS.fullmatch(text.strip()) for text in texts):
        return None
    try:
        return np.array([text.strip().replace("_", "T").replace(" ", "T") for text in texts], dtype="datetime64[s]")
    except ValueError:
        return None


def to_numbers(values: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
    """Dates of a ``cftime`` calendar as whole numbers (..., 7), zero where missing, and what the calendar is."""
    first = next(v for v in values.flat if hasattr(v, "calendar"))
    parts = [[getattr(v, part, 0) for part in _PARTS] for v in values.flat]
    kind = {"calendar": str(first.calendar), "year_zero": bool(first.has_year_zero)}
    return np.array(parts, dtype=np.int64).reshape(*values.shape, len(_PARTS)), kind


def from_numbers(parts: np.ndarray, kind: Mapping[Any, Any]) -> np.ndarray:
    """Dates from whole numbers ``parts`` (..., 7) and their calendar: the inverse of ``to_numbers``."""
    import cftime

    dates = np.empty(parts.shape[:-1], dtype=object)
    for at in np.ndindex(dates.shape):
        numbers = [int(number) for number in parts[at]]
        if numbers[1]:
            dates[at] = cftime.datetime(*numbers, calendar=kind["calendar"], has_year_zero=kind["year_zero"])
    return dates
