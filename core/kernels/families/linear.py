"""The linear family, ``x·x′/s²``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import gpytorch
import torch
from torch import Tensor

from core.kernels.families.draws import normal
from core.kernels.families.family import LENGTHSCALE, Family, Trained, dense, positive

if TYPE_CHECKING:
    from core.kernels.spec import Factor


class Linear(Family):
    """``x·x′/s²``: straight lines through zero, whose slopes have the sd 1/s; s stands as the one lengthscale."""

    name, title = "linear", "Linear"
    smooth, one_lengthscale = True, True

    def build(self, factor: Factor, active: tuple[int, ...]) -> gpytorch.kernels.Kernel:
        """gpytorch's own, whose variance is 1/s²."""
        linear = gpytorch.kernels.LinearKernel(variance_constraint=positive(), active_dims=active).double()
        linear.variance = torch.tensor(factor.lengthscales[0] ** -2, dtype=torch.float64)
        linear.family = self
        return linear

    def read(self, factor: Factor, kernel: gpytorch.kernels.Kernel) -> Factor:
        """The factor with a kernel's variance."""
        return replace(factor, lengthscales=(float(kernel.variance.detach()) ** -0.5,))

    def trained(self, kernel: gpytorch.kernels.Kernel) -> list[Trained]:
        """The variance of the slopes."""
        return [Trained("slope variance", kernel.raw_variance, LENGTHSCALE[1] ** -2, LENGTHSCALE[0] ** -2)]

    def tile(self, kernel: gpytorch.kernels.Kernel, left: Tensor, right: Tensor) -> Tensor:
        """Values between all rows."""
        return dense(kernel, left, right)

    def slopes(self, factor: Factor, shape: tuple[int, int], generator: torch.Generator) -> Tensor:
        """Normal."""
        return normal(shape, generator) / factor.lengthscales[0]
