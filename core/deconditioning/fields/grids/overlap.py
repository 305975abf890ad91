"""What the cells of two grids share of the sphere: the weights of conservative (first-order) means.

Where one of the grids has edges in native coordinates, cells of the other are polygons in the plane of these, with
sin φ for a (rotated) latitude so that areas are those on the sphere, and the area that a polygon shares with a
rectangle is exact there: ``Σ over its sides of ∫ min(max(y(x), y₀), y₁) dx`` within [x₀, x₁], with the sign of the way
round. Two curvilinear grids are polygons in the plane of longitude and sin φ (`polygons.shared_areas`).
Source of the means: Jones 1999, *First- and Second-Order Conservative Remapping Schemes*.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.grids.outlines import in_plane, outlines_on_cylinder, sizes_of, upward
from deconditioning.fields.grids.polygons import as_polygons, shared_areas

#: Pairs of cells that are looked at together.
_TOGETHER = 400_000
#: Relative distance of coordinates that counts as none.
_SAME = 1e-6


@dataclass(frozen=True, eq=False)
class Overlap:
    """``shared`` (cells of one grid × cells of the other) common areas, ``whole`` and ``other`` areas of the cells of
    each, in the plane where they are compared; NaN for cells that have no outline there, such as those with a pole.
    """

    shared: sparse.csr_matrix
    whole: np.ndarray
    other: np.ndarray

    def mean(self, values: np.ndarray) -> np.ndarray:
        """(cells,) means ``Σ a v / Σ a`` of values (H, W) of the other grid over what is valid of each cell.

        NaN where less than half of a cell's area is.
        """
        valid = np.isfinite(values).ravel()
        covered = self.shared @ valid.astype(float)
        total = self.shared @ np.where(valid, values.ravel(), 0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(covered >= 0.5 * self.whole * (1 - 1e-9), total / covered, np.nan)


def same_grid(one: Grid, other: Grid) -> bool:
    """Whether two grids have the same cells, but for rounding of a millionth of a cell."""
    if one is other:
        return True
    if one.shape != other.shape or one.kind != other.kind:
        return False
    step = max(1e-9, float(np.sqrt(np.median(one.steradians()))) * 180 / np.pi)
    north = np.abs(one.latitude - other.latitude).max()
    east = np.abs((one.longitude - other.longitude + 180) % 360 - 180) * np.cos(np.deg2rad(one.latitude))
    return bool(max(north, east.max()) < 1e-3 * step)


def overlap(source: Grid, onto: Grid) -> Overlap:
    """The areas that cells of ``onto`` (rows) share with those of ``source``."""
    if one_system(source, onto):
        return _of_lines(source, onto)
    shape = onto.area.size, source.area.size
    if onto.kind != "curvilinear":
        around = in_plane(source, onto)
        polygons, cells, areas = _pairs(source, around, onto)
        return Overlap(_matrix(cells, polygons, areas, shape), _rectangles(onto), sizes_of(source, around, onto))
    if source.kind != "curvilinear":
        around = in_plane(onto, source)
        polygons, cells, areas = _pairs(onto, around, source)
        return Overlap(_matrix(polygons, cells, areas, shape), sizes_of(onto, around, source), _rectangles(source))
    return _of_outlines(source, onto)


def _matrix(row: np.ndarray, column: np.ndarray, areas: np.ndarray, shape: tuple[int, int]) -> sparse.csr_matrix:
    return sparse.csr_matrix((areas, (row, column)), shape=shape)


def _rectangles(grid: Grid) -> np.ndarray:
    """(N,) areas of cells between lines."""
    return np.outer(np.diff(upward(grid)), np.diff(grid.x_edges)).ravel()


def _of_outlines(source: Grid, onto: Grid) -> Overlap:
    """Two curvilinear grids, in the plane of longitude and sin φ around the middle of the second."""
    middle = onto.centre_longitude()
    (y, x), onto_corners = (outlines_on_cylinder(grid, middle) for grid in (source, onto))
    sizes = [sizes_of(grid, around, None) for grid, around in ((source, (y, x)), (onto, onto_corners))]
    there, cells = (np.flatnonzero(np.isfinite(each)) for each in sizes)
    targets, parts = as_polygons(onto_corners[0][cells], onto_corners[1][cells]), []
    west, east = onto_corners[1][cells].min(initial=np.inf), onto_corners[1][cells].max(initial=-np.inf)
    for turn in (0.0, -360.0, 360.0):
        near = there[(x[there].max(axis=1) + turn > west) & (x[there].min(axis=1) + turn < east)]
        row, column, areas = shared_areas(targets, as_polygons(y[near], x[near] + turn))
        parts.append((cells[row], near[column], areas))
    rows, columns, areas = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Overlap(_matrix(rows, columns, areas, (onto.area.size, source.area.size)), sizes[1], sizes[0])


def one_system(one: Grid, other: Grid) -> bool:
    """Whether rows and columns of both grids run along the same lines."""
    return one.kind == other.kind != "curvilinear" and one.mapping == other.mapping


def fractions_of_lines(source: Grid, onto: Grid, rounding: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of cells that share something, flat indices of ``source`` and of ``onto``, and what part of the first.

    For grids of `one_system`. What a row or column shares up to ``rounding`` of its width counts as nothing, all but
    that as the whole.
    """
    lengths = np.diff(upward(source)), np.diff(source.x_edges)
    parts = (parts_of(shared, widths, rounding) for shared, widths in zip(_along(source, onto), lengths, strict=True))
    shared = sparse.kron(*parts, format="coo")
    return shared.col, shared.row, shared.data


