"""What the browser does around a page: it tells Python the theme, the open sidebar of a phone leaves a picture in
sight, and tables that are wider than their place say so."""

from pathlib import Path

import streamlit as st

from pages.kit.layout.theme import is_dark

_FRAME = st.components.v2.component(
    "lab_frame",
    html="<span hidden></span>",
    js=Path(__file__).with_name("frame.js").read_text(encoding="utf-8"),
)


def frame(level: str = "") -> None:
    """Call once on every page; when the theme changes the page runs again, so that its pictures change colour.

    The browser keeps the ``level`` of its controls, where it has one, for its next visit.
    """
    _FRAME(key="lab-frame", data={"dark": is_dark(), "level": level}, on_theme_change=_nothing)


def _nothing() -> None:
    """That the browser asks for it is enough: the page runs."""
