"""Regions with outlines and the pixels of a grid in them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deconditioning.fields.footprints.outline_checks import in_one_piece
from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.grids.outlines import outlines_on_cylinder, sizes_of, upward
from deconditioning.fields.grids.polygons import as_polygons, shared_areas

#: Corners per pixel of a region's sides, which are straight lines of longitude and latitude and bend elsewhere.
_CORNERS = 2
#: Parts of a pixel that rounding makes.
_ROUNDED = 1e-9


@dataclass(frozen=True, eq=False)
class Regions:
    """``n`` regions.

    Parameters
    ----------
    geometry : (n,) shapely polygons of longitudes and latitudes in degrees, with holes and islands.
    value : (n,) what was measured there, as a mean over the region; NaN where there is none.
    name : what each is called.
    units : of the values; "" if they are not known.
    source : name of the file.
    notes : sentences on how it was read.
    error : (n,) standard deviation of each value's error; None for none.
    cell : (n,) place of each among the cells of a problem, row by row; None before there is one.
    time : of the values, where a table of several times says it.
    """

    geometry: np.ndarray
    value: np.ndarray
    name: tuple[str, ...]
    units: str = ""
    source: str = "the regions"
    notes: tuple[str, ...] = ()
    error: np.ndarray | None = None
    cell: np.ndarray | None = None
    time: np.datetime64 | None = None

    def middles(self) -> tuple[np.ndarray, np.ndarray]:
        """(n,) latitudes and longitudes of the regions' middles."""
        import shapely

        middle = shapely.centroid(in_one_piece(self.geometry))
        return shapely.get_y(middle), (shapely.get_x(middle) + 180.0) % 360.0 - 180.0


@dataclass(frozen=True, eq=False)
class Inside:
    """Pairs of regions and pixels: flat ``pixel`` (m,), ``region`` (m,), ``fraction`` (m,) of the pixel inside, and the
    share of each region (n,) that lies on the grid."""

    pixel: np.ndarray
    region: np.ndarray
    fraction: np.ndarray
    covered: np.ndarray


def pixels_inside(grid: Grid, regions: np.ndarray) -> Inside:
    """What regions (n,), shapely polygons in degrees, have of the pixels of a grid, by area.

    Exact in the plane of the grid's own coordinates, with sin φ for a (rotated) latitude, for outlines whose sides are
    cut to half a pixel; on a curvilinear grid in the plane of longitude and sin φ.
    """
    import shapely

    box, sizes, outlined = _pixels(grid)
    placed = _placed(grid, regions)
    there = np.flatnonzero(np.isfinite(sizes))
    west, south, east, north = shapely.bounds(placed).T
    parts = []
    for turn in (0.0,) if grid.kind == "projected" else (0.0, -360.0, 360.0):
        low, high = (west.min() + turn, south.min()), (east.max() + turn, north.max())
        near = there[((box[there, :2] < high) & (box[there, 2:] > low)).all(axis=1)]
        region, pixel, areas = shared_areas(_moved(placed, turn), outlined(near))
        parts.append((near[pixel], region, areas))
    pixel, region, areas = (np.concatenate(each) for each in zip(*parts, strict=True))
    covered = np.bincount(region, areas, len(regions)) / shapely.area(placed)
    fraction = areas / sizes[pixel]
    positive = fraction > _ROUNDED
    fraction = np.where(fraction > 1 - _ROUNDED, 1.0, fraction)
    return Inside(pixel[positive], region[positive], fraction[positive], covered)


def _moved(regions: np.ndarray, east: float) -> np.ndarray:
    import shapely

    return regions if east == 0 else shapely.transform(regions, lambda at: at + np.array([east, 0.0]))


def _pixels(grid: Grid) -> tuple[np.ndarray, np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """Of the pixels in the grid's plane the lowest and highest x and y (N, 4), the areas (N,), NaN without an outline,
    and what makes polygons of some of them."""
    import shapely

    if grid.kind == "curvilinear":
        y, x = outlines_on_cylinder(grid, grid.centre_longitude())
        box = np.stack([x.min(axis=1), y.min(axis=1), x.max(axis=1), y.max(axis=1)], axis=1)
        return box, sizes_of(grid, (y, x), None), lambda some: as_polygons(y[some], x[some])
    y, x = upward(grid), grid.x_edges
    rows, columns = np.divmod(np.arange(grid.area.size), len(grid.x))
    box = np.stack([x[columns], y[rows], x[columns + 1], y[rows + 1]], axis=1)
    sizes = np.where(grid.area.ravel() > 0, np.outer(np.diff(y), np.diff(x)).ravel(), np.nan)
    return box, sizes, lambda some: shapely.box(*box[some].T)


def _placed(grid: Grid, regions: np.ndarray) -> np.ndarray:
    """The regions in the grid's plane, each in one piece."""
    import shapely

    step = np.rad2deg(np.sqrt(np.median(grid.steradians()))) / _CORNERS
    cut = shapely.segmentize(in_one_piece(regions), max(step, 1e-6))
    at, index = shapely.get_coordinates(cut, return_index=True)
    y, x, middle = at[:, 1], at[:, 0], grid.centre_longitude()
    if grid.kind in ("rotated", "projected"):
        y, x = grid.native(y, x)
    if grid.kind != "curvilinear":
        middle = 0.5 * (grid.x_edges[0] + grid.x_edges[-1])
    if grid.kind == "rotated":
        first = x[np.concatenate([[0], np.flatnonzero(np.diff(index)) + 1])][index]
        x = first + (x - first + 180.0) % 360.0 - 180.0
    if grid.kind != "projected":
        mean = np.bincount(index, x) / np.bincount(index)
        x, y = x - 360.0 * np.round((mean - middle) / 360.0)[index], np.sin(np.deg2rad(y))
    return shapely.set_coordinates(cut, np.stack([x, y], axis=1))
