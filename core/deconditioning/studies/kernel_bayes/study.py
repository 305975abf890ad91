"""A Gaussian posterior from samples: kernel Bayes' rule beside densities with importance weights, and the exact mean.

``(X, Y) ~ N((0, 1), V)``, ``V = AᵀA + 2I``; the prior of X is ``N(0, V_XX/2)``, not the pairs' own. Source:
Fukumizu et al. 2013, §5.1.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import gpytorch
import numpy as np
import torch

from deconditioning.device import one_thread
from deconditioning.embeddings.bayes_rule import KernelBayes, cross_validation, rule_of_pairs
from deconditioning.embeddings.kernel_mean import KernelMean, empirical
from deconditioning.engine.reporting import Stopwatch
from deconditioning.errors import InputError
from deconditioning.plain_data import check_seed
from deconditioning.studies.kernel_bayes.settings import ComparisonSettings, KernelBayesSettings
from deconditioning.wording import number

METHODS = ("kbr", "kde", "cme", "abc")
#: What cross-validation tries.
SCALES, EPSILONS = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8), (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
#: Kernel Bayes' rule with the regularisation of theorem 3.6, asked for by name.
THEOREM = "kbr_theorem"
#: The rule with μ̂ as eq. 12 and Figure 1 print it, n times ours: δ is n² smaller against the squared evidence.
PRINTED = "kbr_printed"
#: Nothing but the samples chooses, as in §5.1: the densities' bandwidth by least-squares cross-validation; the rule's
#: lengthscales by 10 folds, distances measured in one kernel for all candidates, or in each candidate's own (§4.2).
LEAST_SQUARES, FOLDED, FOLDED_ANEW = "kde_lscv", "kbr_cv", "kbr_cv_own"
_OTHERS = (THEOREM, PRINTED, LEAST_SQUARES, FOLDED, FOLDED_ANEW)
#: Draws kept by rejection ABC, the best given the truth, and how many are simulated by default.
_KEPT, _SIMULATIONS = (10, 30, 100, 300, 1000), ComparisonSettings.simulations.default
#: Bandwidths that density estimation may choose from (the paper's).
BANDWIDTHS = tuple(2.0 * i for i in range(1, 11))


@dataclass(frozen=True)
class GaussianSpec:
    """``dimension`` d of X and of Y, ``pairs`` n, ``prior`` ℓ draws of the prior, ``tests`` values of y, seed."""

    dimension: int = 2
    pairs: int = KernelBayesSettings.pairs.default
    prior: int = KernelBayesSettings.prior.default
    tests: int = ComparisonSettings.tests.default
    seed: int = 0

    def __post_init__(self) -> None:
        check_seed(self.seed)
        for name in ("dimension", "pairs", "prior"):
            KernelBayesSettings.declaration(name).like(getattr(self, name))
        ComparisonSettings.tests.like(self.tests)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def gaussian_spec(settings: KernelBayesSettings, tests: int) -> GaussianSpec:
    """The problem of these settings, with so many values of y."""
    return GaussianSpec(settings.dimension, settings.pairs, settings.prior, tests, settings.seed)


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


def gaussian_rule(
    problem: GaussianProblem, scale: float = KernelBayesSettings.scale.default, tolerance: float = 0.0
) -> KernelBayes:
    """Kernel Bayes' rule with Gaussian kernels of ``scale`` × the median distance, ``ε = 0.01/n``, ``δ = 2ε``."""
    return rule_of_pairs(
        torch.from_numpy(problem.inputs), torch.from_numpy(problem.observations), scale, tolerance=tolerance
    )


@one_thread()
def validated(
    problem: GaussianProblem, check: Callable[[], None] = lambda: None, *, printed: bool = False,
    epsilons: tuple[float, ...] = (), own: bool = False,
) -> tuple[float, float]:  # fmt: skip
    """Scale of the lengthscales and ε (δ = 2ε) of least 10-fold error among ``SCALES`` and ``epsilons`` (``EPSILONS``).

    Errors are measured in the kernel of the median distance; in each candidate's ``own``, as §4.2 has it, the longest
    lengthscale wins, because a flat kernel cannot distinguish distributions.
    """
    epsilons = epsilons or EPSILONS
    judge = None if own else gaussian_rule(problem).kernel
    best, chosen = np.inf, (KernelBayesSettings.scale.default, epsilons[0])
    for scale, epsilon in product(SCALES, epsilons):
        check()
        rule = replace(gaussian_rule(problem, scale), regularisation=epsilon, second_regularisation=2 * epsilon,
                       printed=printed)  # fmt: skip
        try:
            error = cross_validation(rule, judge=judge)
        except InputError:
            continue
        if error < best:
            best, chosen = error, (scale, epsilon)
    return chosen


