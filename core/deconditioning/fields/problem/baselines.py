"""Baselines that use exactly the coarse cells that the model sees."""

from dataclasses import replace

import numpy as np

from deconditioning.fields.grids.grid import make_grid
from deconditioning.fields.grids.interpolate import bilinear_at, linear_at, nearest_at, pad_around, scattered_at
from deconditioning.fields.grids.sphere import unit_vectors
from deconditioning.fields.problem.joined_cells import FACTOR, Joined
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.static_fields import ALTITUDES

#: Stretches of the plane that settle which of two equally good triangulations is taken.
_EITHER_WAY = (np.array([1.0 + 1e-6, 1.0]), np.array([1.0, 1.0 + 1e-6]))

_TEMPERATURES = ("K", "degC", "°C", "Celsius", "degrees_Celsius", "degree_Celsius")


def constant(problem: DownscalingProblem) -> np.ndarray:
    """(H, W) the value of the pixel's own coarse cell in physical units, or that of the nearest observed cell.

    A pixel across edges has the mean of its observed cells, weighted by its shares in them.
    """
    grid, cells = problem.grid, problem.coarse_grid
    observed = problem.observed
    centres = unit_vectors(cells.latitude, cells.longitude)[observed]
    near = nearest_at(centres, problem.coarse[observed], unit_vectors(grid.latitude, grid.longitude).reshape(-1, 3))
    shares = problem.shares.renumbered(np.where(observed.ravel(), np.arange(observed.size), -1), observed.size)
    total = np.bincount(shares.pixel, shares.fraction * problem.coarse.flat[shares.cell], grid.area.size)
    weight = np.bincount(shares.pixel, shares.fraction, grid.area.size)
    result = np.divide(total, weight, where=weight > 0, out=near.ravel().copy())
    return result.reshape(grid.shape)


def bilinear(problem: DownscalingProblem) -> np.ndarray:
    """(H, W) bilinear interpolation of the observed cell centres, in physical units.

    On the full grid if all cells are observed, constant beyond the outermost centres; otherwise linear on Delaunay
    triangles of the observed centres, with the nearest centre outside their hull. Fields that go around the sphere are
    interpolated across their seam.
    """
    if problem.observed.all() and problem.coarse_grid.kind != "curvilinear":
        y, x = _positions(problem)
        return bilinear_at(problem.coarse_grid, problem.coarse, y, x).reshape(problem.grid.shape)
    return _scattered(problem, smooth=False)


def bilinear_conserving(problem: DownscalingProblem) -> np.ndarray:
    """(H, W) `bilinear` moved in each cell so that the cell has its own mean."""
    return problem.shares.with_means(bilinear(problem), problem.coarse.ravel(), problem.grid.area, problem.cell)


def bicubic(problem: DownscalingProblem) -> np.ndarray:
    """(H, W) bicubic spline of the observed cell centres, in physical units.

    A bicubic spline if all cells are observed, constant beyond the outermost centres; otherwise Clough–Tocher cubic on
    Delaunay triangles, with the nearest centre outside their hull.
    """
    cells = problem.coarse_grid
    if not problem.observed.all() or cells.kind == "curvilinear" or min(cells.shape) < 4:
        return _scattered(problem, smooth=True)
    from scipy.interpolate import RectBivariateSpline

    y, x = _positions(problem)
    axis, values = pad_around(cells.x, problem.coarse, cells.wraps, width=4)
    spline = RectBivariateSpline(cells.y, axis, values, kx=3, ky=3)
    inside = np.clip(y, cells.y[0], cells.y[-1]), np.clip(x, axis[0], axis[-1])
    return spline(*inside, grid=False).reshape(problem.grid.shape)


