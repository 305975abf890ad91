"""Isotropic kernels of the coordinates at any hyperparameters: K̄ from a table of distances made once per grid.

``K̄_ij = Σ_{l∈i, r∈j} w_l w_r φ(d_lr)`` is ``Σ_ρ T_gρ φ(ρ)`` over fixed radii ρ, where g indexes the classes of
equivalent pairs of bags. Every distance is distributed over the nearest log-spaced radii with Lagrange weights, so φ is
interpolated in log r; a lengthscale only shifts log r, so the error does not depend on it. Zero is treated separately.
This is for learning, where a gradient costs one more product; conditioning uses the exact algorithms. Source of the
weights: Berrut and Trefethen 2004, *Barycentric Lagrange interpolation*, §2.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, factorial, log

import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning.bag_sums.offsets import find_boxes, kinds_of
from deconditioning.bag_sums.routes import Layout
from deconditioning.errors import Check, never
from deconditioning.observations import Bags

#: Largest error of a kernel value of variance one, for the families that this route is open to.
ERROR = 1e-8
#: Radii per factor e, and how many of them a distance is shared out to: degree 7.
DENSITY, NODES = 20, 8
#: Distances that are zero but for rounding, as share of the largest.
ZERO = 1e-12
#: Entries a table may have (160 MB), and distances looked at at once, which stay in a core's cache.
MOST_ENTRIES, _AT_ONCE = 20_000_000, 1 << 16
#: Groups looked at, of those farthest apart and of the nearest, before all of them are.
_EXTREMES = 8


@dataclass(frozen=True)
class RadialTable:
    """``radii`` ρ (R,), ``table`` T (G, 1 + R) whose first column belongs to distance zero, ``group`` (B, B)."""

    radii: Float[Tensor, " R"]
    table: Float[Tensor, "G columns"]
    group: Int[Tensor, "B B"]

    def gram(self, values: Float[Tensor, " R"]) -> Float[Tensor, "B B"]:
        """``K̄`` of a kernel with these values at the radii and one at zero; differentiable in the values."""
        pairs = torch.addmv(self.table[:, 0], self.table[:, 1:], values)
        return pairs[self.group]

    def only(self, bags: Int[Tensor, " m"]) -> "RadialTable":
        """The table of these bags alone, in that order."""
        used, group = torch.unique(self.group[bags][:, bags], return_inverse=True)
        return RadialTable(self.radii, self.table[used], group)


@dataclass(frozen=True)
class _Pairs:
    """One pair of bags of each group: ``first`` and ``second`` pattern (G,), their corners, the patterns (k, h, w)."""

    first: Int[Tensor, " G"]
    second: Int[Tensor, " G"]
    top: Int[Tensor, " G"]
    other_top: Int[Tensor, " G"]
    right: Int[Tensor, " G"]
    patterns: Float[Tensor, "k h w"]

    def split(self) -> "list[_Pairs]":
        """Some of the groups at a time."""
        _, height, width = self.patterns.shape
        step = max(1, _AT_ONCE // (height**2 * (2 * width - 1)))
        return [self._of(part) for part in torch.arange(len(self.first), device=self.first.device).split(step)]

    def extremes(self) -> "_Pairs":
        """Some that lie far apart and some that lie near each other: all distances span at least theirs."""
        widest = (self.other_top - self.top).abs() + self.right.abs()
        count = min(_EXTREMES, len(widest))
        return self._of(torch.cat([widest.topk(count).indices, widest.topk(count, largest=False).indices]))

    def _of(self, which: Int[Tensor, " n"]) -> "_Pairs":
        first, second, top, other_top, right = (
            each[which] for each in (self.first, self.second, self.top, self.other_top, self.right)
        )
        return _Pairs(first, second, top, other_top, right, self.patterns)


def tabulate(bags: Bags, layout: Layout, points: Int[Tensor, " N"], check: Check = never) -> RadialTable | None:
    """The table of distances of all pairs of bags; ``points`` gives the point of the layout of each of their rows.

    None if the bags' boxes are too large, or if too few pairs are equivalent for the table to save memory.
    """
    boxes = find_boxes(bags, layout.cells, points)
    if boxes is None:
        return None
    patterns, which = kinds_of(boxes.patterns)
    pairs, group = _pair_groups(which, boxes.top, boxes.left, patterns, layout)
    if len(pairs.first) * _count(*_range([_distances(pairs.extremes(), layout)])) > MOST_ENTRIES:
        return None  # before all distances are looked at
    parts = pairs.split()
    distances = [_distances(part, layout, check) for part in parts]
    low, high = _range(distances)
    count = _count(low, high)
    if len(pairs.first) * count > MOST_ENTRIES:
        return None
    start, radii = radii_between(low, high, bags.inputs)
    table = [
        _shared_out(distance, _weights(part, layout), high, start, count, check)
        for part, distance in zip(parts, distances, strict=True)
    ]
    return RadialTable(radii, torch.cat(table), group)


def radii_between(low: float, high: float, like: Tensor) -> tuple[float, Float[Tensor, " R"]]:
    """The logarithm of the first radius, and the radii that distances between these are shared out to."""
    start = log(low) - (NODES // 2) / DENSITY
    count = torch.arange(_count(low, high), dtype=like.dtype, device=like.device)
    return start, torch.exp(start + count / DENSITY)


def _count(low: float, high: float) -> int:
    """Radii that distances between these are shared out to."""
    return ceil(DENSITY * log(high / low)) + NODES + 1


def _pair_groups(
    which: Int[Tensor, " B"], top: Int[Tensor, " B"], left: Int[Tensor, " B"], patterns: Tensor, layout: Layout
) -> tuple[_Pairs, Int[Tensor, "B B"]]:
    """A pair of each group, and the group of every pair of bags, which differ in what their distances need."""
    count = len(which)
    i, j = torch.triu_indices(count, count, device=which.device)
    row = top[i] if layout.rows_differ else torch.zeros_like(i)
    keys = torch.stack([which[i], which[j], row, top[j] - top[i], left[j] - left[i]], dim=1)
    result, number = torch.unique(keys, dim=0, return_inverse=True)
    group = number.new_empty(count, count)
    group[i, j] = number
    group[j, i] = number
    return _Pairs(result[:, 0], result[:, 1], result[:, 2], result[:, 2] + result[:, 3], result[:, 4], patterns), group


def _rows(height: int, layout: Layout, device: torch.device) -> tuple[Int[Tensor, " n"], Int[Tensor, " n"]]:
    """Rows of two boxes that are looked at: every pair of them, or one for each difference where that is all."""
    rows = torch.arange(height, device=device)
    if layout.rows_differ:
        return rows.repeat_interleave(height), rows.repeat(height)
    differences = torch.arange(1 - height, height, device=device)
    return torch.zeros_like(differences), differences


def _distances(pairs: _Pairs, layout: Layout, check: Check = never) -> Float[Tensor, "g n D"]:
    """Distances between rows of the two boxes at every offset of their columns."""
    check()
    _, height, width = pairs.patterns.shape
    row, other = _rows(height, layout, pairs.top.device)
    offsets = torch.arange(1 - width, width, device=pairs.top.device)
    down, right = pairs.other_top[:, None] + other, pairs.right[:, None] + offsets
    return layout.distance((pairs.top[:, None] + row)[:, :, None], down[:, :, None], right[:, None, :])


def _weights(pairs: _Pairs, layout: Layout) -> Float[Tensor, "g n D"]:
    """``Σ_s w_as w_b(s+D)``: the weight of all pairs of points of these rows that lie so many columns apart."""
    _, height, width = pairs.patterns.shape
    one, other = pairs.patterns[pairs.first], pairs.patterns[pairs.second]
    moved = torch.nn.functional.pad(other, (width - 1, width - 1)).unfold(2, width, 1)  # (g, b, D, s)
    result = torch.einsum("gas,gbds->gabd", one, moved).flatten(1, 2)
    if layout.rows_differ:
        return result
    rows = torch.arange(height, device=result.device)
    difference = (rows - rows[:, None] + height - 1).flatten()
    return result.new_zeros(len(result), 2 * height - 1, result.shape[2]).index_add_(1, difference, result)


def _range(distances: list[Tensor]) -> tuple[float, float]:
    """The smallest distance that is not zero, and the largest."""
    high = max(float(each.max()) for each in distances)
    above = [each[each > ZERO * high] for each in distances]
    low = min((float(each.min()) for each in above if len(each)), default=high)
    return (low, high) if high > 0 else (1.0, 1.0)


def _shared_out(
    distance: Float[Tensor, "g n D"], weight: Float[Tensor, "g n D"], high: float, start: float, count: int,
    check: Check,
) -> Float[Tensor, "g columns"]:  # fmt: skip
    """Rows of the table: each distance's weight on the nearest radii."""
    check()
    distance, weight = distance.flatten(1), weight.flatten(1)
    table = weight.new_zeros(len(weight), 1 + count)
    zero = distance <= ZERO * high
    table[:, 0] = (weight * zero).sum(1)
    group, index = torch.nonzero((weight > 0) & ~zero, as_tuple=True)
    at = (distance[group, index].log() - start) * DENSITY
    first = (at.floor().long() - (NODES // 2 - 1)).clamp(0, count - NODES)
    place, there, flat = group * (1 + count) + first, weight[group, index], table.view(-1)
    for share in lagrange(at - first):
        flat.scatter_add_(0, place.add_(1), share.mul_(there))
    return table


def lagrange(at: Float[Tensor, "*n"]) -> Iterator[Float[Tensor, "*n"]]:
    """``Π_{m≠k} (t − m)/(k − m)`` for the nodes k = 0 … 7, from products over the nodes before and after each."""
    after = [torch.ones_like(at)]
    for node in range(NODES - 1, 0, -1):
        after.append((at - node).mul_(after[-1]))
    before = torch.ones_like(at)
    for k in range(NODES):
        yield after.pop().mul_(before).div_((-1) ** (NODES - 1 - k) * factorial(k) * factorial(NODES - 1 - k))
        before = (at - k).mul_(before)
