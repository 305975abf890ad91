"""Regions from files: GeoJSON, CF geometries, and shapefiles or GeoPackages through pyogrio."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from shapely.errors import ShapelyError
from shapely.geometry import shape

from deconditioning.errors import InputError
from deconditioning.fields.footprints.outline_checks import checked
from deconditioning.fields.footprints.region_data import Regions
from deconditioning.fields.problem.cell_weights import stated_error
from deconditioning.fields.reading.decoding import NETCDF
from deconditioning.fill_values import equals_fill_value, find_fill_values

#: The most regions, and the most bytes of a GeoJSON file.
_MOST_REGIONS, _MOST_BYTES = 20_000, 200_000_000
#: Attributes that name a region, in small letters.
NAMES = ("name", "region", "label", "title", "id", "code", "nuts_id", "gid", "fid")
_GEOJSON = (".json", ".geojson")
#: How a zip archive begins, in which the files of a shapefile may lie, and how NetCDF does.
_ZIP = b"PK\x03\x04"


@dataclass(frozen=True, eq=False)
class Outlines:
    """``geometry`` (n,) of shapely polygons in degrees with their ``attributes`` by name, (n,) each, the ``source``
    file's name, ``notes`` on how it was read, the ``units`` of attributes, where they are known, and the ``time`` of
    values that a table with several times gives."""

    geometry: np.ndarray
    attributes: Mapping[str, Sequence[Any]]
    source: str
    notes: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    time: np.datetime64 | None = None

    @property
    def numeric(self) -> list[str]:
        """Names of the attributes that hold numbers, or nothing, everywhere and a number somewhere."""
        result = []
        for name in self.attributes:
            try:
                values = _numbers(self.attributes, name, self.source)
            except InputError:
                continue
            if np.isfinite(values).any():
                result.append(name)
        return result


def read_regions(path: str | Path, value: str, units: str = "", error: str | None = None) -> Regions:
    """The regions of a file, with the numbers in their attribute ``value``, and sds of their errors in ``error``.

    GeoJSON is in degrees unless it names another coordinate system, as a shapefile, a GeoPackage or a NetCDF file with
    CF geometries does. Raises ``InputError`` if the file or the attribute cannot be used.
    """
    return regions_of(read_outlines(path), value, units, error)


def read_outlines(path: str | Path, name: str | None = None) -> Outlines:
    """The outlines of a trusted file, which messages call ``name``; ``InputError`` as `read_regions`.

    Regions without an outline are left out, and outlines that are no polygons are mended, both with a note.
    """
    path = Path(path)
    name = name or path.name
    if not path.exists():
        raise InputError(
            f"There is no file {name}: give a GeoJSON file, a shapefile, a GeoPackage or NetCDF with CF geometries."
        )
    with open(path, "rb") as file:
        netcdf = file.read(4).startswith(NETCDF)
    raw, system = (_netcdf if netcdf else _geojson if _is_json(path, name) else _by_ogr)(path, name)
    if len(raw.geometry) > _MOST_REGIONS:
        raise InputError(f"{name} has {len(raw.geometry):,} regions: give from 1 to {_MOST_REGIONS:,}.")
    geometry = raw.geometry if system is None else _to_degrees(raw.geometry, system, name)
    geometry, mended = checked(geometry, name)
    there = shapely.area(geometry) > 0
    if not there.any():
        raise InputError(f"No region of {name} has an outline with an area: give polygons.")
    notes = [*raw.notes, *mended]
    if system is not None:
        notes.append(f"The outlines of {name} are converted from {system} to degrees.")
    if lost := int((~there).sum()):
        notes.append(f"{lost} of {len(there)} regions of {name} have no outline with an area and are left out.")
    attributes = {each: list(compress(column, there)) for each, column in raw.attributes.items()}
    return Outlines(geometry[there], attributes, name, tuple(notes), raw.units)


def regions_of(outlines: Outlines, value: str, units: str = "", error: str | None = None) -> Regions:
    """Regions with the numbers in the attribute ``value`` of their outlines, and sds of their errors in ``error``, or a
    number, which is that of all; ``units`` stand in for those of the file. Marks of missing values, such as −9999,
    count as missing with a note.
    """
    values, notes = _measured(outlines, value)
    same = None if error is None else stated_error(error, outlines.attributes.__contains__)
    errors: np.ndarray | None = None
    if same is not None:
        errors = np.full(len(values), same)
    elif error is not None:
        errors, more = _measured(outlines, error)
        notes = [*notes, *more]
    return Regions(
        outlines.geometry, values, _names(outlines.attributes, len(values)), units or outlines.units.get(value, ""),
        outlines.source, (*outlines.notes, *notes), errors, time=outlines.time,
    )  # fmt: skip


def _measured(outlines: Outlines, value: str) -> tuple[np.ndarray, list[str]]:
    """(n,) numbers of an attribute, NaN where there are none, and notes on marks of missing values."""
    result, notes = _numbers(outlines.attributes, value, outlines.source), []
    for mark in [each for each in find_fill_values(result) if each.sure]:
        result = np.where(equals_fill_value(result, mark.value), np.nan, result)
        where = f"{mark.count:,} of {len(result):,} regions of {outlines.source}"
        notes.append(f"'{value}' is {mark.text} in {where}, which counts as missing.")
    return result, notes


def write_outlines(outlines: Outlines, target: Path) -> None:
    """Outlines in an .npz archive, for `load_outlines` in another process."""
    shapes = [np.frombuffer(each, np.uint8) for each in shapely.to_wkb(outlines.geometry)]
    attributes = {name: list(map(_plain, values)) for name, values in outlines.attributes.items()}
    head = [outlines.source, list(outlines.notes), attributes, dict(outlines.units)]
    with open(target, "wb") as file:
        np.savez(file, head=np.array(json.dumps(head)), ends=np.cumsum([len(each) for each in shapes]),
                 shapes=np.concatenate(shapes))  # fmt: skip


def load_outlines(path: Path) -> Outlines:
    """Outlines back from `write_outlines`; nothing is unpickled."""
    with np.load(path, allow_pickle=False) as archive:
        source, notes, attributes, units = json.loads(str(archive["head"]))
        shapes = [part.tobytes() for part in np.split(archive["shapes"], archive["ends"][:-1])]
        return Outlines(shapely.from_wkb(np.array(shapes, dtype=object)), attributes, source, tuple(notes), units)


def _plain(value: Any) -> Any:
    """An attribute as JSON has it."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return value.item() if isinstance(value, np.number) else str(value)


