"""What the cells of two grids share of the sphere: the weights of conservative (first-order) means.

Where one of the grids has edges in native coordinates, cells of the other are polygons in the plane of these, with
sin φ for a (rotated) latitude so that areas are those on the sphere, and the area that a polygon shares with a
rectangle is exact there: ``Σ over its sides of ∫ min(max(y(x), y₀), y₁) dx`` within [x₀, x₁], with the sign of the way
round. Source of the means: Jones 1999, *First- and Second-Order Conservative Remapping Schemes*.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from deconditioning.fields.grids import sphere
from deconditioning.fields.grids.grid import Grid

#: Width of a cell, in radians, above which its sides bend.
_BENT = np.deg2rad(0.2)
#: Pairs of cells that are looked at together.
_TOGETHER = 400_000
#: Relative distance of coordinates that counts as none.
_SAME = 1e-6


@dataclass(frozen=True, eq=False)
class Overlap:
    """``shared`` (cells of one grid × cells of the other) common areas, ``whole`` areas of the first's cells."""

    shared: sparse.csr_matrix
    whole: np.ndarray

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


def overlap(source: Grid, onto: Grid) -> Overlap | None:
    """The areas that cells of ``onto`` (rows) share with those of ``source``; None where neither grid has edges."""
    if _one_system(source, onto):
        return _of_lines(source, onto)
    if onto.kind != "curvilinear":
        polygons, cells, areas = _pairs(source, onto)
        shared = sparse.csr_matrix((areas, (cells, polygons)), shape=(onto.area.size, source.area.size))
        return Overlap(shared, np.outer(np.diff(_upward(onto)), np.diff(onto.x_edges)).ravel())
    if source.kind != "curvilinear":
        polygons, cells, areas = _pairs(onto, source)
        shared = sparse.csr_matrix((areas, (polygons, cells)), shape=(onto.area.size, source.area.size))
        return Overlap(shared, _sizes(*_polygons(onto, source)))
    return None


def _one_system(one: Grid, other: Grid) -> bool:
    """Whether rows and columns of both grids run along the same lines."""
    return one.kind == other.kind != "curvilinear" and one.mapping == other.mapping


def fractions_of_lines(source: Grid, onto: Grid, rounding: float) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Pairs of cells that share something, flat indices of ``source`` and of ``onto``, and what part of the first.

    What a row or column shares up to ``rounding`` of its width counts as nothing, all but that as the whole. None
    unless the rows and columns of both grids run along the same lines.
    """
    if not _one_system(source, onto):
        return None
    own = np.diff(_upward(source)), np.diff(source.x_edges)
    parts = (_parts(shared, widths, rounding) for shared, widths in zip(_along(source, onto), own, strict=True))
    shared = sparse.kron(*parts, format="coo")
    return shared.col, shared.row, shared.data


def _parts(shared: sparse.csr_matrix, widths: np.ndarray, rounding: float) -> sparse.coo_matrix:
    """Shared lengths as parts of the intervals with these ``widths``."""
    result = shared.tocoo()
    part = result.data / widths[result.col]
    there, part = part > rounding, np.where(part > 1 - rounding, 1.0, part)
    return sparse.coo_matrix((part[there], (result.row[there], result.col[there])), shape=result.shape)


def _upward(grid: Grid) -> np.ndarray:
    """(H+1,) edges of the rows in a coordinate that makes areas of a sphere: sin φ, or y of a map."""
    return grid.y_edges if grid.kind == "projected" else np.sin(np.deg2rad(grid.y_edges))


def _of_lines(source: Grid, onto: Grid) -> Overlap:
    """Both grids along the same lines: what rows share times what columns share."""
    shared = sparse.kron(*_along(source, onto), format="csr")
    return Overlap(shared, np.outer(np.diff(_upward(onto)), np.diff(onto.x_edges)).ravel())


def _along(source: Grid, onto: Grid) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """What rows share with rows, and columns with columns."""
    rows = _lengths(_upward(source), _upward(onto))
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
    kept = length > 0
    return sparse.csr_matrix((length[kept], (row[kept], column[kept])), shape=(len(onto) - 1, len(source) - 1))


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
        latitude, longitude = y, x
        if grid.kind == "rotated":
            latitude, longitude = sphere.rotated_to_true(y, x, grid.mapping)
        elif grid.kind == "projected":
            latitude, longitude = sphere.projected_to_true(y, x, grid.mapping)
    return latitude.reshape(grid.area.size, -1), longitude.reshape(grid.area.size, -1)


def _polygons(grid: Grid, native: Grid) -> tuple[np.ndarray, np.ndarray]:
    """(N, m) outlines of a grid's cells in another's native plane, each in one piece beside the other's middle."""
    y, x = native.native(*_outlines(grid))
    if native.kind == "projected":
        return y, x
    middle = 0.5 * (native.x_edges[0] + native.x_edges[-1])
    x = x[:, :1] + (x - x[:, :1] + 180.0) % 360.0 - 180.0
    x -= 360.0 * np.round((x.mean(axis=1, keepdims=True) - middle) / 360.0)
    return np.sin(np.deg2rad(y)), x


def _sizes(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(N,) areas of polygons (N, m)."""
    return np.abs(((x * np.roll(y, -1, axis=1)) - (np.roll(x, -1, axis=1) * y)).sum(axis=1)) / 2


def _pairs(grid: Grid, native: Grid) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of cells of ``grid`` and of ``native`` that share something, and what."""
    y, x = _polygons(grid, native)
    lines = _upward(native), native.x_edges
    there = np.flatnonzero(np.isfinite(y).all(axis=1) & np.isfinite(x).all(axis=1) & (grid.area.ravel() > 0))
    if native.kind != "projected":
        there = there[np.ptp(x[there], axis=1) < 180.0]  # but for the cells that hold a pole
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
    kept = areas > 0
    return polygons[kept], cells[kept], areas[kept]


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
        place = np.arange(len(polygon)) - np.repeat(np.cumsum(count[some]) - count[some], count[some])
        r, c = row[polygon] + place // columns[polygon], column[polygon] + place % columns[polygon]
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
        slanted = (_held(last, low, high) - _held(first, low, high)) / rise
    height = np.where(level, np.clip(0.5 * (first + last), low, high) - low, slanted)
    return np.abs(((end - begin) * height).sum(axis=1))


def _held(y: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """``∫ min(max(t, low), high) − low dt`` from low to y."""
    inside = np.clip(y, low, high) - low
    return 0.5 * inside**2 + (high - low) * np.maximum(y - high, 0.0)
