"""One tile of a kernel matrix, fused for the stationary families, by gpytorch for the rest.

gpytorch's kernel is the definition; the fused formulas below agree with it to rounding (tested) and
save its intermediate copies. Matérn distances are taken from differences, never from the expanded
square, whose rounding would reach the kernel as ``√1e-16``.
"""

import math
from collections.abc import Callable

import gpytorch
import torch
from jaxtyping import Float
from linear_operator import to_dense
from torch import Tensor

TileFunction = Callable[[Tensor, Tensor], Tensor]


def evaluate(kernel: gpytorch.kernels.Kernel, left: Float[Tensor, "n d"], right: Float[Tensor, "m d"]) -> Tensor:
    """Kernel matrix ``k(left, right)`` (n, m) of a kernel made by ``KernelSpec.build``; differentiable."""
    total: Tensor | None = None
    for term in kernel.kernels:
        part = term.outputscale * _product(term.base_kernel, left, right)
        total = part if total is None else total + part
    assert total is not None
    return total


def diagonal(kernel: gpytorch.kernels.Kernel, inputs: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
    """``k(x_i, x_i)`` for every row."""
    return kernel(inputs, diag=True)


def _product(product: gpytorch.kernels.Kernel, left: Tensor, right: Tensor) -> Tensor:
    value: Tensor | None = None
    for factor in product.kernels:
        part = _factor(factor, left, right)
        value = part if value is None else value * part
    assert value is not None
    return value


def _factor(factor: gpytorch.kernels.Kernel, left: Tensor, right: Tensor) -> Tensor:
    if isinstance(factor, gpytorch.kernels.MaternKernel):
        distance = torch.cdist(
            _scaled(factor, left), _scaled(factor, right), compute_mode="donot_use_mm_for_euclid_dist"
        )
        return matern(distance * math.sqrt(2 * factor.nu), factor.nu)
    if isinstance(factor, gpytorch.kernels.RBFKernel):
        exponent = _squared_distance(_scaled(factor, left), _scaled(factor, right)).mul(-0.5)
        return exponent.exp() if exponent.requires_grad else exponent.exp_()
    if isinstance(factor, gpytorch.kernels.RQKernel):
        square = _squared_distance(_scaled(factor, left), _scaled(factor, right))
        return (1 + square / (2 * factor.alpha)).pow(-factor.alpha)
    # forward, not a call: evaluated lazily, a kernel loses its columns for a moment, which another thread would see
    return to_dense(factor.forward(left[:, factor.active_dims], right[:, factor.active_dims]))


def _scaled(factor: gpytorch.kernels.Kernel, inputs: Tensor) -> Tensor:
    return inputs[:, factor.active_dims] / factor.lengthscale.reshape(1, -1)


def _squared_distance(left: Tensor, right: Tensor) -> Tensor:
    centre = left.mean(0)
    left, right = left - centre, right - centre
    square_left, square_right = left.square().sum(1), right.square().sum(1)
    # ‖u‖² + ‖v‖² − 2u·v in one product: [−2u, ‖u‖², 1]·[v, 1, ‖v‖²]
    ones_left, ones_right = torch.ones_like(square_left), torch.ones_like(square_right)
    first = torch.cat([-2 * left, square_left[:, None], ones_left[:, None]], dim=1)
    second = torch.cat([right, ones_right[:, None], square_right[:, None]], dim=1)
    square = first @ second.T
    return square.clamp_min(0) if square.requires_grad else square.clamp_min_(0)


def matern(distance: Tensor, nu: float) -> Tensor:
    """Matérn kernel of smoothness ν ∈ {½, 3/2, 5/2} at distances that are multiplied by ``√(2ν)`` already."""
    decay = torch.exp(-distance)
    if nu == 0.5:
        return decay
    if nu == 1.5:
        return torch.addcmul(decay, distance, decay)
    return (1 + distance + distance.square() / 3) * decay
