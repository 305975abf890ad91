"""Gaussian process distribution regression: ``y_i ~ N(β'W_i + Σ_j f(x_ij)/m_i, σ²)``, ``f ~ GP(0, K)``.

This is a bag model with W = Q, a basis of the orthogonal complement of the covariates (Q = I without any): a flat prior
on β leads to ``Qᵀy = Qᵀf̄ + e``, ``e ~ N(0, σ²I)``. Source: Tang et al., eq. 6-7 and §4.3.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.distribution_regression.kernel_sums import Sums
from deconditioning.errors import InputError
from deconditioning.kernels.spec import KernelSpec
from deconditioning.models.conditioning import Conditioning, condition
from deconditioning.models.indirect_gp import refuse_dense


@dataclass(frozen=True)
class RegressionSpec:
    """``kernel`` K, ``noise`` σ², and whether the design has an ``intercept``."""

    kernel: KernelSpec
    noise: float = 0.01
    intercept: bool = False

    def __post_init__(self) -> None:
        if not (math.isfinite(self.noise) and self.noise > 0):
            raise InputError(f"`noise` is {self.noise}: give a positive variance.")


def design_matrix(covariates: Float[Tensor, "n q"], intercept: bool) -> Float[Tensor, "n p"]:
    """V: the covariates, after a column of ones if there is an intercept."""
    ones = covariates.new_ones(len(covariates), 1)
    return torch.cat([ones, covariates], dim=1) if intercept else covariates


@dataclass(frozen=True)
class Fitted:
    """The posterior of f and β given outcomes.

    ``gram`` M (n, n), ``design`` V (n, p), ``outcomes`` y (n,), ``conditioning`` of f on the contrasts; ``factor`` of
    S = M + σ²I, ``slopes`` β̂ (p,), ``slope_covariance`` (p, p), ``dual`` S⁻¹(y − Vβ̂) (n,).
    """

    spec: RegressionSpec
    sums: Sums
    gram: Float[Tensor, "n n"]
    design: Float[Tensor, "n p"]
    outcomes: Float[Tensor, " n"]
    conditioning: Conditioning
    factor: linalg.Factor
    slopes: Float[Tensor, " p"]
    slope_covariance: Float[Tensor, "p p"]
    dual: Float[Tensor, " n"]

    @property
    def evidence(self) -> float:
        """``log p(Qᵀy)``: the evidence, or the restricted evidence if there are covariates."""
        return float(self.conditioning.evidence)

    def mean(self, inputs: Float[Tensor, "P d"]) -> Float[Tensor, " P"]:
        """``E[f(s) | X, Y] = l(s)ᵀ(M + σ²)⁻¹Y`` (eq. 7)."""
        return self.conditioning.mean(self.sums.cross(self.spec.kernel, inputs))

    def variance(self, inputs: Float[Tensor, "P d"]) -> Float[Tensor, " P"]:
        """``K(s, s) − l(s)ᵀ(M + σ²)⁻¹l(s)`` (eq. 7)."""
        return self.moments(inputs)[1]

    def moments(
        self, inputs: Float[Tensor, "P d"], centred: bool = False
    ) -> tuple[Float[Tensor, " P"], Float[Tensor, " P"]]:
        """Mean and variance from one set of sums, of f or (``centred``) of f minus its mean over the subjects."""
        sums, prior = sums_and_prior(self, inputs, centred)
        return self.conditioning.moments(sums, prior)

    def covariance(self, inputs: Float[Tensor, "P d"]) -> Float[Tensor, "P P"]:
        """Posterior covariance of f between all inputs; at most 5,000 of them."""
        refuse_dense(len(inputs))
        sums = self.sums.cross(self.spec.kernel, inputs)
        return self.sums.prior(self.spec.kernel, inputs, inputs) - self.conditioning.reduction_between(sums, sums)

    def sample(self, inputs: Float[Tensor, "P d"], count: int, generator: torch.Generator) -> Float[Tensor, "count P"]:
        """Joint draws of f from its dense covariance, by its eigenvectors (its rank is far below P)."""
        return draw_normal(self.mean(inputs), self.covariance(inputs), count, generator)

    def fitted(self) -> tuple[Float[Tensor, " n"], Float[Tensor, " n"]]:
        """Mean and variance of ``β'W_i + E f`` for the subjects themselves."""
        return self.predict(self.gram, self.gram.diagonal(), self.design)

    def predict(
        self, cross: Float[Tensor, "n q"], prior: Float[Tensor, " q"], design: Float[Tensor, "q p"]
    ) -> tuple[Float[Tensor, " q"], Float[Tensor, " q"]]:
        """Mean and variance of ``β'W* + E_{z*} f`` for new subjects, without the outcome's noise.

        ``cross`` is M between the known and the new subjects, ``prior`` the new ones' M_jj, ``design`` their V.
        """
        mean = design @ self.slopes + cross.T @ self.dual
        left = self.factor.half_solve(cross)
        gap = design.T - self.factor.half_solve(self.design).T @ left
        extra = (gap * (self.slope_covariance @ gap)).sum(0)
        return mean, (prior - left.square().sum(0)).clamp_min(0) + extra

    def left_out(self) -> Float[Tensor, " n"]:
        """Predictions of each outcome from all others, ``y_i − [Py]_i/P_ii``, ``P = QS_Q⁻¹Qᵀ``, in closed form.

        Source: Rasmussen and Williams 2006, eq. 5.12 (with the covariates' slopes refitted too).
        """
        return self.outcomes - self.conditioning.dual / self.conditioning.root.square().sum(1)


