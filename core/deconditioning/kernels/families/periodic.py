"""The periodic family, ``exp(−2 Σ_d sin²(π(x_d − x′_d)/p)/ℓ_d)``."""

from __future__ import annotations

import math
from typing import Any

import gpytorch
import torch
from scipy.special import ive
from torch import Tensor

from deconditioning.kernels.families.draws import uniform
from deconditioning.kernels.families.family import Parameters, ShapeParameter, Stationary, dense, positive

#: Harmonics that draws come from: at the least lengthscale those above have weights below rounding.
_HARMONICS = 200


class Periodic(Stationary):
    """``exp(−2 Σ_d sin²(π(x_d − x′_d)/p)/ℓ_d)``; the period p is given and not learned."""

    name, title = "periodic", "Periodic"
    parameters = (
        ShapeParameter(
            "period",
            "p",
            1.0,
            1e-3,
            1e3,
            "The distance after which the function repeats.",
            "period_length",
            learned=False,
        ),
    )
    smooth, columnwise, order = True, True, math.inf

    def kernel(self, **shared: Any) -> gpytorch.kernels.Kernel:
        """gpytorch's kernel."""
        return gpytorch.kernels.PeriodicKernel(period_length_constraint=positive(), **shared)

    def tile(self, kernel: gpytorch.kernels.Kernel, left: Tensor, right: Tensor) -> Tensor:
        """Kernel matrix between all rows."""
        return dense(kernel, left, right)

    def frequencies(self, factor: Parameters, shape: tuple[int, int], generator: torch.Generator) -> Tensor:
        """Random harmonics for each column."""
        return torch.stack([_harmonics(factor, i, shape[0], generator) for i in range(shape[1])], dim=1)


def _harmonics(factor: Parameters, index: int, count: int, generator: torch.Generator) -> Tensor:
    """``exp(−2 sin²(πd/p)/ℓ) = Σ_n e^{−1/ℓ} I_n(1/ℓ) cos(2πnd/p)``: draw the harmonic ``n``."""
    scale = factor.lengthscales[min(index, len(factor.lengthscales) - 1)]
    orders = torch.arange(0, _HARMONICS, dtype=torch.float64)
    weights = torch.as_tensor(ive(orders.numpy(), 1 / scale))
    weights[1:] *= 2
    drawn = torch.multinomial(weights, count, replacement=True, generator=generator)
    sign = torch.where(uniform(count, generator) < 0.5, -1.0, 1.0)  # ω and −ω alike, column by column
    return 2 * math.pi * sign * orders[drawn] / factor.numbers["period"]
