"""Sliders that are followed while they are dragged: the browser sends their values on the way (dragging.js)."""

from pathlib import Path

import streamlit as st

from pages.kit.streamlit_private import session_id

_KEY = "lab-drag"
_FOLLOWER = st.components.v2.component(
    "lab_dragging",
    html="<span hidden></span>",
    js=Path(__file__).with_name("dragging.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def follow_drags() -> None:
    """Let every slider of the page be followed; call once in each run of a page."""
    _FOLLOWER(key=_KEY, data={"session": session_id()}, default={"drag": 0}, on_drag_change=_nothing)


def drag() -> int:
    """The number of the drag from which the values of this run come; 0 where no slider is dragged."""
    number = st.session_state.get(_KEY, {}).get("drag")
    return number if isinstance(number, int) else 0


def _nothing() -> None:
    """The number is read from the session."""
