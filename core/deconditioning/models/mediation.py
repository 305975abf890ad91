"""Mediation weights W: how a target's mediator spreads over the bags (the conditional mean operator).

``E[f(X) | Y = ỹ_m] ≈ Σ_j W_jm f̄_j``; only this W differs between the exact models.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.embeddings.conditional_mean import MediatorGrams, replicated_weights, shrinkage_weights
from deconditioning.errors import InputError

__all__ = [
    "MediatorGrams",
    "Misfit",
    "identity_weights",
    "leave_one_bag_out",
    "mediation_covariance",
    "partial_weights",
    "replicated_weights",
    "shrinkage_weights",
    "with_own_bags",
]


def identity_weights(grams: MediatorGrams, regularisation: float | Tensor) -> Float[Tensor, "B M"]:
    """``W = I``: every target is the mean of its own bag. Source: Law et al. 2018.

    ``regularisation`` has no effect. Raises ``InputError`` unless there are as many targets as bags.
    """
    if grams.across.shape[0] != grams.across.shape[1]:
        raise InputError(
            f"There are {grams.across.shape[0]} bags and {grams.across.shape[1]} targets: this model needs one target "
            "per bag. Use direct matching or a model with mediators."
        )
    return linalg.identity(len(grams.sizes), grams.sizes)


def partial_weights(grams: MediatorGrams, regularisation: float | Tensor) -> Float[Tensor, "n M"]:
    """``shrinkage_weights`` for the bags above the identity for the targets' own footprints."""
    mediated = shrinkage_weights(grams, regularisation)
    return torch.cat([mediated, linalg.identity(mediated.shape[1], mediated)])


def with_own_bags(weights: Float[Tensor, "n M"], bags: int, points: int) -> Float[Tensor, "m K"]:
    """``diag(W, I)`` for W of ``bags`` rows and, in a partial model, of as many again as there are targets.

    The last ``points`` of the K targets are each the mean of a bag of its own, without mediators.
    """
    identity = linalg.identity(points, weights)
    parts = [weights[:bags], *([weights[bags:]] if len(weights) > bags else [])]
    return torch.cat([torch.block_diag(part, identity) for part in parts])


@dataclass(frozen=True)
class Misfit:
    """What W leaves unknown of the part of f that it mediates, target by target: ``v_m = L(K̄) q_m / mean q``.

    ``L`` is the leave-one-bag-out loss under K̄ of that part with the ``smoother`` H (B, B), ``relative`` ``q / mean q``
    (M,), where ``q_m`` is the variance of a new bag's embedding at ``ỹ_m`` as the regression on mediators has it. No
    number is free in it.
    """

    smoother: Float[Tensor, "B B"]
    relative: Float[Tensor, " M"]

    @cached_property
    def _form(self) -> Float[Tensor, "B B"]:
        """G with ``leave_one_bag_out(K̄, H) = Σ_ij G_ij K̄_ij``: ``RᵀR / B``, the rows of I − H over their diagonal."""
        residual = linalg.identity(len(self.smoother), self.smoother) - self.smoother
        rows = residual / residual.diagonal()[:, None]
        return rows.T @ rows / len(rows)

    @staticmethod
    def of(grams: MediatorGrams, weights: Float[Tensor, "B M"], regularisation: float | Tensor) -> "Misfit":
        """From the kernels on mediators, with ``query`` among them, and W of the bags."""
        assert grams.query is not None
        noise = len(grams.within) * regularisation
        unknown = grams.query.diagonal() - (grams.across * weights).sum(0) + noise
        within = replace(grams, across=grams.within, query=None)
        return Misfit(shrinkage_weights(within, regularisation).T, unknown / unknown.mean())

    def __call__(self, bag_gram: Float[Tensor, "n n"]) -> Float[Tensor, "M M"]:
        """``diag(v)``, from the K̄ of which the bags come first; differentiable."""
        count = len(self.smoother)
        return torch.diag((self._form * bag_gram[:count, :count]).sum() * self.relative)


def mediation_covariance(grams: MediatorGrams, weights: Float[Tensor, "B M"]) -> Float[Tensor, "M M"]:
    """``L̃̃ − L̃ᵀ (L + BλI)⁻¹ L̃``: the posterior covariance of ``g(ỹ)`` in ``f̄_j = g(y_j) + e_j``, ``g ~ GP(0, ℓ)``.

    ``weights`` are the ``shrinkage_weights`` of these Gram matrices, ``Bλ`` the variance of ``e``, divided by a bag's
    ``importance``; ``query`` L̃̃ is required. Source: Hsu and Ramos 2019, theorem 5.3 (2), where ``Bλ = σ²``.
    """
    assert grams.query is not None
    conditioned = grams.query - grams.across.T @ weights
    return 0.5 * (conditioned + conditioned.T)


def leave_one_bag_out(
    bag_gram: Float[Tensor, "B B"], smoother: Float[Tensor, "B B"], sizes: Float[Tensor, " B"] | None = None
) -> Float[Tensor, ""]:
    """Mean squared RKHS distance between a bag's embedding and its prediction from all other bags.

    ``Σ_j ω_j [(I−H) K̄ (I−H)ᵀ]_jj / (1−H_jj)²`` with the smoother ``H = Wᵀ`` at ``ỹ = y`` and ``ω_j = 1/B``, or
    ``n_j/N`` if ``sizes`` are given (labels replicated over bags, a whole bag left out; the spread inside the bags does
    not depend on H and is omitted).

    Shapes: ``bag_gram`` K̄ (B, B), ``smoother`` H (B, B). Source: the leave-one-out identity of ridge regression,
    applied to the two-stage regression of Chau et al. 2021, §4.
    """
    residual = linalg.identity(len(smoother), smoother) - smoother
    squares = ((residual @ bag_gram) * residual).sum(1) / residual.diagonal().square()
    if sizes is None:
        return squares.mean()
    return (squares * sizes).sum() / sizes.sum()
