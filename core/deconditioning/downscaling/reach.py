"""How far values of a field resemble each other, beside the sizes that its map can show: pixel, cell and extent."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch

from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.grids.sphere import EARTH_KM
from deconditioning.fields.guess.problem import pixel_km
from deconditioning.fields.problem.coordinates import kilometres, needs_sphere, scaled_coordinates
from deconditioning.fields.problem.once import once
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.wording import number

#: Distances at which a correlation is looked up between no distance and the map's extent.
_STEPS = 2000
#: Chord of the map, in radii of the Earth, from which on the map shows opposite sides.
_WHOLE = 1.9


@dataclass(frozen=True)
class Sizes:
    """Widths of a pixel, a cell and the map in km; ``unit``: km in one unit of the scaled coordinates.

    ``spherical``: the coordinates are points on a sphere, whose distances, and the extent of the map, are chords;
    ``sides`` and ``cells``: the map's and a cell's sides along rows and columns, on the ground, in km; 0 for the cells
    of regions.
    """

    pixel: float
    cell: float
    extent: float
    unit: float
    spherical: bool = False
    sides: tuple[float, float] = (1.0, 1.0)
    cells: tuple[float, float] = (0.0, 0.0)

    def kilometres(self, distance: float) -> float:
        """A distance of the scaled coordinates in km along the ground."""
        chord = self.unit * distance
        return 2 * EARTH_KM * float(np.arcsin(min(1.0, chord / (2 * EARTH_KM)))) if self.spherical else chord

    def lengthscales(self) -> tuple[float, float]:
        """Lengthscales in units of the scaled coordinates, from a pixel to half the map: between them a map changes."""
        return self.pixel / self.unit, self.extent / self.unit / 2


@once
def sizes(problem: DownscalingProblem) -> Sizes:
    """Those of a problem's map; a cell is as wide as a square of its area (`pixel_km`)."""
    (pixel, extent, unit), sides = _of_grid(problem.grid), _sides(problem.grid)
    inside = problem.cell[problem.cell >= 0]
    pixels = float(np.median(np.unique(inside, return_counts=True)[1])) if inside.size else 1.0
    rows, columns = problem.coarse_shape
    cells = (sides[0] / columns, sides[1] / rows) if problem.regions is None else (0.0, 0.0)
    return Sizes(pixel, pixel_km(problem.grid) * pixels**0.5, extent, unit, needs_sphere(problem.grid), sides, cells)


@lru_cache(maxsize=4)
def _of_grid(grid: Grid) -> tuple[float, float, float]:
    points, unit = scaled_coordinates(grid), kilometres(grid)
    steps = [np.linalg.norm(np.diff(points, axis=axis), axis=-1).ravel() for axis in (0, 1)]
    extent = float(np.ptp(points.reshape(-1, points.shape[-1]), axis=0).max())
    return unit * float(np.median(np.concatenate(steps))), unit * extent, unit


@lru_cache(maxsize=4)
def _sides(grid: Grid) -> tuple[float, float]:
    """Lengths of the middle row and the middle column along the ground, in km, from edge to edge."""
    rows, columns = grid.shape
    lat, lon = np.deg2rad(grid.latitude), np.deg2rad(grid.longitude)
    points = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1)
    lines = points[rows // 2], points[:, columns // 2]
    chords = [np.linalg.norm(np.diff(line, axis=0), axis=-1) for line in lines]
    across, up = (float(2 * EARTH_KM * np.arcsin(each / 2).sum() * (1 + 1 / max(len(each), 1))) for each in chords)
    return across, up


def _by(sides: tuple[float, float]) -> str:
    """Two sides that differ by more than a tenth; "" otherwise, or where they are not known."""
    across, up = sides
    if min(sides) <= 0:
        return ""
    return f"{_km(across)[:-3]} × {_km(up)}" if not 1 / 1.1 < across / up < 1.1 else ""


def _correlation(factor: Factor, distances: np.ndarray) -> np.ndarray:
    """k(d)/k(0) of a stationary kernel along its first column, ``distances`` in the unit of its lengthscales."""
    kernel = KernelSpec((Term((factor,)),)).build(factor.columns)
    at = torch.zeros(len(distances), len(factor.columns), dtype=torch.float64)
    at[:, 0] = torch.from_numpy(np.asarray(distances, dtype=float))
    with torch.no_grad():
        along = kernel(torch.zeros_like(at[:1]), at).to_dense()[0]
        itself = kernel(torch.zeros_like(at[:1])).to_dense()[0, 0]
    return (along / itself).numpy()


@lru_cache(maxsize=64)
def reach_sentence(factor: Factor, size: Sizes) -> str:
    """How far apart values have a correlation of one half, beside the sizes of a cell and the map."""
    distances = np.linspace(0, size.extent / size.unit, _STEPS)
    values = _correlation(factor, distances)
    below = int(np.argmax(values <= 0.5))
    whole, width = size.spherical and size.extent > _WHOLE * EARTH_KM, size.kilometres(size.extent / size.unit)
    if values[below] > 0.5:
        where = "on opposite sides of the Earth" if whole else f"across the map ({_km(width)})"
        return f"Even {where} values have a correlation of {values[-1]:.2f}."
    share = (values[below - 1] - 0.5) / (values[below - 1] - values[below])
    half = size.kilometres(distances[below - 1] + share * (distances[below] - distances[below - 1]))
    of_map = "" if whole else f", the map {(not size.spherical and _by(size.sides)) or _km(width)}"
    cell = (
        not size.spherical and _by(size.cells)
    ) or f"{number(size.cell, 3) + ' km' if size.cell < 100 else _km(size.cell)} wide"
    return f"Values {_km(half)} apart have a correlation of ½; a cell is {cell}{of_map}."


def _km(length: float) -> str:
    return f"{length:,.0f} km" if length >= 9.5 else f"{length:.2g} km"
