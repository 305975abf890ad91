"""Page Period: many times of a coarse field become fine together, with an archive as prior where there is one."""

import streamlit as st

from pages.kit.controls import widgets
from pages.kit.layout.page_layout import explain, notes, page_header, refusals
from pages.period import controls, hovmoeller, maps, place, statistics, verification, words
from pages.period.presets import PRESETS

VIEWS = {"Hovmöller diagram": hovmoeller.show, "Period statistics": statistics.show, "Verification": verification.show}


def main() -> None:
    """Choose a series, downscale all its times, play them."""
    page_header("Period", "Coarse values are known for many times: how does the fine field move?", PRESETS)
    with refusals():
        body()


def body() -> None:
    """Controls in the sidebar; the maps in step, the series at a place, and what a period is for."""
    with st.sidebar:
        choice = controls.choose()
    shown = controls.downscaled(choice)
    words.sentence(shown, controls.series_title(choice))
    books = st.container()
    at = place.choose(shown.result.series)
    with books:
        maps.show(choice, shown, at)
        words.covariance(shown)
    place.show(shown, at)
    view = widgets.segmented_control("View", list(VIEWS), default="Hovmöller diagram", key="p-view")
    VIEWS[view or "Hovmöller diagram"](choice, shown, at)
    explain(
        "All times share one model, so each further map is quick. With an archive, its climatology is subtracted and "
        "its covariance is mixed with that of the kernel.",
        "With the climatologies $c$ of fine and $c_z$ of coarse values, harmonics $H_t$ and the covariance of fine "
        "with coarse anomalies $C = w\\,(r^\\top a/N)\\circ\\rho + (1-w)\\,s^2 k$, the mean of time $t$ is\n\n"
        "$$H_t c + C\\,(K + \\epsilon I)^{-1}(z_t - H_t c_z),$$\n\n"
        "where $w$ and the reach of the taper $\\rho$ are those that predict left-out blocks of time best.",
        "docs/period.md",
    )
    words.licence(shown)
    notes((*shown.result.series.problem.notes, *shown.result.series.notes, *shown.notes))


main()
