"""What all times of a period share of the stations' differences from the cells: an offset, an effect of altitude."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.models.learning.repeats import gap_patterns


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
    prior: Float[Tensor, " q"],
) -> SharedEffects:  # fmt: skip
    """The posterior of b from the targets of all times, NaN where missing; ``common`` is H, 0 for cells."""
    precision, linear = torch.diag(1 / prior), torch.zeros_like(prior)
    for rows, times in gap_patterns(residual):
        if bool(common[rows].any()):
            factor = linalg.cholesky(covariance[rows][:, rows], "covariance of the targets")
            solved = factor.solve(common[rows])
            precision = precision + len(times) * common[rows].T @ solved
            linear = linear + solved.T @ residual[rows][:, times].sum(1)
    factor = linalg.cholesky(precision, "precision of the stations' effects")
    return SharedEffects(factor.solve(linear[:, None])[:, 0], factor.solve(linalg.identity(len(prior), precision)))
