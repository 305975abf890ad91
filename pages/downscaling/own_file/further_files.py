"""Stations and regions in the dialog of one's own files: which file is what, its column, its units."""

from collections.abc import Mapping, Sequence

import streamlit as st

from deconditioning.downscaling.further_sources.opening import REGION_TABLES, REGIONS, STATIONS
from deconditioning.downscaling.source import Source
from deconditioning.errors import InputError
from pages.downscaling.data import Choice, problem_of, shown_choice
from pages.downscaling.footprints import files
from pages.downscaling.own_file.request import close_dialog, pressed
from pages.kit.controls.program_values import set_on_next_run
from pages.kit.layout.escaping import plain
from pages.kit.layout.page_layout import refusal
from pages.kit.runs.uploaded import mark_refused


def choose(new: Sequence[str]) -> dict[str, str]:
    """The files beside the fields, by their names in a source: those just uploaded, else those that the page shows."""
    regions, stations = files.uploaded(REGIONS), files.uploaded(STATIONS)
    now = shown_choice()
    shown = {} if now is None else now.source.to_dict()
    tables, outlines = [key for key in new if key in stations], [key for key in new if key in regions]
    begin = dict(zip(("stations", "scored"), tables, strict=False)) or shown
    result = files.file_of(
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
    return result | files.column_and_time(_select, result, shown)


def _select(label: str, name: str, options: list[str], first: str, titles: Mapping[str, str], of: Sequence[str]) -> str:
    """`files.Select` of the dialog: a list that starts anew with the files that it is of."""
    return st.selectbox(
        label, options, options.index(first), key=f"lab-own-{files.KEYS[name]}-{'-'.join(of)}",
        format_func=lambda each: plain("none" if each == files.NONE else titles.get(each, each)),
    )  # fmt: skip


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
    if pressed("Use with the fields shown", "lab-own-beside"):
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
