"""Random numbers that depend only on a given generator."""

import torch
from jaxtyping import Float
from scipy.special import gammaincinv
from torch import Tensor


def normal(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Standard normal draws."""
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def uniform(count: int, generator: torch.Generator) -> Float[Tensor, " n"]:
    """Draws from [0, 1)."""
    return torch.rand(count, generator=generator, dtype=torch.float64)


def gamma(shape: float | Float[Tensor, " n"], count: int, generator: torch.Generator) -> Float[Tensor, " n"]:
    """Gamma(shape, 1) draws through the quantile function."""
    known = shape.numpy() if isinstance(shape, Tensor) else shape
    return torch.as_tensor(gammaincinv(known, uniform(count, generator).numpy()))


def chi_square(degrees: float | Float[Tensor, " n"], count: int, generator: torch.Generator) -> Float[Tensor, " n"]:
    """χ² draws with the given degrees of freedom."""
    return 2 * gamma(degrees / 2, count, generator)


def positive_stable(index: float, count: int, generator: torch.Generator) -> Float[Tensor, " n"]:
    """Positive stable draws A with ``E exp(−tA) = exp(−t^index)``, index in (0, 1]. Source: Kanter 1975."""
    angle = torch.pi * uniform(count, generator).clamp(1e-12, 1 - 1e-12)
    waiting = torch.log1p(-uniform(count, generator)).neg().clamp_min(1e-300)
    if index >= 1:
        return torch.ones_like(angle)
    first = torch.sin(index * angle) / torch.sin(angle) ** (1 / index)
    return first * (torch.sin((1 - index) * angle) / waiting) ** ((1 - index) / index)
