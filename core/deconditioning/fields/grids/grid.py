"""The horizontal grid of a field: native coordinates, true latitude and longitude, areas."""

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.grids import sphere
from deconditioning.fields.grids.missing_positions import fill_positions, placed

Kind = Literal["latlon", "rotated", "projected", "curvilinear"]
_MOST_CELLS = 8_000_000
#: Relative differences of widths that come from rounding their coordinates.
_ROUNDING = 1e-10


@dataclass(frozen=True, eq=False)
class Grid:
    """``H`` rows by ``W`` columns of cells.

    Parameters
    ----------
    y, x : (H,), (W,) native coordinates of the cell centres, ascending: degrees, metres for a projected grid, indices
        0, 1, … for a curvilinear one without coordinates of its own.
    y_name, x_name : their names in the file.
    kind : "latlon", "rotated" (rotated pole), "projected" (a map projection) or "curvilinear".
    latitude, longitude : (H, W) true geographic degrees, longitude in [−180, 180).
    wraps : whether the longitudes go around the sphere.
    mapping : attributes of the CF grid mapping, empty for "latlon".
    area : (H, W) relative cell areas with mean one: Δλ·Δ sin φ between the cell edges (rotated φ for a rotated grid);
        for a curvilinear grid, the area between the corners in the file or |∂r/∂i × ∂r/∂j|; equal for a projected grid;
        0 where a cell has no position.
    y_edges, x_edges : (H+1,), (W+1,) cell edges in native coordinates.
    vertices : (H, W, n) true latitudes and longitudes of the corners of a curvilinear grid's cells, as the file gives
        them; None if it gives none.
    """

    y: np.ndarray
    x: np.ndarray
    y_name: str
    x_name: str
    kind: Kind
    latitude: np.ndarray
    longitude: np.ndarray
    wraps: bool
    mapping: dict[str, Any]
    area: np.ndarray
    y_edges: np.ndarray = field(repr=False)
    x_edges: np.ndarray = field(repr=False)
    vertices: tuple[np.ndarray, np.ndarray] | None = field(default=None, repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.y), len(self.x)

    def window(self, y: slice, x: slice) -> "Grid":
        """The cells of a slice of rows and columns (step 1), with areas scaled to mean one again.

        A window counts as going around the sphere if it keeps nine tenths of the columns.
        """
        (y0, y1, _), (x0, x1, _) = y.indices(len(self.y)), x.indices(len(self.x))
        rows, columns = slice(y0, y1), slice(x0, x1)
        area = self.area[rows, columns]
        return replace(
            self,
            y=self.y[rows],
            x=self.x[columns],
            latitude=self.latitude[rows, columns],
            longitude=self.longitude[rows, columns],
            wraps=self.wraps and (x1 - x0) >= 0.9 * len(self.x),
            area=area / area.mean(),
            y_edges=self.y_edges[y0 : y1 + 1],
            x_edges=self.x_edges[x0 : x1 + 1],
            vertices=self.vertices and (self.vertices[0][rows, columns], self.vertices[1][rows, columns]),
        )

    def centre_longitude(self) -> float:
        """Longitude (degrees) of the mean unit vector, the middle of a region."""
        vector = sphere.unit_vectors(self.latitude, self.longitude).mean(axis=(0, 1))
        return float(np.rad2deg(np.arctan2(vector[1], vector[0])))

    def native(self, latitude: np.ndarray, longitude: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Native coordinates (y, x) of true latitudes and longitudes; not for curvilinear grids."""
        if self.kind == "curvilinear":
            raise InputError("A curvilinear grid has no formula from latitude and longitude to its rows and columns.")
        y, x = sphere.native_position(self.kind, latitude, longitude, self.mapping)
        if self.kind == "projected":
            return y, x
        middle = 0.5 * (self.x_edges[0] + self.x_edges[-1])
        return np.asarray(y, dtype=float), sphere.wrap_longitude(x, middle)

    def corners(self) -> tuple[np.ndarray, np.ndarray]:
        """(H, W, n) true latitudes and longitudes of the cells' corners, counterclockwise.

        Those of the file where a curvilinear grid has them. Otherwise four, from the lowest indices on: from the edges,
        or of a curvilinear grid the mean direction of the four centres around each corner, continued outside by
        reflection.
        """
        if self.vertices is not None:
            return self.vertices
        if self.kind == "curvilinear":
            centres = np.pad(sphere.unit_vectors(self.latitude, self.longitude), ((1, 1), (1, 1), (0, 0)), mode="edge")
            for axis in (0, 1):
                line = np.moveaxis(centres, axis, 0)
                line[0], line[-1] = 2 * line[1] - line[2], 2 * line[-2] - line[-3]
            around = centres[:-1, :-1] + centres[:-1, 1:] + centres[1:, :-1] + centres[1:, 1:]
            latitude, longitude = sphere.from_unit_vectors(around)
        else:
            latitude, longitude = _true_position(self.kind, self.y_edges, self.x_edges, self.mapping)
        low, high, left, right = slice(None, -1), slice(1, None), slice(None, -1), slice(1, None)
        round_ = ((low, left), (low, right), (high, right), (high, left))
        north = np.stack([latitude[at] for at in round_], axis=-1)
        east = np.stack([longitude[at] for at in round_], axis=-1)
        centre = self.longitude[..., None]
        return north, sphere.wrap_longitude(east, centre)

    def steradians(self) -> np.ndarray:
        """(H, W) solid angle of the cells: exact for latitude-longitude grids, between the corners that a file gives (0
        where these are missing), else by central differences."""
        if self.kind in ("latlon", "rotated"):
            return _band_areas(self.y_edges, self.x_edges)
        if self.vertices is not None:
            return np.nan_to_num(sphere.solid_angles(sphere.unit_vectors(*self.vertices)))
        return _jacobian_areas(self.latitude, self.longitude)


def cell_edges(centres: np.ndarray, latitude: bool) -> np.ndarray:
    """(n+1,) edges half-way between (n,) ascending centres, within ±90 degrees for latitudes."""
    step = np.diff(centres)
    middle = centres[:-1] + step / 2
    edges = np.concatenate([[centres[0] - step[0] / 2], middle, [centres[-1] + step[-1] / 2]])
    return np.clip(edges, -90.0, 90.0) if latitude else edges


def _areas(kind: Kind, edges: tuple[np.ndarray, np.ndarray], position: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """(H, W) areas of cells by what is known of a grid of this kind, in units of their own."""
    if kind in ("latlon", "rotated"):
        return _band_areas(*edges)
    return _jacobian_areas(*position) if kind == "curvilinear" else np.ones(position[0].shape)


def _band_areas(y_edges: np.ndarray, x_edges: np.ndarray) -> np.ndarray:
    """Δλ (sin φ₂ − sin φ₁): the solid angle of latitude-longitude cells; columns even but for rounding get one Δλ."""
    widths = np.diff(x_edges)
    if np.ptp(widths) <= _ROUNDING * widths.mean():  # so that blocks in a row have the same weights to the last digit
        widths = np.full_like(widths, widths.mean())
    return np.diff(np.sin(np.deg2rad(y_edges)))[:, None] * np.deg2rad(widths)[None, :]


def _jacobian_areas(latitude: np.ndarray, longitude: np.ndarray) -> np.ndarray:
    """|∂r/∂i × ∂r/∂j| of the unit vectors r by central differences; 1 where a side has one cell."""
    if min(latitude.shape) < 2:
        return np.ones(latitude.shape)
    vectors = sphere.unit_vectors(latitude, longitude)
    along, across = np.gradient(vectors, axis=0), np.gradient(vectors, axis=1)
    return np.linalg.norm(np.cross(along, across), axis=-1)


def _true_position(kind: Kind, y: np.ndarray, x: np.ndarray, mapping: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """(H, W) true latitude and longitude of native coordinates (H,) and (W,)."""
    rows, columns = np.meshgrid(y, x, indexing="ij")
    latitude, longitude = sphere.true_position(kind, rows, columns, mapping)
    return latitude, sphere.wrap_longitude(longitude)


def make_grid(
    kind: Kind,
    y: np.ndarray,
    x: np.ndarray,
    *,
    names: tuple[str, str] = ("latitude", "longitude"),
    mapping: dict[str, Any] | None = None,
    edges: tuple[np.ndarray, np.ndarray] | None = None,
    position: tuple[np.ndarray, np.ndarray] | None = None,
    wraps: bool = False,
    there: np.ndarray | None = None,
    area: np.ndarray | None = None,
    vertices: tuple[np.ndarray, np.ndarray] | None = None,
) -> Grid:
    """A grid from ascending native coordinates; ``position`` = true (latitude, longitude) if already known.

    ``area`` (H, W) is that of the cells if known, ``vertices`` their corners. Cells that are not ``there`` (H, W) have
    area 0, as have cells of a map projection beyond the edge of the Earth.

    Raises ``InputError`` above eight million cells, before any (H, W) array is allocated.
    """
    if len(y) * len(x) > _MOST_CELLS:
        raise InputError(
            f"The grid has {len(y):,} × {len(x):,} cells; the limit is {_MOST_CELLS:,}. Crop to a region first."
        )
    y, x = np.asarray(y, dtype=float), np.asarray(x, dtype=float)
    spherical = kind in ("latlon", "rotated")
    y_edges, x_edges = edges if edges is not None else (cell_edges(y, spherical), cell_edges(x, False))
    latitude, longitude = position if position is not None else _true_position(kind, y, x, mapping or {})
    if kind == "projected" and there is None:
        there = placed(latitude, longitude)
        latitude, longitude = fill_positions(latitude, longitude, there)
    if not (np.isfinite(latitude).all() and np.isfinite(longitude).all()):
        raise InputError(
            f"Rows and columns ({names[0]} {y[0]:g} to {y[-1]:g}, {names[1]} {x[0]:g} to {x[-1]:g}) have no position "
            "on Earth under the grid mapping: check their units and the mapping's parameters, or crop to the part "
            "that has one."
        )
    if area is None:
        area = _areas(kind, (y_edges, x_edges), (latitude, longitude))
    if there is not None:
        area = np.where(there, area, 0.0)
    return Grid(
        y=y,
        x=x,
        y_name=names[0],
        x_name=names[1],
        kind=kind,
        latitude=np.asarray(latitude, dtype=float),
        longitude=sphere.wrap_longitude(longitude),
        wraps=wraps,
        mapping=dict(mapping or {}),
        area=area / area.mean(),
        y_edges=y_edges,
        x_edges=x_edges,
        vertices=vertices,
    )
