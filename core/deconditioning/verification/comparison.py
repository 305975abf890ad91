"""Skill of a prediction beside a reference over times that depend on each other."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

#: Fewer times give no interval.
_FEWEST = 10
_RESAMPLES = 2000


@dataclass(frozen=True)
class Skill:
    """How much better a prediction is than a reference.

    Parameters
    ----------
    reference, score : names; ``score`` is "rmse" or "crps".
    skill : 1 − score / score of the reference; 1 is best, below 0 the reference is better.
    low, high : ends of the 95 % interval by a circular moving-block bootstrap of the times; None below 10 times.
    block : times in a block, from the autocorrelation of the differences.
    p_value : two-sided, of the test of Diebold and Mariano that the mean difference is 0; None below 10 times.
    """

    reference: str
    score: str
    skill: float
    low: float | None = None
    high: float | None = None
    block: int = 1
    p_value: float | None = None


def skill(
    scores: Float[np.ndarray, " t"],
    other: Float[np.ndarray, " t"],
    weight: Float[np.ndarray, " t"],
    *,
    reference: str,
    score: str,
) -> Skill:
    """Skill from scores (T,) of each time, squared errors for "rmse", and their weights (T,).

    Source: Künsch 1989 and Politis and Romano 1992 for the bootstrap; Diebold and Mariano 1995 with the variance of
    Hering and Genton 2011, by the package scores.
    """
    power = 0.5 if score == "rmse" else 1.0

    def of(index: np.ndarray) -> np.ndarray:
        """``1 − Σwa/Σwb``, or of its root, over the times ``index`` (..., n)."""
        a, b, w = scores[index], other[index], weight[index]
        ratio = np.sum(w * a, axis=-1) / np.sum(w * b, axis=-1)
        return np.asarray(1 - ratio**power)

    there = np.flatnonzero(weight > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        value = float(of(there))
        if len(there) < _FEWEST:
            return Skill(reference, score, value)
        difference = (scores - other)[there]
        block = block_length(difference)
        rng = np.random.default_rng(0)
        begin = rng.integers(len(there), size=(_RESAMPLES, -(-len(there) // block)))
        index = ((begin[..., None] + np.arange(block)) % len(there)).reshape(_RESAMPLES, -1)[:, : len(there)]
        low, high = np.nanquantile(of(there[index]), (0.025, 0.975))
    return Skill(reference, score, value, float(low), float(high), block, _diebold_mariano(difference, block))


def block_length(difference: Float[np.ndarray, " t"]) -> int:
    """``1 + 2 Σ ρ_l`` up to the first autocorrelation ρ_l that is not positive, at most a quarter of the times."""
    centred = difference - difference.mean()
    total = float(np.sum(centred**2))
    length = 1.0
    if total > 0:
        for lag in range(1, len(centred) // 4 + 1):
            rho = float(np.sum(centred[lag:] * centred[:-lag])) / total
            if rho <= 0:
                break
            length += 2 * rho
    return int(np.clip(np.ceil(length), 1, max(1, len(centred) // 4)))


def _diebold_mariano(difference: Float[np.ndarray, " t"], block: int) -> float | None:
    import xarray as xr
    from scores.stats.statistical_tests import diebold_mariano

    if not np.any(difference - difference[0]):
        return 1.0 if difference[0] == 0 else 0.0
    array = xr.DataArray(difference[None], dims=("pair", "time"), coords={"h": ("pair", [block])})
    test = diebold_mariano(array, "pair", "h", method="HG", statistic_distribution="t")
    above = float(test["confidence_gt_0"][0])
    return float(min(1.0, 2 * min(above, 1 - above)))
