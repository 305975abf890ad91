"""The problem that is drawn, and its two scatters, in which points can be edited."""

import numpy as np
import streamlit as st
import torch
from streamlit.delta_generator import DeltaGenerator

from deconditioning.datasets.one_dimension import Line, LineSpec, make_line
from deconditioning.figures.studies.one_dimension import pairs_plot
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls import widgets
from pages.kit.controls.edits import HINT
from pages.kit.layout.theme import is_dark
from pages.one_dimension.edits import editable
from pages.one_dimension.words import FIRST, SCATTERS_CAPTION, SECOND

#: Pixels: both stand beside the function, one above the other.
HEIGHT = 200


@st.cache_resource(show_spinner=False, max_entries=16)
def line_of(spec: LineSpec) -> Line:
    """The problem; the same object for the same settings."""
    return make_line(spec)


def above() -> tuple[bool, DeltaGenerator]:
    """The line above the scatters: whether points are edited, and the place for a sentence on that."""
    row = st.container(horizontal=True, vertical_alignment="center", key="lab-points")
    about = "Move, add and delete points of both data sets in the pictures. The posterior follows."
    edit = widgets.toggle("Edit points", key="o-edit", place=row, help=about)
    hint = st.container()  # always: what comes below keeps its place on the page, by which Streamlit knows its parts
    if edit:
        hint.caption(HINT)
    return edit, row


def given(line: Line, drawn: Line, edit: bool, first: DeltaGenerator, second: DeltaGenerator) -> None:
    """The two scatters, each in its place; ``drawn`` is the problem before its edits."""
    spec = drawn.spec
    y = np.linspace(-spec.half_width, spec.half_width, 300)
    with first:
        figure = pairs_plot(
            line.mediators.numpy(), line.inputs.numpy(), title=FIRST.title, labels=FIRST.labels, curve=spec.r(y),
            curve_at=y, curve_name=FIRST.curve, curve_sd=np.full(len(y), spec.input_noise),
            by_hand=line.spec.edits[0].places, height=HEIGHT, dark=is_dark(),
        )  # fmt: skip
        pairs = drawn.mediators.numpy(), drawn.inputs.numpy()
        points = editable("first", line.spec, pairs, FIRST.labels) if edit else None
        plotly_live(figure, "o-first", later=True, points=points)
    with second:
        mean, sd = _conditional(spec)
        figure = pairs_plot(
            line.query.numpy(), line.targets.numpy(), title=SECOND.title, labels=SECOND.labels, curve=mean,
            curve_at=y, curve_name=SECOND.curve, curve_sd=sd, by_hand=line.spec.edits[1].places, height=HEIGHT,
            dark=is_dark(),
        )  # fmt: skip
        pairs = drawn.query.numpy(), drawn.targets.numpy()
        points = editable("second", line.spec, pairs, SECOND.labels) if edit else None
        plotly_live(figure, "o-second", later=True, points=points)
        st.caption(SCATTERS_CAPTION)


@st.cache_data(show_spinner=False, max_entries=16)
def _conditional(spec: LineSpec) -> tuple[np.ndarray, np.ndarray]:
    y, line = torch.linspace(-spec.half_width, spec.half_width, 300, dtype=torch.float64), line_of(spec)
    return line.conditional_mean(y).numpy(), line.conditional_sd(y).numpy()
