"""Runs that swept: what they found, one with all of its pictures, several beside each other."""

from collections.abc import Sequence

import streamlit as st

from deconditioning.engine.records import Run
from deconditioning.studies.sweep_content import page_of, swept
from pages.kit.layout.escaping import plain
from pages.kit.pages import PAGES, page_link
from pages.kit.tools.sweep_results import draw, main_plots
from pages.runs.names import name_of

#: Sweeps beside each other.
A_ROW = 3


def sweeps(runs: Sequence[Run]) -> None:
    """Those among the runs that have rows."""
    result = [(run, known) for run in runs if (known := swept(run)) is not None and known.rows]
    if len(result) == 1:
        draw(result[0][1], f"swept-{result[0][0].id}")
        return
    for first in range(0, len(result), A_ROW):
        row = result[first : first + A_ROW]
        for (run, known), column in zip(row, st.columns(min(len(result), A_ROW), gap="medium"), strict=False):
            with column:
                st.markdown(f"**{plain(name_of(run))}**")
                main_plots(known, f"swept-{run.id}")


def open_sweep(run: Run) -> None:
    """A link to the page that began it, as it was."""
    address = page_of(run)
    page = next((page for page in PAGES if address is not None and page.url_path == address[0]), None)
    if address is not None and page is not None:
        page_link(page.folder, f"Open on page {page.title}", query=address[1], icon=page.icon)
