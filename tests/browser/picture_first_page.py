"""The least page with a picture drawn before the rest; `test_picture_first` serves it from a folder of its own."""

import time

import streamlit as st

from deconditioning.errors import InputError
from deconditioning.figures.style import axis, layout
from pages.kit.chart.picture_first import picture_first
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.layout.page_layout import refusals

#: At this height the picture takes its time, and what comes before it takes more.
SLOW = 12
st.title("Least")
st.session_state["runs"] = st.session_state.get("runs", 0) + 1


def draw() -> int:
    """A slider, and a line that ends at its value."""
    height = st.sidebar.slider("Height", 0, 20, 5, key="height")
    if height == SLOW:
        time.sleep(1)  # long enough that the page begins to run meanwhile
    st.sidebar.caption(f"Height {height} was drawn.")
    if height > 15:
        raise InputError(f"Height {height} is too high: choose at most 15.")
    look = layout("Line", height=250) | {"xaxis": axis("x", False), "yaxis": axis("y", False)}
    plotly_live({"data": [{"type": "scatter", "x": [0, 1], "y": [0, height]}], "layout": look}, "line")
    return height


if st.session_state.get("height") == SLOW:
    time.sleep(1.5)
with refusals():
    st.write(f"The page was run for height {picture_first(draw)}.")
st.write(f"Runs of the page: {st.session_state['runs']}.")
time.sleep(0.3)  # long enough that a click is still on its way to the button
if st.button("Press"):
    st.session_state["pressed"] = st.session_state.get("pressed", 0) + 1
st.write(f"Pressed: {st.session_state.get('pressed', 0)}.")
