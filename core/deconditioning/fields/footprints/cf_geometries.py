"""Regions from the geometry container of a NetCDF file (CF conventions, section 7.5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import shapely

from deconditioning.errors import InputError
from deconditioning.fields.footprints.soundings import corners_of, outlines_of
from deconditioning.fields.grids.roles import role
from deconditioning.fields.grids.sphere import is_geographic, true_position
from deconditioning.fields.reading.decoding import decode
from deconditioning.fields.units import read_unit

if TYPE_CHECKING:
    import xarray as xr

#: Values along a further dimension, such as time, that become attributes of their own; corners of the shortest ring.
_MOST_PARTS, _CORNERS = 512, 3


@dataclass(frozen=True, eq=False)
class Geometries:
    """``geometry`` (n,) of shapely polygons in degrees, None if there is none, ``attributes`` by name, (n,) each,
    their ``units`` and ``notes``."""

    geometry: np.ndarray
    attributes: Mapping[str, Sequence[Any]]
    units: Mapping[str, str]
    notes: tuple[str, ...]


def cf_geometries(path: Path, name: str, most: int) -> Geometries:
    """The polygons of a file's one geometry container, or of its soundings with corners, and what lies along them; at
    most so many.

    Rings may be open or closed and go round either way; one that `interior_ring` marks is a hole of the last that is
    not. A variable ``t`` with another dimension gives attributes ``t[0]``, ``t[1]`` …; raises ``InputError`` if the
    file's counts contradict each other, where there are no polygons, or no coordinate system.
    """
    with decode(path) as decoded:
        data = decoded.dataset
        if not _containers(data) and (corners := corners_of(data)) is not None:
            return _of_soundings(data, corners, name, most, decoded.sentences())
        container = _container(data, name)
        about = data.variables[container].attrs
        x, y = _nodes(data, about, name)
        counts = _counts(data, about, "node_count", name)
        counts = np.array([len(x)]) if counts is None else counts
        _check_count(len(counts), most, name)
        parts = _counts(data, about, "part_node_count", name)
        holes = _counts(data, about, "interior_ring", name)
        parts = counts[counts > 0] if parts is None else parts
        holes = np.zeros(len(parts), dtype=int) if holes is None else holes
        y, x, converted = _degrees(data, about, y, x, name)
        geometry = _polygons(np.stack([x, y], axis=1), counts, parts, holes, name)
        attributes, units, notes = _attributes(data, container, len(counts))
        return Geometries(geometry, attributes, units, (*decoded.sentences(), *converted, *notes))


def _of_soundings(
    data: "xr.Dataset", corners: tuple[str, str], name: str, most: int, notes: Sequence[str]
) -> Geometries:
    """Soundings as regions."""
    dim, count = str(data.variables[corners[0]].dims[0]), data.variables[corners[0]].shape[0]
    _check_count(count, most, name)
    labels = [str(label) for label, variable in data.variables.items() if dim in variable.dims and label not in corners]
    attributes, units, more = _values(data, labels, dim, count)
    return Geometries(outlines_of(data, corners, name), attributes, units, (*notes, *more))


def _check_count(count: int, most: int, name: str) -> None:
    if count > most:
        raise InputError(f"{name} has {count:,} regions: give from 1 to {most:,}.")


def _containers(data: "xr.Dataset") -> dict[str, str]:
    """Names of the geometry containers of a file with the kind of each: polygon, line or point."""
    return {str(n): str(v.attrs["geometry_type"]).lower() for n, v in data.variables.items()
            if "geometry_type" in v.attrs}  # fmt: skip


def _container(data: "xr.Dataset", name: str) -> str:
    """The one geometry container of polygons."""
    kinds = _containers(data)
    polygons = [each for each, kind in kinds.items() if kind == "polygon"]
    if len(polygons) == 1:
        return polygons[0]
    if polygons:
        raise InputError(f"{name} has the geometry containers {', '.join(polygons[:6])}: keep one of them.")
    if kinds:
        raise InputError(
            f"The geometries of {name} are of kind {', '.join(sorted(set(kinds.values())))[:60]!r}: give polygons "
            "(points are stations: `--stations`)."
        )
    raise InputError(
        f"{name} has no geometry container (CF conventions, section 7.5) with outlines, and no soundings with corners: "
        "give one, or GeoJSON, a shapefile or a GeoPackage."
    )


def _variable(data: "xr.Dataset", about: Mapping[str, Any], key: str, label: str, name: str) -> "xr.Variable":
    if label not in data.variables:
        raise InputError(f"`{key}` of {name}'s geometry container names `{label[:40]}`, which is missing: add it.")
    variable = data.variables[label]
    if variable.ndim > 1 or variable.dtype.kind not in "fiub":
        raise InputError(f"`{label}` of {name} is not a list of numbers, as `{key}` needs: correct the file.")
    return variable


def _nodes(data: "xr.Dataset", about: Mapping[str, Any], name: str) -> tuple[np.ndarray, np.ndarray]:
    """(K,) x and y of all corners in the file's own units."""
    sides: dict[str, np.ndarray] = {}
    for label in str(about.get("node_coordinates", "")).split():
        variable = _variable(data, about, "node_coordinates", label, name)
        what = role(label, variable)
        side = str(variable.attrs.get("axis", "")).lower() or (what[1] if what else "")
        sides[side] = np.atleast_1d(np.asarray(variable.values, dtype=float))
    if not {"x", "y"} <= set(sides) or len(sides["x"]) != len(sides["y"]):
        raise InputError(
            f"`node_coordinates` of {name}'s geometry container does not name one list of x and one of y, equally "
            "long, with the attribute `axis`: correct the file."
        )
    if not (np.isfinite(sides["x"]) & np.isfinite(sides["y"])).all():
        raise InputError(f"Corners of the outlines of {name} have no position: fill in or remove them.")
    return sides["x"], sides["y"]


