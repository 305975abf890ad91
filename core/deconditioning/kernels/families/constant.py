"""The constant family, 1 everywhere."""

from __future__ import annotations

from typing import Any

import gpytorch
import torch
from torch import Tensor

from deconditioning.kernels.families.family import Family, Parameters, Trained


class Constant(Family):
    """1: functions that are one number, whose variance is the scale of the term; a mean that is not known.

    That scale stays as given while others are learned: a single field tells nothing of how much its mean varies.
    """

    name, title = "constant", "Constant"
    stationary, smooth, degenerate, without_scales = True, True, True, True

    def build(self, factor: Parameters, active: tuple[int, ...]) -> gpytorch.kernels.Kernel:
        """A kernel without parameters."""
        kernel = _Ones(active_dims=active).double()
        kernel.family = self
        return kernel

    def read(self, kernel: gpytorch.kernels.Kernel) -> tuple[tuple[float, ...], dict[str, float]]:
        """None of either."""
        return (), {}

    def trained(self, kernel: gpytorch.kernels.Kernel) -> list[Trained]:
        """Nothing."""
        return []

    def tile(self, kernel: gpytorch.kernels.Kernel, left: Tensor, right: Tensor) -> Tensor:
        """Ones."""
        return left.new_ones(len(left), len(right))

    def features(self, kernel: gpytorch.kernels.Kernel, inputs: Tensor) -> Tensor:
        """One."""
        return inputs.new_ones(len(inputs), 1)

    def frequencies(self, factor: Parameters, shape: tuple[int, int], generator: torch.Generator) -> Tensor:
        """Zero."""
        return torch.zeros(shape, dtype=torch.float64)


class _Ones(gpytorch.kernels.Kernel):
    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any) -> Tensor:
        return x1.new_ones(x1.shape[:-1] if diag else (*x1.shape[:-1], x2.shape[-2]))
