"""Page Runs: every fit with its picture and what came of it; compare up to six, take all of it home."""

from collections.abc import Sequence

import streamlit as st

from deconditioning.engine.records import Run
from pages.kit.controls.program_values import apply_values
from pages.kit.layout.page_layout import page_header
from pages.kit.pages import page_door, page_in, page_link
from pages.kit.state import get_engine
from pages.runs.choice import choose_compared, chosen, linked, rights
from pages.runs.detail import detail, take_home
from pages.runs.example import example
from pages.runs.favourites import favourites
from pages.runs.label import bring_back
from pages.runs.library import library
from pages.runs.overview import overview, states

#: What happens with a run, one paragraph each.
_COURSE = (
    "**While it runs** you see its progress here and can cancel it. It continues when you leave the page.",
    "**When it ends** its maps, scores, settings and seed stay here. Run it again, or download it as NetCDF.",
    "**Afterwards** compare up to six runs, name and star them, and send others a link to view one.",
)


def main() -> None:
    """Draw the page."""
    page_header("Runs", "What was computed, with its settings, maps and scores.")
    apply_values()
    engine = get_engine()
    rights()
    bring_back(engine)
    visitor_runs = engine.runs()
    runs = [*visitor_runs, *linked(engine, visitor_runs)]
    favourites(engine, expanded=not runs or "favourites" in st.query_params)
    if not runs:
        empty()
    active = any(run.active for run in runs)
    st.fragment(overview, run_every=1.0 if active else 5.0)(engine, states(visitor_runs))
    if not runs:
        return
    library(engine, visitor_runs)
    run, others = _looked_at(runs)
    if run is None:
        return
    ids = [run.id, *(other.id for other in others)]
    st.fragment(detail, run_every=1.0 if run.active else None)(engine, ids, visitor_runs)
    if visitor_runs:
        take_home(engine, visitor_runs)


def _looked_at(runs: Sequence[Run]) -> tuple[Run | None, list[Run]]:
    """The run that is shown and those beside it; where there is one only, there is nothing to choose."""
    if len(runs) == 1 and st.query_params.get("run", runs[0].id) == runs[0].id:
        st.query_params["run"] = runs[0].id
        return runs[0], []
    left, right = st.columns(2)
    run = chosen(left, runs)
    return run, [] if run is None else choose_compared(right, [result for result in runs if result is not run])


def empty() -> None:
    """What a run is, and how the first one is made."""
    st.markdown(
        "**No runs yet.** A run is one computation that takes longer than a moment: a model that learns its "
        "hyperparameters from a field, or a sweep over settings. An example is below."
    )
    page_door("downscaling", "Open page Downscaling and press Learn", icon=":material/grid_on:")
    with st.container(horizontal=True, key="lab-course"):
        for text in _COURSE:
            with st.container(border=True, width="stretch"):
                st.markdown(text)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("Runs also begin on the method pages, by **Learn** or by **Sweep**:", width="content")
        for folder in ("swiss_roll", "sparse_representation"):
            page = page_in(folder)
            page_link(folder, page.title, icon=page.icon)
    example()


main()
