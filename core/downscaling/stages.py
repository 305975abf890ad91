"""Which of the two ways of stage one: λ and ℓ from the bags left out, or by the evidence with everything else.

Neither is the better one everywhere. Leaving bags out asks how well mediators tell embeddings, and may shrink W more
than the targets bear out; the evidence knows the targets, and may run away (W tells targets by what is no covariate, k
sharpens what W then blurs). Cells one scale up, whose values are known, tell which happens
(`core.downscaling.one_scale_up`).
"""

import math
from dataclasses import dataclass, replace
from typing import Any

from core.downscaling.one_scale_up import OneScaleUp, one_scale_up
from core.downscaling.settings import CHOOSE, DownscaleSettings
from core.errors import InputError
from core.fields import DownscalingProblem
from core.models.catalogue import named
from core.models.learning import RUNAWAY_VARIANCE, Learned

#: The ways, the one that is taken in doubt first.
WAYS = ("leave_one_bag_out", "joint")
#: What a sentence calls them.
CALLED = {
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
            f"Stage one: {CALLED[WAYS[0]]}; joint learning came nearer one scale up, but its prior sd ran away to "
            f"{ratio:.0f} times that of the targets.",
        )


def has_two_ways(model: str) -> bool:
    """Whether λ and ℓ of the model can be found in either way."""
    each = named(model)
    return each.learns_mediation_first(WAYS[0]) and not each.learns_mediation_first(WAYS[1])


def choose_stage(problem: DownscalingProblem, settings: DownscaleSettings, context: Any) -> Stage:
    """The way that comes nearer to the known cells one scale up; the bags left out where that cannot be asked.

    Raises ``Cancelled``.
    """
    if settings.stage_one != CHOOSE or not has_two_ways(settings.model):
        return Stage(WAYS[0] if settings.stage_one == CHOOSE else settings.stage_one)
    context.report(message="Choosing the way of stage one, one scale up")
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
        return Stage(WAYS[0], f"Stage one: {CALLED[WAYS[0]]}, as one scale up cannot be asked which way is nearer.")
    errors = {way: checked.rmse[checked.model] for way, checked in found.items()}
    way = min(WAYS, key=errors.__getitem__)
    other = next(each for each in WAYS if each != way)
    units = f" {problem.units}" if problem.units and problem.units != "1" else ""
    said = (
        f"Stage one: {CALLED[way]}, chosen one scale up (RMSE {errors[way]:.3g}{units}; with {CALLED[other]} "
        f"{errors[other]:.3g}{units})."
    )
    return Stage(way, said, replace(found[way], stage_one=said))


def ran_away(stage: Stage, learned: Learned) -> bool:
    """Whether what was learned jointly has so large a prior variance that the other way is to be taken after all."""
    return stage.way == "joint" and learned.spec.kernel.variance > RUNAWAY_VARIANCE
