"""The Gaussian family, ``exp(−s/2)``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import gpytorch
import torch
from torch import Tensor

from core.kernels.families.draws import normal
from core.kernels.families.radial import Profile, Radial, squared_distances

if TYPE_CHECKING:
    from core.kernels.spec import Factor


class Gaussian(Radial):
    """``exp(−s/2)``, also called squared exponential or RBF."""

    name, title = "rbf", "Gaussian"
    smooth, order = True, math.inf

    def kernel(self, **shared: Any) -> gpytorch.kernels.Kernel:
        """gpytorch's own."""
        return gpytorch.kernels.RBFKernel(**shared)

    def between(self, left: Tensor, right: Tensor, own: Sequence[Tensor]) -> Tensor:
        """Values between all rows."""
        exponent = squared_distances(left, right).mul(-0.5)
        return exponent.exp() if exponent.requires_grad else exponent.exp_()

    def weight(self, own: Sequence[float]) -> float:
        """½."""
        return 0.5

    def exponent(self, square: Tensor, own: Sequence[float]) -> Tensor:
        """The weighted square itself."""
        return square

    def profile(self, square: Tensor, own: Sequence[Tensor]) -> Profile:
        """Value and slope agree."""
        value = square.mul_(-0.5).exp_()
        return Profile(value, value)

    def frequencies(self, factor: Factor, shape: tuple[int, int], generator: torch.Generator) -> Tensor:
        """Normal."""
        return normal(shape, generator) / torch.tensor(factor.lengthscales, dtype=torch.float64)
