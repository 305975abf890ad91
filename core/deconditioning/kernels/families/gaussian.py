"""The Gaussian family, ``exp(−s/2)``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import gpytorch
import torch
from torch import Tensor

from deconditioning.kernels.families.radial import Profile, Radial, squared_distances


class Gaussian(Radial):
    """``exp(−s/2)``, also called squared exponential or RBF kernel."""

    name, title = "rbf", "Gaussian"
    smooth, columnwise, order = True, True, math.inf

    def kernel(self, **shared: Any) -> gpytorch.kernels.Kernel:
        """gpytorch's kernel."""
        return gpytorch.kernels.RBFKernel(**shared)

    def between(self, left: Tensor, right: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        """``exp(−d²/2)`` (n, m) between all rows (n, c) and (m, c), in units of the lengthscales."""
        exponent = squared_distances(left, right).mul(-0.5)
        return exponent.exp() if exponent.requires_grad else exponent.exp_()

    def weight(self, parameters: Sequence[float]) -> float:
        """The weight ½."""
        return 0.5

    def profile(self, square: Tensor, parameters: Sequence[Tensor]) -> Profile:
        """Value and slope, which are equal."""
        value = square.mul_(-0.5).exp_()
        return Profile(value, value)

    def spread(self, numbers: Mapping[str, float], count: int, generator: torch.Generator) -> Tensor:
        """Ones."""
        return torch.ones(count, dtype=torch.float64)
