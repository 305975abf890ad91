"""Bayesian distribution regression: uncertain weights and, unlike landmark regression, uncertain embeddings.

``y_i ~ N(α'μ_i(u) + β'W_i, σ²)``, where only the posterior of ``μ_i(u)`` is known (``embedding``). Given α, an outcome
has the variance ``α'C_iα + σ²``, so α has no Gaussian posterior; but α given all μ_i, and each μ_i given α and y_i, are
Gaussian, and Gibbs draws alternate them. Moments of α are averages of the exact conditional ones. Source: Law et al.
2018, §3.2 and §3.4 (there by Hamiltonian Monte Carlo); Tang et al., §5.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.distribution_regression.embedding import Embeddings, embed
from deconditioning.distribution_regression.gibbs import NoiseDraws, NoisePrior, effective_size
from deconditioning.distribution_regression.gpdr import RegressionSpec, design_matrix
from deconditioning.distribution_regression.kernel_sums import KernelSums
from deconditioning.distribution_regression.landmarks import LandmarkSums
from deconditioning.errors import Check, InputError, never
from deconditioning.kernels.spec import KernelSpec

_DRAWS, _BURN_IN = 200, 40
#: Posteriors under other kernels that are remembered.
_KEPT = 16
#: Directions that no subject's embedding has, as a share of the largest: there the weights keep their prior.
_CUT = 1e-12


class UncertainSums(LandmarkSums):
    """The landmarks' sums with each embedding replaced by its posterior mean; ``scale`` η as in ``embed``."""

    def __init__(
        self, sums: KernelSums, landmarks: Float[Tensor, "r d"], prior: str = "weights", scale: float | None = None
    ) -> None:
        super().__init__(sums, landmarks, prior)
        self._scale = scale
        self._kept: dict[KernelSpec, Embeddings] = {}

    def embeddings(self, kernel: KernelSpec) -> Embeddings:
        """The posteriors of all subjects' embeddings, cached for the last kernels."""
        result = self._kept.get(kernel)
        if result is None:
            result = embed(self, kernel, self._scale)
            self._kept = dict([*self._kept.items()][1 - _KEPT :]) | {kernel: result}
        return result

    def features(self, kernel: KernelSpec) -> Float[Tensor, "n k"]:
        """As of ``LandmarkSums``, of the posterior means."""
        return self.embeddings(kernel).at_landmarks() @ self.root(kernel)


@dataclass(frozen=True)
class BdrPosterior:
    """The posterior of f as its first two moments.

    ``weights`` (k,) and ``covariance_of_weights`` (k, k) of f in the root coordinates of the landmarks, ``slopes`` β̂
    (p,); ``drawn`` the noises σ² of the chain, all the same where σ² is given, and what they are worth.
    """

    spec: RegressionSpec
    sums: UncertainSums
    outcomes: Float[Tensor, " n"]
    weights: Float[Tensor, " k"]
    covariance_of_weights: Float[Tensor, "k k"]
    slopes: Float[Tensor, " p"]
    drawn: NoiseDraws

    @property
    def noises(self) -> Float[Tensor, " D"]:
        """σ² of every draw."""
        return self.weights.new_tensor(self.drawn.noises)

    def mean(self, inputs: Float[Tensor, "P d"]) -> Float[Tensor, " P"]:
        """``E f(s) = K(s, u) E α``."""
        return self.sums.at(self.spec.kernel, inputs) @ self.weights

    def moments(
        self, inputs: Float[Tensor, "P d"], centred: bool = False
    ) -> tuple[Float[Tensor, " P"], Float[Tensor, " P"]]:
        """Mean and variance of f, or (``centred``) of f minus its mean over the subjects' expected embeddings."""
        at = self.sums.at(self.spec.kernel, inputs)
        if centred:
            at = at - self.sums.features(self.spec.kernel).mean(0)
        return at @ self.weights, (at @ self.covariance_of_weights * at).sum(1).clamp_min(0)

    def covariance(self, inputs: Float[Tensor, "P d"]) -> Float[Tensor, "P P"]:
        """Posterior covariance of f between all inputs."""
        at = self.sums.at(self.spec.kernel, inputs)
        return at @ self.covariance_of_weights @ at.T

    def predict(self, features: Float[Tensor, "q k"], design: Float[Tensor, "q p"]) -> Float[Tensor, " q"]:
        """``E[β'W* + α'μ*]`` of new subjects, from the posterior means of their embeddings."""
        return features @ self.weights + design @ self.slopes