def _counts(data: "xr.Dataset", about: Mapping[str, Any], key: str, name: str) -> np.ndarray | None:
    if key not in about:
        return None
    values = np.atleast_1d(np.asarray(_variable(data, about, key, str(about[key]), name).values, dtype=float))
    if not (np.isfinite(values) & (values >= 0) & (values == np.round(values)) & (values < 2**40)).all():
        raise InputError(f"`{about[key]}` of {name} holds numbers that cannot be counts: correct the file.")
    return values.astype(int)


def _degrees(
    data: "xr.Dataset", about: Mapping[str, Any], y: np.ndarray, x: np.ndarray, name: str
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Latitudes and longitudes of corners, and a note where they are converted."""
    units = str(data.variables[str(about["node_coordinates"]).split()[0]].attrs.get("units", ""))
    label = str(about.get("grid_mapping", "")).partition(":")[0].strip()
    mapping = dict(data.variables[label].attrs) if label in data.variables else {}
    if not mapping and not units.lower().startswith("deg"):
        raise InputError(
            f"The corners of {name} are in {units[:40] or 'unknown units'} without a grid mapping to locate them on "
            "Earth: add `grid_mapping` to the geometry container, or give degrees."
        )
    rotated = mapping.get("grid_mapping_name") == "rotated_latitude_longitude"
    if not rotated and (not mapping or is_geographic(mapping)):
        return y, x, []
    if not rotated:
        unit, metre = read_unit(units or "m"), read_unit("m")
        if unit is None or metre is None or unit.quantity != metre.quantity:
            raise InputError(
                f"The corners of {name} are in {units[:40]!r}, which is not a length: correct their units."
            )
        y, x = (np.asarray(unit.convert(each, metre)) for each in (y, x))
    y, x = true_position("rotated" if rotated else "projected", y, x, mapping)
    return y, x, [f"The outlines of {name} are converted from the grid mapping `{label}` to degrees."]


def _polygons(corners: np.ndarray, counts: np.ndarray, parts: np.ndarray, holes: np.ndarray, name: str) -> np.ndarray:
    """(n,) polygons of corners (K, 2), from the corners of each region (n,), of each ring (P,), and which are holes."""
    ends = np.cumsum(parts)
    region = np.searchsorted(np.cumsum(counts), ends - 1, side="right")
    starts = np.r_[0, np.cumsum(counts)][region] if len(parts) else ends
    sums = counts.sum(), parts.sum(), len(corners)
    if len(set(sums)) > 1 or len(holes) != len(parts) or (starts > ends - parts).any():
        raise InputError(
            f"The counts of {name}'s geometry container contradict each other ({sums[0]:,} corners in its regions, "
            f"{sums[1]:,} in its rings, {sums[2]:,} in the file; or a ring belongs to two regions): write the file "
            "again."
        )
    if len(parts) and parts.min() < _CORNERS:
        raise InputError(f"Ring {int(parts.argmin()) + 1} of {name} has {parts.min()} corners: give at least three.")
    first = np.diff(region, prepend=-1) > 0
    if (holes[first] != 0).any():
        odd = int(region[first & (holes != 0)][0]) + 1
        raise InputError(f"Region {odd} of {name} begins with a hole: put the ring around it first.")
    result = np.full(len(counts), None, dtype=object)
    if len(parts):
        rings = shapely.linearrings(corners, indices=np.repeat(np.arange(len(parts)), parts))
        outer = np.cumsum(holes == 0) - 1
        one = shapely.polygons(rings, indices=outer)
        there, group = np.unique(region[holes == 0], return_inverse=True)
        joined = shapely.multipolygons(one, indices=group)
        single = np.bincount(group) == 1
        result[there] = np.where(single, shapely.get_geometry(joined, 0), joined)
    return result


def _attributes(data: "xr.Dataset", container: str, count: int) -> tuple[dict[str, Any], dict[str, str], list[str]]:
    """What lies along the regions of a container."""
    about = data.variables[container].attrs
    counted = data.variables.get(str(about.get("node_count", "")))
    along = str(counted.dims[0]) if counted is not None and counted.ndim else None
    inner = {str(about.get(key, "")) for key in ("node_count", "part_node_count", "interior_ring")}
    inner |= {container, *str(about["node_coordinates"]).split()}
    labels = [str(label) for label, variable in data.variables.items()
           if along in variable.dims or (along is None and variable.attrs.get("geometry") == container)]  # fmt: skip
    return _values(data, [label for label in labels if label not in inner], along, count)


def _values(
    data: "xr.Dataset", labels: Sequence[str], along: str | None, count: int
) -> tuple[dict[str, Any], dict[str, str], list[str]]:
    """Variables along the regions, by name: numbers and words, their units, and notes."""
    attributes: dict[str, Any] = {}
    units: dict[str, str] = {}
    notes = []
    for label in labels:
        variable = data.variables[label]
        if variable.dtype.kind not in "fiubUSO":
            continue
        values = np.asarray(variable.values)
        rows = np.moveaxis(values, variable.dims.index(along), 0) if along is not None else values
        rows = rows.reshape(count, -1) if rows.size % count == 0 else rows.reshape(0, 0)
        if not 0 < rows.shape[1] <= _MOST_PARTS:
            notes.append(f"`{label}` has {rows.shape[1]:,} values for each region and is left out: select some first.")
            continue
        names = [label] if rows.shape[1] == 1 else [f"{label}[{number}]" for number in range(rows.shape[1])]
        attributes |= {each: list(column) for each, column in zip(names, rows.T, strict=True)}
        units |= dict.fromkeys(names, str(variable.attrs.get("units", ""))) if variable.dtype.kind in "fiub" else {}
        if len(names) > 1:
            notes.append(f"`{label}` has {len(names)} values for each region, called {names[0]} to {names[-1]}.")
    return attributes, units, notes
