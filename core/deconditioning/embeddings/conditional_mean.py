"""Conditional mean embeddings of bag data: the weights W that map a mediator to the bags.

``E[k_X | Y = ỹ] ≈ Σ_j W_j(ỹ) k̄_j`` with ``k̄_j`` the mean embedding of bag ``j``. The standard estimator replicates
each label over its bag; the shrinkage estimator regresses the bag embeddings directly.
"""

from collections.abc import Callable
from dataclasses import dataclass

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.errors import InputError
from deconditioning.kernels.low_rank import incomplete_cholesky
from deconditioning.kernels.tiles import evaluate


@dataclass(frozen=True)
class MediatorGrams:
    """Kernel matrices of mediators: ``L = ℓ(y, y)`` (B, B), empty without mediators; ``L̃ = ℓ(y, ỹ)`` (B, M); bag sizes
    ``n_j`` (B,); ``query`` ``ℓ(ỹ, ỹ)`` (M, M) if a model needs it; ``importance`` ω (B,), the weights of the bags.
    """

    within: Float[Tensor, "L L"]
    across: Float[Tensor, "B M"]
    sizes: Float[Tensor, " B"]
    query: Float[Tensor, "M M"] | None = None
    importance: Float[Tensor, " B"] | None = None


def replicated_weights(grams: MediatorGrams, regularisation: float | Tensor) -> Float[Tensor, "B M"]:
    """``W = (L + Nλ D⁻¹)⁻¹ L̃``: every label replicated over its bag, computed at bag level.

    The push-through identity turns the N×N estimator ``(P L Pᵀ + NλI)⁻¹ P L̃`` into ``P (L D + NλI)⁻¹ L̃``; the stable
    form factorises ``D^½ L D^½ + NλI``. With ``importance`` ω, D contains ``ω_j n_j`` and N is unchanged. Source: Chau
    et al. 2021, eq. 6-9.
    """
    return _weighted(grams, *_ridge(grams.sizes, regularisation, True, grams.importance))


def shrinkage_weights(grams: MediatorGrams, regularisation: float | Tensor) -> Float[Tensor, "B M"]:
    """``W = (L + Bλ I)⁻¹ L̃``: the regression of bag embeddings on mediators; ``importance`` ω replaces I by ``Ω⁻¹``.

    Source: Chau et al. 2021, eq. 10 and App. C; weighted least squares for ω.
    """
    if grams.importance is not None:
        return _weighted(grams, *_ridge(grams.sizes, regularisation, False, grams.importance))
    total = len(grams.sizes) * regularisation
    identity = linalg.identity(len(grams.sizes), grams.within)
    factor = linalg.cholesky(grams.within + total * identity, "mediator kernel matrix")
    _refuse_silent_jitter(factor, total)
    return factor.solve(grams.across)


def _weighted(grams: MediatorGrams, root: Float[Tensor, " B"], total: Tensor | float) -> Float[Tensor, "B M"]:
    """``W = diag(a) (diag(a) L diag(a) + tI)⁻¹ diag(a) L̃`` with ``root`` a and ``total`` t."""
    identity = linalg.identity(len(root), root)
    factor = linalg.cholesky(root[:, None] * grams.within * root + total * identity, "mediator kernel matrix")
    _refuse_silent_jitter(factor, total)
    return root[:, None] * factor.solve(root[:, None] * grams.across)


def _refuse_silent_jitter(factor: linalg.Factor, regularisation: float | Tensor) -> None:
    if factor.jitter:
        raise InputError(
            f"The regularisation λ ({float(regularisation):.1e} on the diagonal) is too small for these mediators, "
            "whose kernel matrix is singular: raise λ, shorten the mediator lengthscales, or remove duplicates."
        )


@dataclass(frozen=True)
class StreamedWeights:
    """``Wᵀ = Φ Yᵀ`` for more targets than memory allows for W: ``left`` Y (B, r), and ``rows`` of Φ for some of the
    targets' mediators, (c, d) to (c, r). ``left_out`` is the omitted share of the trace of L, 0 if none.
    """

    left: Float[Tensor, "B r"]
    rows: Callable[[Float[Tensor, "c d"]], Float[Tensor, "c r"]]
    left_out: float = 0.0


def _ridge(
    sizes: Float[Tensor, " B"],
    regularisation: float | Tensor,
    replicated: bool,
    importance: Float[Tensor, " B"] | None = None,
) -> tuple[Float[Tensor, " B"], Tensor | float]:
    """``(a, t)`` with ``W = diag(a) (diag(a) L diag(a) + tI)⁻¹ diag(a) L̃`` for both estimators."""
    counts = sizes if replicated else torch.ones_like(sizes)
    total = counts.sum() * regularisation
    return (counts if importance is None else counts * importance).sqrt(), total


def streamed_weights(
    kernel: gpytorch.kernels.Kernel,
    mediators: Float[Tensor, "B d"],
    sizes: Float[Tensor, " B"],
    regularisation: float,
    replicated: bool,
    importance: Float[Tensor, " B"] | None = None,
) -> StreamedWeights:
    """The weights of ``replicated_weights`` or ``shrinkage_weights`` in chunks: ``Φᵀ = F⁻¹ diag(a) L̃``,
    ``Y = diag(a) F⁻ᵀ`` with ``F Fᵀ = diag(a) L diag(a) + tI``."""
    root, total = _ridge(sizes, regularisation, replicated, importance)
    identity = linalg.identity(len(root), root)
    gram = root[:, None] * evaluate(kernel, mediators, mediators) * root
    factor = linalg.cholesky(gram + total * identity, "mediator kernel matrix")
    _refuse_silent_jitter(factor, total)

    def rows(query: Tensor) -> Tensor:
        """Rows (c, B) of Φ for some of the targets' mediators."""
        return factor.half_solve(root[:, None] * evaluate(kernel, mediators, query)).T

    return StreamedWeights(root[:, None] * factor.half_solve(identity).T, rows)


def nystrom_weights(
    kernel: gpytorch.kernels.Kernel,
    mediators: Float[Tensor, "B d"],
    sizes: Float[Tensor, " B"],
    regularisation: float,
    replicated: bool,
    importance: Float[Tensor, " B"] | None,
    tolerance: float,
    most: int,
) -> StreamedWeights:
    """The same with ``ℓ ≈ c cᵀ`` by pivoted incomplete Cholesky of L to a residual trace of ``tolerance``, with at most
    ``most`` columns: ``Y = diag(a) C (CᵀC + tI)⁻¹`` with ``C`` (B, r) the bags' rows times ``a``, ``Φ`` the targets'.

    Raises ``InputError`` if more than 1 % of the trace is omitted. Source: Woodbury's identity.
    """
    root, total = _ridge(sizes, regularisation, replicated, importance)
    low_rank = incomplete_cholesky(kernel, mediators, tolerance, most)
    scaled = root[:, None] * low_rank.factor
    identity = linalg.identity(low_rank.rank, root)
    inner = linalg.cholesky(scaled.T @ scaled + total * identity, "mediator kernel matrix")
    _refuse_silent_jitter(inner, total)
    left = root[:, None] * inner.solve(scaled.T).T
    return StreamedWeights(left, lambda query: low_rank.extend(kernel, mediators, query), low_rank.residual)
