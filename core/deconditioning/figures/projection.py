"""From longitude and latitude to a grid's own coordinates, and lines clipped to its frame."""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from deconditioning.fields.grids import sphere
from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.grids.interpolate import locate
from deconditioning.figures.coast import Resolution, coast_lines, resolution_for

_Frame = tuple[float, float, float, float]


def frame(grid: Grid) -> _Frame:
    """The grid's frame (x0, x1, y0, y1) in native coordinates: the outer edges of its cells."""
    return float(grid.x_edges[0]), float(grid.x_edges[-1]), float(grid.y_edges[0]), float(grid.y_edges[-1])


def _to_native(lon: np.ndarray, lat: np.ndarray, kind: str, mapping: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Longitude and latitude (degrees) in the native x and y of a latlon, rotated or projected grid."""
    y, x = sphere.native_position(kind, np.asarray(lat, dtype=float), np.asarray(lon, dtype=float), mapping)
    if kind == "projected":
        bad = ~(np.isfinite(x) & np.isfinite(y))
        y, x = np.where(bad, np.nan, y), np.where(bad, np.nan, x)
    return x, y


def _clip_line(x: np.ndarray, y: np.ndarray, bounds: _Frame) -> tuple[np.ndarray, np.ndarray]:
    """Clip a NaN-gapped line to a rectangle, segment by segment (Liang & Barsky 1984).

    A segment p + t (q − p) is inside for t in [t0, t1]; each of the four half planes narrows that
    interval. Returns a NaN-gapped line whose points all lie in the rectangle.
    """
    x0, x1, y0, y1 = bounds
    px, py, dx, dy = x[:-1], y[:-1], np.diff(x), np.diff(y)
    enter, leave = np.zeros(len(px)), np.ones(len(px))
    keep = np.isfinite(dx) & np.isfinite(dy)
    for slope, room in ((-dx, px - x0), (dx, x1 - px), (-dy, py - y0), (dy, y1 - py)):
        with np.errstate(divide="ignore", invalid="ignore"):
            t = room / slope
        enter = np.where(slope < 0, np.fmax(enter, t), enter)
        leave = np.where(slope > 0, np.fmin(leave, t), leave)
        keep &= ~((slope == 0) & (room < 0))
    keep &= enter < leave
    ends = [np.column_stack([px + t * dx, py + t * dy])[keep] for t in (enter, leave)]
    # a segment that follows its predecessor unclipped shares a point with it; otherwise the line breaks
    index = np.flatnonzero(keep)
    joined = np.zeros(len(index), dtype=bool)
    joined[1:] = (np.diff(index) == 1) & (leave[index[:-1]] == 1) & (enter[index[1:]] == 0)
    rows = np.stack([np.full_like(ends[0], np.nan), *ends], axis=1)
    line = rows.reshape(-1, 2)[np.stack([~joined, ~joined, np.ones_like(joined)], axis=1).ravel()]
    return line[1:, 0], line[1:, 1]


def _gapped(lines: tuple[np.ndarray, ...]) -> np.ndarray:
    gap = np.full((1, 2), np.nan)
    return np.concatenate([part for line in lines for part in (line, gap)])


_Cap = tuple[float, float, float, float]


def _cap(grid: Grid) -> _Cap:
    """A spherical cap (centre, cosine of its radius) round the grid, with a tenth of its radius to spare."""
    points = sphere.unit_vectors(grid.latitude, grid.longitude).reshape(-1, 3)
    centre = points.mean(axis=0) / np.linalg.norm(points.mean(axis=0))
    radius = 1.1 * np.arccos(np.clip((points @ centre).min(), -1, 1)) + 0.02
    return float(centre[0]), float(centre[1]), float(centre[2]), float(np.cos(min(radius, np.pi)))


@lru_cache(maxsize=64)
def _coast(
    kind: str, mapping: str, bounds: _Frame, resolution: Resolution, cap: _Cap | None
) -> tuple[np.ndarray, np.ndarray]:
    x, y = _native_line(_gapped(coast_lines(resolution)), kind, json.loads(mapping), bounds, cap)
    return x.astype(np.float32), y.astype(np.float32)


def _native_line(
    world: np.ndarray, kind: str, mapping: dict[str, Any], bounds: _Frame, cap: _Cap | None
) -> tuple[np.ndarray, np.ndarray]:
    """NaN-gapped points (N, 2) of longitude and latitude as a clipped line in native coordinates."""
    if cap is not None:  # a plane projection may fold the far side of the Earth into the frame
        near = sphere.unit_vectors(world[:, 1], world[:, 0]) @ np.array(cap[:3]) >= cap[3]
        world = np.where(near[:, None], world, np.nan)
    x, y = _to_native(world[:, 0], world[:, 1], kind, mapping)
    if kind != "projected":  # bring longitudes into [x0, x0 + 360) and cut where a line leaves on the other side
        x = (x - bounds[0]) % 360 + bounds[0]
        x, y = _cut_jumps(x, y)
    return _clip_line(x, y, bounds)


#: Degrees between the lines of a graticule, the first with six lines or fewer.
_STEPS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0)


def graticule_on(grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    """Meridians and parallels at round degrees in native coordinates, clipped to the frame: one NaN-gapped line.

    None if the grid is known by its latitudes and longitudes alone.
    """
    if grid.kind == "curvilinear":
        return np.empty(0), np.empty(0)
    spread = float(np.nanmax(grid.latitude) - np.nanmin(grid.latitude))
    step = next((step for step in _STEPS if spread / step <= 6), _STEPS[-1])
    low, high = np.floor(np.nanmin(grid.latitude) / step) * step, np.ceil(np.nanmax(grid.latitude) / step) * step
    up, round_ = np.linspace(max(low, -90), min(high, 90), 181), np.linspace(-180, 180, 1441)
    lines = [np.column_stack([np.full(181, lon), up]) for lon in np.arange(-180, 180, step)]
    lines += [np.column_stack([round_, np.full(1441, lat)]) for lat in np.arange(max(low, -90), min(high, 90), step)]
    return _native_line(_gapped(tuple(lines)), grid.kind, dict(grid.mapping), frame(grid), _cap_of(grid))


def _cap_of(grid: Grid) -> _Cap | None:
    return _cap(grid) if grid.kind == "projected" else None


def _cut_jumps(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    jumps = np.flatnonzero(np.abs(np.diff(x)) > 180) + 1
    return np.insert(x, jumps, np.nan), np.insert(y, jumps, np.nan)


def _curvilinear(grid: Grid, world: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lines on a grid known only by its latitudes and longitudes: nearest pixel, then one linear step."""
    from scipy.spatial import cKDTree

    vectors, coast = sphere.unit_vectors(grid.latitude, grid.longitude), sphere.unit_vectors(world[:, 1], world[:, 0])
    tree, finite = cKDTree(vectors.reshape(-1, 3)), np.isfinite(coast[:, 0])
    rows, cols = np.unravel_index(tree.query(np.where(finite[:, None], coast, 0.0))[1], grid.latitude.shape)
    by_row, by_col = np.gradient(vectors, axis=0)[rows, cols], np.gradient(vectors, axis=1)[rows, cols]
    away = coast - vectors[rows, cols]
    step = np.stack([(away * by).sum(-1) / (by * by).sum(-1) for by in (by_row, by_col)])
    step = np.where(finite & (np.abs(step) < 2).all(axis=0), step, np.nan)
    y = np.interp(rows + step[0], np.arange(len(grid.y)), grid.y) + 0 * step[0]
    x = np.interp(cols + step[1], np.arange(len(grid.x)), grid.x) + 0 * step[1]
    x, y = _clip_line(x, y, frame(grid))
    return x.astype(np.float32), y.astype(np.float32)


def coast_on(grid: Grid, resolution: Resolution | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The coastline in the grid's native coordinates, clipped to its frame: one NaN-gapped float32 line (x, y).

    Their resolution is that of `resolution_for`.
    """
    chosen = resolution or resolution_for(grid.latitude)
    if grid.kind == "curvilinear":
        return _curvilinear(grid, _gapped(_copies(grid, coast_lines(chosen))))
    plain = {k: v.item() if hasattr(v, "item") and np.ndim(v) == 0 else v for k, v in grid.mapping.items()}
    mapping = json.dumps(plain, default=lambda value: np.asarray(value).tolist(), sort_keys=True)
    return _coast(grid.kind, mapping, frame(grid), chosen, _cap_of(grid))


def _copies(grid: Grid, lines: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """The lines that reach a grid's latitudes."""
    low, high = float(np.nanmin(grid.latitude)), float(np.nanmax(grid.latitude))
    return tuple(line for line in lines if line[:, 1].min() <= high and line[:, 1].max() >= low)


def lines_on(grid: Grid, lines: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Lines (n, 2) of longitudes and latitudes in the grid's native coordinates, clipped to its frame: one NaN-gapped
    line (x, y)."""
    world = _gapped(tuple(lines))
    if grid.kind == "curvilinear":
        return _curvilinear(grid, world)
    return _native_line(world, grid.kind, dict(grid.mapping), frame(grid), _cap_of(grid))


def points_on(grid: Grid, latitude: np.ndarray, longitude: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points in the grid's native coordinates (x, y), those of a curvilinear grid in the middle of their pixel."""
    if grid.kind == "curvilinear":
        row, column = np.divmod(np.maximum(locate(grid, latitude, longitude), 0), len(grid.x))
        return np.asarray(grid.x)[column], np.asarray(grid.y)[row]
    x, y = _to_native(longitude, latitude, grid.kind, dict(grid.mapping))
    x0 = frame(grid)[0]
    return (x if grid.kind == "projected" else (x - x0) % 360 + x0), y
