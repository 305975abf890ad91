"""Page Conditional mean embeddings: two estimators beside the truth, and how fast deconditioning is learned."""

import streamlit as st

from pages.conditional_mean_embeddings import estimates, rates
from pages.kit.layout import page_header, refusals

VIEWS = {"Estimates": estimates.show, "Rates": rates.show}


def main() -> None:
    """One of the two views."""
    page_header(
        "Conditional mean embeddings", "Replicate a bag's label for each of its points, or let the bag speak once?"
    )
    view = st.segmented_control("View", list(VIEWS), default="Estimates", key="e-view", bind="query-params",
                                label_visibility="collapsed")  # fmt: skip
    with refusals():
        VIEWS[view or "Estimates"]()


main()
