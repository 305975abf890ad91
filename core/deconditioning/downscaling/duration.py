"""Estimates the duration of a downscaling or of a sweep before it starts."""

from deconditioning.downscaling.checks.patches import some_cells
from deconditioning.downscaling.settings import CHOOSE, DownscaleSettings
from deconditioning.downscaling.stages import has_two_ways
from deconditioning.downscaling.starting import averaged_with, completed
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.models.learning.learning_time import expected_seconds

#: Seconds on one core of a map with its scores: whatever the size, for each pixel and for each pair of cells.
_ALWAYS_S, _PIXEL_S, _PAIR_S = 1.0, 2e-5, 1.2e-5
#: Shares: of a map that one setting of a sweep takes, of learning that one look at one scale up takes.
_SETTING, LOOK = 0.3, 0.6


def about_seconds(problem: DownscalingProblem, settings: DownscaleSettings) -> float:
    """Expected seconds on one core, accurate to a factor of three: learning, if requested, and the map."""
    return map_seconds(problem) + (_learning_seconds(problem, settings) if settings.learn else 0.0)


def map_seconds(problem: DownscalingProblem) -> float:
    """Expected seconds of the map and the scores with given hyperparameters."""
    return _ALWAYS_S + _PIXEL_S * problem.grid.area.size + _PAIR_S * problem.data.bags.count**2


def setting_seconds(problem: DownscalingProblem) -> float:
    """Expected seconds of one setting of a sweep."""
    return _SETTING * map_seconds(problem)


def _learning_seconds(problem: DownscalingProblem, settings: DownscaleSettings) -> float:
    """Seconds of learning and of looking one scale up: once, or for each of two models or ways to choose from.

    Every model of an average is learned.
    """
    settings = completed(problem, settings)
    model = settings.kind
    problem = some_cells(problem, settings.seed) if model.on_bags else problem
    bags = problem.data.bags
    points = min(len(bags.inputs), settings.points * bags.count) if model.on_bags else bags.count
    adam = settings.method == "adam"
    stages = 2 if model.learns_mediation_first("leave_one_bag_out") else 1
    once = stages * expected_seconds(
        points, len(problem.data.targets), 1 if adam else settings.learning().restarts, settings.steps,
        inducing=settings.inducing_points(points).count if model.uses("inducing") else None, converges=not adam,
    )  # fmt: skip
    two = bool(settings.choose) or (settings.stage_one == CHOOSE and has_two_ways(settings.kind))
    models = 1 + len(averaged_with(problem, settings))
    return once * (models + LOOK * (2 if two else models))
