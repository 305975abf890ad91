"""Light or dark, as the browser shows it now."""

import streamlit as st


def is_dark() -> bool:
    """Whether the page is shown dark; light where the browser has not said (the first run, tests)."""
    return st.context.theme.type == "dark"
