"""Tests whether learning helped and whether interpolation would be better, by leave-one-out and one scale up.

The result is scored on a fine truth and on withheld cells; this test uses neither.
"""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from deconditioning.bag_sums.moving import BagGram
from deconditioning.downscaling.checks.scale_up_result import OneScaleUp
from deconditioning.downscaling.starting import columns_of
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.models.learning.learning import Learned
from deconditioning.models.leave_one_out import left_out
from deconditioning.models.named_model import NamedModel
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData
from deconditioning.wording import number

#: By how much the start has to be better to be kept: less is chance, and learned spreads are the better ones.
_MARGIN = 0.01


@dataclass(frozen=True)
class LearningCheck:
    """RMSE of the visible cells' means, each predicted from all others, in the target's units; None if unknown.

    ``start`` and ``learned`` are for the hyperparameters before and after learning (on the points used in learning),
    ``kept`` which of them is used; ``model`` is for the final posterior, ``bilinear`` for interpolation.
    ``one_scale_up`` is the result of that test, None if it was not run.
    """

    cells: int
    units: str
    start: float | None = None
    learned: float | None = None
    kept: str | None = None
    model: float | None = None
    bilinear: float | None = None
    one_scale_up: OneScaleUp | None = None

    @staticmethod
    def of(problem: DownscalingProblem) -> "LearningCheck":
        """An empty result."""
        return LearningCheck(int(problem.observed.sum()), problem.units)

    def to_dict(self) -> dict[str, Any]:
        """The leave-one-out results as plain data."""
        return {name: value for name, value in asdict(self).items() if name != "one_scale_up"}

    @property
    def sentences(self) -> tuple[str, ...]:
        """Messages for the user: none if learning helped and the model beats interpolation."""
        messages, each = [], "in leave-one-out over the visible cells, the error of a cell mean is"
        if self.kept == "start" and self.learned is not None and self.start is not None:
            messages.append(
                f"Learning made the model worse: {each} {number(self.learned)} {self.units} with the learned "
                f"hyperparameters and {number(self.start)} {self.units} with the starting ones, which are used instead."
            )
        if self.model is not None and self.bilinear is not None and self.bilinear < self.model:
            messages.append(
                f"Bilinear interpolation predicts better here: {each} {number(self.bilinear)} {self.units} with it and "
                f"{number(self.model)} {self.units} with the model."
            )
        result = self.one_scale_up.sentences if self.one_scale_up else ()
        return tuple(sentence.replace("  ", " ") for sentence in (*messages, *result))


def _is_measured(problem: DownscalingProblem, model: NamedModel) -> bool:
    """Whether a model's targets are the measured coarse values; pseudo-targets left out would say nothing of these."""
    return model.reads(problem.data)


def better_of(
    problem: DownscalingProblem,
    start: ModelSpec,
    learned: Learned,
    data: IndirectData,
    bag_gram: BagGram | None = None,
) -> tuple[Learned, LearningCheck]:
    """The learned hyperparameters, or the start if it predicts left-out cells better, on the points used in learning.

    Only the hyperparameters of the start are used; the evidence and warnings of learning are dropped.
    """
    guard = LearningCheck.of(problem)
    if not _is_measured(problem, start.model):
        return learned, guard
    columns = columns_of(problem)
    before, after = (left_out(spec, data, columns, bag_gram=bag_gram) for spec in (start, learned.spec))
    if before is None or after is None:
        return learned, guard
    choice = "start" if before.rmse < (1 - _MARGIN) * after.rmse else "learned"
    scale = problem.target_sd
    guard = replace(guard, start=scale * before.rmse, learned=scale * after.rmse, kept=choice)
    if choice == "start":
        learned = replace(learned, spec=start, evidence=math.nan, warnings=())
    return learned, guard


def bilinear_error(problem: DownscalingProblem) -> float:
    """RMSE of bilinear interpolation at each visible cell from all others, in the target's units."""
    from deconditioning.fields.problem.baselines import bilinear_left_out

    return float(np.sqrt(np.mean(bilinear_left_out(problem) ** 2)))


def compared_with_bilinear(
    problem: DownscalingProblem,
    model: NamedModel,
    rmse: float | None,
    bilinear: float,
    guard: LearningCheck | None = None,
) -> LearningCheck:
    """The result with the error of the final posterior (standardised, of its targets) and that of bilinear
    interpolation.
    """
    guard = guard or LearningCheck.of(problem)
    comparable = rmse is not None and _is_measured(problem, model) and problem.warp is None
    physical = problem.target_sd * rmse if rmse is not None and comparable else None
    return replace(guard, model=physical, bilinear=bilinear)