def theorem_rule(problem: GaussianProblem) -> KernelBayes:
    """The same with ``ε = 0.01 n^{−1/3}``, ``δ = 0.01 n^{−1/6}``: the powers of theorem 3.6 for an i.i.d. prior sample
    (α = ½), which then promises a mean square error of ``O(n^{−1/3})`` over y for functions of the RKHS."""
    n = problem.spec.pairs
    rule = gaussian_rule(problem, tolerance=1e-10)
    return replace(rule, regularisation=0.01 * n ** (-1 / 3), second_regularisation=0.01 * n ** (-1 / 6))


def kernel_bayes_weights(problem: GaussianProblem, rule: KernelBayes) -> torch.Tensor:
    """Weights (n, t) on the pairs' X of the posteriors at every test y."""
    weights = rule.prior_weights(empirical(torch.from_numpy(problem.draws), rule.kernel))
    return rule.update(weights, rule.near(torch.from_numpy(problem.tests)))


def conditional_rule(problem: GaussianProblem, scale: float = KernelBayesSettings.scale.default) -> KernelBayes:
    """For the conditional kernel mean: pairs (U, Y) simulated at the prior's own draws, ``ε = 0.01/√n``."""
    pairs = gaussian_rule(replace(problem, inputs=problem.draws, observations=problem.simulated), scale)
    return replace(pairs, regularisation=0.01 / len(pairs.inputs) ** 0.5)


def conditional_weights(problem: GaussianProblem, rule: KernelBayes) -> torch.Tensor:
    """Weights (ℓ, t) of the conditional kernel mean at every test y, on the prior's draws."""
    return rule.conditional_weights(rule.near(torch.from_numpy(problem.tests)))


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
    result = {h: density_means(problem, h) for h in BANDWIDTHS}
    errors = {h: _error(means, exact) for h, means in result.items() if np.isfinite(means).all()}
    best = min(errors, key=errors.__getitem__)
    return result[best], best


def least_squares_score(points: np.ndarray, bandwidth: float, unit: float = (2 * np.pi) ** -0.5) -> float:
    """``∫p̂² − (2/n) Σ_i p̂_{−i}(z_i)`` of a Gaussian kernel density of points (n, D), times ``(2π unit²)^{D/2}``, which
    keeps many dimensions from underflow; by default times 1.

    Source: Rudemo 1982; Bowman 1984; Fukumizu et al. 2013, §5.1.
    """
    from scipy.spatial.distance import cdist

    square, count, dimension = cdist(points, points, "sqeuclidean"), *points.shape

    def kernel(width: float) -> np.ndarray:
        """The kernel (n, n) of this bandwidth, scaled."""
        return np.exp(dimension * np.log(unit / width) - 0.5 * square / width**2)

    others = kernel(bandwidth)
    np.fill_diagonal(others, 0.0)
    return float(kernel(2**0.5 * bandwidth).mean() - 2 * others.sum() / (count * (count - 1)))


def validated_bandwidth(problem: GaussianProblem) -> float:
    """One bandwidth for X and Y by least-squares cross-validation of their joint density."""
    joint = np.hstack([problem.inputs, problem.observations])
    return min(BANDWIDTHS, key=lambda h: least_squares_score(joint, h, BANDWIDTHS[-1]))


