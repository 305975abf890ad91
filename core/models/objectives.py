"""What learning minimises, per target: minus the log evidence, or minus the collapsed bound on it."""

from collections.abc import Callable

import torch
from torch import Tensor

from core import linalg
from core.kernels.bag_mean import Check, cross_with_gradient, diagonal, gram
from core.kernels.blocks import SortedBags, sort_bags
from core.kernels.tiles import evaluate
from core.models.conditioning import log_evidence, observation_noise
from core.models.sparse_gp import WhitenedTargets, collapsed_bound, prior_mean_of_targets, whiten
from core.models.trainable import Trainable
from core.observations import IndirectData

#: Points per block where only sums within bags are needed: small blocks waste few pairs between bags.
_SMALL_BLOCK = 128


def exact_objective(trainable: Trainable, data: IndirectData, check: Check) -> Callable[[], Tensor]:
    """``−log N(z̃; Wᵀm̄, WᵀK̄W + Σ) / M``, differentiable in everything trainable."""
    bags, spec = sort_bags(data.bags), trainable.spec
    identity = torch.eye(len(data.targets), dtype=data.targets.dtype, device=data.targets.device)

    def loss() -> Tensor:
        check()
        weights, unknown = trainable.mediation(data)
        weights = identity if weights is None else weights
        noise = observation_noise(weights, trainable.noise, trainable.point_noise, data.bags.contamination)
        noise = noise if unknown is None else noise + unknown
        bag_gram = gram(trainable.kernel, bags, check=check)
        return -log_evidence(bag_gram, weights, noise, data.targets - spec.mean * weights.sum(0)) / len(data.targets)

    return loss


def collapsed_objective(trainable: Trainable, data: IndirectData, check: Check) -> Callable[[], Tensor]:
    """Minus the collapsed bound per target, differentiable in everything trainable, inducing points included."""
    bags, small = sort_bags(data.bags), sort_bags(data.bags, _SMALL_BLOCK)

    def loss() -> Tensor:
        check()
        targets, projection, variances = projected(trainable, data, bags, small, check)
        return -collapsed_bound(projection, variances, targets) / len(data.targets)

    return loss


def projected(
    trainable: Trainable, data: IndirectData, bags: SortedBags, small: SortedBags, check: Check
) -> tuple[WhitenedTargets, Tensor, Tensor]:
    """Whitened targets, A (p, M) and ``diag(F⁻¹WᵀK̄WF⁻ᵀ)`` (M,) at the present values, with gradients."""
    assert trainable.inducing is not None
    weights, kernel = trainable.weights(data), trainable.kernel
    residual = data.targets - prior_mean_of_targets(trainable.spec, data, weights)
    targets = whiten(residual, weights, trainable.noise, trainable.point_noise, data.bags.contamination)
    inducing = trainable.inducing
    factor = linalg.cholesky(evaluate(kernel, inducing, inducing), "covariance of the inducing points")
    sums = cross_with_gradient(kernel, bags, inducing, check=check)
    bag_gram = diagonal(kernel, small, check=check) if weights is None else gram(kernel, bags, check=check)
    return targets, factor.half_solve(targets.project(sums).T), targets.prior_variances(bag_gram)
