"""Smooth kernels of any columns through few points, with an error bound at every point.

``k(x, x′) ≈ φ(x)ᵀφ(x′)``, ``φ(x) = T⁻¹ k(Z, x)`` with ``K_ZZ = T Tᵀ``. The remainder is itself a kernel, so ``|k(x, x′)
− φ(x)ᵀφ(x′)| ≤ max_x (k(x, x) − ‖φ(x)‖²)``, which is measured at every point, not estimated.
"""

from copy import deepcopy
from dataclasses import dataclass, replace

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.errors import Check, InputError, never
from deconditioning.kernels.fused import Tiles
from deconditioning.kernels.low_rank import LowRank, incomplete_cholesky
from deconditioning.kernels.tiles import diagonal
from deconditioning.observations import Bags

#: Largest error of a kernel value of variance one.
BOUND = 1e-10
#: Points that Z is chosen from at first, drawn and at either end of every column; points above the bound join them, so
#: many at a time, so many times.
_CANDIDATES, _LEAST, _EXTREMES, _JOINING, ROUNDS = 5000, 300, 50, 1000, 5
#: Share of points above the bound at which another rank is needed, not a few more points.
_HOPELESS = 0.02
TILE = 2048


@dataclass(frozen=True)
class Certified:
    """``points`` Z (m, d), ``inverse`` T⁻¹ (r, m) and ``error``, the largest error of a kernel value at the inputs.

    T has no diagonal below the root of the bound, so its inverse costs no digit that the bound asks for.
    """

    kernel: gpytorch.kernels.Kernel
    points: Float[Tensor, "m d"]
    inverse: Float[Tensor, "r m"]
    error: float

    @property
    def rank(self) -> int:
        """r."""
        return len(self.inverse)

    def features(self, inputs: Float[Tensor, "n d"]) -> Float[Tensor, "r n"]:
        """``φ(x)`` as columns."""
        return self.inverse @ Tiles(self.kernel, self.points, inputs)(slice(None), slice(None))

    def to(self, device: torch.device) -> "Certified":
        """The same on another device."""
        points, inverse = self.points.to(device), self.inverse.to(device)
        return replace(self, kernel=deepcopy(self.kernel).to(device), points=points, inverse=inverse)

    def left_out(self, inputs: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
        """``k(x, x) − ‖φ(x)‖²``."""
        return diagonal(self.kernel, inputs) - self.features(inputs).square().sum(0)

    def cost(self, bags: int) -> float:
        """Multiplications a pixel, with the two passes that certify."""
        return 3.0 * self.rank**2 + bags * self.rank

    def bag_means(self, bags: Bags, check: Check = never) -> Float[Tensor, "B r"]:
        """The bag means of φ."""
        means = bags.inputs.new_zeros(bags.count, self.rank)
        for begin in range(0, len(bags.inputs), TILE):
            check()
            part = slice(begin, begin + TILE)
            means.index_add_(0, bags.bag[part], (self.features(bags.inputs[part]) * bags.weights[part]).T)
        return means

    def add_sums(
        self, total: Float[Tensor, "B P"], means: Float[Tensor, "B r"], inputs: Float[Tensor, "P d"], scale: float,
        check: Check,
    ) -> None:  # fmt: skip
        """Add ``scale · means φ(x)`` at every input to ``total``."""
        for begin in range(0, len(inputs), TILE):
            check()
            part = slice(begin, begin + TILE)
            total[:, part].addmm_(means, self.features(inputs[part]), alpha=scale)


def certify(
    kernel: gpytorch.kernels.Kernel,
    inputs: Float[Tensor, "n d"],
    most: int,
    *,
    bound: float = BOUND,
    check: Check = never,
) -> Certified | None:
    """Few points whose features give every kernel value among ``inputs`` to ``bound``; None if ``most`` points do not
    suffice.

    Points are chosen by pivoted Cholesky among some of the inputs; inputs that violate the bound are added. Source:
    Fine and Scheinberg 2001 (pivots); the bound is Cauchy-Schwarz for the remainder.
    """
    if inputs.dtype != torch.float64:
        return None  # the bound lies below other rounding
    candidates = some_of(inputs)
    with torch.no_grad():
        for _ in range(ROUNDS):
            check()
            known = certify_among(kernel, candidates, most, bound)
            if known is None:
                return None
            if _share_above(known, inputs, bound) > _HOPELESS:
                return None
            left = _left_out(known, inputs, check)
            worst = float(left.max())
            if worst <= bound:
                return replace(known, error=max(worst, 0.0))
            above = torch.nonzero(left > bound)[:, 0]
            order = left[above].argsort(descending=True)[:_JOINING]
            candidates = torch.cat([known.points, candidates, inputs[above[order]]])
    return None


def certify_among(
    kernel: gpytorch.kernels.Kernel, candidates: Float[Tensor, "c d"], most: int, bound: float = BOUND
) -> Certified | None:
    """`certify` for the candidates alone: the bound holds there, and need not hold elsewhere."""
    low_rank = _pivots(kernel, candidates, most, bound)
    if low_rank is None:
        return None
    identity = linalg.identity(low_rank.rank, candidates)
    inverse = torch.linalg.solve_triangular(low_rank.triangle, identity, upper=False)
    return Certified(kernel, candidates[low_rank.pivots], inverse, 0.0)


def some_of(inputs: Float[Tensor, "n d"]) -> Float[Tensor, "c d"]:
    """Some inputs drawn at random, and those at the ends of every column."""
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randperm(len(inputs), generator=generator)[: min(_CANDIDATES, max(_LEAST, len(inputs) // 10))]
    ends = min(_EXTREMES, len(inputs))
    outer = [values.topk(ends, largest=side).indices for values in inputs.T for side in (True, False)]
    return inputs[torch.cat([drawn.to(inputs.device), *outer]).unique()]


def _pivots(
    kernel: gpytorch.kernels.Kernel, candidates: Float[Tensor, "c d"], most: int, bound: float = BOUND
) -> LowRank | None:
    """At most ``most`` of the candidates that leave at most ``bound`` of all their kernel values; None if more are
    needed."""
    trace = float(diagonal(kernel, candidates).sum())
    try:
        low_rank = incomplete_cholesky(kernel, candidates, bound / trace, most=most)
    except InputError:  # so many columns leave more than a hundredth out
        return None
    return low_rank if low_rank.residual * trace <= bound else None


def _share_above(known: Certified, inputs: Tensor, bound: float) -> float:
    """Share of some of the inputs that the bound fails for: too many to join."""
    drawn = torch.randperm(len(inputs), generator=torch.Generator().manual_seed(1))[:_CANDIDATES]
    return float((_left_out(known, inputs[drawn.to(inputs.device)], never) > bound).double().mean())


def _left_out(known: Certified, inputs: Tensor, check: Check) -> Float[Tensor, " n"]:
    """``k(x, x) − ‖φ(x)‖²``."""
    parts = []
    for tile in inputs.split(TILE):
        check()
        parts.append(known.left_out(tile))
    return torch.cat(parts)
