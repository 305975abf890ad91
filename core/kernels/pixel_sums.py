"""Bag sums at every pixel of a picture, ``c_j(x)``, and with them K̄: one pass, by the cheapest exact route.

A sum of kernels gives a sum of means, so every term is summed apart, at unit scale: moving an amplitude, λ or a
noise costs no kernel evaluation at all, moving a lengthscale only its own term.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from core.kernels.bag_mean import Check, _chunk, never
from core.kernels.blocks import sort_bags
from core.kernels.interpolation import interpolate_kernel
from core.kernels.offsets import GridLayout, offset_sums, suits
from core.kernels.spec import KernelSpec, Term
from core.kernels.tiles import diagonal, evaluate
from core.observations import Bags

_SMOOTH = {"rbf", "rational_quadratic", "periodic", "linear"}
TILE = 1 << 20


@dataclass(frozen=True)
class Picture:
    """The points to predict at, with the bags among them.

    ``inputs`` (P, d), ``names`` of its columns, ``bags`` with ``points`` (N,): which row of ``inputs`` each row of
    the bags is; ``layout`` where the points lie on a regular grid.
    """

    inputs: Float[Tensor, "P d"]
    names: tuple[str, ...]
    bags: Bags
    points: Int[Tensor, " N"]
    layout: GridLayout | None = None


@dataclass(frozen=True)
class TermSums:
    """Sums of one term at unit scale: ``cross`` c (B, P), ``gram`` K̄ (B, B), ``prior`` k(x, x) (P,), and the route."""

    cross: Float[Tensor, "B P"]
    gram: Float[Tensor, "B B"]
    prior: Float[Tensor, " P"]
    route: str


def term_sums(term: Term, picture: Picture, *, check: Check = never) -> TermSums:
    """Bag sums of one term (its scale ignored), by block offsets, Chebyshev interpolation or direct summation."""
    unit = KernelSpec((Term(term.factors),))
    kernel = unit.build(picture.names).to(picture.inputs.device)
    with torch.no_grad():
        route, cross = _cross(unit, kernel, picture, check)
        gram = _aggregate(cross, picture)
        return TermSums(cross, gram, diagonal(kernel, picture.inputs), route)


def is_cheap(term: Term, picture: Picture) -> bool:
    """Whether a term's sums need no pass over pairs of pixels (block offsets, or one smooth column)."""
    return suits(term, picture.names, picture.layout) or _one_smooth_column(term)


def _one_smooth_column(term: Term) -> bool:
    columns = {name for factor in term.factors for name in factor.columns}
    return len(columns) == 1 and all(factor.family in _SMOOTH for factor in term.factors)


def _cross(unit: KernelSpec, kernel, picture: Picture, check: Check) -> tuple[str, Tensor]:
    term = unit.terms[0]
    check()
    if suits(term, picture.names, picture.layout) and picture.layout is not None:
        found = offset_sums(kernel, picture.bags, picture.layout, picture.points, picture.inputs.shape[1])
        if found is not None:
            return "block offsets", found
    if _one_smooth_column(term):
        found = _interpolated(kernel, picture, picture.names.index(term.factors[0].columns[0]))
        if found is not None:
            return "Chebyshev interpolation", found
    return "direct summation", _direct(kernel, picture, check)


def _interpolated(kernel, picture: Picture, column: int) -> Tensor | None:
    width = picture.inputs.shape[1]

    def line(left: Tensor, right: Tensor) -> Tensor:
        wide = [torch.zeros(len(v), width, dtype=v.dtype, device=v.device) for v in (left, right)]
        for points, values in zip(wide, (left, right), strict=True):
            points[:, column] = values[:, 0]
        return evaluate(kernel, *wide)

    found = interpolate_kernel(line, picture.inputs[:, column])
    if found is None:
        return None
    weights = found.weights(picture.inputs[:, column])
    bag_weights = picture.bags.mean(weights[picture.points])
    return bag_weights @ found.gram @ weights.T


def _direct(kernel, picture: Picture, check: Check) -> Tensor:
    """Every pair once: the block of bag points among themselves by its upper triangle, the rest in chunks."""
    bags = sort_bags(picture.bags)
    where = picture.points[bags.order]
    cross = picture.inputs.new_empty(picture.bags.count, len(picture.inputs))
    member = torch.zeros(len(picture.inputs), dtype=torch.bool, device=where.device)
    member[where] = True
    rest = torch.nonzero(~member)[:, 0]
    for i, block in enumerate(bags.blocks):
        weights, points, own = bags.membership(block), bags.inputs(block), where[block.start : block.stop]
        rows = slice(block.first, block.last)
        for j, other in enumerate(bags.blocks[i:]):
            check()
            part = evaluate(kernel, points, bags.inputs(other))
            cross[rows, where[other.start : other.stop]] = weights @ part
            if j:
                cross[other.first : other.last, own] = bags.membership(other) @ part.T
        for chunk in rest.split(_chunk(len(points), TILE)):
            check()
            cross[rows, chunk] = weights @ evaluate(kernel, points, picture.inputs[chunk])
    return cross


def _aggregate(cross: Tensor, picture: Picture) -> Float[Tensor, "B B"]:
    """``K̄_ij = Σ_{r∈j} w_r c_i(x_r)``: the bag means of the sums themselves, symmetrised against rounding."""
    bags = picture.bags
    entries = torch.stack([bags.bag, picture.points])
    shape = (bags.count, len(picture.inputs))
    spread = torch.sparse_coo_tensor(entries, bags.weights, shape, check_invariants=True).coalesce()
    gram = torch.sparse.mm(spread, cross.T)
    return 0.5 * (gram + gram.T)
