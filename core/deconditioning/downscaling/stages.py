"""Which of the two ways of stage one: λ and ℓ from the bags left out, or by the evidence with everything else.

Neither is the better one everywhere. Leaving bags out asks how well mediators tell embeddings, and may shrink W more
than the targets bear out; the evidence knows the targets, and may run away (W tells targets by what is no covariate, k
sharpens what W then blurs). Cells one scale up, whose values are known, tell which happens
(`downscaling.one_scale_up`): joint learning is taken unless it is clearly farther off there, or runs away.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

from deconditioning.downscaling.checks.one_scale_up import CLEARLY, OneScaleUp, one_scale_up
from deconditioning.downscaling.settings import CHOOSE, DownscaleSettings
from deconditioning.errors import InputError
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.models.catalogue import NamedModel
from deconditioning.models.learning.learning import RUNAWAY_VARIANCE, Learned

#: The ways; where nothing can be asked one scale up, the first is taken.
WAYS = ("leave_one_bag_out", "joint")
#: What a sentence calls them.
_CALLED = {
    "leave_one_bag_out": "λ and ℓ from the bags left out",
    "joint": "λ and ℓ learned by the evidence with the rest",
}


@dataclass(frozen=True)
class Stage:
    """The way that was chosen, a sentence that says why, and what was found one scale up, where it was looked."""

    way: str
    said: str = ""
    found: OneScaleUp | None = None

    def turned_back(self, learned: Learned) -> "Stage":
        """The other way, after joint learning ran away."""
        ratio = math.sqrt(learned.spec.kernel.variance)
        return Stage(
            WAYS[0],
            f"Stage one: {_CALLED[WAYS[0]]}; joint learning was no less accurate one scale up, but its prior sd grew "
            f"to {ratio:.0f} times that of the targets.",
        )


def has_two_ways(model: NamedModel) -> bool:
    """Whether λ and ℓ of the model can be found in either way."""
    return model.learns_mediation_first(WAYS[0]) and not model.learns_mediation_first(WAYS[1])


def choose_stage(problem: DownscalingProblem, settings: DownscaleSettings, context: Any) -> Stage:
    """Joint learning, unless it is farther from the known cells one scale up by more than chance, where the bags are
    left out; these too where one scale up cannot be asked.

    Raises ``Cancelled``.
    """
    if settings.stage_one != CHOOSE or not has_two_ways(settings.kind):
        return Stage(WAYS[0] if settings.stage_one == CHOOSE else settings.stage_one)
    context.report(message="Choosing the method of stage one by a test one scale up")
    found: dict[str, OneScaleUp] = {}
    for way in WAYS:
        try:
            checked = one_scale_up(problem, replace(settings, stage_one=way), context.check)
        except InputError:
            checked = None
        if checked is None:
            break
        found[way] = checked
    if len(found) < len(WAYS):
        return Stage(
            WAYS[0],
            f"Stage one: {_CALLED[WAYS[0]]}, because the test one scale up cannot compare the two methods here.",
        )
    apart, joint = (found[way] for way in WAYS)
    far = joint.farther(apart, problem.coarse_grid.area) > CLEARLY
    way, other = WAYS if far else WAYS[::-1]
    errors = {name: f"{each.rmse[each.model]:.3g} {problem.units}".strip() for name, each in found.items()}
    said = (
        f"Stage one: {_CALLED[way]}, RMSE {errors[way]} one scale up; {_CALLED[other]}: {errors[other]}, "
        f"{'significantly less accurate' if far else 'not significantly more accurate'}."
    )
    return Stage(way, said, replace(found[way], stage_one=said))


def ran_away(stage: Stage, learned: Learned) -> bool:
    """Whether what was learned jointly has so large a prior variance that the other way is to be taken after all."""
    return stage.way == "joint" and learned.spec.kernel.variance > RUNAWAY_VARIANCE
