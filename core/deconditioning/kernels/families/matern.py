"""Matérn families of half-integer smoothness, ``p(u) e^{−u}`` with ``u = √(2ν) d``."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import gpytorch
import torch
from torch import Tensor

from deconditioning.kernels.families.draws import chi_square
from deconditioning.kernels.families.family import ROUGH_REACH, Decay, Parameters
from deconditioning.kernels.families.radial import Profile, Radial, distances


class Matern(Radial):
    """A Matérn family; its smoothness ν is its ``order``. Source: Rasmussen and Williams 2006, eq. 4.16."""

    order: ClassVar[float]
    coefficients: ClassVar[tuple[float, ...]]
    rooted = True

    def kernel(self, **shared: Any) -> gpytorch.kernels.Kernel:
        """gpytorch's kernel."""
        return gpytorch.kernels.MaternKernel(nu=self.order, **shared)

    def weight(self, parameters: Sequence[float]) -> float:
        """The weight 2ν."""
        return 2 * self.order

    def between(self, left: Tensor, right: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        """The kernel (n, m) between all rows of ``left`` (n, c) and ``right`` (m, c), in units of the lengthscales."""
        return self.at(distances(left, right) * math.sqrt(2 * self.order))

    @abstractmethod
    def at(self, u: Tensor) -> Tensor:
        """Values at ``u = √(2ν) d/ℓ``, of any shape; differentiable."""

    def decay(self, factor: Parameters) -> Decay:
        """The kernel itself."""
        return Decay(math.sqrt(2 * self.order) / factor.lengthscales[0], self.coefficients)

    def spread(self, numbers: Mapping[str, float], count: int, generator: torch.Generator) -> Tensor:
        """√(2ν/χ²) with 2ν degrees of freedom: frequencies are Student's t."""
        degrees = 2 * self.order
        return (degrees / chi_square(degrees, count, generator)).sqrt()


class Matern12(Matern):
    """``e^{−u}``, the exponential kernel: paths without derivatives."""

    name, title, order = "matern12", "Matérn 1/2", 0.5
    coefficients = (1.0,)
    pointed, reach = True, ROUGH_REACH

    def at(self, u: Tensor) -> Tensor:
        """Values at scaled distances."""
        return torch.exp(-u)

    def profile(self, square: Tensor, parameters: Sequence[Tensor]) -> Profile:
        """The slope's pole at zero distance meets a difference of zero."""
        u = square.sqrt_()
        decay = torch.neg(u).exp_()
        return Profile(decay, decay / u.clamp_min_(1e-300))


class Matern32(Matern):
    """``(1 + u) e^{−u}``: paths with one derivative."""

    name, title, order = "matern32", "Matérn 3/2", 1.5
    coefficients = (1.0, 1.0)

    def at(self, u: Tensor) -> Tensor:
        """Values at scaled distances."""
        decay = torch.exp(-u)
        return torch.addcmul(decay, u, decay)

    def polynomial(self, exponent: Tensor, parameters: Sequence[float]) -> Tensor:
        """1 + u."""
        return exponent.add_(1)

    def profile(self, square: Tensor, parameters: Sequence[Tensor]) -> Profile:
        """Value and slope."""
        u = square.mul_(3).sqrt_()
        decay = torch.neg(u).exp_()
        return Profile(torch.addcmul(decay, u, decay), decay.mul_(3))


class Matern52(Matern):
    """``(1 + u + u²/3) e^{−u}``: paths with two derivatives."""

    name, title, order = "matern52", "Matérn 5/2", 2.5
    coefficients = (1.0, 1.0, 1.0 / 3.0)

    def at(self, u: Tensor) -> Tensor:
        """Values at scaled distances."""
        return (1 + u + u.square() / 3) * torch.exp(-u)

    def polynomial(self, exponent: Tensor, parameters: Sequence[float]) -> Tensor:
        """1 + u + u²/3."""
        return exponent.addcmul_(exponent, exponent, value=1 / 3).add_(1)

    def profile(self, square: Tensor, parameters: Sequence[Tensor]) -> Profile:
        """Value and slope."""
        u = square.mul_(5).sqrt_()
        decay = torch.neg(u).exp_()
        grown = torch.addcmul(decay, u, decay)
        return Profile(torch.addcmul(grown, u.square_().div_(3), decay), grown.mul_(5 / 3))
