"""Climate indices of daily series at every pixel, with the definitions of CORDEX ML-Bench.

https://github.com/WCRP-CORDEX/ml-benchmark (evaluation). Temperatures are in K, precipitation is in mm a day. An index
"of the year" is computed for each calendar year and averaged over the years; where a season is chosen, only its days
count, December among those of its own calendar year.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from deconditioning.errors import InputError
from deconditioning.fields.units import convert, is_temperature, read_unit

Kind = Literal["temperature", "precipitation", "other"]
#: K above which a day is a summer day, K below which a day has frost, mm from which a day is wet.
_SUMMER, _FROST, _WET = 300.0, 273.15, 1.0
_SECONDS_A_DAY = 86400.0
#: Units of water by area that are mm of depth, with the factor to mm a day.
_OF_AREA = {"gram / meter ** 2": 1.0, "gram / meter ** 2 / second": _SECONDS_A_DAY}

#: Values (T, n) and the years (T,) of their days → the index (n,).
Of = Callable[[Float[np.ndarray, "t n"], Int[np.ndarray, " t"]], Float[np.ndarray, " n"]]


@dataclass(frozen=True)
class Index:
    """An index: what it means, its units ("" for those of the variable), how it is computed."""

    name: str
    long_name: str
    units: str
    of: Of


def kind_of(units: str, names: str) -> Kind:
    """Whether values in these units are temperatures or precipitation, by its ``names`` (standard, long and short)."""
    if is_temperature(units):
        return "temperature"
    words = ("precipitation", "rainfall", "rain")
    wet = any(word in names.lower() for word in words) or bool({"pr", "tp"} & set(names.lower().split()))
    return "precipitation" if wet and read_unit(units) is not None else "other"


def in_index_units(values: np.ndarray, units: str, kind: Kind) -> tuple[np.ndarray, str]:
    """Values in K or mm a day, unchanged for other kinds, and their units.

    Raises ``InputError`` for precipitation in units that are neither a depth nor a mass by area, for a day or a second.
    """
    if kind == "temperature":
        return convert(values, units, "K", "the series")[0], "K"
    if kind == "other":
        return values, units
    unit = read_unit(units)
    assert unit is not None
    if unit.quantity in _OF_AREA:
        kilograms = "kg m-2" + (" s-1" if unit.quantity.endswith("second") else "")
        return _OF_AREA[unit.quantity] * convert(values, units, kilograms, "the series")[0], "mm"
    if unit.quantity in ("meter", "meter / second"):
        wanted = "mm" if unit.quantity == "meter" else "mm day-1"
        return convert(values, units, wanted, "the series")[0], "mm"
    raise InputError(f"Precipitation in {units} has no amount a day: give mm, mm day-1, kg m-2 or kg m-2 s-1.")


def indices_of(kind: Kind) -> tuple[Index, ...]:
    """The indices of a kind of variable."""
    every = (Index("mean", "mean", "", lambda z, _: np.nanmean(z, axis=0)), *map(_quantile, (0.02, 0.98)))
    persistence = (
        Index("lag1", "correlation with the day before", "1", lambda z, _: lag1(z)),
        Index("interannual_sd", "standard deviation of the annual means", "", interannual_sd),
    )
    warm = (
        Index("summer_days", f"days above {_SUMMER:g} K a year", "d", _count(lambda z: z > _SUMMER)),
        Index("frost_days", f"days below {_FROST:g} K a year", "d", _count(lambda z: z < _FROST)),
        Index("txx", "maximum of the year", "", _extreme(np.nanmax)),
        Index("txn", "minimum of the year", "", _extreme(np.nanmin)),
    )
    wet = (
        Index("rx1day", "largest amount of a day in the year", "", _extreme(np.nanmax)),
        Index("sdii", f"mean of the days of at least {_WET:g} mm", "", lambda z, _: _wet_mean(z)),
        Index("wet_days", f"share of the days of at least {_WET:g} mm", "1", lambda z, _: _wet_share(z)),
        Index("cdd", f"longest spell of days below {_WET:g} mm in the year", "d", _spell(lambda z: z < _WET)),
        Index("cwd", f"longest spell of days of at least {_WET:g} mm in the year", "d", _spell(lambda z: z >= _WET)),
    )
    special: dict[Kind, tuple[Index, ...]] = {"temperature": warm, "precipitation": wet, "other": ()}
    return (*every, *special[kind], *persistence)


def longest(condition: Bool[np.ndarray, "t n"]) -> Float[np.ndarray, " n"]:
    """Length of the longest run of true values."""
    run, best = np.zeros(condition.shape[1:]), np.zeros(condition.shape[1:])
    for row in condition:
        run = np.where(row, run + 1, 0.0)
        best = np.maximum(best, run)
    return best


def lag1(values: Float[np.ndarray, "t n"]) -> Float[np.ndarray, " n"]:
    """Correlation of each value with the one before, over the pairs that are known."""
    return correlation(values[1:], values[:-1])


def correlation(one: Float[np.ndarray, "t n"], other: Float[np.ndarray, "t n"]) -> Float[np.ndarray, " n"]:
    """Correlation over the first axis, of the pairs that are known; NaN where either is constant."""
    known = np.isfinite(one) & np.isfinite(other)
    a, b = np.where(known, one, np.nan), np.where(known, other, np.nan)
    a, b = a - np.nanmean(a, axis=0), b - np.nanmean(b, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nanmean(a * b, axis=0) / np.sqrt(np.nanmean(a**2, axis=0) * np.nanmean(b**2, axis=0))


def interannual_sd(values: Float[np.ndarray, "t n"], year: Int[np.ndarray, " t"]) -> Float[np.ndarray, " n"]:
    """Standard deviation of the annual means, over their number."""
    return np.nanstd([np.nanmean(values[year == each], axis=0) for each in np.unique(year)], axis=0)


def _quantile(level: float) -> Index:
    name = f"{100 * level:.0f} % quantile"
    return Index(f"q{100 * level:02.0f}", name, "", lambda z, _: quantile(z, level))


def quantile(values: Float[np.ndarray, "t n"], level: float) -> Float[np.ndarray, " n"]:
    """Quantile over the first axis of the values that are known, linear between order statistics."""
    ordered, last = np.sort(values, axis=0), np.isfinite(values).sum(axis=0) - 1  # missing values come last
    at = level * np.maximum(last, 0)
    below = np.floor(at).astype(int)
    above = np.minimum(below + 1, np.maximum(last, 0))
    low, high = (np.take_along_axis(ordered, each[None], axis=0)[0] for each in (below, above))
    return low + (at - below) * (high - low)


def _yearly(of_year: Callable[[np.ndarray], np.ndarray]) -> Of:
    """The mean over the years of what is computed from the days of each."""

    def of(values: Float[np.ndarray, "t n"], year: Int[np.ndarray, " t"]) -> Float[np.ndarray, " n"]:
        return np.nanmean([of_year(values[year == each]) for each in np.unique(year)], axis=0)

    return of


def _extreme(reduce: Callable[..., np.ndarray]) -> Of:
    return _yearly(lambda z: reduce(z, axis=0))


def _count(condition: Callable[[np.ndarray], np.ndarray]) -> Of:
    return _yearly(lambda z: condition(z).sum(axis=0).astype(float))


def _spell(condition: Callable[[np.ndarray], np.ndarray]) -> Of:
    return _yearly(lambda z: longest(condition(z)))


def _wet_mean(values: Float[np.ndarray, "t n"]) -> Float[np.ndarray, " n"]:
    return np.nanmean(np.where(values >= _WET, values, np.nan), axis=0)


def _wet_share(values: Float[np.ndarray, "t n"]) -> Float[np.ndarray, " n"]:
    return np.nanmean(np.where(np.isfinite(values), values >= _WET, np.nan), axis=0)
