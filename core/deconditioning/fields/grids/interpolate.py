"""Interpolation on grids with missing cells: bilinear by corner weights, scattered by triangles."""

import numpy as np

from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.grids.sphere import unit_vectors


def _fractional(axis: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lower index and weight of the upper neighbour of positions on an ascending axis; constant beyond its ends."""
    if len(axis) == 1:
        return np.zeros(at.shape, dtype=int), np.zeros(at.shape)
    low = np.clip(np.searchsorted(axis, at, side="right") - 1, 0, len(axis) - 2)
    return low, np.clip((at - axis[low]) / (axis[low + 1] - axis[low]), 0.0, 1.0)


def pad_around(x: np.ndarray, values: np.ndarray, wraps: bool, width: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Columns repeated beyond the seam of a field that goes round the sphere."""
    if not wraps:
        return x, values
    width = min(width, len(x))
    x = np.concatenate([x[-width:] - 360.0, x, x[:width] + 360.0])
    return x, np.concatenate([values[:, -width:], values, values[:, :width]], axis=1)


def bilinear_at(grid: Grid, values: np.ndarray, y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(n,) bilinear values at native positions; the weights of missing corners are given to the others.

    NaN where the corners with values have less than half of the weight.
    """
    axis, values = pad_around(grid.x, values, grid.wraps)
    (row, up), (column, right) = _fractional(grid.y, y), _fractional(axis, x)
    rows, columns = np.minimum(row + 1, len(grid.y) - 1), np.minimum(column + 1, len(axis) - 1)
    total, weight = np.zeros(y.shape), np.zeros(y.shape)
    for r, wy in ((row, 1 - up), (rows, up)):
        for c, wx in ((column, 1 - right), (columns, right)):
            corner = values[r, c]
            valid = np.isfinite(corner)
            weight += wy * wx * valid
            total += wy * wx * np.where(valid, corner, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(weight >= 0.5 - 1e-12, total / weight, np.nan)


def nearest_at(points: np.ndarray, values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Values of the nearest of (n, q) points at (m, q) positions."""
    from scipy.spatial import cKDTree

    return values[cKDTree(points).query(at)[1]]


def scattered_at(points: np.ndarray, values: np.ndarray, at: np.ndarray, smooth: bool) -> np.ndarray:
    """Linear (or Clough–Tocher cubic) values on the triangles of (n, 2) points at (m, 2); nearest outside the hull."""
    from scipy.interpolate import CloughTocher2DInterpolator, LinearNDInterpolator
    from scipy.spatial import QhullError

    near = nearest_at(points, values, at)
    try:
        surface = (CloughTocher2DInterpolator if smooth else LinearNDInterpolator)(points, values)(at)
    except QhullError:  # all points on one line: there are no triangles
        return near
    return np.where(np.isfinite(surface), surface, near)


def linear_at(points: np.ndarray, values: np.ndarray, at: np.ndarray) -> float:
    """``scattered_at`` of few points (n, 2) at a single position (2,), without setting up an interpolator."""
    from scipy.spatial import Delaunay, QhullError

    offset = points - at
    nearest = float(values[np.square(offset).sum(axis=1).argmin()])
    try:
        corners = Delaunay(points).simplices
    except QhullError:  # too few, or all on one line
        return nearest
    x, y = offset[corners, 0], offset[corners, 1]
    # twice the area of the triangle that the position makes with the side opposite to each corner
    areas = np.roll(x, -1, axis=1) * np.roll(y, -2, axis=1) - np.roll(x, -2, axis=1) * np.roll(y, -1, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = np.nan_to_num(areas / areas.sum(axis=1, keepdims=True), nan=-np.inf)
    best = weights.min(axis=1).argmax()
    return float(weights[best] @ values[corners[best]]) if weights[best].min() >= -1e-9 else nearest


def locate(grid: Grid, latitude: np.ndarray, longitude: np.ndarray) -> np.ndarray:
    """Row-major index of the cell of ``grid`` that contains each true position, −1 outside.

    A curvilinear grid has no edges: the nearest cell centre counts if its distance is at most 1.5 times the typical
    distance between neighbours.
    """
    if grid.kind == "curvilinear":
        return _locate_nearest(grid, latitude, longitude)
    y, x = grid.native(latitude, longitude)
    row = np.searchsorted(grid.y_edges, y, side="right") - 1
    column = np.searchsorted(grid.x_edges, x, side="right") - 1
    row = np.where(y == grid.y_edges[-1], len(grid.y) - 1, row)
    column = np.where(x == grid.x_edges[-1], len(grid.x) - 1, column)
    inside = (row >= 0) & (row < len(grid.y)) & (column >= 0) & (column < len(grid.x))
    return np.where(inside, row * len(grid.x) + column, -1)


def _locate_nearest(grid: Grid, latitude: np.ndarray, longitude: np.ndarray) -> np.ndarray:
    from scipy.spatial import cKDTree

    centres = unit_vectors(grid.latitude, grid.longitude)
    steps = [np.linalg.norm(np.diff(centres, axis=axis), axis=-1) for axis in (0, 1) if grid.shape[axis] > 1]
    limit = 1.5 / np.sqrt(2) * max(float(np.median(step)) for step in steps)
    distance, index = cKDTree(centres.reshape(-1, 3)).query(unit_vectors(latitude, longitude))
    return np.where(distance <= limit, index, -1)