def sums_and_prior(
    posterior: "HasSums", inputs: Float[Tensor, "P d"], centred: bool
) -> tuple[Float[Tensor, "n P"], Float[Tensor, " P"]]:
    """Covariance of the subjects' means with f(s), and f(s)'s prior variance; ``centred``: of ``f(s) − Σ_i E_i f/n``.

    An intercept takes up any constant in f; the centred function is what the outcomes still tell of.
    """
    kernel, gram = posterior.spec.kernel, posterior.gram
    sums = posterior.sums.cross(kernel, inputs)
    prior = posterior.sums.prior_variance(kernel, inputs)
    if not centred:
        return sums, prior
    return sums - gram.mean(1, keepdim=True), prior - 2 * sums.mean(0) + gram.mean()


class HasSums(Protocol):
    """A posterior of f with its subjects' sums."""

    @property
    def spec(self) -> RegressionSpec:
        """Kernel and noise."""
        ...

    @property
    def sums(self) -> Sums:
        """Of the subjects."""
        ...

    @property
    def gram(self) -> Float[Tensor, "n n"]:
        """M."""
        ...


def draw_normal(
    mean: Float[Tensor, " P"], covariance: Float[Tensor, "P P"], count: int, generator: torch.Generator
) -> Float[Tensor, "count P"]:
    """Draws of N(mean, covariance); negative rounding errors of eigenvalues are set to zero."""
    values, vectors = linalg.eigen(covariance, "posterior covariance")
    noise = torch.randn(count, len(mean), generator=generator, dtype=mean.dtype, device=generator.device)
    return mean + (noise.to(mean.device) * values.clamp_min(0).sqrt()) @ vectors.T


def fit(
    spec: RegressionSpec, sums: Sums, outcomes: Float[Tensor, " n"], covariates: Float[Tensor, "n q"],
    gram: Float[Tensor, "n n"] | None = None,
) -> Fitted:  # fmt: skip
    """The posterior (6)-(7) with given hyperparameters; ``gram`` if M is already known.

    Raises ``InputError`` for linearly dependent covariates or a singular matrix.
    """
    result = sums.gram(spec.kernel) if gram is None else gram
    design = design_matrix(covariates, spec.intercept)
    basis = linalg.contrasts(design)
    identity = linalg.identity(basis.shape[1], basis)
    conditioning = condition(result, basis, spec.noise * identity, basis.T @ outcomes)
    full = linalg.identity(len(result), result)
    factor = linalg.cholesky_exact(result + spec.noise * full, "covariance of the outcomes")
    half = factor.half_solve(design)
    precision = linalg.cholesky_exact(half.T @ half, "precision of the slopes") if design.shape[1] else None
    small = linalg.identity(design.shape[1], result)
    covariance = small if precision is None else precision.solve(small)
    slopes = covariance @ (half.T @ factor.half_solve(outcomes))
    dual = factor.solve(outcomes - design @ slopes)
    return Fitted(spec, sums, result, design, outcomes, conditioning, factor, slopes, covariance, dual)
