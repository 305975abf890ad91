"""Smooth kernels of one column by Chebyshev interpolation, to a checked 1e-12.

``k(x, x′) ≈ t(x)ᵀ K_nodes t(x′)`` with ``t`` the barycentric interpolation weights at Chebyshev points. The number of
nodes doubles until the error at other points is below the tolerance. Source: Berrut and Trefethen 2004, *Barycentric
Lagrange interpolation*.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.kernels.tiles import TileFunction

_TOLERANCE = 1e-12
_MOST_NODES = 512


@dataclass(frozen=True)
class Interpolation:
    """Node positions (p,), the kernel among them (p, p) and the error measured elsewhere."""

    nodes: Float[Tensor, " p"]
    gram: Float[Tensor, "p p"]
    error: float

    def weights(self, values: Float[Tensor, " n"]) -> Float[Tensor, "n p"]:
        """Interpolation weights ``t(x)`` of each value; rows sum to one."""
        signs = torch.ones_like(self.nodes)
        signs[1::2] = -1
        signs[0] *= 0.5
        signs[-1] *= 0.5
        ratios = (values[:, None] - self.nodes).reciprocal_().mul_(signs)
        sums = ratios.sum(1, keepdim=True)
        ratios.div_(sums)
        at = torch.nonzero(~torch.isfinite(sums[:, 0]))[:, 0]  # on a node
        nearest = (values[at, None] - self.nodes).abs().argmin(1)
        ratios[at] = torch.nn.functional.one_hot(nearest, len(self.nodes)).to(ratios)
        return ratios


def _nodes(count: int, low: float, high: float, like: Tensor) -> Tensor:
    angles = torch.arange(count, dtype=like.dtype, device=like.device) * (math.pi / (count - 1))
    return 0.5 * (low + high) + 0.5 * (high - low) * torch.cos(angles)


def interpolate_kernel(kernel: TileFunction, values: Float[Tensor, " n"]) -> Interpolation | None:
    """Interpolation of ``kernel(u (n, 1), v (m, 1))`` over the range of ``values``.

    None if 512 nodes do not reach the tolerance.
    """
    low, high = float(values.min()), float(values.max())
    if not high > low:
        return None
    generator = torch.Generator().manual_seed(0)
    draws = torch.rand(2, 257, 1, generator=generator, dtype=values.dtype).to(values.device) * (high - low) + low
    truth = kernel(draws[0], draws[1])
    count = 16
    while count <= _MOST_NODES:
        nodes = _nodes(count, low, high, values)
        interpolation = Interpolation(nodes, kernel(nodes[:, None], nodes[:, None]), math.inf)
        left, right = interpolation.weights(draws[0, :, 0]), interpolation.weights(draws[1, :, 0])
        error = float((left @ interpolation.gram @ right.T - truth).abs().max())
        if error < _TOLERANCE * max(1.0, float(truth.abs().max())):
            return Interpolation(nodes, interpolation.gram, error)
        count *= 2
    return None