def parts_of(shared: sparse.csr_matrix, widths: np.ndarray, rounding: float) -> sparse.coo_matrix:
    """Shared lengths or areas as parts of those in the columns, which have these ``widths`` (NaN: left out)."""
    result = shared.tocoo()
    part = result.data / widths[result.col]
    there, part = part > rounding, np.where(part > 1 - rounding, 1.0, part)
    return sparse.coo_matrix((part[there], (result.row[there], result.col[there])), shape=result.shape)


def _of_lines(source: Grid, onto: Grid) -> Overlap:
    """Both grids along the same lines: what rows share times what columns share."""
    shared = sparse.kron(*_along(source, onto), format="csr")
    return Overlap(shared, _rectangles(onto), _rectangles(source))


def _along(source: Grid, onto: Grid) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """What rows share with rows, and columns with columns."""
    rows = _lengths(upward(source), upward(onto))
    columns = _lengths(source.x_edges, onto.x_edges)
    if source.kind != "projected":
        for turn in (-360.0, 360.0):
            columns = columns + _lengths(source.x_edges + turn, onto.x_edges)
    return rows, columns


def _lengths(source: np.ndarray, onto: np.ndarray) -> sparse.csr_matrix:
    """(m, n) lengths that m intervals share with n others, of ascending edges."""
    first = np.clip(np.searchsorted(source, onto[:-1], side="right") - 1, 0, len(source) - 2)
    last = np.clip(np.searchsorted(source, onto[1:], side="left") - 1, 0, len(source) - 2)
    count = np.maximum(last - first + 1, 0)
    row = np.repeat(np.arange(len(count)), count)
    column = first[row] + np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    length = np.minimum(source[column + 1], onto[row + 1]) - np.maximum(source[column], onto[row])
    positive = length > 0
    return sparse.csr_matrix(
        (length[positive], (row[positive], column[positive])), shape=(len(onto) - 1, len(source) - 1)
    )


def _pairs(
    grid: Grid, around: tuple[np.ndarray, np.ndarray], native: Grid
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of cells of ``grid``, by their ``around``, and of ``native`` that share something, and what."""
    y, x = around
    lines = upward(native), native.x_edges
    there = np.flatnonzero(np.isfinite(sizes_of(grid, around, native)))
    turns = (0.0,) if native.kind == "projected" else (0.0, -360.0, 360.0)
    parts = []
    for turn in turns:
        near = there[(x[there].max(axis=1) + turn > lines[1][0]) & (x[there].min(axis=1) + turn < lines[1][-1])]
        near = near[(y[near].max(axis=1) > lines[0][0]) & (y[near].min(axis=1) < lines[0][-1])]
        if len(near):
            parts += _in_parts(near, y[near], x[near] + turn, lines)
    if not parts:
        return np.zeros(0, dtype=int), np.zeros(0, dtype=int), np.zeros(0)
    polygons, cells, areas = (np.concatenate(column) for column in zip(*parts, strict=True))
    positive = areas > 0
    return polygons[positive], cells[positive], areas[positive]


def _in_parts(
    number: np.ndarray, y: np.ndarray, x: np.ndarray, lines: tuple[np.ndarray, np.ndarray]
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """What polygons, by their ``number``, share with the rectangles between lines, some of them at a time."""
    (row, rows), (column, columns) = _span(y, lines[0]), _span(x, lines[1])
    count = rows * columns
    cuts = np.searchsorted(np.cumsum(count), np.arange(_TOGETHER, count.sum(), _TOGETHER)) + 1
    result = []
    for some in np.split(np.arange(len(count)), np.unique(cuts[cuts < len(count)])):
        polygon = np.repeat(some, count[some])
        rank_in_polygon = np.arange(len(polygon)) - np.repeat(np.cumsum(count[some]) - count[some], count[some])
        r, c = row[polygon] + rank_in_polygon // columns[polygon], column[polygon] + rank_in_polygon % columns[polygon]
        box = (lines[1][c], lines[1][c + 1], lines[0][r], lines[0][r + 1])
        result.append((number[polygon], r * (len(lines[1]) - 1) + c, _shared(y[polygon], x[polygon], box)))
    return result


def _span(values: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First interval that a polygon reaches, and how many of them."""
    first = np.clip(np.searchsorted(edges, values.min(axis=1), side="right") - 1, 0, len(edges) - 2)
    last = np.clip(np.searchsorted(edges, values.max(axis=1), side="left") - 1, 0, len(edges) - 2)
    return first, np.maximum(last - first + 1, 1)


def _shared(y: np.ndarray, x: np.ndarray, box: tuple[np.ndarray, ...]) -> np.ndarray:
    """(n,) areas that polygons (n, m) share with boxes ``(x₀, x₁, y₀, y₁)`` of (n,) each."""
    left, right, low, high = (side[:, None] for side in box)
    y_end, x_end = np.roll(y, -1, axis=1), np.roll(x, -1, axis=1)
    width = x_end - x
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = np.where(width == 0, 0.0, (y_end - y) / width)
    begin, end = np.clip(x, left, right), np.clip(x_end, left, right)
    first, last = y + slope * (begin - x), y + slope * (end - x)
    rise = last - first
    level = np.abs(rise) <= _SAME * (high - low)
    with np.errstate(invalid="ignore", divide="ignore"):
        slanted = (_inside(last, low, high) - _inside(first, low, high)) / rise
    height = np.where(level, np.clip(0.5 * (first + last), low, high) - low, slanted)
    return np.abs(((end - begin) * height).sum(axis=1))


def _inside(y: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """``∫ min(max(t, low), high) − low dt`` from low to y."""
    inside = np.clip(y, low, high) - low
    return 0.5 * inside**2 + (high - low) * np.maximum(y - high, 0.0)
