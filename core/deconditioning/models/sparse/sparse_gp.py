"""The model of indirect data with inducing points: the collapsed bound, the optimal q(u), and its posterior.

With ``u = L v``, ``K_uu = L Lᵀ`` and ``v ~ N(0, I)`` a priori, the bag means are ``f̄ ≈ C L⁻ᵀ v`` (C (B, p) the bag
sums at the inducing points). Dividing by a root of Σ = F Fᵀ gives ``F⁻¹z̃ = Aᵀ v + e``, ``e ~ N(0, I)``, with ``A = L⁻¹
Cᵀ W F⁻ᵀ`` (p, k); k ≤ min(B, M) after the rotation of ``target_summary``, so that no cost grows with the number of
targets. Sources: Titsias 2009; Chau et al. 2021, App. B and E.2.2.
"""

from dataclasses import dataclass

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.bag_sums.direct import cross
from deconditioning.errors import Check, InputError, never
from deconditioning.kernels.fourier import draw_prior
from deconditioning.kernels.tiles import diagonal as prior_variance
from deconditioning.kernels.tiles import evaluate
from deconditioning.models.indirect_gp import Columns, refuse_dense
from deconditioning.models.posterior_moments import POINTS, Moments, read_moments
from deconditioning.models.sparse.bag_prior import BagPrior, Through, thinning_error
from deconditioning.models.sparse.inducing import place
from deconditioning.models.sparse.target_summary import WhitenedTargets, summarise
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData


def collapsed_bound(
    projection: Float[Tensor, "p k"], prior_variances: Float[Tensor, " k"], targets: WhitenedTargets
) -> Float[Tensor, ""]:
    """``log N(z̃; Wᵀm̄, WᵀQ̄W + Σ) − ½ tr Σ⁻¹Wᵀ(K̄ − Q̄)W`` with ``Q̄ = C K_uu⁻¹ Cᵀ``, a lower bound on the log
    evidence.

    ``projection`` is A of the module docstring, ``prior_variances`` the diagonal of ``F⁻¹WᵀK̄WF⁻ᵀ``. Source: Titsias
    2009, eq. 9; Chau et al. 2021, App. B.
    """
    factor = _information(projection)
    fit = targets.residual.square().sum() - factor.half_solve(projection @ targets.residual).square().sum()
    missed = prior_variances.sum() - projection.square().sum()
    return targets.constant() - 0.5 * (fit + factor.log_determinant() + missed)


def _information(projection: Tensor) -> linalg.Factor:
    """``I + A Aᵀ``, the precision of v given the targets."""
    identity = linalg.identity(len(projection), projection)
    return linalg.cholesky(identity + projection @ projection.T, "information of the inducing points")


@dataclass(frozen=True)
class WhitenedGaussian:
    """``q(v) = N(mean, root rootᵀ)`` of the whitened inducing values ``v = L⁻¹ u``."""

    mean: Float[Tensor, " p"]
    root: Float[Tensor, "p p"]

    @staticmethod
    def prior(count: int, like: Tensor) -> "WhitenedGaussian":
        """``N(0, I)``."""
        return WhitenedGaussian(like.new_zeros(count), linalg.identity(count, like))

    @staticmethod
    def optimal(projection: Float[Tensor, "p k"], residual: Float[Tensor, " k"]) -> "WhitenedGaussian":
        """``N((I + AAᵀ)⁻¹ A F⁻¹r, (I + AAᵀ)⁻¹)``: the q that makes the bound largest (Titsias 2009, eq. 10)."""
        factor = _information(projection)
        identity = linalg.identity(len(projection), projection)
        return WhitenedGaussian(factor.solve(projection @ residual), factor.half_solve(identity).T)

    def carrying(self, projection: Float[Tensor, "p k"], carried: Float[Tensor, "k k"]) -> "WhitenedGaussian":
        """The same with the covariance of targets that are estimates (whitened, ``F⁻¹CF⁻ᵀ``) carried on to v."""
        gain = self.root @ (self.root.T @ projection)
        covariance = self.root @ self.root.T + gain @ carried @ gain.T
        return WhitenedGaussian(self.mean, linalg.cholesky(covariance, "posterior of the inducing values").lower)

    def divergence(self) -> Float[Tensor, ""]:
        """``KL(q(v) ‖ N(0, I))``."""
        size = self.root.square().sum() + self.mean.square().sum()
        return 0.5 * (size - len(self.mean)) - linalg.log_determinant(self.root)


