"""Light or dark, as the browser shows it now, and the palette for style sheets."""

from functools import lru_cache

import streamlit as st


def is_dark() -> bool:
    """Whether the page is shown dark; light where the browser has not said (the first run, tests)."""
    return st.context.theme.type == "dark"


@lru_cache
def palette_css() -> str:
    """The palette as CSS variables, ``--lab-teal`` and so on; they follow the page's theme by themselves."""
    from deconditioning.figures.colours import GROUND, HUES, VERDICTS

    pairs = {**HUES, **VERDICTS, "ground": GROUND}
    return ":root{" + "".join(f"--lab-{name}:light-dark({a},{b});" for name, (a, b) in pairs.items()) + "}"
