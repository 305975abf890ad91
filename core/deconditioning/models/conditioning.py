"""The conditioning formula of all models: ``z̃ = Wᵀ f̄ + e``, ``e ~ N(0, Σ)``, in terms of the bag-mean kernel K̄."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.observations import IndirectData, PointErrors, Representativeness


@dataclass(frozen=True)
class Conditioning:
    """The result of conditioning on the data; pixels enter only through their bag sums ``c``.

    ``weights`` W (B, M), ``noise`` Σ (M, M), ``residual`` r = z̃ − Wᵀm̄ (M,), ``factor`` S = F Fᵀ, ``dual`` β = W S⁻¹ r
    (B,), ``root`` A = W F⁻ᵀ (B, M), ``evidence`` log N(z̃; Wᵀm̄, S).

    If the targets are estimates with covariance C (``carried``), C is propagated by the law of total variance, ``var
    f(x) = var[f(x) | z̃] + aᵀCa`` with ``a = S⁻¹Wᵀc(x)``: ``A Aᵀ`` becomes ``A diag(signs) Aᵀ`` with the eigenvalues of
    ``I − F⁻¹CF⁻ᵀ`` in A, whose ``signs`` (M,) are negative where C is larger than S; None without C.

    The last targets, those with ``points``, are measured at points. ``alike``: Σ is made of σ² and ς² alone.
    """

    weights: Float[Tensor, "B M"]
    noise: Float[Tensor, "M M"]
    residual: Float[Tensor, " M"]
    factor: linalg.Factor
    dual: Float[Tensor, " B"]
    root: Float[Tensor, "B M"]
    evidence: Float[Tensor, ""]
    carried: Float[Tensor, "M M"] | None = None
    signs: Float[Tensor, " M"] | None = None
    points: PointErrors | None = None
    alike: bool = True

    @property
    def cells(self) -> int:
        """How many targets are not measured at points; they come first."""
        return len(self.residual) - (0 if self.points is None else len(self.points.variance))

    def mean(self, cross: Float[Tensor, "B P"]) -> Float[Tensor, " P"]:
        """``c(x)ᵀ W S⁻¹ r``: posterior mean minus prior mean."""
        return cross.T @ self.dual

    def reduction(self, cross: Float[Tensor, "B P"]) -> Float[Tensor, " P"]:
        """``c(x)ᵀ W S⁻¹ Wᵀ c(x)`` minus the propagated covariance: the reduction of the variance at each point."""
        return self.summed((self.root.T @ cross).square())

    def summed(self, squares: Float[Tensor, "M P"]) -> Float[Tensor, " P"]:
        """The squares of ``Aᵀc`` with their signs, added up."""
        return squares.sum(0) if self.signs is None else self.signs.to(squares.dtype) @ squares

    def moments(
        self, cross: Float[Tensor, "B P"], prior: Float[Tensor, " P"]
    ) -> tuple[Float[Tensor, " P"], Float[Tensor, " P"]]:
        """``mean`` and ``variance`` at the same points."""
        return self.mean(cross), self.variance(cross, prior)

    def variance(self, cross: Float[Tensor, "B P"], prior: Float[Tensor, " P"]) -> Float[Tensor, " P"]:
        """``prior`` k(x, x) minus ``reduction``; negative rounding errors are set to zero."""
        return (prior - self.reduction(cross)).clamp_min(0)

    def carried_between(self, left: Float[Tensor, "M P"], right: Float[Tensor, "M Q"]) -> Float[Tensor, "P Q"] | float:
        """``aᵀCa′`` of every pair of columns, from ``a = S⁻¹ cov(z̃, ·)``; 0 if no target is an estimate."""
        return 0.0 if self.carried is None else left.T @ self.carried @ right

    def carried_by(self, solved: Float[Tensor, "M P"]) -> Float[Tensor, " P"]:
        """``aᵀCa`` of every column a of ``solved``, if targets are estimates."""
        assert self.carried is not None
        return ((self.carried @ solved) * solved).sum(0)

    def reduction_between(self, left: Float[Tensor, "B P"], right: Float[Tensor, "B Q"]) -> Float[Tensor, "P Q"]:
        """``c(x)ᵀ W S⁻¹ Wᵀ c(x′)`` minus the propagated covariance, for every pair of points."""
        projected = self.root.T @ left
        return (projected if self.signs is None else self.signs[:, None] * projected).T @ (self.root.T @ right)


def observation_noise(
    weights: Float[Tensor, "B M"],
    noise: float | Tensor,
    point_noise: float | Tensor,
    contamination: Float[Tensor, " B"],
) -> Float[Tensor, "M M"]:
    """``Σ = σ² I + ς² Wᵀ diag(Σ_i w_i²) W``; with equal weights the middle is ``D⁻¹``.

    Source: Chau et al. 2021, App. E.2.
    """
    alone = noise * linalg.identity(weights.shape[1], weights)
    if isinstance(point_noise, float) and point_noise == 0:
        return alone
    if linalg.is_identity(weights):
        return alone + point_noise * contamination.diag()
    return alone + point_noise * (weights.T * contamination) @ weights


def with_errors(
    covariance: Float[Tensor, "M M"], data: IndirectData, noise: float | Tensor, representativeness: Representativeness
) -> Float[Tensor, "M M"]:
    """Σ with the known errors of the targets and those of targets at points, from Σ as if all were alike."""
    if data.errors is not None:
        covariance = covariance + torch.diag(data.errors)
    if data.points is None:
        return covariance
    before = len(covariance) - len(data.points.variance)
    more = data.points.covariance(noise, representativeness)
    return covariance + torch.nn.functional.pad(more, (before, 0, before, 0))


def log_evidence(
    bag_gram: Float[Tensor, "B B"],
    weights: Float[Tensor, "B M"],
    noise: Float[Tensor, "M M"],
    residual: Float[Tensor, " M"],
) -> Float[Tensor, ""]:
    """``log N(z̃; Wᵀm̄, S)`` with ``S = Wᵀ K̄ W + Σ``; differentiable. Source: Chau et al. 2021, §3.2."""
    covariance = weights.T @ bag_gram @ weights + noise
    return linalg.log_normal_density(residual, linalg.cholesky(covariance, "covariance of the targets"))


def condition(
    bag_gram: Float[Tensor, "B B"],
    weights: Float[Tensor, "B M"],
    noise: Float[Tensor, "M M"],
    residual: Float[Tensor, " M"],
    carried: Float[Tensor, "M M"] | None = None,
) -> Conditioning:
    """Condition the bag means on the targets: ``S = Wᵀ K̄ W + Σ = F Fᵀ``, ``β = W S⁻¹ r``, ``A = W F⁻ᵀ``.

    ``carried`` is the covariance C of targets that are estimates; mean and evidence do not depend on it.

    Raises ``InputError`` if S is singular. Source: Chau et al. 2021, eq. 8-9.
    """
    alone = linalg.is_identity(weights)  # a target for every bag: products with W take longer than all the rest
    factor = linalg.cholesky(
        (bag_gram if alone else weights.T @ bag_gram @ weights) + noise, "covariance of the targets"
    )
    solved = factor.solve(residual)
    dual = solved if alone else weights @ solved
    root, signs = factor.half_solve(weights.T).T, None
    if carried is not None:
        halved = factor.half_solve(factor.half_solve(carried).T)
        projected = linalg.identity(len(residual), root) - 0.5 * (halved + halved.T)
        values, vectors = linalg.eigen(projected, "covariance of the pseudo-targets")
        root, signs = root @ (vectors * values.abs().sqrt()), torch.sign(values)
    evidence = linalg.log_normal_density(residual, factor)
    return Conditioning(weights, noise, residual, factor, dual, root, evidence, carried, signs)