@dataclass(frozen=True)
class SparsePosterior:
    """Posterior of ``f`` through ``q(u)``: ``mean(x) = m + a(x)ᵀ E[v]``, ``a(x) = L⁻¹ k(w, x)``,
    ``cov(x, x′) = k(x, x′) − a(x)ᵀ (I − Cov v) a(x′)`` (Chau et al. 2021, App. B). ``left_out`` is the share of the
    trace of the mediators' kernel matrix that its low-rank substitute leaves out, 0 with at most 5,000 bags."""

    spec: ModelSpec
    columns: Columns
    inducing: Float[Tensor, "p d"]
    factor: linalg.Factor
    q: WhitenedGaussian
    left_out: float = 0.0

    def _kernel(self) -> gpytorch.kernels.Kernel:
        return self.spec.kernel.build(self.columns.inputs).to(self.inducing.device)

    def _features(self, kernel: gpytorch.kernels.Kernel, inputs: Tensor) -> Float[Tensor, "p n"]:
        return self.factor.half_solve(evaluate(kernel, self.inducing, inputs))

    def mean(self, inputs: Float[Tensor, "P d"], check: Check = never) -> Float[Tensor, " P"]:
        """Posterior mean at each input."""
        kernel, weights, result = self._kernel(), self.factor.lower.T, torch.empty_like(inputs[:, 0])
        dual = torch.linalg.solve_triangular(weights, self.q.mean[:, None], upper=True)[:, 0]
        with torch.no_grad():
            # written in place, as small results kept between tiles would break the heap into pieces
            for x, part in zip(inputs.split(POINTS), result.split(POINTS), strict=True):
                check()
                part.copy_(dual @ evaluate(kernel, self.inducing, x))
        return self.spec.mean + result

    def variance(self, inputs: Float[Tensor, "P d"], check: Check = never) -> Float[Tensor, " P"]:
        """Posterior variance of ``f`` at each input (point noise ς² not included)."""
        return self.mean_and_variance(inputs, check)[1]

    def mean_and_variance(
        self, inputs: Float[Tensor, "P d"], check: Check = never
    ) -> tuple[Float[Tensor, " P"], Float[Tensor, " P"]]:
        """Both in one pass over the inputs."""
        kernel = self._kernel()

        def tile(part: slice) -> Moments:
            """Moments at one part of the inputs."""
            a = self._features(kernel, inputs[part])
            lost = a.square().sum(0) - (self.q.root.T @ a).square().sum(0)
            return self.q.mean @ a, (prior_variance(kernel, inputs[part]) - lost).clamp_min(0)

        mean, variance = read_moments(inputs[:, 0], tile, check)
        return self.spec.mean + mean, variance

    def covariance(self, inputs: Float[Tensor, "P d"]) -> Float[Tensor, "P P"]:
        """Posterior covariance of ``f`` between all inputs; at most 5,000 of them."""
        refuse_dense(len(inputs))
        kernel = self._kernel()
        with torch.no_grad():
            a = self._features(kernel, inputs)
            spread = self.q.root.T @ a
            return evaluate(kernel, inputs, inputs) - a.T @ a + spread.T @ spread

    def sample(self, inputs: Float[Tensor, "P d"], count: int, generator: torch.Generator) -> Float[Tensor, "count P"]:
        """Joint draws: a prior draw, moved by ``a(x)ᵀ(v − L⁻¹f(w))`` with ``v ~ q`` (Wilson et al. 2020)."""
        kernel, priors, moves = self._kernel(), [], []
        with torch.no_grad():
            for _ in range(count):
                prior = draw_prior(self.spec.kernel, self.columns.inputs, generator, inputs.device)
                noise = torch.randn(len(self.q.mean), generator=generator, dtype=inputs.dtype, device=generator.device)
                v = self.q.mean + self.q.root @ noise.to(inputs.device)
                moves.append(v - self.factor.half_solve(prior(self.inducing)))
                priors.append(torch.cat([prior(x) for x in inputs.split(POINTS)]))
            moved = []
            for x in inputs.split(POINTS):
                features = self._features(kernel, x).T
                moved.append(torch.stack([features @ move for move in moves]))
            return self.spec.mean + torch.stack(priors) + torch.cat(moved, dim=1)


