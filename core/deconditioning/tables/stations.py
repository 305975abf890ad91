"""Stations from a table: which columns are position, altitude, value and error."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.footprints.gaussian import footprint_of
from deconditioning.fields.footprints.station_data import Stations
from deconditioning.fields.problem.matching import place_matching
from deconditioning.fields.units import Side, compass, factor, factor_between, read_unit
from deconditioning.tables.angles import angles_of
from deconditioning.tables.footprints import FootprintColumns
from deconditioning.tables.table import Table, read_table
from deconditioning.tables.times import dates_of_rows, labels_of_rows, rows_at

#: Names of columns, in small letters and without their units.
_LATITUDE = ("lat", "latitude", "lats", "station_latitude", "y", "breite", "geobreite", "breitengrad", "latitud")
_LONGITUDE = ("lon", "longitude", "long", "lng", "lons", "station_longitude", "x", "länge", "laenge", "geolänge",
              "geolaenge", "längengrad", "laengengrad", "longitud")  # fmt: skip
_ALTITUDE = ("alt", "altitude", "elevation", "elev", "height", "station_altitude", "station_height", "z", "höhe",
             "hoehe", "stationshöhe", "stationshoehe", "altitud")  # fmt: skip
_ERROR = ("error", "err", "sd", "std", "sigma", "uncertainty", "standard_error", "stderr", "value_sd", "value_error")
_VALUE = ("value", "observation", "obs", "measurement", "measured")
#: Names of numbers that are no measurement.
_OTHER = ("id", "station", "station_id", "wmo", "wmo_id", "index", "number", "year", "month", "day", "hour", "")
#: Units behind a column's name: ``t2m [K]``, ``t2m (degC)``; a number there is a part of it.
_WITH_UNITS = re.compile(r"\s*(.*?)\s*[\[(]\s*(?!\d+\])([^\])]*?)\s*[\])]\s*")


def read_stations(
    path: str | Path, target: str = "", value: str = "", time: str = "", *, error: str = "", footprint: str = ""
) -> Stations:
    """The stations of a CSV or NetCDF table with columns of latitude, longitude, value and perhaps altitude and error.

    ``value`` names the column of what was measured; else it is the one named like the ``target`` or "value", or the
    only one that is left. ``error`` names that with the sds of errors, where its name does not say so. ``footprint`` is
    what each value averages over: widths in kilometres (`footprint_of`) or columns with them (`FootprintColumns`). Of a
    table with several times the rows of ``time`` count, which may be the beginning of a date. Rows without a value, or
    that repeat another, are left out. Raises ``InputError`` if a column is missing or not clear, or if a table has
    several times of which ``time`` names not one.
    """
    return stations_of(read_table(path), target, value, time, error=error, footprint=footprint)


def stations_of(
    table: Table, target: str = "", value: str = "", time: str = "", *, error: str = "", footprint: str = ""
) -> Stations:
    """`read_stations` of a table."""
    table, widths = _at_time(table, time), FootprintColumns.of_text(table, footprint)
    roles = _roles(table, error, widths.names)
    latitude, longitude, altitude, sd = roles.latitude, roles.longitude, roles.altitude, roles.error
    table = _with_angles(_with_angles(table, latitude, "y"), longitude, "x")
    chosen = _value(table, roles.left, target, value)
    columns = [latitude, longitude, chosen, *(each for each in (altitude, sd) if each)]
    data = dict(zip(columns, table.with_gaps(columns).T, strict=True))
    data[latitude] = _degrees(table, latitude, "y", data[latitude])
    data[longitude] = _degrees(table, longitude, "x", data[longitude])
    there = np.isfinite(data[chosen]) & np.isfinite(data[latitude]) & np.isfinite(data[longitude])
    notes = [*table.notes, *_on_places(table.source, latitude, longitude)]
    if not there.all():
        notes.append(f"{int((~there).sum())} of {len(there)} stations have no value or no position and are left out.")
    if not there.any():
        raise InputError(f"No row of {table.source} has a position and a value in '{chosen}': correct the table.")
    _check_places(table.source, data[latitude][there], data[longitude][there])
    spread, unknown = _errors(table, sd, chosen, data[sd][there] if sd else np.zeros(int(there.sum())))
    stations = Stations(
        data[latitude][there], data[longitude][there], data[chosen][there], spread,
        _metres(table, altitude, data[altitude][there]) if altitude else None,
        units=_units(table, chosen), source=table.source, notes=(*notes, *unknown),
        footprint=None if widths.names else footprint_of(footprint),
    )  # fmt: skip
    if widths.names:
        stations = widths.given(stations, table, partial(_units, table), there)
    return _without_copies(stations, list(stations.notes))


def stations_in_time(
    table: Table, labels: Sequence[str], target: str = "", value: str = ""
) -> list[Stations | None]:  # fmt: skip
    """The stations of a table at each of several times, None at those of which it has no value.

    ``target`` and ``value`` are as `read_stations` takes them. Raises ``InputError`` if the table has no column of
    several dates, or none of the ``labels`` is among them.
    """
    known = times_of(table)
    if not known:
        raise InputError(
            f"{table.source} has no column of several dates, but many times are downscaled: add one, or downscale one "
            "time."
        )
    places = [place_matching(known, label) for label in labels]
    if all(place is None for place in places):
        raise InputError(
            f"None of the {len(labels)} times, {labels[0]} to {labels[-1]}, is in {table.source}, which has "
            f"{known[0]} to {known[-1]}: choose times of both."
        )
    return [None if place is None else _stations_at(table, target, value, known[place]) for place in places]


def _stations_at(table: Table, target: str, value: str, time: str) -> Stations | None:
    """The stations of one of a table's times; None if none has a value."""
    try:
        return stations_of(table, target, value, time)
    except InputError as error:
        if str(error).startswith("No row of"):
            return None
        raise


