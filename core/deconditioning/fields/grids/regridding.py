"""Regridding of fields: area means onto coarser cells, interpolation onto finer ones."""

from dataclasses import replace

import numpy as np

from deconditioning.fields.gridded import Fields
from deconditioning.fields.grids.grid import Grid, cell_edges, make_grid
from deconditioning.fields.grids.interpolate import bilinear_at, locate, nearest_at, scattered_at
from deconditioning.fields.grids.overlap import overlap, same_grid
from deconditioning.fields.grids.pixel_shares import Shares
from deconditioning.fields.grids.sphere import unit_vectors

#: Cosine of the angle from the middle of a region beyond which its flat picture is too distorted.
_SEEN = 0.5


def how_sampled(grid: Grid, onto: Grid) -> str:
    """The method of `sample` between two grids, in words."""
    if same_grid(grid, onto):
        return "its own values"
    if np.median(onto.steradians()) >= np.median(grid.steradians()) * (1 - 1e-6):
        return "its mean over each cell, weighted by overlap"
    return f"its {'' if grid.kind == 'curvilinear' else 'bilinear '}interpolation at each cell's centre"


def sample(grid: Grid, values: np.ndarray, onto: Grid) -> tuple[np.ndarray, str]:
    """Values (H, W) of ``grid`` regridded to the cells of ``onto``: ((cells,), method in words).

    If its cells are no larger than the target's: means weighted by common area (`overlap`), NaN if less than half of a
    target cell is covered by valid ones. If they are larger: bilinear interpolation at the target cell's centre, on
    triangles of cell centres for a curvilinear grid; NaN outside the grid.

    A value that is missing at the nearest centre is missing.
    """
    how = how_sampled(grid, onto)
    if how.startswith("its own"):
        return np.asarray(values, dtype=float).ravel(), how
    if "mean" in how:
        return overlap(grid, onto).mean(values), how
    latitude, longitude = onto.latitude.ravel(), onto.longitude.ravel()
    if grid.kind == "curvilinear":
        result = _between_centres(grid, values, latitude, longitude)
    else:
        result = bilinear_at(grid, values, *grid.native(latitude, longitude))
    return np.where(locate(grid, latitude, longitude) >= 0, result, np.nan), how


def _between_centres(grid: Grid, values: np.ndarray, latitude: np.ndarray, longitude: np.ndarray) -> np.ndarray:
    """Linear on triangles between the valid centres of a region, seen from above its middle; nearest where it is large.

    A value that is missing at the nearest centre is missing.
    """
    points = unit_vectors(grid.latitude, grid.longitude).reshape(-1, 3)
    at = unit_vectors(latitude, longitude)
    nearest = nearest_at(points, values.ravel(), at)
    middle = points.mean(axis=0)
    middle /= np.linalg.norm(middle)
    if min((points @ middle).min(), (at @ middle).min()) < _SEEN:
        return nearest
    east = np.cross([0.0, 0.0, 1.0] if abs(middle[2]) < 0.9 else [1.0, 0.0, 0.0], middle)
    frame = np.stack([east / np.linalg.norm(east), np.cross(middle, east / np.linalg.norm(east))], axis=1)
    valid = np.isfinite(values).ravel()
    result = scattered_at(points[valid] @ frame, values.ravel()[valid], at @ frame, smooth=False)
    return np.where(np.isfinite(nearest), result, np.nan)


def cover(grid: Grid, valid: np.ndarray, shares: Shares, onto: Grid) -> np.ndarray:
    """(cells,) share of each cell of ``onto`` that lies under the valid pixels (H, W) of ``grid``."""
    return replace(shares, weight=None).valid_area(valid, grid.steradians())[0] / onto.steradians().ravel()


def facing(fields: Fields, centre: float) -> tuple[Grid, np.ndarray]:
    """The grid of a global field with its seam opposite ``centre`` (degrees), and the order of its columns."""
    grid = fields.grid
    order = np.arange(len(grid.x))
    if not grid.wraps or grid.kind != "latlon":
        return grid, order
    order = np.roll(order, -int(np.argmin((grid.x - (centre - 180.0)) % 360.0)))
    x = np.unwrap(grid.x[order], period=360.0)
    x = x - 360.0 * round((float(x.mean()) - centre) / 360.0)
    names = (grid.y_name, grid.x_name)
    edges = cell_edges(x, False)
    if not np.array_equal(grid.x_edges, cell_edges(grid.x, False)):  # bounds of the file's own
        west, east = (sides[order] - grid.x[order] for sides in (grid.x_edges[:-1], grid.x_edges[1:]))
        edges = np.append(x + west, x[-1] + east[-1])
    return make_grid("latlon", grid.y, x, names=names, edges=(grid.y_edges, edges), wraps=True), order


def box_around(index: np.ndarray, shape: tuple[int, int], margin: int) -> tuple[slice, slice]:
    """Rows and columns that hold the cell indices (−1 left out), and ``margin`` more on each side."""
    rows, columns = np.divmod(index[index >= 0], shape[1])
    limits = [(int(v.min()) - margin, int(v.max()) + 1 + margin) for v in (rows, columns)]
    first, second = (slice(max(a, 0), min(b, size)) for (a, b), size in zip(limits, shape, strict=True))
    return first, second
