"""Gaussian footprints: what an instrument averages over that sees its surroundings less the further away they are."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.grids import sphere
from deconditioning.fields.grids.grid import Grid

if TYPE_CHECKING:
    from pyproj import Geod

#: Response, relative to its peak, below which a pixel does not count: 0.01 % of the footprint lies outside.
_LEAST_RESPONSE = 1e-4
#: Widths that can be stated, in kilometres, and the share of a pixel's side below which a footprint is a point.
_WIDTHS, _OF_PIXEL = (1e-3, 5000.0), 0.5
#: Corners of an outline at half the peak.
_CORNERS = 32
#: Barycentric coordinates and weights of seven points in a triangle, exact for polynomials of degree 5. Source: Radon
#: 1948, "Zur mechanischen Kubatur", *Monatshefte für Mathematik* 52.
_ROOT = 15**0.5
_NEAR, _FAR = (6 - _ROOT) / 21, (6 + _ROOT) / 21
_POINTS = np.array(
    [[1 / 3, 1 / 3, 1 / 3]]
    + [np.roll([1 - 2 * side, side, side], turn).tolist() for side in (_NEAR, _FAR) for turn in range(3)]
)
_WEIGHTS = np.array([9 / 40] + [(155 - _ROOT) / 1200] * 3 + [(155 + _ROOT) / 1200] * 3)


@dataclass(frozen=True)
class GaussianFootprint:
    """The response ``exp(−4 ln 2 (a²/A² + b²/B²))`` to what lies a and b kilometres along and across.

    Parameters
    ----------
    along, across : A and B, the full widths at half maximum in kilometres, of all measurements or (S,) of each.
    azimuth : direction of A in degrees, clockwise from north.
    """

    along: float | np.ndarray
    across: float | np.ndarray
    azimuth: float | np.ndarray = 0.0

    def __post_init__(self) -> None:
        low, high = _WIDTHS
        widths = np.concatenate([np.ravel(self.along), np.ravel(self.across)])
        if not (((widths >= low) & (widths <= high)).all() and np.isfinite(self.azimuth).all()):
            raise InputError(
                f"A footprint of {self} cannot be used: give widths from {low * 1000:g} m to {high:g} km, and "
                "directions in degrees."
            )

    def __str__(self) -> str:
        if any(map(np.ndim, (self.along, self.across, self.azimuth))):
            return f"{_ends(self.along)} × {_ends(self.across)} km"
        if self.along == self.across:
            return f"{self.along:g} km"
        return f"{self.along:g} × {self.across:g} km, the first at {self.azimuth:g}° from north"

    def of(self, chosen: np.ndarray) -> "GaussianFootprint":
        """The footprints of some of the measurements, by index or mask."""
        each = {name: getattr(self, name) for name in ("along", "across", "azimuth")}
        return replace(self, **{name: value[chosen] for name, value in each.items() if np.ndim(value)})

    @property
    def reach(self) -> float | np.ndarray:
        """Distance in kilometres beyond which nothing counts."""
        return np.maximum(self.along, self.across) * float(np.sqrt(-np.log(_LEAST_RESPONSE) / (4 * np.log(2))))

    @property
    def area(self) -> float | np.ndarray:
        """∫ of the response over the plane, in km²."""
        return float(np.pi / (4 * np.log(2))) * self.along * self.across

    def response(self, east: np.ndarray, north: np.ndarray) -> np.ndarray:
        """The response, with its peak 1, to places so many kilometres east and north; 0 where it is below 1e-4.

        The first axis of the places is that of the measurements, where each has widths of its own.
        """
        along, across, turn = (
            np.reshape(each, np.shape(each) + (1,) * (np.ndim(east) - 1)) if np.ndim(each) else each
            for each in (self.along, self.across, np.deg2rad(self.azimuth))
        )
        a = (north * np.cos(turn) + east * np.sin(turn)) / along
        b = (east * np.cos(turn) - north * np.sin(turn)) / across
        result = np.exp(-4 * np.log(2) * (a**2 + b**2))
        return np.where(result >= _LEAST_RESPONSE, result, 0.0)


def _ends(widths: float | np.ndarray) -> str:
    """The smallest and the largest of some widths."""
    low, high = np.min(widths), np.max(widths)
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


@dataclass(frozen=True, eq=False)
class PixelMasses:
    """Pairs of measurements and pixels: ``measurement`` (N,), ``pixel`` (N,), the flat index of the grid, ``mass`` (N,)
    the integral of the response over the pixel as a share of that over the plane."""

    measurement: np.ndarray
    pixel: np.ndarray
    mass: np.ndarray


def parts_of(text: str) -> list[str]:
    """The numbers, or the names of columns, of a footprint's text."""
    return [part.strip() for part in text.replace("×", ",").replace(";", ",").split(",") if part.strip()]


def footprint_of(text: str, table: str = "") -> GaussianFootprint | None:
    """The footprint of "20" (km), "22,14" or "22,14,30" (with the azimuth of the first); None for nothing.

    Raises ``InputError`` for anything else; ``table`` names one that has no such columns either.
    """
    if not text.strip():
        return None
    try:
        numbers = [float(part) for part in parts_of(text)]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= 3:
        columns = f", or columns that {table} has" if table else ""
        raise InputError(
            f"The footprint {text[:40]!r} is not understood: give its full width at half maximum in km, such as 20, or "
            f"two widths and the direction of the first in degrees from north, such as 22,14,30{columns}."
        )
    return GaussianFootprint(*(numbers if len(numbers) > 1 else numbers * 2))


