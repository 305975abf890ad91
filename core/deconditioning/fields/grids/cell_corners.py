"""Corners, areas and centres of the cells of a curvilinear grid from CF bounds (y, x, 4), if the file has them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from deconditioning.fields.grids.axis_values import scale_of
from deconditioning.fields.grids.sphere import from_unit_vectors, solid_angles, unit_vectors

if TYPE_CHECKING:
    import xarray as xr

    from deconditioning.fields.grids.axes import Axes

#: Usual names of the corners of a coordinate that names none.
_NAMES = ("{}_bnds", "{}_bounds", "{}_vertices", "vertices_{}", "bounds_{}", "{}_corners", "{}_b")
#: How far from the middle of its cell, in distances of the farthest corner, a position may lie to stand for it, and to
#: be one of it.
_OFF_MIDDLE, _OFF_CELL = 0.5, 1.2
#: Cells whose corners are in memory at once.
_AT_ONCE = 200_000
#: Sides of a cell below this, on the unit sphere, are rounding: singles are no finer.
_SMALLEST = 1e-12

#: Cells up to which the corners are kept; there are eight numbers of each.
_MOST_KEPT = 2_000_000

_Position = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Corners:
    """``area`` (H, W), solid angles of the cells, and their ``vertices`` (H, W, n); None if there are too many."""

    area: np.ndarray
    vertices: _Position | None


def by_corners(
    dataset: "xr.Dataset", axes: "Axes", position: _Position, there: np.ndarray
) -> tuple[_Position, Corners | None, list[str]]:
    """Positions (H, W), the corners of the cells with their solid angles, and sentences.

    ``position`` (latitude, longitude) is used for those ``there``. Areas are those of spherical polygons. None where
    the file gives no corners, or these cannot be used, which is a sentence. Positions at corners of their cells are
    replaced by the middles. Source: CF conventions, section 7.1; Van Oosterom and Strackee (1983) for solid angles.
    """
    both = [_corners(dataset, name, axes) for name in (axes.y, axes.x)]
    if both[0] is None or both[1] is None:
        return position, None, []
    names, width = f"`{axes.y}` and `{axes.x}`", there.shape[1]
    rows = max(1, _AT_ONCE // width)
    parts = [
        _cells([corners[at, :width].astype(float) * scale for corners, scale in (both[0], both[1])],
               (position[0][at], position[1][at]))
        for at in (slice(first, first + rows) for first in range(0, len(there), rows))
    ]  # fmt: skip
    latitude, longitude, area, away, *vertices = (np.concatenate(each) for each in zip(*parts, strict=True))
    if odd := _why_not(area[there], away[there]):
        return position, None, [f"The corners of {names} are not used: some {odd}."]
    sentences = [f"The areas of the cells are those between the corners that the file gives for {names}."]
    if np.median(away[there]) > _OFF_MIDDLE:
        position = np.where(there, latitude, position[0]), np.where(there, longitude, position[1])
        sentences.append(f"{names} give a corner of each cell: the midpoints between its corners are used.")
    outlines = (vertices[0], vertices[1]) if there.size <= _MOST_KEPT else None
    return position, Corners(np.where(there, area, 0.0), outlines), sentences


def _cells(corners: Sequence[np.ndarray], position: _Position) -> tuple[np.ndarray, ...]:
    """Latitude and longitude of the middles of cells (h, w), their solid angles, how far away from them the positions
    lie, in distances of the farthest corner, and latitudes and longitudes of the corners in their order around the
    middle. ``corners`` are latitudes and longitudes (h, w, n)."""
    ring = unit_vectors(*corners)
    middle = ring.sum(axis=2)
    middle /= np.maximum(np.linalg.norm(middle, axis=-1, keepdims=True), _SMALLEST)
    radius = np.linalg.norm(ring - middle[:, :, None], axis=-1).max(axis=2)
    away = np.linalg.norm(unit_vectors(*position) - middle, axis=-1) / np.maximum(radius, _SMALLEST)
    ring = _ring(ring, middle)
    return *from_unit_vectors(middle), solid_angles(ring), away, *from_unit_vectors(ring)


def _why_not(area: np.ndarray, away: np.ndarray) -> str:
    """What keeps corners from being used; nothing if they can be."""
    if not (np.isfinite(area).all() and np.isfinite(away).all()):
        return "are missing"
    if not (area > _SMALLEST**2).all():
        return "enclose nothing"
    return "lie elsewhere than their own cell" if away.max() > _OFF_CELL else ""


def _ring(corners: np.ndarray, middle: np.ndarray) -> np.ndarray:
    """The corners (H, W, n, 3) of every cell in the order in which they go round its middle (H, W, 3)."""
    axis = np.eye(3)[np.abs(middle).argmin(axis=-1)]
    east = np.cross(axis, middle)
    east /= np.maximum(np.linalg.norm(east, axis=-1, keepdims=True), _SMALLEST)
    north = np.cross(middle, east)
    angle = np.arctan2(*(np.einsum("hwnk,hwk->hwn", corners, to) for to in (north, east)))
    return np.take_along_axis(corners, np.argsort(angle, axis=-1)[..., None], axis=2)


def _corners(dataset: "xr.Dataset", name: str, axes: "Axes") -> tuple[np.ndarray, float] | None:
    """(H, W, n) corners of a coordinate's cells, n from 3 on, and the factor to degrees; None if there are none.

    xESMF and others write one array (H + 1, W + 1) of all corners.
    """
    bounds_name = {**dataset[name].encoding, **dataset[name].attrs}.get("bounds")
    for result in (bounds_name, *(each.format(name) for each in _NAMES)):
        if result not in dataset.variables:
            continue
        array = dataset[result]
        if array.ndim == 3 and {axes.y_dim, axes.x_dim} <= set(array.dims) and array.dtype.kind in "fiu":
            values = array.transpose(axes.y_dim, axes.x_dim, ...).values
            if values.shape[-1] >= 3:
                return values, _degrees(array, dataset[name], axes)
        sizes = tuple(dataset.sizes[dim] + 1 for dim in dataset[name].dims[-2:])
        if array.ndim == 2 and array.shape == sizes and array.dtype.kind in "fiu":
            nodes = array.values if dataset[name].dims[-2:] == (axes.y_dim, axes.x_dim) else array.values.T
            around = (nodes[:-1, :-1], nodes[:-1, 1:], nodes[1:, 1:], nodes[1:, :-1])
            return np.stack(around, axis=-1), _degrees(array, dataset[name], axes)
    return None


def _degrees(corners: "xr.DataArray", coordinate: "xr.DataArray", axes: "Axes") -> float:
    """What corners are multiplied by to be in degrees: by their own units, else by those of their coordinate."""
    with_units = corners if str(corners.attrs.get("units", "")).strip() else coordinate
    return scale_of(with_units, replace(axes, kind="curvilinear"))[0]
