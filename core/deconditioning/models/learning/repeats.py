"""The same cells measured at several times: their evidence, averaged over the times, as one objective of learning.

Times of a series repeat one another. Summed, their log evidences count the same facts again and again, and the priors
of the hyperparameters lose their weight; averaged, they count as one time that is known better.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning import linalg
from deconditioning.bag_sums.moving import BagGram
from deconditioning.errors import Check
from deconditioning.models.conditioning import observation_noise, with_errors
from deconditioning.models.learning.trainable import Trainable
from deconditioning.models.term_bags import bag_gram_of
from deconditioning.observations import IndirectData


@dataclass(frozen=True)
class Repeats:
    """Targets (M, T) of T times at the cells of ``data``, NaN where missing, K̄ of its bags if known, and the variances
    (M, T) of the targets' own errors, None without any.

    The targets of ``data`` itself are not used.
    """

    data: IndirectData
    targets: Float[Tensor, "M T"]
    bag_gram: BagGram | None = None
    errors: Float[Tensor, "M T"] | None = None


def gap_patterns(
    targets: Float[Tensor, "M T"], errors: Float[Tensor, "M T"] | None = None
) -> list[tuple[Int[Tensor, " m"], Int[Tensor, " t"]]]:
    """The times in groups that have values at the same cells, with the same variances of their ``errors``: these
    cells, and the times; times without any are left out.
    """
    known = ~targets.isnan()
    alike = known if errors is None else torch.where(known, errors, -1.0)
    patterns, group = torch.unique(alike.T, dim=0, return_inverse=True)
    each = [(group == k).nonzero()[:, 0] for k in range(len(patterns))]
    every = ((known[:, times[0]].nonzero()[:, 0], times) for times in each)
    return [(rows, times) for rows, times in every if len(rows)]


def errors_at(
    errors: Float[Tensor, "M T"] | None, rows: Int[Tensor, " m"], times: Int[Tensor, " t"]
) -> Float[Tensor, "m m"] | float:
    """The covariance of the errors of some targets at times with the same ones (`gap_patterns`)."""
    return 0.0 if errors is None else torch.diag(errors[rows, times[0]])


def log_densities(residual: Float[Tensor, "m t"], factor: linalg.Factor) -> Float[Tensor, " t"]:
    """``log N(r_t; 0, A)`` of every column."""
    fit = factor.half_solve(residual).square().sum(0)
    return -0.5 * (fit + factor.log_determinant() + len(residual) * linalg.LOG_TWO_PI)


def covariance_of_targets(
    trainable: Trainable, data: IndirectData, gram: Float[Tensor, "B B"]
) -> tuple[Float[Tensor, "B M"], Float[Tensor, "M M"]]:
    """W and ``WᵀK̄W + Σ`` at the present parameters, from K̄."""
    mediated, unknown = trainable.mediation(data)
    weights = linalg.identity(len(data.targets), data.targets) if mediated is None else mediated
    contamination = trainable.model.contamination(data)
    noise = observation_noise(weights, trainable.noise, trainable.point_noise, contamination)
    noise = with_errors(noise, data, trainable.noise, trainable.representativeness)
    return weights, trainable.model.covariance(mediated, gram) + (noise if unknown is None else noise + unknown(gram))


def averaged_objective(trainable: Trainable, repeats: Sequence[Repeats], check: Check) -> Callable[[], Tensor]:
    """``−(1/T) Σ_t log N(z̃_t; W_tᵀm̄, S_t) / M`` over all T times, each with the cells that have a value then."""
    spec, model, located = trainable.spec, trainable.model, trainable.columns.place
    parts = [(each, each.bag_gram or bag_gram_of(spec, each.data, located, check)) for each in repeats]
    groups = [gap_patterns(each.targets, each.errors) for each in repeats]
    times = sum(len(columns) for group in groups for _, columns in group)

    def loss() -> Tensor:
        """Minus the mean log evidence per target at the present parameters."""
        check()
        total = trainable.noise.new_zeros(())
        for (each, between), group in zip(parts, groups, strict=True):
            weights, covariance = covariance_of_targets(trainable, each.data, between(trainable.kernel))
            residual = each.targets - model.expected(weights, spec.mean)[:, None]
            for rows, columns in group:
                noisy = covariance[rows][:, rows] + errors_at(each.errors, rows, columns)
                factor = linalg.cholesky(noisy, "covariance of the targets")
                total = total + log_densities(residual[rows][:, columns], factor).sum()
        return -total / times / len(repeats[0].targets)

    return loss
