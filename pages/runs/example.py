"""The stored run that a page without runs shows: the worked example of page Downscaling after learning."""

from functools import cache

import streamlit as st

from deconditioning.engine.engine import Engine
from deconditioning.engine.visitors.visitor import Visitor
from deconditioning.wording import duration
from pages.kit.layout.escaping import plain
from pages.kit.pages import FOLDER
from pages.runs.detail import content
from pages.runs.names import name_of


@cache
def _stored() -> Visitor:
    """The folder of stored runs as somebody sees it who may change nothing."""
    return Visitor(Engine(FOLDER.parent / "data" / "example_run"), everything=False, known=False)


def example() -> None:
    """Its name, marked as an example, and all that came out of it."""
    engine = _stored()
    (run,) = engine.engine.runs()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(plain(name_of(run)), anchor=False, width="content")
        st.badge("Example", color="blue")
    took = f"Learning took {duration(run.ended - run.started)} on two cores. " if run.ended and run.started else ""
    st.caption(f"A stored run of page Downscaling, as yours will look here. {took}Version {plain(run.version)}.")
    content(engine, [run])
