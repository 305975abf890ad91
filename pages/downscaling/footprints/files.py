"""Controls of the files beside the fields: regions that are the target, stations that are targets or truth."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from deconditioning.datasets.entries import region_titles, region_units, station_titles
from deconditioning.downscaling.further_sources.opening import (
    REGION_TABLES,
    REGIONS,
    STATIONS,
    choices_of_stations,
    joins_of,
    times_of_regions,
    values_of_regions,
)
from deconditioning.engine.visitors.uploads import UPLOAD, stored_of_kind
from deconditioning.errors import InputError
from deconditioning.fields.problem.cells import cells_text
from pages.downscaling.footprints import further, hidden
from pages.kit.controls import widgets
from pages.kit.controls.variable_choice import begin, pick
from pages.kit.visitor import listed

#: Keys of the controls, by the names of a source.
KEYS = {
    "regions": "regions", "table": "region-table", "key": "region-key", "region_time": "region-time",
    "units": "value-units", "stations": "stations", "scored": "scored", "station_value": "column",
    "station_time": "station-time",
    "station_footprint": "footprint",
}  # fmt: skip
NONE, _BY_NAME, _OF_MAP = "(none)", "(named like the target)", "(that of the map)"
_OF_COVARIATES = "(that of the covariates)"
_AUTO_NAMES = {
    _OF_COVARIATES: "that of the covariates",
    _BY_NAME: "the one named like the target, or 'value'",
    _OF_MAP: "that of the map",
}
#: Draws a list and returns what is chosen in it: its label, its name in a source, the options, the first of them, what
#: they are called, and the keys of the files on which they depend.
Select = Callable[[str, str, list[str], str, Mapping[str, str], Sequence[str]], str]


def uploaded(kind: str) -> dict[str, str]:
    """Key → file name of the visitor's uploads of stations, of regions or of tables with regions' values."""
    controls = [*(KEYS[name] for name in ("regions", "table", "stations", "scored")), further.KEY]
    return listed(partial(stored_of_kind, kind), *controls)


def choose(key: str, fields: Mapping[str, str], used: Sequence[str], opener: Any) -> dict[str, Any]:
    """The files beside the fields of a key, by their names in a source; controls only where there are some.

    ``fields`` (key → title) are files that may be further sources unless they are ``used``; ``opener`` opens them.
    """
    stations_of_set, regions_of_set = (of_data_set(key, titles()) for titles in (station_titles, region_titles))
    stations = {**stations_of_set, **uploaded(STATIONS)}
    regions = {**regions_of_set, **uploaded(REGIONS)}
    result: dict[str, Any] = {}
    if regions:
        result |= file_of(_pick, "Target from regions", "regions", regions, regions_of_set)
    if result.get("regions"):
        result |= table_of_regions(_pick, result["regions"])
        usual = region_units(result["regions"])
        begin(KEYS["units"], usual)
        units = widgets.text_input("Units of the regions' values", usual, key=KEYS["units"], placeholder="K, mm …")
        result["units"] = units.strip()[:60]
    if stations:
        result |= file_of(_pick, "Stations as targets", "stations", stations, [f"{key}/seen"])
        result |= file_of(_pick, "Stations that only score the map", "scored", stations, [f"{key}/scored"])
    result |= column_and_time(_pick, result)
    if result.get("stations"):
        width = widgets.text_input(
            "Footprint of the stations (km)",
            key=KEYS["station_footprint"],
            placeholder="points",
            help=further.ABOUT_FOOTPRINTS,
        )
        result |= {"station_footprint": width.strip()[:60]} if width.strip() else {}
    others = without({**stations, **regions, **fields}, [key, *used, *result.values()])
    names = {each: f"Upload: {title}" if each.startswith(UPLOAD) else title for each, title in others.items()}
    also = further.on_page(names, [f"{key}/swath"], opener)
    sources = [each["key"] for each in also] + [result[each] for each in ("stations",) if each in result]
    return result | {"also": also, "hide_values": hidden.choose(sources)}


def without(files: Mapping[str, str], used: Sequence[str | None]) -> dict[str, str]:
    """Files (key → title) that are not ``used``; titles that occur twice tell which file they are."""
    titles = Counter(files.values())
    return {
        key: f"{title} ({key.removeprefix(UPLOAD)[:6]})" if titles[title] > 1 else title
        for key, title in files.items() if key not in used
    }  # fmt: skip


def of_data_set(key: str, titles: Mapping[str, str]) -> dict[str, str]:
    """Those that belong to a data set."""
    return {each: title for each, title in titles.items() if each.startswith(f"{key}/")}


def _pick(
    label: str, name: str, options: list[str], first: str, titles: Mapping[str, str], of: Sequence[str] = ()
) -> str:
    """`Select` of the page: a list in the address."""
    names = {key: f"Upload: {title}" if key.startswith(UPLOAD) else title for key, title in titles.items()}
    return pick(label, KEYS[name], options, first, names)


def file_of(
    select: Select, label: str, name: str, files: Mapping[str, str], first: Sequence[str | None] | Mapping[str, str],
    new: Sequence[str] = (),
) -> dict[str, str]:  # fmt: skip
    """A file by its name in a source, empty for none; the list starts at the first of some keys that is in it."""
    if not files:
        return {}
    begin = next((key for key in first if key is not None and key in files), NONE)
    chosen = select(label, name, [NONE, *files], begin, files, new)
    return {} if chosen == NONE else {name: chosen}


def table_of_regions(
    select: Select, regions: str, shown: Mapping[str, Any] | None = None, new: Sequence[str] = ()
) -> dict[str, str]:
    """A table with the regions' values, what joins its rows to them, and which of several times it gives;
    ``InputError`` where nothing joins. The lists start at the ``new`` tables, or else at what a source has that is
    ``shown``."""
    tables, shown = uploaded(REGION_TABLES), shown or {}
    try:
        attributes({"regions": regions})
    except InputError:  # they have no values, so any table may give them these
        tables |= uploaded(STATIONS)
    result = file_of(select, "Table of the regions' values", "table", tables, [*new, shown.get("table")], new)
    if not result:
        return {}
    names = _keys_of_table(regions, result["table"])
    first = shown["key"] if shown.get("key") in names else next(iter(names))
    of = (regions, result["table"])
    result |= {"key": select("Rows joined to regions by", "key", list(names), first, names, of)}
    if times := _times_of_table(*of, result["key"]):
        options, usual = [_OF_COVARIATES, *times], shown.get("region_time")
        begin = usual if usual in times else options[0]
        time = select("Time of the regions' values", "region_time", options, begin, _AUTO_NAMES, of)
        result |= {} if time in _AUTO_NAMES else {"region_time": time}
    return result


def column_and_time(
    select: Select, chosen: Mapping[str, str], shown: Mapping[str, Any] | None = None
) -> dict[str, str]:
    """What is to choose in the tables of stations that are ``chosen``, by its name in a source: the column and the
    time of the values. The lists start at what a source has that is ``shown``; nothing where the tables decide."""
    tables = [chosen[name] for name in ("stations", "scored") if chosen.get(name)]
    read = [_choices(each) for each in tables]
    columns = list(dict.fromkeys(column for columns, _ in read for column in columns))
    times = sorted({time for _, times in read for time in times})
    lists = []
    if len(columns) > 1:
        lists.append(("Column of the stations' values", "station_value", [_BY_NAME, *columns]))
    if times:
        lists.append(("Time of the stations' values", "station_time", [_OF_MAP, *times]))
    result: dict[str, str] = {}
    for label, name, options in lists:
        first = (shown or {}).get(name)
        value = select(label, name, options, first if first in options else options[0], _AUTO_NAMES, tables)
        result |= {} if value in _AUTO_NAMES else {name: value}
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
def _keys_of_table(regions: str, table: str) -> dict[str, str]:
    """What may join a table's rows to regions, best first, and what a list shows for it; ``InputError`` if nothing."""
    names = {}
    for key, (count, whole) in joins_of(regions, table).items():
        attribute, _, column = key.partition("=")
        sides = f"{attribute} = {column}" if column else attribute
        names[key] = f"{sides}: {'all' if count == whole else f'{count} of'} {whole} regions"
    return names


@st.cache_resource(show_spinner="Reading the table …", max_entries=8)
def _times_of_table(regions: str, table: str, key: str) -> list[str]:
    return times_of_regions(regions, table, key)


def values_of(source: Mapping[str, Any]) -> dict[str, Any]:
    """What these controls must hold for a source as ``Source.to_dict`` has it; those that are not there stay away."""
    empty: dict[str, Any] = {
        "units": "", "region_time": _OF_COVARIATES, "station_value": _BY_NAME, "station_time": _OF_MAP,
        "station_footprint": "",
    }  # fmt: skip
    there = {name: key for name, key in KEYS.items() if source.get(name) or key in st.session_state}
    held = {key: source.get(name) or empty.get(name, NONE) for name, key in there.items()}
    by_hand = cells_text(tuple(each) for each in source.get("hide_values", []))
    held |= {hidden.KEY: by_hand} if by_hand or hidden.KEY in st.session_state else {}
    return held | further.values_of(source)
