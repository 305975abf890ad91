"""The objective q̄ that chooses the kernels, and its limits (guards), without which it is flat or exploits single
simulations.

``q̄ = (1/m) Σ_j Σ_i A_ij κ_ε(y, x_i)`` estimates the evidence ``p_ε(y) = ∫ p_ε(y | θ) p(θ) dθ`` from the simulations.
Source: Hsu and Ramos 2019, Algorithm 8.1, line 11.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from deconditioning import linalg
from deconditioning.errors import InputError
from deconditioning.kernels.tiles import evaluate
from deconditioning.likelihood_free.inference import (
    Evidence,
    Settings,
    distances,
    evidence,
    gaussian_kernel,
    let_through,
    nearest_count,
)
from deconditioning.likelihood_free.prior import Prior
from deconditioning.likelihood_free.simulators import Simulations

#: λ per unit of ℓ in spreads; how far ε and ℓ may rise above their lower guards.
TIE, _EPSILON_ROOM, _LENGTH_ROOM = 1e-3, 1.5, 1.5
#: δ per unit of the evidence at y, and k per unit of the simulator's noise.
_DELTA_SHARE, NOISE_SHARE = 0.1, 2.0
#: Grid of the search over each of ε and ℓ; beyond so many simulations its best value is taken as it is.
_GRID, _MOST_REFINED = 7, 500


@dataclass(frozen=True)
class Guards:
    """Limits within which q̄ is maximised: ``epsilon`` and ``length`` (ℓ in units of ``spread``) as (lowest, highest).

    Parameters
    ----------
    epsilon : from the larger of two widths, that at which the ε-kernel covers √n simulations and the simulator's own
        noise.
    length : from one to 1.5 times ``spread``, the sd (p,) of the parameters that the lowest ε-kernel lets through, at
        most the simulations' own sd.
    noise : sd of a summary given its parameters near the observation, by leave-one-out, in units of the simulations'
        sd.
    """

    epsilon: tuple[float, float]
    length: tuple[float, float]
    spread: np.ndarray
    noise: float

    def settings(self, epsilon: float, length: float, evidence_at_y: float) -> Settings:
        """All hyperparameters that follow from ε and ℓ: ``λ = 10⁻³·ℓ/spread``, ``k = max(ε, 2·noise)``, ``δ = q̄₁/10``.

        ``evidence_at_y`` is q̄₁, q̄ with k in place of κ_ε: the share of the prior that the observation is near to.
        """
        return Settings(
            epsilon,
            tuple(float(v) for v in length * self.spread),
            self.kernel_scale(epsilon),
            TIE * length,
            _DELTA_SHARE * max(evidence_at_y, 1e-6),
        )

    def kernel_scale(self, epsilon: float) -> float:
        """Lengthscale of k: that of the ε-kernel, but at least twice the simulator's noise."""
        return max(epsilon, NOISE_SHARE * self.noise)


@dataclass(frozen=True)
class Learned:
    """``settings`` at the largest ``log_q`` within the limits; ``bound`` names the limits that it has reached."""

    settings: Settings
    guards: Guards
    length: float
    log_q: float
    bound: tuple[str, ...]


def effective_count(square: np.ndarray, weights: np.ndarray, epsilon: float) -> float:
    """``(Σ v_i)²/Σ v_i²`` with ``v_i = κ_ε(y, x_i) p/π``: the effective number of simulations that the
    ε-kernel covers.
    """
    weighted = weights * np.exp(-0.5 * (square - square.min()) / epsilon**2)
    return float(weighted.sum() ** 2 / (weighted**2).sum())


def width_seeing(square: np.ndarray, weights: np.ndarray, target: float) -> float:
    """The least ε from 10⁻⁴ to 10³ at which ``effective_count`` reaches ``target``, by bisection of log ε."""
    low, high = 1e-4, 1e3
    for _ in range(60):
        middle = math.sqrt(low * high)
        enough = effective_count(square, weights, middle) >= target
        low, high = (low, middle) if enough else (middle, high)
    return high


