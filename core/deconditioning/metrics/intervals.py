"""Judges whether intervals have their nominal coverage, without assumptions on the dependence of errors."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from deconditioning.metrics.calibration import calibration
from deconditioning.metrics.points import scored_points
from deconditioning.metrics.predictive import Predictive

Verdict = Literal["too narrow", "about right", "too wide"]
LEVELS = (0.5, 0.9, 0.95)
#: Where 90 to 98 of 100 intervals of 95 % hold the truth, Gaussian intervals have the right width to within a fifth:
#: Φ⁻¹(0.975) = 1.96 is 1.19 times Φ⁻¹(0.95), and Φ⁻¹(0.99) is 1.19 times 1.96. Neighbouring pixels err alike, so that
#: a binomial test that counts pixels would find fault with every map.
RIGHT = (90, 98)
#: What benchmarks aim at: stricter above, where intervals could be sharper.
AIM = (0.90, 0.97)
_PHI_95 = 1.959964


@dataclass(frozen=True)
class Trust:
    """Coverage of central intervals.

    Parameters
    ----------
    held : (3,) shares of the truth within the 50, 90 and 95 % intervals (`LEVELS`).
    verdict : whether the 95 % intervals contain less than 90 %, up to 98 %, or more (in whole per cent).
    widen : factor for the width of every interval (behind a warp, in its units) with which the 95 % intervals would
        contain 95 %; infinite if too many sds are 0.
    """

    held: tuple[float, ...]
    verdict: Verdict
    widen: float

    @property
    def sentence(self) -> str:
        """The verdict in words, with its number."""
        return f"{100 * self.held[-1]:.0f} % of the 95 % intervals contain the truth: {self.verdict}."


def trust(truth: np.ndarray, predicted: Predictive, *, weights: np.ndarray | None = None) -> Trust:
    """Judge central intervals by the truth (arrays of one shape; NaN is ignored), with optional area weights.

    ``widen`` is ``q / 1.96`` with q the weighted 95 % quantile of the normal scores' sizes, |truth − mean| / sd of a
    Gaussian. Raises ``InputError`` if nothing can be scored.
    """
    held = tuple(float(share) for share in calibration(truth, predicted, LEVELS, weights=weights))
    whole = round(100 * held[-1])
    verdict: Verdict = "too narrow" if whole < RIGHT[0] else "too wide" if whole > RIGHT[1] else "about right"
    p = scored_points(truth=truth, predicted=predicted, weights=weights)
    off = np.abs(p.predictive.score(p.truth))
    order = np.argsort(off)
    at = np.searchsorted(np.cumsum(p.weights[order]), LEVELS[-1] * (1 - 1e-12))
    return Trust(held, verdict, float(off[order][min(at, len(order) - 1)]) / _PHI_95)
