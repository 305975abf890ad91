"""The linear family, ``Σ_d x_d x′_d/s_d²``."""

from __future__ import annotations

import gpytorch
import torch
from torch import Tensor

from deconditioning.kernels.families.draws import normal
from deconditioning.kernels.families.family import LENGTHSCALE, Family, Parameters, Trained, positive


class Linear(Family):
    """``Σ_d x_d x′_d/s_d²``: linear functions through zero whose slopes have the sds 1/s; s takes the place of the
    lengthscale.
    """

    name, title = "linear", "Linear"
    smooth, degenerate, slopes_for_scales = True, True, True

    def build(self, factor: Parameters, active: tuple[int, ...]) -> gpytorch.kernels.Kernel:
        """gpytorch's kernel, whose variances are 1/s²."""
        several = len(factor.lengthscales) if len(factor.lengthscales) > 1 else None
        linear = gpytorch.kernels.LinearKernel(
            ard_num_dims=several, variance_constraint=positive(), active_dims=active
        ).double()
        linear.variance = torch.tensor([factor.lengthscales], dtype=torch.float64) ** -2
        linear.family = self
        return linear

    def read(self, kernel: gpytorch.kernels.Kernel) -> tuple[tuple[float, ...], dict[str, float]]:
        """``s`` from gpytorch's variances."""
        return tuple((kernel.variance.detach().flatten() ** -0.5).tolist()), {}

    def trained(self, kernel: gpytorch.kernels.Kernel) -> list[Trained]:
        """The variances of the slopes."""
        return [Trained("slope variance", kernel.raw_variance, LENGTHSCALE[1] ** -2, LENGTHSCALE[0] ** -2, True)]

    def tile(self, kernel: gpytorch.kernels.Kernel, left: Tensor, right: Tensor) -> Tensor:
        """Kernel matrix between all rows."""
        return self.features(kernel, left) @ self.features(kernel, right).T

    def features(self, kernel: gpytorch.kernels.Kernel, inputs: Tensor) -> Tensor:
        """The features ``x/s``."""
        return inputs[:, kernel.active_dims] * kernel.variance.sqrt()

    def slopes(self, factor: Parameters, shape: tuple[int, int], generator: torch.Generator) -> Tensor:
        """Normal draws of the slopes."""
        return normal(shape, generator) / torch.tensor(factor.lengthscales, dtype=torch.float64)
