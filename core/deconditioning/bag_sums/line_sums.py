"""Exact bag sums on a line for kernels that are a polynomial times an exponential, by sorting, in O(N log N + N B).

Such a kernel is ``k(d) = Σ_q a_q d^q e^{−d}`` of the scaled distance, as are half-integer Matérn kernels. For ``x′ ≤ t
≤ x`` the distance splits, ``d = u + v`` with ``u = x − t`` and ``v = t − x′``, so all points left of ``t`` contribute
only through their moments ``M_q = Σ w v^q e^{−v}``. Moving ``t`` by ``δ ≥ 0`` is a recursion, ``M_q ← e^{−δ} Σ_p (q
over p) δ^{q−p} M_p``. All terms are positive, so nothing cancels. Source: Rasmussen and Williams 2006, eq. 4.16.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb

import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning.errors import Check, never
from deconditioning.kernels.families.family import Decay
from deconditioning.kernels.spec import Term

#: Consecutive points summed directly among themselves, cells taken at once, and rows read out at once.
_CELL, _CELLS, _ROWS = 32, 64, 1024


def decay_of(term: Term) -> Decay | None:
    """A term at unit scale as a polynomial times an exponential, where it is one."""
    return term.factors[0].kind.decay(term.factors[0]) if len(term.factors) == 1 else None


@dataclass(frozen=True)
class SortedLine:
    """Points of all bags by ascending value: ``values`` (N,), ``bag`` (N,), ``weights`` (N,), ``count`` bags."""

    values: Float[Tensor, " N"]
    bag: Int[Tensor, " N"]
    weights: Float[Tensor, " N"]
    count: int


def sort_line(
    values: Float[Tensor, " N"], bag: Int[Tensor, " N"], weights: Float[Tensor, " N"], count: int
) -> SortedLine:
    """The points of a line in ascending order."""
    order = torch.argsort(values, stable=True)
    return SortedLine(values[order], bag[order], weights[order], count)


def sorted_gram(line: SortedLine, kernel: Decay, check: Check = never) -> Float[Tensor, "B B"]:
    """``K̄_ij = Σ_{l∈i, r∈j} w_l w_r k(x_l, x_r)`` at unit variance.

    Points are taken in cells of ``_CELL`` neighbours: pairs inside a cell directly, pairs of different cells through
    the moments that the cells on the left send on.
    """
    z, bag, weights = _cells(line, kernel.rate)
    below = z.new_zeros(line.count, line.count)  # pairs of different cells, the row's point on the right
    within = z.new_zeros(line.count * line.count)
    sent, anchor = z.new_zeros(len(kernel.coefficients), 1, line.count), z[:1, 0]
    for begin in range(0, len(z), _CELLS):
        check()
        part = slice(begin, begin + _CELLS)
        _add_within(within, z[part], bag[part], weights[part], line.count, kernel)
        incoming, sent = _arriving(z[part], bag[part], weights[part], sent, anchor, kernel)
        anchor = z[part][-1:, -1]
        read = _readers(z[part] - z[part, :1], kernel) * weights[part]  # (q, cells, s)
        rows = torch.einsum("qcs,qcb->csb", read, incoming)
        below.index_add_(0, bag[part].flatten(), rows.reshape(-1, line.count))
    return below + below.T + within.reshape(line.count, line.count)


def _cells(line: SortedLine, scale: float) -> tuple[Tensor, Tensor, Tensor]:
    """Scaled values, bags and weights in rows of ``_CELL``; the last row is filled up with points of no weight."""
    pad = -len(line.values) % _CELL
    z = torch.cat([line.values, line.values[-1:].expand(pad)]) * scale
    bag = torch.cat([line.bag, line.bag.new_zeros(pad)])
    weights = torch.cat([line.weights, line.weights.new_zeros(pad)])
    return z.reshape(-1, _CELL), bag.reshape(-1, _CELL), weights.reshape(-1, _CELL)


def _arriving(
    z: Tensor, bag: Tensor, weights: Tensor, sent: Float[Tensor, "q 1 B"], anchor: Tensor, kernel: Decay
) -> tuple[Float[Tensor, "q c B"], Float[Tensor, "q 1 B"]]:
    """Moments of all that lies left of each cell, at its first point; and of all so far, at the last point.

    ``sent`` are the moments of the cells before these, anchored at ``anchor``.
    """
    terms, cells, count = len(kernel.coefficients), len(z), sent.shape[-1]
    index = torch.arange(cells, device=z.device)[:, None] * count + bag
    sums = z.new_zeros(terms, cells * count)
    sums.index_add_(1, index.flatten(), (_powers(z[:, -1:] - z, terms) * weights).reshape(terms, -1))
    moments = torch.cat([sent, sums.reshape(terms, cells, count)], dim=1)
    sources = torch.cat([anchor, z[:, -1]])
    goals = torch.cat([z[:, 0], z[-1:, -1]])
    step = (goals[:, None] - sources).clamp_min(0)
    before = torch.ones_like(step).tril()  # a cell hears the ones before it, the end hears all
    arrived = _moved(moments, step, torch.exp(-step) * before)
    return arrived[:, :-1], arrived[:, -1:]


def sorted_cross(
    line: SortedLine, kernel: Decay, points: Float[Tensor, " P"], check: Check = never
) -> Float[Tensor, "B P"]:
    """``c_j(x) = Σ_{i∈j} w_i k(x, x_i)`` at every point, at unit variance."""
    order = torch.argsort(points)
    at, z = points[order] * kernel.rate, line.values * kernel.rate
    mirrored = SortedLine(-line.values.flip(0), line.bag.flip(0), line.weights.flip(0), line.count)
    result = z.new_empty(line.count, len(points))
    for begin in range(0, len(at), _ROWS):
        check()
        rows = at[begin : begin + _ROWS]
        left = _one_side(line, z, rows, kernel, right=False)
        right = _one_side(mirrored, -z.flip(0), -rows.flip(0), kernel, right=True)
        result[:, order[begin : begin + _ROWS]] = (left + right.flip(0)).T
    return result


def _one_side(line: SortedLine, z: Tensor, at: Tensor, kernel: Decay, *, right: bool) -> Float[Tensor, "P B"]:
    """Sums over the points at or below each of ``at`` (strictly below for the mirrored side), both ascending."""
    terms, rows = len(kernel.coefficients), len(at)
    gap = torch.searchsorted(at, z, right=right)  # the first of `at` that sees the point
    below = gap < rows
    distance = at[gap.clamp_max(rows - 1)] - z
    index = (gap * line.count + line.bag)[below]
    moments = z.new_zeros(terms, rows * line.count)
    moments.index_add_(1, index, (_powers(distance, terms) * line.weights)[:, below])
    moments = moments.reshape(terms, rows, line.count)
    for row in range(1, rows):
        step = (at[row] - at[row - 1]).reshape(1, 1)
        moments[:, row : row + 1] += _moved(moments[:, row - 1 : row], step, torch.exp(-step))
    coefficients = z.new_tensor(kernel.coefficients)
    return torch.tensordot(coefficients, moments, dims=1)


def _powers(distance: Tensor, terms: int) -> Float[Tensor, "q *s"]:
    """``v^q e^{−v}``; distances are never negative."""
    decay = torch.exp(-distance)
    rows = [decay]
    for _ in range(terms - 1):
        rows.append(rows[-1] * distance)
    return torch.stack(rows)


def _moved(moments: Float[Tensor, "q j B"], step: Float[Tensor, "k j"], decay: Tensor) -> Float[Tensor, "q k B"]:
    """Sums over j of moments seen from anchors ``step`` further right, ``decay = e^{−step}`` where they count."""
    powers = [decay]
    for _ in moments[1:]:
        powers.append(powers[-1] * step)
    result = [decay @ moment for moment in moments]
    for q, total in enumerate(result):
        for p in range(q):
            total.add_(powers[q - p] @ moments[p], alpha=comb(q, p))
    return torch.stack(result)


def _readers(u: Tensor, kernel: Decay) -> Float[Tensor, "q *s"]:
    """What multiplies each moment at a point ``u`` right of the anchor: ``e^{−u} Σ_p a_p (p over q) u^{p−q}``."""
    terms = len(kernel.coefficients)
    rows = [[comb(p, q) * kernel.coefficients[p] for p in range(q, terms)] for q in range(terms)]
    return torch.stack([_polynomial(u, row) for row in rows]) * torch.exp(-u)


def _polynomial(u: Tensor, coefficients: Sequence[float]) -> Tensor:
    """``Σ_q a_q u^q`` by Horner's rule."""
    total = torch.full_like(u, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total = total.mul_(u).add_(coefficient)
    return total


def _add_within(total: Tensor, z: Tensor, bag: Tensor, weights: Tensor, count: int, kernel: Decay) -> None:
    """Add the pairs of points of the same cell, each cell a small dense matrix, to ``total`` (B²,)."""
    distance = (z[:, :, None] - z[:, None, :]).abs()
    value = _polynomial(distance, kernel.coefficients) * torch.exp(-distance)
    value *= weights[:, :, None] * weights[:, None, :]
    index = bag[:, :, None] * count + bag[:, None, :]
    total.index_add_(0, index.flatten(), value.flatten())
