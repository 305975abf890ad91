"""A question where numbers of the chosen fields look like missing values: do they count as missing?"""

import json
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields
from deconditioning.fields.reading.validity import suspicion
from deconditioning.fill_values import FillValue, checked_missing, equals_fill_value, fill_values_of
from pages.kit.controls.program_values import set_on_next_run
from pages.kit.controls.variable_choice import several
from pages.kit.layout.escaping import sentence_of

#: More sentences on doubtful numbers are left to the notes.
_MOST_WARNINGS = 3
_KEY = "missing"
_OF, _EVERY = " of ", "every field"
_Used = tuple[str, str, dict[str, int | str]]


def counted_missing(used: Sequence[_Used], fields_of: Callable[[str], Fields]) -> tuple[str, ...]:
    """The numbers that count as missing in the fields ``used`` (key, name, what is selected), as a problem takes them.

    A control is there where a number looks like a mark of missing values, or one is counted already; each such number
    that is not counted brings a warning with a button that counts it.
    """
    result = {name: _marks(key, name, json.dumps(select, sort_keys=True), fields_of) for key, name, select in used}
    options = [f"{name}={mark.text}" for name, marks in result.items() for mark in marks]
    options += [each for each in _requested() if each not in options]
    if not options:
        return ()
    place = st.container()
    chosen = tuple(several("Count as missing", _KEY, options, [], {each: _words(each) for each in options}))
    left = [
        (name, mark)
        for name, marks in result.items()
        for mark in marks
        if not any(equals_fill_value(mark.value, value) for value in fill_values_of(chosen, name))
    ]
    with place:
        for name, mark in left[:_MOST_WARNINGS]:
            _ask(suspicion(name, mark), f"{name}={mark.text}", chosen)
    return chosen


def _ask(doubt: str, entry: str, chosen: tuple[str, ...]) -> None:
    """A doubt with its answer, which sets the control also where the level hides that."""
    st.warning(sentence_of(doubt))
    st.button(
        f"Count {_words(entry)} as missing", key=f"lab-missing-{entry}", width="stretch", on_click=set_on_next_run,
        args=({_KEY: [*chosen, entry]},),
    )  # fmt: skip


@st.cache_resource(show_spinner=False, max_entries=64)
def _marks(key: str, name: str, select: str, _fields_of: Callable[[str], Fields]) -> tuple[FillValue, ...]:
    try:
        return _fields_of(key).marks_in(name, json.loads(select))
    except InputError:  # the problem says what is wrong
        return ()


def _requested() -> tuple[str, ...]:
    """What is counted as missing already: by the control, a run or an address."""
    requested: Any = st.session_state.get(_KEY)
    try:
        return checked_missing(map(_entry, st.query_params.get_all(_KEY)) if requested is None else requested)
    except InputError:
        return ()


def _words(entry: str) -> str:
    """An entry as it is read: `-999.9 of t`."""
    name, _, number = entry.rpartition("=")
    return f"{number}{_OF}{name or _EVERY}"


def _entry(words: str) -> str:
    """Back from ``_words``; other text as it is."""
    number, of, name = words.partition(_OF)
    return words if not of else number if name == _EVERY else f"{name}={number}"
