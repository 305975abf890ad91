"""Posterior mean and variance at many points, tile by tile, with bounded memory."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.errors import Check, never

#: Points of a tile, and the most entries of its bag sums (float64: 64 MB); a tile has a few points at the least. On a
#: GPU, where a call costs more than its numbers, both are so many times larger.
POINTS, _SUMS, _LEAST, _ON_GPU = 8192, 1 << 23, 256, 16

#: Mean and variance, each (n,), of a stretch of n points.
Moments = tuple[Float[Tensor, " n"], Float[Tensor, " n"]]


def averaged_moments(weights: Sequence[float], moments: Sequence[Moments]) -> Moments:
    """Mean and variance of the mixture ``Σ_k w_k p_k``: ``m = Σ w_k m_k``, ``v = Σ w_k (v_k + (m_k − m)²)``."""
    mean = sum(weight * each for weight, (each, _) in zip(weights, moments, strict=True))
    spread = sum(w * (variance + (each - mean) ** 2) for w, (each, variance) in zip(weights, moments, strict=True))
    assert isinstance(mean, Tensor) and isinstance(spread, Tensor)
    return mean, spread


def tile_points(bags: int, device: torch.device) -> int:
    """Points of a tile whose sums over so many bags are held at once."""
    larger = 1 if device.type == "cpu" else _ON_GPU
    return max(_LEAST, min(larger * POINTS, larger * _SUMS // bags))


def read_moments(
    like: Float[Tensor, " P"], tile: Callable[[slice], Moments], check: Check = never, points: int = POINTS
) -> tuple[Float[Tensor, " P"], Float[Tensor, " P"]]:
    """Mean and variance at P points, ``points`` of them at a time by ``tile``; without gradient.

    ``like`` gives their number, precision and device.
    """
    mean, variance = torch.empty_like(like), torch.empty_like(like)
    with torch.no_grad():
        # written in place, as small results kept between tiles would break the heap into pieces
        for begin in range(0, len(like), points):
            check()
            part = slice(begin, begin + points)
            mean[part], variance[part] = tile(part)
    return mean, variance
