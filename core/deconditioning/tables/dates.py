"""Columns of text as dates: ISO 8601, day.month.year, slashes either way round, and a clock in a column of its own."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import numpy as np

from deconditioning.fields.times import MONTHS

_CLOCK = r"(?:[T ,]+\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp][Mm])?)?(?: ?(?:Z|UTC|[+-]\d{2}:?\d{2}))?"
#: Pattern of a date before its clock, and the orders of year, month, day (Y, m, d, b for a month's name) it may have.
_FORMS = (
    (r"\d{4}-\d{1,2}-\d{1,2}", ("%Y-%m-%d",)),
    (r"\d{4}/\d{1,2}/\d{1,2}", ("%Y/%m/%d",)),
    (r"\d{4}\.\d{1,2}\.\d{1,2}", ("%Y.%m.%d",)),
    (r"\d{1,2}\.\d{1,2}\.\d{4}", ("%d.%m.%Y",)),
    (r"\d{1,2}\.\d{1,2}\.\d{2}", ("%d.%m.%y",)),
    (r"\d{1,2}/\d{1,2}/\d{4}", ("%d/%m/%Y", "%m/%d/%Y")),
    (r"\d{1,2}/\d{1,2}/\d{2}", ("%d/%m/%y", "%m/%d/%y")),
    (r"\d{1,2}-\d{1,2}-\d{4}", ("%d-%m-%Y", "%m-%d-%Y")),
    (r"\d{1,2}-[A-Za-z]{3}-\d{4}", ("%d-%b-%Y",)),
    (r"\d{1,2} [A-Za-z]{3} \d{4}", ("%d %b %Y",)),
    (r"\d{4}-\d{2}", ("%Y-%m",)),
    (r"\d{2}\.\d{4}", ("%m.%Y",)),
)
#: Forms of whole numbers that are dates where a column's name says so, by their digits, and what they give.
_COMPACT = {
    6: {"%Y%m": "year and month", "%y%m%d": "year, month and day", "%d%m%y": "day, month and year"},
    8: {"%Y%m%d": "a day"}, 10: {"%Y%m%d%H": "an hour"}, 12: {"%Y%m%d%H%M": "a minute"},
    14: {"%Y%m%d%H%M%S": "a second"},
}  # fmt: skip
_NAMED = re.compile(r"date|datum|time|zeit|day|tag|fecha|jour|epoch|unix", re.IGNORECASE)
#: Unix times, in seconds, of 2001 to 2039: smaller ones count from other dates as well.
_UNIX = (1e9, 2.2e9)
#: Names of columns of hours, and of hours and minutes, in small letters.
_ZONE = r"(?:_(?:utc|gmt|ut|lst|local|mez|cet))?"
_HOUR = re.compile(rf"(?:\w+_)?(?:hour|hours|hr|hrs|hh|stunde|heure|hora){_ZONE}")
_HHMM = re.compile(rf"(?:\w+_)?(?:hhmm|hrmn|hrmin|time|zeit|uhrzeit|clock){_ZONE}")
#: Names of columns of parts of dates, and the least and the greatest that each may be.
_PARTS = {
    "year": re.compile(r"year|yr|yyyy|jahr|annee|année|ano|año|anno"),
    "month": re.compile(r"month|mon|mo|mm|monat|mois|mes|mese"),
    "day": re.compile(r"day|dd|dom|mday|day_of_month|tag|jour|dia|día|giorno"),
    "doy": re.compile(r"doy|jday|yday|julian_day|day_of_year|dayofyear"),
    "hour": _HOUR,
    "hhmm": re.compile(rf"(?:\w+_)?(?:hhmm|hrmn|hrmin){_ZONE}"),
    "minute": re.compile(r"minute|minutes|mi|mn"),
}
_LIMITS = {
    "year": (1600, 2300),
    "month": (1, 12),
    "day": (1, 31),
    "doy": (1, 366),
    "hour": (0, 2400),
    "minute": (0, 59),
}
_HOURS = 24
_CLOCK_ALONE = re.compile(r"\d{1,2}:\d{2}(:\d{2})?(?:\s*[AaPp]\.?[Mm]\.?)?")


def dates_of(text: Any) -> tuple[np.ndarray | None, str]:
    """Tidy cells as ``datetime64[s]`` (NaT where missing) where all are dates of one form, and what is unsure about it.

    Where day and month can be either way round, the order that gives evenly spaced steps is taken, with a word; where
    both or none do, the column stays words, with a word.
    """
    filled = text[text != ""]
    if not len(filled):
        return None, ""
    for pattern, orders in _FORMS:
        if not filled.str.fullmatch(pattern + _CLOCK).all():
            continue
        result = [dates for order in orders if (dates := _parsed(text, order)) is not None]
        if orders[0].endswith("%y") and any(_crosses_today(dates) for dates in result):
            return (
                None,
                f"dates such as {filled.iloc[0]} may be of either century and are kept as text: write 2003-04-05",
            )
        words = _on_centuries(result[0]) if result and orders[0].endswith("%y") else ""
        if len(result) < 2:
            return (result[0], words) if result else (None, "")
        even = [dates for dates in result if _is_even(dates)]
        if len(even) == 1:
            order = "day before month" if even[0] is result[0] else "month before day"
            evenly = f"dates such as {filled.iloc[0]} are read with the {order}, which makes the steps even"
            return even[0], f"{evenly}; {words}" if words else evenly
        first = filled.iloc[0]
        return None, f"dates such as {first} may have day or month first and are kept as text: write 2003-04-05"
    return None, ""


def _parsed(text: Any, order: str) -> np.ndarray | None:
    import pandas as pd

    plain = text.str.replace(r"[T ,]+(?=\d{1,2}:\d{2})", " ", regex=True).str.replace(",", ".", regex=False)
    clock = plain.str.extract(r" (\d{1,2}:\d{2}.*)$")[0].fillna("")
    zone = clock.str.contains(r"(?:Z|UTC|[+-]\d{2}:?\d{2})$").any()
    day = pd.to_datetime(plain.str.replace(r" \d{1,2}:\d{2}.*$", "", regex=True), format=order, errors="coerce")
    if (day.isna() & (text != "")).any():
        return None
    result = day.astype("datetime64[s]").to_numpy().astype("datetime64[s]")
    if order.endswith("%y"):
        result = _in_the_past(result)
    if (clock == "").all():
        return result
    full = "1970-01-01 " + clock.where(clock != "", "00:00").str.strip()
    at = pd.to_datetime(full, format="mixed", errors="coerce", utc=bool(zone))
    if at.isna().any():
        return None
    if zone:
        at = at.dt.tz_localize(None)
    return result + at.to_numpy().astype("datetime64[s]").astype(np.int64).astype("timedelta64[s]")


def _is_even(dates: np.ndarray) -> bool:
    """Whether steps go one way and most are the same, in time or from first of a month to first of a month."""
    known = dates[~np.isnat(dates)]
    steps = np.diff(known).astype(np.int64)
    months = known.astype("datetime64[M]")
    if len(steps) and (known.astype("datetime64[D]") == months.astype("datetime64[D]")).all():
        steps = np.diff(months).astype(np.int64)
    if not len(steps) or not (steps.min() > 0 or steps.max() < 0):
        return False
    return bool((steps == np.median(steps)).mean() > 0.5)


def dates_of_numbers(name: str, values: np.ndarray) -> tuple[np.ndarray | None, str]:
    """Whole numbers as dates where a column's name says that it holds some, and a word where the form is a guess.

    20030405, 2003040512 and longer ones by their digits; 200304 as year and month or a day, whichever makes the steps
    even; 1049500800 as Unix time, in seconds or milliseconds since 1970.
    """
    import pandas as pd

    if not _NAMED.search(name) or not len(values) or not (np.isfinite(values) & (values == np.floor(values))).all():
        return None, ""
    least, greatest = values.min(), values.max()
    digits = {len(str(int(value))) for value in (least, greatest)}
    forms = _COMPACT.get(digits.pop(), {}) if len(digits) == 1 else {}
    text, read = pd.Series(values.astype(np.int64).astype(str)), {}
    for form, meaning in forms.items():
        dates = pd.to_datetime(text, format=form, errors="coerce")
        if dates.notna().all() and 1600 < dates.dt.year.min() and dates.dt.year.max() < 2300:
            read[meaning] = dates.to_numpy().astype("datetime64[s]")
    if len(read) > 1:
        read = {meaning: dates for meaning, dates in read.items() if _is_even(np.unique(dates))} or read
    such = f"numbers such as {int(values[0])}"
    if len(read) > 1:
        return None, f"{such} may be {' or '.join(read)} and are kept as numbers: write 2003-04 or 2003-04-05"
    for meaning, dates in read.items():
        return dates, f"{such} are read as {meaning}" if len(forms) > 1 else ""
    for factor, unit in ((1, "seconds"), (1000, "milliseconds")):
        if factor * _UNIX[0] <= least and greatest < factor * _UNIX[1]:
            dates = (values // factor).astype(np.int64).astype("datetime64[s]")
            return dates, f"{such} are read as Unix time, {unit} since 1970-01-01"
    return None, ""


def clock_of(text: Any) -> np.ndarray | None:
    """Times of day, ``06:30``, ``06:30:15`` or ``6:30 PM``, as ``timedelta64[s]``; None if a cell is not one."""
    if not len(text) or not text.str.fullmatch(_CLOCK_ALONE).all():
        return None
    half = text.str.lower().str.extract(r"([ap])\.?m\.?$")[0].fillna("")
    parts = (
        text.str.replace(r"[^\d:]", "", regex=True).str.split(":", expand=True).fillna(0).to_numpy().astype(np.int64)
    )
    parts = np.hstack([parts, np.zeros((len(parts), 3 - parts.shape[1]), np.int64)])
    halved = (half != "").to_numpy()
    if parts[:, 0].max() > _HOURS or parts[:, 1:].max() > 59 or (parts[halved, 0] > 12).any():
        return None
    parts[:, 0] = np.where(halved, parts[:, 0] % 12 + 12 * (half == "p").to_numpy(), parts[:, 0])
    return (parts @ np.array([3600, 60, 1])).astype("timedelta64[s]")


def clock_of_numbers(name: str, values: np.ndarray) -> tuple[np.ndarray | None, str]:
    """Hours (6, 18.5), hours and minutes (630, 1830), or these and seconds (63000) as ``timedelta64[s]`` where a
    column's name says that it holds some, and which; None if it does not.

    24 is midnight at the day's end; NaN is no time.
    """
    name = _small(name)
    known = values[np.isfinite(values)]
    if not known.size or known.min() < 0 or not (_HOUR.fullmatch(name) or _HHMM.fullmatch(name)):
        return None, ""
    whole, minutes = bool((known == np.floor(known)).all()), known % 100
    if known.max() <= _HOURS and "mm" not in name and "mn" not in name:
        return _seconds(values * 3600), "hours"
    if whole and known.max() <= 100 * _HOURS and minutes.max() < 60:
        return _seconds(values // 100 * 3600 + values % 100 * 60), "hours and minutes (HHMM)"
    if whole and known.max() <= 10_000 * _HOURS and max(minutes.max(), (known // 100 % 100).max()) < 60:
        seconds = values // 10_000 * 3600 + values // 100 % 100 * 60 + values % 100
        return _seconds(seconds), "hours, minutes and seconds (HHMMSS)"
    return None, ""


def dates_of_parts(columns: Mapping[str, np.ndarray]) -> tuple[str, np.ndarray | None]:
    """Names of columns of years, and of months, days (of the month or the year), hours and minutes, and the dates
    (N,) that they make, NaT where a part is missing; None without years or where the parts make no date."""
    parts: dict[str, str] = {}
    for name, values in columns.items():
        part = next((part for part, known in _PARTS.items() if known.fullmatch(_small(name))), None)
        values = _months(values) if part == "month" else values
        if part and values.dtype.kind == "f":
            parts.setdefault(part, name)
    numbers = {part: np.asarray(_months(columns[name]) if part == "month" else columns[name], dtype=float)
               for part, name in parts.items()}  # fmt: skip
    if "year" not in parts or ("day" in parts and "month" not in parts):
        return "", None
    missing = ~np.logical_and.reduce([np.isfinite(values) for values in numbers.values()])
    whole = {part: np.where(missing, 1970 if part == "year" else 1, values) for part, values in numbers.items()}
    for part, (least, most) in _LIMITS.items():
        if part in whole and ((whole[part] < least) | (whole[part] > most) | (whole[part] % 1 > 0)).any():
            return "", None
    result = (whole["year"].astype(int) - 1970).astype("datetime64[Y]").astype("datetime64[M]")
    result = (result + (whole.get("month", np.ones(1)).astype(int) - 1)).astype("datetime64[D]")
    result = result + (whole.get("day", whole.get("doy", np.ones(1))).astype(int) - 1)
    clock, zero = whole.get("hhmm", np.zeros(1)), np.zeros(1)
    hours, minutes = whole.get("hour", zero) + clock // 100, whole.get("minute", zero) + clock % 100
    seconds = _seconds(3600 * hours + 60 * minutes)
    return ", ".join(parts.values()), np.where(missing, np.datetime64("NaT"), result.astype("datetime64[s]") + seconds)


def _months(values: np.ndarray) -> np.ndarray:
    """Numbers of months (N,) in place of English names, NaN for an empty cell; other words as they are."""
    if values.dtype.kind in "fM":
        return values
    short = [str(value).strip()[:3].lower() for value in values]
    known = {each[:3].lower(): float(number) for number, each in enumerate(MONTHS, 1)} | {"": np.nan}
    return np.array([known[each] for each in short]) if set(short) <= set(known) else values


def _small(name: str) -> str:
    """A column's name in small letters, without units behind it."""
    return re.sub(r"[\s-]+", "_", re.sub(r"\s*[\[(].*$", "", name.strip().lower()))


