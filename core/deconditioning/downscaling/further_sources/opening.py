"""Stations and regions by key: of a data set of the catalogue, or an upload, which is read in a separate process."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from deconditioning.engine.visitors.uploads import UPLOAD, keep_kind, path_of
from deconditioning.errors import InputError
from deconditioning.fields.footprints.gaussian import footprint_of
from deconditioning.fields.footprints.region_data import Regions
from deconditioning.fields.footprints.station_data import Stations
from deconditioning.sandbox import read_apart

if TYPE_CHECKING:
    import numpy as np

    from deconditioning.fields.footprints.region_files import Outlines
    from deconditioning.tables.table import Table

#: What the store calls uploads of stations, of regions, and of tables with regions' values.
STATIONS, REGIONS, REGION_TABLES = "stations", "regions", "region_tables"


#: Endings of tables and of regions, and how GeoJSON, a GeoPackage and a shapefile begin.
_TABLES, _OUTLINES = (".csv", ".tsv", ".txt", ".dat"), (".json", ".geojson", ".gpkg", ".shp", ".zip")
_BEGINNINGS = (b"{", b"SQLite format 3", b"\x00\x00\x27\x0a")


def kind_of(data: bytes | Path, name: str) -> str | None:
    """Whether a file's name or first bytes say `STATIONS` (a table of text) or `REGIONS`; None for anything else."""
    ending = Path(name).suffix.lower()
    head = _head(data).removeprefix(b"\xef\xbb\xbf").lstrip()
    if ending in _OUTLINES or head.startswith(_BEGINNINGS):
        return REGIONS
    text = b"\x00" not in head and not head.startswith(b"GRIB")
    return STATIONS if ending in _TABLES and text else None


def other_kinds(data: bytes | Path) -> tuple[str, ...]:
    """What a file that holds no fields, and of which `kind_of` says nothing, may hold; only NetCDF may hold regions."""
    from deconditioning.fields.reading.decoding import NETCDF

    return (REGIONS, STATIONS) if _head(data).startswith(NETCDF) else (STATIONS,)


def _head(data: bytes | Path) -> bytes:
    with data.open("rb") if isinstance(data, Path) else BytesIO(data) as file:
        return file.read(64)


def keep_further_file(kind: str, data: bytes | Path, name: str, mark: str = "") -> str:
    """Read an uploaded file of `STATIONS` or `REGIONS` in a separate process and keep it: its key.

    A table of text, or of NetCDF with keys, without latitudes and longitudes is kept as one of `REGION_TABLES`.
    ``data`` and ``mark`` are as `deconditioning.downscaling.source.keep_upload` takes them. Raises ``InputError`` with
    one sentence on anything wrong with the file; nothing is kept then.
    """
    if kind == REGIONS:
        _outlines(data, name)
    else:
        from deconditioning.tables.regions import has_keys, may_hold_values
        from deconditioning.tables.stations import station_columns

        table = _table(data, name)
        text = kind_of(data, name) == STATIONS  # NetCDF without positions and keys is no table
        if may_hold_values(table) and (text or has_keys(table)):
            kind = REGION_TABLES
        else:
            station_columns(table)
    return keep_kind(data, name, kind, mark)


def open_stations(
    key: str, target: str = "", value: str = "", time: str = "", *, error: str = "", footprint: str = ""
) -> Stations:
    """The stations of a key, their values in the column ``value``, else in that named like the target or "value", of
    several times at ``time``; ``error`` and ``footprint`` as `deconditioning.tables.stations.read_stations` has them.
    """
    if key.startswith(UPLOAD):
        from deconditioning.tables.stations import stations_of

        return stations_of(_table(*path_of(key)), target, value, time, error=error, footprint=footprint)
    from deconditioning.datasets.entries import find_stations

    found = find_stations(key, target)
    return replace(found, footprint=footprint_of(footprint) or found.footprint)


def own_footprint(key: str) -> str:
    """The footprint that a data set's own soundings state, in words; empty for points, and for uploads, whose columns
    of widths must be named."""
    from deconditioning.datasets.entries import find_stations

    footprint = None if key.startswith(UPLOAD) else find_stations(key).footprint
    return "" if footprint is None else str(footprint)


def choices_of_stations(key: str) -> tuple[list[str], list[str]]:
    """The columns of an upload's key that may hold what was measured, and its times where it has several; nothing to
    choose from for a data set's stations."""
    from deconditioning.tables.stations import station_columns, times_of

    if not key.startswith(UPLOAD):
        return [], []
    table = _table(*path_of(key))
    return station_columns(table), times_of(table)


def joins_of(regions: str, table: str) -> dict[str, tuple[int, int]]:
    """What may join the rows of a table to regions, both by key, as `deconditioning.tables.regions.joins` has it."""
    from deconditioning.tables.regions import joins

    return joins(_outlines_of(regions), _table(*path_of(table)))


def times_of_regions(regions: str, table: str, by: str) -> list[str]:
    """The times of a table that gives regions several values, one after another, all by key; else none."""
    from deconditioning.tables.regions import times_of_rows

    return times_of_rows(_outlines_of(regions), _table(*path_of(table)), by)


def values_of_regions(regions: str, table: str | None = None, by: str = "") -> list[str]:
    """The attributes of numbers that regions have, or have from a table, by key, of several times at the first;
    ``InputError`` if there is none."""
    times = times_of_regions(regions, table, by) if table else []
    outlines = _outlines_of(regions, table, by, times[0] if times else "")
    result = outlines.numeric
    if not result:
        raise InputError(
            f"The regions of {outlines.source} have no attribute of numbers: give a table with their values, or add "
            "the values to the file."
        )
    return result


