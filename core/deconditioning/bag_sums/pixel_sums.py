"""Bag sums at every pixel of a picture, ``c_j(x)``, and K̄ in the same pass, by the cheapest exact algorithm.

The sum over terms of a kernel is a sum of bag sums, so each term uses its own algorithm and adds to one array. Stored
separately at unit scale, these sums allow a slider to change an amplitude, λ or a noise without any new kernel value.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import gpytorch
import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning.bag_sums.blocks import SortedBags, sort_bags
from deconditioning.bag_sums.chebyshev import interpolate_kernel
from deconditioning.bag_sums.cross_sums import CrossSums, Product, Written
from deconditioning.bag_sums.direct import TILE
from deconditioning.bag_sums.low_rank.choice import few_features
from deconditioning.bag_sums.offsets import GridLayout
from deconditioning.bag_sums.routes import Layout, Route, routes_of
from deconditioning.errors import Check, never
from deconditioning.kernels.fused import Tiles
from deconditioning.kernels.spec import KernelSpec, Term
from deconditioning.kernels.tiles import diagonal, evaluate, features_of, in_column
from deconditioning.observations import Bags

#: Kernel values below which the direct route takes no time worth saving.
FEW = 20_000_000

#: Bag sums of one term, not yet written into a whole: c and K̄.
_Apart = tuple[CrossSums, Float[Tensor, "B B"]]


@dataclass(frozen=True)
class Picture:
    """The points of the prediction and the bags among them.

    ``inputs`` (P, d), ``names`` of its columns, ``bags`` with ``points`` (N,), the row of ``inputs`` of each row of the
    bags; ``layout`` if the points are on a regular grid.
    """

    inputs: Float[Tensor, "P d"]
    names: tuple[str, ...]
    bags: Bags
    points: Int[Tensor, " N"]
    layout: Layout | None = None

    def of(self, term: Term) -> "Picture":
        """The picture that a term is seen in: this one."""
        return self

    def placed(self, term: Term, sums: "PictureSums") -> "PictureSums":
        """The sums of a term among those of all bags: as they are."""
        return sums

    def to(self, device: torch.device) -> "Picture":
        """The same picture on another device."""
        return replace(
            self,
            inputs=self.inputs.to(device),
            bags=self.bags.to(device),
            points=self.points.to(device),
            layout=None if self.layout is None else self.layout.to(device),
        )


@dataclass(frozen=True, eq=False)
class PictureSums:
    """``cross`` c (B, P), ``gram`` K̄ (B, B), ``prior`` k(x, x) (P,), and the algorithm used for each term."""

    cross: CrossSums
    gram: Float[Tensor, "B B"]
    prior: Float[Tensor, " P"]
    routes: tuple[str, ...]


def picture_sums(kernel: KernelSpec, picture: Picture, *, check: Check = never) -> PictureSums:
    """Bag sums of a whole kernel in one array (B, P), each term by its cheapest exact algorithm.

    Algorithms: features of a degenerate term; block offsets or longitudes if a term is stationary on the grid;
    Chebyshev interpolation of one smooth column; few points with an error bound for a smooth term; otherwise every pair
    of points once.
    """
    with torch.no_grad():
        total = picture.inputs.new_zeros(picture.bags.count, len(picture.inputs))
        routes = tuple(_add(total, term, picture, check) for term in kernel.terms)
        prior = diagonal(kernel.build(picture.names).to(picture.inputs.device), picture.inputs)
        return PictureSums(Written(total), _aggregate(total, picture), prior, routes)


def term_sums(term: Term, picture: Picture, *, check: Check = never) -> PictureSums:
    """Bag sums of one term at unit scale; c is stored explicitly only if it has no smaller factors.

    ``K̄ = A G Aᵀ`` with the bag means A of the nodes' weights and the kernel G among the nodes.
    """
    unit = KernelSpec((replace(term, scale=1.0),))
    with torch.no_grad():
        check()
        kernel = unit.build(picture.names).to(picture.inputs.device)
        for route in routes_of(term, picture.layout, picture.names):
            take = _APART.get(route)
            result = None if take is None else take(term, kernel, picture)
            if result is not None:
                return PictureSums(*result, diagonal(kernel, picture.inputs), (route.value,))
        return picture_sums(unit, picture, check=check)


def _windowed(term: Term, kernel: gpytorch.kernels.Kernel, picture: Picture) -> _Apart | None:
    """c and K̄ of a term that is stationary on a planar grid; written out where that is smaller."""
    layout = picture.layout
    assert isinstance(layout, GridLayout)
    convolution = layout.convolution(kernel, picture.bags, picture.points)
    if convolution is not None and convolution.is_small:
        windowed = convolution.unwritten()
        return windowed, _aggregate(map(convolution.band.pick, windowed.windows()), picture)
    windows = layout.windows(kernel, picture.bags, picture.points) if convolution is None else convolution.sums()
    if windows is None:
        return None
    written = picture.inputs.new_empty(picture.bags.count, len(picture.inputs))
    for bag, sums in windows:
        written[bag] = sums
    return Written(written), _aggregate(written, picture)


def _product(term: Term, kernel: gpytorch.kernels.Kernel, picture: Picture) -> _Apart | None:
    """c and K̄ of a smooth term of one column; written out where there are more nodes than bags.

    ``K̄ = A G Aᵀ`` with the bag means A of the nodes' weights and the kernel G among the nodes.
    """
    nodes = _interpolated(term, kernel, picture)
    if nodes is None:
        return None
    weights, middle = nodes
    means = picture.bags.mean(weights[picture.points])
    left = means @ middle
    gram = left @ means.T
    small = len(middle) <= picture.bags.count
    cross = Product(left, weights.T.contiguous()) if small else Written(left @ weights.T)
    return cross, 0.5 * (gram + gram.T)


def _features(term: Term, kernel: gpytorch.kernels.Kernel, picture: Picture) -> tuple[Product, Float[Tensor, "B B"]]:
    """c and K̄ of a degenerate term: products with the bag means of its features."""
    features = features_of(kernel.kernels[0], picture.inputs)
    means = picture.bags.mean(features[picture.points])
    return Product(means, features.T.contiguous()), means @ means.T


def is_cheap(term: Term, picture: Picture) -> bool:
    """Whether the sums of a term need no pass over pairs of pixels."""
    return routes_of(term, picture.layout, picture.names)[0].cheap


def _add(total: Tensor, term: Term, picture: Picture, check: Check) -> str:
    """Add a term's sums, with its scale, to ``total`` (B, P); the route taken."""
    kernel = KernelSpec((replace(term, scale=1.0),)).build(picture.names).to(picture.inputs.device)
    for route in routes_of(term, picture.layout, picture.names):
        check()
        add = _ADDED.get(route)
        if add is not None and add(total, term, kernel, picture, check):
            return route.value
    raise AssertionError("pairs of points serve every kernel")


