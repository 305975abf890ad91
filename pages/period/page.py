"""Page Period: many times of a coarse field become fine together, with an archive as prior where there is one."""

import streamlit as st

from pages.kit.controls import widgets
from pages.kit.layout.page_layout import explain, notes, page_header, refusals
from pages.period import controls, hovmoeller, maps, place, result, stations, statistics, verification, words, writing
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
    if words_of_size := result.too_many(choice):
        st.info(words_of_size)
        writing.show(choice, None)
        return
    shown = result.downscaled(choice)
    words.sentence(shown, result.series_title(choice))
    books = st.container()
    at = place.choose(shown.result.series)
    with books:
        maps.show(choice, shown, at)
        words.covariance(shown)
        stations.show(shown.result)
    place.show(shown, at)
    view = widgets.segmented_control("View", list(VIEWS), default="Hovmöller diagram", key="p-view")
    VIEWS[view or "Hovmöller diagram"](choice, shown, at)
    writing.show(choice, shown.seconds)
    explain(
        "All times share one model, so each further map is quick. With an archive, its climatology is subtracted and "
        "its covariance is mixed with that of the kernel.",
        "The climatology of a time $t$ is $H_t c$ for pixels and $H_t c_z$ for cells, where $H_t$ are harmonics of the "
        "year and the day. With the anomalies $r$ of pixels and $a$ of cells at the archive's $N$ times, the kernel "
        "$k$ of variance $s^2$ and a taper $\\rho$, multiplied entry by entry, the covariance of pixels with cells is"
        "\n\n"
        "$$C = w\\,(r^\\top a/N)\\circ\\rho + (1-w)\\,s^2 k;$$\n\n"
        "that of the cells, $K$, is built in the same way. With the noise variance $\\epsilon$, the mean is\n\n"
        "$$H_t c + C\\,(K + \\epsilon I)^{-1}(z_t - H_t c_z).$$\n\n"
        "$w$ and the reach of $\\rho$ are those that predict left-out blocks of time best. The sd of a pixel is a "
        "product of three factors: the error made when one half of the archive is predicted from the other, one for "
        "the season and the size of the coarse anomalies, and one for how high or low the predicted value is.",
        "Houtekamer and Mitchell 2001 (tapering); Hamill and Snyder 2000 (the mixture)",
    )
    words.licence(shown)
    notes((*shown.result.series.problem.notes, *shown.result.series.notes, *shown.notes))


main()
