"""Many tiles of one kernel matrix: points prepared once, buffers used again, as few passes over a tile as there can be.

Squared distances come from one product of matrices, exponents of all factors of a term add up before one exponential.
float64 agrees with ``evaluate`` to rounding; float32 is for previews.
"""

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor

from core.kernels.tiles import evaluate

_SMOOTH = (gpytorch.kernels.RBFKernel, gpytorch.kernels.RQKernel)


class Tiles:
    """Tiles ``k(left[rows], right[columns])`` of a kernel made by ``KernelSpec.build``.

    ``left`` (n, d), ``right`` (m, d); ``precision`` of the tiles; no gradient. Distances to the squares of far points
    lose digits, so both sides are taken relative to the mean of ``left``: keep it to neighbouring points.
    """

    def __init__(
        self,
        kernel: gpytorch.kernels.Kernel,
        left: Float[Tensor, "n d"],
        right: Float[Tensor, "m d"],
        precision: torch.dtype = torch.float64,
    ) -> None:
        self._kernel, self._left, self._right, self._precision = kernel, left, right, precision
        self._buffers: list[Tensor] = []
        self._terms = None
        if getattr(kernel, "feature_map", None) is None and all(map(_is_fused, _factors(kernel))):
            centre = left.mean(0)
            self._terms = [_Term(term, left - centre, right - centre, precision) for term in kernel.kernels]

    def __call__(self, rows: slice, columns: slice) -> Float[Tensor, "n m"]:
        """One tile; it is overwritten by the next."""
        with torch.no_grad():
            if self._terms is None:
                return evaluate(self._kernel, self._left[rows], self._right[columns]).to(self._precision)
            shape = (len(self._left[rows]), len(self._right[columns]))
            total, exponent, radius = (self._buffer(k, shape) for k in range(3))
            for number, term in enumerate(self._terms):
                part = term.values(rows, columns, exponent if number else total, radius)
                if number:
                    total.add_(part, alpha=term.scale)
                elif term.scale != 1:
                    total.mul_(term.scale)
            return total

    def _buffer(self, number: int, shape: tuple[int, int]) -> Tensor:
        size = shape[0] * shape[1]
        while len(self._buffers) <= number:
            self._buffers.append(self._left.new_empty(0, dtype=self._precision))
        if self._buffers[number].numel() < size:
            self._buffers[number] = self._left.new_empty(size, dtype=self._precision)
        return self._buffers[number][:size].view(shape)


def _factors(kernel: gpytorch.kernels.Kernel) -> list[gpytorch.kernels.Kernel]:
    return [factor for term in kernel.kernels for factor in term.base_kernel.kernels]


def _is_fused(factor: gpytorch.kernels.Kernel) -> bool:
    """Whether a squared distance with rounding gives the factor to rounding: not so where its root is a cusp."""
    return isinstance(factor, _SMOOTH) or (isinstance(factor, gpytorch.kernels.MaternKernel) and factor.nu > 0.5)


class _Term:
    """One term: the exponent of all its Gaussian factors from one product, Matérn and rational quadratic ones apart."""

    def __init__(self, term: gpytorch.kernels.Kernel, left: Tensor, right: Tensor, precision: torch.dtype) -> None:
        self.scale = float(term.outputscale.detach())
        gaussian: list[tuple[Tensor, Tensor]] = []
        self._others: list[tuple[gpytorch.kernels.Kernel, Tensor, Tensor]] = []
        for factor in term.base_kernel.kernels:
            lengthscale = factor.lengthscale.detach().reshape(1, -1)
            sides = left[:, factor.active_dims] / lengthscale, right[:, factor.active_dims] / lengthscale
            if isinstance(factor, gpytorch.kernels.RBFKernel):
                gaussian.append(sides)
            else:
                self._others.append((factor, *_product_form(*sides, _weight(factor), precision)))
        self._gaussian = None
        if gaussian:
            lefts, rights = zip(*gaussian, strict=True)
            self._gaussian = _product_form(torch.cat(lefts, dim=1), torch.cat(rights, dim=1), -0.5, precision)

    def values(self, rows: slice, columns: slice, out: Tensor, radius: Tensor) -> Tensor:
        """The tile at unit scale, in ``out``; ``radius`` is scratch."""
        if self._gaussian is not None:
            torch.mm(self._gaussian[0][rows], self._gaussian[1][:, columns], out=out)
        else:
            out.zero_()
        polynomial: Tensor | None = None
        for factor, left, right in self._others:
            torch.mm(left[rows], right[:, columns], out=radius).clamp_min_(0)
            if isinstance(factor, gpytorch.kernels.RQKernel):
                out.sub_(radius.log1p_(), alpha=float(factor.alpha.detach()))
                continue
            out.sub_(radius.sqrt_())
            grown = 1 + radius if factor.nu == 1.5 else torch.addcmul(1 + radius, radius, radius, value=1 / 3)
            polynomial = grown if polynomial is None else polynomial.mul_(grown)
        out.exp_()
        return out if polynomial is None else out.mul_(polynomial)


def _weight(factor: gpytorch.kernels.Kernel) -> float:
    """What a squared distance is multiplied with inside a Matérn or rational quadratic kernel."""
    return 2 * factor.nu if isinstance(factor, gpytorch.kernels.MaternKernel) else 0.5 / float(factor.alpha.detach())


def _product_form(left: Tensor, right: Tensor, weight: float, precision: torch.dtype) -> tuple[Tensor, Tensor]:
    """Two matrices whose product is ``weight ‖u − v‖²``: ``[u, ‖u‖², 1] · [−2v, 1, ‖v‖²]ᵀ`` times the weight."""
    one_left, one_right = torch.ones_like(left[:, :1]), torch.ones_like(right[:, :1])
    first = torch.cat([left, left.square().sum(1, keepdim=True), one_left], dim=1)
    second = torch.cat([-2 * right, one_right, right.square().sum(1, keepdim=True)], dim=1) * weight
    return first.to(precision), second.T.contiguous().to(precision)
