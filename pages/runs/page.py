"""Page Runs: every fit with its picture and what came of it; compare up to six, take all of it home."""

import streamlit as st

from pages.kit.controls.program_values import apply_values
from pages.kit.layout.page_layout import page_header
from pages.kit.pages import page_link
from pages.kit.state import get_engine
from pages.runs.choice import beside, chosen, linked, rights
from pages.runs.detail import detail, take_home
from pages.runs.favourites import favourites
from pages.runs.label import bring_back
from pages.runs.library import library
from pages.runs.overview import overview, states


def main() -> None:
    """Draw the page."""
    page_header("Runs", "Every fit with its state and result. A run continues when you leave or close this page.")
    apply_values()
    engine = get_engine()
    rights()
    bring_back(engine)
    own = engine.runs()
    runs = [*own, *linked(engine, own)]
    favourites(engine, expanded=not runs or "favourites" in st.query_params)
    if not runs:
        empty()
    active = any(run.active for run in runs)
    st.fragment(overview, run_every=1.0 if active else 5.0)(engine, states(own))
    if not runs:
        return
    library(engine, own)
    left, right = st.columns(2)
    run = chosen(left, runs)
    if run is None:
        return
    others = beside(right, [result for result in runs if result is not run])
    ids = [run.id, *(other.id for other in others)]
    st.fragment(detail, run_every=1.0 if run.active else None)(engine, ids, own)
    if own:
        take_home(engine, own)


def empty() -> None:
    """What to do when there is nothing to see."""
    st.info("There are no runs yet. Open page Downscaling and press Learn: the fit appears here while it is running.")
    page_link("downscaling", "Go to page Downscaling")


main()
