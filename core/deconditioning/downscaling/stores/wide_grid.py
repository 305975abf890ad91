"""The pixels of a store on the model's grid, extended as far as the store reaches.

A model's grid consists of whole cells; a store may have a few rows and columns more, or fewer. On one common grid, sums
over bags depend only on the position of a pixel.
"""

from dataclasses import dataclass, replace

import numpy as np
import torch

from deconditioning.bag_sums.offsets import Cells, GridLayout
from deconditioning.bag_sums.pixel_sums import Picture
from deconditioning.bag_sums.sphere import SphereLayout
from deconditioning.downscaling.pictures.layouts import grid_layout, plane_layout, sphere_layout
from deconditioning.downscaling.prediction import picture_of
from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.grids.sphere import unit_vectors, wrap_longitude
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.scaling import Scaling

#: How far apart the same row or column may lie in both grids, in steps.
_SAME = 1e-6


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

    def cells(self, rows: slice, columns: slice, kept: np.ndarray) -> Cells:
        """The cells of the store's window of rows and columns, those that are ``kept`` (h, w)."""
        row, column = np.meshgrid(self.rows[rows], self.columns[columns], indexing="ij")
        return Cells(self.shape, torch.as_tensor(row[kept]), torch.as_tensor(column[kept]))


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


def wide_picture(problem: DownscalingProblem, wide: WideGrid | None) -> Picture:
    """The problem's pixels with the bags among them, their layout being that of the common grid."""
    picture = picture_of(problem)
    return picture if wide is None else replace(picture, layout=_layout(problem, wide))


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
