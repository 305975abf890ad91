"""Summarises a map's intervals: their coverage, or why it cannot be assessed."""

from collections.abc import Sequence

import numpy as np

from deconditioning.downscaling.run import coarse_scores
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.metrics.intervals import Trust
from deconditioning.wording import number


def verdict(
    problem: DownscalingProblem,
    mean: np.ndarray,
    trust: Trust | None,
    bilinear: np.ndarray,
    refusals: Sequence[str] = (),
) -> Trust | str:
    """The coverage ``trust`` of the intervals in words, or why there is none and what could be checked."""
    if refusals:
        return " ".join(refusals)
    return trust or unchecked(problem, mean, bilinear)


def unchecked(problem: DownscalingProblem, mean: np.ndarray, bilinear: np.ndarray) -> str:
    """What could and could not be checked without a truth; ``mean`` and ``bilinear`` (H, W)."""
    scores, other = coarse_scores(problem, mean).get("withheld"), coarse_scores(problem, bilinear).get("withheld")
    nothing = "neither the field inside the cells nor the intervals could be checked."
    if problem.scored is not None:
        nothing = f"the field and its intervals are checked at {len(problem.scored.row)} stations only."
    if not scores or not other:
        return "No cell is hidden from the model and no truth is available: " + nothing
    units = f" {problem.units}" if problem.units else ""
    comparison = f"bilinear interpolation {number(other['rmse'])}{units}"
    return (
        f"The predicted means of hidden cells have an error of {number(scores['rmse'])}{units} (RMSE; {comparison}); "
        + nothing
    )
