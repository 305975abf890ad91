"""A Gaussian posterior from samples: kernel Bayes' rule beside densities with importance weights, and the exact mean.

``(X, Y) ~ N((0, 1), V)``, ``V = AᵀA + 2I``; the prior of X is ``N(0, V_XX/2)``, not the pairs' own. Source:
Fukumizu et al. 2013, §5.1.
"""

import time
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from core.embeddings.bayes_rule import KernelBayes, median_distance
from core.embeddings.kernel_mean import empirical
from core.errors import InputError
from core.kernels.spec import Factor, KernelSpec, Term

METHODS = ("kbr", "kde", "cme")
#: Bandwidths that density estimation may choose from (the paper's).
BANDWIDTHS = tuple(2.0 * i for i in range(1, 11))


@dataclass(frozen=True)
class GaussianSpec:
    """``dimension`` d of X and of Y, ``pairs`` n, ``prior`` ℓ draws of the prior, ``tests`` values of y, seed."""

    dimension: int = 2
    pairs: int = 200
    prior: int = 200
    tests: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("dimension", 1), ("pairs", 4), ("prior", 1), ("tests", 1)):
            if getattr(self, name) < least:
                raise InputError(f"`{name}` is {getattr(self, name)}: give at least {least}.")

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True)
class GaussianProblem:
    """A drawn problem: blocks of V, ``inputs`` X and ``observations`` Y of the pairs (n, d), ``draws`` U of the prior
    (ℓ, d), ``simulated`` observations of those draws, ``tests`` values of y (t, d)."""

    spec: GaussianSpec
    xx: np.ndarray
    xy: np.ndarray
    yy: np.ndarray
    inputs: np.ndarray
    observations: np.ndarray
    draws: np.ndarray
    simulated: np.ndarray
    tests: np.ndarray

    @cached_property
    def channel(self) -> tuple[np.ndarray, np.ndarray]:
        """``V_YX V_XX⁻¹`` and the covariance of Y given X: ``Y = 1 + slope X + noise``."""
        return _channel(self.xx, self.xy, self.yy)

    def posterior(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Exact posterior means (…, d) and the covariance (d, d) of X given Y = y under the prior N(0, V_XX/2)."""
        slope, noise = self.channel
        precision = 2 * np.linalg.inv(self.xx) + slope.T @ np.linalg.solve(noise, slope)
        covariance = np.linalg.inv(precision)
        return (y - 1) @ np.linalg.solve(noise, slope) @ covariance, covariance


def _channel(xx: np.ndarray, xy: np.ndarray, yy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    slope = np.linalg.solve(xx, xy).T
    return slope, yy - slope @ xy


def make_gaussian(spec: GaussianSpec) -> GaussianProblem:
    """Draw V and all samples; the same seed gives the same numbers."""
    rng, d = np.random.default_rng(spec.seed), spec.dimension
    a = rng.standard_normal((2 * d, 2 * d))
    v = a.T @ a + 2 * np.eye(2 * d)
    xx, xy, yy = v[:d, :d], v[:d, d:], v[d:, d:]
    joint = rng.multivariate_normal(np.r_[np.zeros(d), np.ones(d)], v, size=spec.pairs, method="cholesky")
    draws = rng.multivariate_normal(np.zeros(d), xx / 2, size=spec.prior, method="cholesky")
    slope, covariance = _channel(xx, xy, yy)
    noise = rng.multivariate_normal(np.zeros(d), covariance, size=spec.prior, method="cholesky")
    tests = rng.multivariate_normal(np.zeros(d), yy, size=spec.tests, method="cholesky")
    return GaussianProblem(
        spec, xx, xy, yy, joint[:, :d], joint[:, d:], draws, 1 + draws @ slope.T + noise, tests
    )  # fmt: skip


def gaussian_rule(problem: GaussianProblem, scale: float = 1.0, tolerance: float = 0.0) -> KernelBayes:
    """Kernel Bayes' rule with Gaussian kernels of ``scale`` × the median distance, ``ε = 0.01/n``, ``δ = 2ε``."""
    x, y = torch.from_numpy(problem.inputs), torch.from_numpy(problem.observations)
    names = tuple(f"c{index}" for index in range(problem.spec.dimension))
    kernels = [KernelSpec((Term((Factor("rbf", names, (scale * median_distance(v),)),)),)).build(names) for v in (x, y)]
    epsilon = 0.01 / problem.spec.pairs
    return KernelBayes(x, y, kernels[0], kernels[1], epsilon, 2 * epsilon, tolerance)


def kernel_bayes_means(problem: GaussianProblem, tolerance: float = 1e-10) -> np.ndarray:
    """Posterior means ``Σ ρ_i X_i`` at every test y."""
    rule = gaussian_rule(problem, tolerance=tolerance)
    weights = rule.prior_weights(empirical(torch.from_numpy(problem.draws), rule.kernel))
    return (rule.update(weights, rule.near(torch.from_numpy(problem.tests))).T @ rule.inputs).numpy()


def conditional_rule(problem: GaussianProblem, scale: float = 1.0) -> KernelBayes:
    """For the conditional kernel mean: pairs (U, Y) simulated at the prior's own draws, ``ε = 0.01/√n``."""
    pairs = gaussian_rule(replace(problem, inputs=problem.draws, observations=problem.simulated), scale)
    return replace(pairs, regularisation=0.01 / len(pairs.inputs) ** 0.5)


def conditional_means(problem: GaussianProblem) -> np.ndarray:
    """Posterior means by the conditional kernel mean at every test y."""
    rule = conditional_rule(problem)
    weights = rule.conditional_weights(rule.near(torch.from_numpy(problem.tests)))
    return (weights.T @ rule.inputs).numpy()


def density_means(problem: GaussianProblem, bandwidth: float) -> np.ndarray:
    """``Σ ζ_j U_j/Σ ζ_j`` with ``ζ_j = Σ_i K(U_j − X_i)K(y − Y_i)/Σ_i K(U_j − X_i)``, Gaussian K of one bandwidth."""
    from scipy.spatial.distance import cdist
    from scipy.special import logsumexp

    near_x = -0.5 * cdist(problem.draws, problem.inputs, "sqeuclidean") / bandwidth**2  # (ℓ, n)
    near_y = -0.5 * cdist(problem.tests, problem.observations, "sqeuclidean") / bandwidth**2  # (t, n)
    likely = near_x - logsumexp(near_x, axis=1, keepdims=True)
    high = near_y.max(1, keepdims=True)
    weights = np.exp(near_y - high) @ np.exp(likely).T  # (t, ℓ); the factor exp(high) cancels
    return weights @ problem.draws / weights.sum(1, keepdims=True)


def best_density_means(problem: GaussianProblem) -> tuple[np.ndarray, float]:
    """Density estimation at the bandwidth of least error against the exact means: the most it can do."""
    exact = problem.posterior(problem.tests)[0]
    found = {h: density_means(problem, h) for h in BANDWIDTHS}
    errors = {h: _error(means, exact) for h, means in found.items() if np.isfinite(means).all()}
    best = min(errors, key=errors.__getitem__)
    return found[best], best


def _error(found: np.ndarray, exact: np.ndarray) -> float:
    return float(((found - exact) ** 2).sum(1).mean())


def compare_rules(spec: GaussianSpec, methods: tuple[str, ...] = METHODS) -> list[dict[str, Any]]:
    """One run of every method: mean square error of the posterior mean over all test y, CPU seconds."""
    unknown = [name for name in methods if name not in METHODS]
    if unknown:
        raise InputError(f"The method '{unknown[0]}' is unknown: choose among {', '.join(METHODS)}.")
    problem, rows = make_gaussian(spec), []
    exact = problem.posterior(problem.tests)[0]
    for name in methods:
        begun = (time.process_time(), time.perf_counter())
        words = None
        if name == "kde":
            means, bandwidth = best_density_means(problem)
            words = f"bandwidth {bandwidth:g}, the best of {BANDWIDTHS[0]:g} to {BANDWIDTHS[-1]:g} given the truth"
        else:
            means = kernel_bayes_means(problem) if name == "kbr" else conditional_means(problem)
        spent = {"cpu": time.process_time() - begun[0], "wall": time.perf_counter() - begun[1]}
        score = {"mse": _error(means, exact)}
        rows.append({"model": name, "seed": spec.seed, "scores": score, "message": words, "seconds": spent})
    return rows
