"""Coordinates as covariates: one system for fine and coarse positions, one scale."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from deconditioning.fields.grids import sphere
from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.problem.scaling import fit_coordinate_scaling

SPHERE = ("sphere_x", "sphere_y", "sphere_z")
_NAMES = {
    "latlon": ("latitude", "longitude"),
    "rotated": ("grid_latitude", "grid_longitude"),
    "projected": ("y", "x"),
    "curvilinear": ("latitude", "longitude"),
}


@dataclass(frozen=True, eq=False)
class CoordinateSystem:
    """The coordinate columns of a problem: native to its fine grid, or unit vectors on the sphere.

    ``spherical`` for fields that go round the sphere, so that both sides of the seam are neighbours.
    """

    grid: Grid
    spherical: bool

    @property
    def names(self) -> tuple[str, ...]:
        """Column names, two or three of them."""
        return SPHERE if self.spherical else _NAMES[self.grid.kind]

    def of_grid(self, grid: Grid) -> np.ndarray:
        """(H, W, q) coordinates of a grid in the same native system (the fine grid or its blocks)."""
        if self.spherical or grid.kind == "curvilinear":
            return self.of_positions(grid.latitude, grid.longitude)
        return np.stack(np.meshgrid(grid.y, grid.x, indexing="ij"), axis=-1)

    def of_positions(self, latitude: np.ndarray, longitude: np.ndarray) -> np.ndarray:
        """(..., q) coordinates of true positions in degrees."""
        if self.spherical:
            return sphere.unit_vectors(latitude, longitude)
        if self.grid.kind == "curvilinear":
            centre = self.grid.centre_longitude()
            return np.stack([latitude, sphere.wrap_longitude(longitude, centre)], axis=-1)
        return np.stack(self.grid.native(latitude, longitude), axis=-1)


def needs_sphere(grid: Grid) -> bool:
    """Whether two native coordinates would tear the field: round the sphere, or curvilinear over a pole."""
    if grid.wraps:
        return True
    return grid.kind == "curvilinear" and bool(np.abs(grid.latitude).max() > 85.0)


@lru_cache(maxsize=4)
def kilometres(grid: Grid) -> float:
    """The length in km of one unit of the scaled coordinates, the median over neighbouring pixels.

    Lengthscales of kernels on the coordinates are in this unit. In degrees of latitude and longitude a unit is shorter
    along a parallel: the median stands between both directions.
    """
    units, lengths = (
        np.concatenate([np.linalg.norm(np.diff(points, axis=axis), axis=-1).ravel() for axis in (0, 1)])
        for points in (scaled_coordinates(grid), sphere.unit_vectors(grid.latitude, grid.longitude))
    )
    return float(sphere.EARTH_KM * np.median(lengths / units))


def steps_in_km(grid: Grid) -> tuple[float, float]:
    """The length in km of a step down a column and along a row, medians over neighbouring pixels."""
    points = sphere.unit_vectors(grid.latitude, grid.longitude)
    steps = [np.median(np.linalg.norm(np.diff(points, axis=axis), axis=-1)) for axis in (0, 1)]
    return float(sphere.EARTH_KM * steps[0]), float(sphere.EARTH_KM * steps[1])


def scaled_coordinates(grid: Grid) -> np.ndarray:
    """(H, W, q) coordinates of every pixel of a fine grid on the scale that a problem's inputs have."""
    system = CoordinateSystem(grid, needs_sphere(grid))
    coordinates = system.of_grid(grid).reshape(grid.area.size, -1)
    return fit_coordinate_scaling(coordinates, system.names).forward(coordinates).reshape(*grid.shape, -1)
