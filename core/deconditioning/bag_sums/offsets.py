"""Stationary kernels on a regular grid, whose bag sums depend only on the offset between a block and a pixel.

``c_j(x) = Σ_ab w_ab κ(r − r_j − a, s − s_j − b)`` for a pixel in row r, column s and a bag with corner (r_j, s_j): one
convolution of the table κ for every distinct pattern of weights w, then a window per bag; where nearly every bag has a
wide pattern of its own, by frequencies along the rows (`row_spectra`). This is exact; the kernel is evaluated H×W times
instead of once per pair of pixels.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import gpytorch
import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning.bag_sums.cross_sums import Windowed
from deconditioning.bag_sums.row_spectra import row_spectra
from deconditioning.kernels.tiles import evaluate
from deconditioning.observations import Bags

#: Most pixels of a bag's bounding box for a convolution, for going by frequencies, and of all boxes together.
_LARGEST_BOX, _LARGEST_BY_ROWS, _MOST_ENTRIES = 2048, 1 << 16, 1 << 25
#: Smallest bounding box of bags with patterns of their own for which frequencies are worth it.
_LEAST_BOX = 64
#: Weights of bags that agree to one part in so many are the same: 1e-14, what normalising them rounds.
_DIGITS = 1e14

#: Parts of the grid, each way, whose bags are summed together where nearly every bag has weights of its own.
_GROUPS = 3

#: Bag sums ``c_j`` (P,) at all points of a layout, bag after bag.
Windows = Iterator[tuple[int, Float[Tensor, " P"]]]


@dataclass(frozen=True)
class Cells:
    """Points on a grid of ``shape`` (H, W): row and column of each."""

    shape: tuple[int, int]
    row: Int[Tensor, " P"]
    column: Int[Tensor, " P"]

    def to(self, device: torch.device) -> "Cells":
        """The same on another device."""
        return replace(self, row=self.row.to(device), column=self.column.to(device))

    @cached_property
    def _flat_index(self) -> Int[Tensor, " P"] | None:
        """Position of each point in the whole grid; None if the points are the whole grid in order."""
        index = self.row * self.shape[1] + self.column
        whole = len(index) == self.shape[0] * self.shape[1] and bool((index.diff() == 1).all())
        return None if whole else index

    def at(self, points: slice | Int[Tensor, " n"]) -> "Cells":
        """Some of the points."""
        return Cells(self.shape, self.row[points], self.column[points])

    def band(self) -> "tuple[Cells, slice]":
        """These points on the rows between the first and the last of them, and those rows."""
        rows = slice(int(self.row.min()), int(self.row.max()) + 1)
        if rows == slice(0, self.shape[0]):
            return self, rows
        return Cells((rows.stop - rows.start, self.shape[1]), self.row - rows.start, self.column), rows

    def pick(self, window: Float[Tensor, "H W"]) -> Float[Tensor, " P"]:
        """The values of a whole grid at the points."""
        return window.reshape(-1) if self._flat_index is None else window.reshape(-1)[self._flat_index]


@dataclass(frozen=True)
class GridLayout:
    """Points on a grid whose rows and columns are evenly spaced: ``steps`` of both in scaled coordinates.

    ``axes`` are the input columns that hold the row and the column coordinate.
    """

    cells: Cells
    steps: tuple[float, float]
    axes: tuple[int, int]
    #: Whether distances depend on the rows themselves, not on how far apart they are alone.
    rows_differ: ClassVar[bool] = False

    def distance(self, row: Tensor, other: Tensor, columns: Tensor) -> Tensor:
        """Between cells of two rows, so many columns apart."""
        return torch.hypot((other - row).double() * self.steps[0], columns.double() * self.steps[1])

    def to(self, device: torch.device) -> "GridLayout":
        """The same on another device."""
        return replace(self, cells=self.cells.to(device))

    def windows(
        self, kernel: gpytorch.kernels.Kernel, bags: Bags, points: Int[Tensor, " N"], at: Cells | None = None
    ) -> Windows | None:
        """``c_j`` of every bag; None if the bags' boxes are too large.

        ``points`` gives the point of the layout of each row of ``bags``; ``at`` the cells of the grid at which the sums
        are evaluated (by default all points), at the cost of their rows.
        """
        boxes = self.boxes(bags, points)
        if boxes is None:
            return None
        quarter = self._quarter(kernel, bags.inputs)
        convolution = self._convolution(quarter, boxes, at)
        if convolution.is_cheap:
            return convolution.sums()
        spectra = row_spectra(quarter, boxes.patterns, boxes.top, boxes.left)
        band, rows = (at or self.cells).band()
        return ((bag, band.pick(sums)) for bag, sums in spectra.sums(rows))

    def boxes(self, bags: Bags, points: Int[Tensor, " N"]) -> "Boxes | None":
        """The bags' bounding boxes; None if they are too large to be worth it."""
        return find_boxes(bags, self.cells, points, _LARGEST_BY_ROWS)

    def convolution(
        self, kernel: gpytorch.kernels.Kernel, bags: Bags, points: Int[Tensor, " N"], at: Cells | None = None
    ) -> "Convolution | None":
        """The convolution of every pattern, before anything is summed; None if another way costs less."""
        boxes = self.boxes(bags, points)
        result = None if boxes is None else self._convolution(self._quarter(kernel, bags.inputs), boxes, at)
        return result if result is not None and result.is_cheap else None

    def _convolution(self, quarter: Float[Tensor, "H W"], boxes: "Boxes", at: Cells | None) -> "Convolution":
        """From κ at the offsets of the grid from 0 on."""
        band, band_rows = (at or self.cells).band()
        height, breadth = boxes.patterns.shape[1:]
        rows, columns = self.cells.shape
        half = torch.cat([quarter.flip(0)[:-1], quarter])
        table = torch.cat([half.flip(1)[:, :-1], half], dim=1)  # κ(Δr, Δs) at all offsets, (2H−1, 2W−1)
        # pad so that every bag's window lies inside: offsets run from −(H−1)−h+1 to H−1
        patterns, which = kinds_of(boxes.patterns)
        padded = torch.nn.functional.pad(table, (breadth - 1, breadth - 1, height - 1, height - 1))
        first = rows - 1 - int(boxes.top.max()) + band_rows.start
        last = rows - 1 - int(boxes.top.min()) + band_rows.stop - 1
        down, right = rows - 1 + band_rows.start - first - boxes.top, columns - 1 - boxes.left
        return Convolution(padded[first : last + height], patterns.flip(1, 2), which, down, right, band)

    def _quarter(self, kernel: gpytorch.kernels.Kernel, like: Float[Tensor, "N d"]) -> Float[Tensor, "H W"]:
        """``κ(Δr, Δs)`` for all offsets of the grid from 0 on; inputs are such as ``like``."""
        height, breadth = self.cells.shape
        rows = torch.arange(height, dtype=like.dtype, device=like.device) * self.steps[0]
        columns = torch.arange(breadth, dtype=like.dtype, device=like.device) * self.steps[1]
        points = like.new_zeros(height * breadth, like.shape[1])
        points[:, self.axes[0]] = rows.repeat_interleave(breadth)
        points[:, self.axes[1]] = columns.repeat(height)
        return evaluate(kernel, points, like.new_zeros(1, like.shape[1])).reshape(height, breadth)