@dataclass(frozen=True)
class SparseTerms:
    """What the bound and q are made of: inducing points with the bag sums, A (p, k) and the whitened targets."""

    through: Through
    projection: Float[Tensor, "p k"]
    targets: WhitenedTargets
    left_out: float


def sparse_terms(spec: ModelSpec, data: IndirectData, columns: Columns, check: Check = never) -> SparseTerms:
    """The terms of a sparse model with given hyperparameters, without gradient."""
    if spec.noise <= 0:
        raise InputError("A model with inducing points divides by the noise variance, but σ² is 0: make σ² positive.")
    kernel = spec.kernel.build(columns.inputs).to(data.targets.device)
    with torch.no_grad():
        summary = summarise(spec, data, columns, check)
        targets = summary.whiten(data.targets.new_tensor(spec.noise), spec.point_noise)
        inducing = place(spec.inducing, data.bags.inputs)
        factor = linalg.cholesky(evaluate(kernel, inducing, inducing), "covariance of the inducing points")
        half = factor.half_solve(cross(kernel, sort_bags(data.bags), inducing, check=check).T)
        return SparseTerms(Through(inducing, factor, half), targets.project(half.T).T, targets, summary.left_out)


def sparse_posterior(
    spec: ModelSpec, data: IndirectData, columns: Columns, q: WhitenedGaussian | None = None, check: Check = never
) -> SparsePosterior:
    """Posterior with inducing points and the optimal ``q(u)``, unless one is given.

    Raises ``InputError`` for more inducing points than points, an unknown model or missing columns.
    """
    terms = sparse_terms(spec, data, columns, check)
    q = q or WhitenedGaussian.optimal(terms.projection, terms.targets.residual)
    if data.covariance is not None:
        scale = terms.targets.scale
        assert scale is not None and terms.targets.weights is None, "estimates are targets of their own bags"
        q = q.carrying(terms.projection, scale[:, None] * data.covariance * scale)
    return SparsePosterior(spec, columns, terms.through.inducing, terms.through.factor, q, terms.left_out)


def bound(spec: ModelSpec, data: IndirectData, columns: Columns, check: Check = never) -> float:
    """The collapsed bound on the log evidence at given hyperparameters; of very many points, K̄ as ``BagPrior`` says."""
    return bound_and_error(spec, data, columns, check, estimate=False)[0]


def bound_and_error(
    spec: ModelSpec, data: IndirectData, columns: Columns, check: Check = never, *, estimate: bool = True
) -> tuple[float, float]:
    """The collapsed bound, and about how far it is from that of all pairs of points where K̄ is thinned (else 0): the
    estimate of ``thinning_error``, halved, with two standard errors added."""
    terms = sparse_terms(spec, data, columns, check)
    kernel, targets = spec.kernel.build(columns.inputs).to(data.targets.device), terms.targets
    prior = BagPrior.of(data.bags, whole=targets.weights is not None)
    with torch.no_grad():
        bag_gram = prior(kernel, terms.through, check)
        value = float(collapsed_bound(terms.projection, targets.prior_variances(bag_gram), targets))
        if prior.exact or not estimate:
            return value, 0.0
        off, spread = thinning_error(kernel, data.bags, bag_gram, targets.between_bags())
        return value, 0.5 * (abs(off) + 2 * spread)
