"""Kernel Bayes' rule: a posterior embedding from a weighted prior sample and pairs drawn from the likelihood.

The prior weights of the pairs are ``μ̂ = (G_X + nεI)⁻¹ m_Π``, which sum to about one. They follow from the paper's
operators, ``Ĉ_(YX)X (Ĉ_XX + εI)⁻¹ m̂_Π = Σ_i μ̂_i k(·, Y_i) ⊗ k(·, X_i)``, and equal those of its filter's prediction
(eq. 18). Equation 12 (proposition 3.3) and Figure 1 print n times as much, which is the same rule with ``δ/n²`` in
place of δ (``printed``). Source: Fukumizu et al. 2013, §3.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.embeddings.kernel_mean import KernelMean, empirical
from deconditioning.errors import InputError
from deconditioning.kernels.low_rank import LowRank, RidgeInverse, incomplete_cholesky
from deconditioning.kernels.spec import gaussian
from deconditioning.kernels.tiles import evaluate


@dataclass(frozen=True)
class KernelBayes:
    """Kernel Bayes' rule learned from pairs (X_i, Y_i).

    Parameters
    ----------
    inputs, observations : paired rows X (n, d) and Y (n, q).
    kernel, observation_kernel : kernels on X and on Y.
    regularisation, second_regularisation : ε (which enters as nε) and δ.
    tolerance : share of the trace that low-rank factors of both Gram matrices may omit; 0 for dense matrices.
    printed : whether μ̂ has the factor n of eq. 12 and Figure 1.
    """

    inputs: Float[Tensor, "n d"]
    observations: Float[Tensor, "n q"]
    kernel: gpytorch.kernels.Kernel
    observation_kernel: gpytorch.kernels.Kernel
    regularisation: float
    second_regularisation: float
    tolerance: float = 0.0
    printed: bool = False

    def __post_init__(self) -> None:
        if len(self.inputs) != len(self.observations) or len(self.inputs) < 1:
            raise InputError(
                f"There are {len(self.inputs)} states and {len(self.observations)} observations: give one of each."
            )
        for name in ("inputs", "observations"):
            if not bool(torch.isfinite(getattr(self, name)).all()):
                raise InputError(f"`{name}` contains missing or infinite values: remove those rows first.")
        if not (self.regularisation > 0 and self.second_regularisation > 0):
            raise InputError(
                f"ε = {self.regularisation:.3g}, δ = {self.second_regularisation:.3g} are not both positive: "
                "give two positive numbers."
            )

    @property
    def _ridge(self) -> float:
        return len(self.inputs) * self.regularisation

    @property
    def _multiple(self) -> int:
        return len(self.inputs) if self.printed else 1

    @cached_property
    def gram(self) -> Float[Tensor, "n n"]:
        """The Gram matrix ``G_X``."""
        with torch.no_grad():
            return evaluate(self.kernel, self.inputs, self.inputs)

    @cached_property
    def observation_gram(self) -> Float[Tensor, "n n"]:
        """The Gram matrix ``G_Y``."""
        with torch.no_grad():
            return evaluate(self.observation_kernel, self.observations, self.observations)

    @cached_property
    def low_rank(self) -> tuple[LowRank, LowRank]:
        """Low-rank factors of ``G_X`` and ``G_Y`` at the given tolerance."""
        pairs = ((self.kernel, self.inputs), (self.observation_kernel, self.observations))
        first, second = (incomplete_cholesky(kernel, at, self.tolerance) for kernel, at in pairs)
        return first, second

    @cached_property
    def _factor(self) -> linalg.Factor:
        return linalg.ridge_factor(self.gram, self._ridge, "kernel matrix of the states")

    @cached_property
    def _low_rank_ridge(self) -> RidgeInverse:
        return RidgeInverse(self.low_rank[0].factor, self._ridge, "kernel matrix of the states")

    def _smoothed(self, values: Float[Tensor, "n *k"]) -> Float[Tensor, "n *k"]:
        """``(G_X + nεI)⁻¹ v``, by the low-rank factor where there is one (Woodbury)."""
        if not self.tolerance:
            return self._factor.solve(values)
        return self._low_rank_ridge.solve(values)

    def prior_weights(self, prior: KernelMean) -> Float[Tensor, " n"]:
        """``μ̂ = (G_X + nεI)⁻¹ (Σ_j γ_j k(X_i, U_j))_i``; the sum is near one if the pairs cover the prior (near n if
        ``printed``).
        """
        return self._multiple * self._smoothed(prior.at(self.inputs))

    def near(self, observation: Float[Tensor, "*k q"]) -> Float[Tensor, "n *k"]:
        """``k_Y(y) = k(Y_i, y)`` for one observation, or one column for each of k observations."""
        if observation.shape[-1:] != self.observations.shape[1:] or not bool(torch.isfinite(observation).all()):
            raise InputError(
                f"The observation has shape {tuple(observation.shape)}: give one of shape "
                f"{tuple(self.observations.shape[1:])} with finite numbers, as in training."
            )
        with torch.no_grad():
            near = evaluate(self.observation_kernel, self.observations, observation.reshape(-1, observation.shape[-1]))
        return near[:, 0] if observation.ndim == 1 else near

    def update(self, weights: Float[Tensor, " n"], near: Float[Tensor, "n *k"]) -> Float[Tensor, "n *k"]:
        """``ρ = ΛG_Y((ΛG_Y)² + δI)⁻¹Λ k_Y(y)`` with ``Λ = diag(weights)``: form (b), weights on the training X."""
        columns, delta = near if near.ndim == 2 else near[:, None], self.second_regularisation
        if self.tolerance:
            result = update_by_factor(self.low_rank[1].factor, weights[None], columns.T[None], delta)[0].T
        else:
            result = update_by_gram(self.observation_gram, weights, columns, delta)
        return result if near.ndim == 2 else result[:, 0]

    def posterior(self, prior: KernelMean, observation: Float[Tensor, " q"]) -> KernelMean:
        """The embedding of X given Y = y in form (b): a weighted sample at the training X."""
        return KernelMean(self.inputs, self.update(self.prior_weights(prior), self.near(observation)), self.kernel)

    def posterior_on_prior(self, prior: KernelMean, observation: Float[Tensor, " q"]) -> KernelMean:
        """Form (a), weights on the prior's points U: ``ρ_U = diag(γ) K_UX (G_X + nεI)⁻¹ ((G_YΛ)² + δI)⁻¹ G_Y Λ
        k_Y(y)``, with its first inverse times n if ``printed``.

        Source: Song et al. 2013; Hsu and Ramos 2019, §7 and App. F.
        """
        weights = self.prior_weights(prior)
        joint = self.observation_gram * weights
        system = joint @ joint + self.second_regularisation * linalg.identity(joint.shape[1], joint)
        right = joint @ self.near(observation)
        inverse = linalg.solve_general(system, right[:, None], "squared evidence")[0][:, 0]
        with torch.no_grad():
            cross = evaluate(self.kernel, prior.points, self.inputs)
        return KernelMean(prior.points, self._multiple * prior.weights * (cross @ self._smoothed(inverse)), self.kernel)

    @cached_property
    def _observation_factor(self) -> linalg.Factor:
        return linalg.ridge_factor(self.observation_gram, self._ridge, "kernel matrix of the observations")

    def conditional_weights(self, near: Float[Tensor, "n *k"]) -> Float[Tensor, "n *k"]:
        """``(G_Y + nεI)⁻¹ k_Y(y)``: the conditional kernel mean on the training X, whose prior is that of the pairs.

        Source: Song et al. 2009; Fukumizu et al. 2013, §5.2.
        """
        return self._observation_factor.solve(near)

    def conditional_mean(self, observation: Float[Tensor, " q"]) -> KernelMean:
        """The embedding with ``conditional_weights``."""
        return KernelMean(self.inputs, self.conditional_weights(self.near(observation)), self.kernel)


def update_by_gram(
    gram: Float[Tensor, "n n"], weights: Float[Tensor, " n"], near: Float[Tensor, "n k"], delta: float
) -> Float[Tensor, "n k"]:
    """Form (b) of the rule, ``ΛG_Y((ΛG_Y)² + δI)⁻¹Λ k_Y(y)`` with ``Λ = diag(weights)``, for k observations."""
    joint = weights[:, None] * gram
    system = joint @ joint + delta * linalg.identity(joint.shape[1], joint)
    return joint @ linalg.solve_general(system, weights[:, None] * near, "squared evidence")[0]


def update_by_factor(
    root: Float[Tensor, "n r"], weights: Float[Tensor, "S n"], near: Float[Tensor, "S k n"], delta: float
) -> Float[Tensor, "S k n"]:
    """Form (b) with ``G_Y ≈ CCᵀ``, for k observations under each of S priors: ``ΛC(B² + δI)⁻¹CᵀΛ k_Y(y)``, ``B =
    CᵀΛC``.

    Solves one symmetric r×r system per prior. Raises ``InputError`` if it is singular at this δ.
    """
    inner = (root.T[None] * weights[:, None, :]) @ root
    system = inner @ inner + delta * linalg.identity(root.shape[1], root)
    right = (weights[:, None, :] * near) @ root
    solved = linalg.solve_positive_batch(system, right.transpose(1, 2), "squared evidence")
    return weights[:, None, :] * (solved.transpose(1, 2) @ root.T)


def cross_validation(rule: KernelBayes, folds: int = 10, judge: gpytorch.kernels.Kernel | None = None) -> float:
    """``Σ_a ‖mean_{j∈T_a} μ̂^{[−a]}_{X|Y_j} − μ̂_X^{[a]}‖²`` with the training X as prior, the criterion of §4.2.

    The norm is that of the rule's kernel on X, or of ``judge``: norms of different kernels are not comparable. Fold a
    contains the rows ``a, a + K, …``. Raises ``InputError`` for fewer than two folds or rows per fold.
    """
    count = len(rule.inputs)
    if not 2 <= folds <= count // 2:
        raise InputError(f"{folds} folds of {count} rows were requested: give between 2 and {max(2, count // 2)}.")
    judge = rule.kernel if judge is None else judge
    total, order = 0.0, torch.arange(count, device=rule.inputs.device)
    for fold in range(folds):
        out = order % folds == fold
        training = replace(rule, inputs=rule.inputs[~out], observations=rule.observations[~out])
        prior = training.prior_weights(empirical(training.inputs, rule.kernel))
        posteriors = training.update(prior, training.near(rule.observations[out]))
        average = KernelMean(training.inputs, posteriors.mean(1), judge)
        total += average.distance(empirical(rule.inputs[out], judge)) ** 2
    return total


def median_distance(points: Float[Tensor, "n d"], most: int = 2000) -> float:
    """Median of the positive pairwise distances (of at most ``most`` rows); ``InputError`` if there are none."""
    rows = torch.linspace(0, len(points) - 1, min(len(points), most)).round().long()
    distances = torch.nn.functional.pdist(points[rows])
    positive = distances[distances > 0]
    if not len(positive):
        raise InputError(
            "All points are identical, so there is no distance to set a lengthscale: give points that differ."
        )
    return float(positive.median())


def median_kernel(points: Float[Tensor, "n d"], scale: float = 1.0) -> gpytorch.kernels.Kernel:
    """A Gaussian kernel of lengthscale ``scale`` × the points' median distance, on their device."""
    names = tuple(f"c{index}" for index in range(points.shape[1]))
    width = scale * median_distance(points.cpu())
    return gaussian(names, (width,)).build(names).to(points.device)


def rule_of_pairs(
    inputs: Float[Tensor, "n d"], observations: Float[Tensor, "n q"], scale: float = 1.0,
    regularisation: float | None = None, second_regularisation: float | None = None, tolerance: float = 0.0,
) -> KernelBayes:  # fmt: skip
    """The rule with Gaussian kernels of ``scale`` × the median distance; by default ``ε = 0.01/n`` and ``δ = 2ε``."""
    epsilon = 0.01 / len(inputs) if regularisation is None else regularisation
    delta = 2 * epsilon if second_regularisation is None else second_regularisation
    kernels = median_kernel(inputs, scale), median_kernel(observations, scale)
    return KernelBayes(inputs, observations, *kernels, epsilon, delta, tolerance)
