"""Page Filtering: a hidden state, followed by samples alone, beside filters that are told the equations."""

import streamlit as st

from deconditioning.studies.filtering.settings import (
    SYSTEMS,
    CameraKernelSettings,
    CameraSettings,
    KernelSettings,
    RotationSettings,
    ViewSettings,
)
from pages.filtering import camera, recorded, rotation
from pages.filtering.presets import PRESETS
from pages.kit.controls.default_or_choice import take_earlier_words
from pages.kit.controls.essential import Essential
from pages.kit.controls.settings import controls, essentials
from pages.kit.layout.page_layout import page_header, refusals

#: What addresses of earlier versions call the systems.
_EARLIER = {"(a) circle": SYSTEMS["a"], "(b) waves": SYSTEMS["b"]}
_STEP = "The step of the series that is shown. The page opens at one whose observation is far from the state."
ESSENTIALS = {
    **essentials(ViewSettings, RotationSettings, KernelSettings, CameraSettings, CameraKernelSettings),
    **dict.fromkeys(("f-step", "fc-step"), Essential("Which step", _STEP)),
    "f-file": Essential("Your own series", "A table with one step per row, CSV or NetCDF."),
}


def main() -> None:
    """Read the controls, follow, play."""
    page_header(
        "Filtering",
        "Can a filter track a hidden state from noisy observations if it has examples but no equations?",
        PRESETS,
        ESSENTIALS,
    )
    with refusals():
        take_earlier_words(ViewSettings.system.key, _EARLIER)
        with st.sidebar:
            name = controls(ViewSettings).system
        views = {"series": recorded.show, "camera": camera.show}
        views.get(name, lambda: rotation.show(name))()


main()
