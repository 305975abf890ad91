"""Page Filtering: a hidden state, followed by samples alone, beside filters that are told the equations."""

import streamlit as st

from pages.filtering import camera, recorded, rotation
from pages.filtering.essentials import ESSENTIALS
from pages.filtering.presets import PRESETS
from pages.kit.controls import widgets
from pages.kit.layout.page_layout import page_header, refusals

SYSTEMS = {"a": "(a) circle", "b": "(b) waves", "own": "own circle", "camera": "camera", "series": "own series"}


def main() -> None:
    """Read the controls, follow, play."""
    page_header(
        "Filtering",
        "Can a filter track a hidden state from noisy observations if it has examples but no equations?",
        PRESETS,
        ESSENTIALS,
    )
    with refusals():
        with st.sidebar:
            name = (
                widgets.segmented_control(
                    "System", list(SYSTEMS), default="b", key="f-system", format_func=SYSTEMS.__getitem__
                )
                or "b"
            )
        views = {"series": recorded.show, "camera": camera.show}
        views.get(name, lambda: rotation.show(name))()


main()
