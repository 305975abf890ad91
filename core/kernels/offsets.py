"""Stationary kernels on a regular grid: bag sums depend on the offset between a block and a pixel only.

``c_j(x) = Σ_ab w_ab κ(r − r_j − a, s − s_j − b)`` for a pixel in row r, column s and a bag whose corner is
(r_j, s_j): one convolution of the table κ for every distinct pattern of weights w, then a window per bag.
Exact; the kernel is evaluated H×W times instead of once per pair of pixels.
"""

from dataclasses import dataclass

import gpytorch
import torch
from jaxtyping import Float, Int
from torch import Tensor

from core.kernels.spec import Term
from core.kernels.tiles import evaluate
from core.observations import Bags

#: Largest bounding box of a bag, in pixels, that is worth a convolution.
LARGEST_BOX = 2048


@dataclass(frozen=True)
class GridLayout:
    """Points on a regular grid: row and column of each, and the grid's steps in scaled coordinates.

    ``axes`` are the input columns that hold the row and the column coordinate.
    """

    shape: tuple[int, int]
    row: Int[Tensor, " P"]
    column: Int[Tensor, " P"]
    steps: tuple[float, float]
    axes: tuple[int, int]


def suits(term: Term, names: tuple[str, ...], layout: GridLayout | None) -> bool:
    """Whether a term is stationary in the two grid coordinates and nothing else."""
    if layout is None:
        return False
    axes = {names[axis] for axis in layout.axes}
    return all(f.family != "linear" and set(f.columns) <= axes for f in term.factors)


def _table(kernel: gpytorch.kernels.Kernel, layout: GridLayout, width: int, like: Tensor) -> Tensor:
    """``κ(Δr, Δs)`` for all offsets of the grid, (2H−1, 2W−1), from its non-negative quarter."""
    height, breadth = layout.shape
    rows = torch.arange(height, dtype=like.dtype, device=like.device) * layout.steps[0]
    columns = torch.arange(breadth, dtype=like.dtype, device=like.device) * layout.steps[1]
    points = like.new_zeros(height * breadth, width)
    points[:, layout.axes[0]] = rows.repeat_interleave(breadth)
    points[:, layout.axes[1]] = columns.repeat(height)
    quarter = evaluate(kernel, points, like.new_zeros(1, width)).reshape(height, breadth)
    half = torch.cat([quarter.flip(0)[:-1], quarter])
    return torch.cat([half.flip(1)[:, :-1], half], dim=1)


@dataclass(frozen=True)
class _Boxes:
    """Corner of each bag's bounding box, common box size, and the weights inside it (B, h, w)."""

    top: Tensor
    left: Tensor
    patterns: Tensor


def _boxes(bags: Bags, layout: GridLayout, points: Tensor) -> _Boxes | None:
    row, column = layout.row[points], layout.column[points]
    count = bags.count
    big = max(layout.shape)
    top = torch.full((count,), big, device=row.device).scatter_reduce(0, bags.bag, row, "amin")
    left = torch.full((count,), big, device=row.device).scatter_reduce(0, bags.bag, column, "amin")
    down, right = row - top[bags.bag], column - left[bags.bag]
    height, width = int(down.max()) + 1, int(right.max()) + 1
    if height * width > LARGEST_BOX:
        return None
    patterns = bags.weights.new_zeros(count, height, width)
    patterns[bags.bag, down, right] = bags.weights
    return _Boxes(top, left, patterns)


def offset_sums(
    kernel: gpytorch.kernels.Kernel,
    bags: Bags,
    layout: GridLayout,
    points: Int[Tensor, " N"],
    width: int,
) -> Float[Tensor, "B P"] | None:
    """``c_j(x)`` (B, P) at all points of the layout; None where the bags' boxes are too large.

    ``points`` tells which point of the layout each row of ``bags`` is; ``width`` is the number of input columns.
    """
    boxes = _boxes(bags, layout, points)
    if boxes is None:
        return None
    height, breadth = boxes.patterns.shape[1:]
    table = _table(kernel, layout, width, bags.weights)
    # pad so that every bag's window lies inside: offsets run from −(H−1)−h+1 to H−1
    kinds, which = torch.unique(boxes.patterns.flatten(1), dim=0, return_inverse=True)
    patterns = kinds.reshape(-1, 1, height, breadth)
    padded = torch.nn.functional.pad(table, (breadth - 1, breadth - 1, height - 1, height - 1))
    # conv2d correlates: out[u, v] = Σ_ab w[a, b] padded[u + a, v + b]; flipping the pattern makes κ(u − a, v − b)
    sums = torch.nn.functional.conv2d(padded[None, None], patterns.flip(2, 3))[0]
    out = bags.weights.new_empty(bags.count, len(layout.row))
    origin_row, origin_column = layout.shape[0] - 1, layout.shape[1] - 1
    place = layout.row * layout.shape[1] + layout.column
    whole = len(place) == layout.shape[0] * layout.shape[1] and bool((place.diff() == 1).all())
    corners = zip(which.tolist(), boxes.top.tolist(), boxes.left.tolist(), strict=True)
    for bag, (kind, top, left) in enumerate(corners):
        rows, columns = origin_row - top, origin_column - left
        window = sums[kind, rows : rows + layout.shape[0], columns : columns + layout.shape[1]].reshape(-1)
        out[bag] = window if whole else window[place]
    return out
