"""How the climate of a predicted daily series differs from that of the truth, with the diagnostics of CORDEX ML-Bench.

Means over pixels are not weighted by area, as there.
"""

import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float, Int

from deconditioning.errors import InputError
from deconditioning.fields.times import SEASONS
from deconditioning.verification.indices import Index, Kind, correlation, in_index_units, indices_of
from deconditioning.verification.series import Verified

if TYPE_CHECKING:
    import xarray as xr

#: Values of all times and predictions that are held at once.
_ROOM = 40_000_000
#: Values of all times from which the distance of all distributions is taken, at most.
_SAMPLE = 4_000_000
_TRUTH = "truth"


@dataclass(frozen=True)
class ClimateScore:
    """An index or a diagnostic of one prediction in one season; means over the pixels.

    Parameters
    ----------
    truth, predicted : the index; None for a diagnostic.
    bias, absolute_bias : mean of the differences prediction − truth, and of their sizes.
    ratio : mean of the ratios prediction / truth where the truth is not 0.
    value : RMSE, RALSD (dB), Wasserstein distances; None for an index.
    """

    prediction: str
    season: str
    score: str
    units: str
    truth: float | None = None
    predicted: float | None = None
    bias: float | None = None
    absolute_bias: float | None = None
    ratio: float | None = None
    value: float | None = None


@dataclass(frozen=True, eq=False)
class Days:
    """Year and month (T,) of each time of a daily series."""

    year: Int[np.ndarray, " t"]
    month: Int[np.ndarray, " t"]

    @classmethod
    def of(cls, times: "xr.DataArray") -> "Days":
        """Of a coordinate of dates, in any calendar; ``InputError`` if they are not one day apart."""
        try:
            year, month = times.dt.year.values, times.dt.month.values
            hours = (times[1:].values - times[:-1].values).astype("timedelta64[h]").astype(float)
        except (AttributeError, TypeError):
            raise InputError("Climate indices need dates: the series has a time axis without any.") from None
        if len(hours) == 0 or np.median(hours) != 24:
            found = f"every {np.median(hours):g} h" if len(hours) else "a single time"
            raise InputError(f"Climate indices need daily values, and the series has {found}: average it to days.")
        return cls(year, month)

    @property
    def seasons(self) -> dict[str, Bool[np.ndarray, " t"]]:
        """ "year" and the seasons that have days → whether each time is in it."""
        months = {"year": tuple(range(1, 13)), **SEASONS}
        there = {name: np.isin(self.month, chosen) for name, chosen in months.items()}
        return {name: days for name, days in there.items() if days.any()}


def climate_scores(series: Verified, days: Days, kind: Kind) -> list[ClimateScore]:
    """All indices and diagnostics of every prediction, and of its joint draws if there are any: indices of the draws
    are means over them. Seasons without days are left out.

    ``rmse``; ``ralsd``, ``(mean_r (10 log₁₀ P(r)/P̂(r))²)^½`` of power spectra averaged over rings of whole wavenumbers
    and over the days; ``wasserstein``, the distance between the distributions of all values, and
    ``wasserstein_pixel``, the mean over the pixels of that over the days. Source: CORDEX ML-Bench; Harris et al. 2022.
    """
    seasons, (_, units) = days.seasons, in_index_units(np.zeros(1), series.units, kind)
    sums = {name: _Season(indices_of(kind), days.year[there], units) for name, there in seasons.items()}
    for values, chosen in _blocks(series, _width(series), kind):
        for name, there in seasons.items():
            sums[name].add({key: each[:, there] for key, each in values.items()}, chosen)
    _add_spectra(series, kind, [(seasons[name], each) for name, each in sums.items()])
    return [score for name, each in sums.items() for score in each.scores(name)]


