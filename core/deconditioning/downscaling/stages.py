"""Chooses the procedure of stage one: λ and ℓ by leave-one-bag-out, or by the evidence with everything else.

Neither is better everywhere. Leave-one-bag-out measures how well mediators predict embeddings, and may shrink W more
than the targets support; the evidence uses the targets, and may diverge (W predicts targets from something that is not
a covariate, and k sharpens what W then blurs). Cells one scale up, whose values are known, show which happens
(`downscaling.one_scale_up`): joint learning is used unless it is clearly less accurate there, or diverges.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

from deconditioning.downscaling.checks.one_scale_up import one_scale_up
from deconditioning.downscaling.checks.scale_up_result import CLEARLY, OneScaleUp
from deconditioning.downscaling.settings import CHOOSE, DownscaleSettings
from deconditioning.errors import InputError
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.models.learning.learning import RUNAWAY_VARIANCE, Learned
from deconditioning.models.named_model import NamedModel
from deconditioning.wording import number

#: The ways; where nothing can be asked one scale up, the first is taken.
WAYS = ("leave_one_bag_out", "joint")
#: What a sentence calls them.
_CALLED = {
    "leave_one_bag_out": "λ and ℓ from the bags left out",
    "joint": "λ and ℓ learned by the evidence with the rest",
}


@dataclass(frozen=True)
class Stage:
    """The chosen procedure, the reason in a sentence, and the result one scale up, if that test was run."""

    way: str
    sentence: str = ""
    check: OneScaleUp | None = None

    def turned_back(self, learned: Learned) -> "Stage":
        """The other procedure, after joint learning diverged."""
        ratio = math.sqrt(learned.spec.kernel.variance)
        return Stage(
            WAYS[0],
            f"Stage one: {_CALLED[WAYS[0]]}; joint learning was no less accurate one scale up, but its prior sd grew "
            f"to {ratio:.0f} times that of the targets.",
        )


def has_two_ways(model: NamedModel) -> bool:
    """Whether λ and ℓ of the model can be learned by either procedure."""
    return model.learns_mediation_first(WAYS[0]) and not model.learns_mediation_first(WAYS[1])


def choose_stage(problem: DownscalingProblem, settings: DownscaleSettings, context: Any) -> Stage:
    """Joint learning, unless it is significantly less accurate one scale up than leave-one-bag-out; the latter also if
    that test is not possible.

    Raises ``Cancelled``.
    """
    if settings.stage_one != CHOOSE or not has_two_ways(settings.kind):
        return Stage(WAYS[0] if settings.stage_one == CHOOSE else settings.stage_one)
    context.report(message="Choosing the method of stage one by a test one scale up")
    result: dict[str, OneScaleUp] = {}
    for way in WAYS:
        try:
            checked = one_scale_up(problem, settings.replace(stage_one=way), context.check)
        except InputError:
            checked = None
        if checked is None:
            break
        result[way] = checked
    if len(result) < len(WAYS):
        return Stage(
            WAYS[0],
            f"Stage one: {_CALLED[WAYS[0]]}, because the test one scale up cannot compare the two methods here.",
        )
    separate, joint = (result[way] for way in WAYS)
    far = joint.farther(separate, problem.coarse_grid.area) > CLEARLY
    way, other = WAYS if far else WAYS[::-1]
    errors = {name: f"{number(each.rmse[each.method])} {problem.units}".strip() for name, each in result.items()}
    sentence = (
        f"Stage one: {_CALLED[way]}, RMSE {errors[way]} one scale up; {_CALLED[other]}: {errors[other]}, "
        f"{'significantly less accurate' if far else 'not significantly more accurate'}."
    )
    return Stage(way, sentence, replace(result[way], stage_one=sentence))


def ran_away(stage: Stage, learned: Learned) -> bool:
    """Whether the jointly learned prior variance is so large that the other procedure is used after all."""
    return stage.way == "joint" and learned.spec.kernel.variance > RUNAWAY_VARIANCE
