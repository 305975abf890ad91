"""Stations and regions in the dialog of one's own files: which file is what, its column, its units."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from deconditioning.downscaling.source import Source
from deconditioning.downscaling.stations.opening import REGION_TABLES, REGIONS, STATIONS
from deconditioning.errors import InputError
from pages.downscaling.data import Choice, problem_of, shown_choice
from pages.downscaling.footprints import files
from pages.downscaling.own_file.request import close_dialog
from pages.kit.controls.program_values import set_on_next_run
from pages.kit.layout.escaping import plain
from pages.kit.layout.page_layout import refusal
from pages.kit.runs.uploaded import mark_refused
from pages.kit.session import Key


def choose(new: Sequence[str]) -> dict[str, str]:
    """The files beside the fields, by their names in a source: those just uploaded, else those that the page shows."""
    regions, stations = files.uploaded(REGIONS), files.uploaded(STATIONS)
    now = shown_choice()
    shown = {} if now is None else now.source.to_dict()
    tables, outlines = [key for key in new if key in stations], [key for key in new if key in regions]
    begin = dict(zip(("stations", "scored"), tables, strict=False)) or shown
    result = _file(
        "Regions whose values are the target", "regions", regions, outlines[:1] or [shown.get("regions")], new
    )
    if result:
        result |= _table(result["regions"], shown, new)
        units = st.text_input(
            "Units of these values", shown.get("units", ""), key="lab-own-units", placeholder="K, mm …"
        )
        result |= {"units": units.strip()[:60]} if units.strip() else {}
    elif lone := [name for key, name in files.uploaded(REGION_TABLES).items() if key in new]:
        st.info(
            f"{plain(', '.join(lone))}: no columns of latitude and longitude. A table without them can only give "
            "regions their values: upload the outlines of the regions too."
        )
    result |= _file("Stations that are targets", "stations", stations, [begin.get("stations")], new)
    result |= _file("Stations that only score the map", "scored", stations, [begin.get("scored")], new)
    used = [result[name] for name in ("stations", "scored") if name in result]
    for label, name, options in files.choices_in(used):
        result |= _of_stations(label, name, options, used, shown)
    return result


def _file(
    label: str, name: str, names: Mapping[str, str], begin: Sequence[str | None], new: Sequence[str]
) -> dict[str, str]:
    if not names:
        return {}
    options = [files.NONE, *names]
    first = next((options.index(key) for key in begin if key in options), 0)
    chosen = st.selectbox(
        label, options, first, key=f"lab-own-{name}-{'-'.join(new)}",
        format_func=lambda key: plain(names.get(key, "none")),
    )  # fmt: skip
    return {} if chosen == files.NONE else {name: str(chosen)}


def _table(regions: str, shown: Mapping[str, Any], new: Sequence[str]) -> dict[str, str]:
    """A table with the regions' values, and what joins its rows to them."""
    tables = files.tables_for(regions)
    begin: list[str | None] = [*(key for key in new if key in tables), shown.get("table")]
    chosen = _file("Table of the regions' values", "table", tables, begin, new)
    if not chosen:
        return {}
    names = files.keys_of_table(regions, chosen["table"])
    first = list(names).index(shown["key"]) if shown.get("key") in names else 0
    key = st.selectbox(
        "Rows joined to regions by", list(names), first, key=f"lab-own-key-{regions}-{chosen['table']}",
        format_func=lambda each: plain(names[each]),
    )  # fmt: skip
    return chosen | {"key": str(key)}


def _of_stations(
    label: str, name: str, options: list[str], tables: Sequence[str], shown: Mapping[str, Any]
) -> dict[str, str]:
    """A choice in tables of stations, by its name in a source."""
    begin = shown.get(name)
    chosen = st.selectbox(
        label, options, options.index(begin) if begin in options else 0,
        key=f"lab-own-{files.KEYS[name]}-{'-'.join(tables)}",
        format_func=lambda each: files.AUTO_NAMES.get(each, plain(each)),
    )  # fmt: skip
    return {} if chosen in files.AUTO_NAMES else {name: str(chosen)}


def offer(choices: Mapping[str, str]) -> None:
    """The button that puts stations beside the fields that the page shows, where no file of fields is chosen."""
    now = shown_choice()
    if now is None or not choices:
        return
    if "regions" in choices:
        st.info(
            "Regions need a file of fields with covariates, such as altitude, on the grid of the map: upload it too."
        )
        return
    st.button("Use with the fields shown", type="primary", width="stretch", key="lab-own-beside", on_click=_ask)
    if st.session_state.pop(Key.OWN_FILE_ASKED, False):
        gridded = {name: value for name, value in now.source.to_dict().items() if name not in files.KEYS}
        source = Source.from_dict(gridded | dict(choices))
        try:
            problem_of(Choice(source, now.spec))
        except InputError as error:
            refuse(error, choices)
            return
        set_on_next_run(files.values_of(source.to_dict()))
        close_dialog()
        st.rerun()


def refuse(error: InputError, choices: Mapping[str, str]) -> None:
    """The sentence of files that make no problem together, with a mark at those beside the fields that it names."""
    refusal(error)
    names = files.uploaded(REGIONS) | files.uploaded(STATIONS) | files.uploaded(REGION_TABLES)
    mark_refused([name for key in choices.values() if (name := names.get(key, "")) and name in str(error)])


def _ask() -> None:
    st.session_state[Key.OWN_FILE_ASKED] = True
