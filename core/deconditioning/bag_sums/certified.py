"""Smooth kernels of any columns through few points, with an error bound at every point.

``k(x, x′) ≈ φ(x)ᵀφ(x′)``, ``φ(x) = T⁻¹ k(Z, x)`` with ``K_ZZ = T Tᵀ``. The remainder is itself a kernel, so ``|k(x, x′)
− φ(x)ᵀφ(x′)| ≤ max_x (k(x, x) − ‖φ(x)‖²)``, which is measured at every point, not estimated.
"""

from dataclasses import dataclass, replace

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.errors import Check, InputError, never
from deconditioning.kernels.fused import Tiles
from deconditioning.kernels.low_rank import LowRank, incomplete_cholesky
from deconditioning.kernels.tiles import diagonal

#: Largest error of a kernel value of variance one.
BOUND = 1e-10
#: Points that Z is chosen from at first, drawn and at either end of every column; points above the bound join them, so
#: many at a time, so many times.
CANDIDATES, LEAST, _EXTREMES, _JOINING, ROUNDS = 5000, 300, 50, 1000, 5
#: Share of points above the bound at which another rank is needed, not a few more points.
_HOPELESS = 0.02
TILE = 2048


@dataclass(frozen=True)
class Certified:
    """``points`` Z (r, d), ``inverse`` T⁻¹ (r, r) and ``error``, the largest error of a kernel value at the inputs.

    T has no diagonal below the root of the bound, so its inverse costs no digit that the bound asks for.
    """

    kernel: gpytorch.kernels.Kernel
    points: Float[Tensor, "r d"]
    inverse: Float[Tensor, "r r"]
    error: float

    @property
    def rank(self) -> int:
        """r."""
        return len(self.points)

    def features(self, inputs: Float[Tensor, "n d"]) -> Float[Tensor, "r n"]:
        """``φ(x)`` as columns."""
        return self.inverse @ Tiles(self.kernel, self.points, inputs)(slice(None), slice(None))


def certify(
    kernel: gpytorch.kernels.Kernel, inputs: Float[Tensor, "n d"], most: int, *, check: Check = never
) -> Certified | None:
    """Few points whose features give every kernel value among ``inputs`` to ``BOUND``; None if ``most`` points do not
    suffice.

    Points are chosen by pivoted Cholesky among some of the inputs; inputs that violate the bound are added. Source:
    Fine and Scheinberg 2001 (pivots); the bound is Cauchy-Schwarz for the remainder.
    """
    if inputs.dtype != torch.float64:
        return None  # the bound lies below other rounding
    candidates = _candidates(inputs)
    with torch.no_grad():
        for _ in range(ROUNDS):
            check()
            low_rank = _pivots(kernel, candidates, most)
            if low_rank is None:
                return None
            identity = torch.eye(low_rank.rank, dtype=inputs.dtype, device=inputs.device)
            inverse = torch.linalg.solve_triangular(low_rank.triangle, identity, upper=False)
            known = Certified(kernel, candidates[low_rank.pivots], inverse, 0.0)
            if _share_above(known, inputs) > _HOPELESS:
                return None
            left = _left_out(known, inputs, check)
            worst = float(left.max())
            if worst <= BOUND:
                return replace(known, error=max(worst, 0.0))
            above = torch.nonzero(left > BOUND)[:, 0]
            order = left[above].argsort(descending=True)[:_JOINING]
            candidates = torch.cat([known.points, candidates, inputs[above[order]]])
    return None


def _candidates(inputs: Float[Tensor, "n d"]) -> Float[Tensor, "c d"]:
    """Some inputs drawn at random, and those at the ends of every column."""
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randperm(len(inputs), generator=generator)[: min(CANDIDATES, max(LEAST, len(inputs) // 10))]
    ends = min(_EXTREMES, len(inputs))
    outer = [values.topk(ends, largest=side).indices for values in inputs.T for side in (True, False)]
    return inputs[torch.cat([drawn.to(inputs.device), *outer]).unique()]


def _pivots(kernel: gpytorch.kernels.Kernel, candidates: Tensor, most: int) -> LowRank | None:
    try:
        low_rank = incomplete_cholesky(kernel, candidates, BOUND / len(candidates), most=most)
    except InputError:  # so many columns leave more than a hundredth out
        return None
    return low_rank if low_rank.residual * len(candidates) <= BOUND else None


def _share_above(known: Certified, inputs: Tensor) -> float:
    """Share of some of the inputs that the bound fails for: too many to join."""
    drawn = torch.randperm(len(inputs), generator=torch.Generator().manual_seed(1))[:CANDIDATES]
    return float((_left_out(known, inputs[drawn.to(inputs.device)], never) > BOUND).double().mean())


def _left_out(known: Certified, inputs: Tensor, check: Check) -> Float[Tensor, " n"]:
    """``k(x, x) − ‖φ(x)‖²``."""
    parts = []
    for tile in inputs.split(TILE):
        check()
        parts.append(diagonal(known.kernel, tile) - known.features(tile).square().sum(0))
    return torch.cat(parts)
