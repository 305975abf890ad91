"""Smooth kernels that are products of kernels of separate columns, through products of those kernels' features.

``k = Π_p k_p`` and ``k_p(x, x′) ≈ ψ_p(x)ᵀψ_p(x′)`` give ``k(x, x′) ≈ Σ_{I∈S} Ψ_I(x) Ψ_I(x′)`` with ``Ψ_I = Π_p
ψ_{p,I_p}``. Every ``k_p − ψ_pᵀψ_p`` is itself a kernel, and so is what S leaves out: an error is bounded by the
remainder at x, ``k(x, x) − Σ_{I∈S} Ψ_I(x)²``, which is measured at every point. Products cost a multiplication each,
where as many points of a kernel of all columns cost their square.
"""

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial, reduce

import gpytorch
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from deconditioning.bag_sums.low_rank.certified import BOUND, ROUNDS, TILE, Certified, certify, certify_among, some_of
from deconditioning.bag_sums.low_rank.sorted_pixels import add_sorted
from deconditioning.errors import Check, never
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.kernels.tiles import diagonal, evaluate
from deconditioning.linalg import eigen
from deconditioning.observations import Bags

#: Most features of one part; shares of the bound for what each part leaves out, for products looked at (at first, and
#: what is taken of it in each further round) and for those that are dropped; inputs above the bound that join those by
#: which S is chosen.
_MOST, _PART, _LOOKED, _SHRINK, _DROPPED, _JOINING = 256, 0.05, 0.01, 0.25, 0.5, 200
#: Eigenvalues that are nothing but rounding, as a share of the largest.
_ROUNDING = 1e-14
#: What sorting leaves of the multiplications that a product costs at a pixel.
SORTED = 0.5
#: Products looked at for each that is afforded.
_BESIDE = 3
_FEW = 512


@dataclass(frozen=True)
class Separable:
    """``first`` ψ of the part with the most features, ``others`` those of the rest; ``rows`` (n, parts − 1) their
    products that occur; S as ``chosen`` (m, n): which features of the first are multiplied by which of these.

    ``column`` is the first part's column of the inputs, ``error`` the largest remainder measured.
    """

    kernel: gpytorch.kernels.Kernel
    first: Certified
    others: tuple[Certified, ...]
    rows: Int[Tensor, "n q"]
    chosen: Bool[Tensor, "m n"]
    column: int
    error: float

    @property
    def rank(self) -> int:
        """Number of products in S."""
        return int(self.chosen.sum())

    def cost(self, bags: int) -> float:
        """Multiplications a pixel; sorting saves more than half of them."""
        return SORTED * bags * self.rank

    def sides(self, inputs: Float[Tensor, "N d"]) -> tuple[Float[Tensor, "m N"], Float[Tensor, "n N"]]:
        """The first part's features, and the products of the others'."""
        return self.first.features(inputs), _products([part.features(inputs) for part in self.others], self.rows)

    def features(self, inputs: Float[Tensor, "N d"]) -> Float[Tensor, "r N"]:
        """``Ψ(x)`` as columns."""
        first, rest = self.sides(inputs)
        left, right = self.chosen.nonzero(as_tuple=True)
        return first[left].mul_(rest[right])

    def left_out(self, inputs: Float[Tensor, "N d"]) -> Float[Tensor, " N"]:
        """``k(x, x) − ‖Ψ(x)‖²``."""
        first, rest = self.sides(inputs)
        squares = self.chosen.to(first) @ rest.square_()
        return diagonal(self.kernel, inputs) - squares.mul_(first.square_()).sum(0)

    def bag_means(self, bags: Bags, check: Check = never) -> Float[Tensor, "B r"]:
        """The bag means of Ψ: a product of matrices for each bag."""
        order, means = torch.argsort(bags.bag, stable=True), bags.inputs.new_zeros(bags.count, self.rank)
        counts = torch.bincount(bags.bag, minlength=bags.count).tolist()
        for bag, rows in enumerate(order.split(counts)):
            check()
            first, rest = self.sides(bags.inputs[rows])
            means[bag] = (first.mul_(bags.weights[rows]) @ rest.T)[self.chosen]
        return means

    def add_sums(
        self, total: Float[Tensor, "B P"], means: Float[Tensor, "B r"], inputs: Float[Tensor, "P d"], scale: float,
        check: Check,
    ) -> None:  # fmt: skip
        """Add ``scale · means Ψ(x)`` at every input to ``total``."""
        whole = means.new_zeros(len(means), *self.chosen.shape)
        whole[:, self.chosen] = means
        add_sorted(total, whole, inputs, self.column, self.sides, scale, check)

    def to(self, device: torch.device) -> "Separable":
        """The same on another device."""
        first, *others = (part.to(device) for part in (self.first, *self.others))
        kernel, rows, chosen = deepcopy(self.kernel).to(device), self.rows.to(device), self.chosen.to(device)
        return replace(self, kernel=kernel, first=first, others=tuple(others), rows=rows, chosen=chosen)


def separate_columns(term: Term) -> list[Term]:
    """The kernels of separate columns whose product a term is, at unit scale."""
    pieces: list[Factor] = []
    for factor in term.factors:
        if factor.kind.columnwise:
            scales = factor.lengthscale_of
            each = ((name, (scales[name],) if scales else ()) for name in factor.columns)
            pieces += [replace(factor, columns=(name,), lengthscales=scale) for name, scale in each]
        else:
            pieces.append(factor)
    groups: list[list[Factor]] = []
    for piece in pieces:
        joined = [group for group in groups if any(set(piece.columns) & set(other.columns) for other in group)]
        groups = [group for group in groups if group not in joined] + [[*(f for g in joined for f in g), piece]]
    return [Term(tuple(group)) for group in groups]