def lapse_rate(problem: DownscalingProblem) -> np.ndarray | None:
    """(H, W) bilinear interpolation of temperatures reduced to one altitude, and restored to that of each pixel.

    The rate is that of a least-squares fit of the observed cells' values to their mean altitude and a plane of their
    positions, weighted by area. NaN where the altitude is missing; None unless the target is a temperature with an
    orography among its covariates and cells are matched.
    """
    name = next((each for each in problem.spec.covariates if each.lower() in ALTITUDES), None)
    if name is None or problem.units not in _TEMPERATURES or not problem.matched:
        return None
    altitude = problem.inputs[:, problem.columns.index(name)].numpy()
    row, shares = problem.shares_of_pixels()
    weights, size = shares.areas(problem.grid.area), shares.count
    mass = np.bincount(shares.cell, weights, size)
    total = np.bincount(shares.cell, weights * altitude[row], size)
    observed = problem.observed.ravel() & (mass > 0)
    if observed.sum() < 5:
        return None
    means, root = np.divide(total, mass, where=mass > 0, out=np.zeros(size)), np.sqrt(mass[observed])
    centres = _plane(problem)[0].reshape(-1, 2)[observed]
    design = np.column_stack([means[observed], np.ones(observed.sum()), centres - centres.mean(axis=0)])
    values = problem.coarse.ravel()[observed]
    rate = np.linalg.lstsq(root[:, None] * design, root * values, rcond=None)[0][0]
    reduced = np.where(problem.observed, problem.coarse - rate * means.reshape(problem.coarse_shape), np.nan)
    level = bilinear(replace(problem, coarse=reduced))
    correction = np.full(problem.grid.area.size, np.nan)
    correction[problem.pixel] = rate * altitude
    return level + correction.reshape(problem.grid.shape)


def interpolations(problem: DownscalingProblem) -> dict[str, np.ndarray]:
    """The baselines that use only the coarse values, by name."""
    return {"constant": constant(problem), "bilinear": bilinear(problem), "bicubic": bicubic(problem)}


def bilinear_left_out(problem: DownscalingProblem) -> np.ndarray:
    """(M,) errors of linear interpolation at each observed cell from all other observed cells, in physical units.

    The prediction is read at the cell's centre: from the triangles of ``bilinear`` without the cell, or from the
    nearest centre outside their hull. Only the ring of its neighbours is triangulated again, because a Delaunay
    triangulation without one point differs only inside this ring. On a regular grid two triangulations are equally good
    (across, or up and down): their mean is used.
    """
    from scipy.spatial import Delaunay, QhullError

    centres, _ = _plane(problem)
    points, cell_of = _observed_points(problem, centres)
    values = problem.coarse[problem.observed]
    count, around = len(values), values[cell_of]
    try:
        begins, neighbours = Delaunay(points).vertex_neighbor_vertices
    except QhullError:  # all points on one line
        distance = np.linalg.norm(points[:count, None] - points[None], axis=2)
        distance[cell_of[None] == np.arange(count)[:, None]] = np.inf
        return around[distance.argmin(axis=1)] - values
    error = np.empty(count)
    for cell in range(count):
        ring = neighbours[begins[cell] : begins[cell + 1]]
        ring = ring[cell_of[ring] != cell]
        ring = ring if len(ring) else np.flatnonzero(cell_of != cell)  # a point that no triangle holds
        result = [linear_at(points[ring] * side, around[ring], points[cell] * side) for side in _EITHER_WAY]
        error[cell] = 0.5 * sum(result) - values[cell]
    return error


def bilinear_of_joined(problem: DownscalingProblem, joined: Joined, values: np.ndarray) -> np.ndarray:
    """(n,) what interpolation between larger cells (G,) puts at the centres of the visible cells that they are made of.

    As `bilinear` one scale up: on the grid of the larger cells where all cells are observed, else on triangles of their
    centres, which are those of the members together.
    """
    cells = problem.coarse_grid
    centres = _plane(problem)[0].reshape(-1, 2)[problem.target_cell[joined.item]]
    if problem.observed.all() and cells.kind != "curvilinear":
        (y, y_edges), (x, x_edges) = _larger(cells.y, cells.y_edges), _larger(cells.x, cells.x_edges)
        larger = make_grid(cells.kind, y, x, mapping=cells.mapping, edges=(y_edges, x_edges), wraps=cells.wraps)
        table = np.full(larger.shape, np.nan)
        table[tuple(joined.square.T)] = values
        result = bilinear_at(larger, table, *centres.T)
        return np.where(np.isfinite(result), result, values[joined.group])
    middle = np.stack([np.bincount(joined.group, joined.share * along) for along in centres.T], axis=1)
    points, cell_of = _around(problem, middle)
    return scattered_at(points, values[cell_of], centres, smooth=False)


