"""Shared preparation of scores: the points at which all arrays have values, and weights that sum to one."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from deconditioning.errors import InputError
from deconditioning.metrics.predictive import Predictive

#: What is scored: a point prediction, or distributions.
Predicted = np.ndarray | Predictive


@dataclass(frozen=True)
class Points:
    """The n scored points: truth, mean and weights with sum one, each (n,); distributions, None of a point prediction.

    ``there`` marks them among all.
    """

    truth: np.ndarray
    mean: np.ndarray
    weights: np.ndarray
    there: np.ndarray
    distributions: Predictive | None = None

    @property
    def predictive(self) -> Predictive:
        """The distributions; `InputError` for a point prediction."""
        if self.distributions is None:
            raise InputError("This score needs the standard deviation of the prediction: none was given.")
        return self.distributions

    @cached_property
    def crps(self) -> np.ndarray:
        """The continuous ranked probability score of each point (n,)."""
        return self.predictive.crps(self.truth)

    @cached_property
    def off(self) -> np.ndarray:
        """Absolute normal scores of the truth (n,): how many sds of a Gaussian it is from the median."""
        return np.abs(self.predictive.score(self.truth))

    def among(self, others: "Points") -> "Points":
        """These points with what is known of them as points of ``others``, of the same truth and prediction."""
        if self.distributions is not None:
            shared = self.there[others.there]
            vars(self).update(crps=others.crps[shared], off=others.off[shared])
        return self


def scored_points(*, truth: np.ndarray, predicted: Predicted, weights: np.ndarray | None = None) -> Points:
    """The points where truth and prediction are finite and the weight is positive, ``w_i ← w_i / Σ w``.

    Arrays have one shape; truth and prediction have the same unit. Raises `InputError` for different shapes, a negative
    sd or weight, or no points left.
    """
    spread = predicted.sd if isinstance(predicted, Predictive) else None
    mean = predicted.mean if isinstance(predicted, Predictive) else predicted
    arrays = {"truth": truth, "mean": mean, "sd": spread, "weights": weights}
    present = {name: np.asarray(a, dtype=float) for name, a in arrays.items() if a is not None}
    for name, array in present.items():
        if array.shape != present["truth"].shape:
            raise InputError(
                f"`{name}` has the shape {array.shape}, `truth` {present['truth'].shape}: give one value per pixel."
            )
    for name in ("sd", "weights"):
        if name in present and bool((present[name] < 0).any()):
            raise InputError(f"`{name}` has a negative value, {np.nanmin(present[name]):g}: give values from 0.")
    there = np.logical_and.reduce([np.isfinite(array) for array in present.values()])
    if "weights" in present:
        there &= present["weights"] > 0
    if not there.any():
        raise InputError(
            "Truth and prediction have no pixels in common, so there is nothing to score: give the same grid."
        )
    w = present["weights"][there] if "weights" in present else np.ones(int(there.sum()))
    predictive = predicted[there] if isinstance(predicted, Predictive) else None
    return Points(present["truth"][there], present["mean"][there], w / w.sum(), there, predictive)
