"""Radial factors ``φ(s)`` of the scaled squared distance ``s = Σ_d (x_d − x′_d)²/ℓ_d²``, with their derivatives.

Since ``∂φ/∂ℓ_d = h (x_d − x′_d)²/ℓ_d³`` with the slope ``h = −2 φ′(s)``, value and slope give a kernel and all its
lengthscale derivatives from one exponential. Source: Rasmussen and Williams 2006, §4.2 and §5.4.
"""

from dataclasses import dataclass

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor

RADIAL = (gpytorch.kernels.RBFKernel, gpytorch.kernels.MaternKernel, gpytorch.kernels.RQKernel)


@dataclass(frozen=True)
class Radial:
    """A radial factor with its parameters read once, and all inputs divided by their lengthscales.

    ``scaled`` (d, N), ``lengthscales`` (d,) or (1,), ``nu`` of a Matérn factor, ``alpha`` of a rational quadratic one.
    """

    scaled: Float[Tensor, "d N"]
    lengthscales: Tensor
    nu: float | None = None
    alpha: Tensor | None = None

    def squares(self, rows: slice, columns: slice) -> list[Float[Tensor, "n m"]]:
        """``(x_d − x′_d)²/ℓ_d²`` for each column of the factor."""
        return [torch.sub(x[rows, None], x[None, columns]).square_() for x in self.scaled]

    def profile(self, square: Float[Tensor, "n m"]) -> "Profile":
        """Value and slopes at scaled squared distances; ``square`` is overwritten."""
        if self.alpha is not None:
            return _rational_quadratic(square, self.alpha)
        if self.nu is not None:
            return _matern(square, self.nu)
        value = square.mul_(-0.5).exp_()
        return Profile(value, value)


@dataclass(frozen=True)
class Profile:
    """``φ(s)``, the slope ``−2 φ′(s)`` and, for the rational quadratic, ``∂φ/∂α``; each of the shape of ``s``."""

    value: Tensor
    slope: Tensor
    alpha_slope: Tensor | None = None


def radial(factor: gpytorch.kernels.Kernel, inputs: Float[Tensor, "N d"]) -> Radial:
    """A gpytorch factor (one of ``RADIAL``) on given inputs."""
    lengthscales = factor.lengthscale.detach().flatten()
    scaled = (inputs[:, factor.active_dims] / lengthscales).T.contiguous()
    if isinstance(factor, gpytorch.kernels.RQKernel):
        return Radial(scaled, lengthscales, alpha=factor.alpha.detach())
    return Radial(scaled, lengthscales, nu=factor.nu if isinstance(factor, gpytorch.kernels.MaternKernel) else None)


def _matern(square: Tensor, nu: float) -> Profile:
    u = square.mul_(2 * nu).sqrt_()
    decay = torch.neg(u).exp_()
    if nu == 0.5:  # the slope's pole at zero distance meets a difference of zero
        return Profile(decay, decay / u.clamp_min_(1e-300))
    if nu == 1.5:
        return Profile(torch.addcmul(decay, u, decay), decay.mul_(3))
    grown = torch.addcmul(decay, u, decay)
    return Profile(torch.addcmul(grown, u.square_().div_(3), decay), grown.mul_(5 / 3))


def _rational_quadratic(square: Tensor, alpha: Tensor) -> Profile:
    part = square / (2 * alpha)
    logarithm = part.log1p()
    value = (-alpha * logarithm).exp_()
    slope = value / (1 + part)
    return Profile(value, slope, value * (part / (1 + part) - logarithm))
