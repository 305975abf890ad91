"""Page Conditional mean embeddings: two estimators beside the truth, and how fast deconditioning is learned."""

from pages.conditional_mean_embeddings import estimates, rates
from pages.conditional_mean_embeddings.presets import PRESETS
from pages.kit import bound
from pages.kit.layout import page_header, refusals

VIEWS = {"Estimates": estimates.show, "Rates": rates.show}


def main() -> None:
    """One of the two views."""
    page_header(
        "Conditional mean embeddings",
        "Replicate a bag's label for each of its points, or let the bag speak once?",
        PRESETS,
    )
    view = bound.segmented_control("View", list(VIEWS), default="Estimates", key="e-view", label_visibility="collapsed")
    with refusals():
        VIEWS[view or "Estimates"]()


main()
