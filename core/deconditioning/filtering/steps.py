"""Rows of a table sorted by time, one for every step, with NaN in gaps."""

import re

import numpy as np

from deconditioning.errors import InputError
from deconditioning.tables.table import Table

#: The time column is to be found.
GUESSED = "(the column of times)"
#: Most steps for each row that is there, and how far a time may lie from its step, in steps.
_MOST_STEPS, _SLACK = 20, 0.25
_NAMES = re.compile(
    r"(time|timestamp|date|datetime|date_time|mess_datum|datum|zeit|zeitschritt|zeitpunkt|step|schritt|t|day|tag|hour|"
    r"stunde|year|jahr|month|monat|doy|index|nr\.?)([ ._(\[].*)?",
    re.IGNORECASE,
)


def time_column(table: Table, state_columns: list[str]) -> str | None:
    """The column of times: the one of dates, else one of numbers that is called so and goes one way; None without."""
    free = [name for name in table.columns if name not in state_columns]
    dates = [name for name in free if table.columns[name].dtype.kind == "M"]
    if dates:
        return dates[0]
    return next((n for n in free if n in table.numeric and _NAMES.fullmatch(n) and _one_way(table.columns[n])), None)


def _one_way(values: np.ndarray) -> bool:
    steps = np.diff(values)
    return len(steps) > 0 and bool((steps > 0).all() or (steps < 0).all())


def on_steps(values: np.ndarray, times: np.ndarray, name: str) -> tuple[np.ndarray, list[str]]:
    """Rows (N, k) in order of their times, one for every step of the usual length, NaN where there is none; sentences.

    A step of dates is so many seconds, or whole months. Raises ``InputError`` for a missing time, one that stands
    twice, and times that do not lie on steps of one length.
    """
    if times.dtype.kind not in "fM":
        raise InputError(f"Column '{name}' contains neither dates nor numbers: choose another time column, or none.")
    missing_time = np.isnat(times) if times.dtype.kind == "M" else ~np.isfinite(times)
    if missing_time.any():
        raise InputError(
            f"Column '{name}' has no time in row {int(missing_time.argmax()) + 1}: fill it in, or remove the row."
        )
    order, notes = np.argsort(times, kind="stable"), []
    if not np.array_equal(order, np.arange(len(times))):
        newest = np.array_equal(order, np.arange(len(times))[::-1])
        how = "newest first" if newest else "not in order of time"
        notes.append(f"Rows are {how}: they are sorted by '{name}'.")
    values, times = values[order], times[order]
    twice = np.flatnonzero(times[1:] == times[:-1])
    if len(twice):
        rows = sorted(int(row) + 1 for row in order[twice[0] : twice[0] + 2])
        raise InputError(
            f"'{name}' is {_text(times[twice[0]])} in rows {rows[0]} and {rows[1]}: keep one row per time, or "
            "choose no time column to use the rows in their order."
        )
    if len(times) < 3:
        return values, notes
    position, step = _places(times, name)
    if position[-1] + 1 > _MOST_STEPS * len(position):
        raise InputError(
            f"'{name}' has {len(position):,} rows for {int(position[-1]) + 1:,} steps of {step}: cut the series into "
            "parts without long gaps, or choose no time column."
        )
    missing = int(position[-1]) + 1 - len(position)
    if missing:
        longest = int(np.diff(position).max()) - 1
        notes.append(
            f"{missing:,} of {int(position[-1]) + 1:,} steps of {step} have no row, the longest gap is {longest:,}: "
            "the filter predicts these steps without updating."
        )
    result = np.full((int(position[-1]) + 1, values.shape[1]), np.nan)
    result[position] = values
    return result, notes


def _text(time: object) -> str:
    return str(time).replace("T", " ") if isinstance(time, np.datetime64) else f"{time:g}"


def _places(times: np.ndarray, name: str) -> tuple[np.ndarray, str]:
    """The step of every time, from 0, and the usual step in words."""
    ways = []
    if times.dtype.kind == "M":
        months = times.astype("datetime64[M]")
        within = (times - months).astype("timedelta64[s]").astype(np.int64)
        number = months.astype(np.int64).astype(float)
        same_place = np.ptp(within) <= 3 * 86400  # first, middle or last day of each month
        seconds = times.astype("datetime64[s]").astype(np.int64).astype(float)
        ways = [(seconds, _seconds)] + ([(number, _months)] if same_place and (np.diff(number) > 0).all() else [])
    else:
        ways = [(times.astype(float), lambda step: f"{step:g}")]
    for numbers, words in ways:
        steps = np.diff(numbers)
        usual = _usual(steps)
        exact = (numbers - numbers[0]) / usual
        position = np.round(exact).astype(np.int64)
        if np.abs(exact - position).max() <= _SLACK and (np.diff(position) > 0).all():
            return position, words(usual)
    off = int((np.abs(steps / usual - np.round(steps / usual)) > _SLACK).sum())
    raise InputError(
        f"The times of '{name}' are uneven: most are {ways[0][1](_usual(np.diff(ways[0][0])))} apart, but {off:,} of "
        f"{len(steps):,} gaps are not a multiple of this: interpolate to even steps, or choose no time column."
    )


def _usual(steps: np.ndarray) -> float:
    """The most frequent step, of equally frequent ones the smallest, to six digits."""
    rounded = np.array([float(f"{step:.6g}") for step in steps])
    values, counts = np.unique(rounded, return_counts=True)
    return float(values[counts.argmax()])


def _seconds(step: float) -> str:
    for size, word in ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second")):
        if step % size == 0 or size == 1:
            return f"{step / size:g} {word}{'s' * (step != size)}"
    return ""


def _months(step: float) -> str:
    size, word = (12, "year") if step % 12 == 0 else (1, "month")
    return f"{step / size:g} {word}{'s' * (step != size)}"
