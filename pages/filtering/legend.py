"""One legend of several pictures, as a line of text below them."""

from collections.abc import Mapping
from html import escape
from typing import Any

import streamlit as st

#: Plotly's symbol → the sign that looks like it.
_SIGNS = {"circle": "●", "circle-open": "○", "x": "✖", "diamond": "◆"}
_LINE = "—"


def legend(figure: Mapping[str, Any]) -> None:
    """What the marks and lines of a figure are, in its order."""
    entries = "".join(
        f'<span><i aria-hidden="true" style="color:{escape(_colour(trace))}" data-sign="{_sign(trace)}"></i> '
        f"{escape(trace['name'].replace('<br>', ' '))}</span>"
        for trace in figure["data"]
    )
    st.html(f'<p class="lab-legend">{entries}</p>')


def _sign(trace: Mapping[str, Any]) -> str:
    if trace["mode"] == "lines":
        return _LINE
    return _SIGNS[trace["marker"].get("symbol", "circle")]


def _colour(trace: Mapping[str, Any]) -> str:
    """That of the line, or of the mark's rim where it has one of its own."""
    if trace["mode"] == "lines":
        return str(trace["line"]["color"])
    marker = trace["marker"]
    return str(marker.get("line", {}).get("color") or marker["color"])
