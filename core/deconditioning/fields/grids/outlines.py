"""The outlines of a grid's cells, in the plane of another grid or of longitude and sin φ."""

import numpy as np

from deconditioning.fields.grids import sphere
from deconditioning.fields.grids.grid import Grid

#: Width of a cell, in radians, above which its sides bend.
_BENT = np.deg2rad(0.2)


def upward(grid: Grid) -> np.ndarray:
    """(H+1,) edges of the rows in a coordinate that makes areas of a sphere: sin φ, or y of a map."""
    return grid.y_edges if grid.kind == "projected" else np.sin(np.deg2rad(grid.y_edges))


def _outlines(grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    """(N, m) true latitudes and longitudes around each cell: along its own lines, or great circles between corners.

    Sides of large cells bend in the plane of another grid: they go through three more points.
    """
    parts = 1 if np.sqrt(np.median(grid.steradians())) < _BENT else 4
    t = np.arange(parts) / parts
    if grid.kind == "curvilinear":
        corners = sphere.unit_vectors(*grid.corners())[..., None, :]
        sides = (1 - t)[:, None] * corners + t[:, None] * np.roll(corners, -1, axis=-3)
        latitude, longitude = sphere.from_unit_vectors(sides)
    else:
        up = np.concatenate([0 * t, t, 1 + 0 * t, 1 - t])
        right = np.concatenate([t, 1 + 0 * t, 1 - t, 0 * t])
        y = (grid.y_edges[:-1, None] + np.diff(grid.y_edges)[:, None] * up)[:, None] + 0 * grid.x[:, None]
        x = (grid.x_edges[:-1, None] + np.diff(grid.x_edges)[:, None] * right)[None] + 0 * y
        latitude, longitude = sphere.true_position(grid.kind, y, x, grid.mapping)
    return latitude.reshape(grid.area.size, -1), longitude.reshape(grid.area.size, -1)


def in_plane(grid: Grid, native: Grid) -> tuple[np.ndarray, np.ndarray]:
    """(N, m) outlines of a grid's cells in another's native plane, each in one piece beside the other's middle."""
    y, x = native.native(*_outlines(grid))
    if native.kind == "projected":
        return y, x
    return _on_cylinder(y, x, 0.5 * (native.x_edges[0] + native.x_edges[-1]))


def outlines_on_cylinder(grid: Grid, middle: float) -> tuple[np.ndarray, np.ndarray]:
    """(N, m) sin φ and longitude around each cell, which keep areas, each in one piece beside a ``middle`` (degrees).

    Along the cells' own lines, or great circles between corners.
    """
    return _on_cylinder(*_outlines(grid), middle)


def _on_cylinder(y: np.ndarray, x: np.ndarray, middle: float) -> tuple[np.ndarray, np.ndarray]:
    """(N, m) outlines in degrees as sin φ and longitude, which keep areas, each in one piece beside a ``middle``."""
    x = x[:, :1] + (x - x[:, :1] + 180.0) % 360.0 - 180.0
    x = x - 360.0 * np.round((x.mean(axis=1, keepdims=True) - middle) / 360.0)
    return np.sin(np.deg2rad(y)), x


def sizes_of(grid: Grid, around: tuple[np.ndarray, np.ndarray], native: Grid | None) -> np.ndarray:
    """(N,) areas of a grid's cells by their outlines (N, m) in the plane of another grid, or of longitude and sin φ.

    NaN for a cell that is not there, or around a pole.
    """
    y, x = around
    areas = np.abs(((x * np.roll(y, -1, axis=1)) - (np.roll(x, -1, axis=1) * y)).sum(axis=1)) / 2
    there = np.isfinite(areas) & (grid.area.ravel() > 0)
    if native is None or native.kind != "projected":
        there &= np.ptp(x, axis=1) < 180.0
    return np.where(there, areas, np.nan)
