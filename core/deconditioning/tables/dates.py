"""Columns of text as dates: ISO 8601, day.month.year, slashes either way round, and a clock in a column of its own."""

import re
from typing import Any

import numpy as np

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
#: Whole numbers that are dates where a column's name says so, by their digits.
_COMPACT = {8: "%Y%m%d", 10: "%Y%m%d%H", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
_NAMED = re.compile(r"date|datum|time|zeit|day|tag|fecha|jour", re.IGNORECASE)
_CLOCK_ALONE = re.compile(r"\d{1,2}:\d{2}(:\d{2})?")


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
        if len(result) < 2:
            return (result[0], "") if result else (None, "")
        even = [dates for dates in result if _is_even(dates)]
        if len(even) == 1:
            order = "day before month" if even[0] is result[0] else "month before day"
            return even[0], f"dates such as {filled.iloc[0]} are read with the {order}, which makes the steps even"
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


def dates_of_numbers(name: str, values: np.ndarray) -> np.ndarray | None:
    """Whole numbers such as 20030405 or 2003040512 as dates where a column's name says that it holds some."""
    import pandas as pd

    if not _NAMED.search(name) or not len(values) or not (np.isfinite(values) & (values == np.floor(values))).all():
        return None
    digits = {len(str(int(value))) for value in (values.min(), values.max())}
    form = _COMPACT.get(digits.pop()) if len(digits) == 1 else None
    if form is None:
        return None
    text = pd.Series(values.astype(np.int64).astype(str))
    result = pd.to_datetime(text, format=form, errors="coerce")
    plausible = result.notna().all() and 1600 < result.dt.year.min() and result.dt.year.max() < 2300
    return result.to_numpy().astype("datetime64[s]") if plausible else None


def clock_of(text: Any) -> np.ndarray | None:
    """Times of day, ``06:30`` or ``06:30:15``, as ``timedelta64[s]``; None where a cell is none."""
    if not len(text) or not text.str.fullmatch(_CLOCK_ALONE).all():
        return None
    parts = text.str.split(":", expand=True).fillna(0).to_numpy().astype(np.int64)
    parts = np.hstack([parts, np.zeros((len(parts), 3 - parts.shape[1]), np.int64)])
    return (parts @ np.array([3600, 60, 1])).astype("timedelta64[s]")
