"""Asking for the dialog of one's own file: a button, the first entry of the list of fields, an address."""

import streamlit as st

from pages.kit.session import Key

#: The entry of the list of fields that opens the dialog, and how it is called; an address may have either.
OWN, LABEL = "own", "Your own file …"


def button(is_shown: bool) -> None:
    """The button that opens the dialog; ``is_shown``: a file of the visitor's is shown."""
    st.button(
        "Variables, cells, time …" if is_shown else "Use your own file", key="lab-own-file", width="stretch",
        icon=":material/tune:" if is_shown else ":material/upload_file:", on_click=open_dialog,
    )  # fmt: skip


def open_dialog() -> None:
    """The dialog is shown from the next run on, until it is closed."""
    st.session_state[Key.OWN_FILE] = True


def close_dialog() -> None:
    """The dialog is gone at the next run."""
    st.session_state.pop(Key.OWN_FILE, None)


def is_open() -> bool:
    """Whether the dialog is to be shown."""
    return bool(st.session_state.get(Key.OWN_FILE))


def open_from_list() -> None:
    """Callback of the list of fields: its first entry opens the dialog, and the list shows what it showed before."""
    if st.session_state.get("data") == OWN:
        open_dialog()
        st.session_state["data"] = st.session_state.get(Key.DATA)


def pressed(label: str, key: str) -> bool:
    """A button of the dialog, and whether it was pressed: the press outlives a run that another one interrupts before
    it comes to the button."""
    st.button(label, type="primary", width="stretch", key=key, on_click=_press)
    return bool(st.session_state.pop(Key.OWN_FILE_ASKED, False))


def _press() -> None:
    st.session_state[Key.OWN_FILE_ASKED] = True
