"""Maps for print: which of them, on which page, hatched where in doubt; made when they are asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.figures.downscaled_maps import heading
from deconditioning.figures.hatching import USUAL_SHARE, Doubt
from deconditioning.figures.map_panel import Panel
from deconditioning.figures.printed.page_size import PAGES, Page
from deconditioning.figures.printed.publication import (
    FORMATS,
    Format,
    Projection,
    caption_text,
    projections_for,
    publication_figure,
)
from deconditioning.metrics.intervals import Trust
from deconditioning.models.spec import ModelSpec
from pages.downscaling.data import Choice
from pages.downscaling.descriptions import hidden_cells
from pages.downscaling.distribution.view import View
from pages.kit.controls import widgets
from pages.kit.controls.essential import group
from pages.kit.state import offer_only

#: Pages as they are offered.
SIZES: dict[Page, str] = {"fit": "as the maps need", "slide": "slide, 16:9", "sheet": "sheet, A4"}
_MIMES: dict[Format, str] = {"png": "image/png", "pdf": "application/pdf", "svg": "image/svg+xml"}


@dataclass(frozen=True)
class Wanted:
    """What is to be printed: the panels, on which page and projection, and what is hatched."""

    panels: Sequence[Panel]
    projection: Projection
    page: Page
    doubt: Doubt | None


def offer(
    choice: Choice, problem: DownscalingProblem, spec: ModelSpec, view: View, panels: Sequence[Panel],
    verdict: Trust | str, name: str, places: Sequence[DeltaGenerator],
) -> None:  # fmt: skip
    """A button for every format in its place; how maps are printed in an expander."""
    with group("How maps are printed"):
        request = _choose_page(problem, view, panels)
    for place, kind in zip(places, FORMATS, strict=True):
        place.download_button(
            f"Maps, {kind.upper()}",
            partial(_printed, choice, problem, spec, request, verdict, kind),
            f"{name}.{kind}",
            _MIMES[kind],
            key=f"get-{kind}",
            on_click="ignore",
            width="stretch",
        )


def _choose_page(problem: DownscalingProblem, view: View, panels: Sequence[Panel]) -> Wanted:
    left, right = st.columns(2)
    offered = projections_for(problem.grid)
    offer_only("proj", offered)
    projection = widgets.selectbox("Projection of printed maps", offered, key="proj", place=left) or offered[0]
    page = widgets.selectbox("Page", PAGES, key="print-page", place=right, format_func=SIZES.__getitem__) or PAGES[0]
    titles = {panel.key: panel.title for panel in panels}
    chosen = widgets.multiselect(
        "Maps", list(titles), default=list(titles), key="print-maps", format_func=titles.__getitem__
    )  # fmt: skip
    hatched = widgets.toggle(
        "Hatch uncertain areas", key="print-hatched", place=left,
        help="Hatches the posterior mean where its sd is a large fraction of the map's own variation: there the mean "
        "is a poor guide to how a pixel differs from the others.",
    )  # fmt: skip
    share = USUAL_SHARE
    if hatched:
        share = widgets.slider(
            "Hatch above this sd (in sd of the map)", 0.1, 2.0, USUAL_SHARE, 0.05, key="print-share", place=right
        )  # fmt: skip
    doubt = Doubt.of(view.mean, view.sd, problem.grid, float(share)) if hatched else None
    chosen_panels = [panel for panel in panels if panel.key in chosen]
    return Wanted(chosen_panels or panels, projection, page, doubt)


def _printed(
    choice: Choice, problem: DownscalingProblem, spec: ModelSpec, request: Wanted, verdict: Trust | str, kind: Format
) -> bytes:
    """The maps as they are on the screen; without a truth the caption says what could be checked."""
    covariates = ", ".join(choice.spec.covariates).replace("_", " ")
    more = [f"Covariates: {covariates or 'coordinates only'}"]
    if problem.hidden:
        more.append(hidden_cells(problem))
    if isinstance(verdict, str):
        more.append(verdict)
    caption = caption_text(
        method=f"{spec.model.title} ({spec.model.source}); coarse values are means over {problem.pixels_of_a_cell}",
        data=problem.source,
        licence=problem.licence,
        seed=choice.spec.seed,
        more=". ".join(sentence.rstrip(".") for sentence in more),
    )
    return publication_figure(
        request.panels, problem.grid, projection=request.projection, heading=heading(problem), caption=caption,
        trust=None if isinstance(verdict, str) else verdict, doubt=request.doubt, footprints=problem, page=request.page,
        format=kind,
    )  # fmt: skip