def rejection_means(problem: GaussianProblem, simulations: int = _SIMULATIONS) -> tuple[np.ndarray, int]:
    """Rejection ABC from one pool of simulations for all y: the mean of the nearest, their number the best given the
    truth, which is returned too."""
    exact = problem.posterior(problem.tests)[0]
    u, simulated = simulate(problem, simulations)
    allowed = [nearest for nearest in _KEPT if 2 * nearest <= simulations] or [max(1, simulations // 2)]
    order = _nearest(problem.tests, simulated, max(allowed))
    result = {nearest: u[order[:, :nearest]].mean(1) for nearest in allowed}
    errors = {nearest: _error(means, exact) for nearest, means in result.items()}
    best = min(errors, key=errors.__getitem__)
    return result[best], best


def simulate(problem: GaussianProblem, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Draws of the prior and an observation simulated at each, apart from the problem's own."""
    if count < 2:
        raise InputError(f"{count} simulations were requested: give at least two.")
    rng, d = np.random.default_rng([problem.spec.seed, 5]), problem.spec.dimension
    slope, covariance = problem.channel
    u = rng.standard_normal((count, d)) @ np.linalg.cholesky(problem.xx / 2).T
    return u, 1 + u @ slope.T + rng.standard_normal((count, d)) @ np.linalg.cholesky(covariance).T


def _nearest(tests: np.ndarray, simulated: np.ndarray, count: int) -> np.ndarray:
    """Rows of the ``count`` nearest simulations of each test, nearest first."""
    half = 0.5 * (simulated**2).sum(1)
    rows = []
    for y in tests:
        far = half - simulated @ y
        nearest = np.argpartition(far, count - 1)[:count]
        rows.append(nearest[np.argsort(far[nearest])])
    return np.stack(rows)


def embedding_error(problem: GaussianProblem, weights: torch.Tensor, rule: KernelBayes) -> float:
    """``E (m̂_y(x) − m_y(x))²`` over the tests y and 50 places x of the prior: the mean square error of posterior
    expectations of the RKHS functions ``k(x, ·)``, which are known in closed form."""
    at = simulate(problem, 50)[0]
    result = torch.stack([KernelMean(rule.inputs, w, rule.kernel).at(torch.from_numpy(at)) for w in weights.T]).numpy()
    truth = np.stack([exact_embedding(problem, y, at, rule.kernel) for y in problem.tests])
    return float(((result - truth) ** 2).mean())


def exact_embedding(
    problem: GaussianProblem, y: np.ndarray, at: np.ndarray, kernel: gpytorch.kernels.Kernel
) -> np.ndarray:
    """``E[k(x, X) | Y = y]`` in closed form for a Gaussian kernel of ``gaussian_rule``, whose lengthscale is s.

    ``|I + C/s²|^{−½} exp(−½ (x−m)ᵀ(C + s²I)⁻¹(x−m))``
    """
    lengthscale = float(kernel.kernels[0].base_kernel.kernels[0].lengthscale.detach())
    mean, covariance = problem.posterior(np.asarray(y, dtype=float))
    wide = covariance + lengthscale**2 * np.eye(len(covariance))
    misfit = at - mean
    size = np.sqrt(np.linalg.det(wide / lengthscale**2))
    return np.exp(-0.5 * np.einsum("ij,ij->i", misfit, np.linalg.solve(wide, misfit.T).T)) / size


def _error(result: np.ndarray, exact: np.ndarray) -> float:
    return float(((result - exact) ** 2).sum(1).mean())


@one_thread()
def compare_rules(
    spec: GaussianSpec, methods: tuple[str, ...] = METHODS, simulations: int = _SIMULATIONS,
    rule: Mapping[str, float] | None = None,
) -> list[dict[str, Any]]:  # fmt: skip
    """One run of every method over all test y: mean square error ``mse`` of the posterior mean, ``embedding_mse`` of
    expectations of RKHS functions (kernel methods), CPU seconds of the estimate alone.

    ``rule``: ``scale``, ``epsilon`` (0.01/n) and ``delta`` (2ε) of the rules ``kbr`` and ``kbr_printed``.
    """
    unknown = [name for name in methods if name not in (*METHODS, *_OTHERS)]
    if unknown:
        raise InputError(f"The method '{unknown[0]}' is unknown: choose among {', '.join((*METHODS, *_OTHERS))}.")
    problem, rows = make_gaussian(spec), []
    exact = problem.posterior(problem.tests)[0]
    for name in methods:
        watch = Stopwatch()
        weights, kernels, words = None, None, None
        if name == "kde":
            means, bandwidth = best_density_means(problem)
            words = (
                f"bandwidth {number(bandwidth, 6)}, the best of {number(BANDWIDTHS[0], 6)} to "
                f"{number(BANDWIDTHS[-1], 6)} given the truth"
            )
        elif name == LEAST_SQUARES:
            bandwidth = validated_bandwidth(problem)
            means, words = (
                density_means(problem, bandwidth),
                f"bandwidth {number(bandwidth, 6)} by least-squares cross-validation",
            )
        elif name == "abc":
            means, nearest = rejection_means(problem, simulations)
            words = f"{simulations} simulations, the nearest {nearest}, the best of {_KEPT} given the truth"
        else:
            weights, kernels, words = _by_kernels(problem, name, rule or {})
            means = (weights.T @ kernels.inputs).numpy()
        spent = watch.seconds()
        score = {"mse": _error(means, exact)}
        if weights is not None and kernels is not None:
            score["embedding_mse"] = embedding_error(problem, weights, kernels)
        rows.append({"model": name, "seed": spec.seed, "scores": score, "message": words, "seconds": spent})
    return rows


def _by_kernels(
    problem: GaussianProblem, name: str, given: Mapping[str, float]
) -> tuple[torch.Tensor, KernelBayes, str | None]:
    if name == "cme":
        rule = conditional_rule(problem)
        return conditional_weights(problem, rule), rule, None
    scale, words = KernelBayesSettings.scale.default, None
    if name in ("kbr", PRINTED):
        scale = given.get("scale", scale)
    if name in (FOLDED, FOLDED_ANEW):
        scale, _ = validated(problem, epsilons=(0.01 / problem.spec.pairs,), own=name == FOLDED_ANEW)
        words = f"{number(scale, 6)} × the median distance by 10-fold cross-validation"
    rule = theorem_rule(problem) if name == THEOREM else gaussian_rule(problem, scale, 1e-10)
    if name in ("kbr", PRINTED):
        epsilon = given.get("epsilon", rule.regularisation)
        rule = replace(rule, regularisation=epsilon, second_regularisation=given.get("delta", 2 * epsilon))
    rule = replace(rule, printed=name == PRINTED)
    return kernel_bayes_weights(problem, rule), rule, words
