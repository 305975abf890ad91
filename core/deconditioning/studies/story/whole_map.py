"""The real map of the story: a worked example with its stored hyperparameters, dissolved, checked, doubted."""

from dataclasses import dataclass

import numpy as np

from deconditioning.datasets.entries import find
from deconditioning.device import one_thread
from deconditioning.downscaling.checks.one_scale_up import one_scale_up
from deconditioning.downscaling.checks.scale_up_result import OneScaleUp
from deconditioning.downscaling.prediction import matched_data, predict
from deconditioning.downscaling.presets import preset
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.warping.physical_map import physical_map
from deconditioning.errors import Check, InputError, never
from deconditioning.fields.grids.blocks import reaggregate
from deconditioning.fields.problem.baselines import bilinear, constant
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.metrics.calibration import calibration
from deconditioning.metrics.predictive import Predictive

MODEL = "area_to_point_gp"


@dataclass(frozen=True)
class Solved:
    """A worked example with its predictive distributions (H, W), its ``blocks`` (each pixel its cell's value) and
    ``bilinear`` interpolation, all in the target's units."""

    problem: DownscalingProblem
    predictive: Predictive
    blocks: np.ndarray
    bilinear: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Posterior mean (H, W)."""
        return self.predictive.mean

    @property
    def sd(self) -> np.ndarray:
        """Posterior sd (H, W) of a single pixel."""
        return self.predictive.sd

    @property
    def truth(self) -> np.ndarray:
        """The fine field (H, W)."""
        assert self.problem.truth is not None
        return self.problem.truth

    def rmse(self, values: np.ndarray) -> float:
        """Root mean square error of a field, by area."""
        return float(np.sqrt(np.average((values - self.truth) ** 2, weights=self.problem.grid.area)))

    def dissolved(self, share: float) -> np.ndarray:
        """``(1 − t)`` times the blocks and ``t`` times the mean: both average to the same cells, and so does this."""
        return (1 - share) * self.blocks + share * self.mean

    def off_cells(self, values: np.ndarray) -> float:
        """Largest distance of a field's cell averages from the coarse values that the model saw."""
        problem = self.problem
        return float(np.nanmax(np.abs(reaggregate(problem, values) - problem.coarse)[problem.observed]))

    def held(self, level: float) -> float:
        """Share of the area whose truth lies in the central interval of that level."""
        return float(calibration(self.truth, self.predictive, [level], weights=self.problem.grid.area)[0])

    def beyond(self, level: float) -> np.ndarray:
        """(H, W) where the truth lies outside that interval, as 1 above it, −1 below it, 0 inside."""
        low, high = self.predictive.interval(level)
        return np.where(self.truth > high, 1.0, np.where(self.truth < low, -1.0, 0.0))


def example(key: str) -> DownscalingProblem:
    """The problem of a data set's worked example."""
    entry = find(key)
    return make_problem(entry.open(), DownscalingSpec.from_dict(entry.default))


@one_thread()
def solve(key: str, problem: DownscalingProblem, check: Check = never) -> Solved:
    """The exact posterior at the stored hyperparameters, as page Downscaling opens with it.

    Raises ``InputError`` for a data set without stored ones.
    """
    spec = preset({"fields": key}, problem.spec.to_dict(), DownscaleSettings(model=MODEL))
    if spec is None:
        raise InputError(f"No hyperparameters are stored for '{key}': choose a worked example.")
    result = predict(spec, matched_data(problem, spec, check), problem, check=check)
    return Solved(problem, physical_map(problem, result.parts, result.cells), constant(problem), bilinear(problem))


def one_scale_above(problem: DownscalingProblem, check: Check = never) -> OneScaleUp:
    """The check one scale up, learned anew from the joined cells; it looks at no fine truth."""
    result = one_scale_up(problem, DownscaleSettings(model=MODEL), check)
    if result is None:
        raise InputError("Too few cells can be merged with neighbours: the test one scale up needs eight.")
    return result
