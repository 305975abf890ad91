"""Families that are functions of the scaled distance alone, ``φ(s)`` with ``s = Σ_d (x_d − x′_d)²/ℓ_d²``.

Each has the form ``φ = p(e) e^{−e}`` with an exponent e ≥ 0, so that the exponents of several factors are added before
one exponential is computed. Since ``∂φ/∂ℓ_d = h (x_d − x′_d)²/ℓ_d³`` with the slope ``h = −2 φ′(s)``, value and slope
give a kernel and all its lengthscale derivatives from one exponential. Source: Rasmussen and Williams 2006, §4.2 and
§5.4.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor, nn

from deconditioning.kernels.families.draws import normal
from deconditioning.kernels.families.family import Parameters, Stationary, positive, scaled


@dataclass(frozen=True)
class Profile:
    """``φ(s)``, the slope ``−2 φ′(s)`` and ``∂φ/∂θ`` for each further parameter, with the shape of ``s``."""

    value: Tensor
    slope: Tensor
    parameters: tuple[Tensor, ...] = ()


class Radial(Stationary):
    """An isotropic family. ``parameters`` in its methods are the values of its further parameters, in their order.

    ``pointed``: φ has a corner at distance zero, where rounding of an expanded square would be amplified by the root,
    so distances are computed from differences. ``rooted``: one of its derivatives has a corner, so distances are
    computed from differences far from the origin. Both are functions of the distance, others of its square.
    """

    isotropic = True
    pointed: ClassVar[bool] = False
    rooted: ClassVar[bool] = False

    def tile(
        self, kernel: gpytorch.kernels.Kernel, left: Float[Tensor, "n d"], right: Float[Tensor, "m d"]
    ) -> Float[Tensor, "n m"]:
        """Kernel matrix between all rows."""
        return self.between(
            scaled(kernel, left), scaled(kernel, right), [parameter.read(kernel) for parameter in self.parameters]
        )

    @abstractmethod
    def between(
        self, left: Float[Tensor, "n c"], right: Float[Tensor, "m c"], parameters: Sequence[Tensor]
    ) -> Float[Tensor, "n m"]:
        """Kernel matrix between all rows, in units of the lengthscales; differentiable."""

    def weight(self, parameters: Sequence[float]) -> float:
        """Factor applied to s before ``exponent`` uses it or its root."""
        return 1.0

    def exponent(self, at: Tensor, parameters: Sequence[float]) -> Tensor:
        """``e`` of the weighted squared distance, or of its root in a pointed or rooted family; overwrites its
        argument.
        """
        return at

    def polynomial(self, exponent: Tensor, parameters: Sequence[float]) -> Tensor | None:
        """``p(e)``, which overwrites e; None if it is one."""
        return None

    @abstractmethod
    def profile(self, square: Float[Tensor, "n m"], parameters: Sequence[Tensor]) -> Profile:
        """Value and slopes at scaled squared distances; overwrites ``square``."""

    def spread(
        self, numbers: Mapping[str, float], count: int, generator: torch.Generator
    ) -> Float[Tensor, " F"] | None:
        """Draws τ with ``φ(s) = E exp(−τ² s/2)``, which exist for kernels that are radial in all dimensions; None if
        unknown.

        Source: Schoenberg 1938.
        """
        return None

    def frequencies(
        self, factor: Parameters, shape: tuple[int, int], generator: torch.Generator
    ) -> Float[Tensor, "F d"] | None:
        """Normal draws with a random scale."""
        drawn = normal(shape, generator) / torch.tensor(factor.lengthscales, dtype=torch.float64)
        spread = self.spread(factor.numbers, shape[0], generator)
        return None if spread is None else drawn * spread[:, None]


class Shaped(gpytorch.kernels.Kernel):
    """gpytorch kernel of a radial family that gpytorch does not provide."""

    has_lengthscale = True

    def __init__(self, family: Radial, **shared: Any) -> None:
        super().__init__(**shared)
        self.family = family
        for parameter in family.parameters:
            self.register_parameter(parameter.raw, nn.Parameter(torch.zeros(1)))
            self.register_constraint(parameter.raw, positive())

    def forward(self, x1: Tensor, x2: Tensor, diag: bool = False, **params: Any) -> Tensor:
        """Kernel matrix between all rows, or ones for the diagonal."""
        if diag:
            return torch.ones_like(x1[..., 0])
        left, right = (x / self.lengthscale.reshape(1, -1) for x in (x1, x2))
        return self.family.between(left, right, [parameter.read(self) for parameter in self.family.parameters])


def distances(left: Float[Tensor, "n c"], right: Float[Tensor, "m c"]) -> Float[Tensor, "n m"]:
    """Distances from differences; an expanded square would have rounding errors of ``√1e-16``."""
    return torch.cdist(left, right, compute_mode="donot_use_mm_for_euclid_dist")


def squared_distances(left: Float[Tensor, "n c"], right: Float[Tensor, "m c"]) -> Float[Tensor, "n m"]:
    """Squared distances from one product of matrices."""
    centre = left.mean(0)
    left, right = left - centre, right - centre
    square_left, square_right = left.square().sum(1), right.square().sum(1)
    # ‖u‖² + ‖v‖² − 2u·v in one product: [−2u, ‖u‖², 1]·[v, 1, ‖v‖²]
    ones_left, ones_right = torch.ones_like(square_left), torch.ones_like(square_right)
    first = torch.cat([-2 * left, square_left[:, None], ones_left[:, None]], dim=1)
    second = torch.cat([right, ones_right[:, None], square_right[:, None]], dim=1)
    square = first @ second.T
    return square.clamp_min(0) if square.requires_grad else square.clamp_min_(0)
