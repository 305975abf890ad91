"""Exact separable space-time: ``z ~ N(0, K̃ ⊗ K_t + σ²I)`` for M cells at T times.

Complete cells, by two eigendecompositions: with ``K̃ = U D Uᵀ``, ``K_t = V E Vᵀ``, ``q_ij = D_i E_j + σ²``, ``Y = Uᵀ Z
V``:

    log p(Z) = −½ Σ_ij (log q_ij + Y_ij²/q_ij + log 2π),

in O(M³ + T³). Source: Saatçi 2011, *Scalable Inference for Structured Gaussian Process Models*, ch. 5.

Cells that are missing at changing times, with ``K_t = exp(−|Δt|/τ)``: the cells are then a Markov chain, and a Kalman
filter and a Rauch–Tung–Striebel smoother are exact, in O(T M³) (`smoothed_chain`). Source: Rasmussen and Williams 2006,
app. B; Särkkä 2013, *Bayesian Filtering and Smoothing*, ch. 4 and 8. Draws of all states together come from a draw of
the prior, corrected by the smoothed mean of what is seen of it and of the cells (`drawn_chain`). Source: Durbin and
Koopman 2002, *Biometrika* 89.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning import linalg
from deconditioning.kernels.families.draws import normal


def separable_evidence(
    values: Float[Tensor, " M"], vectors: Float[Tensor, "M M"], between: np.ndarray, targets: Float[Tensor, "M T"],
    noise: float,
) -> float:  # fmt: skip
    """``log N(Z; 0, K̃ ⊗ K_t + σ²I)`` with the eigenvalues and eigenvectors of K̃."""
    q, y = _spectrum(values, vectors, between, targets, noise)
    return float(-0.5 * (q.log() + y.square() / q + math.log(2 * math.pi)).sum())


def _spectrum(
    values: Float[Tensor, " M"], vectors: Float[Tensor, "M M"], between: np.ndarray, targets: Float[Tensor, "M T"],
    noise: float,
) -> tuple[Float[Tensor, "M T"], Float[Tensor, "M T"]]:  # fmt: skip
    times, modes = linalg.eigen(torch.as_tensor(between).to(values), "correlation in time")
    q = torch.outer(values.clamp_min(0), times.clamp_min(0)) + noise
    return q, vectors.T @ targets @ modes


@dataclass(frozen=True)
class Chain:
    """States v_t ~ N(0, I) of d numbers, ``v_t = r_t ∘ v_{t−1} + √(1 − r_t²) ∘ ε_t``, seen by ``z_t = B v_t + e_t``.

    ``loading`` B (M, d), ``kept`` r (T, d) correlation of each number with the one before, 0 where it is new (the first
    row is not used), ``noise`` cov(e_t) (M, M). Each has times in front, (T, …), where it changes with them.
    """

    loading: Float[Tensor, "*b M d"]
    kept: Float[Tensor, "T d"]
    noise: Float[Tensor, "*t M M"]

    def seen(self, time: int) -> tuple[Float[Tensor, "M d"], Float[Tensor, "M M"]]:
        """B and cov(e) at a time."""
        loading, noise = (each if each.ndim == 2 else each[time] for each in (self.loading, self.noise))
        return loading, noise

    def forecast(
        self, time: int, mean: Float[Tensor, "d *n"], covariance: Float[Tensor, "d d"]
    ) -> tuple[Float[Tensor, "d *n"], Float[Tensor, "d d"]]:
        """The moments of v_t from those of the time before, also for several means."""
        kept = self.kept[time]
        return kept.reshape(-1, *(1,) * (mean.ndim - 1)) * mean, kept[:, None] * covariance * kept + torch.diag(
            1 - kept.square()
        )


class Filtered(NamedTuple):
    """Moments of v_t given z up to t, mean (T, d) and covariance (T, d, d), and ``evidence`` (T,), the log density of
    z_t given all before, 0 where nothing is known; ``jitter`` is the largest that a factorisation needed. For several
    sets of targets, known at the same places, means are (T, d, n) and the evidence is that of the first.
    """

    mean: Float[Tensor, "T d *n"]
    covariance: Float[Tensor, "T d d"]
    evidence: Float[Tensor, " T"]
    jitter: float


def filtered_chain(chain: Chain, targets: Float[Tensor, "M T *n"]) -> Filtered:
    """The Kalman filter; targets are NaN where missing."""
    size, count, sets, jitter = chain.loading.shape[-1], targets.shape[1], targets.shape[2:], 0.0
    mean, covariance = chain.loading.new_zeros(size, *sets), linalg.identity(size, chain.loading)
    shapes = ((size, *sets), (size, size), ())
    means, covariances, evidence = (chain.loading.new_zeros(count, *shape) for shape in shapes)
    for time in range(count):
        values = targets[:, time]
        if time:
            mean, covariance = chain.forecast(time, mean, covariance)
        rows = (~values.reshape(len(values), -1)[:, 0].isnan()).nonzero()[:, 0]
        if len(rows):
            every, noise = chain.seen(time)
            loading, residual = every[rows], values[rows] - every[rows] @ mean
            between = loading @ covariance
            factor = linalg.cholesky(between @ loading.T + noise[rows][:, rows], "covariance of the targets")
            jitter = max(jitter, factor.jitter)
            evidence[time] = linalg.log_normal_density(residual.reshape(len(rows), -1)[:, 0], factor)
            gain = factor.half_solve(between)
            mean, covariance = mean + between.T @ factor.solve(residual), covariance - gain.T @ gain
        means[time], covariances[time] = mean, covariance
    return Filtered(means, covariances, evidence, jitter)


def smoothed_chain(chain: Chain, targets: Float[Tensor, "M T *n"]) -> Filtered:
    """Moments of v_t given the targets of all times, and the evidence as `filtered_chain` has it, whose sum is
    ``log p(Z)``.
    """
    mean, covariance, evidence, jitter = filtered_chain(chain, targets)
    for time in range(len(mean) - 2, -1, -1):
        ahead, spread = chain.forecast(time + 1, mean[time], covariance[time])
        factor = linalg.cholesky(spread, "forecast of the cells")
        jitter = max(jitter, factor.jitter)
        gain = factor.solve(chain.kept[time + 1][:, None] * covariance[time]).T
        mean[time] += gain @ (mean[time + 1] - ahead)
        covariance[time] += gain @ (covariance[time + 1] - spread) @ gain.T
    return Filtered(mean, covariance, evidence, jitter)


def moments_beside(
    chain: Chain, given: Filtered, targets: Float[Tensor, "M T"], time: int,
    parts: tuple[Float[Tensor, "d n"], Float[Tensor, "M n"], Float[Tensor, " n"]],
) -> tuple[Float[Tensor, " n"], Float[Tensor, " n"]]:  # fmt: skip
    """Mean and variance of numbers ``aᵀ v_t + g`` given the targets of all times, whose moments of v are ``given``.

    ``parts`` are a, the covariance of g with e_t, and the variance of g, which is new at every time.
    """
    state, cross, prior = parts
    rows, weights, left = gain_beside(chain, targets, time, state, cross)
    mean = weights.T @ targets[rows, time] + left.T @ given.mean[time]
    prior = prior - (weights * cross[rows]).sum(0)
    return mean, (prior + (given.covariance[time] @ left).mul_(left).sum(0)).clamp_min(0)


def gain_beside(
    chain: Chain, targets: Float[Tensor, "M T"], time: int, state: Float[Tensor, "d n"], cross: Float[Tensor, "M n"]
) -> tuple[Int[Tensor, " r"], Float[Tensor, "r n"], Float[Tensor, "d n"]]:
    """What numbers ``aᵀ v_t + g``, with a as ``state``, have of the targets and states of their time: the ``rows`` of
    the known targets, the weights of these, and those of the states.
    """
    loading, noise = chain.seen(time)
    rows = (~targets[:, time].isnan()).nonzero()[:, 0]
    if not bool(cross[rows].any()):
        return rows, torch.zeros_like(cross[rows]), state
    weights = linalg.cholesky(noise[rows][:, rows], "covariance of what is new at a time").solve(cross[rows])
    return rows, weights, state - loading[rows].T @ weights


def drawn_chain(
    chain: Chain, targets: Float[Tensor, "M T"], count: int, generator: torch.Generator
) -> Float[Tensor, "T d D"]:
    """``count`` joint draws of the states of all times given the targets, NaN where missing.

    ``v* + E[v | z − z*]`` with states v* and targets z* of a draw of the prior.
    """
    cells, times = targets.shape
    size = chain.loading.shape[-1]
    fresh = normal((times, size, count), generator).to(chain.loading)
    states = [fresh[0]]
    for kept, new in zip(chain.kept[1:, :, None], fresh[1:], strict=True):
        states.append(kept * states[-1] + (1 - kept.square()).sqrt() * new)
    drawn = torch.stack(states)
    errors = normal((cells, times * count), generator).to(chain.loading).reshape(cells, times, count)
    of_noise = [linalg.root(each, "noise of the cells") for each in chain.noise.reshape(-1, cells, cells)]
    errors = torch.stack([of_noise[time % len(of_noise)] @ errors[:, time] for time in range(times)], dim=1)
    seen = torch.einsum("tmd,tdn->mtn", chain.loading.expand(times, cells, size), drawn) + errors
    return drawn + smoothed_chain(chain, targets[:, :, None] - seen).mean
