"""Scores of a predicted series: pooled over times, of each time, and of each pixel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from deconditioning.errors import InputError
from deconditioning.metrics.points import scored_points
from deconditioning.metrics.predictive import Predictive
from deconditioning.metrics.spectrum import LEAST, spectrum
from deconditioning.verification.series import Verified, cell_means

_LEVELS = {"coverage50": 0.5, "coverage90": 0.9, "coverage95": 0.95}
_BINS = 20
#: Groups of values by their sd, made of fine steps of its logarithm, eight for every factor of two.
_GROUPS, _STEPS, _PER_OCTAVE = 10, 1024, 8
#: Values of all times together from which quantiles are taken.
_SAMPLE = 500_000
_QUANTILES = {"q01": 0.01, "q05": 0.05, "q50": 0.5, "q95": 0.95, "q99": 0.99}
#: How many quantiles are compared one by one.
_LEVELS_COMPARED = 41


@dataclass(frozen=True, eq=False)
class SeriesScores:
    """Scores of one prediction.

    Parameters
    ----------
    pooled : score → value over all times and pixels, weighted by area.
    mse, crps : (T,) of each time; the CRPS of a prediction without sd is its absolute error.
    maps : score → (H, W) means over the times of ``bias``, ``rmse``, ``crps`` and ``coverage95``.
    pit : (20,) weighted shares of ``F(z)`` in equal bins; None without an sd.
    spread : (g, 3) for up to ten groups of about equal weight, from small sds to large ones: share of all values, rms
        of the sd, RMSE; both are equal where the sd is right. None without an sd.
    count : (H, W) times that are scored at each pixel.
    quantiles : (q, 3) level from 0.1 % to 99.9 %, quantile of all true values and of all predicted ones.
    power : (k, 3) wavenumber in cycles per pixel, power of the truth and of the prediction, means over the times; None
        for grids of less than eight pixels each way.
    """

    pooled: dict[str, float]
    mse: Float[np.ndarray, " t"]
    crps: Float[np.ndarray, " t"]
    maps: dict[str, Float[np.ndarray, "h w"]]
    pit: Float[np.ndarray, " b"] | None
    spread: Float[np.ndarray, "g 3"] | None
    count: Float[np.ndarray, "h w"]
    quantiles: Float[np.ndarray, "q 3"]
    power: Float[np.ndarray, "k 3"] | None


def series_scores(series: Verified) -> tuple[dict[str, SeriesScores], Float[np.ndarray, " t"]]:
    """The scores of every prediction, and the weight (T,) of each time, its scored area.

    rmse, bias, mae, pearson, crps, coverage50, coverage90, coverage95; ``spread_skill``, the rms of the sd over the
    RMSE, 1 is best; ``tendency``, the rms of the change from one time to the next over that of the truth;
    ``correlation_inside`` and ``variance_inside``, correlation and ratio of variances of deviations from the means of
    the coarse cells; ``ralsd``, ``(mean_k (10 log₁₀ P_z(k)/P_m(k))²)^½`` dB of spectra averaged over the times;
    ``q01`` … ``q99``, quantiles of all values less those of the truth; ``wasserstein``, the distance between both
    distributions. Raises ``InputError`` if no pixel has all values. Source: Harris et al. 2022 for ``ralsd``.
    """
    tallies = {name: _Tally(series, each.sd is not None) for name, each in series.forecasts.items()}
    weight = np.zeros(len(series))
    for time, (truth, weights, predictions) in enumerate(series.times()):
        weight[time] = weights.sum()
        if weight[time] > 0:
            for name, prediction in predictions.items():
                tallies[name].add(time, truth, weights, prediction)
    if not weight.any():
        raise InputError("Truth and predictions have no pixels in common, so there is nothing to score.")
    return {name: tally.result(weight) for name, tally in tallies.items()}, weight


class _Tally:
    """Sums over the times of one prediction."""

    def __init__(self, series: Verified, has_sd: bool) -> None:
        shape = series.area.shape
        self.has_sd, self.cells = has_sd, series.cells
        self.times: dict[str, np.ndarray] = {}
        self.maps = {name: np.zeros(shape) for name in ("weight", "bias", "mse", "crps", "coverage95")}
        self.moments = np.zeros(6)
        self.inside = np.zeros(3)
        self.changes = np.zeros(2)
        self.before: tuple[np.ndarray, np.ndarray] | None = None
        self.power: list[Any] = [0.0, 0.0]
        self.pit, self.spread = np.zeros(_BINS), np.zeros((_STEPS, 3))
        self.sample: list[np.ndarray] = []
        self.count = len(series)
        self.chosen = sampled_pixels(series)

    def add(self, time: int, truth: np.ndarray, weights: np.ndarray, prediction: Predictive) -> None:
        """Count one time: truth and weights (H, W), the weights with sum one over the pixels that are compared."""
        from scipy.special import ndtr, ndtri

        points = scored_points(truth=truth, predicted=prediction, weights=weights)
        error, predictive = points.mean - points.truth, points.predictive
        crps, score = predictive.crps(points.truth), predictive.score(points.truth)
        each = {"mse": error**2, "bias": error, "mae": np.abs(error), "crps": crps, "variance": predictive.sd**2}
        each |= {name: (np.abs(score) <= ndtri((1 + level) / 2)).astype(float) for name, level in _LEVELS.items()}
        for name, values in each.items():
            row = self.times.setdefault(name, np.zeros(self.count))
            row[time] = float(np.sum(points.weights * values))
            if name in self.maps:
                self.maps[name][points.there] += values
        self.maps["weight"][points.there] += 1
        mass = weights.sum()
        products = (points.mean, points.truth, points.mean**2, points.truth**2, points.mean * points.truth)
        self.moments += mass * np.array([1.0, *(float(np.sum(points.weights * each)) for each in products)])
        if self.has_sd:
            self.pit += mass * np.histogram(ndtr(score), _BINS, (0.0, 1.0), weights=points.weights)[0]
            step = _STEPS / 2 + _PER_OCTAVE * np.log2(np.maximum(predictive.sd, 1e-300))
            step = np.clip(step, 0, _STEPS - 1).astype(int)
            for column, values in enumerate((np.ones_like(error), predictive.sd**2, error**2)):
                self.spread[:, column] += mass * np.bincount(step, points.weights * values, _STEPS)
        self._add_fields(truth, weights, prediction.mean)

    def _add_fields(self, truth: np.ndarray, weights: np.ndarray, mean: np.ndarray) -> None:
        there = weights > 0
        pair = [np.where(there, field, np.nan) for field in (mean, truth)]
        if self.cells is not None:
            m, z = (field - cell_means(field, self.cells, weights) for field in pair)
            weights_there = weights * np.isfinite(m * z)
            m, z = np.nan_to_num(m), np.nan_to_num(z)
            self.inside += [np.sum(weights_there * m * z), np.sum(weights_there * m**2), np.sum(weights_there * z**2)]
        if self.before is not None:
            self.changes += [
                np.nansum(weights * (now - then) ** 2) for now, then in zip(pair, self.before, strict=True)
            ]
        self.before = (pair[0], pair[1])
        if min(mean.shape) >= LEAST:
            self.power = [total + spectrum(field).power for total, field in zip(self.power, pair, strict=True)]
        rows = np.stack([mean.flat[self.chosen], truth.flat[self.chosen], weights.flat[self.chosen]])
        self.sample.append(rows[:, rows[2] > 0])

    def result(self, weight: np.ndarray) -> SeriesScores:
        """The scores over all times, each with its ``weight`` (T,)."""
        pooled = {name: float(np.average(row, weights=weight)) for name, row in self.times.items()}
        variance, mse = pooled.pop("variance"), pooled.pop("mse")
        pooled = {"rmse": float(np.sqrt(mse)), **pooled}
        if self.has_sd:
            pooled["spread_skill"] = float(np.sqrt(variance / mse))
        else:
            pooled = {name: value for name, value in pooled.items() if not name.startswith("coverage")}
        m, z, mm, zz, mz = self.moments[1:] / self.moments[0]
        with np.errstate(invalid="ignore", divide="ignore"):
            pooled["pearson"] = float((mz - m * z) / np.sqrt((mm - m**2) * (zz - z**2)))
            product, predicted, true = self.inside
            if true > 0:
                pooled["correlation_inside"] = float(product / np.sqrt(predicted * true))
                pooled["variance_inside"] = float(predicted / true)
            if self.changes[1] > 0:
                pooled["tendency"] = float(np.sqrt(self.changes[0] / self.changes[1]))
        power = self._power(int(np.count_nonzero(weight)))
        if power is not None:
            pooled["ralsd"] = ralsd(power)
        quantiles, distances = self._distribution()
        pooled |= distances
        held = np.where(self.maps["weight"] > 0, self.maps["weight"], np.nan)
        maps = {name: values / held for name, values in self.maps.items() if name != "weight"}
        maps["rmse"] = np.sqrt(maps.pop("mse"))
        if not self.has_sd:
            del maps["coverage95"]
        pit = self.pit / self.pit.sum() if self.has_sd else None
        spread = _grouped(self.spread) if self.has_sd else None
        return SeriesScores(
            pooled, self.times["mse"], self.times["crps"], maps, pit, spread, self.maps["weight"], quantiles, power
        )

    def _power(self, times: int) -> Float[np.ndarray, "k 3"] | None:
        if not np.ndim(self.power[0]):
            return None
        mean, truth = self.power
        wavenumber = spectrum(np.zeros(self.maps["weight"].shape)).wavenumber
        return np.column_stack([wavenumber, truth / times, mean / times])

    def _distribution(self) -> tuple[Float[np.ndarray, "q 3"], dict[str, float]]:
        """Quantiles of truth and prediction, and how far both distributions are apart."""
        from scipy.stats import wasserstein_distance

        mean, truth, weights = np.concatenate(self.sample, axis=1)
        tails = compared_quantiles(truth, mean, weights, list(_QUANTILES.values()))
        result = {name: float(row[2] - row[1]) for name, row in zip(_QUANTILES, tails, strict=True)}
        result["wasserstein"] = float(wasserstein_distance(mean, truth, weights, weights))
        return compared_quantiles(truth, mean, weights), result


def sampled_pixels(series: Verified) -> Int[np.ndarray, " n"]:
    """The pixels, by their number, whose values at all times stand for the distribution of all values."""
    most = max(1, _SAMPLE // max(1, len(series)))
    return np.random.default_rng(0).permutation(np.arange(series.area.size))[:most]


def compared_quantiles(
    truth: Float[np.ndarray, " n"], predicted: Float[np.ndarray, "*d n"], weights: Float[np.ndarray, " n"],
    levels: Sequence[float] = (),
) -> Float[np.ndarray, "q 3"]:  # fmt: skip
    """Level, quantile of the true values and of all predicted ones; by default at levels from 0.1 % to 99.9 % that are
    evenly spaced for a Gaussian.
    """
    from scipy.special import ndtr

    at = np.asarray(levels) if len(levels) else ndtr(np.linspace(-3.09, 3.09, _LEVELS_COMPARED))
    columns = [
        np.quantile(values.ravel(), at, weights=np.broadcast_to(weights, values.shape).ravel(), method="inverted_cdf")
        for values in (truth, predicted)
    ]
    return np.column_stack([at, *columns])


def ralsd(power: Float[np.ndarray, "k 3"]) -> float:
    """``(mean_k (10 log₁₀ P(k)/P_z(k))²)^½`` dB from wavenumber, power of the truth P_z and of a prediction P."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return float(np.sqrt(np.mean((10 * np.log10(power[:, 2] / power[:, 1])) ** 2)))


def _grouped(table: Float[np.ndarray, "s 3"]) -> Float[np.ndarray, "g 3"]:
    """Steps of the sd in groups of about equal weight: share, rms of the sd, RMSE."""
    table = table[table[:, 0] > 0]
    share = table[:, 0] / table[:, 0].sum()
    group = np.minimum(_GROUPS * (np.cumsum(share) - share / 2), _GROUPS - 1).astype(int)
    sums = np.stack([np.bincount(group, column, _GROUPS) for column in table.T], axis=1)
    sums = sums[sums[:, 0] > 0]
    return np.column_stack([sums[:, 0] / sums[:, 0].sum(), np.sqrt(sums[:, 1:] / sums[:, :1])])
