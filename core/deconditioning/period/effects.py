"""What all times of a period share of the stations' differences from the cells: an offset, an effect of altitude.

The members of an ensemble have effects of their own, as their cells differ from the stations in their own way.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning import linalg
from deconditioning.models.learning.repeats import errors_at, gap_patterns


@dataclass(frozen=True)
class SharedEffects:
    """Posterior ``mean`` b̂ (q,) and ``covariance`` V̂ (q, q) of coefficients b that all times share, standardised.

    Targets of a time t are ``z̃_t = Wᵀ f̄_t + H b + e_t`` with f_t independent between times and ``b ~ N(0, V)``:

        V̂⁻¹ = V⁻¹ + Σ_t H_tᵀ S_t⁻¹ H_t,      b̂ = V̂ Σ_t H_tᵀ S_t⁻¹ r_t.
    """

    mean: Float[Tensor, " q"]
    covariance: Float[Tensor, "q q"]


def shared_effects(
    covariance: Float[Tensor, "M M"], residual: Float[Tensor, "M t"], common: Float[Tensor, "M q"],
    prior: Float[Tensor, " q"], member: Int[Tensor, " t"] | None = None, errors: Float[Tensor, "M t"] | None = None,
) -> tuple[SharedEffects, ...]:  # fmt: skip
    """The posterior of b from the targets of all times, NaN where missing; ``common`` is H, 0 for cells, ``errors`` are
    the variances of the targets' own errors.

    Each member of an ensemble, the times of which ``member`` says, has its own b: the same stations stand beside all.
    """
    member = torch.zeros(residual.shape[1], dtype=torch.long, device=residual.device) if member is None else member
    count = int(member.max()) + 1
    precision, linear = torch.diag(1 / prior).repeat(count, 1, 1), prior.new_zeros(count, len(prior))
    for rows, times in gap_patterns(residual, errors):
        if bool(common[rows].any()):
            noisy = covariance[rows][:, rows] + errors_at(errors, rows, times)
            factor = linalg.cholesky(noisy, "covariance of the targets")
            solved, of = factor.solve(common[rows]), member[times]
            precision += torch.bincount(of, minlength=count)[:, None, None] * (common[rows].T @ solved)
            linear.index_add_(0, of, residual[rows][:, times].T @ solved)
    result = []
    for each, right in zip(precision, linear, strict=True):
        factor = linalg.cholesky(each, "precision of the stations' effects")
        unit = linalg.identity(len(prior), each)
        result.append(SharedEffects(factor.solve(right[:, None])[:, 0], factor.solve(unit)))
    return tuple(result)


def alike(
    times: Int[Tensor, " t"], effects: tuple[SharedEffects, ...], member: Int[Tensor, " n"]
) -> list[tuple[Int[Tensor, " k"], SharedEffects]]:
    """The ``times`` of members whose effects have the same covariance, and effects with it; some are in each."""
    result, left = [], times
    while len(left):
        first = effects[int(member[left[0]])]
        same = torch.tensor([torch.equal(each.covariance, first.covariance) for each in effects]).to(left.device)
        chosen = same[member[left]]
        result.append((left[chosen], first))
        left = left[~chosen]
    return result
