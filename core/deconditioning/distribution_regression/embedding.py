"""The posterior of a subject's mean embedding given a finite sample, as in Bayesian distribution regression.

A subject's embedding ``μ_i(u) = E_{z_i} K(·, u)`` at landmarks u has the prior ``N(m₀, ηR)``, with R the covariance of
``K(v, u)`` and ``K(v, u′)`` under ν, uniform over the measures' range. The sample mean of m_i draws has an error,
``μ̂_i | μ_i ~ N(μ_i, Σ/m_i)``. So

``μ_i | μ̂_i ~ N(m₀ + ηR(ηR + Σ/m_i)⁻¹(μ̂_i − m₀), ηR − ηR(ηR + Σ/m_i)⁻¹ηR)``:

the fewer the measures, the closer to the mean of all. Law et al. use ``∫ K(u, v) K(v, u′) dν`` for R, white noise under
ν smoothed by K. A distribution has mass one, so it differs by noise of total mass zero: hence the covariance. For a
Dirichlet process of concentration α, ``η = 1/(1 + α)``. Source: Law et al. 2018, §3.1.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.distribution_regression.landmarks import LandmarkSums
from deconditioning.errors import InputError
from deconditioning.kernels.spec import KernelSpec
from deconditioning.kernels.tiles import evaluate

#: Nodes of the integral over ν on one column, directions of ηR + Σ below this share of the largest are rounding, rows
#: of kernel values alive at once.
_NODES, _CUT, _ROWS = 64, 1e-10, 1 << 15
#: Between which multiples of what sampling alone would make of it η is searched.
_LEAST, _MOST = 1e-3, 1e8


@dataclass(frozen=True)
class Embeddings:
    """Posteriors in coordinates that are independent of each other for every subject: ``μ_i = m₀ + T(a_i + c_i^½ ε)``.

    Parameters
    ----------
    centre : m₀ (r,).  modes : T (r, q).  mean, variance : a_i and c_i (n, q).
    reliability : share ρ (q,) of each coordinate's variance, in a subject of one measure, that lies between subjects.
    scale : η.
    """

    centre: Float[Tensor, " r"]
    modes: Float[Tensor, "r q"]
    mean: Float[Tensor, "n q"]
    variance: Float[Tensor, "n q"]
    reliability: Float[Tensor, " q"]
    scale: float

    def share_retained(self, measures: float) -> float:
        """What share of a subject's distance from the mean of all its m ``measures`` let it keep, averaged over
        coordinates."""
        return float((self.reliability / (self.reliability + (1 - self.reliability) / measures)).mean())

    def at_landmarks(self) -> Float[Tensor, "n r"]:
        """Posterior means of the embeddings at the landmarks."""
        return self.centre + self.mean @ self.modes.T

    def covariance(self, subject: int) -> Float[Tensor, "r r"]:
        """Posterior covariance of one subject's embedding at the landmarks."""
        return (self.modes * self.variance[subject]) @ self.modes.T


def embed(sums: LandmarkSums, kernel: KernelSpec, scale: float | None = None) -> Embeddings:
    """The posteriors of all subjects; ``scale`` η, or None: the one of highest evidence given the sample means.

    Raises ``InputError`` for an η that is not positive, or where no subject has two measures.
    """
    if scale is not None and not (np.isfinite(scale) and scale > 0):
        raise InputError(f"The scale of the embeddings' prior is {scale}: give a positive number.")
    bags = sums.base.bags
    means = sums.means(kernel)  # μ̂ (n, r)
    centre, within, prior = means.mean(0), _within(sums, kernel, means), _prior(sums, kernel)
    unit = float(within.trace() / prior.trace())  # makes both alike in size, so that neither is lost in rounding
    values, vectors = linalg.eigen(unit * prior + within, "covariance of the landmarks' values")
    positive = values > _CUT * values[0]
    white = vectors[:, positive] / values[positive].sqrt()
    share, turn = linalg.eigen(white.T @ (unit * prior) @ white, "prior of the embeddings")
    share = share.clamp(0, 1)  # R = T diag(ρ/unit) Tᵀ, Σ = T diag(1 − ρ) Tᵀ
    seen_there = (means - centre) @ white @ turn
    noise = (1 - share) / bags.sizes[:, None]
    result = _best_scale(seen_there, share / unit, noise) if scale is None else scale
    spread = result * share / unit
    shrunk = spread / (spread + noise).clamp_min(1e-300)
    modes = vectors[:, positive] * values[positive].sqrt() @ turn
    return Embeddings(centre, modes, shrunk * seen_there, shrunk * noise, spread / (spread + 1 - share), result)


def _best_scale(means: Float[Tensor, "n q"], unit: Float[Tensor, " q"], noise: Float[Tensor, "n q"]) -> float:
    """The η of highest ``Σ_ik log N(e_ik; 0, η R_k + Σ_k/m_i)``."""
    from scipy.optimize import minimize_scalar

    square, unit_, noise_ = (value.numpy(force=True) for value in (means.square(), unit, noise))
    positive = unit_ > 0

    def loss(logarithm: float) -> float:
        """Minus twice the log density at log η, but for a constant."""
        width = np.exp(logarithm) * unit_[positive] + noise_[:, positive]
        return float((np.log(width) + square[:, positive] / width).sum())

    reference = np.log(float(noise_[:, positive].sum() / (len(noise_) * unit_.sum())))
    grid = reference + np.linspace(np.log(_LEAST), np.log(_MOST), 40)
    best = int(np.argmin([loss(v) for v in grid]))
    ends = grid[[max(best - 1, 0), min(best + 1, len(grid) - 1)]]
    return float(np.exp(minimize_scalar(loss, bounds=ends, method="bounded").x))


def _within(sums: LandmarkSums, kernel: KernelSpec, means: Float[Tensor, "n r"]) -> Float[Tensor, "r r"]:
    """Σ: covariance of K(x, u) inside a subject, pooled over subjects with m_i − 1 degrees of freedom each."""
    bags, built = sums.base.bags, kernel.build(sums.base.columns).to(sums.landmarks.device)
    total = means.new_zeros(means.shape[1], means.shape[1])
    for begin in range(0, len(bags.inputs), _ROWS):
        rows = slice(begin, begin + _ROWS)
        with torch.no_grad():
            gap = evaluate(built, bags.inputs[rows], sums.landmarks) - means[bags.bag[rows]]
        total += gap.T @ (gap * (bags.weights[rows] * bags.sizes[bags.bag[rows]])[:, None])
    free = float((bags.sizes - 1).sum())
    if not free > 0:
        raise InputError(
            "Every subject has a single measure, so the error of its embedding cannot be estimated: give some "
            "subjects more."
        )
    return total / free


def _prior(sums: LandmarkSums, kernel: KernelSpec) -> Float[Tensor, "r r"]:
    """R, by Gauss-Legendre nodes over the range of one column; on several columns ν sits on the landmarks."""
    x, built = sums.base.bags.inputs, kernel.build(sums.base.columns).to(sums.landmarks.device)
    if x.shape[1] == 1:
        at, weights = np.polynomial.legendre.leggauss(_NODES)
        low, high = x.min(), x.max()
        nodes = (low + 0.5 * (high - low) * (x.new_tensor(at) + 1))[:, None]
        share = 0.5 * x.new_tensor(weights)
    else:
        nodes = sums.landmarks
        share = x.new_full((len(nodes),), 1 / len(nodes))
    with torch.no_grad():
        near = evaluate(built, sums.landmarks, nodes)
    near = near - (near * share).sum(1, keepdim=True)
    return (near * share) @ near.T
