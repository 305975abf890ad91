"""Which warp of the target the model sees: none, or one whose intervals are better one scale up.

Merged cells are downscaled to the known ones with each candidate, and the one with the lowest CRPS in the target's
units is taken. Where cells are too few for that, values of further sources decide, each predicted from all other
targets. Candidates are looked at only for targets with physical limits or skewed values.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import skew

from deconditioning.downscaling.checks.one_scale_up import one_scale_up
from deconditioning.downscaling.checks.scale_up_result import OneScaleUp
from deconditioning.downscaling.settings import AUTO, DownscaleSettings
from deconditioning.downscaling.starting import completed
from deconditioning.downscaling.warping.left_out_sources import left_out_crps
from deconditioning.downscaling.warping.physical_map import warped
from deconditioning.errors import InputError
from deconditioning.fields.problem.physical_limits import limits_of
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.warp import Warp, bounds_of, fit_warp
from deconditioning.fields.units import is_temperature
from deconditioning.wording import number

#: Skewness, either way, from which candidates are looked at.
_SKEWED = 0.5
#: By how much the CRPS of a target with limits may be larger with a warp, which keeps them.
_FOR_LIMITS = 1.02
#: Share of the visible cells at a limit, such as dry cells, beyond which no warp is tried.
MOST_AT_LIMIT = 0.1


@dataclass(frozen=True)
class WarpChoice:
    """The problem that the model sees, the settings that reproduce it, and what was found one scale up if it was."""

    problem: DownscalingProblem
    settings: DownscaleSettings
    checked: OneScaleUp | None = None


@dataclass(frozen=True)
class _Tested:
    """A ``warp`` (or none), its ``crps``, and the test one scale up if that is where it comes from."""

    warp: Warp | None
    crps: float
    checked: OneScaleUp | None = None


def choose_warp(problem: DownscalingProblem, settings: DownscaleSettings, context: Any) -> WarpChoice:
    """The problem with the warp of ``settings``: given, none, of a given kind, or the best one scale up.

    Raises ``InputError`` if the values do not allow a requested kind, and ``Cancelled``.
    """
    requested = settings.warp
    if problem.warp is not None:
        return WarpChoice(problem, settings.replace(warp=problem.warp.to_dict()))
    if isinstance(requested, Mapping):
        return _with(problem, settings, Warp.from_dict(requested), "")
    if requested == AUTO and settings.learn:
        return _best(problem, settings, context)
    if requested in ("none", AUTO):
        return WarpChoice(problem, settings.replace(warp="none"))
    warp = warp_of_kind(problem, requested)
    return _with(problem, settings, warp, f"The model uses {warp.formula} of the target, as requested.")


def _with(problem: DownscalingProblem, settings: DownscaleSettings, warp: Warp, sentence: str) -> WarpChoice:
    if warp.kind == "box-cox" and warp.power == 1:  # a straight line
        return WarpChoice(problem, settings.replace(warp="none"))
    return WarpChoice(warped(problem, warp, sentence), settings.replace(warp=warp.to_dict()))


def candidates(problem: DownscalingProblem) -> tuple[list[Warp], str]:
    """The warps that are worth a test, and why there are none for a target that would need one."""
    values, limits = _values(problem), limits_of(problem)
    share = _is_index(problem) and limits is None
    if is_temperature(problem.units) or (limits is None and abs(skew(values)) <= _SKEWED and not share):
        return [], ""
    if limits is not None:
        at_limit = float(np.mean((values <= limits[0]) | (values >= limits[1])))
        if at_limit > MOST_AT_LIMIT:
            return [], (
                f"{100 * at_limit:.0f} % of the visible {'values' if problem.sources else 'cells'} are exactly at a "
                "limit of the target, which no warp makes Gaussian: the model uses the target without a warp."
            )
    kinds = ["logit"] if (limits is not None or share) and bounds_of(values, limits) else []
    kinds += ["box-cox"] if values.min() >= 0 and values.max() > 0 else []
    warps = [fit_warp(kind, values, limits) for kind in kinds]
    warps = [warp for warp in warps if warp.is_defined(values)]
    return [warp for warp in warps if warp.kind == "logit" or warp.power < 1], ""


def warp_of_kind(problem: DownscalingProblem, kind: str) -> Warp:
    """The warp "log", "box-cox" or "logit" for the values that the model sees, see `fit_warp`."""
    return fit_warp(kind, _values(problem), limits_of(problem))


def _values(problem: DownscalingProblem) -> np.ndarray:
    """(n,) values that the model sees: of the cells, then of every further source."""
    return np.concatenate([problem.coarse[problem.observed], *(each.measured.value for each in problem.sources)])


def _is_index(problem: DownscalingProblem) -> bool:
    """Whether the target is dimensionless and lies between −1 and 1, as an index of vegetation does."""
    values = _values(problem)
    return problem.units in ("1", "") and values.min() >= -1 and values.max() <= 1


def _best(problem: DownscalingProblem, settings: DownscaleSettings, context: Any) -> WarpChoice:
    alone = settings.replace(warp="none")
    tried, why_not = candidates(problem)
    if not tried:
        return WarpChoice(_noted(problem, why_not), alone)
    context.report(message="Choosing the warp of the target by a test one scale up")
    by_sources, how = False, "one scale up"
    unwarped = _tested(problem, None, alone, context, by_sources)
    if unwarped is None:
        by_sources, how = True, "for left-out values of further sources"
        unwarped = _tested(problem, None, alone, context, by_sources)
    if unwarped is None:
        return WarpChoice(
            _noted(problem, "No warp of the target was tried, because the map cannot be tested one scale up."), alone
        )
    every = [_tested(problem, warp, alone, context, by_sources) for warp in tried]
    there = [each for each in every if each is not None]
    allowed = unwarped.crps * (1.0 if limits_of(problem) is None else _FOR_LIMITS)
    best = min(there, key=lambda each: each.crps, default=None)
    if best is None or not best.crps < allowed:
        others = "; ".join(f"{number(other.crps)} with {_formula(other)}" for other in there)
        size = _size(unwarped, problem)
        sentence = f"The model uses the target without a warp: {how} its CRPS is {size}, {others}."
        return WarpChoice(_noted(problem, sentence), alone, unwarped.checked)
    assert best.warp is not None
    sentence = (
        f"The model uses {best.warp.formula} of the target: {how} its CRPS is {_size(best, problem)}, and "
        f"{_size(unwarped, problem)} without a warp."
    )
    return WarpChoice(warped(problem, best.warp, sentence), settings.replace(warp=best.warp.to_dict()), best.checked)


def _tested(
    problem: DownscalingProblem, warp: Warp | None, settings: DownscaleSettings, context: Any, by_sources: bool
) -> _Tested | None:
    """A warp, or none, by its CRPS over the cells one scale up, or over the left-out values of further sources; None
    where it cannot be tested."""
    problem = problem if warp is None else warped(problem, warp)
    if by_sources:
        left_out = left_out_crps(problem, settings, context)
        return None if left_out is None else _Tested(warp, left_out)
    checked = _checked(problem, settings, context)
    return None if checked is None else _Tested(warp, checked.crps, checked)


def _noted(problem: DownscalingProblem, sentence: str) -> DownscalingProblem:
    return replace(problem, notes=(*problem.notes, sentence)) if sentence else problem


def _size(tested: _Tested, problem: DownscalingProblem) -> str:
    return f"{number(tested.crps)} {problem.units}".strip()


def _formula(tested: _Tested) -> str:
    return "no warp" if tested.warp is None else tested.warp.formula


def _checked(problem: DownscalingProblem, settings: DownscaleSettings, context: Any) -> OneScaleUp | None:
    try:
        return one_scale_up(problem, completed(problem, settings).replace(choose=False), context.check)
    except InputError:
        return None