def correlation_scores(
    one: Verified, other: Verified, days: Days, names: tuple[str, str] = ("one", "other")
) -> list[ClimateScore]:
    """The correlation over time of two variables, predicted and true, by season: bias of each pixel as of an index.

    Only predictions of the same name in both are compared. Raises ``InputError`` for other times or pixels.
    """
    if len(one) != len(other) or one.area.shape != other.area.shape:
        raise InputError("The two predictions have different times or pixels: give two variables of one run.")
    seasons = days.seasons
    fields: dict[tuple[str, str], list[np.ndarray]] = {}
    wide = min(_width(one), _width(other))
    for (first, _), (second, _) in zip(_blocks(one, wide), _blocks(other, wide), strict=True):
        for name in [each for each in first if each in second]:
            for season, there in seasons.items():
                members = zip(first[name][:, there], second[name][:, there], strict=False)
                found = np.mean([correlation(a, b) for a, b in members], axis=0)
                fields.setdefault((season, name), []).append(found)
    score, result = f"correlation of {names[0]} and {names[1]}", []
    for (season, name), parts in fields.items():
        if name != _TRUTH and seasons[season].sum() > 1:
            truth = np.concatenate(fields[season, _TRUTH])
            result.append(_compared(name, season, score, "1", truth, np.concatenate(parts)))
    return result


class _Season:
    """What the days of a season add up to, some pixels after the others."""

    def __init__(self, indices: tuple[Index, ...], year: Int[np.ndarray, " s"], units: str) -> None:
        self.indices, self.year, self.units = indices, year, units
        self.fields: dict[str, dict[str, list[np.ndarray]]] = {}
        self.squares: dict[str, np.ndarray] = {}
        self.distances: dict[str, list[np.ndarray]] = {}
        self.sample: dict[str, list[np.ndarray]] = {}
        self.power: dict[str, np.ndarray] = {}

    def add(self, values: dict[str, np.ndarray], chosen: Int[np.ndarray, " c"]) -> None:
        """Count some pixels: values (M, S, n) by name, and which of the pixels are in the sample."""
        for name, members in values.items():
            rows = self.fields.setdefault(name, {})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # pixels without a value
                for index in self.indices:
                    each = np.mean([index.of(member, self.year) for member in members], axis=0)
                    rows.setdefault(index.name, []).append(each)
            self.sample.setdefault(name, []).append(members[..., chosen].ravel())
        truth = values.pop(_TRUTH)
        for name, members in values.items():
            error = (members - truth)[np.isfinite(members - truth)]
            self.squares[name] = self.squares.get(name, np.zeros(2)) + np.array([np.sum(error**2), error.size])
            self.distances.setdefault(name, []).append(_distances(truth[0], members))

    def scores(self, season: str) -> list[ClimateScore]:
        """Of every prediction, all its indices and diagnostics."""
        units = {index.name: index.units or self.units for index in self.indices}
        truth, result = {key: np.concatenate(parts) for key, parts in self.fields[_TRUTH].items()}, []
        for name, (total, count) in self.squares.items():
            for key, parts in self.fields[name].items():
                result.append(_compared(name, season, key, units[key], truth[key], np.concatenate(parts)))
            diagnostics = {
                "rmse": (float(np.sqrt(total / count)), self.units),
                "ralsd": (_ralsd(self.power[_TRUTH], self.power[name]), "dB"),
                "wasserstein": (_distance(self.sample[_TRUTH], self.sample[name]), self.units),
                "wasserstein_pixel": (float(np.nanmean(np.concatenate(self.distances[name]))), self.units),
            }
            result += [ClimateScore(name, season, key, unit, value=value) for key, (value, unit) in diagnostics.items()]
        return result


def _compared(
    name: str, season: str, score: str, units: str, truth: Float[np.ndarray, " n"], field: Float[np.ndarray, " n"]
) -> ClimateScore:
    both = np.isfinite(truth) & np.isfinite(field)
    if not both.any():
        return ClimateScore(name, season, score, units)
    true, mine = truth[both], field[both]
    ratios = mine[true != 0] / true[true != 0]
    return ClimateScore(
        name, season, score, units, float(true.mean()), float(mine.mean()), float((mine - true).mean()),
        float(np.abs(mine - true).mean()), float(ratios.mean()) if ratios.size else None,
    )  # fmt: skip