def _add_features(total: Tensor, term: Term, kernel: gpytorch.kernels.Kernel, picture: Picture, check: Check) -> bool:
    cross, _ = _features(term, kernel, picture)
    total.addmm_(cross.left, cross.right, alpha=term.scale)
    return True


def _add_windows(total: Tensor, term: Term, kernel: gpytorch.kernels.Kernel, picture: Picture, check: Check) -> bool:
    assert picture.layout is not None
    windows = picture.layout.windows(kernel, picture.bags, picture.points)
    if windows is None:
        return False
    for bag, window in windows:
        check()
        total[bag].add_(window, alpha=term.scale)
    return True


def _add_interpolated(
    total: Tensor, term: Term, kernel: gpytorch.kernels.Kernel, picture: Picture, check: Check
) -> bool:
    nodes = _interpolated(term, kernel, picture)
    if nodes is None:
        return False
    weights, middle = nodes
    total.addmm_(picture.bags.mean(weights[picture.points]) @ middle, weights.T, alpha=term.scale)
    return True


def _interpolated(
    term: Term, kernel: gpytorch.kernels.Kernel, picture: Picture
) -> tuple[Float[Tensor, "P r"], Float[Tensor, "r r"]] | None:
    """Weights of every pixel on a few nodes and the kernel among these, for a smooth term of one column."""
    column, width = picture.names.index(term.factors[0].columns[0]), picture.inputs.shape[1]

    def line(left: Tensor, right: Tensor) -> Tensor:
        """The kernel between points (n, 1) and (m, 1) of the column."""
        return evaluate(kernel, *(in_column(each[:, 0], column, width) for each in (left, right)))

    interpolation = interpolate_kernel(line, picture.inputs[:, column])
    return None if interpolation is None else (interpolation.weights(picture.inputs[:, column]), interpolation.gram)