@dataclass(frozen=True)
class Convolution:
    """Bag sums at the cells of ``band`` (H, W) as windows in the correlation of one ``table`` (U, V) with a pattern.

    ``patterns`` (k, h, w), the ``kind`` of each bag, and in the correlation the first row ``down`` and column ``right``
    of its window.
    """

    table: Float[Tensor, "U V"]
    patterns: Float[Tensor, "k h w"]
    kind: Int[Tensor, " B"]
    down: Int[Tensor, " B"]
    right: Int[Tensor, " B"]
    band: Cells

    @property
    def is_small(self) -> bool:
        """Whether the correlations of all patterns take less room than the windows of all bags."""
        kinds, height, breadth = self.patterns.shape
        whole = kinds * (self.table.shape[0] - height + 1) * (self.table.shape[1] - breadth + 1)
        return whole <= len(self.kind) * math.prod(self.band.shape)

    @property
    def is_cheap(self) -> bool:
        """Whether it costs less than going row by row in frequencies."""
        size = math.prod(self.patterns.shape[1:])
        if size > _LARGEST_BOX:
            return False
        return self.is_small or size < _LEAST_BOX or _common_rows(self.patterns) is not None

    def unwritten(self) -> Windowed:
        """The sums as one table a pattern."""
        tables = _correlate(self.table, self.patterns)
        return Windowed(tables, self.kind, self.down, self.right, self.band.shape, self.band.row, self.band.column)

    def sums(self) -> Windows:
        """Every bag with its sums; bags that lie together go together, so that less of the table is looked at."""
        (height, breadth), (rows, columns) = self.patterns.shape[1:], self.band.shape
        for bags in [torch.arange(len(self.kind), device=self.kind.device)] if self.is_small else self._neighbours():
            down, right = self.down[bags], self.right[bags]
            top, left = int(down.min()), int(right.min())
            below, beyond = int(down.max()) + rows, int(right.max()) + columns
            kinds, which = torch.unique(self.kind[bags], return_inverse=True)
            part = _correlate(self.table[top : below + height - 1, left : beyond + breadth - 1], self.patterns[kinds])
            places = zip(bags.tolist(), which.tolist(), (down - top).tolist(), (right - left).tolist(), strict=True)
            for bag, kind, row, column in places:
                yield bag, self.band.pick(part[kind, row : row + rows, column : column + columns])

    def _neighbours(self) -> Iterator[Int[Tensor, " b"]]:
        """The bags in `_GROUPS` × `_GROUPS` parts of the grid."""
        for band in torch.argsort(self.down).tensor_split(_GROUPS):
            yield from (part for part in band[torch.argsort(self.right[band])].tensor_split(_GROUPS) if len(part))


