"""Page One dimension: deconditioning you can touch."""

import streamlit as st

from pages.kit.asked import apply_values
from pages.kit.layout import page_header, refusals
from pages.one_dimension import bayes, recover, trip

VIEWS = {"Recover f": recover.show, "There and back": trip.show, "Bayes' rule": bayes.show}


def main() -> None:
    """One of the views."""
    page_header("One dimension", "Two scatters that never meet, and the function that connects them.")
    apply_values()
    view = st.segmented_control("View", list(VIEWS), default="Recover f", key="o-view", bind="query-params",
                                label_visibility="collapsed")  # fmt: skip
    with refusals():
        VIEWS[view or "Recover f"]()


main()
