"""The constant kernel family, ``k = 1``."""

from __future__ import annotations

from typing import Any

import gpytorch
import torch
from torch import Tensor

from deconditioning.kernels.families.family import Family, Parameters, Trained


class Constant(Family):
    """The kernel 1: constant functions, with the scale of the term as their variance. It models an unknown mean.

    The scale is not learned: a single field contains no information about the variance of its mean.
    """

    name, title = "constant", "Constant"
    stationary, smooth, columnwise, degenerate, without_scales = True, True, True, True, True

    def build(self, factor: Parameters, active: tuple[int, ...]) -> gpytorch.kernels.Kernel:
        """Build the kernel, which has no parameters."""
        kernel = _Ones(active_dims=active).double()
        kernel.family = self
        return kernel

    def read(self, kernel: gpytorch.kernels.Kernel) -> tuple[tuple[float, ...], dict[str, float]]:
        """No lengthscales and no parameters."""
        return (), {}

    def trained(self, kernel: gpytorch.kernels.Kernel) -> list[Trained]:
        """No learned parameters."""
        return []

    def tile(self, kernel: gpytorch.kernels.Kernel, left: Tensor, right: Tensor) -> Tensor:
        """A matrix of ones."""
        return left.new_ones(len(left), len(right))

    def features(self, kernel: gpytorch.kernels.Kernel, inputs: Tensor) -> Tensor:
        """A single feature, equal to one."""
        return inputs.new_ones(len(inputs), 1)

    def frequencies(self, factor: Parameters, shape: tuple[int, int], generator: torch.Generator) -> Tensor:
        """Zero frequencies."""
        return torch.zeros(shape, dtype=torch.float64)


class _Ones(gpytorch.kernels.Kernel):
    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any) -> Tensor:
        return x1.new_ones(x1.shape[:-1] if diag else (*x1.shape[:-1], x2.shape[-2]))
