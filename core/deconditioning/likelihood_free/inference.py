"""Posteriors from the same simulations: deconditional embedding, kernel Bayes' rule, conditional mean, rejection ABC,
and kernel embedding likelihood (KELFI). Further methods are in ``others``.

Parameters u take the role of the mediator y of the deconditional operator, summaries x that of its input, prior draws ũ
that of its query points. Source: Hsu and Ramos 2019, §8.3 and Algorithm 8.1.
"""

import time
from dataclasses import dataclass, field
from functools import cached_property

import gpytorch
import numpy as np
import torch

from deconditioning import linalg
from deconditioning.embeddings.bayes_rule import update_by_gram
from deconditioning.embeddings.deconditional import posterior_weights
from deconditioning.embeddings.kernel_mean import Candidates, KernelMean
from deconditioning.errors import InputError
from deconditioning.kernels.spec import gaussian
from deconditioning.kernels.tiles import evaluate
from deconditioning.likelihood_free.prior import Prior
from deconditioning.likelihood_free.simulators import Simulations

METHODS = ("dme", "kbr", "cme", "abc")
#: Herded samples, and half-width in spreads of the box that candidates lie in.
HERDED, _REACH = 200, 4.0
#: Volume that ℓ′, which herding measures distances with, spans as a share of ℓ's: as wide as ℓ on a line, three nodes
#: of a quadrature would do in place of samples; much narrower in many dimensions, it would see single prior draws.
_HERDING_SHARE = 0.25
#: Draws of the prior that the rules see, by the number of parameters (the last for more).
_PRIOR_DRAWS = (500, 1000, 2000)


@dataclass(frozen=True)
class Settings:
    """Hyperparameters; summaries are in units of the standard deviations of the simulations.

    Parameters
    ----------
    epsilon : width of the ε-kernel ``κ_ε(y, x) = N(y; x, ε²I)``.
    lengthscales : of ℓ on u, one per parameter.
    kernel_scale : lengthscale of k on the summaries.
    regularisation, second_regularisation : λ (which enters as nλ) and δ (as mδ).
    """

    epsilon: float
    lengthscales: tuple[float, ...]
    kernel_scale: float
    regularisation: float
    second_regularisation: float

    def __post_init__(self) -> None:
        numbers = (
            self.epsilon, *self.lengthscales, self.kernel_scale, self.regularisation, self.second_regularisation,
        )  # fmt: skip
        if not all(np.isfinite(number) and number > 0 for number in numbers):
            raise InputError(f"ε, ℓ, k, λ, δ are {', '.join(f'{v:.3g}' for v in numbers)}: give positive numbers.")


@dataclass(frozen=True)
class Evidence:
    """The input of every rule: simulations in working units (``u`` (n, p), ``x`` (n, q), ``y`` (q,)), ``weights`` p/π
    (n,), draws of the prior ``prior`` (m, p), and ``candidates`` (R, p) for herding.
    """

    u: torch.Tensor
    x: torch.Tensor
    y: torch.Tensor
    weights: torch.Tensor
    prior: torch.Tensor
    candidates: torch.Tensor
    _matrices: dict[tuple[float, ...], "Matrices"] = field(default_factory=dict, init=False, repr=False, compare=False)

    def matrices(self, settings: "Settings") -> "Matrices":
        """The kernel matrices at these lengthscales; those asked for last are kept."""
        key = (settings.kernel_scale, *settings.lengthscales)
        result = self._matrices.get(key)
        if result is None:
            result = Matrices(self, *_kernels(self, settings), settings.lengthscales)
            self._matrices.clear()
            self._matrices[key] = result
        return result


