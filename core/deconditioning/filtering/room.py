"""A furnished box seen by a camera at a fixed position: small frames and the whole panorama, by ray casting."""

import colorsys
import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from deconditioning.errors import InputError
from deconditioning.plain_data import check_seed

#: Rays cast at once.
_BATCH = 200_000
#: Walls by the axis they stand on: ahead and behind, left and right, ceiling and floor.
_WALLS = ("ahead", "behind", "left", "right", "ceiling", "floor")
#: Saturation and brightness of each wall's ground.
_GROUNDS = ((0.55, 0.75), (0.6, 0.65), (0.5, 0.8), (0.65, 0.7), (0.12, 0.95), (0.6, 0.5))


@dataclass(frozen=True)
class Camera:
    """A pinhole camera of ``pixels`` × ``pixels`` square pixels, one ray through the middle of each.

    ``field_of_view`` in degrees, from the first column's outer edge to the last one's.
    """

    pixels: int = 20
    field_of_view: float = 90.0

    def __post_init__(self) -> None:
        if self.pixels < 1:
            raise InputError(f"A frame of {self.pixels} pixels per side was requested: give at least one.")
        if not 0 < self.field_of_view < 180:
            raise InputError(f"A field of view of {self.field_of_view}° was given: choose between 0 and 180.")

    @cached_property
    def rays(self) -> np.ndarray:
        """Unit directions (pixels, pixels, 3) in the camera's own axes (ahead, left, up); the first row is on top."""
        half_width = math.tan(math.radians(self.field_of_view) / 2)
        middle = half_width * (1 - (2 * np.arange(self.pixels) + 1) / self.pixels)
        left, up = np.meshgrid(middle, middle)
        rays = np.stack([np.ones_like(left), left, up], axis=-1)
        return rays / np.linalg.norm(rays, axis=-1, keepdims=True)

    def edge(self, count: int = 16) -> np.ndarray:
        """Unit directions (4·count + 1, 3) once around the frame's outer edge, in the camera's own axes."""
        half_width = math.tan(math.radians(self.field_of_view) / 2)
        along = np.linspace(1, -1, count, endpoint=False)
        full = np.ones(count)
        left = np.concatenate([along, -full, -along, full, [1.0]])
        up = np.concatenate([full, along, -full, -along, [1.0]])
        rays = np.stack([np.ones_like(left), half_width * left, half_width * up], axis=-1)
        return rays / np.linalg.norm(rays, axis=-1, keepdims=True)