def fit_bdr(
    spec: RegressionSpec, sums: UncertainSums, outcomes: Float[Tensor, " n"], covariates: Float[Tensor, "n q"], *,
    rows: Tensor | None = None, noise_prior: NoisePrior | None = None, draws: int = _DRAWS, burn_in: int = _BURN_IN,
    seed: int = 0, check: Check = never,
) -> BdrPosterior:  # fmt: skip
    """The posterior of Bayesian distribution regression by Gibbs draws, at the spec's σ² or with σ² drawn too.

    Parameters
    ----------
    outcomes, covariates : of the subjects (n,) and (n, q).
    rows : the subjects of ``sums`` to which they belong (default: all).
    noise_prior : the prior of σ²; without it σ² is the spec's.
    draws, burn_in : draws that are used, and those before them that are not.

    Raises ``InputError`` for fewer than two draws.
    """
    if draws < 2 or burn_in < 0:
        raise InputError(f"{draws} draws after {burn_in} of burn-in were requested: give at least two draws.")
    result, root = sums.embeddings(spec.kernel), sums.root(spec.kernel)
    rows_used = slice(None) if rows is None else rows
    features = sums.features(spec.kernel)[rows_used]
    modes = root.T @ result.modes
    basis = _basis(torch.cat([(root.T @ result.centre)[:, None], modes], 1))
    chain = _Chain(
        len(basis), (features @ basis).numpy(force=True), (basis.T @ modes).numpy(force=True),
        result.variance[rows_used].numpy(force=True), design_matrix(covariates, spec.intercept).numpy(force=True),
        outcomes.numpy(force=True),
    )  # fmt: skip
    mean, covariance, noises = chain.run(spec.noise, noise_prior, draws, burn_in, np.random.default_rng(seed), check)
    size = basis.shape[1]
    free = linalg.identity(len(basis), basis) - basis @ basis.T
    whole = free + basis @ basis.new_tensor(covariance[:size, :size]) @ basis.T
    return BdrPosterior(
        spec, sums, outcomes, basis @ basis.new_tensor(mean[:size]), whole, basis.new_tensor(mean[size:]), noises
    )


def _basis(spanning: Float[Tensor, "k q"]) -> Float[Tensor, "k s"]:
    """An orthonormal basis of the span of the columns."""
    vectors, size, _ = linalg.singular(spanning, "span of the embeddings")
    return vectors[:, size > _CUT * size[0]]


@dataclass(frozen=True)
class _Chain:
    """``features`` (n, s) at the posterior means, ``modes`` (s, q) in which embeddings are uncertain with ``variance``
    (n, q), ``design`` (n, p), ``outcomes`` (n,).

    A draw of the weights takes ``width`` ≥ s random numbers, whatever s is: rounding may move it by one.
    """

    width: int
    features: np.ndarray
    modes: np.ndarray
    variance: np.ndarray
    design: np.ndarray
    outcomes: np.ndarray

    def run(
        self, noise: float, prior: NoisePrior | None, draws: int, burn_in: int, rng: np.random.Generator, check: Check
    ) -> tuple[np.ndarray, np.ndarray, NoiseDraws]:
        """Mean and covariance of (weights, slopes) over the draws, by their conditional moments; the noises drawn."""
        size = self.features.shape[1] + self.design.shape[1]
        precision = np.diag(np.r_[np.ones(self.features.shape[1]), np.zeros(self.design.shape[1])])
        means, inside, noises = np.empty((draws, size)), np.zeros((size, size)), np.empty(draws)
        moved = np.zeros_like(self.variance)
        used = np.r_[np.arange(self.features.shape[1]), self.width + np.arange(self.design.shape[1])]
        for step in range(burn_in + draws):
            if step % 20 == 0:
                check()
            design = np.hstack([self.features + moved @ self.modes.T, self.design])
            covariance = np.linalg.inv(precision + design.T @ design / noise)
            mean = covariance @ (design.T @ self.outcomes) / noise
            white = rng.standard_normal(self.width + self.design.shape[1])[used]
            drawn = mean + np.linalg.cholesky(0.5 * (covariance + covariance.T)) @ white
            moved = self._embeddings(drawn, noise, rng)
            if prior is not None:
                misfit = self._residual(drawn) - (moved * (self.modes.T @ drawn[: self.modes.shape[0]])).sum(1)
                noise = (prior.rate + 0.5 * misfit @ misfit) / rng.gamma(prior.shape + 0.5 * len(misfit))
            if step >= burn_in:
                means[step - burn_in], noises[step - burn_in] = mean, noise
                inside += covariance / draws
        spread = np.cov(means.T, bias=True).reshape(size, size)
        worth = effective_size(means @ self._mean_row(size))
        return means.mean(0), inside + spread, NoiseDraws(noises, worth)

    def _residual(self, drawn: np.ndarray) -> np.ndarray:
        size = self.features.shape[1]
        return self.outcomes - self.features @ drawn[:size] - self.design @ drawn[size:]

    def _embeddings(self, drawn: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
        """Draws (n, q) of all embeddings given weights and outcomes: a prior draw corrected by what it leaves of y."""
        along = self.modes.T @ drawn[: self.modes.shape[0]]  # (q,)
        draw = np.sqrt(self.variance) * rng.standard_normal(self.variance.shape)
        left = self._residual(drawn) - draw @ along - noise**0.5 * rng.standard_normal(len(draw))
        gain = self.variance * along
        return draw + gain * (left / (gain @ along + noise))[:, None]

    def _mean_row(self, size: int) -> np.ndarray:
        return np.r_[self.features.mean(0), np.zeros(size - self.features.shape[1])]
