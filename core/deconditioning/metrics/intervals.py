"""Judges whether intervals have their nominal coverage, without assumptions on the dependence of errors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import norm

from deconditioning.metrics.calibration import calibration
from deconditioning.metrics.points import scored_points
from deconditioning.metrics.predictive import Predictive

_Verdict = Literal["too narrow", "about right", "too wide"]
LEVELS = (0.5, 0.9, 0.95)
#: Where 90 to 98 of 100 intervals of 95 % hold the truth, Gaussian intervals have the right width to within a fifth:
#: Φ⁻¹(0.975) = 1.96 is 1.19 times Φ⁻¹(0.95), and Φ⁻¹(0.99) is 1.19 times 1.96. Neighbouring pixels err alike, so that
#: a binomial test that counts pixels would find fault with every map.
RIGHT = (90, 98)
#: What benchmarks aim at: stricter above, where intervals could be sharper.
AIM = (0.90, 0.97)
_FIFTH = 1.2
#: A Gaussian's sd that is wrong by this factor puts the coverage of 50 % intervals off by `SLIGHT`.
_SLIGHTLY = 1.07
#: From how many points of coverage off at a level intervals of about the right width are called slightly wrong.
SLIGHT = 0.03
#: 95 % intervals that contain less than this are called far too narrow.
_FAR = 0.7
#: By which factor the outer bins of a PIT histogram that is otherwise flat lie above the others to be called high.
_HIGH_END = 1.15
#: From which distance of a mean PIT from ½ a prediction is called biased: a bias of 0.18 sd.
_SHIFTED = 0.05
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
    verdict: _Verdict
    widen: float

    @staticmethod
    def of_scores(scores: Mapping[str, float | None]) -> "Trust | None":
        """That of the scores ``coverage50``, ``coverage90`` and ``coverage95``, those weighted by area (``…_area``)
        where there are any; None if one is missing. ``widen`` is not known then (NaN).
        """
        names = [f"coverage{100 * level:.0f}" for level in LEVELS]
        held = [scores.get(f"{name}_area", scores.get(name)) for name in names]
        known = tuple(share for share in held if share is not None)
        return Trust(known, width_verdict(known[-1]), np.nan) if len(known) == len(LEVELS) else None

    @property
    def words(self) -> str:
        """The verdict; where the 95 % intervals pass, but those of some level are off by more than `SLIGHT`, "about
        right, slightly too …", or which are "too …" if their width is off by more than a fifth."""
        off = self.held[self._worst] - LEVELS[self._worst]
        if self.verdict != "about right" or abs(off) <= SLIGHT:
            return self.verdict
        side = "wide" if off > 0 else "narrow"
        if self.right:
            return f"about right, slightly too {side}"
        return f"the {100 * LEVELS[self._worst]:.0f} % intervals are too {side}"

    @property
    def right(self) -> bool:
        """Whether the 95 % intervals pass and none of another level is a fifth too wide or too narrow."""
        wide, narrow = _clearly_off(LEVELS[:-1], self.held[:-1])
        return self.verdict == "about right" and not (wide | narrow).any()

    @property
    def sentence(self) -> str:
        """The verdict in words, with its numbers."""
        held, worst = f"{100 * self.held[-1]:.0f} % of the 95 % intervals", self._worst
        if self.words != self.verdict and worst < len(LEVELS) - 1:
            held += f" and {100 * self.held[worst]:.0f} % of the {100 * LEVELS[worst]:.0f} % intervals"
        far = "far " if self.verdict == "too narrow" and self.held[-1] < _FAR else ""
        return f"{held} contain the truth: {far}{self.words}."

    @property
    def _worst(self) -> int:
        """The level whose coverage is off most."""
        return max(range(len(LEVELS)), key=lambda n: abs(self.held[n] - LEVELS[n]))