@dataclass(frozen=True)
class Matrices:
    """Kernel matrices of an ``Evidence`` with k on the summaries and ℓ on the parameters; λ and δ do not enter."""

    data: Evidence
    k: gpytorch.kernels.Kernel
    ell: gpytorch.kernels.Kernel
    lengthscales: tuple[float, ...]

    @cached_property
    def summaries(self) -> torch.Tensor:
        """K = k(x, x) (n, n)."""
        return _matrix(self.k, self.data.x, self.data.x)

    @cached_property
    def near(self) -> torch.Tensor:
        """k(x, y) (n,)."""
        return _matrix(self.k, self.data.x, self.data.y[None])[:, 0]

    @cached_property
    def parameters(self) -> torch.Tensor:
        """L = ℓ(u, u) (n, n)."""
        return _matrix(self.ell, self.data.u, self.data.u)

    @cached_property
    def across(self) -> torch.Tensor:
        """L̃ = ℓ(u, ũ) (n, m)."""
        return _matrix(self.ell, self.data.u, self.data.prior)

    @cached_property
    def herding(self) -> Candidates:
        """The candidates with ``ℓ′``, Algorithm 8.1's kernel for herding: lengthscales ``4^(−1/p)`` those of ℓ."""
        share = _HERDING_SHARE ** (1 / len(self.lengthscales))
        kernel = gaussian_kernel(tuple(share * scale for scale in self.lengthscales))
        return Candidates(self.data.candidates, kernel.to(self.data.candidates.device))


