"""Isotropic kernels on the sphere, on a grid of longitudes: a value depends only on two latitudes and Δλ.

``c_j(x) = Σ_b S_b(r, |s − s_j − b|)`` with ``S_b(r, Δ) = Σ_a w_ab κ(r, r_j + a, Δ)`` for a pixel in row r, column s and
a bag with corner (r_j, s_j). This is exact; the kernel is evaluated at most H²×W times instead of once per pair.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import gpytorch
import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning.bag_sums.offsets import Boxes, Cells, Windows, find_boxes
from deconditioning.kernels.fused import Tiles
from deconditioning.observations import Bags

#: Points of a tile: few for a processor's cache, many for a GPU, where each tile costs some launches.
_POINTS, _POINTS_ON_GPU = 8192, 1 << 18


@dataclass(frozen=True)
class SphereLayout:
    """Points on a grid of evenly spaced longitudes, any latitudes.

    ``vectors`` (H, W, 3): scaled unit vectors of the whole grid, z along the axis that the longitudes go round;
    ``axes`` the input columns that hold x, y and z.
    """

    cells: Cells
    vectors: Float[Tensor, "H W 3"]
    axes: tuple[int, int, int]
    #: Whether distances depend on the rows themselves, not on how far apart they are alone.
    rows_differ: ClassVar[bool] = True

    def distance(self, row: Tensor, other: Tensor, columns: Tensor) -> Tensor:
        """Between cells of two rows, so many columns apart; of the outermost where there are no more."""
        last, end = self.cells.shape[0] - 1, self.cells.shape[1] - 1
        there = self.vectors[other.clamp_max(last), columns.abs().clamp_max(end)]
        return (self.vectors[row.clamp_max(last), 0] - there).norm(dim=-1)

    def to(self, device: torch.device) -> "SphereLayout":
        """The same on another device."""
        return replace(self, cells=self.cells.to(device), vectors=self.vectors.to(device))

    def windows(
        self, kernel: gpytorch.kernels.Kernel, bags: Bags, points: Int[Tensor, " N"], at: Cells | None = None
    ) -> Windows | None:
        """``c_j`` of every bag; None if the bags' boxes are too large.

        ``points`` tells which point of the layout each row of ``bags`` is, ``at`` the cells of the same grid to give
        the sums at (all points where not given), at the cost of their rows.
        """
        boxes = self.boxes(bags, points)
        return None if boxes is None else self._windows(kernel, boxes, bags.inputs.shape[1], at or self.cells)

    def boxes(self, bags: Bags, points: Int[Tensor, " N"]) -> Boxes | None:
        """The bags' bounding boxes; None if they are too large to be worth it."""
        return find_boxes(bags, self.cells, points)

    def _windows(self, kernel: gpytorch.kernels.Kernel, boxes: Boxes, width: int, at: Cells) -> Windows:
        points = self.vectors.new_zeros(*self.cells.shape, width)
        points[:, :, list(self.axes)] = self.vectors
        columns = self.cells.shape[1]
        band, rows = at.band()
        for top in torch.unique(boxes.top).tolist():
            bags = torch.nonzero(boxes.top == top)[:, 0]
            kinds, which = torch.unique(boxes.patterns[bags].flatten(1), dim=0, return_inverse=True)
            patterns = kinds.reshape(-1, *boxes.patterns.shape[1:])
            sums = [self._sums(kernel, points, rows, top, pattern) for pattern in patterns]
            for bag, kind in zip(bags.tolist(), which.tolist(), strict=True):
                begin = columns - 1 - int(boxes.left[bag])
                yield bag, band.pick(sums[kind][:, begin : begin + columns])

    def _sums(
        self, kernel: gpytorch.kernels.Kernel, points: Tensor, band: slice, top: int, pattern: Float[Tensor, "h w"]
    ) -> Float[Tensor, "R D"]:
        """Sums of one pattern at every row of a band and every offset ``s − s_j`` from −(W−1) to W−1."""
        rows, columns = band.stop - band.start, self.cells.shape[1]
        pattern = pattern[: len(points) - top]
        weights, which = torch.unique(pattern, dim=1, return_inverse=True)
        along, flat = points[top : top + len(pattern), 0], points[band].reshape(-1, points.shape[2])
        every, most = slice(None), _POINTS if flat.device.type == "cpu" else _POINTS_ON_GPU
        parts = [weights.T @ Tiles(kernel, along, part)(every, every) for part in flat.split(most)]
        table = torch.cat(parts, dim=1).reshape(-1, rows, columns)  # κ over Δ = 0 … W−1
        mirrored = torch.cat([table.flip(2)[:, :, :-1], table], dim=2)
        out = mirrored.new_zeros(rows, 2 * columns - 1)
        for shift, kind in enumerate(which.tolist()):
            # offset Δ of a pixel to the corner is Δ − b to column b; beyond −(W−1) no pixel lies
            out[:, shift:] += mirrored[kind, :, : 2 * columns - 1 - shift]
        return out
