"""Bag sums ``c_j(x)`` at the pixels of any region, with the algorithms of ``pixel_sums`` prepared once for all regions.

A region may have other covariates than the picture with the bags (those of a later time step, for example). Terms of
the coordinates need only the region's cells on the grid. A smooth term uses the features that were certified on the
picture; a new pixel that violates their bound is summed directly. In both cases the result is exact to 1e-10.
"""

from dataclasses import dataclass, replace

import gpytorch
import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning.bag_sums.blocks import SortedBags, sort_bags
from deconditioning.bag_sums.direct import cross, gram
from deconditioning.bag_sums.low_rank.certified import BOUND, TILE, Certified
from deconditioning.bag_sums.low_rank.choice import few_features
from deconditioning.bag_sums.low_rank.separable import Separable
from deconditioning.bag_sums.offsets import Cells, Windows
from deconditioning.bag_sums.pixel_sums import FEW, Picture
from deconditioning.bag_sums.routes import Layout, Route, routes_of
from deconditioning.bag_sums.sphere import SphereLayout
from deconditioning.errors import Check, never
from deconditioning.kernels.spec import KernelSpec, Term
from deconditioning.kernels.tiles import features_of

#: How far the inputs of a cell may lie from where the layout has it.
_SAME = 1e-11
#: Open to a term that knows its place on the grid alone, and to one that few points can stand for.
_SMOOTH = {Route.CHEBYSHEV, Route.FEW_POINTS}


@dataclass(frozen=True)
class FewFeatures:
    """A smooth term, its few features at unit scale, and their bag means (B, r)."""

    term: Term
    known: Certified | Separable
    means: Float[Tensor, "B r"]


@dataclass(frozen=True)
class Features:
    """A degenerate term and the bag means of its features, (B, r)."""

    term: Term
    means: Float[Tensor, "B r"]


