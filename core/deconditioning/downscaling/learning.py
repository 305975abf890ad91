"""Learning the hyperparameters of a downscaling: on a few points of each cell, with kernels of coordinates on every
pixel if requested.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import torch

from deconditioning.bag_sums.distances import over_many
from deconditioning.device import choose
from deconditioning.downscaling.checks.few_cells import integrates
from deconditioning.downscaling.checks.learning_check import LearningCheck, better_of
from deconditioning.downscaling.checks.one_scale_up import one_scale_up
from deconditioning.downscaling.checks.patches import some_cells
from deconditioning.downscaling.checks.scale_up_result import OneScaleUp
from deconditioning.downscaling.duration import LOOK
from deconditioning.downscaling.learning_data import centre_of_priors, distances_suffice, learning_gram, thinned
from deconditioning.downscaling.prediction import matched_data, reads_bags
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.stages import choose_stage, ran_away
from deconditioning.downscaling.starting import (
    averaged_with,
    columns_of,
    completed,
    other_candidate,
    starting_spec,
)
from deconditioning.engine.reporting import NoReport, Part
from deconditioning.errors import Cancelled, InputError
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.models.learning.integrate import integrate
from deconditioning.models.learning.learning import Learned, learn
from deconditioning.models.learning.progress import learning_reporter
from deconditioning.models.sparse.inducing import fitting
from deconditioning.models.term_bags import bag_gram_of
from deconditioning.observations import Bags

#: Share of a run's time after which the models of an average are learned: the map and its scores follow.
_LEARNED = 0.97


def learn_model(
    problem: DownscalingProblem, settings: DownscaleSettings, context: Any = None, known: OneScaleUp | None = None
) -> tuple[Learned, LearningCheck]:
    """Learn on a coreset of each bag; returns the better of the learned hyperparameters and the start, with both
    results.

    Better means better at predicting each visible cell from the others; then the whole procedure is tested one scale
    up, or before learning if that chooses the model (``settings.choose``). ``known`` is that test of the problem with
    these settings, where the choice of its warp has made it: an average takes its weights from there.
    """
    context, settings = context or NoReport(), completed(problem, settings)
    if others := averaged_with(problem, settings):
        return _learned_average(problem, settings, others, context, known)
    checked: _Checked = _Checked()
    if settings.choose and (other := other_candidate(problem, settings)) is not None:
        context.report(message="Choosing the model by a test one scale up")
        checked = _look(problem, settings, context)
        if checked.cancelled:
            return Learned(starting_spec(problem, settings), math.nan, (), True), LearningCheck.of(problem)
        if checked.result is not None and checked.result.model != settings.model:
            settings = other
    try:
        stage = choose_stage(problem, settings, context)
    except Cancelled:
        return Learned(starting_spec(problem, settings), math.nan, (), True), LearningCheck.of(problem)
    settings = settings.replace(stage_one=stage.way)
    checked = checked if stage.check is None else _Checked(True, stage.check)
    learned, guard = learn_single(problem, settings, context)
    if stage.sentence and ran_away(stage, learned):
        stage = stage.turned_back(learned)
        learned, guard = learn_single(problem, settings.replace(stage_one=stage.way), context)
        checked = _Checked()
    if stage.sentence:
        learned = replace(learned, stages={**learned.stages, "chosen": {"way": stage.way, "said": stage.sentence}})
    if learned.cancelled:
        return learned, guard
    if not checked.looked:
        context.report(message="Checking one scale up")
        checked = _look(problem, settings, context)
    warnings = (*learned.warnings, *checked.warnings)
    learned = replace(learned, warnings=warnings, cancelled=checked.cancelled)
    return learned, replace(guard, one_scale_up=checked.result)


def _learned_average(
    problem: DownscalingProblem, settings: DownscaleSettings, others: list[DownscaleSettings], context: Any,
    known: OneScaleUp | None,
) -> tuple[Learned, LearningCheck]:  # fmt: skip
    """Learn the models that have weight one scale up, in the ``known`` test or a new one; the first holds the others.

    Where cells are too few for the test, the first model alone is learned.
    """
    look = 0.0 if known is not None else LOOK / (1 + LOOK)
    context.report(message="Weighing the models by a test one scale up", share=0.0)
    checked = _look(problem, settings, context) if known is None else _Checked(True, known)
    weights = {settings.model: 1.0} if checked.result is None else checked.result.weights
    guard, parts = LearningCheck.of(problem), list[tuple[float, Learned]]()
    chosen = [each for each in (settings, *others) if weights.get(each.model, 0.0) > 0 and not checked.cancelled]
    for number, each in enumerate(chosen):
        ends = (look + (_LEARNED - look) * (number + more) / len(chosen) for more in (0, 1))
        learned, result = learn_single(problem, each, Part(context, *ends))
        guard = guard if parts else replace(result, one_scale_up=checked.result)
        parts.append((weights[each.model], learned))
        if learned.cancelled:
            break
    if not parts:
        return Learned(starting_spec(problem, settings), math.nan, (), True), guard
    cancelled = any(learned.cancelled for _, learned in parts)
    first, rest = parts[0][1], () if cancelled else tuple((weight, learned.spec) for weight, learned in parts[1:])
    warnings = dict.fromkeys(sentence for _, learned in parts for sentence in learned.warnings)
    spec = replace(first.spec, others=rest)
    return replace(first, spec=spec, warnings=(*warnings, *checked.warnings), cancelled=cancelled), guard


def learn_single(
    problem: DownscalingProblem, settings: DownscaleSettings, context: Any
) -> tuple[Learned, LearningCheck]:
    """Learn one model with completed ``settings``, without the choice of a model and the test one scale up."""
    start, columns, options = starting_spec(problem, settings), columns_of(problem), settings.learning()
    whole_map, problem = problem, some_cells(problem, settings.seed) if settings.kind.on_bags else problem
    matched = matched_data(problem, start, context.check)
    every, whole, check, device = None, False, context.check, choose(settings.device)
    by_distances = bool(settings.every_pixel) and distances_suffice(problem, start, device, check)
    small = thinned(matched, settings.points, settings.seed, footprints=not by_distances).to(device)
    if settings.every_pixel:
        every, whole = learning_gram(problem, start, small, matched, check)
    looked_at = _looked_at(matched.bags, small.bags, every is not None, whole)
    some, of = len(problem.data.targets), len(whole_map.data.targets)
    looked_at = looked_at if some == of else "; ".join(filter(None, [f"{some:,} of {of:,} cells", looked_at]))
    if every is None and reads_bags(start):
        every = bag_gram_of(start, small, columns.place, check, over_many)
    report = learning_reporter(context, start.model, options, looked_at)
    start = replace(start, inducing=fitting(start.inducing, small.bags))
    centre = centre_of_priors(problem, start, matched.bags)
    learned = learn(
        start, small, columns, options, report=report, check=context.check, bag_gram=every, held_to=centre
    )  # fmt: skip
    if learned.cancelled:  # at once: whether it is better than the start is not looked at
        return learned, LearningCheck.of(problem)
    try:
        learned, guard = better_of(problem, start, learned, small, every)
        if integrates(settings, len(small.targets)):
            context.report(message="Averaging over hyperparameters")
            spec = integrate(
                learned.spec, small, columns, options, centre=centre or start.kernel, bag_gram=every, check=check
            )
            learned = replace(learned, spec=spec)
        return learned, guard
    except Cancelled:
        return replace(learned, cancelled=True), LearningCheck.of(problem)


@dataclass(frozen=True)
class _Checked:
    """What was found one scale up, if it was looked at all; a sentence where that was impossible."""

    looked: bool = False
    result: OneScaleUp | None = None
    warnings: tuple[str, ...] = ()
    cancelled: bool = False


def _look(problem: DownscalingProblem, settings: DownscaleSettings, context: Any) -> _Checked:
    try:
        return _Checked(True, one_scale_up(problem, settings, context.check))
    except Cancelled:
        return _Checked(True, cancelled=True)
    except InputError as error:
        return _Checked(True, warnings=(f"The map could not be checked one scale up. {error}",))


def _looked_at(bags: Bags, few: Bags, every: bool, whole: bool) -> str:
    """What learning looks at, where that is not all there is."""
    if whole or len(few.inputs) == len(bags.inputs):
        return ""
    most = int(torch.bincount(few.bag).max())
    return (
        f"location over every pixel, other terms over {most} points a cell"
        if every
        else (f"cells thinned to {most} points")
    )
