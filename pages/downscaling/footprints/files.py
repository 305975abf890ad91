"""Controls of the files beside the fields: regions that are the target, stations that are targets or truth."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from deconditioning.datasets.entries import region_titles, region_units, station_titles
from deconditioning.downscaling.stations.opening import (
    REGIONS,
    STATIONS,
    columns_of_stations,
    outlines_of,
)
from deconditioning.engine.visitors.uploads import stored_of_kind
from pages.downscaling.variable_choice import begin, pick
from pages.kit.controls import widgets
from pages.kit.visitor import listed

#: Keys of the controls, by the names of a source.
KEYS = {
    "regions": "regions", "units": "value-units", "stations": "stations", "scored": "scored", "station_value": "column",
}  # fmt: skip
NONE, _BY_NAME = "(none)", "(named like the target)"
_AUTO_NAMES = {_BY_NAME: "the one named like the target, or 'value'"}


def uploaded(kind: str) -> dict[str, str]:
    """Key → file name of the visitor's uploads of stations or of regions."""
    return listed(partial(stored_of_kind, kind), *(KEYS[name] for name in ("regions", "stations", "scored")))


def choose(key: str) -> dict[str, str]:
    """The files beside the fields of a key, by their names in a source; controls only where there are some."""
    own, outlined = (_own(key, titles()) for titles in (station_titles, region_titles))
    stations = {**own, **{each: f"Upload: {name}" for each, name in uploaded(STATIONS).items()}}
    result: dict[str, str] = {}
    if regions := {**outlined, **{each: f"Upload: {name}" for each, name in uploaded(REGIONS).items()}}:
        result |= _file("Target from regions", "regions", regions, next(iter(outlined), NONE))
    if result.get("regions"):
        usual = region_units(result["regions"])
        begin(KEYS["units"], usual)
        units = widgets.text_input("Units of the regions' values", usual, key=KEYS["units"], placeholder="K, mm …")
        result["units"] = units.strip()[:60]
    if stations:
        result |= _file("Stations as targets", "stations", stations, f"{key}/seen")
        result |= _file("Stations that only score the map", "scored", stations, f"{key}/scored")
    return result | _column([result[name] for name in ("stations", "scored") if result.get(name)])


def _own(key: str, titles: Mapping[str, str]) -> dict[str, str]:
    """Those that belong to a data set."""
    return {each: title for each, title in titles.items() if each.startswith(f"{key}/")}


def _file(label: str, name: str, files: Mapping[str, str], default: str = NONE) -> dict[str, str]:
    chosen = pick(label, KEYS[name], [NONE, *files], default, dict(files))
    return {} if chosen == NONE else {name: chosen}


def _column(files: list[str]) -> dict[str, str]:
    """The column of what stations measured, where a table leaves a choice."""
    columns = list(dict.fromkeys(column for each in files for column in station_columns(each)))
    if len(columns) < 2:
        return {}
    options = [_BY_NAME, *columns]
    chosen = pick("Column of the stations' values", KEYS["station_value"], options, _BY_NAME, _AUTO_NAMES)
    return {} if chosen == _BY_NAME else {"station_value": chosen}


@st.cache_resource(show_spinner="Reading the stations …", max_entries=16)
def station_columns(key: str) -> list[str]:
    """The columns of a table of stations that may hold what was measured."""
    return columns_of_stations(key)


@st.cache_resource(show_spinner="Reading the regions …", max_entries=8)
def attributes(key: str) -> list[str]:
    """The attributes of numbers that the regions of a key have."""
    return outlines_of(key).numeric


def values_of(source: Mapping[str, Any]) -> dict[str, Any]:
    """What these controls must hold for a source as ``Source.to_dict`` has it; those that are not there stay away."""
    empty: dict[str, Any] = {"units": "", "station_value": _BY_NAME}
    there = {name: key for name, key in KEYS.items() if source.get(name) or key in st.session_state}
    return {key: source.get(name) or empty.get(name, NONE) for name, key in there.items()}
