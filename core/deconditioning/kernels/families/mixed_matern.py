"""A mixture of Matérn kernels of smoothness 1/2, 3/2 and 5/2 with a learned weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from deconditioning.kernels.families.draws import chi_square
from deconditioning.kernels.families.family import ROUGH_REACH, Decay, Parameters, ShapeParameter
from deconditioning.kernels.families.radial import Profile, Radial, Shaped, distances


class MixedMatern(Radial):
    """``Σ_q w_q M_q(u)``, ``u = d/ℓ``, with the Matérn kernels ``M = e^{−u}, (1+u) e^{−u}, (1+u+u²/3) e^{−u}``.

    The weights are ``w = ((1−t)², 2t(1−t), t²)``; the sum is ``(1 + t(2−t) u + t²u²/3) e^{−u}``.
    """

    name, title = "mixed_matern", "Mixed Matérn"
    parameters = (
        ShapeParameter(
            "mixture", "t", 0.5, 1e-2, 1.0, "Smoothness: towards 0 it is Matérn 1/2, at 1 it is Matérn 5/2."
        ),
    )
    pointed, reach = True, ROUGH_REACH

    def kernel(self, **shared: Any) -> Shaped:
        """A kernel of this family."""
        return Shaped(self, **shared)

    def between(self, left: Tensor, right: Tensor, parameters: Sequence[Tensor]) -> Tensor:
        """The kernel (n, m) between all rows of ``left`` (n, c) and ``right`` (m, c), in units of the lengthscales."""
        u, (first, second) = distances(left, right), _coefficients(parameters[0])
        return (1 + first * u + second * u.square()) * torch.exp(-u)

    def polynomial(self, exponent: Tensor, parameters: Sequence[float]) -> Tensor:
        """``1 + b u + c u²``."""
        first, second = _coefficients(parameters[0])
        return torch.mul(exponent, second).add_(first).mul_(exponent).add_(1)

    def profile(self, square: Tensor, parameters: Sequence[Tensor]) -> Profile:
        """Value, slope and derivative in t; at zero distance the slope's pole is multiplied by a zero difference."""
        (mixture,) = parameters
        first, second = _coefficients(mixture)
        u = square.sqrt_().clamp_min_(1e-300)
        decay = torch.neg(u).exp_()
        value = (1 + first * u + second * u.square()) * decay
        slope = ((1 - first) / u + (first - 2 * second) + second * u) * decay
        return Profile(value, slope, ((2 * (1 - mixture) * u + 2 * mixture / 3 * u.square()) * decay,))

    def decay(self, factor: Parameters) -> Decay:
        """The kernel itself."""
        return Decay(1 / factor.lengthscales[0], (1.0, *_coefficients(factor.numbers["mixture"])))

    def spread(self, numbers: Mapping[str, float], count: int, generator: torch.Generator) -> Tensor:
        """``1/√χ²`` with 1, 3 or 5 degrees of freedom, chosen with the weights."""
        mixture = numbers["mixture"]
        weights = torch.tensor([(1 - mixture) ** 2, 2 * mixture * (1 - mixture), mixture**2], dtype=torch.float64)
        degrees = 1.0 + 2 * torch.multinomial(weights, count, replacement=True, generator=generator)
        return chi_square(degrees.double(), count, generator).rsqrt()


def _coefficients(mixture: Any) -> tuple[Any, Any]:
    """What u and u² are multiplied by: two numbers or two tensors."""
    return mixture * (2 - mixture), mixture * mixture / 3
