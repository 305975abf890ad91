"""How well further sources are predicted with a warp of the target, or without one."""

from typing import Any

import numpy as np
import torch

from deconditioning.downscaling.checks.local_scale_inputs import scale_at
from deconditioning.downscaling.further_sources.behind_warp import predicted_values
from deconditioning.downscaling.further_sources.posterior import left_out_of_sources
from deconditioning.downscaling.learning import learn_single
from deconditioning.downscaling.prediction import matched_data
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import columns_of, completed
from deconditioning.errors import Cancelled, InputError
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.metrics.probabilistic import crps
from deconditioning.models.indirect_gp import posterior

#: Values of sources below which they say little, and targets of cells and sources beyond which a model is not learned
#: with each warp.
_LEAST, _MOST = 8, 1000


def left_out_crps(problem: DownscalingProblem, settings: DownscaleSettings, context: Any) -> float | None:
    """The mean CRPS of the sources' values in the target's units, each predicted from all other targets.

    One model is learned from cells and sources; each of its predictive distributions goes back through the warp, so
    that warps can be compared. None below eight values, for models that take none, and beyond 1,000 targets. Raises
    ``Cancelled``.
    """
    settings = completed(problem, settings).replace(choose=False, average=False, integrate=False)
    values = sum(len(each.row) for each in problem.sources)
    if values < _LEAST or not settings.kind.takes_points or len(problem.joint_data.targets) > _MOST:
        return None
    try:
        learned, _ = learn_single(problem, settings, context)
        if learned.cancelled:
            raise Cancelled("The choice of a warp was cancelled.")
        data = matched_data(problem, learned.spec, context.check)
        conditioning = posterior(learned.spec, data, columns_of(problem), context.check).conditioning
    except InputError:
        return None
    with torch.no_grad():
        scale = scale_at(learned.spec, problem, conditioning)
        moments = left_out_of_sources(learned.spec, conditioning, problem, scale)
    assert moments is not None
    truth = np.concatenate([each.measured.value for each in problem.sources])
    return crps(truth=truth, predicted=predicted_values(problem, moments))