def _seconds(values: np.ndarray) -> np.ndarray:
    """Seconds as ``timedelta64[s]``, NaT for NaN."""
    there = np.isfinite(values)
    return np.where(there, np.where(there, np.round(values), 0).astype("timedelta64[s]"), np.timedelta64("NaT"))


def _in_the_past(dates: np.ndarray) -> np.ndarray:
    """Dates whose years had two digits, in the hundred years that end with this one."""
    years = dates.astype("datetime64[Y]").astype(int) + 1970
    now = datetime.now(tz=UTC).year
    shift = np.where(years > now, -100, np.where(years <= now - 100, 100, 0))
    start = years.astype("datetime64[Y]") - 1970
    moved = (start + shift).astype("datetime64[s]") + (dates - start.astype("datetime64[s]"))
    return np.where(np.isnat(dates) | (shift == 0), dates, moved)


def _crosses_today(dates: np.ndarray) -> bool:
    """Whether years of two digits, read as past, break a run of years between this one and the next."""
    years = set((dates[~np.isnat(dates)].astype("datetime64[Y]").astype(int) + 1970).tolist())
    now = datetime.now(tz=UTC).year
    return now in years and now - 99 in years


def _on_centuries(dates: np.ndarray) -> str:
    years = dates[~np.isnat(dates)].astype("datetime64[Y]").astype(int) + 1970
    return f"years of two digits are read as {years.min()} to {years.max()}"
