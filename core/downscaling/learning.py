"""Learning hyperparameters of a downscaling: on a few points of each cell, the place on every pixel where asked for."""

from dataclasses import replace
from typing import Any

import torch

from core.device import choose
from core.downscaling.guard import Guard, better_of
from core.downscaling.learning_data import centre_of_priors, learning_gram, thinned
from core.downscaling.one_scale_up import one_scale_up
from core.downscaling.prediction import matched_data
from core.downscaling.settings import DownscaleSettings, columns_of, completed, starting_spec
from core.engine.reporting import Quiet
from core.errors import Cancelled, InputError
from core.fields import DownscalingProblem
from core.models.catalogue import named
from core.models.inducing import fitting
from core.models.learning import Learned, learn
from core.models.progress import learning_reporter
from core.observations import Bags


def learn_model(problem: DownscalingProblem, settings: DownscaleSettings, context: Any = None) -> tuple[Learned, Guard]:
    """Learn on a coreset of each bag; returns the better of what was learned and the start, and how both did.

    Better at predicting the visible cells, each from the others (`guard`); then the whole way is checked one scale up.
    """
    context, settings = context or Quiet(), completed(problem, settings)
    start, columns = starting_spec(problem, settings), columns_of(problem)
    options = settings.learning()
    matched = matched_data(problem, start, context.check)
    small = thinned(matched, settings.points, settings.seed).to(choose(settings.device))
    every, whole = None, False
    if settings.every_pixel:
        every, whole = learning_gram(problem, start, small, matched, context.check)
    looked_at = _looked_at(matched.bags, small.bags, every is not None, whole)
    report = learning_reporter(context, named(start.model), options, looked_at)
    start = replace(start, inducing=fitting(start.inducing, small.bags))
    centre = centre_of_priors(problem, start, matched.bags)
    learned = learn(
        start, small, columns, options, report=report, check=context.check, bag_gram=every, held_to=centre
    )  # fmt: skip
    learned, guard = better_of(problem, start, learned, small, every)
    return (learned, guard) if learned.cancelled else _checked(problem, settings, context, learned, guard)


def _checked(
    problem: DownscalingProblem, settings: DownscaleSettings, context: Any, learned: Learned, guard: Guard
) -> tuple[Learned, Guard]:
    """The same with the check one scale up; what was learned is kept where that is cancelled or impossible."""
    context.report(message="Checking one scale up")
    try:
        return learned, replace(guard, one_scale_up=one_scale_up(problem, settings, context.check))
    except Cancelled:
        return replace(learned, cancelled=True), guard
    except InputError as error:
        said = f"The map could not be checked one scale up. {error}"
        return replace(learned, warnings=(*learned.warnings, said)), guard


def _looked_at(bags: Bags, few: Bags, every: bool, whole: bool) -> str:
    """What learning looks at, where that is not all there is."""
    if whole or len(few.inputs) == len(bags.inputs):
        return ""
    most = int(torch.bincount(few.bag).max())
    return (
        f"the place over every pixel, other terms over {most} points a cell"
        if every
        else (f"cells thinned to {most} points")
    )
