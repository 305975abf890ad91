"""Hyperparameters that all times of a series share, learned from the averaged evidence of at most twelve of them."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from deconditioning.bag_sums.distances import over_many
from deconditioning.device import choose
from deconditioning.downscaling.learning_data import centre_of_priors, learning_gram, thinned
from deconditioning.downscaling.prediction import reads_bags
from deconditioning.downscaling.settings import CHOOSE, DownscaleSettings
from deconditioning.downscaling.starting import columns_of, starting_spec
from deconditioning.errors import Cancelled, InputError
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.models.learning.learning import Learned, learn
from deconditioning.models.learning.progress import learning_reporter
from deconditioning.models.learning.repeats import Repeats
from deconditioning.models.spec import ModelSpec
from deconditioning.models.term_bags import bag_gram_of
from deconditioning.period.posterior import condition_times
from deconditioning.period.series import Series

#: Times that hyperparameters are learned from: more cost time and change little.
_MOST_TIMES = 12
#: The largest exponent α that is learned from cells alone. Their means are smooth at all events, and with α near 2 they
#: would determine the field inside them nearly exactly: its intervals would be far too narrow (Stein 1999,
#: *Interpolation of Spatial Data*, §§1.7 and 3.5).
SMOOTHEST = 1.8
#: By how much the starting values have to be better to be kept.
_MARGIN = 0.01


def spread_times(series: Series, most: int = _MOST_TIMES) -> np.ndarray:
    """At most ``most`` times of a series, evenly spread."""
    return np.unique(np.linspace(0, len(series) - 1, min(most, len(series))).round().astype(int))


@dataclass(frozen=True)
class PooledLearning:
    """What was learned, and the RMSE of a left-out cell over all these times, in the target's units, at the ``start``
    and with the ``learned`` hyperparameters.
    """

    learned: Learned
    start: float
    after: float

    @property
    def sentences(self) -> tuple[str, ...]:
        """Messages for the user."""
        if not self.start < (1 - _MARGIN) * self.after:
            return self.learned.warnings
        return (
            f"Learning made the model worse: the leave-one-out error of a cell is {self.after:.3g} with the learned "
            f"hyperparameters and {self.start:.3g} with the starting ones, which are used instead.",
        )


def learn_pooled(series: Series, settings: DownscaleSettings, context: Any) -> PooledLearning:
    """Maximise the mean over times of ``log N(z̃_t; Wᵀm̄, S)`` plus the log prior of the hyperparameters.

    One factorisation and K solves a step, if covariates do not change with time. The starting values are kept if they
    predict left-out cells better. Raises ``InputError``, and ``Cancelled``.
    """
    if settings.stage_one == CHOOSE:
        settings = settings.replace(stage_one="leave_one_bag_out")
    problem = series.problem
    start, columns, options = starting_spec(problem, settings), columns_of(problem), settings.learning()
    if not reads_bags(start):
        raise InputError(
            f"The model '{start.model.name}' is not learned from several times: choose area_to_point_gp, "
            "regression_kriging, bag_gp, shrinkage_cmp or cmp."
        )
    repeats = [
        repeats_of(block.problem, start, block.targets, settings, context.check, block.errors)
        for block in series.blocks(spread_times(series))
    ]
    first = repeats[0]
    centre = centre_of_priors(problem, start, problem.joint_data.bags)
    report = learning_reporter(context, start.model, options, f"mean over {spread_times(series).size} times")
    template = replace(first.data, targets=torch.nan_to_num(first.targets[:, 0]))
    learned = learn(
        start, template, columns, options, report=report, check=context.check, bag_gram=first.bag_gram,
        held_to=centre, repeats=repeats, smoothest=SMOOTHEST,
    )  # fmt: skip
    if learned.cancelled:
        raise Cancelled("The run was cancelled during learning.")
    before, after = (series.scale * _left_out(spec, series, repeats) for spec in (start, learned.spec))
    if before < (1 - _MARGIN) * after:
        learned = replace(learned, spec=start, evidence=math.nan, warnings=())
    return PooledLearning(learned, before, after)


def repeats_of(
    problem: DownscalingProblem, start: ModelSpec, targets: torch.Tensor, settings: DownscaleSettings, check: Any,
    errors: torch.Tensor | None = None,
) -> Repeats:  # fmt: skip
    """The data that learning looks at, as `downscaling.learning` takes them for one time."""
    device = choose(settings.device)
    data = problem.joint_data
    small = thinned(data, settings.points, settings.seed).to(device)
    gram = learning_gram(problem, start, small, data, check)[0] if settings.every_pixel else None
    gram = gram or bag_gram_of(start, small, columns_of(problem).place, check, over_many)
    return Repeats(small, targets.to(device), gram, None if errors is None else errors.to(device))


def _left_out(spec: ModelSpec, series: Series, repeats: list[Repeats]) -> float:
    """RMSE of the standardised targets, each predicted from the others of its time."""
    total, count = 0.0, 0
    ends = np.cumsum([each.targets.shape[1] for each in repeats])
    for each, member in zip(repeats, np.split(series.member[spread_times(series)], ends[:-1]), strict=True):
        assert each.bag_gram is not None
        with torch.no_grad():
            gram = each.bag_gram(spec.kernel.build(series.problem.columns).to(each.targets.device))
            problem = replace(series.problem, data=each.data, sources=())
            for group in condition_times(spec, problem, each.targets, gram, member, each.errors):
                error, _ = group.left_out
                total, count = total + float(error.square().sum()), count + error.numel()
    return math.sqrt(total / count)
