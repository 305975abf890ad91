"""After something was deleted: a way to have it again."""

from collections.abc import Callable

import streamlit as st

from deconditioning.errors import InputError
from pages.kit.layout.escaping import plain
from pages.kit.layout.page_layout import refusal
from pages.kit.state import forget


def offer_back(key: str, restore: Callable[[str], None], keys: tuple[str, str], what: str = "") -> str | None:
    """Offer what is kept under a name as its id and its own name; the id where it was brought back just now.

    ``keys`` of both buttons, ``what`` it is called before its name.
    """
    deleted = st.session_state.get(key)
    if deleted is None:
        return None
    one, name = deleted
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.markdown(f"{what}{plain(name)} was deleted. You can restore it within a day.")
        back = st.button("Restore", key=keys[0])
        if not (back or st.button("Dismiss", key=keys[1])):
            return None
        forget(key)
        if not back:
            st.rerun(scope="app")
        try:
            restore(one)
        except InputError as error:
            refusal(error)
            return None
    return str(one)
