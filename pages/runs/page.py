"""Page Runs: every fit, its state and what came of it; compare two, take all of it home."""

import streamlit as st

from pages.kit.asked import apply_values
from pages.kit.layout import page_header
from pages.kit.pages import page_link
from pages.kit.state import get_engine
from pages.runs.choice import chosen, linked, rights
from pages.runs.detail import detail, take_home
from pages.runs.overview import overview, states


def main() -> None:
    """Draw the page."""
    page_header("Runs", "Every fit, its state and what came of it. A run goes on when this page is left or closed.")
    apply_values()
    engine = get_engine()
    rights()
    own = engine.runs()
    runs = [*own, *linked(engine, own)]
    if not runs:
        empty()
    active = any(run.active for run in runs)
    st.fragment(overview, run_every=1.0 if active else 5.0)(engine, states(own))
    if not runs:
        return
    left, right = st.columns(2)
    run = chosen(left, "Run", "run", runs)
    other = chosen(right, "Compare with", "with", [found for found in runs if found is not run], optional=True)
    if run is None:
        return
    st.fragment(detail, run_every=1.0 if run.active else None)(engine, run.id, other.id if other else None)
    if own:
        take_home(engine, own)


def empty() -> None:
    """What to do when there is nothing to see."""
    st.info("There are no runs yet. Open page Downscaling and press Learn: the fit appears here, live.")
    page_link("downscaling", "Go to page Downscaling")


main()
