"""Conditional mean embeddings of bag data: the weights W that spread a mediator over the bags.

``E[k_X | Y = ỹ] ≈ Σ_j W_j(ỹ) k̄_j`` with ``k̄_j`` the mean embedding of bag ``j``. The standard estimator replicates each
label over its bag, the shrinkage estimator regresses the bags' embeddings themselves.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from core import linalg
from core.errors import InputError


@dataclass(frozen=True)
class MediatorGrams:
    """``L = ℓ(y, y)`` (B, B), ``L̃ = ℓ(y, ỹ)`` (B, M), the bags' sizes ``n_j`` (B,); ``query`` is ``ℓ(ỹ, ỹ)`` (M, M)
    where a model asks for it."""

    within: Float[Tensor, "B B"]
    across: Float[Tensor, "B M"]
    sizes: Float[Tensor, " B"]
    query: Float[Tensor, "M M"] | None = None


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


def _refuse_silent_jitter(factor: linalg.Factor, regularisation: float | Tensor) -> None:
    if factor.jitter:
        raise InputError(
            f"The regularisation λ ({float(regularisation):.1e} on the diagonal) is too small for these mediators, "
            "whose kernel matrix is singular: raise λ, shorten the mediator lengthscales, or remove duplicates."
        )
