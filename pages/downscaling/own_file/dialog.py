"""The dialog of one's own files: upload them, look at what was guessed, press Downscale."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from deconditioning.downscaling.further_sources.opening import (
    REGION_TABLES,
    REGIONS,
    STATIONS,
    keep_further_file,
    kind_of,
    other_kinds,
)
from deconditioning.downscaling.source import keep_upload, stored_uploads
from deconditioning.engine.visitors.uploads import UPLOAD, NotStored, delete, stored_of_kind
from deconditioning.errors import InputError
from deconditioning.fields.several import keys_of
from pages.downscaling.data import FIRST, NONE, fields_of, shown_choice, sources, visitor_files
from pages.downscaling.own_file import further_files, panel
from pages.downscaling.own_file.request import LABEL, OWN, close_dialog, is_open, open_dialog
from pages.kit.controls.address import correct, forget_address
from pages.kit.controls.level import at_both_levels
from pages.kit.layout.escaping import plain
from pages.kit.layout.page_layout import refusal
from pages.kit.record import page_record
from pages.kit.runs.uploaded import content, deletable, discard, mark_refused
from pages.kit.session import Key
from pages.kit.visitor import visitor_mark


def show() -> None:
    """The dialog where it is asked for; call it at every run, before the page's controls."""
    if "data" not in st.session_state and st.query_params.get("data") in (OWN, LABEL):
        open_dialog()
        names = sources()
        forget_address("data")
        correct("data", [names.get(st.session_state.get(Key.DATA, FIRST), names[FIRST])])
    if is_open():
        page_record().dialog = True
        _dialog()


@st.dialog("Downscale your own file", width="medium", on_dismiss=close_dialog)
def _dialog() -> None:
    with at_both_levels("files"):
        new = _upload()
    names = visitor_files()
    chosen = _files([key for key in new if key in names], names)
    try:
        choices = further_files.choose([key for key in new if key not in names], chosen)
        if chosen:
            panel.show(chosen, names, choices)
        else:
            further_files.offer(choices)
    except InputError as error:
        refusal(error)
    if not chosen:
        st.caption(
            "One file with a fine field, which is averaged and recovered; or a coarse file and a fine file with "
            "covariates such as altitude. The app then guesses variables, cells and time, and you can change them. "
            "You can add a table of stations or soundings, a file of regions, or further sources of the same field."
        )
    instead = {key: NONE for key in ("coarse", "third", "regions", "region-table", "stations", "scored")}
    deletable(_everything, "data", {"data": FIRST, **instead})


def _everything(mark: str) -> dict[str, str]:
    beside_fields = [stored_of_kind(kind, mark) for kind in (STATIONS, REGIONS, REGION_TABLES)]
    return {key: name for names in (stored_uploads(mark), *beside_fields) for key, name in names.items()}


def _upload() -> list[str]:
    """Read new files and return the keys of the good ones; a bad one is refused with its sentence, until another file
    follows, and changes nothing."""
    files = st.file_uploader(
        "NetCDF, GeoTIFF or GRIB, one or several files; stations (CSV), regions (GeoJSON)", type=None,
        accept_multiple_files=True, key="files",
        help="Gridded fields: latitude–longitude, rotated pole, map projection, or curvilinear with two-dimensional "
        "positions. Also stations (CSV or NetCDF table with lat, lon, value, perhaps altitude and error) and regions "
        "with values (GeoJSON, GeoPackage, NetCDF with CF geometries or corners of soundings, or a shapefile's files "
        "in a .zip). The regions' values may be in a table (CSV) with a column of their codes or names.",
    )  # fmt: skip
    new = {file.file_id for file in files or [] if Key.UPLOAD.of(file.file_id) not in st.session_state}
    if new:
        st.session_state[Key.NEW_UPLOADS] = new
    keys: list[str] = []
    refused: list[str] = []
    for file in files or []:
        mark = Key.UPLOAD.of(file.file_id)
        answer = st.session_state.get(mark) or _store(file, mark)
        if answer.startswith(UPLOAD):
            keys, refused = [*keys, answer], []
        elif file.file_id in st.session_state.get(Key.NEW_UPLOADS, new):
            refused.append(answer if answer.startswith(file.name) else f"{file.name}: {answer}")
    for sentence in refused:
        refusal(sentence)
    mark_refused([file.name for file in files or [] if not _is_stored(file)])
    return list(dict.fromkeys(keys))


def _is_stored(file: Any) -> bool:
    return str(st.session_state.get(Key.UPLOAD.of(file.file_id), "")).startswith(UPLOAD)


def _store(file: Any, mark: str) -> str:
    """The key of a file that is kept now, or the sentence that refuses it; one for which there was no room is tried
    again."""
    try:
        with st.spinner(f"Reading {plain(file.name)} …"):
            key = _keep(content(file), file.name)
    except InputError as error:
        if not isinstance(error, NotStored):
            st.session_state[mark] = str(error)
            discard(file)
        return str(error)
    st.session_state[mark] = key
    return key


def _keep(data: bytes | Path, name: str) -> str:
    """The key of a file of fields, of stations, of regions or of regions' values."""
    if kind := kind_of(data, name):
        return keep_further_file(kind, data, name, visitor_mark())
    others = other_kinds(data)  # before the file is moved
    try:
        key, fields = keep_upload(data, name, visitor_mark())
        fields_of(key, fields)
        _check(key)
    except NotStored:
        raise
    except InputError as error:  # a NetCDF file may hold stations or regions
        for kind in others:
            with contextlib.suppress(InputError):
                return keep_further_file(kind, data, name, visitor_mark())
        raise error from None
    return key


def _check(key: str) -> None:
    """``InputError`` for a file without anything to downscale, which is not kept then."""
    try:
        panel.guess(key)
    except InputError:
        delete(key.removeprefix(UPLOAD), visitor_mark())
        raise


def _files(new: Sequence[str], names: dict[str, str]) -> list[str]:
    """The files to use: those just uploaded, else those that the page shows; a list where there are others."""
    now = shown_choice()
    source = () if now is None else (*keys_of(now.source.fields), now.source.coarse)
    begin = list(new) or [key for key in names if key in source]
    if set(names) <= set(begin):
        return begin
    return st.multiselect(
        "Files to use", list(names), begin, key=f"lab-own-files-{'-'.join(begin)}", format_func=names.__getitem__,
        help="Choose two for covariates and a coarse file, or several times of one field.",
    )  # fmt: skip
