"""Geographic positions in words: 52.57° N, 5.03° W."""

import numpy as np

from deconditioning.fields.grids import sphere
from deconditioning.fields.grids.grid import Grid


def latitude_words(latitude: float, digits: int | None = 2) -> str:
    """A latitude (degrees) with its hemisphere; ``digits`` after the point, as many as needed where None."""
    return _words(float(latitude), digits, "NS")


def longitude_words(longitude: float, digits: int | None = 2) -> str:
    """A longitude (degrees, of any turn) with its hemisphere: 359 is 1° W."""
    return _words(float(sphere.wrap_longitude(np.asarray(longitude))), digits, "EW")


def place_words(latitude: float, longitude: float, digits: int | None = 2) -> str:
    """Latitude and longitude (degrees), as in every sentence, label and tooltip."""
    return f"{latitude_words(latitude, digits)}, {longitude_words(longitude, digits)}"


def _words(degrees: float, digits: int | None, sides: str) -> str:
    number = f"{round(abs(degrees), 6):g}" if digits is None else f"{abs(degrees):.{digits}f}"
    if float(number) in (0.0, 180.0):
        return f"{number}°"
    return f"{number}° {sides[degrees < 0]}"


def extent_in_words(grid: Grid) -> str:
    """The latitudes and longitudes that a grid covers."""
    latitude, longitude = grid.latitude, grid.longitude
    return (
        f"latitudes {latitude.min():.4g} to {latitude.max():.4g} and longitudes {longitude.min():.4g} to "
        f"{longitude.max():.4g}"
    )
