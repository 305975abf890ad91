"""A chart that keeps its zoom when its data change and reports where it was clicked; maps are drawn on a canvas.

Maps of `deconditioning.figures.maps` go to canvas_map.js, points in space to canvas_space.js, all other figures to
plotly; the browser fetches plotly for these only. Where the page is pinned as A, its curves stay as ghosts and its maps
lie left of a divider (compare.js).
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from deconditioning.figures.map_canvas import map_canvas_script
from pages.kit.chart.picture_first import ahead_of_page
from pages.kit.chart.plotly_asset import ensure_plotly
from pages.kit.chart.points import Points
from pages.kit.chart.prepared import Prepared, prepare
from pages.kit.record import pinned_figure, record_figure

_HERE = Path(__file__).parent
_HTML = (
    '<div class="live-chart"><div class="live-plot" role="figure"></div>'
    '<div class="live-tip" hidden><b></b><span></span></div></div>'
)


def _joined(*names: str) -> str:
    return "\n".join((_HERE / name).read_text(encoding="utf-8") for name in names)


#: What Streamlit calls the chart's component.
COMPONENT = "lab_plotly_live"
_PARTS = ("compare.js", "points.js", "cells.js", "frames.js", "canvas_map.js", "canvas_space.js", "plotly_live.js")
_CHART = st.components.v2.component(
    COMPONENT,
    html=_HTML,
    css=_joined("plotly_live.css", "points.css", "cells.css"),
    js=map_canvas_script() + _joined(*_PARTS),
    isolate_styles=False,
)
ensure_plotly()


def plotly_live(
    figure: Any,
    key: str,
    *,
    group: str | None = None,
    alt: str = "",
    clickable: bool = False,
    later: bool = False,
    on_click: Callable[[], None] | None = None,
    on_rule: Callable[[float], None] | None = None,
    points: Points | None = None,
    cells: Mapping[str, Any] | None = None,
    on_cells: Callable[[list[list[float]]], None] | None = None,
    along: Mapping[str, tuple[str, float]] | None = None,
    config: dict[str, Any] | None = None,
) -> tuple[float, float] | None:
    """Draw a figure; return the last clicked point (x, y) in the figure's coordinates, or None.

    Parameters
    ----------
    figure : a plotly figure as a dict (`figures`), a ``go.Figure`` or either `Prepared`; its layout must state a
        height. For a map that height is the largest: a narrow column makes it lower, at the map's own aspect.
    key : the chart's name on the page; under the same key new data are drawn into the old picture.
    group : maps of one group zoom together, and a pointer on one of them reads them all.
    alt : what the picture shows, for those who cannot see it; a figure of `deconditioning.figures` brings its own.
    later : a new picture under an old key waits until those that are not `later` have been painted. Maps do not wait:
        they are painted within milliseconds.
    clickable : send clicks to Python (each reruns the script or fragment). `on_click` implies it; read the point in
        the callback from ``st.session_state[key]["click"]`` or, simpler, from what this function returns.
    cells, on_cells : coarse cells of a map that are pointed at, and what is called with the events (cells.js), before
        the script or fragment runs again.
    along : by the key of a slider along which maps are sent ahead (`pages.kit.chart.frames`), the context of this
        picture and the value at which the slider stands in it.
    on_rule : called with the height to which a person has moved the figure's first shape, a movable rule.
    points : lets a person move, add and delete the points of a scatter; None leaves them as they are.
    """
    ready = figure if isinstance(figure, Prepared) else prepare(figure)
    record_figure(key, ready)
    pinned = pinned_figure(key)
    if pinned is not None and pinned.stamp == ready.stamp:
        pinned = None
    data = {
        "figure": ready.text,
        "engine": ready.engine,
        "stamp": ready.stamp,
        "pinned": pinned.text if pinned else "",
        "pinned_stamp": pinned.stamp if pinned else "",
        "key": key,
        "group": group,
        "alt": alt or ready.alt,
        "clickable": clickable or on_click is not None,
        "later": later,
        "movable": on_rule is not None,
        "points": points.sent(key) if points is not None else None,
        "cells": cells,
        "along": along,
        "ahead": ahead_of_page(),
        "config": (config or {}) | ({"edits": {"shapePosition": True}} if on_rule is not None else {}),
        "box": ready.box,
    }
    result = _CHART(
        key=key, data=data, default={"click": None}, on_click_change=on_click or _nothing, on_rule_change=_nothing,
        on_edits_change=partial(points.hear, key) if points is not None else _nothing,
        on_cells_change=partial(_hear_cells, key, on_cells) if on_cells is not None else _nothing,
    )  # fmt: skip
    if on_rule is not None and result.get("rule") is not None:
        on_rule(float(result["rule"]))
    point = result.get("click")
    return (float(point[0]), float(point[1])) if point else None


def _hear_cells(key: str, on_cells: Callable[[list[list[float]]], None]) -> None:
    """Pass on the events that the browser of the chart ``key`` has sent; what no picture of this app sends is not."""
    events = st.session_state.get(key, {}).get("cells")
    try:
        result = [[float(number) for number in event] for event in events]
    except (TypeError, ValueError, OverflowError):
        return
    if all(len(event) in (3, 5) and all(map(math.isfinite, event)) for event in result):
        on_cells(result)


def _nothing() -> None:
    """Clicks are read from the return value."""
