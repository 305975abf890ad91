"""Maps drawn on a plain canvas in the browser (map_canvas.js): its code, and which figures it draws."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

#: What a heat map must state, since nothing is guessed in the browser.
_NEEDED = ("z", "zmin", "zmax", "colorscale")


def map_canvas_script() -> str:
    """The code, the same on pages and wherever else maps are drawn; it declares ``mapCanvas``."""
    return Path(__file__).with_name("map_canvas.js").read_text(encoding="utf-8")


def drawn_on_canvas(figure: Mapping[str, Any]) -> bool:
    """Whether a figure is a map that the canvas draws in full: one heat map on linear axes with a stated range and
    a colour for what is missing, a horizontal colour bar or none, and lines, marks or words over it."""
    layout, traces = figure["layout"], figure["data"]
    heats = [trace for trace in traces if trace.get("type") == "heatmap"]
    if (layout.get("meta") or {}).get("role") != "map" or len(heats) != 1:
        return False
    axes = [layout.get(name) or {} for name in ("xaxis", "yaxis")]
    bar = heats[0].get("colorbar") or {}
    return (
        all(name in heats[0] for name in _NEEDED)
        and "plot_bgcolor" in layout
        and not isinstance(heats[0]["colorscale"], str)
        and all("range" in axis and axis.get("type", "linear") == "linear" for axis in axes)
        and (heats[0].get("showscale") is False or bar.get("orientation") == "h")
        and all(trace is heats[0] or trace.get("type", "scatter") == "scatter" for trace in traces)
        and all(shape.get("type") in ("path", "rect") for shape in layout.get("shapes") or [])
    )
