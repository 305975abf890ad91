"""Page Conditional mean embeddings: two estimators beside the truth, and how fast deconditioning is learned."""

from deconditioning.studies.conditional_means.settings import EstimateSettings, TheoremSettings
from pages.conditional_mean_embeddings import estimates, rates
from pages.conditional_mean_embeddings.presets import PRESETS
from pages.kit.controls import widgets
from pages.kit.controls.essential import Essential
from pages.kit.controls.program_values import held
from pages.kit.controls.settings import essentials
from pages.kit.layout.page_layout import page_header, refusals

ESSENTIALS = {
    "e-view": Essential("What to look at", "Two estimates side by side, or how fast they approach the truth."),
    **essentials(EstimateSettings, TheoremSettings),
}
#: The question of each view.
QUESTIONS = {
    "Estimates": "Many points share one label. Should every point count once, or every group?",
    "Rates": "How fast does the error of the deconditional operator fall as the samples grow?",
}
VIEWS = {"Estimates": estimates.show, "Rates": rates.show}


def main() -> None:
    """One of the two views."""
    page_header(
        "Conditional mean embeddings",
        QUESTIONS[held("e-view", VIEWS)],
        PRESETS,
        ESSENTIALS,
    )
    view = widgets.segmented_control(
        "View", list(VIEWS), default="Estimates", key="e-view", label_visibility="collapsed"
    )
    with refusals():
        VIEWS[view or "Estimates"]()


main()
