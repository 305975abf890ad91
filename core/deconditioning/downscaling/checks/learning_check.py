"""Whether learning helped and interpolation would do better: asked of the visible coarse cells, one left out at a time,
and one scale up.

A fine truth, and the coarse values of withheld cells, are what a result is scored on: neither has a say here.
"""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from deconditioning.bag_sums.moving import BagGram
from deconditioning.downscaling.checks.one_scale_up import OneScaleUp
from deconditioning.downscaling.settings import columns_of
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.models.catalogue import NamedModel
from deconditioning.models.learning.learning import Learned
from deconditioning.models.leave_one_out import left_out
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData

#: By how much the start has to be better to be kept: less is chance, and learned spreads are the better ones.
_MARGIN = 0.01


@dataclass(frozen=True)
class LearningCheck:
    """RMSE of the visible cells' means, each predicted from all others, in the target's units; None where not known.

    ``start`` and ``learned`` at the hyperparameters before and after learning (both on the points it looks at),
    ``kept`` which of them is used; ``model`` of the posterior that is shown, ``bilinear`` of interpolation.
    ``one_scale_up`` what was found there, None where it was not looked.
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
        """Nothing known yet."""
        return LearningCheck(int(problem.observed.sum()), problem.units)

    def to_dict(self) -> dict[str, Any]:
        """Plain data of the cells left out."""
        return {name: value for name, value in asdict(self).items() if name != "one_scale_up"}

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is to be said to the user: nothing where learning helped and the model beats interpolation."""
        said, each = [], "in leave-one-out over the visible cells, the error of a cell mean is"
        if self.kept == "start":
            said.append(
                f"Learning made the model worse: {each} {self.learned:.3g} {self.units} with the learned "
                f"hyperparameters and {self.start:.3g} {self.units} with the starting ones, which are used instead."
            )
        if self.model is not None and self.bilinear is not None and self.bilinear < self.model:
            said.append(
                f"Bilinear interpolation predicts better here: {each} {self.bilinear:.3g} {self.units} with it and "
                f"{self.model:.3g} {self.units} with the model."
            )
        found = self.one_scale_up.sentences if self.one_scale_up else ()
        return tuple(sentence.replace("  ", " ") for sentence in (*said, *found))


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
    """What was learned, or the start where that predicts the left-out cells better; on what learning looked at.

    Of the start nothing is kept but its hyperparameters: the evidence and warnings of the learning are let go.
    """
    guard = LearningCheck.of(problem)
    if not _is_measured(problem, start.model):
        return learned, guard
    columns = columns_of(problem)
    before, after = (left_out(spec, data, columns, bag_gram=bag_gram) for spec in (start, learned.spec))
    if before is None or after is None:
        return learned, guard
    kept = "start" if before.rmse < (1 - _MARGIN) * after.rmse else "learned"
    scale = problem.target_scale.sd
    guard = replace(guard, start=scale * before.rmse, learned=scale * after.rmse, kept=kept)
    if kept == "start":
        learned = replace(learned, spec=start, evidence=math.nan, warnings=())
    return learned, guard


def bilinear_error(problem: DownscalingProblem) -> float:
    """RMSE of bilinear interpolation at the visible cells, each from all others, in the target's units."""
    from deconditioning.fields.problem.baselines import bilinear_left_out

    return float(np.sqrt(np.mean(bilinear_left_out(problem) ** 2)))


def beside_bilinear(
    problem: DownscalingProblem,
    model: NamedModel,
    rmse: float | None,
    bilinear: float,
    guard: LearningCheck | None = None,
) -> LearningCheck:
    """The guard with the shown posterior's error (standardised, of its targets) and that of bilinear interpolation."""
    guard = guard or LearningCheck.of(problem)
    own = problem.target_scale.sd * rmse if rmse is not None and _is_measured(problem, model) else None
    return replace(guard, model=own, bilinear=bilinear)