def find_guards(simulations: Simulations, observed: np.ndarray) -> Guards:
    """The limits for one observation, from its simulations alone."""
    square, count = distances(simulations, observed) ** 2, len(simulations.parameters)
    effective = min(nearest_count(count), 0.5 * effective_count(square, simulations.weights, 1e6))
    narrowest = width_seeing(square, simulations.weights, effective)
    noise = residual_noise(simulations, square, narrowest)
    least = max(narrowest, noise)
    _, spread = let_through(simulations, observed, least)
    return Guards((least, _EPSILON_ROOM * least), (1.0, _LENGTH_ROOM), spread, noise)


def residual_noise(simulations: Simulations, square: np.ndarray, epsilon: float) -> float:
    """Root mean square over the summaries of ``x − E[x | u]`` near the observation, in the simulations' sd.

    Leave-one-out residuals of the conditional mean ``L(L + nλI)⁻¹x`` with ℓ half the parameters' sd, ``λ = 10⁻³``,
    weighted by ``κ_ε(y, x_i) p/π``. It holds the simulator's noise and what the regression cannot resolve.
    """
    u = torch.from_numpy(simulations.parameters)
    x = torch.from_numpy((simulations.summaries - simulations.summaries.mean(0)) / simulations.scales)
    identity = torch.eye(len(u), dtype=u.dtype)
    with torch.no_grad():
        gram = evaluate(gaussian_kernel(tuple((0.5 * u.std(0, correction=0)).tolist())), u, u)
    inverse = linalg.cholesky_exact(gram + len(u) * TIE * identity, "kernel matrix of the parameters").solve(identity)
    left_out = (inverse @ x) / inverse.diagonal()[:, None]  # (x − Hx)/(1 − H_ii) with I − H = nλ(L + nλI)⁻¹
    weights = simulations.weights * np.exp(-0.5 * (square - square.min()) / epsilon**2)
    mean_square = torch.from_numpy(weights / weights.sum()) @ left_out.square()
    return float(mean_square.mean().sqrt())


def log_q_bar(
    data: Evidence, lengthscales: torch.Tensor, regularisation: torch.Tensor | float, epsilon: torch.Tensor
) -> torch.Tensor:
    """``log q̄`` for each ε (G,) at one ℓ (p,) and λ; −∞ where the estimate is not positive. Differentiable.

    ``κ_ε(y, x) = N(y; x, ε²I)`` is normalised, so that values at different ε compare.
    """
    mean_weights = average_weights(data, lengthscales, regularisation)
    square = (data.x - data.y).square().sum(1)
    least = square.min()
    kappa = torch.exp(-0.5 * (square[:, None] - least) / epsilon**2)
    value = mean_weights @ kappa
    log_scale = -0.5 * least / epsilon**2 - data.x.shape[1] * (epsilon.log() + 0.5 * linalg.LOG_TWO_PI)
    lost = torch.full_like(value, -math.inf)
    return torch.where(value > 0, value.clamp_min(1e-300).log() + log_scale, lost)


def average_weights(data: Evidence, lengthscales: torch.Tensor, regularisation: torch.Tensor | float) -> torch.Tensor:
    """``(1/m) A1 = (L + nλI)⁻¹ · mean_j ℓ(u, ũ_j)`` (n,): what q̄ weighs the ε-kernel with."""
    kernel = gaussian_kernel((1.0,) * data.u.shape[1]).to(data.u.device)
    u, prior = data.u / lengthscales, data.prior / lengthscales
    gram, cross = evaluate(kernel, u, u), evaluate(kernel, u, prior).mean(1)
    return linalg.ridge_factor(gram, len(u) * regularisation, "kernel matrix of the parameters").solve(cross)


