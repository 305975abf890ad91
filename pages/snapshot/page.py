"""Page Snapshot: one run to look at, as whoever has its link sees it; nothing on it changes anything."""

import streamlit as st

from deconditioning.errors import InputError
from pages.kit.layout.escaping import plain, sentence_of
from pages.kit.layout.page_layout import page_header
from pages.kit.pages import page_link
from pages.kit.state import get_engine
from pages.runs.names import name_of
from pages.snapshot.contents import show


def main() -> None:
    """The run of the address, or a sentence."""
    requested = st.query_params.get("run", "")
    engine = get_engine()
    try:
        if not requested:
            raise InputError("The address contains no run: open one from page Runs.")
        run = engine.get(requested)
    except InputError as error:
        page_header("Snapshot", "One run, read-only.")
        st.warning(sentence_of(error))
        page_link("runs", "Go to page Runs", icon=":material/monitoring:")
        return
    page_header(plain(name_of(run)), "A snapshot of one run. It is read-only.")
    show(engine, run)


main()