def footprint_pixels(
    grid: Grid, pixels: np.ndarray, latitude: np.ndarray, longitude: np.ndarray, footprint: GaussianFootprint
) -> PixelMasses:
    """What measurements at these places (S,) have of the ``pixels`` (P,), flat indices of a grid.

    The response is integrated over each pixel in the plane of distances and directions from the measurement, by seven
    points in each triangle between the pixel's middle and a side. Raises ``InputError`` if the footprint is less
    than half as wide as a pixel.
    """
    from scipy.spatial import cKDTree

    side = sphere.EARTH_KM * float(np.sqrt(np.median(grid.steradians())))
    narrow = np.minimum(footprint.along, footprint.across) < _OF_PIXEL * side
    if np.any(narrow):
        few = f"{int(np.sum(narrow))} of {len(latitude)} footprints ({footprint}) are" if np.ndim(narrow) else ""
        raise InputError(
            f"{few or f'A footprint of {footprint} is'} less than half as wide as a pixel of {side:.3g} km: leave it "
            "out, so that each measurement is the value of its pixel."
        )
    latitudes, longitudes = grid.latitude.flat[pixels], grid.longitude.flat[pixels]
    tree = cKDTree(sphere.unit_vectors(latitudes, longitudes))
    reach = 2 * np.sin(np.minimum((footprint.reach + side) / (2 * sphere.EARTH_KM), np.pi / 2))
    near = tree.query_ball_point(sphere.unit_vectors(latitude, longitude), reach, return_sorted=True)
    count = np.array([len(each) for each in near], dtype=int)
    measurement = np.repeat(np.arange(len(latitude)), count)
    pixel = pixels[np.concatenate([np.asarray(each, dtype=int) for each in near])] if count.sum() else count[:0]
    corners = [each.reshape(grid.area.size, -1) for each in grid.corners()]
    mass = np.concatenate([
        _masses(grid, corners, pixel[part], latitude[measurement[part]], longitude[measurement[part]],
                footprint.of(measurement[part]))
        for part in np.array_split(np.arange(len(pixel)), max(1, len(pixel) // 50_000))
    ])  # fmt: skip
    there = mass > 0
    return PixelMasses(measurement[there], pixel[there], mass[there])


def _masses(
    grid: Grid, corners: Sequence[np.ndarray], pixel: np.ndarray, latitude: np.ndarray, longitude: np.ndarray,
    footprint: GaussianFootprint,
) -> np.ndarray:  # fmt: skip
    """(n,) the share of a footprint around each place (n,) in the pixel (n,) of the same row."""
    ring = _plane(latitude[:, None], longitude[:, None], *(each[pixel] for each in corners))
    middle = _plane(latitude, longitude, grid.latitude.flat[pixel], grid.longitude.flat[pixel])
    triangles = np.stack([np.broadcast_to(middle[:, None], ring.shape), ring, np.roll(ring, -1, axis=1)], axis=2)
    one, other = triangles[:, :, 1] - triangles[:, :, 0], triangles[:, :, 2] - triangles[:, :, 0]
    area = 0.5 * np.abs(one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0])
    at = np.einsum("qc,ntcd->ntqd", _POINTS, triangles)
    response = footprint.response(at[..., 0], at[..., 1]) @ _WEIGHTS
    return (area * np.nan_to_num(response)).sum(axis=1) / footprint.area


def _plane(latitude: np.ndarray, longitude: np.ndarray, north: np.ndarray, east: np.ndarray) -> np.ndarray:
    """(..., 2) kilometres east and north of places, by distance and direction on the sphere, of others in degrees."""
    start_east, start_north, east, north = map(np.array, np.broadcast_arrays(longitude, latitude, east, north))
    bearing, _, metres = _sphere().inv(start_east, start_north, east, north)
    kilometres, angle = np.asarray(metres) / 1000, np.deg2rad(bearing)
    return np.stack([kilometres * np.sin(angle), kilometres * np.cos(angle)], axis=-1)


def _sphere() -> "Geod":
    from pyproj import Geod

    return Geod(a=1000 * sphere.EARTH_KM, b=1000 * sphere.EARTH_KM)


def half_maximum(latitude: np.ndarray, longitude: np.ndarray, footprint: GaussianFootprint) -> np.ndarray:
    """(S,) shapely polygons in degrees around places (S,), where the response is half its peak."""
    import shapely

    angle = 2 * np.pi * np.arange(_CORNERS) / _CORNERS
    along, across, azimuth = (np.asarray(each)[..., None] for each in (footprint.along, footprint.across,
                                                                       footprint.azimuth))  # fmt: skip
    a, b = 0.5 * along * np.cos(angle), 0.5 * across * np.sin(angle)
    bearing, metres = azimuth + np.rad2deg(np.arctan2(b, a)), 1000 * np.hypot(a, b)
    around = np.broadcast_arrays(longitude[:, None], latitude[:, None], bearing, metres)
    start_east, start_north, bearing, metres = map(np.array, around)
    east, north, _ = _sphere().fwd(start_east, start_north, bearing, metres)
    return shapely.polygons(np.stack([sphere.wrap_longitude(east, longitude[:, None]), north], axis=-1))
