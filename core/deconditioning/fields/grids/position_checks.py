"""Compares two sources of positions: rows and columns of a map, and two-dimensional latitudes and longitudes.

If they agree, rows and columns are used, which have exact edges. If not, the two-dimensional positions are used, which
need neither a mapping nor units, unless they cannot be right.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.grids.axes import Axes, sheets
from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.grids.sphere import unit_vectors

if TYPE_CHECKING:
    import xarray as xr

#: Cells that two accounts may lie apart, more than staggered positions do, and radians that single precision rounds.
_APART, _ROUNDED = 0.75, 1e-6
#: Share of a step from which on a difference of most positions is worth a word.
_SHIFTED = 0.3
#: Shares of half a turn and of a turn from which on positions go round the Earth, and what a turn is rounded by.
_POLE_TO_POLE, _ONCE_ROUND, _ROUNDED_TURN = 0.75, 0.95, 1e-3
#: Rows and columns that are compared, and the share of their places that may differ.
_COMPARED, _FEW = 33, 0.02


def positions_on_axes(dataset: "xr.Dataset", axes: Axes) -> Axes | None:
    """Two-dimensional positions on the rows and columns of other axes; None if there are none."""
    if axes.kind == "curvilinear":
        return None
    both = {axes.y_dim, axes.x_dim}
    result = next((sheet for sheet in sheets(dataset) if {sheet.y_dim, sheet.x_dim} == both), None)
    return None if result is None else replace(result, y_dim=axes.y_dim, x_dim=axes.x_dim)


def agree(grid: Grid, latitude: np.ndarray, longitude: np.ndarray) -> str | None:
    """None if positions (H, W) are those of the grid's cells; else how far apart they are, in words.

    Missing positions count as agreeing.
    """
    distances, step = _distances(grid, latitude, longitude)
    if not distances.size or np.mean(distances > max(_APART * step, _ROUNDED)) <= _FEW:
        return None
    north, south = grid.latitude.max(), grid.latitude.min()
    return f"{south:.4f} to {north:.4f} degrees north against {np.nanmin(latitude):.4f} to {np.nanmax(latitude):.4f}"


def part_of_a_cell(grid: Grid, latitude: np.ndarray, longitude: np.ndarray) -> bool:
    """Whether positions (H, W) mostly lie a good part of a cell from the grid's, as those of corners or of a staggered
    grid do."""
    distances, step = _distances(grid, latitude, longitude)
    return bool(distances.size and np.median(distances) > max(_SHIFTED * step, _ROUNDED))


def _distances(grid: Grid, latitude: np.ndarray, longitude: np.ndarray) -> tuple[np.ndarray, float]:
    """How far some of the known positions lie from the grid's, (n,), and the step of neighbours, in radians."""
    rows, columns = (np.unique(np.linspace(0, size - 1, _COMPARED).astype(int)) for size in grid.shape)
    some = np.ix_(rows, columns)
    cells = unit_vectors(grid.latitude[some], grid.longitude[some])
    other = unit_vectors(latitude[some], longitude[some])
    distance = np.linalg.norm(cells - other, axis=-1)
    step = max(_step(grid.latitude, grid.longitude), _step(latitude, longitude))
    return distance[np.isfinite(distance)], step


def _step(latitude: np.ndarray, longitude: np.ndarray) -> float:
    """Median distance of neighbours along the longer side of a cell, in radians."""
    result = [0.0]
    for axis in (0, 1):
        some = tuple(slice(None) if a == axis else slice(None, None, max(1, latitude.shape[a] // 9)) for a in (0, 1))
        steps = np.linalg.norm(np.diff(unit_vectors(latitude[some], longitude[some]), axis=axis), axis=-1)
        result.append(float(np.nanmedian(steps)) if np.isfinite(steps).any() else 0.0)
    return max(result)


def may_be_radians(latitude: np.ndarray, longitude: np.ndarray, names: tuple[str, str], sure: bool) -> list[str]:
    """A sentence on positions in degrees, of any shape and NaN where missing, that look like radians; none on others.

    ``sure`` says that they are in degrees by their units, or lie along two axes. Raises ``InputError`` for longitudes
    once round in radians, and for positions that may be either.
    """
    both, ends = f"`{names[0]}` and `{names[1]}`", []
    for values, limit in ((latitude, np.pi / 2), (longitude, 2 * np.pi)):
        known = values[np.isfinite(values)]
        if not known.size or np.abs(known).max() > limit + _ROUNDED_TURN:
            return []
        ends.append((float(known.min()), float(known.max())))
    (south, north), (west, east) = ends
    words = f"{both} run from {south:.4g} to {north:.4g} and from {west:.4g} to {east:.4g}"
    if north - south > _POLE_TO_POLE * np.pi and east - west > _ONCE_ROUND * 2 * np.pi:
        raise InputError(
            f"{words}, a full circle in radians: give them the units radians, or degrees if they are degrees."
        )
    if not sure:
        raise InputError(f"{words} without units, which may be degrees or radians: give them units.")
    return [f"{words}, which is read as degrees: if they are radians, give them the units radians."]