def _width(series: Verified) -> int:
    """How many pixels fit at once."""
    members = len(series.forecasts) + 1 + (0 if series.draws is None else len(series.draws(0)))
    return max(1, _ROOM // (len(series) * members))


def _blocks(
    series: Verified, wide: int, kind: Kind = "other"
) -> Iterator[tuple[dict[str, Float[np.ndarray, "m t n"]], Int[np.ndarray, " c"]]]:
    """Values of ``wide`` pixels after the others at all times: truth and predictions with one member, draws with D; and
    which of these pixels are in the sample for the distributions. In the units of the ``kind``'s indices.
    """
    size = series.area.size
    picked = np.random.default_rng(0).permutation(size)[: max(1, _SAMPLE // len(series))]
    for first in range(0, size, wide):
        part = slice(first, min(first + wide, size))
        rows: dict[str, list[np.ndarray]] = {}
        for time in range(len(series)):
            for name, field in _fields_at(series, time, kind).items():
                rows.setdefault(name, []).append(field.reshape(len(field), -1)[:, part])
        chosen = np.sort(picked[(picked >= part.start) & (picked < part.stop)]) - first
        yield {name: np.stack(each, axis=1) for name, each in rows.items()}, chosen


def _fields_at(series: Verified, time: int, kind: Kind) -> dict[str, Float[np.ndarray, "m h w"]]:
    """Truth, predictions and draws of a time, by name, in the units of the ``kind``'s indices."""
    fields = {_TRUTH: np.asarray(series.truth[time], dtype=float)[None]}
    fields |= {name: each.at(time)[0][None] for name, each in series.forecasts.items()}
    if series.draws is not None:
        fields[series.draws_name] = np.asarray(series.draws(time), dtype=float)
    return {name: in_index_units(each, series.units, kind)[0] for name, each in fields.items()}


def _add_spectra(series: Verified, kind: Kind, seasons: list[tuple[Bool[np.ndarray, " t"], _Season]]) -> None:
    """Add the power by whole wavenumbers to the season of each day, averaged over members; missing values are 0."""
    rows, columns = np.indices(series.area.shape)
    centre = [(size - 1) / 2 for size in series.area.shape]
    ring = np.hypot(rows - centre[0], columns - centre[1]).astype(int).ravel()
    count = np.maximum(np.bincount(ring), 1)
    for time in range(len(series)):
        for name, fields in _fields_at(series, time, kind).items():
            power = np.abs(np.fft.fftshift(np.fft.fft2(np.nan_to_num(fields)), axes=(-2, -1))) ** 2
            rings = np.bincount(ring, power.mean(axis=0).ravel()) / count
            for there, sums in seasons:
                if there[time]:
                    sums.power[name] = sums.power.get(name, np.zeros(len(count))) + rings


def _ralsd(truth: Float[np.ndarray, " r"], predicted: Float[np.ndarray, " r"]) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = 10 * np.log10(truth / predicted)
    return float(np.sqrt(np.mean(ratio[np.isfinite(ratio)] ** 2)))


def _distances(truth: Float[np.ndarray, "s n"], members: Float[np.ndarray, "m s n"]) -> Float[np.ndarray, " n"]:
    """Wasserstein distance of each pixel's values over time, a mean over the members; NaN where a value is missing."""
    ordered = np.sort(truth, axis=0)
    return np.mean([np.abs(np.sort(member, axis=0) - ordered).mean(axis=0) for member in members], axis=0)


def _distance(truth: list[np.ndarray], predicted: list[np.ndarray]) -> float:
    """Wasserstein distance between the distributions of all values of the sample."""
    from scipy.stats import wasserstein_distance

    one, other = (np.concatenate(each) for each in (truth, predicted))
    return float(wasserstein_distance(one[np.isfinite(one)], other[np.isfinite(other)]))


def as_rows(scores: list[ClimateScore]) -> list[dict[str, Any]]:
    """Tidy: one row a score."""
    return [asdict(each) for each in scores]