def certify_separable(
    term: Term, names: tuple[str, ...], inputs: Float[Tensor, "N d"], most: int, *, check: Check = never
) -> Separable | None:
    """Products of features that give every kernel value among ``inputs`` to ``BOUND``, at unit scale; None if the
    term is not such a product or where ``most`` of them do not suffice.
    """
    terms = separate_columns(term)
    if len(terms) < 2 or inputs.dtype != torch.float64:
        return None
    with torch.no_grad():
        candidates = some_of(inputs)
        if not _are_enough(terms, names, candidates, most):
            return None
        parts = _parts(terms, names, inputs, most, partial(certify, check=check))
        if parts is None:
            return None
        kernel = KernelSpec((replace(term, scale=1.0),)).build(names).to(inputs.device)
        column = names.index(parts[0][0].factors[0].columns[0])
        factors = [part for _, part in parts]
        for turn in range(ROUNDS):
            check()
            index = _choose(factors, candidates, most, _LOOKED * _SHRINK**turn)
            if index is None:
                return None
            known = Separable(kernel, factors[0], tuple(factors[1:]), *_table(index, factors[0].rank), column, 0.0)
            left = torch.cat([known.left_out(tile) for tile in inputs.split(TILE)])
            if float(left.max()) <= 0.9 * BOUND:  # sorting may leave a tenth out
                return replace(known, error=max(float(left.max()), 0.0))
            candidates = torch.cat([candidates, inputs[left.topk(min(_JOINING, len(left))).indices]])
    return None


def _are_enough(terms: list[Term], names: tuple[str, ...], candidates: Tensor, most: int) -> bool:
    """Whether so many products suffice for the candidates: cheap to see, before all inputs are looked at."""
    parts = _parts(terms, names, candidates, most, certify_among)
    return parts is not None and _choose([part for _, part in parts], candidates, most, _LOOKED) is not None


def _parts(
    terms: list[Term], names: tuple[str, ...], inputs: Tensor, most: int, certified: Callable[..., Certified | None]
) -> list[tuple[Term, Certified]] | None:
    """Features of every part, that with the most of them first; None if one has too many."""
    kernels = [KernelSpec((term,)).build(names).to(inputs.device) for term in terms]
    largest = [max(float(diagonal(kernel, inputs).max()), 1e-300) for kernel in kernels]
    result = []
    for term, kernel, size in zip(terms, kernels, largest, strict=True):
        bound = _PART * BOUND * size / math.prod(largest)
        part = certified(kernel, inputs, min(most, _MOST), bound=bound)
        if part is None:
            return None
        result.append((term, _by_size(part)))
    return sorted(result, key=lambda pair: -pair[1].rank)


def _by_size(part: Certified) -> Certified:
    """The same features rotated, so that they are as small as possible as soon as possible: ``Λ^{-½}Uᵀ k(Z, x)`` with
    ``K_ZZ = U Λ Uᵀ``, largest eigenvalue first."""
    values, vectors = eigen(evaluate(part.kernel, part.points, part.points), "kernel matrix of the points")
    positive = values > _ROUNDING * values[0]
    return replace(part, inverse=(vectors[:, positive] / values[positive].sqrt()).T.contiguous())


def _products(features: list[Tensor], rows: Int[Tensor, "n q"]) -> Float[Tensor, "n N"]:
    return reduce(torch.mul, (each[rows[:, part]] for part, each in enumerate(features)))


def _choose(
    parts: list[Certified], candidates: Float[Tensor, "c d"], most: int, looked: float
) -> Int[Tensor, "r p"] | None:
    """The products S, one row each, of those above the share ``looked`` of the bound: all others of these together are
    small at every candidate. None if they are too many."""
    features = [part.features(candidates) for part in parts]
    largest = [each.square().amax(1) for each in features]
    index = _above(largest, looked * BOUND, (1 + _BESIDE) * most)
    if index is None:
        return None
    tiles = [[each[:, begin : begin + _FEW] for each in features] for begin in range(0, len(candidates), _FEW)]
    order = reduce(torch.maximum, (_products(tile, index).square_().amax(1) for tile in tiles)).argsort()
    dropped = reduce(
        torch.maximum, (_products(tile, index[order]).square_().cumsum(0).amax(1) for tile in tiles)
    )  # fmt: skip
    chosen = index[order[int((dropped <= _DROPPED * BOUND).sum()) :]]
    return chosen if 0 < len(chosen) <= most else None


def _above(largest: list[Float[Tensor, " _"]], least: float, most: int) -> Int[Tensor, "r p"] | None:
    """All products of features whose largest squares have a product above ``least``; None if more than ``most``."""
    index, size = torch.zeros(1, 0, dtype=torch.long, device=largest[0].device), largest[0].new_ones(1)
    for part, size_of_part in enumerate(largest):
        later = math.prod(float(each.max()) for each in largest[part + 1 :])
        left, right = (size[:, None] * size_of_part * later > least).nonzero(as_tuple=True)
        if len(left) > most:
            return None
        index, size = torch.cat([index[left], right[:, None]], dim=1), size[left] * size_of_part[right]
    return index


def _table(index: Int[Tensor, "r p"], first: int) -> tuple[Int[Tensor, "n q"], Bool[Tensor, "m n"]]:
    """S as ``rows`` and ``chosen`` of `Separable`, with so many features of the first part."""
    rows, column = index[:, 1:].unique(dim=0, return_inverse=True)
    chosen = torch.zeros(first, len(rows), dtype=torch.bool, device=index.device)
    chosen[index[:, 0], column] = True
    return rows, chosen