def _errors(table: Table, name: str | None, value: str, values: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Errors in the units of the values, 0 where one is not known, and a note on these."""
    spread = _spread(table, name, value, values) if name else values
    if (spread < 0).any():
        raise InputError(f"Column '{name}' of {table.source} has negative numbers: give standard deviations.")
    unknown = int(np.isnan(spread).sum())
    notes = [f"{unknown} of {len(spread)} stations have no error in '{name}', which counts as 0 there."]
    return np.nan_to_num(spread), notes if unknown else []


def _check_places(source: str, latitude: np.ndarray, longitude: np.ndarray) -> None:
    """``InputError`` for positions that are no degrees."""
    if (worst := np.abs(latitude).max()) > 90:
        look = ", as longitudes do" if worst <= 360 and np.abs(longitude).max() <= 90 else ""
        raise InputError(f"Latitudes of {source} reach {worst:g}{look}: give degrees north, from −90 to 90.")
    if (worst := np.abs(longitude).max()) > 360:
        raise InputError(f"Longitudes of {source} reach {worst:g}: give degrees east, from −180 to 360.")


def _without_copies(stations: Stations, notes: list[str]) -> Stations:
    """The stations without rows that repeat another, and notes on these and on several at one place."""
    places = np.stack([stations.latitude, stations.longitude], axis=1)
    rows = np.column_stack([places, stations.value, stations.error])
    _, first = np.unique(rows, axis=0, return_index=True)
    if copies := len(rows) - len(first):
        notes = [*notes, f"{copies} of {len(rows)} rows repeat the position and value of another row and are left out."]
    distinct = stations.of(np.sort(first))
    if again := len(distinct) - len(np.unique(places[first], axis=0)):
        notes = [
            *notes,
            f"{again} of {len(distinct)} stations have the same position as another; each is used separately. If they "
            "belong to several times, add a column of dates.",
        ]
    return replace(distinct, notes=tuple(notes))


def _units(table: Table, name: str) -> str:
    """The units of a column, behind its name or from a NetCDF file."""
    return _plain(name)[1] or table.units.get(name, "")


def station_columns(table: Table) -> list[str]:
    """The columns that may hold what was measured; ``InputError`` if there is none, or no position."""
    left = [name for name, plain in _roles(table).left.items() if name in table.numeric and plain not in _OTHER]
    if not left:
        raise InputError(
            f"{table.source} has no column of measured numbers: add one, named like the target or 'value'."
        )
    return left


def has_positions(table: Table) -> bool:
    """Whether a column of latitudes or of longitudes is among a table's."""
    return any(_plain(name)[0] in (*_LATITUDE, *_LONGITUDE) for name in table.columns)


@dataclass(frozen=True)
class _Roles:
    """Columns by role, and the plain names of those that are ``left``."""

    latitude: str
    longitude: str
    altitude: str | None
    error: str | None
    left: dict[str, str]


def _roles(table: Table, error: str = "", others: tuple[str, ...] = ()) -> _Roles:
    """Which column is what; ``error`` names that of the errors, ``others`` are taken for something else."""
    if error:
        table.column(error)
    names = {name: _plain(name)[0] for name in table.columns}
    latitude, longitude = (_one(table, names, known, what) for known, what in ((_LATITUDE, "latitude"),
                                                                                (_LONGITUDE, "longitude")))  # fmt: skip
    altitude, sd = (next((n for n, plain in names.items() if plain in known), None) for known in (_ALTITUDE, _ERROR))
    sd = error or sd
    used = {latitude, longitude, altitude, sd, *others}
    return _Roles(latitude, longitude, altitude, sd, {n: plain for n, plain in names.items() if n not in used})


def _plain(name: str) -> tuple[str, str]:
    """A column's name in small letters, and the units behind it."""
    match = _WITH_UNITS.fullmatch(name)
    words, units = (match[1], match[2]) if match else (name, "")
    return re.sub(r"[\s-]+", "_", words.strip().lower()), units


def _one(table: Table, names: dict[str, str], known: tuple[str, ...], what: str) -> str:
    matches = [name for plain in known for name, text in names.items() if text == plain]
    if not matches:
        listed = ", ".join(f"'{name}'" for name in list(names)[:12])
        raise InputError(f"{table.source} has no column of {what} (it has {listed}): name one '{known[0]}'.")
    return matches[0]


def _value(table: Table, names: dict[str, str], target: str, value: str) -> str:
    """The column of what was measured."""
    if value:
        table.column(value)
        return value
    for known in ((target.lower(),), _VALUE):
        if matches := [name for name, plain in names.items() if plain in known]:
            return matches[0]
    left = [name for name, plain in names.items() if name in table.numeric and plain not in _OTHER]
    if len(left) == 1:
        return left[0]
    listed = ", ".join(f"'{name}'" for name in left[:12]) or "none of numbers"
    raise InputError(
        f"Which column of {table.source} was measured is not clear ({listed}): name it (`--station-value COLUMN`), "
        f"or call it '{target or 'value'}'."
    )


def times_of(table: Table) -> list[str]:
    """The dates of a table that has several, in order, as ``2001-02-30 06:00``; none for one date or no dates."""
    return labels_of_rows(_dates(table)[1])


def _dates(table: Table) -> tuple[str, np.ndarray]:
    """`dates_of_rows` of a table of stations, which repeats their positions."""
    return dates_of_rows(table, partial(_repeats_places, table))


def _repeats_places(table: Table) -> bool:
    """Whether a position stands in more than one row."""
    roles = _roles(table)
    places = list(zip(*(table.columns[name].tolist() for name in (roles.latitude, roles.longitude)), strict=True))
    return len(set(places)) < len(places)


def _at_time(table: Table, time: str) -> Table:
    """The rows of one of a table's several times."""
    name, dates = _dates(table)
    if not name:
        return table
    return rows_at(
        table, name, dates, time, "choose one (`--station-time TIME`), or give averages, one row per station"
    )[0]


def _with_angles(table: Table, name: str, side: Side) -> Table:
    """The table with degrees in place of a column of text such as ``52°30'15"N``, and a note."""
    values = table.columns[name]
    angles = angles_of(values, side) if values.dtype.kind not in "fM" else None
    if angles is None:
        return table
    at = int(np.isfinite(angles).argmax())
    words = f"{str(values[at]).strip()[:40]} is {angles[at]:.6g}°"
    note = f"'{name}' of {table.source} is read as degrees, minutes and seconds: {words}."
    return replace(table, columns={**table.columns, name: angles}, notes=(*table.notes, note))


def _on_places(source: str, latitude: str, longitude: str) -> list[str]:
    """A sentence where columns are just called x and y."""
    both = _plain(latitude)[0], _plain(longitude)[0]
    words = f"'{longitude}' and '{latitude}' of {source} are taken to be degrees east and north."
    return [words] if both == ("y", "x") else []


def _degrees(table: Table, name: str, side: Side, values: np.ndarray) -> np.ndarray:
    """Latitudes ("y") or longitudes ("x") in degrees north or east, by the units behind the name and by a column of N
    and S, or of E and W; ``InputError`` for units of something else."""
    units = _units(table, name)
    along = compass(f"°{units}" if len(units) == 1 else units)
    unit = read_unit(units) if units and along is None else None
    turned = factor(units, "degree") if unit else None
    if (along and along[0] != side) or (unit and turned is None):
        expected = "degrees north" if side == "y" else "degrees east"
        raise InputError(f"Column '{name}' of {table.source} is in {units!r}: give {expected}.")
    return values * (along[1] if along else turned or 1.0) * _hemispheres(table, side)


def _hemispheres(table: Table, side: Side) -> np.ndarray | float:
    """(N,) −1 where a column of letters says south or west; 1 for a table without."""
    there, away = ("N", "S") if side == "y" else ("E", "W")
    for values in table.columns.values():
        if values.dtype.kind in "fM" or not len(values):
            continue
        letters = np.char.upper(np.char.strip(values.astype(np.str_)))
        if np.isin(letters, [there, away]).all():
            return np.where(letters == away, -1.0, 1.0)
    return 1.0


def _spread(table: Table, name: str, value: str, values: np.ndarray) -> np.ndarray:
    """Errors in the units of the values, as differences: 1.8 °F are 1 K; ``InputError`` for units of something else."""
    have, want = _units(table, name), _units(table, value)
    if not have or not want or have == want:
        return values
    change = factor_between(have, want)
    if change is None:
        raise InputError(
            f"Column '{name}' of {table.source} is in {have!r}, '{value}' in {want!r}: give standard deviations in the "
            "units of the values."
        )
    return values * change


def _metres(table: Table, name: str, values: np.ndarray) -> np.ndarray:
    units = _units(table, name)
    if not units:
        return values
    unit, metre = read_unit(units), read_unit("m")
    if unit is None or metre is None or unit.quantity != metre.quantity:
        raise InputError(f"Column '{name}' of {table.source} is in {units!r}, which is not a length: give metres.")
    return np.asarray(unit.convert(values, metre))