def kinds_of(patterns: Float[Tensor, "B h w"]) -> tuple[Float[Tensor, "k h w"], Int[Tensor, " B"]]:
    """Patterns that differ by more than rounding, and which of them each is."""
    rough = torch.round(patterns.flatten(1) * (_DIGITS / float(patterns.max())))
    _, which = torch.unique(rough, dim=0, return_inverse=True)
    first = torch.full((int(which.max()) + 1,), len(which), device=which.device)
    first.scatter_reduce_(0, which, torch.arange(len(which), device=which.device), "amin")
    return patterns[first], which


def _correlate(table: Float[Tensor, "U V"], patterns: Float[Tensor, "k h w"]) -> Float[Tensor, "k u v"]:
    """``out[u, v] = Σ_ab w[a, b] table[u + a, v + b]``: with a flipped pattern, κ at (u − a, v − b).

    Patterns that are products with one factor along the columns in common, as areas are, go one axis after the other.
    """
    common = _common_rows(patterns)
    if common is not None:
        table = torch.nn.functional.conv2d(table[None, None], common[None, None, None])[0, 0]
        patterns = patterns.sum(2)[:, :, None]
    return torch.nn.functional.conv2d(table[None, None], patterns[:, None])[0]


def _common_rows(patterns: Float[Tensor, "k h w"]) -> Float[Tensor, " w"] | None:
    """The factor along the columns, of sum 1, that all patterns are products with; None if there is none."""
    down, across = patterns.sum(2), patterns.sum(1)
    common = across[0] / across[0].sum()
    same = float((down[:, :, None] * common - patterns).abs().max()) <= float(patterns.max()) / _DIGITS
    return common if same else None


@dataclass(frozen=True)
class Boxes:
    """Corner of each bag's bounding box, and the weights inside boxes of one common size (B, h, w)."""

    top: Int[Tensor, " B"]
    left: Int[Tensor, " B"]
    patterns: Float[Tensor, "B h w"]


def find_boxes(bags: Bags, cells: Cells, points: Int[Tensor, " N"], largest: int = _LARGEST_BOX) -> Boxes | None:
    """The bags' bounding boxes on the grid; None if one has more than ``largest`` pixels, or all too many."""
    row, column = cells.row[points], cells.column[points]
    count = bags.count
    big = max(cells.shape)
    top = torch.full((count,), big, device=row.device).scatter_reduce(0, bags.bag, row, "amin")
    left = torch.full((count,), big, device=row.device).scatter_reduce(0, bags.bag, column, "amin")
    down, right = row - top[bags.bag], column - left[bags.bag]
    height, width = int(down.max()) + 1, int(right.max()) + 1
    if height * width > largest or count * height * width > _MOST_ENTRIES:
        return None
    patterns = bags.weights.new_zeros(count, height, width)
    patterns.index_put_((bags.bag, down, right), bags.weights, accumulate=True)  # a point may be in a bag twice
    return Boxes(top, left, patterns)
