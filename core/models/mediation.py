"""Mediation weights W: how a target's mediator spreads over the bags (the conditional mean operator).

``E[f(X) | Y = ỹ_m] ≈ Σ_j W_jm f̄_j``; only this W differs between the exact models.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from core import linalg
from core.errors import InputError


@dataclass(frozen=True)
class MediatorGrams:
    """``L = ℓ(y, y)`` (B, B), ``L̃ = ℓ(y, ỹ)`` (B, M) and the bags' sizes ``n_j`` (B,)."""

    within: Float[Tensor, "B B"]
    across: Float[Tensor, "B M"]
    sizes: Float[Tensor, " B"]


def replicated_weights(grams: MediatorGrams, regularisation: float | Tensor) -> Float[Tensor, "B M"]:
    """``W = (L + Nλ D⁻¹)⁻¹ L̃``: every label replicated over its bag, computed at bag level.

    Push-through turns the N×N estimator ``(P L Pᵀ + NλI)⁻¹ P L̃`` into ``P (L D + NλI)⁻¹ L̃``; the
    stable form factorises ``D^½ L D^½ + NλI``. Source: Chau et al. 2021, eq. 6-9.
    """
    root = grams.sizes.sqrt()
    total = grams.sizes.sum() * regularisation
    identity = torch.eye(len(root), dtype=root.dtype, device=root.device)
    factor = linalg.cholesky(root[:, None] * grams.within * root + total * identity, "mediator kernel matrix")
    _refuse_silent_jitter(factor, total)
    return root[:, None] * factor.solve(root[:, None] * grams.across)


def shrinkage_weights(grams: MediatorGrams, regularisation: float | Tensor) -> Float[Tensor, "B M"]:
    """``W = (L + Bλ I)⁻¹ L̃``: the regression of bag embeddings on mediators.

    Source: Chau et al. 2021, eq. 10 and App. C.
    """
    total = len(grams.sizes) * regularisation
    identity = torch.eye(len(grams.sizes), dtype=grams.within.dtype, device=grams.within.device)
    factor = linalg.cholesky(grams.within + total * identity, "mediator kernel matrix")
    _refuse_silent_jitter(factor, total)
    return factor.solve(grams.across)


def identity_weights(grams: MediatorGrams, regularisation: float | Tensor) -> Float[Tensor, "B M"]:
    """``W = I``: every target is the mean of its own bag. Source: Law et al. 2018."""
    if grams.across.shape[0] != grams.across.shape[1]:
        raise InputError(
            f"There are {grams.across.shape[0]} bags and {grams.across.shape[1]} targets: this model needs one target "
            "per bag; use direct matching, or a model with mediators."
        )
    return torch.eye(len(grams.sizes), dtype=grams.sizes.dtype, device=grams.sizes.device)


def _refuse_silent_jitter(factor: linalg.Factor, regularisation: float | Tensor) -> None:
    if factor.jitter:
        raise InputError(
            f"The regularisation λ ({float(regularisation):.1e} on the diagonal) is too small for these mediators, "
            "whose kernel matrix is singular: raise λ, shorten the mediator lengthscales, or remove duplicates."
        )


def leave_one_bag_out(
    bag_gram: Float[Tensor, "B B"], smoother: Float[Tensor, "B B"], sizes: Float[Tensor, " B"] | None = None
) -> Float[Tensor, ""]:
    """Mean squared RKHS distance between a bag's embedding and its prediction from all other bags.

    ``Σ_j ω_j [(I−H) K̄ (I−H)ᵀ]_jj / (1−H_jj)²`` with the smoother ``H = Wᵀ`` taken at ``ỹ = y`` and
    ``ω_j = 1/B``, or ``n_j/N`` where ``sizes`` are given (labels replicated over bags, a whole bag left out;
    the spread inside the bags, which H does not change, is left off).

    Shapes: ``bag_gram`` K̄ (B, B), ``smoother`` H (B, B). Source: ridge regression's leave-one-out identity
    on the two-staged regression of Chau et al. 2021, §4.
    """
    residual = torch.eye(len(smoother), dtype=smoother.dtype, device=smoother.device) - smoother
    squares = ((residual @ bag_gram) * residual).sum(1) / residual.diagonal().square()
    if sizes is None:
        return squares.mean()
    return (squares * sizes).sum() / sizes.sum()
