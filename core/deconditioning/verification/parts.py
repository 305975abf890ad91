"""Scores of parts of the times and pixels: by year, month, hour, altitude, and of land and sea."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float, Int

from deconditioning.verification.scores import SeriesScores
from deconditioning.verification.series import Verified

#: Where a date as text has its year, month and hour.
_OF_DATES = {"year": slice(0, 4), "month": slice(5, 7), "hour": slice(11, 16)}
#: Bands of altitude of equal area.
_BANDS = 4


@dataclass(frozen=True, eq=False)
class Parts:
    """Parts of times or pixels: their ``names`` in order, and the number of that of each time or pixel, −1 for none."""

    names: tuple[str, ...]
    number: Int[np.ndarray, "*n"]


@dataclass(frozen=True)
class PartScore:
    """RMSE and CRPS of one prediction in a part of the times or pixels, weighted by area.

    ``by`` is "year", "month", "hour", "surface" or "altitude"; ``share`` is that of all scored values, by area.
    """

    prediction: str
    by: str
    part: str
    share: float
    rmse: float
    crps: float


def _parts_of_times(dates: Sequence[str]) -> dict[str, Parts]:
    """ "year", "month" and "hour" → the parts of the times; only those that differ and recur."""
    result = {}
    for by, where in _OF_DATES.items():
        names, number = np.unique([date[where] for date in dates], return_inverse=True)
        if 1 < len(names) <= len(dates) / 2:
            result[by] = Parts(tuple(map(str, names)), number)
    return result


def _parts_of_pixels(series: Verified) -> dict[str, Parts]:
    """ "surface" and "altitude" → the parts of the pixels (H, W); only those that are known and differ.

    Land is where its share is at least a half. Bands of altitude have about equal areas, and ends of two significant
    digits; they are of land alone where the share of land is known.
    """
    result, there = {}, np.ones(series.area.shape, dtype=bool)
    if series.land is not None:
        there = series.land >= 0.5
        result["surface"] = Parts(("land", "sea"), np.where(np.isfinite(series.land), 1 - there, -1))
    if series.altitude is not None:
        result["altitude"] = _bands(series.altitude, there & np.isfinite(series.altitude), series.area)
    return {by: each for by, each in result.items() if len(np.unique(each.number[each.number >= 0])) > 1}


def _bands(altitude: Float[np.ndarray, "h w"], there: Bool[np.ndarray, "h w"], area: Float[np.ndarray, "h w"]) -> Parts:
    """Bands of the altitudes that are ``there``."""
    if not there.any() or np.ptp(altitude[there]) == 0:
        return Parts((), np.full(altitude.shape, -1))
    levels = np.arange(1, _BANDS) / _BANDS
    ends = np.quantile(altitude[there], levels, weights=area[there], method="inverted_cdf")
    ends = np.unique([float(f"{end:.2g}") for end in ends if end > altitude[there].min()] or [altitude[there].max()])
    middle = (f"{low:g} to {high:g} m" for low, high in pairwise(ends))
    names = (f"below {ends[0]:g} m", *middle, f"from {ends[-1]:g} m")
    return Parts(names, np.where(there, np.searchsorted(ends, altitude, side="right"), -1))


def scores_by_part(
    series: Verified, scores: Mapping[str, SeriesScores], weight: Float[np.ndarray, " t"]
) -> tuple[PartScore, ...]:
    """The scores of every prediction in each part; ``weight`` (T,) is the scored area of each time."""
    of_times, of_pixels = _parts_of_times(series.dates), _parts_of_pixels(series)
    result: list[PartScore] = []
    for name, each in scores.items():
        for by, parts in of_times.items():
            result += _averages(name, by, parts, weight, each.mse, each.crps)
        for by, parts in of_pixels.items():
            result += _averages(name, by, parts, series.area * each.count, each.maps["rmse"] ** 2, each.maps["crps"])
    return tuple(result)


def _averages(
    name: str, by: str, parts: Parts, weight: np.ndarray, squares: np.ndarray, crps: np.ndarray
) -> Iterator[PartScore]:
    """The scores of every part of which anything is scored."""
    for number, part in enumerate(parts.names):
        here = (parts.number == number) & (weight > 0)
        if here.any():
            rmse, mean = (float(np.average(each[here], weights=weight[here])) for each in (squares, crps))
            yield PartScore(name, by, part, float(weight[here].sum() / weight.sum()), rmse**0.5, mean)