def _is_json(path: Path, name: str) -> bool:
    """Whether a file is to be read as GeoJSON, by its name or its first character."""
    if Path(name).suffix.lower() in _GEOJSON:
        return True
    with open(path, "rb") as file:
        return file.read(64).removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"["))


def _netcdf(path: Path, name: str) -> tuple[Outlines, str | None]:
    """The same of a NetCDF file with CF geometries."""
    from deconditioning.fields.footprints.cf_geometries import cf_geometries

    geometries = cf_geometries(path, name, _MOST_REGIONS)
    return Outlines(geometries.geometry, geometries.attributes, name, geometries.notes, geometries.units), None


def _geojson(path: Path, name: str) -> tuple[Outlines, str | None]:
    """Outlines as the file has them, and the coordinate system if it is not degrees."""
    if path.stat().st_size > _MOST_BYTES:
        raise InputError(f"{name} is larger than {_MOST_BYTES // 10**6} MB: simplify its outlines first.")
    try:
        data = json.loads(path.read_text(encoding="utf-8-sig"))
        features = data["features"] if data.get("type") == "FeatureCollection" else [data]
        geometry = np.array([_shape(each["geometry"], n, name) for n, each in enumerate(features)], dtype=object)
        rows = [{**(each.get("properties") or {}), **({"id": each["id"]} if "id" in each else {})} for each in features]
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, ShapelyError):
        raise InputError(
            f"{name} is not GeoJSON with features: give a FeatureCollection of polygons with properties."
        ) from None
    known = dict.fromkeys(each for row in rows for each in row)
    system = str(((data.get("crs") or {}).get("properties") or {}).get("name", ""))
    degrees = not system or "CRS84" in system or system.endswith(("4326", "4258", "WGS84"))
    attributes = {str(each): [row.get(each) for row in rows] for each in known}
    return Outlines(geometry, attributes, name), None if degrees else system


