"""``K̄`` over few points per bag for many evaluations: isotropic terms by a table of the points' distances.

As in `radii`, but for pairs of bags that are not on a grid: ``K̄_ij = Σ_ρ T_(ij)ρ φ(ρ)`` for each pair separately. The
distances between two bags are similar, so few of the radii have any weight: T is sparse.
"""

import warnings
from dataclasses import dataclass, field
from typing import Any

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.bag_sums.blocks import SortedBags, sort_bags
from deconditioning.bag_sums.chebyshev import interpolate_kernel
from deconditioning.bag_sums.moving import BagGram, at_radii, over_pairs, over_points
from deconditioning.bag_sums.radii import DENSITY, NODES, ZERO, lagrange, radii_between
from deconditioning.bag_sums.routes import by_distance, by_features, by_line
from deconditioning.errors import Check, never
from deconditioning.kernels.tiles import in_column, product_of
from deconditioning.observations import Bags

#: torch announces so once a process; products of such a matrix with a vector are all that is asked of it here.
warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta state")

#: Pairs of points from which on a table is worth what it costs to make: some ten evaluations.
LEAST_PAIRS = 30_000_000
#: Entries a table may have (with its transpose 960 MB).
MOST_ENTRIES = 40_000_000


class _Product(torch.autograd.Function):
    """``T v`` of a sparse T whose transpose is at hand: autograd would make it anew each time."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, transposed: Tensor, values: Tensor) -> Tensor:
        """``T v``."""
        ctx.transposed = transposed
        return (table @ values[:, None])[:, 0]

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        """``Tᵀ g``."""
        return None, None, (ctx.transposed @ gradient.contiguous()[:, None])[:, 0]


@dataclass(frozen=True)
class PointDistances:
    """``radii`` ρ (R,); of the G pairs of bags i ≤ j, row by row, the weight at distance ``zero`` (G,), ``table`` T
    (G, R) and its transpose, both sparse; B ``bags``."""

    radii: Float[Tensor, " R"]
    zero: Float[Tensor, " G"]
    table: Tensor
    transposed: Tensor
    bags: int

    def gram(self, values: Float[Tensor, " R"]) -> Float[Tensor, "B B"]:
        """``K̄`` of a kernel with these values at the radii and one at zero; differentiable in the values."""
        pairs = self.zero + _Product.apply(self.table, self.transposed, values)
        i, j = torch.triu_indices(self.bags, self.bags, device=pairs.device)
        upper = pairs.new_zeros(self.bags, self.bags).index_put((i, j), pairs)
        return upper + upper.triu(1).T


def tabulate_points(bags: SortedBags, columns: tuple[int, ...], check: Check = never) -> PointDistances | None:
    """The distances of all points of every two bags in some columns; None if they take too much memory."""
    every, count = bags.bags, bags.bags.count
    points = every.inputs[:, list(columns)]
    ends = torch.bincount(every.bag, minlength=count).cumsum(0).tolist()
    starts = [0, *ends[:-1]]
    low, high = _span(points, starts, check)
    start, radii = radii_between(low, high, points)
    zeros, rows, entries = [], [], 0
    for bag, (first, last) in enumerate(zip(starts, ends, strict=True)):
        check()
        distance = _between(points[first:last], points[first:])
        weight = every.weights[first:last, None] * every.weights[first:]
        other = (every.bag[first:] - bag).expand_as(distance)
        at_zero = distance <= ZERO * high
        zeros.append(weight.new_zeros(count - bag).index_add_(0, other[at_zero], weight[at_zero]))
        shared = _shared_out(distance, weight * ~at_zero, other, start, (count - bag, len(radii)))
        rows.append(shared.to_sparse_csr())
        entries += len(rows[-1].values())
        if entries > MOST_ENTRIES:
            return None
    return PointDistances(radii, torch.cat(zeros), *_below_each_other(rows), count)


@dataclass(frozen=True)
class _Tabulated:
    """``K̄`` of any kernel over the points of ``bags``.

    Smooth terms of one column are interpolated, the nodes' shares of the bags kept by their number; isotropic ones go
    by a table for every set of columns that is asked for; the rest by pairs.
    """

    bags: SortedBags
    check: Check
    shares: dict[tuple[int, int], Float[Tensor, "B p"]] = field(default_factory=dict)
    tables: dict[tuple[int, ...], PointDistances | None] = field(default_factory=dict)

    def __call__(self, kernel: gpytorch.kernels.Kernel) -> Float[Tensor, "B B"]:
        rest, result = list[int](), list[Tensor]()
        for index, term in enumerate(kernel.kernels):
            few = by_features([each.family for each in term.base_kernel.kernels])
            part = None if few else self._part(term.base_kernel)
            result += [] if part is None else [term.outputscale * part]
            rest += [index] if part is None else []
        return torch.stack([*result, *over_points(kernel, rest, self.bags, self.check)]).sum(0)

    def _part(self, product: gpytorch.kernels.Kernel) -> Tensor | None:
        """``K̄`` of a product of factors at unit scale, None if only pairs will do."""
        factors = list(product.kernels)
        columns = {tuple(factor.active_dims.tolist()) for factor in factors}
        if len(columns) > 1:
            return None
        (result,), kinds = columns, [factor.family for factor in factors]
        if by_line(kinds, len(result)):
            return self._interpolated(product, result[0])
        if not by_distance(kinds, [factor.lengthscale.numel() for factor in factors]):
            return None
        table = self._table(result)
        return None if table is None else table.gram(at_radii(product, table.radii, result[0]))

    def _interpolated(self, product: gpytorch.kernels.Kernel, column: int) -> Tensor | None:
        """``K̄`` from the kernel among Chebyshev points, as many as these hyperparameters need."""
        values = self.bags.bags.inputs[:, column]

        def line(left: Tensor, right: Tensor) -> Tensor:
            """The kernel between points (n, 1) and (m, 1) of the column."""
            return product_of(product, in_column(left[:, 0], column), in_column(right[:, 0], column))

        with torch.no_grad():
            interpolation = interpolate_kernel(line, values)
            if interpolation is None:
                return None
            key = column, len(interpolation.nodes)
            if key not in self.shares:
                self.shares[key] = self.bags.bags.mean(interpolation.weights(values))
        shares, nodes = self.shares[key], interpolation.nodes[:, None]
        return shares @ line(nodes, nodes) @ shares.T

    def _table(self, columns: tuple[int, ...]) -> PointDistances | None:
        if columns not in self.tables:
            with torch.no_grad():
                self.tables[columns] = tabulate_points(self.bags, columns, self.check)
        return self.tables[columns]


def over_many(bags: Bags, check: Check = never) -> BagGram:
    """``K̄`` over every pair of points, for many evaluations: by tables of distances, with error `ERROR`, if they save
    time.
    """
    if len(bags.inputs) ** 2 < LEAST_PAIRS:
        return over_pairs(bags, check)
    return _Tabulated(sort_bags(bags), check)


def _between(left: Float[Tensor, "n d"], right: Float[Tensor, "m d"]) -> Float[Tensor, "n m"]:
    return torch.cdist(left, right, compute_mode="donot_use_mm_for_euclid_dist")


def _span(points: Float[Tensor, "N d"], starts: list[int], check: Check) -> tuple[float, float]:
    """The smallest distance that is not zero, and the largest."""
    low, high = float("inf"), float((points.amax(0) - points.amin(0)).norm())
    for first, last in zip(starts, [*starts[1:], len(points)], strict=True):
        check()
        distance = _between(points[first:last], points[first:])
        above = distance[distance > ZERO * high]
        low = min(low, float(above.min())) if len(above) else low
    return (1.0, 1.0) if low == float("inf") else (low, max(low, high))


def _shared_out(
    distance: Float[Tensor, "n m"], weight: Tensor, other: Tensor, start: float, shape: tuple[int, int]
) -> Float[Tensor, "b R"]:
    """Each distance's weight on the nearest radii, bag by bag."""
    result = weight.new_zeros(shape)
    at = (distance.clamp_min(torch.finfo(distance.dtype).tiny).log() - start) * DENSITY
    first = (at.floor().long() - (NODES // 2 - 1)).clamp(0, shape[1] - NODES)
    flat, index = result.view(-1), (other * shape[1] + first).flatten()
    for node, share in enumerate(lagrange((at - first).clamp(0, NODES))):
        flat.index_add_(0, index + node, (share * weight).flatten())
    return result


def _below_each_other(parts: list[Tensor]) -> tuple[Tensor, Tensor]:
    """One sparse matrix of some, by rows, and its transpose, by rows too."""
    counts = torch.cat([part.crow_indices().diff() for part in parts])
    ends = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    columns, values = torch.cat([part.col_indices() for part in parts]), torch.cat([part.values() for part in parts])
    table = _by_rows(ends, columns, values, (len(counts), parts[0].shape[1]))
    other = table.to_sparse_csc()
    return table, _by_rows(other.ccol_indices(), other.row_indices(), other.values(), (table.shape[1], len(counts)))


def _by_rows(ends: Tensor, columns: Tensor, values: Tensor, shape: tuple[int, int]) -> Tensor:
    """With short indices, which MKL multiplies faster."""
    return torch.sparse_csr_tensor(ends.int(), columns.int(), values, shape, check_invariants=False)
