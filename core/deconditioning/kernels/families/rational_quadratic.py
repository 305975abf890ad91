"""The rational quadratic family, ``(1 + s/2α)^−α``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import gpytorch
import torch
from torch import Tensor

from deconditioning.kernels.families.draws import gamma
from deconditioning.kernels.families.family import ShapeParameter, positive
from deconditioning.kernels.families.radial import Profile, Radial, squared_distances


class RationalQuadratic(Radial):
    """``(1 + s/2α)^−α = E[exp(−τ s/2)]`` with ``τ ~ Gamma(α, rate α)``: a mixture of Gaussians of many lengthscales."""

    name, title = "rational_quadratic", "Rational quadratic"
    parameters = (
        ShapeParameter(
            "alpha",
            "α",
            1.0,
            5e-2,
            5e1,
            "Small: a mixture of very different lengthscales; large: a single lengthscale, as in a Gaussian kernel.",
        ),
    )
    smooth, order = True, math.inf

    def kernel(self, **shared: Any) -> gpytorch.kernels.Kernel:
        """gpytorch's kernel."""
        return gpytorch.kernels.RQKernel(alpha_constraint=positive(), **shared)

    def between(self, left: Tensor, right: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        """``(1 + d²/2α)^−α`` (n, m) between all rows (n, c) and (m, c), in units of the lengthscales."""
        (alpha,) = parameters
        return (1 + squared_distances(left, right) / (2 * alpha)).pow(-alpha)

    def weight(self, parameters: Sequence[float]) -> float:
        """The weight 1/2α."""
        return 0.5 / parameters[0]

    def exponent(self, at: Tensor, parameters: Sequence[float]) -> Tensor:
        """``α log(1 + s/2α)``."""
        return at.log1p_().mul_(parameters[0])

    def profile(self, square: Tensor, parameters: Sequence[Tensor]) -> Profile:
        """Value, slope and the derivative in α."""
        (alpha,) = parameters
        part = square / (2 * alpha)
        logarithm = part.log1p()
        value = (-alpha * logarithm).exp_()
        slope = value / (1 + part)
        return Profile(value, slope, (value * (part / (1 + part) - logarithm),))

    def spread(self, numbers: Mapping[str, float], count: int, generator: torch.Generator) -> Tensor:
        """The square root of a gamma variable."""
        alpha = numbers["alpha"]
        return gamma(alpha, count, generator).div(alpha).sqrt()
