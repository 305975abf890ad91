"""The least page of several fragments, one of which runs by a timer; `test_messages` serves it from its own folder.

A second page can be gone to.
"""

import time

import streamlit as st

from pages.kit.controls.dragging import follow_drags
from pages.kit.streamlit_private import leave_pages_for_good


def count(name: str) -> None:
    """One more press."""
    st.session_state[name] = st.session_state.get(name, 0) + 1


def button(name: str) -> None:
    """A button, how often its function was called and in how many runs it was pressed."""
    if st.button(name, on_click=count, args=(name,)):
        count(f"{name} in runs")
    st.write(f"{name}: {st.session_state.get(name, 0)} and {st.session_state.get(f'{name} in runs', 0)}.")


def messages() -> None:
    """The page of buttons."""
    st.title("Messages")
    follow_drags()
    for name in ("First", "Second"):
        st.fragment(button)(name)
    button("Third")
    st.fragment(st.write, run_every=0.1)("A timer runs this.")


def other() -> None:
    """A page that takes its time to begin."""
    st.title("Other")


st.cache_resource(leave_pages_for_good)()
pages = [st.Page(messages, title="Messages", default=True), st.Page(other, title="Other")]
chosen = st.navigation(pages, position="top")
if chosen.title == "Other":
    time.sleep(0.5)
chosen.run()