def _larger(centres: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centres and edges of ``FACTOR`` cells of an axis taken together, fewer at its end."""
    starts = np.arange(0, len(centres), FACTOR)
    return np.add.reduceat(centres, starts) / np.diff([*starts, len(centres)]), np.append(edges[starts], edges[-1])


def _positions(problem: DownscalingProblem) -> tuple[np.ndarray, np.ndarray]:
    """Native positions (H·W,) of the pixels in the coarse grid's own coordinates."""
    return problem.coarse_grid.native(problem.grid.latitude.ravel(), problem.grid.longitude.ravel())


def _scattered(problem: DownscalingProblem, smooth: bool) -> np.ndarray:
    """Triangles in the plane of `_plane`."""
    centres, pixels = _plane(problem)
    points, cell_of = _observed_points(problem, centres)
    values = problem.coarse[problem.observed][cell_of]
    return scattered_at(points, values, pixels, smooth).reshape(problem.grid.shape)


def _plane(problem: DownscalingProblem) -> tuple[np.ndarray, np.ndarray]:
    """Centres (ny, nx, 2) and pixels (P, 2) in the coarse grid's native plane; around a centre where it has none."""
    cells = problem.coarse_grid
    if cells.kind == "curvilinear":
        return _tangent(problem)
    centres = np.stack(np.meshgrid(cells.y, cells.x, indexing="ij"), axis=-1)
    return centres, np.stack(_positions(problem), axis=-1)


def _observed_points(problem: DownscalingProblem, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Observed centres as `_around` has them, and which of the observed cells each is (n,)."""
    return _around(problem, centres[problem.observed])


def _around(problem: DownscalingProblem, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 2), first each once, then again across the seam of a field that goes round the sphere; which it is."""
    cells, cell_of = problem.coarse_grid, np.arange(len(points))
    if not (cells.wraps and cells.kind == "latlon"):
        return points, cell_of
    points = np.concatenate([points + np.array([0.0, shift]) for shift in (0.0, -360.0, 360.0)])
    near = (points[:, 1] > cells.x_edges[0] - 90) & (points[:, 1] < cells.x_edges[-1] + 90)
    return points[near], np.tile(cell_of, 3)[near]


def _tangent(problem: DownscalingProblem) -> tuple[np.ndarray, np.ndarray]:
    """Azimuthal equidistant plane about the middle of the coarse grid: centres (ny, nx, 2), pixels (P, 2)."""
    cells, grid = problem.coarse_grid, problem.grid
    vectors = unit_vectors(cells.latitude, cells.longitude)
    up = vectors.mean(axis=(0, 1))
    up = up / max(float(np.linalg.norm(up)), 1e-12)
    east = np.cross(np.eye(3)[int(np.abs(up).argmin())], up)
    east = east / np.linalg.norm(east)
    frame = np.stack([east, np.cross(up, east)])

    def flat(v: np.ndarray) -> np.ndarray:
        """Unit vectors (..., 3) on the plane, (..., 2) in radians."""
        plane = v @ frame.T
        angle = np.arccos(np.clip(v @ up, -1, 1))[..., None]
        return plane * angle / np.maximum(np.linalg.norm(plane, axis=-1, keepdims=True), 1e-12)

    return flat(vectors), flat(unit_vectors(grid.latitude, grid.longitude).reshape(-1, 3))