@dataclass(frozen=True)
class RegionSums:
    """What is needed to sum a kernel over bags at any pixel; made by ``region_sums``.

    ``bags`` with ``cell`` (N,): the point of ``layout`` of each of their rows; ``placed`` the terms of the place on
    the grid, ``degenerate`` those of few features, ``few`` the smooth ones, ``direct`` all others.
    """

    names: tuple[str, ...]
    bags: SortedBags
    cell: Int[Tensor, " N"]
    layout: Layout | None
    placed: tuple[Term, ...]
    degenerate: tuple[Features, ...]
    few: tuple[FewFeatures, ...]
    direct: tuple[Term, ...]

    def to(self, device: torch.device) -> "RegionSums":
        """The same on another device."""
        bags = replace(self.bags, bags=self.bags.bags.to(device), order=self.bags.order.to(device))
        few = (FewFeatures(f.term, f.known.to(device), f.means.to(device)) for f in self.few)
        degenerate = tuple(Features(f.term, f.means.to(device)) for f in self.degenerate)
        layout = None if self.layout is None else self.layout.to(device)
        return replace(
            self, bags=bags, cell=self.cell.to(device), layout=layout, degenerate=degenerate, few=tuple(few)
        )  # fmt: skip

    def at(
        self, inputs: Float[Tensor, "P d"], cells: Cells | None = None, check: Check = never
    ) -> tuple[Float[Tensor, "B P"], int]:
        """``c_j(x)`` at inputs whose place on the layout's grid is ``cells``, and how many had to be summed directly.

        Terms of the place are summed directly, pair by pair, where ``cells`` is not given or is not where the inputs
        lie.
        """
        with torch.no_grad():
            total = inputs.new_zeros(self.bags.bags.count, len(inputs))
            direct_place = bool(self.placed) and not self._lie_on(inputs, cells)
            direct = (*self.direct, *(self.placed if direct_place else ()))
            if not direct_place:
                self._add_placed(total, cells, check)
            for features in self.degenerate:
                (kernel,) = self._kernel(features.term).kernels
                total.addmm_(features.means, features_of(kernel, inputs).T, alpha=features.term.scale)
            fallen = sum(self._add_few(total, few, inputs, check) for few in self.few)
            if direct:
                total += cross(self._kernel(*direct), self.bags, inputs, check=check)
            return total, len(inputs) if direct_place else fallen

    def gram(self, check: Check = never) -> Float[Tensor, "B B"]:
        """``K̄`` (B, B) of the bags."""
        bags = self.bags.bags
        with torch.no_grad():
            total = bags.inputs.new_zeros(bags.count, bags.count)
            parts: tuple[Features | FewFeatures, ...] = (*self.degenerate, *self.few)
            for low_rank in parts:
                total.addmm_(low_rank.means, low_rank.means.T, alpha=low_rank.term.scale)
            if self.layout is not None:
                cells = self.layout.cells.at(self.cell)
                for term in self.placed:
                    for bag, window in self._windows(term, cells):
                        check()
                        total[bag] += term.scale * bags.mean(window)
            if self.direct:
                total += gram(self._kernel(*self.direct), self.bags, check=check)
            return 0.5 * (total + total.T)

    def _kernel(self, *terms: Term) -> gpytorch.kernels.Kernel:
        return KernelSpec(terms).build(self.names).to(self.cell.device)

    def _lie_on(self, inputs: Tensor, cells: Cells | None) -> bool:
        """Whether inputs lie where the layout has their cells."""
        layout = self.layout
        if layout is None or cells is None or cells.shape != layout.cells.shape:
            return False
        if isinstance(layout, SphereLayout):
            expected = layout.vectors[cells.row, cells.column]
        else:
            origin, first = layout.cells.at(self.cell[:1]), self.bags.bags.inputs[0]
            moved = torch.stack([cells.row - origin.row, cells.column - origin.column], dim=1).to(inputs)
            expected = first[list(layout.axes)] + moved * inputs.new_tensor(layout.steps)
        scale = float(expected.abs().max().clamp_min(1.0))
        return float((inputs[:, list(layout.axes)] - expected).abs().max()) <= _SAME * scale

    def _windows(self, term: Term, cells: Cells) -> Windows:
        assert self.layout is not None
        kernel, bags = self._kernel(replace(term, scale=1.0)), self.bags.bags
        windows = self.layout.windows(kernel, bags, self.cell, cells)
        assert windows is not None
        return windows

    def _add_placed(self, total: Tensor, cells: Cells | None, check: Check) -> None:
        for term in self.placed:
            assert cells is not None
            for bag, window in self._windows(term, cells):
                check()
                total[bag].add_(window, alpha=term.scale)

    def _add_few(self, total: Tensor, few: FewFeatures, inputs: Tensor, check: Check) -> int:
        """Add a smooth term; the number of pixels its bound does not hold for, which are summed directly."""
        left = []
        for begin in range(0, len(inputs), TILE):
            check()
            tile = inputs[begin : begin + TILE]
            left.append(few.known.left_out(tile))
            features = few.known.features(tile)
            features[:, left[-1].abs() > BOUND] = 0
            total[:, begin : begin + TILE].addmm_(few.means, features, alpha=few.term.scale)
        above = torch.nonzero(torch.cat(left).abs() > BOUND)[:, 0] if left else self.cell[:0]
        if len(above):
            kernel = self._kernel(replace(few.term, scale=1.0))
            sums = cross(kernel, self.bags, inputs[above], check=check)
            total.index_add_(1, above, sums, alpha=few.term.scale)
        return len(above)


def region_sums(kernel: KernelSpec, picture: Picture, *, check: Check = never) -> RegionSums:
    """Prepare the sums of a kernel over a picture's bags: the algorithm of each term, and its few points.

    The picture's layout may belong to a wider grid than its own pixels; regions may be anywhere on that grid.
    """
    bags = sort_bags(picture.bags)
    cell, layout = picture.points[bags.order], picture.layout
    if layout is not None and layout.boxes(bags.bags, cell) is None:
        layout = None
    placed, degenerate, few, direct = [], [], [], []
    with torch.no_grad():
        for term in kernel.terms:
            routes = set(routes_of(term, layout, picture.names))
            if Route.FEATURES in routes:
                (built,) = KernelSpec((term,)).build(picture.names).to(picture.inputs.device).kernels
                degenerate.append(Features(term, bags.bags.mean(features_of(built, bags.bags.inputs))))
            elif any(route.by_grid for route in routes):
                placed.append(term)
            elif routes & _SMOOTH and (result := _few_features(term, picture, bags, check)) is not None:
                few.append(result)
            else:
                direct.append(term)
    return RegionSums(
        picture.names, bags, cell, layout, tuple(placed), tuple(degenerate), tuple(few), tuple(direct)
    )  # fmt: skip


def _few_features(term: Term, picture: Picture, bags: SortedBags, check: Check) -> FewFeatures | None:
    points, count = len(bags.bags.inputs), bags.bags.count
    if points * len(picture.inputs) < FEW:
        return None
    known = few_features(term, picture.names, picture.inputs, count, points, check=check)
    return None if known is None else FewFeatures(term, known, known.bag_means(bags.bags, check))
