"""Stations and regions in the dialog of one's own files: which file is what, its column, its units."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from deconditioning.datasets.entries import station_titles
from deconditioning.downscaling.further_sources.opening import REGION_TABLES, REGIONS, STATIONS
from deconditioning.downscaling.source import Source
from deconditioning.errors import InputError
from pages.downscaling.data import Choice, fields_of, problem_of, shown_choice, visitor_files
from pages.downscaling.footprints import files, further
from pages.downscaling.own_file.request import close_dialog, pressed
from pages.kit.controls.program_values import set_on_next_run
from pages.kit.layout.escaping import plain
from pages.kit.layout.page_layout import refusal
from pages.kit.runs.uploaded import mark_refused


def choose(new: Sequence[str], used: Sequence[str] = ()) -> dict[str, Any]:
    """The files beside the fields, by their names in a source: those just uploaded, else those that the page shows.

    Files of fields that are ``used`` already are no further sources.
    """
    regions, stations = files.uploaded(REGIONS), files.uploaded(STATIONS)
    now = shown_choice()
    shown = {} if now is None else now.source.to_dict()
    if stations:  # those of the data set that the page shows may stay
        stations |= files.of_data_set(shown["fields"], station_titles()) if now is not None else {}
    tables, outlines = [key for key in new if key in stations], [key for key in new if key in regions]
    begin = dict(zip(("stations", "scored"), tables, strict=False)) or shown
    result: dict[str, Any] = files.file_of(
        _select, "Regions whose values are the target", "regions", regions, outlines[:1] or [shown.get("regions")], new
    )
    if result:
        result |= files.table_of_regions(_select, result["regions"], shown, new)
        units = st.text_input(
            "Units of these values", shown.get("units", ""), key="lab-own-units", placeholder="K, mm …"
        )
        result |= {"units": units.strip()[:60]} if units.strip() else {}
    elif lone := [name for key, name in files.uploaded(REGION_TABLES).items() if key in new]:
        st.info(
            f"{plain(', '.join(lone))}: no columns of latitude and longitude. A table without them can only give "
            "regions their values: upload the outlines of the regions too."
        )
    for label, name in (("Stations that are targets", "stations"), ("Stations that only score the map", "scored")):
        result |= files.file_of(_select, label, name, stations, [begin.get(name)], new)
    result |= files.column_and_time(_select, result, shown) | _footprint(result.get("stations"), shown)
    others = files.without(stations | regions | visitor_files(), [*used, *result.values()])
    again = [each for each in shown.get("also", []) if each["key"] not in new]
    first = [{"key": key} for key in (*tables[2:], *outlines[1:]) if key in others] + again
    also = further.choose(_controls(new), others, first, fields_of) if others else []
    return result | ({"also": also} if others else {})


def _footprint(stations: str | None, shown: Mapping[str, Any]) -> dict[str, str]:
    """What the values of the stations that are targets average over."""
    if stations is None:
        return {}
    usual = shown.get("station_footprint", "") if stations == shown.get("stations") else ""
    text = st.text_input(
        "Footprint of these values (km)", usual, key=f"lab-own-footprint-{stations}", placeholder="points",
        help=further.ABOUT_FOOTPRINTS,
    )  # fmt: skip
    return {"station_footprint": text.strip()[:60]} if text.strip() else {}


def _controls(new: Sequence[str]) -> further.Controls:
    """Controls of the dialog, which start anew with the ``new`` files."""
    of = "-".join(new)
    return further.Controls(
        lambda label, key, options, first, titles: st.multiselect(
            label, options, first, key=f"lab-own-{key}-{of}", format_func=lambda each: plain(titles[each])
        ),
        lambda label, key, options, first, titles: st.selectbox(
            label, options, options.index(first), key=f"lab-own-{key}-{of}", format_func=plain
        ),
        lambda label, key, value, empty: st.text_input(
            label, value, key=f"lab-own-{key}-{of}", placeholder=empty, help=further.ABOUT_FOOTPRINTS
        ),
    )


def _select(label: str, name: str, options: list[str], first: str, titles: Mapping[str, str], of: Sequence[str]) -> str:
    """`files.Select` of the dialog: a list that starts anew with the files that it is of."""
    return st.selectbox(
        label, options, options.index(first), key=f"lab-own-{files.KEYS[name]}-{'-'.join(of)}",
        format_func=lambda each: plain("none" if each == files.NONE else titles.get(each, each)),
    )  # fmt: skip


def offer(choices: Mapping[str, Any]) -> None:
    """The button that puts stations beside the fields that the page shows, where no file of fields is chosen."""
    now = shown_choice()
    if now is None or not any(choices.values()):
        return
    if "regions" in choices:
        st.info(
            "Regions need a file of fields with covariates, such as altitude, on the grid of the map: upload it too."
        )
        return
    if pressed("Use with the fields shown", "lab-own-beside"):
        before = (*files.KEYS, "hide_values")  # which count other sources
        gridded = {name: value for name, value in now.source.to_dict().items() if name not in before}
        source = Source.from_dict(gridded | dict(choices))
        try:
            problem_of(Choice(source, now.spec))
        except InputError as error:
            refuse(error, choices)
            return
        set_on_next_run(files.values_of(source.to_dict()))
        close_dialog()
        st.rerun()


def refuse(error: InputError, choices: Mapping[str, Any]) -> None:
    """The sentence of files that make no problem together, with a mark at those beside the fields that it names."""
    refusal(error)
    names = visitor_files() | files.uploaded(REGIONS) | files.uploaded(STATIONS) | files.uploaded(REGION_TABLES)
    keys = [
        *(key for key in choices.values() if isinstance(key, str)),
        *(each["key"] for each in choices.get("also", [])),
    ]
    mark_refused([name for key in keys if (name := names.get(key, "")) and name in str(error)])
