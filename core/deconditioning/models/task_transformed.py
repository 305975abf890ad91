"""Other forms of task-transformed regression: n×n evidence for many targets, and the weight-space model.

In function space the model is ``task_transformed_gp`` (Σ from ℓ) or ``shrinkage_cmp`` (``Σ = σ²I``, the MAP of g) on
bags of one point. Source: Hsu and Ramos 2019, §5.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg


@dataclass(frozen=True)
class TaskMoments:
    """Moments of m targets for the n×n forms: ``AAᵀ`` (n, n), ``Az̃`` (n,), ``z̃ᵀz̃`` and m, with ``A = W`` (n, m)."""

    second: Float[Tensor, "n n"]
    cross: Float[Tensor, " n"]
    square: Float[Tensor, ""]
    count: int

    @staticmethod
    def of(weights: Float[Tensor, "n m"], targets: Float[Tensor, " m"]) -> "TaskMoments":
        """The moments from W and the targets."""
        return TaskMoments(weights @ weights.T, weights @ targets, targets.square().sum(), len(targets))


@dataclass(frozen=True)
class ReducedPosterior:
    """The posterior of f with ``Σ = σ²I`` by n×n matrices only: ``mean(x) = k(x)ᵀ α``, ``α = (AAᵀK + σ²I)⁻¹ A z̃``.

    ``reduction`` R is ``(AAᵀK + σ²I)⁻¹ AAᵀ``: the variance falls by ``k(x)ᵀ R k(x)``. Source: Hsu and Ramos 2019,
    def. 4.4 (alternative form) and theorem 5.3 (4).
    """

    dual: Float[Tensor, " n"]
    reduction: Float[Tensor, "n n"]

    def mean(self, cross: Float[Tensor, "n P"]) -> Float[Tensor, " P"]:
        """Posterior mean from ``k(x_i, x)``."""
        return cross.T @ self.dual

    def variance(self, cross: Float[Tensor, "n P"], prior: Float[Tensor, " P"]) -> Float[Tensor, " P"]:
        """Posterior variance of f from ``k(x_i, x)`` and the prior's variance."""
        return (prior - (cross * (self.reduction @ cross)).sum(0)).clamp_min(0)


def reduced_posterior(
    gram: Float[Tensor, "n n"], moments: TaskMoments, noise: float | Tensor
) -> tuple[ReducedPosterior, Float[Tensor, ""]]:
    """The posterior, and the log evidence ``N(z̃; 0, AᵀKA + σ²I)``, in O(n³) once the moments are known.

    ``log det(AᵀKA + σ²I) = (m − n) log σ² + log det(AAᵀK + σ²I)`` and
    ``z̃ᵀ(AᵀKA + σ²I)⁻¹z̃ = (z̃ᵀz̃ − (Az̃)ᵀ K α)/σ²``. Raises ``InputError`` where σ² = 0 makes the matrix singular.
    """
    size = len(gram)
    identity = linalg.identity(size, gram)
    solved, log_determinant = linalg.solve_general(
        moments.second @ gram + noise * identity,
        torch.cat([moments.cross[:, None], moments.second], dim=1),
        "covariance of the targets (n×n form)",
    )
    noise = torch.as_tensor(noise, dtype=gram.dtype, device=gram.device)
    dual, reduction = solved[:, 0], solved[:, 1:]
    fit = (moments.square - moments.cross @ (gram @ dual)) / noise
    determinant = (moments.count - size) * noise.log() + log_determinant
    evidence = -0.5 * (fit + determinant + moments.count * linalg.LOG_TWO_PI)
    return ReducedPosterior(dual, reduction), evidence


@dataclass(frozen=True)
class WeightSpace:
    """Task-transformed Bayesian linear regression: ``f = wᵀφ``, ``g = vᵀψ``, ``w ~ N(0, γ²I)``, ``v ~ N(0, β²I)``.

    Parameters
    ----------
    inputs, mediators, query : Φᵀ (n, p), Ψᵀ (n, q) and Ψ̃ᵀ (m, q), one row a point.
    targets : z̃ (m,).  noise : σ².  input_variance, mediator_variance : γ² and β².
    full : Σ with what is unknown of g (theorem 5.3 (1)), or ``σ²I``, its MAP (4).
    regularisation : of stage one, ``nλ``; None ties it to ``σ²/β²``.
    """

    inputs: Float[Tensor, "n p"]
    mediators: Float[Tensor, "n q"]
    query: Float[Tensor, "m q"]
    targets: Float[Tensor, " m"]
    noise: float
    input_variance: float = 1.0
    mediator_variance: float = 1.0
    full: bool = True
    regularisation: float | None = None

    @property
    def _ridge(self) -> float:
        return self.noise / self.mediator_variance if self.regularisation is None else self.regularisation

    def transformation(self) -> tuple[Float[Tensor, "n m"], Float[Tensor, "m m"]]:
        """``A = Ψᵀ(ΨΨᵀ + ridge I)⁻¹Ψ̃`` and Σ (``ridge = σ²/β²``, or nλ)."""
        moment = self.mediators.T @ self.mediators + self._ridge * linalg.identity(
            self.mediators.shape[1], self.mediators
        )
        solved = linalg.cholesky(moment, "mediator features").solve(self.query.T)
        sigma = self.noise * linalg.identity(len(self.targets), self.query)
        if self.full:
            unknown = self._ridge * self.mediator_variance * self.query @ solved
            sigma = sigma + 0.5 * (unknown + unknown.T)
        return self.mediators @ solved, sigma

    def weights(self) -> tuple[Float[Tensor, " p"], Float[Tensor, "p p"]]:
        """Posterior mean and covariance of w: ``C = [ΦAΣ⁻¹AᵀΦᵀ + I/γ²]⁻¹``, ``C ΦAΣ⁻¹z̃``."""
        factor, projected = self._projected()
        precision = (
            projected.T @ factor.solve(projected) + linalg.identity(projected.shape[1], projected) / self.input_variance
        )
        inverse = linalg.cholesky(precision, "precision of the weights")
        mean = inverse.solve(projected.T @ factor.solve(self.targets))
        return mean, inverse.solve(linalg.identity(len(mean), mean))

    def _projected(self) -> tuple[linalg.Factor, Tensor]:
        transformation, sigma = self.transformation()
        return linalg.cholesky(sigma, "noise of the targets"), transformation.T @ self.inputs

    def evidence(self) -> Float[Tensor, ""]:
        """``log N(z̃; 0, [Σ⁻¹ − Σ⁻¹AᵀΦᵀCΦAΣ⁻¹]⁻¹)`` by p×p matrices (theorem 5.3 (3))."""
        factor, projected = self._projected()
        white = factor.half_solve(projected)
        inner = linalg.cholesky(
            white.T @ white * self.input_variance + linalg.identity(white.shape[1], white), "precision of the weights"
        )
        residual = factor.half_solve(self.targets)
        explained = inner.half_solve(white.T @ residual).square().sum() * self.input_variance
        fit = residual.square().sum() - explained
        determinant = factor.log_determinant() + inner.log_determinant()
        return -0.5 * (fit + determinant + len(residual) * linalg.LOG_TWO_PI)
