"""Controls of further sources of the target: which files, and the values, errors and footprint of each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from deconditioning.downscaling.further_sources.opening import STATIONS, own_footprint
from deconditioning.downscaling.source import FurtherSource, names_in_source
from pages.kit.controls import widgets
from pages.kit.controls.variable_choice import pick, several
from pages.kit.layout.escaping import plain

#: Key of the list of files, and how the keys of each file's controls begin.
KEY = "also"
_LABEL = "Further sources of the same quantity"
_NAMES = {"value": "Values", "error": "Errors (sd)", "footprint": "Footprint (km)"}
_BY_NAME, _NO_ERRORS = "(named like the target)", "(those in the file)"
ABOUT_FOOTPRINTS = (
    "The area that each value averages over, such as the footprint of a satellite, as a Gaussian. Give its full width "
    "at half maximum (20), or two widths and the direction of the first in degrees from north (22,14,30), or the "
    "columns of the table with these (width, or major,minor,angle). Leave this empty for the footprints that the "
    "source states, and for stations, which measure one pixel."
)
_ABOUT = (
    "Files of the same quantity in addition to the cells: a table of stations or soundings, regions, another grid or a "
    "swath. Each has an offset from the cells and a noise variance τ², both learned."
)


@dataclass(frozen=True)
class Controls:
    """How a place asks: for ``several`` of some options (label, key, options, first, titles), for ``one`` (the same)
    and for a ``line`` of text (label, key, value, what holds where it is empty)."""

    several: Callable[[str, str, list[str], list[str], dict[str, str]], list[str]]
    one: Callable[[str, str, list[str], str, dict[str, str]], str]
    line: Callable[[str, str, str, str], str]


#: Controls in the address.
_PAGE = Controls(
    lambda label, key, options, first, titles: several(label, key, options, first, titles, help=_ABOUT),
    lambda label, key, options, first, titles: pick(label, key, options, first, titles),
    lambda label, key, value, empty: widgets.text_input(
        label, value, key=key, placeholder=empty, help=ABOUT_FOOTPRINTS
    ),
)


def on_page(files: Mapping[str, str], first: Sequence[str], opener: Any) -> list[dict[str, str]]:
    """The further sources that the page's controls choose among ``files`` (key → title), as `Source.from_dict` reads
    them; the list starts with the ``first`` files."""
    return choose(_PAGE, files, [{"key": key} for key in first], opener) if files else []


def choose(
    controls: Controls, files: Mapping[str, str], first: Sequence[Mapping[str, str]], opener: Any
) -> list[dict[str, str]]:
    """The further sources that are chosen among ``files``, starting with the ``first`` ones; ``opener`` gives the
    fields of a key."""
    begin = {each["key"]: each for each in first if each["key"] in files}
    chosen = controls.several(_LABEL, KEY, list(files), list(begin), dict(files))
    return [_one(controls, key, files[key], begin.get(key, {}), opener) for key in chosen]


def _one(controls: Controls, key: str, title: str, begin: Mapping[str, str], opener: Any) -> dict[str, str]:
    """The values, the errors and the footprint of one source."""
    kind, names = _names(key, opener)
    result, labels = {"key": key}, {name: f"{label}: {plain(title)}" for name, label in _NAMES.items()}
    if len(names) > 1:
        for name, usual in (("value", _BY_NAME), ("error", _NO_ERRORS)):
            at = begin.get(name, usual)
            options = [usual, *names]
            chosen = controls.one(labels[name], _key_of(key, name), options, at if at in options else usual, {})
            result |= {} if chosen == usual else {name: chosen}
    if kind == STATIONS:
        own = own_footprint(key)
        empty = f"{own} (stated)" if own else "points"
        text = controls.line(labels["footprint"], _key_of(key, "footprint"), begin.get("footprint", ""), empty)
        result |= {"footprint": text.strip()[:60]} if text.strip() else {}
    return result


@st.cache_resource(show_spinner="Reading the further source …", max_entries=16)
def _names(key: str, _opener: Any) -> tuple[str, list[str]]:
    return names_in_source(key, _opener)


def _key_of(key: str, name: str) -> str:
    """The key of a source's control."""
    return f"{KEY}-{name}-{key.rpartition(':')[2].replace('/', '-')[:24]}"


def values_of(source: Mapping[str, Any]) -> dict[str, Any]:
    """What these controls must hold for a source as ``Source.to_dict`` has it."""
    every = [FurtherSource(**each) for each in source.get("also", [])]
    if not every and KEY not in st.session_state:
        return {}
    result: dict[str, Any] = {KEY: [each.key for each in every]}
    for each in every:
        usual = {"value": _BY_NAME, "error": _NO_ERRORS, "footprint": ""}
        held = {name: getattr(each, name) or usual[name] for name in usual}
        result |= {_key_of(each.key, name): value for name, value in held.items()}
    return result