def calibration_sentence(levels: Sequence[float], shares: Sequence[float]) -> str:
    """What a curve of coverage shows, by all of its levels: too wide, too narrow, or about right; where it is clearly
    off at some of them only, on which side it lies and its worst level.

    An interval is about right if a Gaussian one of the wanted coverage would be at most a fifth wider or narrower, as
    for `RIGHT`: Φ⁻¹((1 + share)/2) / Φ⁻¹((1 + level)/2) is between 1/1.2 and 1.2. Only `LEVELS` are judged so, as by
    `Trust`, with which the sentence agrees.
    """
    judged = np.isclose(np.asarray(levels)[:, None], LEVELS).any(axis=1)
    wide, narrow = (off & judged for off in _clearly_off(levels, shares))
    gaps = np.asarray(shares) - np.asarray(levels)
    most = int(np.abs(gaps).argmax())
    if not (wide | narrow).any() and abs(gaps[most]) > SLIGHT:
        side, verdict = ("above", "wide") if gaps[most] > 0 else ("below", "narrow")
        return (
            f"The curve lies slightly {side} the diagonal, the intervals are slightly too {verdict}: "
            f"{100 * levels[most]:.0f} % intervals contain {100 * shares[most]:.0f} % of the truth."
        )
    if not (wide | narrow).any():
        return "The curve follows the diagonal: the intervals are about right at every level."
    off = np.where(wide | narrow, np.abs(np.asarray(shares) - np.asarray(levels)), -1)
    worst = int(off.argmax())
    example = f"{100 * levels[worst]:.0f} % intervals contain {100 * shares[worst]:.0f} % of the truth"
    if wide.any() and narrow.any():
        words = "The curve crosses the diagonal: intervals of some levels are too wide, those of others too narrow"
        return f"{words}; {example}."
    side, verdict = ("above", "wide") if wide.any() else ("below", "narrow")
    if (wide | narrow).sum() == judged.sum():
        return f"The curve lies {side} the diagonal: the intervals are too {verdict}; {example}."
    every = bool((gaps > 0).all() if wide.any() else (gaps < 0).all())
    which = f"the {100 * levels[worst]:.0f} % intervals, which contain {100 * shares[worst]:.0f} % of the truth,"
    return f"The curve lies {side} the diagonal{'' if every else ' at some levels'}: {which} are too {verdict}."


def pit_sentence(counts: Sequence[float]) -> str:
    """What a PIT histogram of counts (B,) in equal bins of [0, 1] shows: whether distributions are as wide as errors.

    If a Gaussian's sd is c times that of the errors, the PIT Φ(u/c) has the variance v = asin(1/(1 + c²)) / 2π, 1/12 at
    c = 1. So c² = 1/sin(2πv) − 1; the histogram is a hill where c > 1.2 and a bowl where c < 1/1.2, slightly so from
    1.07 and below 1/1.07. A mean of the PIT further than `_SHIFTED` from ½ is a bias.
    """
    share = np.asarray(counts, dtype=float) / max(float(np.sum(counts)), 1e-300)
    at = (np.arange(len(share)) + 0.5) / len(share)
    mean = float(share @ at)
    variance = float(share @ (at - mean) ** 2) + 1 / (12 * len(share) ** 2)
    wider = float(np.sqrt(max(1 / np.sin(2 * np.pi * min(variance, 0.25)) - 1, 0.0)))
    if not 1 / _SLIGHTLY <= wider <= _SLIGHTLY:
        where, side = ("in the middle", "wide") if wider > 1 else ("at the ends", "narrow")
        how = "" if not 1 / _FIFTH <= wider <= _FIFTH else "slightly "
        shape = f"The histogram is {how}high {where}: the distributions are {how}too {side}."
    else:
        shape = "The histogram is about flat: the distributions have about the right width."
        if len(share) > 2 and min(share[0], share[-1]) > _HIGH_END * np.mean(share[1:-1]):
            shape = "The histogram is about flat, but high at both ends: large errors are more frequent than stated."
    if abs(mean - 0.5) <= _SHIFTED:
        return shape
    low, side = ("low", "upper") if mean > 0.5 else ("high", "lower")
    return f"{shape} Most of the truth lies in the {side} half: the prediction is too {low}."


def _clearly_off(levels: Sequence[float], shares: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """The levels (L,) whose intervals are more than a fifth too wide, and those more than a fifth too narrow."""
    ratio = norm.ppf((1 + np.asarray(shares)) / 2) / norm.ppf((1 + np.asarray(levels)) / 2)
    return ratio > _FIFTH, ratio < 1 / _FIFTH


def width_verdict(share: float) -> _Verdict:
    """What a share of the truth inside 95 % intervals says of their width, in whole per cent (`RIGHT`)."""
    whole = round(100 * share)
    return "too narrow" if whole < RIGHT[0] else "too wide" if whole > RIGHT[1] else "about right"


def trust(truth: np.ndarray, predicted: Predictive, *, weights: np.ndarray | None = None) -> Trust:
    """Judge central intervals by the truth (arrays of one shape; NaN is ignored), with optional area weights.

    ``widen`` is ``q / 1.96`` with q the weighted 95 % quantile of the normal scores' sizes, |truth − mean| / sd of a
    Gaussian. Raises ``InputError`` if nothing can be scored.
    """
    shares = tuple(float(share) for share in calibration(truth, predicted, LEVELS, weights=weights))
    verdict = width_verdict(shares[-1])
    p = scored_points(truth=truth, predicted=predicted, weights=weights)
    off = np.abs(p.predictive.score(p.truth))
    order = np.argsort(off)
    at = np.searchsorted(np.cumsum(p.weights[order]), LEVELS[-1] * (1 - 1e-12))
    return Trust(shares, verdict, float(off[order][min(at, len(order) - 1)]) / _PHI_95)
