"""Pictures of the story as plain data that chart.js and map_canvas.js draw without Plotly."""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np

from deconditioning.figures.colours import HUES, four_numbers
from deconditioning.figures.style import Figure, uncompacted

#: Significant digits of coordinates: finer than a pixel.
DIGITS = 5
_NAMES = {four_numbers(light)[:3]: name for name, (light, _) in HUES.items()}


def plain(figure: Figure) -> dict[str, Any]:
    """A chart or a map; colours are the palette's names, so that a style sheet can show them light or dark."""
    return _map(figure) if figure["layout"]["meta"]["role"] == "map" else _chart(figure)


def colour(text: str) -> tuple[str, float]:
    """The palette's name of a colour on a light page, and its opacity; ``KeyError`` for a colour of no such name."""
    *rgb, alpha = four_numbers(text)
    return _NAMES[tuple(rgb)], round(alpha / 255, 2)


def numbers(values: Any) -> list[float | None]:
    """To ``DIGITS`` digits; NaN is None."""
    return [float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None for value in np.ravel(values).tolist()]


def _chart(figure: Figure) -> dict[str, Any]:
    layout = figure["layout"]
    across = [_axis(layout[name]) for name in ("xaxis", "xaxis2") if name in layout]
    behind = layout.get("yaxis2")
    return {
        "height": layout["height"],
        "alt": layout["meta"]["alt"],
        "across": across,
        "up": _axis(layout["yaxis"]),
        "behind": behind["range"] if behind else None,
        "rules": [_rule(shape) for shape in layout["shapes"]],
        "marks": [_mark(trace) for trace in figure["data"]],
    }


def _axis(axis: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "title": axis["title"]["text"],
        "range": axis.get("range"),
        "log": axis.get("type") == "log",
        "ticks": axis.get("tickvals"),
    }


def _rule(shape: Mapping[str, Any]) -> dict[str, Any]:
    upright = shape["x0"] == shape["x1"]
    return {"upright": upright, "at": shape["x0" if upright else "y0"], "colour": colour(shape["line"]["color"])[0]}


def _mark(trace: Mapping[str, Any]) -> dict[str, Any]:
    """A line, an area or dots."""
    line, marker = trace.get("line", {}), trace.get("marker")
    fill = {"toself": "self", "tozeroy": "zero"}.get(trace.get("fill", ""), "")
    result = {
        "x": numbers(uncompacted(trace["x"])),
        "y": numbers(uncompacted(trace["y"])),
        "name": trace["name"],
        "panel": int(trace.get("xaxis") == "x2"),
        "behind": trace.get("yaxis") == "y2",
    }
    if marker:
        return result | {
            "dots": marker["symbol"], "colour": colour(marker["color"])[0], "alpha": marker["opacity"],
            "size": marker["size"],
        }  # fmt: skip
    result |= {"colour": colour(line["color"])[0], "width": line["width"], "dash": line.get("dash", "solid")}
    return result | ({"fill": fill, "alpha": colour(trace["fillcolor"])[1]} if fill else {})


def _map(figure: Figure) -> dict[str, Any]:
    """A map with its field in 255 levels."""
    heat, *others = figure["data"]
    return {"map": {"data": [heat | {"z": _levels(heat["z"])}, *others], "layout": figure["layout"]}}


def _levels(z: Mapping[str, str]) -> dict[str, Any]:
    """A field as bytes: ``low + step · byte``, 255 where it is missing."""
    values = uncompacted(z)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    step = (high - low) / 254 or 1.0
    levels = np.where(np.isfinite(values), np.round((values - low) / step), 255).astype("u1")
    return {"dtype": "u1", "bdata": base64.b64encode(levels.tobytes()).decode("ascii"), "shape": z["shape"],
            "low": low, "step": step}  # fmt: skip
