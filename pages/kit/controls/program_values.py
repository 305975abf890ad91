"""Values that the program puts on controls: learned hyperparameters, an example's settings, a file just uploaded.

Streamlit forbids to change a control that is on the page already, so values are asked for and put at the beginning of
the next run. A browser that has not heard of them by then may still send what its controls held before (a picture that
polls does), which Streamlit takes for the newest. A hidden control that counts what was asked for goes along with the
others: whatever was asked for after the number that a browser sends is put again. It stands behind all others on the
page: a browser that shows it has heard of what stands before it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import streamlit as st

from pages.kit.session import Key

#: Key of the control that counts.
SEEN = "lab-seen"
#: Askings that are kept: a browser that missed more of them is not the one that was open.
_KEPT = 8


def set_on_next_run(values: Mapping[str, Any]) -> None:
    """Set controls by their keys on the next run; what marks that this was done comes after it.

    Streamlit may end a run wherever its state is touched: a mark without its values would lose them.
    """
    requested = st.session_state.get(Key.PROGRAM_VALUES, ())
    number = 1 + max(
        st.session_state.get(Key.PROGRAM_VALUES_SET, 0),
        st.session_state.get(SEEN, 0),
        *(number for number, _ in requested),
    )
    st.session_state[Key.PROGRAM_VALUES] = (*requested[1 - _KEPT :], (number, dict(values)))


def set_values(values: Mapping[str, Any]) -> None:
    """Set controls by their keys on the next run, which begins now. The address follows."""
    set_on_next_run(values)
    st.rerun()


def requested_value(key: str, default: Any) -> Any:
    """What a control is to hold: the last value asked for that the browser has not seen, else what it holds.

    For callbacks, which run before `apply_values`.
    """
    last_seen = st.session_state.get(SEEN, st.session_state.get(Key.PROGRAM_VALUES_SET, 0))
    unseen = [
        values[key]
        for number, values in st.session_state.get(Key.PROGRAM_VALUES, ())
        if number > last_seen and key in values
    ]
    return unseen[-1] if unseen else st.session_state.get(key, default)


def held(key: str, options: Iterable[str]) -> str:
    """The one of ``options`` that a control is about to hold, before it is built; the first unless another is asked
    for."""
    options = list(options)
    value = requested_value(key, st.query_params.get(key))
    return value if value in options else options[0]


def apply_values() -> None:
    """Put the values asked for that the browser has not seen; call it before the page's first control."""
    requested = st.session_state.get(Key.PROGRAM_VALUES, ())
    last_seen = st.session_state.get(SEEN, st.session_state.get(Key.PROGRAM_VALUES_SET, 0))
    for number, values in requested:
        if number > last_seen:
            st.session_state.update(values)
    newest = max(last_seen, *(number for number, _ in requested), 0)
    if st.session_state.get(SEEN) != newest:
        st.session_state.update({SEEN: newest})
    st.session_state[Key.PROGRAM_VALUES_SET] = newest


def count_requests() -> None:
    """The hidden control that counts; call it behind the page's last control."""
    if st.session_state.get(Key.PROGRAM_VALUES_SET) is None:
        return
    with st.container(key="lab-asked"):
        st.number_input("Controls set so far", 0, step=1, key=SEEN)
