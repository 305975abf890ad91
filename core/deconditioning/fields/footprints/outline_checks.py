"""Outlines as they should be: polygons in degrees, in one piece across the date line, that do not cross themselves."""

from typing import Any

import numpy as np
import shapely

from deconditioning.errors import InputError


def checked(geometry: np.ndarray, name: str) -> tuple[np.ndarray, list[str]]:
    """(n,) polygons in degrees, None or empty if there is no outline, and notes on what was mended.

    Of rings in the wrong order the largest goes round the others, parts that overlap are joined, and an outline that
    crosses itself is what it goes round. Raises ``InputError`` for other geometries, and for coordinates that are no
    degrees.
    """
    kinds = shapely.get_type_id(geometry)
    if (odd := np.flatnonzero(~np.isin(kinds, (-1, 3, 6)))).size:
        raise InputError(
            f"Region {odd[0] + 1} of {name} has a {geometry[odd[0]].geom_type}: give polygons (points are stations: "
            "`--stations`)."
        )
    _check_degrees(shapely.get_coordinates(geometry), name)
    geometry, notes = in_one_piece(geometry), []
    wrong = np.flatnonzero(~shapely.is_valid(geometry) & (kinds >= 0))
    if wrong.size:
        ordered = np.array([_largest_outside(geometry[index]) for index in wrong], dtype=object)
        mended = shapely.make_valid(ordered, method="structure", keep_collapsed=False)
        geometry[wrong] = [_polygons_of(each) for each in mended]
        notes.append(
            f"{len(wrong)} of {len(geometry)} outlines of {name} cross themselves or have rings in a wrong order; the "
            "areas that they enclose are used."
        )
    return geometry, notes


def _check_degrees(at: np.ndarray, name: str) -> None:
    if not np.isfinite(at).all():
        raise InputError(f"Outlines of {name} have corners without a position: fill in or remove them.")
    largest = np.abs(at).max(axis=0, initial=0.0)
    if largest[1] > 90.001 and largest[0] <= 90 and largest[1] <= 360:
        raise InputError(
            f"Outlines of {name} have second coordinates up to {largest[1]:g}, as if latitude came first: give "
            "longitude, then latitude."
        )
    if largest[1] > 90.001 or largest[0] > 720:
        raise InputError(
            f"Outlines of {name} are not in degrees of longitude and latitude (coordinates up to {largest.max():g}): "
            "name their coordinate system, or convert them to EPSG:4326."
        )


def _largest_outside(polygon: Any) -> Any:
    """The same with the ring of the largest area outside in every part, and the others as holes."""
    parts = []
    for part in shapely.get_parts(polygon):
        rings = [part.exterior, *part.interiors]
        areas = [shapely.Polygon(ring).area for ring in rings]
        first = int(np.argmax(areas))
        parts.append(shapely.Polygon(rings[first], rings[:first] + rings[first + 1 :]))
    return parts[0] if len(parts) == 1 else shapely.MultiPolygon(parts)


def _polygons_of(geometry: Any) -> Any:
    """What of a geometry has an area."""
    parts = [each for each in shapely.get_parts(shapely.get_parts(geometry)) if each.geom_type == "Polygon"]
    return parts[0] if len(parts) == 1 else shapely.MultiPolygon(parts)


def in_one_piece(regions: np.ndarray) -> np.ndarray:
    """Polygons in degrees without sides that jump across the date line, parts on both sides of it brought together; one
    that runs along it stays as it is."""
    west, _, east, _ = shapely.bounds(regions).T
    result = regions.copy()
    for index in np.flatnonzero(east - west > 180.0):
        parts = [
            shapely.Polygon(_continuous(part.exterior), [_continuous(ring) for ring in part.interiors])
            for part in shapely.get_parts(regions[index])
        ]
        middle = shapely.get_x(shapely.centroid(max(parts, key=shapely.area)))
        turned = [_shifted_near(part, middle) for part in parts]
        if len(turned) == 1:
            result[index] = turned[0]
        else:
            valid = all(part.is_valid for part in turned)
            result[index] = shapely.union_all(turned) if valid else shapely.MultiPolygon(turned)
    return result


def _shifted_near(part: Any, longitude: float) -> Any:
    """A part, turned so that its middle is within half a turn of a longitude."""
    turns = np.round((shapely.get_x(shapely.centroid(part)) - longitude) / 360.0)
    return part if turns == 0 else shapely.transform(part, lambda at: at - np.array([360.0 * turns, 0.0]))


def _continuous(ring: Any) -> np.ndarray:
    """(m, 2) the corners of a ring, with turns added where a side is longer than half a turn and shorter than one."""
    at = shapely.get_coordinates(ring)
    steps = np.diff(at[:, 0], prepend=at[0, 0])
    jumps = (np.abs(steps) > 180.0) & (np.abs(steps) < 359.9)
    at[:, 0] -= 360.0 * np.cumsum(np.where(jumps, np.sign(steps), 0.0))
    return at
