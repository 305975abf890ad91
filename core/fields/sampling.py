"""Fields carried from one grid to another: area means onto coarser cells, interpolation onto finer ones."""

from dataclasses import replace

import numpy as np

from core.fields.blocks import cell_mean
from core.fields.grid import Grid, make_grid
from core.fields.gridded import Fields
from core.fields.interpolate import bilinear_at, locate, nearest_at
from core.fields.sphere import unit_vectors

MANY = 4.0


def sample(grid: Grid, values: np.ndarray, onto: Grid) -> tuple[np.ndarray, str]:
    """Values (H, W) of ``grid`` carried onto the cells of ``onto``: ((cells,), how in words).

    Where four or more source cells fall into a target cell on average: their area-weighted mean.
    Otherwise bilinear interpolation at the cell's centre, or the nearest cell of a curvilinear grid.
    NaN outside the source grid.
    """
    index = locate(onto, grid.latitude, grid.longitude)
    count = np.bincount(index[index >= 0], minlength=onto.area.size)
    hit = count > 0
    if hit.any() and count[hit].mean() >= MANY:
        means = cell_mean(values, grid.steradians(), index, onto.area.size)
        return np.where(count >= 0.5 * np.median(count[hit]), means, np.nan), "its area mean over each cell"
    latitude, longitude = onto.latitude.ravel(), onto.longitude.ravel()
    inside = locate(grid, latitude, longitude) >= 0
    if grid.kind == "curvilinear":
        points = unit_vectors(grid.latitude, grid.longitude).reshape(-1, 3)
        found = nearest_at(points, values.ravel(), unit_vectors(latitude, longitude))
        return np.where(inside, found, np.nan), "its nearest value to each cell's centre"
    found = bilinear_at(grid, values, *grid.native(latitude, longitude))
    return np.where(inside, found, np.nan), "its bilinear interpolation at each cell's centre"


def cover(grid: Grid, valid: np.ndarray, cell: np.ndarray, onto: Grid) -> np.ndarray:
    """(cells,) share of each cell of ``onto`` that lies under the valid pixels (H, W) of ``grid``."""
    inside = (cell >= 0) & valid
    size = onto.steradians().ravel()
    return np.bincount(cell[inside], grid.steradians()[inside], size.size) / size


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
    turned = make_grid("latlon", grid.y, x, names=names, wraps=True)
    return replace(turned, y_edges=grid.y_edges), order


def box_around(index: np.ndarray, shape: tuple[int, int], margin: int) -> tuple[slice, slice]:
    """Rows and columns that hold the cell indices (−1 left out), and ``margin`` more on each side."""
    rows, columns = np.divmod(index[index >= 0], shape[1])
    limits = [(int(v.min()) - margin, int(v.max()) + 1 + margin) for v in (rows, columns)]
    first, second = (slice(max(a, 0), min(b, size)) for (a, b), size in zip(limits, shape, strict=True))
    return first, second