@dataclass(frozen=True)
class Room:
    """A box around the origin whose six walls differ in colour and pattern; the seed draws hues and pictures.

    Parameters
    ----------
    seed : of hues, patterns and the pictures on the walls.
    half : half lengths in metres along the axes ahead, left, up.
    eye : where the camera stands, off the middle, so that opposite walls do not look the same size.
    """

    seed: int = 0
    half: tuple[float, float, float] = (3.0, 2.4, 1.5)
    eye: tuple[float, float, float] = (0.4, -0.3, -0.1)
    _walls: list["_Wall"] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if not all(abs(at) < half for at, half in zip(self.eye, self.half, strict=True)):
            raise InputError(f"The camera at {self.eye} is not inside the room of half lengths {self.half}: move it.")
        rng = np.random.default_rng(self.seed)
        hues = (rng.permutation(6) + rng.uniform(0, 0.5, 6)) / 6
        object.__setattr__(self, "_walls", [_Wall.draw(index, hue, rng) for index, hue in enumerate(hues)])

    def hit(self, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Where rays (n, 3) from the eye meet the box: points (n, 3) and the walls' indices (n,) in ``_WALLS``."""
        half, eye = np.array(self.half), np.array(self.eye)
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = (np.copysign(half, directions) - eye) / directions
        distance = np.where(directions == 0, np.inf, distance)
        axis = distance.argmin(1)
        rows = np.arange(len(directions))
        return eye + distance[rows, axis][:, None] * directions, 2 * axis + (directions[rows, axis] < 0)

    def look(self, directions: np.ndarray) -> np.ndarray:
        """RGB in [0, 1] (…, 3) that is seen along unit directions of the room (…, 3)."""
        flat = directions.reshape(-1, 3)
        colours = np.empty_like(flat)
        for start in range(0, len(flat), _BATCH):
            colours[start : start + _BATCH] = self._look(flat[start : start + _BATCH])
        return colours.reshape(directions.shape)

    def _look(self, directions: np.ndarray) -> np.ndarray:
        points, walls = self.hit(directions)
        half, colours = np.array(self.half), np.empty_like(points)
        for index, wall in enumerate(self._walls):
            rows = np.flatnonzero(walls == index)
            across, up = (points[rows, a] / half[a] for a in range(3) if a != index // 2)
            colours[rows] = wall.colour(across, up)
        lamp = points - np.array([0, 0, self.half[2]])
        light = 0.55 + 0.6 / (1 + (lamp**2).sum(1) / 4)
        return np.clip(colours * light[:, None], 0, 1)

    def frames(self, rotations: np.ndarray, camera: Camera) -> np.ndarray:
        """RGB frames (n, pixels, pixels, 3) in [0, 1] of the camera turned by each R (n, 3, 3)."""
        return self.look(np.einsum("nij,hwj->nhwi", rotations, camera.rays))

    def panorama(self, height: int = 180) -> np.ndarray:
        """The whole room (height, 2·height, 3): longitude from 180° (left) to −180° across, latitude 90° to −90° down.

        Longitude grows to the left, as the eye inside sees it.
        """
        latitude = (0.5 - (np.arange(height) + 0.5) / height) * math.pi
        longitude = (1 - (np.arange(2 * height) + 0.5) / height) * math.pi
        return self.look(direction(longitude[None, :], latitude[:, None]))


def direction(longitude: np.ndarray, latitude: np.ndarray) -> np.ndarray:
    """Unit directions (…, 3) of the room from angles in radians."""
    flat = np.cos(latitude)
    parts = (flat * np.cos(longitude), flat * np.sin(longitude), np.sin(latitude))
    return np.stack(np.broadcast_arrays(*parts), axis=-1)


def longitude_latitude(directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Angles in degrees of directions (…, 3), the inverse of ``direction``."""
    east, north, up = np.moveaxis(directions, -1, 0)
    return np.degrees(np.arctan2(north, east)), np.degrees(np.arctan2(up, np.hypot(east, north)))


@dataclass(frozen=True)
class _Wall:
    """A ground of one colour, a pattern of another, and soft-edged discs (pictures) on it."""

    pattern: str
    ground: np.ndarray
    other: np.ndarray
    waves: float
    phase: float
    discs: list[tuple[float, float, float, np.ndarray]]

    @staticmethod
    def draw(index: int, hue: float, rng: np.random.Generator) -> "_Wall":
        """A wall with the pattern of this index, three discs and the ground's colour of a ``hue``."""
        pattern = ("stripes", "checks", "rings", "diagonal", "plain", "planks")[index]
        saturation, brightness = _GROUNDS[index]
        ground = np.array(colorsys.hsv_to_rgb(hue, saturation, brightness))
        other = np.array(colorsys.hsv_to_rgb((hue + 0.08) % 1, saturation, 0.55 * brightness))
        discs = []
        for _ in range(3):
            shade = np.array(colorsys.hsv_to_rgb(rng.uniform(), rng.uniform(0.4, 0.9), rng.uniform(0.3, 1.0)))
            discs.append((*rng.uniform(-0.8, 0.8, 2), rng.uniform(0.18, 0.4), shade))
        return _Wall(pattern, ground, other, rng.uniform(2.0, 3.0), rng.uniform(0, 2 * math.pi), discs)

    def colour(self, across: np.ndarray, up: np.ndarray) -> np.ndarray:
        """RGB (n, 3) at places in [−1, 1]."""
        share = _soft(self._height(across, up))[:, None]
        colour = self.ground * (1 - share) + self.other * share
        for x, y, radius, shade in self.discs:
            inside = _soft(8 * (1 - np.hypot(across - x, up - y) / radius))[:, None]
            colour = colour * (1 - inside) + shade * inside
        corner = np.maximum(np.abs(across), np.abs(up))
        return colour * (1 - 0.35 * np.exp((corner - 1) / 0.08))[:, None]

    def _height(self, across: np.ndarray, up: np.ndarray) -> np.ndarray:
        turn, phase = math.pi * self.waves, self.phase
        if self.pattern == "stripes":
            return 3 * np.sin(turn * across + phase)
        if self.pattern == "checks":
            return 5 * np.sin(turn * across + phase) * np.sin(turn * up + phase)
        if self.pattern == "rings":
            return 3 * np.sin(1.5 * turn * np.hypot(across - 0.2, up + 0.1) + phase)
        if self.pattern == "diagonal":
            return 3 * np.sin(turn * (across + up) + phase)
        if self.pattern == "planks":
            return 3 * np.sin(turn * up + phase) + np.sin(0.5 * turn * across)
        return np.full_like(across, -4.0) + 2 * across


def _soft(height: np.ndarray) -> np.ndarray:
    """A step from 0 to 1 that a small frame can show."""
    return 0.5 * (1 + np.tanh(height))