def learn(
    prior: Prior, simulations: Simulations, observed: np.ndarray, *, seed: int = 0, guards: Guards | None = None
) -> Learned:
    """Maximise q̄ over ε and ℓ within the limits: the best of a grid, then L-BFGS-B from there for up to 500
    simulations.

    Without ``guards`` they follow from the simulations.
    """
    guards = guards or find_guards(simulations, observed)
    data = evidence(prior, simulations, observed, guards.epsilon[0], seed=seed)
    epsilons, lengths = (np.geomspace(*pair, _GRID) for pair in (guards.epsilon, guards.length))
    values = surface(data, guards, epsilons, lengths)
    row, column = np.unravel_index(int(np.argmax(values)), values.shape)
    epsilon, length, best = float(epsilons[row]), float(lengths[column]), float(values[row, column])
    if not math.isfinite(best):
        raise InputError("q̄ is not positive anywhere within its limits: add simulations, or set the kernels by hand.")
    if len(simulations.parameters) <= _MOST_REFINED:
        epsilon, length, best = _refined(data, guards, (epsilon, length, best))
    named = {"ε": (epsilon, guards.epsilon), "ℓ": (length, guards.length)}
    bound = [
        f"{name} {word}"
        for name, (value, pair) in named.items()
        for word, end in zip(("least", "most"), pair, strict=True)
        if abs(math.log(value / end)) < 1e-6
    ]
    settings = guards.settings(epsilon, length, evidence_at(data, guards, epsilon, length))
    return Learned(settings, guards, length, best, tuple(bound))


def _refined(data: Evidence, guards: Guards, start: tuple[float, float, float]) -> tuple[float, float, float]:
    """ε, ℓ and log q̄ after L-BFGS-B from a start, or the start where that is no better."""
    from scipy.optimize import minimize

    box = [tuple(np.log(pair)) for pair in (guards.epsilon, guards.length)]
    result = minimize(objective(data, guards), np.log(start[:2]), jac=True, method="L-BFGS-B", bounds=box,
                     options={"maxiter": 10})  # fmt: skip
    return (
        (float(np.exp(result.x[0])), float(np.exp(result.x[1])), -float(result.fun))
        if -result.fun > start[2]
        else start
    )


def evidence_at(data: Evidence, guards: Guards, epsilon: float, length: float) -> float:
    """q̄₁: q̄ with the unnormalised k in place of κ_ε."""
    lengthscales = torch.from_numpy(length * guards.spread).to(data.u)
    square = (data.x - data.y).square().sum(1)
    near = torch.exp(-0.5 * square / guards.kernel_scale(epsilon) ** 2)
    with torch.no_grad():
        return float(average_weights(data, lengthscales, TIE * length) @ near)


def objective(data: Evidence, guards: Guards) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """``−log q̄`` and its gradient as a function of (log ε, log ℓ/spread), λ tied to ℓ."""
    spread = torch.from_numpy(guards.spread).to(data.u)

    def value(point: np.ndarray) -> tuple[float, np.ndarray]:
        """``−log q̄`` at (log ε, log ℓ/spread), and its gradient."""
        at = torch.from_numpy(np.array(point)).requires_grad_(True)
        epsilon, length = at.exp()
        result = -log_q_bar(data, length * spread, TIE * length, epsilon[None])[0]
        if not torch.isfinite(result):
            return 1e10, np.zeros(2)
        result.backward()
        assert at.grad is not None
        return float(result.detach()), at.grad.numpy()

    return value


def surface(
    data: Evidence, guards: Guards, epsilons: np.ndarray, lengths: np.ndarray, regularisations: np.ndarray | None = None
) -> np.ndarray:
    """``log q̄`` (G, H) over ε (G,) and ℓ in spreads (H,), with λ tied to ℓ; −∞ where q̄ is not positive.

    With ``regularisations`` (G,) the rows are λ instead, at the single given ε; this shows how q̄ can be exploited if λ
    is free.
    """
    spread = torch.from_numpy(guards.spread).to(data.u)
    at = torch.from_numpy(np.asarray(epsilons, dtype=float)).to(data.u)
    columns = []
    with torch.no_grad():
        for length in lengths:
            if regularisations is None:
                columns.append(log_q_bar(data, float(length) * spread, TIE * float(length), at))
            else:
                rows = [log_q_bar(data, float(length) * spread, float(lam), at[:1])[0] for lam in regularisations]
                columns.append(torch.stack(rows))
    return torch.stack(columns, dim=1).cpu().numpy()
