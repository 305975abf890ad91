"""What an address asks for and cannot have: left out before a control is built, with a sentence.

Streamlit gives a control its default where the address holds a word for a number or a number outside its limits; it
says nothing then, and an infinite whole number it does not survive.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import streamlit as st

from deconditioning.wording import number
from pages.kit.layout.escaping import plain
from pages.kit.pages import renamed_keys, with_current_keys
from pages.kit.record import page_record, same
from pages.kit.session import Key
from pages.kit.streamlit_private import address_of_run

#: Longer values are nobody's settings; the longest are edits of points (`deconditioning.datasets.edited`).
LONGEST = 1300
#: In the session: what addresses asked for, by page and key; what was used instead, with its sentence.


def forget_address(*keys: str) -> None:
    """Leave these values of the address aside without a word: they belong to another state of the page."""
    for requested in st.session_state.get(Key.ADDRESS_REQUESTS, {}).values():
        for key in keys:
            requested.pop(key, None)
    for key in keys:
        st.query_params.pop(key, None)


def note_requests(page: str, address: Mapping[str, Sequence[str]]) -> None:
    """These settings, too, are asked of the page: what it does not take of them is reported when it has run."""
    requested = st.session_state.setdefault(Key.ADDRESS_REQUESTS, {})
    requested[page] = {key: list(values) for key, values in address.items()}


def note_instead(key: str, used: Any, sentence: str) -> None:
    """This sentence stands above the page while the control holds ``used`` in place of what it was to hold."""
    st.session_state.setdefault(Key.ADDRESS_NOTES, {})[key] = (used, sentence)


def drop_impossible() -> None:
    """Take values that no control survives out of the address and begin again; before a page's first control."""
    absurd = _absurd()
    if absurd:
        take_out(absurd)
        st.rerun()


@contextmanager
def show_address_notes(page: str) -> Iterator[None]:
    """Around the page of that name: above it stands what its address asked for and did not get."""
    requested = st.session_state.setdefault(Key.ADDRESS_REQUESTS, {})
    renamed = _redirect(page)
    if page in requested:
        requested[page] |= _absurd()
    else:
        requested.clear()
        requested[page] = _address()
    place = st.empty()
    yield
    notes = st.session_state.setdefault(Key.ADDRESS_NOTES, {})
    notes |= {key: _unused(key, values) for key, values in requested[page].items()}
    notes |= {
        new: (st.session_state.get(new), f"{text} {notes.get(new, (None, ''))[1]}".strip())
        for new, text in renamed.items()
    }
    requested[page].clear()
    sentences = [text for key, (used, text) in notes.items() if text and st.session_state.get(key) == used]
    if sentences:
        place.info(" ".join(sentences))
    else:
        notes.clear()


def _redirect(page: str) -> dict[str, str]:
    """Give the keys of earlier versions in the address their names of today: new key → a sentence about it."""
    old = {key: new for key, new in renamed_keys(page).items() if key in st.query_params}
    if not old:
        return {}
    current = with_current_keys(page, _address())
    for new in old.values():
        st.query_params[new] = current[new]
    take_out(old)
    return {new: f"The setting `{key}` of the address is now called `{new}`." for key, new in old.items()}


def _address() -> dict[str, list[str]]:
    return {key: st.query_params.get_all(key) for key in st.query_params}


def _absurd() -> dict[str, list[str]]:
    return {key: values for key, values in _address().items() if any(map(_is_absurd, values))}


def correct(key: str, texts: list[str]) -> None:
    """Let the address that is being opened ask for this instead; before the control of that key is built."""
    st.query_params[key] = texts
    with address_of_run() as parameters:
        parameters.set_initial_query_params_from_current()


def reword(key: str, texts: list[str]) -> None:
    """The same in other words: nothing is said about it; before the control of that key is built."""
    correct(key, texts)
    for requested in st.session_state.get(Key.ADDRESS_REQUESTS, {}).values():
        if key in requested:
            requested[key] = texts


