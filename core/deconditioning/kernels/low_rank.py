"""Low-rank factors of Gram matrices by pivoted incomplete Cholesky, with their error."""

from dataclasses import dataclass
from functools import cached_property

import gpytorch
import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning import linalg
from deconditioning.errors import InputError
from deconditioning.kernels.tiles import diagonal, evaluate

#: Above this share of the trace left out, an approximation is refused.
_MOST_LEFT_OUT = 1e-2
#: Columns of a kernel on more columns than this are taken from the whole matrix, as long as it is no larger than that:
#: one product of matrices costs less than many passes over wide inputs.
_WIDE, WHOLE = 100, 4000


@dataclass(frozen=True)
class LowRank:
    """``G ≈ C Cᵀ``: ``factor`` C (n, r), ``pivots`` (r,) the rows that it interpolates, ``residual`` the omitted share
    of the trace, ``tr(G − CCᵀ)/tr G``.

    ``triangle`` (r, r) is the part of C at the pivots; a further point p has the row ``k(p, pivots) triangle⁻ᵀ``.
    """

    factor: Float[Tensor, "n r"]
    pivots: Int[Tensor, " r"]
    triangle: Float[Tensor, "r r"]
    residual: float

    @property
    def rank(self) -> int:
        """The rank r."""
        return self.factor.shape[1]

    def extend(self, kernel: gpytorch.kernels.Kernel, inputs: Tensor, points: Tensor) -> Float[Tensor, "p r"]:
        """Rows of the factor for further points, by Nyström on the pivots; ``inputs`` are those of the factor."""
        with torch.no_grad():
            cross = evaluate(kernel, inputs[self.pivots], points)
            return torch.linalg.solve_triangular(self.triangle, cross, upper=False).T


def incomplete_cholesky(
    kernel: gpytorch.kernels.Kernel, inputs: Float[Tensor, "n d"], tolerance: float = 1e-4, most: int | None = None
) -> LowRank:
    """Pivoted incomplete Cholesky until the residual trace is at most ``tolerance`` of the whole, O(n r²).

    Each step chooses the row with the largest remaining diagonal. Raises ``InputError`` if ``most`` columns omit more
    than 1 %. Source: Fine and Scheinberg 2001; Fukumizu et al. 2013, §4.2.
    """
    with torch.no_grad():
        left = diagonal(kernel, inputs).clone()
        total, count = float(left.sum()), len(inputs)
        most = count if most is None else min(most, count)
        factor = left.new_zeros(count, most)
        wide = inputs.shape[1] > _WIDE and count <= WHOLE
        whole = evaluate(kernel, inputs, inputs) if wide else None
        pivots: list[int] = []
        while len(pivots) < most and float(left.sum()) > tolerance * total:
            pivot, rank = int(left.argmax()), len(pivots)
            if not float(left[pivot]) > 1e-15 * total / count:
                break  # the rest is rounding
            column = whole[pivot] if whole is not None else evaluate(kernel, inputs[pivot : pivot + 1], inputs)[0]
            column = column - factor[:, :rank] @ factor[pivot, :rank]
            factor[:, rank] = column / column[pivot].sqrt()
            left = (left - factor[:, rank].square()).clamp_min(0)
            left[pivot] = 0
            pivots.append(pivot)
        residual = float(left.sum()) / total
        if residual > max(_MOST_LEFT_OUT, tolerance):
            raise InputError(
                f"A rank of {most} omits {100 * residual:.1f} % of the kernel matrix, more than "
                f"{100 * _MOST_LEFT_OUT:.0f} %: allow a higher rank, or lengthen the kernel."
            )
        chosen = torch.tensor(pivots, dtype=torch.long, device=inputs.device)
        factor = factor[:, : len(pivots)].clone()
        return LowRank(factor, chosen, factor[chosen].tril(), residual)


@dataclass(frozen=True)
class RidgeInverse:
    """``(CCᵀ + aI)⁻¹ = (I − C(CᵀC + aI)⁻¹Cᵀ)/a`` (Woodbury); ``root`` C (n, r), ``amount`` a > 0."""

    root: Float[Tensor, "n r"]
    amount: float
    name: str

    @cached_property
    def inner(self) -> linalg.Factor:
        """Factor of ``CᵀC + aI`` (r, r)."""
        identity = linalg.identity(self.root.shape[1], self.root)
        return linalg.cholesky_exact(self.root.T @ self.root + self.amount * identity, self.name)

    def solve(self, values: Float[Tensor, "n *k"]) -> Float[Tensor, "n *k"]:
        """``(CCᵀ + aI)⁻¹ v``."""
        return (values - self.root @ self.inner.solve(self.root.T @ values)) / self.amount
