"""Tables of short texts, numbers on the right."""

import re
from collections.abc import Sequence
from typing import Any, Literal

import streamlit as st

from pages.kit.layout.escaping import MISSING, cells

#: How the text of a number begins: "0.0966 ± 0.0041", "−3", "< 0.001", "5 of 16".
_NUMBER = re.compile(r"[<−-]? ?\d")

#: Rows of the longest table that does not scroll.
_WHOLE = 16


def show_table(rows: Sequence[dict[str, Any]]) -> None:
    """Rows of the same columns over the whole width. Columns in which every text is a number are right-aligned, as
    columns of numbers are. Up to `_WHOLE` rows are shown without scrolling."""
    right = {name: st.column_config.TextColumn(alignment="right") for name in _numeric_texts(rows)}
    height: Literal["content", "auto"] = "content" if len(rows) <= _WHOLE else "auto"
    st.dataframe(cells(rows), hide_index=True, width="stretch", height=height, placeholder=MISSING, column_config=right)


def _numeric_texts(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The columns of texts in which each one that is filled begins as a number."""
    result = []
    for name in rows[0] if rows else ():
        filled = [row[name] for row in rows if row.get(name) not in (None, "", MISSING)]
        if filled and all(isinstance(text, str) and _NUMBER.match(text) for text in filled):
            result.append(name)
    return result
