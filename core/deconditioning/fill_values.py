"""Numbers that stand for missing values, in fields and tables alike: how they are found, and how a user names them.

A user names one as text: ``-999.9`` in every field or column, ``t=-999.9`` in one.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from deconditioning.errors import InputError

#: Default fill values and the largest numbers of the types.
LARGEST = (9.969209968386869e36, 1e33, 1e34, 1e35, 1e36, 1e37, 1e38, 3.4028234663852886e38, 1.7976931348623157e308)
#: The ends of whole numbers' types, and codes of archives that are no nines, eights or powers of ten.
_OTHERS = (32767, -32767, -32768, 65535, -2147483647, 2147483647, -2147483648, 6999, -6999, 7777, -7777)
#: A usual fill value that stands so often needs to lie less far from the others. Any other number must stand so often,
#: and farther from the others than these are apart.
_OFTEN = 10
#: Share of the others' range that a number, which is no usual fill value but stands alone in standing often, lies from
#: them; the share of all that it is at least; values that are looked at for it; and how far a stored number is from a
#: whole.
_APART, _SHARE, _LOOKED_AT, _WHOLE = 0.25, 0.02, 10_000, 1e-6
#: Relative distance below which two numbers are one: a double and the single that it was.
_SAME = 1e-7


@dataclass(frozen=True)
class FillValue:
    """A ``value`` that looks like a fill value and stands ``count`` times.

    ``sure``: it is written as fill values are, and lies farther from all other values than these from one another.
    """

    value: float
    count: int
    sure: bool

    @property
    def text(self) -> str:
        """The number as short as the single that it may have been: −99999.99, not −99999.9921875."""
        with np.errstate(over="ignore"):
            single = np.float32(self.value)
        text = str(single) if single == self.value else repr(float(self.value))
        return text.removesuffix(".0")


def find_fill_values(
    values: np.ndarray, good: np.ndarray | None = None, packing: tuple[float, float] = (1.0, 0.0)
) -> list[FillValue]:
    """What looks like fill values: numbers at an end of the ``good`` values, far from the others.

    ``values`` may have any shape and any numeric type; ``good`` (of the same shape) are those to look at, by default
    all finite ones. ``packing`` is the scale s and the offset o of values that were stored as (value − o) / s: a mark
    may have been scaled with the others.
    """
    good = np.isfinite(values) if good is None else good
    result: list[tuple[float, int]] = []
    for lowest in (True, False) * 3:  # some files have two fill values at one end
        mark = _end(values, good, lowest)
        if mark is None:
            break
        there = good & (values == mark)
        rest, count = good & ~there, int(np.count_nonzero(there))
        if rest.any() and _stands_apart(float(mark), count, values, rest, packing):
            result.append((float(mark), count))
            good = rest
    low, high = _range(values, good)
    return [FillValue(mark, count, _is_sure(mark, low, high)) for mark, count in result]


def _stands_apart(
    mark: float, count: int, values: np.ndarray, rest: np.ndarray, packing: tuple[float, float]
) -> bool:  # fmt: skip
    low, high = _range(values, rest)
    gap = min(abs(mark - low), abs(mark - high))
    often = count >= _OFTEN
    if (is_fill_value(mark) or _was_fill_value(mark, packing)) and gap > (0.1 if often else 0.5) * (high - low):
        return True
    if not often or gap <= _APART * (high - low) or not _varies(values[rest]):
        return False
    return gap > high - low or _is_alone(count, values[rest])


def _was_fill_value(value: float, packing: tuple[float, float]) -> bool:
    """Whether a value is a fill value that was scaled, such as −9999 · 0.01 + 45.46 = −54.53."""
    scale, offset = packing
    if not scale or (scale, offset) == (1.0, 0.0):
        return False
    stored = (value - offset) / scale
    whole = round(stored) if math.isfinite(stored) else 0
    return abs(stored - whole) < _WHOLE * max(1.0, abs(whole)) and is_fill_value(whole)


def _is_alone(count: int, others: np.ndarray) -> bool:
    """Whether a value stands so often that it is no measurement, while none of the ``others`` does."""
    some = others[:: max(1, others.size // _LOOKED_AT)]
    most = int(np.unique(some, return_counts=True)[1].max())
    return count > _SHARE * others.size and most / some.size < _SHARE / 2 and most * _OFTEN < count


def _is_sure(mark: float, low: float, high: float) -> bool:
    outside = min(abs(mark - low), abs(mark - high)) > high - low
    return outside and is_fill_value(mark) and not 0 < mark < 999


def _end(values: np.ndarray, good: np.ndarray, lowest: bool) -> Any:
    """The lowest or the highest of the good values; None if there is none."""
    if not good.any():
        return None
    kind = values.dtype
    least, most = (-np.inf, np.inf) if kind.kind == "f" else (int(np.iinfo(kind).min), int(np.iinfo(kind).max))
    return np.min(values, where=good, initial=most) if lowest else np.max(values, where=good, initial=least)


def _range(values: np.ndarray, good: np.ndarray) -> tuple[float, float]:
    low, high = (_end(values, good, lowest) for lowest in (True, False))
    return (np.nan, np.nan) if low is None else (float(low), float(high))


def _varies(values: np.ndarray) -> bool:
    """Whether values are measurements, and no mask or few classes."""
    return len(np.unique(values[:10_000])) >= _OFTEN


def is_fill_value(value: Any) -> bool:
    """Whether a number is one that files use for missing values: −99, 999.9, −9999.99, −8.88e8, 1e20, −32768, 9.97e36.

    Nines from 99 and eights from 888 on with or without a point, powers of ten from 1e10 on, ends of number types.
    """
    size = abs(float(value))
    if float(value) in _OTHERS or any(math.isclose(size, large, rel_tol=1e-6) for large in LARGEST):
        return True
    with np.errstate(over="ignore"):
        texts = (repr(float(value)), str(np.float32(value)))  # as a double, and as the single that it was
    for text in texts:
        digits, _, _ = text.lstrip("-").partition("e")
        figures = digits.replace(".", "").strip("0")
        if figures == "1" and size >= 1e10:
            return True
        if len(figures) >= 2 and set(figures) == {"9"} and size >= 99:
            return True
        if len(figures) >= 3 and set(figures) == {"8"} and size >= 888:
            return True
    return False


def checked_missing(marks: Any) -> tuple[str, ...]:
    """Marks as a user names them, each once: numbers, or texts ``VALUE`` or ``NAME=VALUE``; ``InputError`` else."""
    values = [marks] if isinstance(marks, str | int | float) else list(marks or ())
    result = []
    for each in values:
        name, equals, text = str(each).strip().rpartition("=")
        try:
            number = float(text.replace("\u2212", "-"))
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or (equals and not name.strip()):
            raise InputError(
                f"'{str(each)[:40]}' is not a marker of missing values: give a number, such as -999.9, or "
                "NAME=-999.9 for one variable."
            )
        result.append(f"{name.strip()}{equals}{FillValue(number, 0, True).text}")
    return tuple(dict.fromkeys(result))


def fill_values_of(missing: Collection[str], name: str) -> tuple[float, ...]:
    """The numbers that count as missing in the field or column ``name``."""
    split = (each.rpartition("=") for each in missing)
    return tuple(float(text) for which, _, text in split if which in ("", name))


def equals_fill_value(values: np.ndarray | float, mark: float) -> Any:
    """Where values (of any shape) are a mark, as doubles or as singles."""
    with np.errstate(invalid="ignore"):
        return np.abs(values - mark) <= _SAME * abs(mark)
