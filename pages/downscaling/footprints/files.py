"""Controls of the files beside the fields: regions that are the target, stations that are targets or truth."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from deconditioning.datasets.entries import region_titles, region_units, station_titles
from deconditioning.downscaling.stations.opening import (
    REGION_TABLES,
    REGIONS,
    STATIONS,
    choices_of_stations,
    joins_of,
    values_of_regions,
)
from deconditioning.engine.visitors.uploads import stored_of_kind
from deconditioning.errors import InputError
from pages.kit.controls import widgets
from pages.kit.controls.variable_choice import begin, pick
from pages.kit.visitor import listed

#: Keys of the controls, by the names of a source.
KEYS = {
    "regions": "regions", "table": "region-table", "key": "region-key", "units": "value-units", "stations": "stations",
    "scored": "scored", "station_value": "column", "station_time": "station-time",
    "station_footprint": "footprint",
}  # fmt: skip
_ABOUT_FOOTPRINTS = (
    "The area that each value averages over, such as the footprint of a satellite, as a Gaussian. Give its full width "
    "at half maximum (20), or two widths and the direction of the first in degrees from north (22,14,30). Leave this "
    "empty for stations, which measure one pixel."
)
NONE, _BY_NAME, _OF_MAP = "(none)", "(named like the target)", "(that of the map)"
AUTO_NAMES = {_BY_NAME: "the one named like the target, or 'value'", _OF_MAP: "that of the map"}


def uploaded(kind: str) -> dict[str, str]:
    """Key → file name of the visitor's uploads of stations, of regions or of tables with regions' values."""
    return listed(partial(stored_of_kind, kind), *(KEYS[name] for name in ("regions", "table", "stations", "scored")))


def tables_for(regions: str) -> dict[str, str]:
    """Key → file name of the visitor's tables that may give regions their values: those without positions, and all
    where the regions have no values of their own."""
    tables = uploaded(REGION_TABLES)
    try:
        attributes({"regions": regions})
    except InputError:
        return tables | uploaded(STATIONS)
    return tables


def choose(key: str) -> dict[str, str]:
    """The files beside the fields of a key, by their names in a source; controls only where there are some."""
    stations_of_set, regions_of_set = (_of_data_set(key, titles()) for titles in (station_titles, region_titles))
    stations = {**stations_of_set, **{each: f"Upload: {name}" for each, name in uploaded(STATIONS).items()}}
    result: dict[str, str] = {}
    if regions := {**regions_of_set, **{each: f"Upload: {name}" for each, name in uploaded(REGIONS).items()}}:
        result |= _file("Target from regions", "regions", regions, next(iter(regions_of_set), NONE))
    if result.get("regions"):
        result |= _table(result["regions"])
        usual = region_units(result["regions"])
        begin(KEYS["units"], usual)
        units = widgets.text_input("Units of the regions' values", usual, key=KEYS["units"], placeholder="K, mm …")
        result["units"] = units.strip()[:60]
    if stations:
        result |= _file("Stations as targets", "stations", stations, f"{key}/seen")
        result |= _file("Stations that only score the map", "scored", stations, f"{key}/scored")
    for label, name, options in choices_in([result[name] for name in ("stations", "scored") if result.get(name)]):
        chosen = pick(label, KEYS[name], options, options[0], AUTO_NAMES)
        result |= {} if chosen in AUTO_NAMES else {name: chosen}
    if result.get("stations"):
        width = widgets.text_input(
            "Footprint of the stations (km)",
            key=KEYS["station_footprint"],
            placeholder="points",
            help=_ABOUT_FOOTPRINTS,
        )
        result |= {"station_footprint": width.strip()[:40]} if width.strip() else {}
    return result


def _of_data_set(key: str, titles: Mapping[str, str]) -> dict[str, str]:
    """Those that belong to a data set."""
    return {each: title for each, title in titles.items() if each.startswith(f"{key}/")}


def _file(label: str, name: str, files: Mapping[str, str], default: str = NONE) -> dict[str, str]:
    chosen = pick(label, KEYS[name], [NONE, *files], default, dict(files))
    return {} if chosen == NONE else {name: chosen}


def _table(regions: str) -> dict[str, str]:
    """A table with the regions' values and what joins its rows to them; ``InputError`` where nothing does."""
    tables = {each: f"Upload: {name}" for each, name in tables_for(regions).items()}
    table = _file("Table of the regions' values", "table", tables).get("table") if tables else None
    if not table:
        return {}
    names = keys_of_table(regions, table)
    options = list(names)
    return {"table": table, "key": pick("Rows joined to regions by", KEYS["key"], options, options[0], names)}


def choices_in(tables: Sequence[str]) -> list[tuple[str, str, list[str]]]:
    """What there is to choose in tables of stations by key: a label, its name in a source, and the options, of which
    the first leaves it to the tables."""
    read = [_choices(each) for each in tables]
    columns = list(dict.fromkeys(column for columns, _ in read for column in columns))
    times = sorted({time for _, times in read for time in times})
    result = []
    if len(columns) > 1:
        result.append(("Column of the stations' values", "station_value", [_BY_NAME, *columns]))
    if times:
        result.append(("Time of the stations' values", "station_time", [_OF_MAP, *times]))
    return result


@st.cache_resource(show_spinner="Reading the stations …", max_entries=16)
def _choices(key: str) -> tuple[list[str], list[str]]:
    return choices_of_stations(key)


def attributes(source: Mapping[str, Any]) -> list[str]:
    """The attributes of numbers that a source's regions have, from its table where there is one."""
    return _attributes(source["regions"], source.get("table"), source.get("key", ""))


@st.cache_resource(show_spinner="Reading the regions …", max_entries=8)
def _attributes(regions: str, table: str | None, key: str) -> list[str]:
    return values_of_regions(regions, table, key)


@st.cache_resource(show_spinner="Joining the table to the regions …", max_entries=8)
def keys_of_table(regions: str, table: str) -> dict[str, str]:
    """What may join a table's rows to regions, best first, and what a list shows for it; ``InputError`` if nothing."""
    names = {}
    for key, (count, whole) in joins_of(regions, table).items():
        attribute, _, column = key.partition("=")
        sides = f"{attribute} = {column}" if column else attribute
        names[key] = f"{sides}: {'all' if count == whole else f'{count} of'} {whole} regions"
    return names


def values_of(source: Mapping[str, Any]) -> dict[str, Any]:
    """What these controls must hold for a source as ``Source.to_dict`` has it; those that are not there stay away."""
    empty: dict[str, Any] = {
        "units": "", "station_value": _BY_NAME, "station_time": _OF_MAP, "station_footprint": "",
    }  # fmt: skip
    there = {name: key for name, key in KEYS.items() if source.get(name) or key in st.session_state}
    return {key: source.get(name) or empty.get(name, NONE) for name, key in there.items()}
