"""A run's name, star and tags; a deleted one brought back."""

import streamlit as st

from deconditioning.engine.labels import LONGEST_NAME, Label
from deconditioning.engine.records import Run
from deconditioning.engine.visitors.visitor import Visitor
from deconditioning.errors import InputError
from pages.kit.layout.escaping import sentence_of
from pages.kit.layout.page_layout import refusal
from pages.kit.session import Key
from pages.kit.state import forget
from pages.runs.deleted import offer_back
from pages.runs.names import name_of


def label_form(engine: Visitor, run: Run) -> None:
    """Star at once; name and tags in a popover."""
    star = run.label.star
    if st.button("★ Starred" if star else "☆ Star", key=f"star-{run.id}", help="Add this run to your favourites"):
        _call(engine, run, Label(run.label.name, not star, run.label.tags))
    with st.popover("Name and tags"), st.form(f"label-{run.id}", border=False):
        name = st.text_input("Name", run.label.name, max_chars=LONGEST_NAME, placeholder="title of the run")
        tags = st.text_input("Tags, separated by commas", ", ".join(run.label.tags), max_chars=300)
        if st.form_submit_button("Save", type="primary"):
            try:
                label = Label(name, star, tuple(tags.split(",")))
            except InputError as error:
                refusal(error)
                return
            _call(engine, run, label)


def _call(engine: Visitor, run: Run, label: Label) -> None:
    try:
        engine.call(run.id, label)
    except InputError as error:
        refusal(error)
        return
    st.rerun(scope="app")


def delete(engine: Visitor, run: Run) -> None:
    """Put the run aside, and remember that it can be brought back."""
    try:
        engine.delete(run.id)
    except InputError as error:
        st.toast(sentence_of(error))
        return
    st.session_state[Key.DELETED_RUN] = (run.id, name_of(run))
    st.rerun(scope="app")


def bring_back(engine: Visitor) -> None:
    """Under the header, after a run was deleted: a way to have it again."""
    if back := offer_back(Key.DELETED_RUN, engine.restore, ("bring-back", "leave-it")):
        st.query_params["run"] = back
        forget("box-run")
        st.rerun(scope="app")
