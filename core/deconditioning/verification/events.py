"""Probabilities of exceeding a threshold: Brier score, reliability and ROC."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from jaxtyping import Float

from deconditioning.verification.series import Verified

_BINS = 10
#: Steps of the probability from which the ROC's area is taken.
_STEPS = 200


@dataclass(frozen=True, eq=False)
class Event:
    """How well one prediction foresees values above a threshold, over all times and pixels, weighted by area.

    Parameters
    ----------
    threshold : in the units of the truth.
    observed : share of the truth above it; ``predicted``, the mean probability.
    brier : mean of (probability − outcome)²; ``skill``, 1 − brier / (observed (1 − observed)).
    roc_area : probability that an event has a higher predicted probability than a non-event; ½ has no skill.
    reliability : (10, 3) of each tenth of the probability: its share, the mean probability and the observed share.
    """

    threshold: float
    observed: float
    predicted: float
    brier: float
    skill: float | None
    roc_area: float | None
    reliability: Float[np.ndarray, "b 3"]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**vars(self), "reliability": self.reliability.tolist()}


def events(series: Verified, thresholds: Sequence[float]) -> dict[str, tuple[Event, ...]]:
    """The events of every prediction, one for each threshold; a prediction without an sd says 0 or 1."""
    # weight, probability and outcome by steps of the probability
    tables = {name: np.zeros((len(thresholds), _STEPS + 1, 3)) for name in series.forecasts}
    squares = {name: np.zeros(len(thresholds)) for name in series.forecasts}
    for truth, weights, predictions in series.times():
        there = weights > 0
        weight = weights[there]
        for (name, prediction), (n, threshold) in product(predictions.items(), enumerate(thresholds)):
            outcome, chance = (truth[there] > threshold).astype(float), prediction[there].exceedance(threshold)
            step = np.round(chance * _STEPS).astype(int)
            for column, values in enumerate((weight, weight * chance, weight * outcome)):
                tables[name][n, :, column] += np.bincount(step, values, _STEPS + 1)
            squares[name][n] += float(np.sum(weight * (chance - outcome) ** 2))
    return {
        name: tuple(_event(*each) for each in zip(thresholds, table, squares[name], strict=True))
        for name, table in tables.items()
    }


def _event(threshold: float, table: Float[np.ndarray, "s 3"], squares: float) -> Event:
    mass, chance, hits = table.sum(axis=0)
    observed, brier = hits / mass, squares / mass
    spread = observed * (1 - observed)
    tenth = np.minimum(np.arange(_STEPS + 1) * _BINS // _STEPS, _BINS - 1)
    bins = np.stack([np.bincount(tenth, column, _BINS) for column in table.T], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        reliability = np.stack([bins[:, 0] / mass, bins[:, 1] / bins[:, 0], bins[:, 2] / bins[:, 0]], axis=1)
    return Event(
        threshold, float(observed), float(chance / mass), float(brier),
        float(1 - brier / spread) if spread > 0 else None, _roc_area(table[:, 2], table[:, 0] - table[:, 2]),
        reliability,
    )  # fmt: skip


def _roc_area(event: Float[np.ndarray, " s"], other: Float[np.ndarray, " s"]) -> float | None:
    """The area below hit rate against false alarm rate; equal probabilities count one half."""
    if event.sum() <= 0 or other.sum() <= 0:
        return None
    below = np.concatenate([[0.0], np.cumsum(other)[:-1]]) + 0.5 * other
    return float(np.sum(event * below) / (event.sum() * other.sum()))
