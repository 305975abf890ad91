"""The pixels of a store on the model's grid, extended as far as the store reaches.

A model's grid consists of whole cells; a store may have a few rows and columns more, or fewer. On one common grid, sums
over bags depend only on the position of a pixel.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch

from deconditioning.bag_sums.offsets import Cells, GridLayout
from deconditioning.bag_sums.region_sums import RegionSums, region_sums
from deconditioning.bag_sums.sphere import SphereLayout
from deconditioning.downscaling.pictures.layouts import grid_layout, plane_layout, sphere_layout
from deconditioning.downscaling.prediction import picture_of
from deconditioning.errors import Check, InputError
from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.grids.sphere import unit_vectors, wrap_longitude
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.scaling import Scaling
from deconditioning.kernels.spec import KernelSpec

#: How far apart the same row or column may lie in both grids, in steps.
_SAME = 1e-6
#: How far apart the same coordinate may lie in a store and the model's own file, in steps of the grid.
_NEAR = 1e-2


@dataclass(frozen=True, eq=False)
class WideGrid:
    """The common grid: its ``y`` (H',) and ``x`` (W',), and where on it lie the store's rows (H,) and columns (W,)
    and the model's first pixel, ``corner``."""

    y: np.ndarray
    x: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    corner: tuple[int, int]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the common grid."""
        return len(self.y), len(self.x)

    def cells(self, rows: slice, columns: slice, mask: np.ndarray) -> Cells:
        """The cells of the store's window of rows and columns, those that are ``mask`` (h, w)."""
        row, column = np.meshgrid(self.rows[rows], self.columns[columns], indexing="ij")
        return Cells(self.shape, torch.as_tensor(row[mask]), torch.as_tensor(column[mask]))

    def own_cells(self, problem: DownscalingProblem) -> Cells:
        """The cells of the problem's pixels."""
        row, column = np.divmod(problem.pixel, problem.grid.area.shape[1])
        return Cells(self.shape, torch.as_tensor(row + self.corner[0]), torch.as_tensor(column + self.corner[1]))


def widen(own: Grid, other: Grid) -> WideGrid | None:
    """The model's ``own`` grid continued over the store's; None where they are not one grid, or have no formula."""
    if own.kind == "curvilinear" or own.kind != other.kind or own.mapping != other.mapping or min(own.shape) < 2:
        return None
    x = other.x
    if own.kind in ("latlon", "rotated"):
        # round the sphere every column lies east of the model's first, else nearest to its middle
        west = own.x[0] - _SAME * (own.x[1] - own.x[0]) if own.wraps else 0.5 * (own.x[0] + own.x[-1]) - 180.0
        x = west + (other.x - west) % 360.0
    down, across = _continued(own.y, other.y), _continued(own.x, x)
    if down is None or across is None:
        return None
    return WideGrid(down[0], across[0], down[1], across[1], (down[2], across[2]))


def _continued(own: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray, int] | None:
    """An axis with those values of another beyond its ends, where the other's values lie on it, and its own first."""
    slack = _SAME * float(np.diff(own).min())
    before, after = np.sort(other[other < own[0] - slack]), np.sort(other[other > own[-1] + slack])
    axis = np.concatenate([before, own, after])
    place = np.abs(axis[None, :] - other[:, None]).argmin(axis=1)
    return (axis, place, len(before)) if np.abs(axis[place] - other).max() <= slack else None


def wide_sums(
    kernel: KernelSpec, problem: DownscalingProblem, wide: WideGrid | None, device: torch.device, check: Check
) -> RegionSums:
    """Sums over the problem's bags for any region; their layout is that of the common grid."""
    picture = picture_of(problem)
    picture = picture if wide is None else replace(picture, layout=_layout(problem, wide))
    return region_sums(kernel, picture.to(device), check=check)


def _layout(problem: DownscalingProblem, wide: WideGrid) -> GridLayout | SphereLayout | None:
    own = grid_layout(problem)
    if own is None:
        return None
    cells = Cells(wide.shape, own.cells.row + wide.corner[0], own.cells.column + wide.corner[1])
    if isinstance(own, GridLayout):
        return plane_layout(problem.inputs, cells)
    latitude, longitude = np.meshgrid(wide.y, wrap_longitude(wide.x), indexing="ij")
    scaling = Scaling(problem.columns[:3], problem.input_scaling.scales[:3])
    return sphere_layout(wide.x, scaling.forward(unit_vectors(latitude, longitude)), problem.inputs, cells)


def check_grid(problem: DownscalingProblem, grid: Grid) -> None:
    """``InputError`` where a store's grid is not the model's, or reaches beyond its cells by more than one cell."""
    own = problem.grid
    if own.kind != grid.kind or own.mapping != grid.mapping:
        raise InputError(
            f"The store's grid is {grid.kind}, the model's {own.kind} (or their projections differ): remap the "
            "covariates to the model's grid."
        )
    if own.kind == "curvilinear":
        same = own.shape == grid.shape and np.allclose(own.latitude, grid.latitude, atol=1e-4)
        if not (same and np.allclose(own.longitude, grid.longitude, atol=1e-4)):
            raise InputError("The store's curvilinear grid is not the model's: remap the covariates to its grid.")
        return
    middle, period = 0.5 * (own.x_edges[0] + own.x_edges[-1]), 360.0 if own.kind in ("latlon", "rotated") else None
    x = grid.x if period is None else middle + (grid.x - middle + 180.0) % period - 180.0
    _check_axis(own.y, grid.y, problem.spec.block[0], "rows", False)
    _check_axis(own.x, np.sort(x), problem.spec.block[1], "columns", own.wraps)


def _check_axis(own: np.ndarray, other: np.ndarray, cell: int, what: str, around: bool) -> None:
    step = float(np.median(np.diff(own)))
    inside = other[(other >= own[0] - _NEAR * step) & (other <= own[-1] + _NEAR * step)]
    nearest = np.abs(own[:, None] - inside[None, :]).min(axis=0) if len(inside) else np.array([np.inf])
    finer = abs(float(np.median(np.diff(other))) - step) > _NEAR * step
    if finer or nearest.max() > _NEAR * step:
        raise InputError(
            f"The store's {what} ({len(other)}, {other[0]:g} to {other[-1]:g}) differ from those of the model's grid "
            f"({len(own)}, {own[0]:g} to {own[-1]:g}): remap the covariates to the model's grid."
        )
    beyond = max(own[0] - other[0], other[-1] - own[-1]) / step
    if not around and beyond > cell + 0.5:
        raise InputError(
            f"The store's {what} reach {beyond:.0f} pixels beyond the model's cells, where only the prior is "
            "available: crop the store to the model's region."
        )
