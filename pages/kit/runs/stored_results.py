"""Results kept with the app, read once per change of their file."""

import json
from pathlib import Path
from typing import Any

import streamlit as st

FOLDER = Path(__file__).resolve().parents[3] / "data" / "benchmarks"


@st.cache_resource(show_spinner=False, max_entries=16)
def _read(file: str, changed: float) -> dict[str, Any]:
    return json.loads((FOLDER / file).read_text(encoding="utf-8"))


def stored(file: str) -> dict[str, Any]:
    """The document of that name in ``data/benchmarks``, shared by all sessions: do not change it."""
    return _read(file, (FOLDER / file).stat().st_mtime)