def open_regions(
    key: str, value: str, units: str = "", error: str | None = None, table: str | None = None, by: str = "",
    time: str = "",
) -> Regions:  # fmt: skip
    """The regions of a key, with the numbers in their attribute ``value`` and sds of errors in ``error``, or in columns
    of the table of a key, whose rows, of several times those of ``time``, are joined ``by`` an attribute (see
    `deconditioning.tables.regions.joined`)."""
    from deconditioning.fields.footprints.region_files import regions_of

    return regions_of(_outlines_of(key, table, by, time), value, units, error)


def stations_at(
    key: str, target: str = "", value: str = "", time: str = "", *, error: str = "", footprint: str = ""
) -> Stations:
    """`open_stations` of a key, or of a trusted file by its path."""
    from deconditioning.datasets.entries import station_titles
    from deconditioning.tables.stations import read_stations

    stored = key.startswith(UPLOAD) or key in station_titles()
    read = open_stations if stored else read_stations
    return read(key, target, value, time, error=error, footprint=footprint)


def stations_in_time_at(
    key: str, labels: Sequence[str], target: str = "", value: str = ""
) -> list[Stations | None]:  # fmt: skip
    """The stations of an upload, or of a trusted file by its path, at each of several times; None where there are none.

    Raises ``InputError`` as `deconditioning.tables.stations.stations_in_time` does.
    """
    from deconditioning.datasets.entries import station_titles
    from deconditioning.tables.stations import stations_in_time
    from deconditioning.tables.table import read_table

    if key in station_titles():
        raise InputError(f"The stations '{key}' are of a single time: give a table with a column of dates.")
    table = _table(*path_of(key)) if key.startswith(UPLOAD) else read_table(key)
    return stations_in_time(table, labels, target, value)


def regions_at(
    key: str, value: str, units: str = "", error: str | None = None, table: str | None = None, by: str = "",
    time: str = "",
) -> Regions:  # fmt: skip
    """`open_regions` of keys, or of trusted files by their paths."""
    from deconditioning.datasets.entries import region_titles
    from deconditioning.fields.footprints.region_files import read_outlines, regions_of
    from deconditioning.tables.regions import joined
    from deconditioning.tables.table import read_table

    outlines = _outlines_of(key) if key.startswith(UPLOAD) or key in region_titles() else read_outlines(key)
    if table:
        rows = _table(*path_of(table)) if table.startswith(UPLOAD) else read_table(table)
        outlines = joined(outlines, rows, by, time)
    return regions_of(outlines, value, units, error)


def regions_in_time_at(
    key: str, value: str, units: str, error: str | None, table: str, by: str
) -> tuple[list[str], "np.ndarray", "Callable[[int], Regions]"]:  # fmt: skip
    """The times of a table with a row for each region and date, by key or by path: labels, dates (T,), and what gives
    the regions with the values of one of them.
    """
    from deconditioning.datasets.entries import region_titles
    from deconditioning.fields.footprints.region_files import read_outlines, regions_of
    from deconditioning.tables.regions import joined_in_time
    from deconditioning.tables.table import read_table

    outlines = _outlines_of(key) if key.startswith(UPLOAD) or key in region_titles() else read_outlines(key)
    rows = _table(*path_of(table)) if table.startswith(UPLOAD) else read_table(table)
    labels, dates, at = joined_in_time(outlines, rows, by)
    return labels, dates, lambda number: regions_of(at(number), value, units, error)


def kind_of_source(key: str) -> str | None:
    """Whether a key of a data set, or a file's name or first bytes, say `STATIONS` or `REGIONS`; None where the file
    may hold fields."""
    from deconditioning.datasets.entries import region_titles, station_titles

    if key in region_titles() or key in station_titles():
        return REGIONS if key in region_titles() else STATIONS
    data, name = path_of(key) if key.startswith(UPLOAD) else (Path(key), Path(key).name)
    return kind_of(data, name) if data.is_file() else None


def kind_without_fields(key: str) -> str | None:
    """What a file holds that `kind_of_source` does not know and that has no fields: `REGIONS` (or soundings with
    corners), `STATIONS`, or None for neither."""
    from deconditioning.fields.footprints.region_files import read_outlines
    from deconditioning.tables.stations import station_columns
    from deconditioning.tables.table import read_table

    path = path_of(key)[0] if key.startswith(UPLOAD) else Path(key)
    kinds = other_kinds(path) if path.is_file() else ()
    for kind in kinds:
        with contextlib.suppress(InputError, OSError):  # a damaged file is neither
            if kind == REGIONS:
                _outlines_of(key) if key.startswith(UPLOAD) else read_outlines(key)
            else:
                station_columns(_table(*path_of(key)) if key.startswith(UPLOAD) else read_table(key))
            return kind
    return None


def _outlines_of(key: str, table: str | None = None, by: str = "", time: str = "") -> "Outlines":
    """The outlines of a key with all of their attributes, and with those of the table of a key joined to them."""
    if table:
        from deconditioning.tables.regions import joined

        return joined(_outlines_of(key), _table(*path_of(table)), by, time)
    if key.startswith(UPLOAD):
        return _outlines(*path_of(key))
    from deconditioning.datasets.entries import find_outlines

    return find_outlines(key)


def _table(data: bytes | Path, name: str) -> "Table":
    from deconditioning.tables.table import open_table

    return open_table(data, name)


def _outlines(data: bytes | Path, name: str) -> "Outlines":
    from deconditioning.fields.footprints.region_files import load_outlines

    return read_apart("deconditioning.fields.footprints.region_process", data, name, load_outlines)
