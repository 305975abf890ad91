"""Learning hyperparameters of a downscaling: on a few points of each cell, the place on every pixel where asked for."""

from dataclasses import replace
from typing import Any

import torch

from core.bag_sums.coreset import coreset
from core.bag_sums.moving import MovingGram, moving_gram
from core.device import choose
from core.downscaling.guard import Guard, better_of
from core.downscaling.prediction import bags_inside, matched_data, picture_of, reads_bags
from core.downscaling.settings import DownscaleSettings, columns_of, completed, coordinate_names, starting_spec
from core.engine.reporting import Quiet
from core.errors import Check
from core.fields import DownscalingProblem
from core.models.area_to_point import held_to
from core.models.catalogue import named
from core.models.inducing import fitting
from core.models.learning import Learned, learn
from core.models.progress import learning_reporter
from core.models.spec import ModelSpec
from core.observations import Bags


def learn_model(problem: DownscalingProblem, settings: DownscaleSettings, context: Any = None) -> tuple[Learned, Guard]:
    """Learn on a coreset of each bag; returns the better of what was learned and the start, and how both did.

    Better at predicting the visible cells, each from the others (`guard`).
    """
    context, settings = context or Quiet(), completed(problem, settings)
    device = choose(settings.device)
    start = starting_spec(problem, settings)
    options = settings.learning()
    matched = matched_data(problem, start, context.check)
    small = replace(matched, bags=coreset(matched.bags, settings.points, settings.seed)).to(device)
    every = _every_pixel(problem, start, small.bags, context.check) if settings.every_pixel else None
    report = learning_reporter(context, named(start.model), options, _looked_at(matched.bags, small.bags, every))
    start = replace(start, inducing=fitting(start.inducing, small.bags))
    columns = columns_of(problem)
    centre = None
    if named(start.model).trend:
        centre = held_to(start.kernel, matched.bags, problem.columns, coordinate_names(problem))
    learned = learn(
        start, small, columns, options, report=report, check=context.check, bag_gram=every, held_to=centre
    )  # fmt: skip
    return better_of(problem, start, learned, small, every)


def _every_pixel(problem: DownscalingProblem, spec: ModelSpec, few: Bags, check: Check) -> MovingGram | None:
    """K̄ whose terms of the place see every pixel; None where the grid, the kernel or the model do not allow it."""
    if not (reads_bags(spec) and bags_inside(problem)):
        return None
    picture = picture_of(problem).to(few.inputs.device)
    return moving_gram(spec.kernel, few, picture.bags, picture.points, picture.layout, picture.names, check)


def _looked_at(bags: Bags, few: Bags, every: MovingGram | None) -> str:
    """What learning looks at, where that is not all there is."""
    if len(few.inputs) == len(bags.inputs):
        return ""
    most = int(torch.bincount(few.bag).max())
    if every is None:
        return f"cells thinned to {most} points"
    return "" if all(every.tabulated) else f"the place over every pixel, other terms over {most} points a cell"