def complete() -> None:
    """Let the address say what the controls hold; at a page's end.

    Streamlit writes a setting when it is changed. Where it is the control's own value that changes, as hyperparameters
    to begin with do with the cells that are told, it leaves out what stays, and what a person moves while the program
    writes is overwritten.
    """
    controls = [each for each in page_record().controls.values() if each.value is not None]
    wrong = [
        each for each in controls if not same(each.from_words(st.query_params.get_all(each.key) or None), each.value)
    ]
    with address_of_run() as parameters:
        for each in wrong:
            if each.differs:
                parameters.set_corrected_value(each.key, each.words, "string_array_value")
            else:
                parameters.remove_param(each.key)


def take_out(keys: Iterable[str]) -> None:
    """Take these keys out of the address, also those of controls."""
    with address_of_run() as parameters:
        for key in keys:  # st.query_params refuses those of controls that were here before, after a step back
            parameters.remove_param(key)
        parameters.set_initial_query_params_from_current()


def _is_absurd(value: str) -> bool:
    """Whether a value is too long, or a number that is not finite."""
    if len(value) > LONGEST:
        return True
    number = _number(value)
    return number is not None and not math.isfinite(number)


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _unused(key: str, texts: list[str]) -> tuple[Any, str]:
    """What a control shows, and a sentence where that is not what the address asked for."""
    used = st.session_state.get(key)
    values = list(used) if isinstance(used, list | tuple) else [used]
    numbers = bool(values) and all(isinstance(value, int | float) for value in values)
    known = key in st.session_state
    if known and not numbers and not any(map(_is_absurd, texts)):
        return used, _not_offered(key, texts)
    if not known or _agree(values, texts):
        return used, ""
    shown = ", ".join(number(value, 6) if isinstance(value, float) else str(value) for value in values)
    return used, (
        f"The address contains {_pairs_text(key, texts)}, which is {_what(values, texts)}. "
        f"The page uses {plain(shown)}."
    )


def _pairs_text(key: str, texts: Sequence[str]) -> str:
    return plain("&".join(f"{key}={value[:40]}{'…' if len(value) > 40 else ''}" for value in texts[:3]))


def _not_offered(key: str, texts: list[str]) -> str:
    """A sentence where a control, which alone knows the words of its choices, knows none of these; a page may have
    translated a value's own name, such as that of a data set."""
    control = page_record().controls.get(key)
    try:
        if control is not None and texts != [str(control.value)]:
            control.read(texts)
    except ValueError:
        assert control is not None
        used = plain(control.text)
        contains = f"The address contains {_pairs_text(key, texts)}"
        return f"{contains}, which is not one of the choices here. The page uses {used}."
    return ""


def _agree(values: list[Any], texts: list[str]) -> bool:
    return len(values) == len(texts) and all(map(_is_same, values, texts))


def _is_same(value: Any, text: str) -> bool:
    if isinstance(value, bool):
        return text.lower() == str(value).lower()
    if not isinstance(value, int | float):
        return text == value
    number = _number(text)
    return number is not None and math.isclose(number, value, rel_tol=1e-6, abs_tol=1e-9)


def _what(values: list[Any], texts: list[str]) -> str:
    """What is wrong with the values of an address, given what the control took instead."""
    if any(len(value) > LONGEST for value in texts):
        return "too long"
    if all(isinstance(value, bool) for value in values):
        return "neither true nor false"
    if not all(isinstance(value, int | float) for value in values):
        return "not one of the choices"
    result = [_number(value) for value in texts]
    if len(texts) != len(values):
        return "one value" if len(texts) == 1 else f"{len(texts)} values"
    if all(isinstance(value, int) for value in values) and not all(n is not None and n % 1 == 0 for n in result):
        return "not a whole number"
    if not all(number is not None and math.isfinite(number) for number in result):
        return "not a finite number"
    return "outside the limits"
