"""Outlines of what a problem's targets are means over: regions, cells of a swath or of another grid, ellipses."""

import numpy as np

from deconditioning.fields.footprints.gaussian import half_maximum
from deconditioning.fields.footprints.station_data import SourceTargets
from deconditioning.fields.grids.polygons import as_polygons
from deconditioning.fields.problem.problem import DownscalingProblem

#: The most cells of a swath, or values of a source, that have outlines and marks on a map.
MOST_OUTLINES = 4000


def footprint_outlines(problem: DownscalingProblem, further: bool = True) -> np.ndarray:
    """(n,) polygons in degrees: the regions, or the cells with a value of a swath with corners; and, of the ``further``
    sources, the cells or regions, and Gaussian footprints where their response is half its peak."""
    sources = problem.sources if further else ()
    return np.concatenate([_outlines_of_cells(problem), *map(_outlines_of_source, sources)])


def _outlines_of_source(source: SourceTargets) -> np.ndarray:
    """(S,) polygons in degrees; none for points."""
    measured = source.measured
    if len(measured) > MOST_OUTLINES:
        return np.zeros(0, dtype=object)
    if measured.footprint is not None:
        return half_maximum(measured.latitude, measured.longitude, measured.footprint)
    return np.zeros(0, dtype=object) if source.outlines is None else source.outlines


def _outlines_of_cells(problem: DownscalingProblem) -> np.ndarray:
    """(n,) polygons in degrees: the regions, or the cells with a value of a swath with corners; else none."""
    if problem.regions is not None:
        return problem.regions.geometry
    cells, drawn = problem.coarse_grid, np.isfinite(problem.coarse)
    if cells.vertices is None or drawn.sum() > MOST_OUTLINES:
        return np.zeros(0, dtype=object)
    latitude, longitude = (each[drawn] for each in cells.corners())
    there = (np.isfinite(latitude) & np.isfinite(longitude)).all(axis=1)
    latitude, longitude = latitude[there], longitude[there]
    longitude = longitude[:, :1] + (longitude - longitude[:, :1] + 180.0) % 360.0 - 180.0
    return as_polygons(latitude, longitude)
