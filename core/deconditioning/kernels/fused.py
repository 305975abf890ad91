"""Many tiles of one kernel matrix, with points prepared once, reused buffers and as few passes over a tile as possible.

Squared distances come from one matrix product; the exponents of all factors of a term are added before one exponential.
float64 agrees with ``evaluate`` up to rounding; float32 is for previews.
"""

import threading

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.kernels.families.family import Family
from deconditioning.kernels.families.gaussian import Gaussian
from deconditioning.kernels.families.linear import Linear
from deconditioning.kernels.families.radial import Radial, distances
from deconditioning.kernels.tiles import evaluate

#: Squared norm, in lengthscales, above which a product leaves distances fewer digits than differences do.
_FAR = 100.0


class Tiles:
    """Tiles ``k(left[rows], right[columns])`` of a kernel made by ``KernelSpec.build``.

    ``left`` (n, d), ``right`` (m, d); ``precision`` is the dtype of the tiles; no gradient. Matrix products lose digits
    of the distances between far points, so both sides are centred on the mean of ``left``; points in a tile should be
    neighbours.
    """

    def __init__(
        self,
        kernel: gpytorch.kernels.Kernel,
        left: Float[Tensor, "n d"],
        right: Float[Tensor, "m d"],
        precision: torch.dtype = torch.float64,
    ) -> None:
        self._left, self._right, self._precision = left, right, precision
        self._parameters = threading.local()
        fused = [term for term in kernel.kernels if _is_fused([f.family for f in term.base_kernel.kernels])]
        self._terms = [_Term(term, left, right, precision) for term in fused]
        others = [term for term in kernel.kernels if term not in fused]
        self._rest = gpytorch.kernels.AdditiveKernel(*others) if others else None

    def __call__(self, rows: slice, columns: slice) -> Float[Tensor, "n m"]:
        """One tile; it is overwritten by the next of the same thread."""
        with torch.no_grad():
            rest = None
            if self._rest is not None:
                rest = evaluate(self._rest, self._left[rows], self._right[columns]).to(self._precision)
                if not self._terms:
                    return rest
            shape = (len(self._left[rows]), len(self._right[columns]))
            total, exponent, radius = (self._buffer(k, shape) for k in range(3))
            for number, term in enumerate(self._terms):
                part = term.values(rows, columns, exponent if number else total, radius)
                if number:
                    total.add_(part, alpha=term.scale)
                elif term.scale != 1:
                    total.mul_(term.scale)
            return total if rest is None else total.add_(rest)

    def _buffer(self, number: int, shape: tuple[int, int]) -> Tensor:
        size = shape[0] * shape[1]
        buffers = self._parameters.__dict__.setdefault("buffers", {})
        if number not in buffers or buffers[number].numel() < size:
            buffers[number] = self._left.new_empty(size, dtype=self._precision)
        return buffers[number][:size].view(shape)


def _is_fused(families: list[Family]) -> bool:
    """Whether a term is a product of radial factors, perhaps times linear ones."""
    return all(isinstance(each, Radial | Linear) for each in families) and any(
        isinstance(each, Radial) for each in families
    )


class _Term:
    """One term: the exponent of all its Gaussian factors from one product, those of other families apart; then the
    products of linear factors.
    """

    def __init__(self, term: gpytorch.kernels.Kernel, left: Tensor, right: Tensor, precision: torch.dtype) -> None:
        self.scale = float(term.outputscale.detach())
        gaussian: list[tuple[Tensor, Tensor]] = []
        self._others: list[_Exponent] = []
        self._lines: list[tuple[Tensor, Tensor]] = []
        for factor in term.base_kernel.kernels:
            if isinstance(factor.family, Linear):
                sides = [factor.family.features(factor, each).detach().to(precision) for each in (left, right)]
                self._lines.append((sides[0], sides[1].T.contiguous()))
        centre = left.mean(0)
        left, right = left - centre, right - centre
        for factor in (each for each in term.base_kernel.kernels if isinstance(each.family, Radial)):
            lengthscale = factor.lengthscale.detach().reshape(1, -1)
            scaled = left[:, factor.active_dims] / lengthscale, right[:, factor.active_dims] / lengthscale
            if isinstance(factor.family, Gaussian):
                gaussian.append(scaled)
            else:
                self._others.append(_Exponent(factor, *scaled, precision))
        self._gaussian = None
        if gaussian:
            lefts, rights = zip(*gaussian, strict=True)
            weight = -Gaussian().weight(())
            self._gaussian = _product_form(torch.cat(lefts, dim=1), torch.cat(rights, dim=1), weight, precision)

    def values(self, rows: slice, columns: slice, out: Tensor, scratch: Tensor) -> Tensor:
        """The tile at unit scale, in ``out``."""
        begun = self._gaussian is not None
        if self._gaussian is not None:
            torch.mm(self._gaussian[0][rows], self._gaussian[1][:, columns], out=out)
        polynomial: Tensor | None = None
        for factor in self._others:
            exponent = factor.exponent(rows, columns, scratch if polynomial is None else None)
            if begun:
                out.sub_(exponent)
            else:
                torch.neg(exponent, out=out)
            begun = True
            grown = factor.polynomial(exponent)
            if grown is not None:
                polynomial = grown if polynomial is None else polynomial.mul_(grown)
        out.exp_()
        if polynomial is not None:
            out.mul_(polynomial)
        for lefts, rights in self._lines:
            out.mul_(torch.mm(lefts[rows], rights[:, columns], out=scratch))
        return out


class _Exponent:
    """The exponent of one factor, from a product of matrices or, where that would lose digits, from differences."""

    def __init__(self, factor: gpytorch.kernels.Kernel, left: Tensor, right: Tensor, precision: torch.dtype) -> None:
        family: Radial = factor.family
        self._family = family
        self._parameters = [float(parameter.read(factor).detach()) for parameter in family.parameters]
        weight = family.weight(self._parameters)
        far = precision == torch.float64 and float(left.square().sum(1).max()) > _FAR
        self._differences = family.pointed or (family.rooted and far)
        if self._differences:
            self._left, self._right = (weight**0.5 * left).to(precision), (weight**0.5 * right).to(precision)
        else:
            self._left, self._right = _product_form(left, right, weight, precision)

    def exponent(self, rows: slice, columns: slice, scratch: Tensor | None) -> Tensor:
        """e, in ``scratch`` where it is given and of use."""
        if self._differences:
            at = distances(self._left[rows], self._right[columns])
        else:
            at = torch.mm(self._left[rows], self._right[:, columns], out=scratch).clamp_min_(0)
            at = at.sqrt_() if self._family.rooted else at
        return self._family.exponent(at, self._parameters)

    def polynomial(self, exponent: Tensor) -> Tensor | None:
        """What the exponential is multiplied by; ``exponent`` is overwritten."""
        return self._family.polynomial(exponent, self._parameters)


def _product_form(left: Tensor, right: Tensor, weight: float, precision: torch.dtype) -> tuple[Tensor, Tensor]:
    """Two matrices whose product is ``weight ‖u − v‖²``: ``[u, ‖u‖², 1] · [−2v, 1, ‖v‖²]ᵀ`` times the weight."""
    one_left, one_right = torch.ones_like(left[:, :1]), torch.ones_like(right[:, :1])
    first = torch.cat([left, left.square().sum(1, keepdim=True), one_left], dim=1)
    second = torch.cat([-2 * right, one_right, right.square().sum(1, keepdim=True)], dim=1) * weight
    return first.to(precision), second.T.contiguous().to(precision)
