"""Exact separable space-time: ``z ~ N(0, K̃ ⊗ K_t + σ²I)`` for M cells at T times, by two eigendecompositions.

With ``K̃ = U D Uᵀ``, ``K_t = V E Vᵀ``, ``q_ij = D_i E_j + σ²``, ``Y = Uᵀ Z V``:

    log p(Z) = −½ Σ_ij (log q_ij + Y_ij²/q_ij + log 2π),

in O(M³ + T³). Source: Saatçi 2011, *Scalable Inference for Structured Gaussian Process Models*, ch. 5.
"""

import math

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg


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