def _matrix(kernel: gpytorch.kernels.Kernel, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        return evaluate(kernel, left, right)


@dataclass(frozen=True)
class Answer:
    """One method's posterior of θ: ``mean`` (p,) and central 95 % ``interval`` (p, 2) of its ``samples`` (S, p) in θ.

    ``embedding`` is the weighted sample in u; ``total`` and ``negative`` are those of its weights before normalisation.
    ``used`` is the number of additional simulations by the method, None if it used the shared ones.
    """

    method: str
    embedding: KernelMean
    samples: np.ndarray
    mean: np.ndarray
    interval: np.ndarray
    total: float
    negative: float
    seconds: float
    used: int | None = None


def gaussian_kernel(lengthscales: tuple[float, ...]) -> gpytorch.kernels.Kernel:
    """A Gaussian kernel of unit variance with one lengthscale per column."""
    names = tuple(f"c{j}" for j in range(len(lengthscales)))
    return gaussian(names, lengthscales).build(names)


def distances(simulations: Simulations, observed: np.ndarray) -> np.ndarray:
    """``‖(x_i − y)/sd‖`` (n,) with the simulations' own sd."""
    if observed.shape != simulations.summaries.shape[1:] or not np.isfinite(observed).all():
        raise InputError(
            f"The observation has {observed.size} numbers, but the simulations have "
            f"{simulations.summaries.shape[1]} summaries: give one finite number per summary."
        )
    return np.linalg.norm((simulations.summaries - observed) / simulations.scales, axis=1)


def let_through(simulations: Simulations, observed: np.ndarray, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean and sd (p,) of the parameters weighted by ``κ_ε(y, x_i) p/π``; the sd is at most that of the simulations."""
    square = distances(simulations, observed) ** 2
    weights = simulations.weights * np.exp(-0.5 * (square - square.min()) / epsilon**2)
    weights = weights / weights.sum()
    mean = weights @ simulations.parameters
    spread = np.sqrt(weights @ (simulations.parameters - mean) ** 2)
    whole = simulations.parameters.std(0)
    return mean, np.clip(spread, 1e-3 * whole, whole)


def evidence(
    prior: Prior, simulations: Simulations, observed: np.ndarray, epsilon: float, *, draws: int | None = None,
    candidates: int | None = None, seed: int = 0,
) -> Evidence:  # fmt: skip
    """What the rules see of a problem; draws of the prior are restricted to the support of the simulations.

    There are 500, 1,000 or 2,000 draws for one, two or more parameters, and twice as many ``candidates``: the prior's
    draws beside points of a box, ±4 spreads around where the ε-kernel lets parameters through.
    """
    u, scales = simulations.parameters, simulations.scales
    draws = draws or _PRIOR_DRAWS[min(u.shape[1], len(_PRIOR_DRAWS)) - 1]
    box = np.stack([u.min(0), u.max(0)], axis=1)
    rng = np.random.default_rng([seed, 14])
    drawn = prior.restricted(box).spread(draws, rng)
    mean, spread = let_through(simulations, observed, epsilon)
    low, high = np.maximum(mean - _REACH * spread, box[:, 0]), np.minimum(mean + _REACH * spread, box[:, 1])
    near = low + (high - low) * _filling(candidates or 2 * draws, u.shape[1], rng)
    arrays = (
        u, simulations.summaries / scales, observed / scales, simulations.weights, drawn, np.concatenate([near, drawn]),
    )  # fmt: skip
    return Evidence(*(torch.from_numpy(np.ascontiguousarray(part)) for part in arrays))


def _filling(count: int, dimension: int, rng: np.random.Generator) -> np.ndarray:
    """Points (count, d) that fill the unit box: evenly spaced on a line, scrambled Sobol points otherwise."""
    if dimension == 1:
        return np.linspace(0, 1, count)[:, None]
    from scipy.stats import qmc

    power = int(np.ceil(np.log2(count)))
    return qmc.Sobol(dimension, rng=rng).random_base2(power)[:count]


def dme(data: Evidence, settings: Settings) -> KernelMean:
    """``μ̄ = Σ_j w_j ℓ(ũ_j, ·)``, ``w = (AᵀKA + mδI)⁻¹Aᵀk(y)``, ``A = (L + nλI)⁻¹L̃``.

    The m×m push-through of Algorithm 8.1's ``Aᵀ[KAAᵀ + mδI]⁻¹k(y)``. Raises ``InputError`` if a matrix is singular.
    """
    known = data.matrices(settings)
    weights = posterior_weights(
        known.summaries, known.parameters, known.across, known.near,
        settings.regularisation, settings.second_regularisation,
    )  # fmt: skip
    return KernelMean(data.prior, weights, known.ell)


def kbr(data: Evidence, settings: Settings) -> KernelMean:
    """Kernel Bayes' rule (b) with ε = λ and δ², squared because it regularises the squared evidence ``(ΛG)²``."""
    known = data.matrices(settings)
    ridge = len(data.u) * settings.regularisation
    factor = linalg.ridge_factor(known.parameters, ridge, "kernel matrix of the parameters")
    weights = factor.solve(known.across.mean(1))
    delta = settings.second_regularisation**2
    return KernelMean(data.u, update_by_gram(known.summaries, weights, known.near[:, None], delta)[:, 0], known.ell)


def cme(data: Evidence, settings: Settings) -> KernelMean:
    """The conditional mean of ``ℓ(u, ·)`` given x = y from pairs weighted with ``v = p/π``: ``w = V^½(V^½KV^½ +
    nλI)⁻¹V^½k(y)``.

    Source: Song et al. 2009; the weights make pairs from π represent pairs from the prior.
    """
    known = data.matrices(settings)
    root = data.weights.sqrt()
    weighted, ridge = root[:, None] * known.summaries * root, len(root) * settings.regularisation
    factor = linalg.ridge_factor(weighted, ridge, "kernel matrix of the summaries")
    return KernelMean(data.u, root * factor.solve(root * known.near), known.ell)


def abc(data: Evidence, settings: Settings) -> KernelMean:
    """Rejection ABC: the ``⌈√n⌉`` simulations nearest the observation, weighted by p/π."""
    square = (data.x - data.y).square().sum(1)
    nearest = square.argsort()[: nearest_count(len(square))]
    weights = data.weights[nearest]
    return KernelMean(data.u[nearest], weights / weights.sum(), data.matrices(settings).ell)


def kelfi(data: Evidence, settings: Settings) -> KernelMean:
    """The prior's draws weighted by the kernel mean likelihood ``q(y | ũ_j) = [Aᵀκ_ε]_j``, ``A = (L + nλI)⁻¹L̃``.

    Its average over the prior's draws, with κ_ε normalised, is q̄, which chooses ε, ℓ and λ. Equal to ``dme`` with ``k
    = κ_ε`` as δ → ∞. Raises ``InputError`` if q̄ is not positive. Source: Hsu and Ramos 2019, *Bayesian Learning of
    Conditional Kernel Mean Embeddings for Automatic Likelihood-Free Inference* (AISTATS).
    """
    known = data.matrices(settings)
    square = (data.x - data.y).square().sum(1)
    kappa = torch.exp(-0.5 * (square - square.min()) / settings.epsilon**2)
    ridge = len(data.u) * settings.regularisation
    factor = linalg.ridge_factor(known.parameters, ridge, "kernel matrix of the parameters")
    likelihood = known.across.T @ factor.solve(kappa)
    total = likelihood.sum()
    if not total > 0:
        raise InputError("The likelihood of the simulations sums to zero over the prior: raise ε or λ.")
    return KernelMean(data.prior, likelihood / total, known.ell)


def nearest_count(simulations: int) -> int:
    """``⌈√n⌉``: the number of simulations that ABC keeps, and the least that the ε-kernel must cover."""
    return int(np.ceil(np.sqrt(simulations)))


_RULES = {"dme": dme, "kbr": kbr, "cme": cme, "abc": abc, "kelfi": kelfi}


def posterior(method: str, data: Evidence, settings: Settings, prior: Prior, *, herded: int = HERDED) -> Answer:
    """One method's posterior of θ, sampled by herding its normalised weights over the candidates with ``ℓ′``.

    ABC is already a sample: its points are drawn with its weights, systematically. Raises ``InputError`` if the weights
    sum to nearly zero.
    """
    if method not in _RULES:
        raise InputError(f"The method '{method}' is unknown: choose among {', '.join(_RULES)}.")
    begun = time.process_time()
    result = _RULES[method](data, settings)
    if method == "abc":
        chosen = resampled(result, herded)
    else:
        chosen = data.matrices(settings).herding.herd(result, herded)
    return answered(method, result, chosen, prior, begun)


def answered(
    method: str, kernel_mean: KernelMean, chosen: torch.Tensor, prior: Prior, begun: float, used: int | None = None
) -> Answer:
    """The answer of samples ``chosen`` (S, p) in u for the embedding ``found``, timed since ``begun``."""
    theta = prior.natural(chosen.numpy())
    interval = np.quantile(theta, [0.025, 0.975], axis=0).T
    negative = float(kernel_mean.weights.clamp_max(0).abs().sum())
    spent = time.process_time() - begun
    return Answer(method, kernel_mean, theta, theta.mean(0), interval, kernel_mean.total, negative, spent, used)


def resampled(kernel_mean: KernelMean, count: int) -> torch.Tensor:
    """Points at the weights' levels ``(s + ½)/S``: systematic resampling."""
    levels = (torch.arange(count, dtype=kernel_mean.weights.dtype, device=kernel_mean.weights.device) + 0.5) / count
    index = torch.searchsorted(kernel_mean.weights.cumsum(0), levels).clamp_max(len(kernel_mean.weights) - 1)
    return kernel_mean.points[index]


def _kernels(data: Evidence, settings: Settings) -> tuple[gpytorch.kernels.Kernel, gpytorch.kernels.Kernel]:
    """k on the summaries and ℓ on the parameters."""
    if len(settings.lengthscales) != data.u.shape[1]:
        raise InputError(
            f"There are {len(settings.lengthscales)} lengthscales and {data.u.shape[1]} parameters: give one "
            "lengthscale per parameter."
        )
    k = gaussian_kernel((settings.kernel_scale,) * data.x.shape[1])
    device = data.u.device
    return k.to(device), gaussian_kernel(settings.lengthscales).to(device)
