"""The progress of runs that go on."""

import time
from collections.abc import Sequence
from typing import Any

import streamlit as st

from deconditioning.engine.records import Run
from deconditioning.engine.visitors.visitor import Visitor
from deconditioning.errors import InputError
from deconditioning.wording import duration
from pages.kit.layout.escaping import plain, sentence_of
from pages.kit.runs.run_panel import is_stopping, status_words, stop
from pages.runs.names import name_of


def states(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """What must not change without a full redraw of the page."""
    return [(run.id, run.status) for run in runs]


def overview(engine: Visitor, shown_states: list[tuple[str, str]]) -> None:
    """The progress of runs that go on; redraws the page when one begins or ends."""
    runs = engine.runs()
    if states(runs) != shown_states:
        st.rerun(scope="app")
    for run in runs:
        if run.active:
            with st.container(border=True):
                going_on(engine, run, "list")


def going_on(engine: Visitor, run: Run, where: str) -> None:
    """State, progress, time left and Cancel of a run that has not ended."""
    text, button = st.columns([5, 1], vertical_alignment="center")
    with text:
        words = [f"**{plain(name_of(run))}**", status_words(run)]
        silent = time.time() - run.heard if run.heard else 0.0
        if silent > 15:
            words.append(f"no sign of life for {duration(silent)}")
        st.progress(run.progress or 0.0, text=" · ".join(words))
    if engine.is_mine(run):
        button.button("Cancel", key=f"cancel-{where}-{run.id}", width="stretch", on_click=stop, args=(run.id,),
                      disabled=is_stopping(run.id), help="The best result so far is saved")  # fmt: skip


def attempt(action: Any, run_id: str, done: str) -> None:
    """Do something with a run, say so, and redraw; a refusal is a sentence."""
    try:
        action(run_id)
    except InputError as error:
        st.toast(sentence_of(error))
        return
    st.toast(plain(done))
    st.rerun(scope="app")
