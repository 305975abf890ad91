"""The posterior of the hyperparameters given few targets, by slice sampling, in place of its mode alone.

The evidence of a few targets does not determine roughness, lengthscales and variances. Their posterior

    p(θ | z̃) ∝ N(z̃; Wᵀm̄, S(θ)) Π_i N(log θ_i; log θ₀_i, w_i²)

is sampled, and the map is the average over the samples: its variance is the mean of the samples' variances plus the
variance of their means. Source: Rasmussen and Williams 2006, §5.2; Murray, Adams and MacKay 2010, *Elliptical slice
sampling*.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch

from deconditioning.bag_sums.moving import BagGram
from deconditioning.errors import Check, InputError, never
from deconditioning.kernels.spec import KernelSpec
from deconditioning.models.indirect_gp import Columns
from deconditioning.models.learning.learning import LearningOptions
from deconditioning.models.learning.objectives import exact_objective
from deconditioning.models.learning.parameters import ParameterVector, kernel_parameters
from deconditioning.models.learning.trainable import Trainable, noises_at, noises_by_label
from deconditioning.models.spec import ModelSpec
from deconditioning.models.spread import Spread
from deconditioning.observations import IndirectData

#: Samples that are kept, steps of the chain between two of them, and steps before the first.
MEMBERS, _APART, _BEFORE = 16, 6, 24
#: Width of the log-normal priors of what learning leaves without one.
_WIDE = 2.0


def integrate(
    spec: ModelSpec,
    data: IndirectData,
    columns: Columns,
    options: LearningOptions,
    *,
    centre: KernelSpec,
    bag_gram: BagGram | None = None,
    check: Check = never,
) -> ModelSpec:
    """A model with the posterior spread of k's hyperparameters and of the noises that are free, around its own values.

    ``centre`` is a kernel of the same structure with the centres of the priors; their width is that of ``options``. W
    stays as the model has it. The result depends on ``options.seed`` alone. Raises ``Cancelled``.
    """
    trainable = Trainable(spec, data, columns, hold=options.hold, held_to=centre)
    objective, vector, count = exact_objective(trainable, data, check, bag_gram), trainable.vector, len(data.targets)
    low, high = (np.array(side) for side in zip(*vector.bounds, strict=True))
    middle, width, start = trainable.prior_centres(), _widths(vector, options.prior_sd), vector.get()

    def log_likelihood(point: np.ndarray) -> float:
        """The log evidence at a point in units of the priors' widths; −∞ outside the bounds."""
        values = middle + width * point
        if (values < low).any() or (values > high).any():
            return -math.inf
        vector.set(values)
        try:
            with torch.no_grad():
                value = -count * float(objective())
        except InputError:  # S is singular there
            return -math.inf
        return value if math.isfinite(value) else -math.inf

    chain = _chain(log_likelihood, (start - middle) / width, np.random.default_rng(options.seed))
    offsets = tuple(tuple(float(v) for v in middle + width * point - start) for point in chain)
    return replace(spec, spread=Spread(vector.names, offsets))


def _widths(vector: ParameterVector, prior_sd: float) -> np.ndarray:
    """Width of the prior of every entry."""
    widths = [
        (prior_sd * each.spread if prior_sd > 0 and each.names[0].startswith("k") else _WIDE * each.spread)
        for each in vector.parameters
        for _ in each.names
    ]
    return np.array(widths)


def _chain(
    log_likelihood: Callable[[np.ndarray], float], start: np.ndarray, rng: np.random.Generator
) -> list[np.ndarray]:
    """``MEMBERS`` points of a Markov chain whose stationary density is ``N(0, I)`` times the likelihood."""
    point, value, result = start, log_likelihood(start), []
    for step in range(1, _BEFORE + MEMBERS * _APART + 1):
        point, value = _slice(log_likelihood, point, value, rng)
        if step > _BEFORE and (step - _BEFORE) % _APART == 0:
            result.append(point)
    return result


def _slice(
    log_likelihood: Callable[[np.ndarray], float], point: np.ndarray, value: float, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """One step on the ellipse through the point and a draw from ``N(0, I)``."""
    other, least = rng.standard_normal(len(point)), value + math.log(1.0 - rng.random())
    angle = rng.uniform(0.0, 2 * math.pi)
    low, high = angle - 2 * math.pi, angle
    while high - low > 1e-9:
        moved = point * math.cos(angle) + other * math.sin(angle)
        reached = log_likelihood(moved)
        if reached > least:
            return moved, reached
        low, high = (angle, high) if angle < 0 else (low, angle)
        angle = rng.uniform(low, high)
    return point, value


def members(spec: ModelSpec, names: tuple[str, ...]) -> list[ModelSpec]:
    """The models that a spread stands for, equally probable; the model itself if it has none.

    ``names`` are the columns of the inputs.
    """
    if spec.spread is None:
        return [spec]
    alone, kernel = replace(spec, spread=None), spec.kernel.build(names)
    vector = ParameterVector(tuple(kernel_parameters("k", spec.kernel, kernel)))
    now = vector.values() | noises_by_label(spec)

    def member(offsets: dict[str, float]) -> ModelSpec:
        """The model with logarithms moved by these."""
        values = {name: now[name] * math.exp(offset) for name, offset in offsets.items() if name in now}
        vector.write(values)
        return replace(alone, kernel=spec.kernel.updated(kernel), **noises_at(spec, values))

    return [member(dict(zip(spec.spread.names, row, strict=True))) for row in spec.spread.offsets]
