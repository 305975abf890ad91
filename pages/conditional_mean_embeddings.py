"""Page Conditional mean embeddings: two estimators beside the truth, and how fast deconditioning is learned."""

import streamlit as st

from core.errors import InputError
from pages.shared.embeddings import estimates, rates
from pages.shared.layout import page_header

VIEWS = {"Estimates": estimates.show, "Rates": rates.show}


def main() -> None:
    """One of the two views."""
    page_header(
        "Conditional mean embeddings", "Replicate a bag's label for each of its points, or let the bag speak once?"
    )
    view = st.segmented_control("View", list(VIEWS), default="Estimates", key="e-view", bind="query-params",
                                label_visibility="collapsed")  # fmt: skip
    try:
        VIEWS[view or "Estimates"]()
    except InputError as error:
        st.error(str(error))
        st.caption("Nothing is lost: change the control on the left, the page comes back.")


main()
