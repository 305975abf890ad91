"""The areas that polygons of any shape share, found with a tree of their boxes."""

from typing import Any

import numpy as np


def as_polygons(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(N,) shapely polygons of outlines (N, m) without holes."""
    import shapely

    return shapely.polygons(np.stack([x, y], axis=-1)) if len(x) else np.zeros(0, dtype=object)


def shared_areas(regions: np.ndarray, pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of ``regions`` and ``pixels`` (arrays of shapely geometries) that share something: indices, common areas.

    A pixel inside a region counts with its own area; only those across a border are cut. Outlines that cross
    themselves are read as the areas that they go round (shapely's ``make_valid``).
    """
    import shapely

    regions, pixels = _valid(regions), _valid(pixels)
    shapely.prepare(regions)
    tree = shapely.STRtree(pixels)
    region, pixel = tree.query(regions, predicate="intersects")
    inside = shapely.contains_properly(regions[region], pixels[pixel])
    areas = shapely.area(pixels[pixel])
    cut = np.flatnonzero(~inside)
    areas[cut] = shapely.area(shapely.intersection(regions[region[cut]], pixels[pixel[cut]]))
    positive = areas > 0
    return region[positive], pixel[positive], areas[positive]


def _valid(geometries: Any) -> np.ndarray:
    import shapely

    valid = shapely.is_valid(geometries)
    return geometries if valid.all() else np.where(valid, geometries, shapely.make_valid(geometries))
