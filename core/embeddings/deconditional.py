"""The deconditional mean operator as a two-staged ridge regression between finite feature spaces.

Stage one regresses ``φ(x)`` on ``ψ(y)`` (the conditional mean operator C), stage two ``ψ(ỹ)`` on ``C ψ(ỹ)`` (the
operator D with ``D C ψ(y) ≈ ψ(y)``). Source: Chau et al. 2021, §4, eq. 11-12 and Proposition 4.1.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from core import linalg


def conditional_mean_operator(
    inputs: Float[Tensor, "N p"], mediators: Float[Tensor, "N q"], regularisation: float
) -> Float[Tensor, "p q"]:
    """``Ĉ = Φᵀ Ψ (ΨᵀΨ + NλI)⁻¹``: the minimiser of ``(1/N) Σ ‖φ(x_i) − C ψ(y_i)‖² + λ ‖C‖²`` (eq. 11).

    ``inputs`` holds ``φ(x_i)`` in its rows, ``mediators`` ``ψ(y_i)``; λ > 0, or ``InputError`` where ΨᵀΨ is singular.
    """
    identity = torch.eye(mediators.shape[1], dtype=mediators.dtype, device=mediators.device)
    gram = mediators.T @ mediators + len(mediators) * regularisation * identity
    return linalg.cholesky(gram, "mediator features").solve(mediators.T @ inputs).T


def deconditional_mean_operator(
    operator: Float[Tensor, "p q"], query: Float[Tensor, "M q"], regularisation: float
) -> Float[Tensor, "q p"]:
    """``D̂ = Ψ̃ᵀ U (UᵀU + MεI)⁻¹`` with rows ``U_j = (C ψ(ỹ_j))ᵀ``: the minimiser of eq. 12, in weight space."""
    images = query @ operator.T
    identity = torch.eye(images.shape[1], dtype=images.dtype, device=images.device)
    gram = images.T @ images + len(query) * regularisation * identity
    return linalg.cholesky(gram, "images of the mediators").solve(images.T @ query).T


def deconditional_mean_operator_dual(
    operator: Float[Tensor, "p q"], query: Float[Tensor, "M q"], regularisation: float
) -> Float[Tensor, "q p"]:
    """The same by kernels: ``D̂ = Ψ̃ᵀ (Q̂ + MεI)⁻¹ U`` with ``Q̂ = U Uᵀ`` (M, M) (Proposition 4.1; push-through)."""
    images = query @ operator.T
    identity = torch.eye(len(query), dtype=images.dtype, device=images.device)
    factor = linalg.cholesky(images @ images.T + len(query) * regularisation * identity, "conditional mean process")
    return query.T @ factor.solve(images)


def reconstruction_risk(
    deconditional: Float[Tensor, "q p"], operator: Float[Tensor, "p q"], second_moment: Float[Tensor, "q q"]
) -> Float[Tensor, ""]:
    """``E ‖ψ(Y) − D C ψ(Y)‖² = tr[(I − DC) E[ψψᵀ] (I − DC)ᵀ]`` (Chau et al. 2021, §4)."""
    identity = torch.eye(len(second_moment), dtype=second_moment.dtype, device=second_moment.device)
    missed = identity - deconditional @ operator
    return (missed @ second_moment * missed).sum()