def _shape(geometry: Any, row: int, name: str) -> Any:
    """A feature's geometry; None for none."""
    if not geometry or "coordinates" not in geometry or not geometry["coordinates"]:
        return shape(geometry) if geometry and "geometries" in geometry else None
    try:
        with np.errstate(invalid="ignore"):  # a corner without a position
            return shape(geometry)
    except (ValueError, TypeError, ShapelyError):
        raise InputError(
            f"The coordinates of region {row + 1} of {name} do not form rings of at least three corners: correct them."
        ) from None


def _by_ogr(path: Path, name: str) -> tuple[Outlines, str | None]:
    """The same of a file that GDAL reads."""
    try:
        import pyogrio
    except ImportError:
        raise InputError(
            f"{name} is not GeoJSON, and shapefiles and GeoPackages need the extra 'regions' (pip install "
            "'deconditioning[regions]'): install it, or convert the file to GeoJSON."
        ) from None
    try:
        with open(path, "rb") as file:
            zipped = file.read(4) == _ZIP
        about, _, outlines, columns = pyogrio.raw.read(f"/vsizip/{{{path}}}" if zipped else path)
    except pyogrio.errors.DataSourceError:
        raise InputError(
            f"{name} cannot be read as a file of regions: give GeoJSON, a shapefile (.shp with its .dbf, .shx "
            "and .prj, or these in a .zip) or a GeoPackage."
        ) from None
    system = about.get("crs")
    if not system:
        raise InputError(f"{name} does not name its coordinate system: add its .prj file, or convert it to GeoJSON.")
    attributes = {str(each): list(column) for each, column in zip(about["fields"], columns, strict=True)}
    regions = Outlines(shapely.from_wkb(outlines), attributes, name)
    return regions, None if system in ("EPSG:4326", "OGC:CRS84") else str(system)


def _to_degrees(geometry: np.ndarray, system: str, name: str) -> np.ndarray:
    from pyproj import CRS, Transformer
    from pyproj.exceptions import CRSError

    try:
        change = Transformer.from_crs(CRS.from_user_input(system), "EPSG:4326", always_xy=True)
    except CRSError:
        raise InputError(
            f"The coordinate system {system[:60]!r} of {name} is not known: convert it to degrees."
        ) from None
    return shapely.transform(geometry, change.transform, interleaved=False)


def _numbers(attributes: Mapping[str, Sequence[Any]], value: str, name: str) -> np.ndarray:
    """(n,) the values, NaN where there is none."""
    if value not in attributes:
        known = ", ".join(f"'{each}'" for each in list(attributes)[:12]) or "none"
        raise InputError(f"The regions of {name} have no attribute '{value}'; they have {known}: choose one.")
    result = np.full(len(attributes[value]), np.nan)
    for row, each in enumerate(attributes[value]):
        try:
            result[row] = np.nan if each is None or each == "" else float(each)
        except (TypeError, ValueError):
            raise InputError(
                f"'{value}' of region {row + 1} of {name} is {str(each)[:40]!r}: choose an attribute of numbers."
            ) from None
    return np.where(np.isfinite(result), result, np.nan)


def _names(attributes: Mapping[str, Sequence[Any]], count: int) -> tuple[str, ...]:
    attribute = next((each for known in NAMES for each in attributes if each.lower() == known), None)
    rows = range(1, count + 1) if attribute is None else attributes[attribute]
    return tuple(str(each) for each in rows)
