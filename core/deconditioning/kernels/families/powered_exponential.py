"""The powered exponential family, ``exp(−(d/ℓ)^α)``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from deconditioning.kernels.families.draws import positive_stable
from deconditioning.kernels.families.family import ROUGH_REACH, ShapeParameter
from deconditioning.kernels.families.radial import Profile, Radial, Shaped, distances

#: The least scaled distance that counts: powers of zero have no derivative.
_NEAR = 1e-150


class PoweredExponential(Radial):
    """``exp(−(d/ℓ)^α)``, 0 < α ≤ 2: paths rougher than Matérn 1/2 for α < 1 and smoother for α > 1; differentiable only
    for α = 2.

    Source: Diggle and Ribeiro 2007, *Model-based Geostatistics*, §3.4.2.
    """

    name, title = "powered_exponential", "Powered exponential"
    parameters = (
        ShapeParameter(
            "alpha", "α", 1.0, 0.3, 2.0, "Smoothness: 1 is Matérn 1/2, smaller is rougher, 2 is Gaussian.", spread=0.35
        ),
    )
    pointed, reach = True, ROUGH_REACH

    def kernel(self, **shared: Any) -> Shaped:
        """A kernel of this family."""
        return Shaped(self, **shared)

    def between(self, left: Tensor, right: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        """``exp(−d^α)`` (n, m) between all rows (n, c) and (m, c), in units of the lengthscales."""
        return torch.exp(-distances(left, right).clamp_min(_NEAR).pow(parameters[0]))

    def exponent(self, at: Tensor, parameters: Sequence[float]) -> Tensor:
        """``d^α``."""
        return at.pow_(parameters[0])

    def profile(self, square: Tensor, parameters: Sequence[Tensor]) -> Profile:
        """Value, slope and derivative in α; at zero distance the slope's pole is multiplied by a zero difference."""
        (alpha,) = parameters
        logarithm = square.clamp_min_(_NEAR**2).log_()
        exponent = (0.5 * alpha * logarithm).exp_()
        value = torch.neg(exponent).exp_()
        slope = alpha * (logarithm * (0.5 * alpha - 1)).exp_() * value
        return Profile(value, slope, (logarithm.mul_(exponent).mul_(value).mul_(-0.5),))

    def spread(self, numbers: Mapping[str, float], count: int, generator: torch.Generator) -> Tensor:
        """``√(2A)`` with A positive stable of index α/2, since ``exp(−d^α) = E exp(−A d²)``."""
        return (2 * positive_stable(0.5 * numbers["alpha"], count, generator)).sqrt()
