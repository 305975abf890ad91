"""What joint draws of a series tell beside mean and sd: ranks of the truth, and how fields vary in space and time."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from deconditioning.metrics.spectrum import LEAST, spectrum
from deconditioning.verification.scores import compared_quantiles, ralsd, sampled_pixels
from deconditioning.verification.series import Verified, cell_means


@dataclass(frozen=True, eq=False)
class DrawnScores:
    """Scores of D joint draws, over all times and pixels, weighted by area.

    Parameters
    ----------
    pooled : ``tendency``, the rms change of the draws from one time to the next over that of the truth;
        ``variance_inside``, the ratio of variances of deviations from the cell means; ``ralsd`` of their mean spectrum,
        in dB. All are 1, or 0 dB, for draws that are like the truth, which the mean is not.
    ranks : (D + 1,) share of the truth of each rank among the draws; flat is best. A truth that equals draws has one of
        their ranks, by lot.
    power : (k, 3) wavenumber in cycles per pixel, power of the truth and of the draws, means over the times; None for
        grids of less than eight pixels each way.
    quantiles : (q, 3) level from 0.1 % to 99.9 %, quantile of all true values and of those of all draws.
    """

    pooled: dict[str, float]
    ranks: Float[np.ndarray, " r"]
    power: Float[np.ndarray, "k 3"] | None
    quantiles: Float[np.ndarray, "q 3"]


def drawn_scores(series: Verified) -> DrawnScores | None:
    """The scores of the draws of a series; None if it has none.

    Source: Hamill 2001, *Monthly Weather Review* 129 (rank histograms).
    """
    if series.draws is None:
        return None
    rng, before = np.random.default_rng(0), None
    change, inside = np.zeros(2), np.zeros(2)
    ranks: np.ndarray | float = 0.0
    power, times = np.zeros(()), 0
    chosen, sample = sampled_pixels(series), []
    for time, (truth, weights, _) in enumerate(series.times()):
        draws = np.asarray(series.draws(time), dtype=float)
        weights = np.where(np.isfinite(draws).all(0), weights, 0.0)
        there = weights > 0
        few = chosen[there.flat[chosen]]
        sample.append(np.stack([weights.flat[few], truth.flat[few], *(each.flat[few] for each in draws)]))
        ranks = ranks + _ranks(draws[:, there], truth[there], weights[there], rng)
        fields = np.where(there, np.concatenate([draws, truth[None]]), np.nan)
        if before is not None:
            change += _of_both(np.nan_to_num((fields - before) ** 2), weights)
        if series.cells is not None:
            inside += _of_both(np.nan_to_num((fields - cell_means(fields, series.cells, weights)) ** 2), weights)
        if min(truth.shape) >= LEAST and there.any():
            *drawn, true = (spectrum(field) for field in fields)
            mean = np.mean([each.power for each in drawn], axis=0)
            power, times = power + np.column_stack([true.wavenumber, true.power, mean]), times + 1
        before = fields
    pooled = {}
    if change[1] > 0:
        pooled["tendency"] = float(np.sqrt(change[0] / change[1]))
    if inside[1] > 0:
        pooled["variance_inside"] = float(inside[0] / inside[1])
    if times:
        pooled["ralsd"] = ralsd(power)
    table = np.concatenate(sample, axis=1)
    quantiles = compared_quantiles(table[1], table[2:], table[0])
    return DrawnScores(pooled, np.asarray(ranks / np.sum(ranks)), power / times if times else None, quantiles)


def _ranks(
    draws: Float[np.ndarray, "d n"], truth: Float[np.ndarray, " n"], weights: Float[np.ndarray, " n"],
    rng: np.random.Generator,
) -> Float[np.ndarray, " r"]:  # fmt: skip
    """The weight of each rank from 0, below all draws, to D."""
    rank = (draws < truth).sum(0) + rng.integers(0, (draws == truth).sum(0) + 1)
    return np.bincount(rank, weights, len(draws) + 1)


def _of_both(squares: Float[np.ndarray, "d h w"], weights: Float[np.ndarray, "h w"]) -> Float[np.ndarray, " two"]:
    """The weighted sums of the draws, on average, and of the truth, which is the last."""
    sums = (squares * weights).sum((1, 2))
    return np.array([sums[:-1].mean(), sums[-1]])
