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

    def cells_of_pixels(self, problem: DownscalingProblem) -> Cells:
        """The cells of the problem's pixels."""
        row, column = np.divmod(problem.pixel, problem.grid.area.shape[1])
        return Cells(self.shape, torch.as_tensor(row + self.corner[0]), torch.as_tensor(column + self.corner[1]))


def widen(grid: Grid, other: Grid) -> WideGrid | None:
    """The model's ``grid`` continued over the store's; None if they are not one grid, or have no formula."""
    if grid.kind == "curvilinear" or grid.kind != other.kind or grid.mapping != other.mapping or min(grid.shape) < 2:
        return None
    x = other.x
    if grid.kind in ("latlon", "rotated"):
        # round the sphere every column lies east of the model's first, else nearest to its middle
        west = grid.x[0] - _SAME * (grid.x[1] - grid.x[0]) if grid.wraps else 0.5 * (grid.x[0] + grid.x[-1]) - 180.0
        x = west + (other.x - west) % 360.0
    down, across = _continued(grid.y, other.y), _continued(grid.x, x)
    if down is None or across is None:
        return None
    return WideGrid(down[0], across[0], down[1], across[1], (down[2], across[2]))


def _continued(inner: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray, int] | None:
    """An axis with those values of another beyond its ends, where the other's values lie on it, and its own first."""
    slack = _SAME * float(np.diff(inner).min())
    before, after = np.sort(other[other < inner[0] - slack]), np.sort(other[other > inner[-1] + slack])
    axis = np.concatenate([before, inner, after])
    index = np.abs(axis[None, :] - other[:, None]).argmin(axis=1)
    return (axis, index, len(before)) if np.abs(axis[index] - other).max() <= slack else None


def wide_sums(
    kernel: KernelSpec, problem: DownscalingProblem, wide: WideGrid | None, device: torch.device, check: Check
) -> RegionSums:
    """Sums over the problem's bags for any region; their layout is that of the common grid."""
    picture = picture_of(problem)
    picture = picture if wide is None else replace(picture, layout=_layout(problem, wide))
    return region_sums(kernel, picture.to(device), check=check)


def _layout(problem: DownscalingProblem, wide: WideGrid) -> GridLayout | SphereLayout | None:
    inner = grid_layout(problem)
    if inner is None:
        return None
    cells = Cells(wide.shape, inner.cells.row + wide.corner[0], inner.cells.column + wide.corner[1])
    if isinstance(inner, GridLayout):
        return plane_layout(problem.inputs, cells)
    latitude, longitude = np.meshgrid(wide.y, wrap_longitude(wide.x), indexing="ij")
    scaling = Scaling(problem.columns[:3], problem.input_scaling.scales[:3])
    return sphere_layout(wide.x, scaling.forward(unit_vectors(latitude, longitude)), problem.inputs, cells)


def check_grid(problem: DownscalingProblem, grid: Grid) -> None:
    """``InputError`` if a store's grid is not the model's, or reaches beyond its cells by more than one cell."""
    model_grid = problem.grid
    if model_grid.kind != grid.kind or model_grid.mapping != grid.mapping:
        raise InputError(
            f"The store's grid is {grid.kind}, the model's {model_grid.kind} (or their projections differ): remap the "
            "covariates to the model's grid."
        )
    if model_grid.kind == "curvilinear":
        same = model_grid.shape == grid.shape and np.allclose(model_grid.latitude, grid.latitude, atol=1e-4)
        if not (same and np.allclose(model_grid.longitude, grid.longitude, atol=1e-4)):
            raise InputError("The store's curvilinear grid is not the model's: remap the covariates to its grid.")
        return
    middle, period = (
        0.5 * (model_grid.x_edges[0] + model_grid.x_edges[-1]),
        360.0 if model_grid.kind in ("latlon", "rotated") else None,
    )
    x = grid.x if period is None else middle + (grid.x - middle + 180.0) % period - 180.0
    _check_axis(model_grid.y, grid.y, problem.spec.block[0], "rows", False)
    _check_axis(model_grid.x, np.sort(x), problem.spec.block[1], "columns", model_grid.wraps)


def _check_axis(axis: np.ndarray, other: np.ndarray, cell: int, what: str, around: bool) -> None:
    step = float(np.median(np.diff(axis)))
    inside = other[(other >= axis[0] - _NEAR * step) & (other <= axis[-1] + _NEAR * step)]
    nearest = np.abs(axis[:, None] - inside[None, :]).min(axis=0) if len(inside) else np.array([np.inf])
    finer = abs(float(np.median(np.diff(other))) - step) > _NEAR * step
    if finer or nearest.max() > _NEAR * step:
        raise InputError(
            f"The store's {what} ({len(other)}, {other[0]:g} to {other[-1]:g}) differ from those of the model's grid "
            f"({len(axis)}, {axis[0]:g} to {axis[-1]:g}): remap the covariates to the model's grid."
        )
    beyond = max(axis[0] - other[0], other[-1] - axis[-1]) / step
    if not around and beyond > cell + 0.5:
        raise InputError(
            f"The store's {what} reach {beyond:.0f} pixels beyond the model's cells, where only the prior is "
            "available: crop the store to the model's region."
        )
