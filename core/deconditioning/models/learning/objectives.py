"""Objectives of learning, per target: the negative log evidence, or the negative collapsed bound on it."""

from collections.abc import Callable

from torch import Tensor

from deconditioning import linalg
from deconditioning.bag_sums.blocks import SortedBags, sort_bags
from deconditioning.bag_sums.direct import cross_with_gradient
from deconditioning.bag_sums.moving import BagGram
from deconditioning.errors import Check
from deconditioning.kernels.tiles import evaluate
from deconditioning.models.conditioning import observation_noise, with_errors
from deconditioning.models.learning.trainable import Trainable
from deconditioning.models.sparse.bag_prior import BagPrior, Through
from deconditioning.models.sparse.sparse_gp import collapsed_bound
from deconditioning.models.sparse.target_summary import WhitenedTargets, whiten
from deconditioning.models.term_bags import bag_gram_of
from deconditioning.observations import IndirectData


def exact_objective(
    trainable: Trainable, data: IndirectData, check: Check, bag_gram: BagGram | None = None
) -> Callable[[], Tensor]:
    """``−log N(z̃; Wᵀm̄, WᵀK̄W + Σ) / M``, differentiable in all trainable parameters; K̄ from
    ``bag_gram`` if given.
    """
    spec, model = trainable.spec, trainable.model
    between = bag_gram or bag_gram_of(spec, data, trainable.columns.place, check)
    identity = linalg.identity(len(data.targets), data.targets)

    def loss() -> Tensor:
        """Minus the log evidence per target at the present parameters."""
        check()
        mediated, unknown = trainable.mediation(data)
        weights = identity if mediated is None else mediated
        noise = observation_noise(weights, trainable.noise, trainable.point_noise, model.contamination(data))
        noise = with_errors(noise, data, trainable.noise, trainable.representativeness)
        gram, residual = between(trainable.kernel), data.targets - model.expected(weights, spec.mean)
        noise = noise if unknown is None else noise + unknown(gram)
        factor = linalg.cholesky(model.covariance(mediated, gram) + noise, "covariance of the targets")
        return -linalg.log_normal_density(residual, factor) / len(data.targets)

    return loss


def collapsed_objective(trainable: Trainable, data: IndirectData, check: Check) -> Callable[[], Tensor]:
    """The negative collapsed bound per target, differentiable in all trainable parameters including inducing points."""
    bags, prior = sort_bags(data.bags), BagPrior.of(data.bags, whole=trainable.model.mediated)

    def loss() -> Tensor:
        """Minus the collapsed bound per target at the present parameters."""
        check()
        targets, projection, variances = projected(trainable, data, bags, prior, check)
        return -collapsed_bound(projection, variances, targets) / len(data.targets)

    return loss


def projected(
    trainable: Trainable, data: IndirectData, bags: SortedBags, prior: BagPrior, check: Check, *, singly: bool = False
) -> tuple[WhitenedTargets, Tensor, Tensor]:
    """Whitened targets, A (p, k) and ``diag(F⁻¹WᵀK̄WF⁻ᵀ)`` (k,) at the present values, with gradients.

    ``singly`` keeps the targets apart (a minibatch is drawn from them) instead of rotating them.
    """
    assert trainable.inducing is not None
    targets, kernel, inducing = _whitened(trainable, data, check, singly), trainable.kernel, trainable.inducing
    factor = linalg.cholesky(evaluate(kernel, inducing, inducing), "covariance of the inducing points")
    half = factor.half_solve(cross_with_gradient(kernel, bags, inducing, check=check).T)
    bag_gram = prior(kernel, Through(inducing, factor, half), check)
    return targets, targets.project(half.T).T, targets.prior_variances(bag_gram)


def _whitened(trainable: Trainable, data: IndirectData, check: Check, singly: bool) -> WhitenedTargets:
    noise, point_noise = trainable.noise, trainable.point_noise
    if not trainable.model.mediated or not (singly or trainable.joint):
        return trainable.summary(data, check).whiten(noise, point_noise)
    weights = trainable.weights(data)
    assert weights is not None
    residual = data.targets - trainable.model.expected(weights, trainable.spec.mean)
    return whiten(residual, weights, noise, point_noise, data.bags.contamination)