def _add_few_features(
    total: Tensor, term: Term, kernel: gpytorch.kernels.Kernel, picture: Picture, check: Check
) -> bool:
    pixels, points, bags = len(picture.inputs), len(picture.points), picture.bags
    evaluations = points * (pixels - points // 2)
    if evaluations < FEW:
        return False
    known = few_features(term, picture.names, picture.inputs, bags.count, evaluations / pixels, check=check)
    if known is None:
        return False
    known.add_sums(total, known.bag_means(bags, check), picture.inputs, term.scale, check)
    return True


def _add_direct(total: Tensor, term: Term, kernel: gpytorch.kernels.Kernel, picture: Picture, check: Check) -> bool:
    """Every pair once: the bags' points among themselves by the upper triangle, then those with all other points."""
    bags = sort_bags(picture.bags)
    where = picture.points[bags.order]
    other = torch.ones(len(picture.inputs), dtype=torch.bool, device=where.device)
    other[where] = False
    order = torch.cat([where, torch.nonzero(other)[:, 0]])
    inputs = picture.inputs[order]
    again = _repeated(where)
    memberships = [bags.membership(block) for block in bags.blocks]
    for i, block in enumerate(bags.blocks):
        tiles = Tiles(kernel, bags.inputs(block), inputs[block.start :])
        sums = total.new_empty(block.last - block.first, len(inputs) - block.start)
        mirrored = total.new_empty(bags.bags.count - block.last, block.stop - block.start)
        for columns, inside in _columns(bags, i, len(inputs)):
            check()
            tile = tiles(slice(None), slice(columns.start - block.start, columns.stop - block.start))
            sums[:, columns.start - block.start : columns.stop - block.start] = memberships[i] @ tile
            for k in inside:
                there = bags.blocks[k]
                part = tile[:, there.start - columns.start : there.stop - columns.start]
                mirrored[there.first - block.last : there.last - block.last] = memberships[k] @ part.T
        if again is not None:  # a point of several bags gets its sums once
            sums[:, : len(where) - block.start][:, again[block.start :]] = 0
            mirrored[:, again[block.start : block.stop]] = 0
        total[block.first : block.last].index_add_(1, order[block.start :], sums, alpha=term.scale)
        total[block.last :].index_add_(1, where[block.start : block.stop], mirrored, alpha=term.scale)
    return True


def _repeated(where: Int[Tensor, " N"]) -> Tensor | None:
    """Which of these points have come before (N,); None if all are distinct."""
    places, first = np.unique(where.cpu().numpy(), return_index=True)
    if len(places) == len(where):
        return None
    again = torch.ones(len(where), dtype=torch.bool)
    again[torch.as_tensor(first)] = False
    return again.to(where.device)


def _columns(bags: SortedBags, first: int, points: int) -> list[tuple[slice, range]]:
    """Columns of the tiles right of block ``first``, and the later blocks that each of them spans whole."""
    step = max(1, TILE // max(1, bags.blocks[first].stop - bags.blocks[first].start))
    result: list[tuple[slice, range]] = []
    k = first
    while k < len(bags.blocks):
        end = k + 1
        while end < len(bags.blocks) and bags.blocks[end].stop - bags.blocks[k].start <= step:
            end += 1
        result.append((slice(bags.blocks[k].start, bags.blocks[end - 1].stop), range(max(k, first + 1), end)))
        k = end
    inside = bags.blocks[-1].stop
    result += [(slice(begin, min(begin + step, points)), range(0)) for begin in range(inside, points, step)]
    return result


def _aggregate(sums: Iterable[Float[Tensor, " P"]], picture: Picture) -> Float[Tensor, "B B"]:
    """``K̄_ij = Σ_{r∈j} w_r c_i(x_r)``: the bag means of each bag's sums, symmetrised against rounding."""
    bags = picture.bags
    if picture.inputs.device.type == "cpu":
        from scipy.sparse import csr_array  # torch adds scalars by index five times slower

        entries = bags.bag.numpy(), picture.points.numpy()
        weights = csr_array((bags.weights.numpy(), entries), shape=(bags.count, len(picture.inputs)))
        gram = torch.as_tensor(np.stack([weights @ row.numpy() for row in sums]))
    else:
        gram = torch.stack([bags.mean(row[picture.points]) for row in sums])
    return 0.5 * (gram + gram.T)


_APART = {Route.FEATURES: _features, Route.OFFSETS: _windowed, Route.CHEBYSHEV: _product}
_ADDED = {
    Route.FEATURES: _add_features,
    Route.OFFSETS: _add_windows,
    Route.LONGITUDES: _add_windows,
    Route.CHEBYSHEV: _add_interpolated,
    Route.FEW_POINTS: _add_few_features,
    Route.DIRECT: _add_direct,
}
