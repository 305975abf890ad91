"""The difference of two maps that were drawn on one grid, from the figures themselves."""

import base64
import copy
from typing import Any

import numpy as np

from deconditioning.figures.colours import colour_scale
from deconditioning.figures.map_panel import MapScale
from deconditioning.figures.style import Figure, compact
from deconditioning.wording import number


def difference_map(first: Figure, second: Figure, title: str) -> Figure | None:
    """``second − first`` as a map on a symmetric scale; None if the two are not maps of one grid.

    Both are figures (dicts) of `figures.maps.field_map`. Where one was sent with fewer pixels than the other, as
    previews are, its nearest pixel stands for what was left out. Units are those of the second.
    """
    a, b = _heat(first), _heat(second)
    if a is None or b is None or first["layout"].get("uirevision") != second["layout"].get("uirevision"):
        return None
    values, finer = _subtracted(a, b)
    limit = float(f"{np.nanmax(np.abs(values), initial=0.0):.2g}") or 1e-12
    scale = MapScale("B − A", second["layout"].get("meta", {}).get("units", ""), "diverging", -limit, limit)
    figure = copy.deepcopy(second)
    heat = _heat(figure)
    assert heat is not None
    for name in ("x", "y", "x0", "y0", "dx", "dy"):
        heat.pop(name, None)
        if name in finer:
            heat[name] = finer[name]
    places, words = zip(*scale.ticks(scale.extend(values)), strict=True)
    heat |= {"z": compact(values), "zmin": -limit, "zmax": limit, "colorscale": colour_scale("diverging")}
    heat["colorbar"] = heat["colorbar"] | {"tickvals": places, "ticktext": words}
    layout = figure["layout"]
    layout["shapes"] = []
    layout["title"] = (layout.get("title") or {}) | {"text": title}
    for note in layout.get("annotations", []):
        note["text"] = scale.label
    alt = f"Map of B minus A; colour scale from {number(-limit, 4)} to {number(limit, 4)}."
    layout["meta"] = layout.get("meta", {}) | {"alt": alt}
    return figure


def numbers(coded: Any) -> np.ndarray:
    """A figure's values: a list, or an array as `deconditioning.figures.style.compact` writes it."""
    if not isinstance(coded, dict):
        return np.asarray(coded, dtype=float)
    flat = np.frombuffer(base64.b64decode(coded["bdata"]), dtype=f"<{coded['dtype']}").astype(float)
    return flat.reshape([int(n) for n in coded["shape"].split(",")]) if "shape" in coded else flat


def _heat(figure: Figure) -> dict[str, Any] | None:
    if figure["layout"].get("meta", {}).get("role") != "map":
        return None
    return next((trace for trace in figure["data"] if trace.get("type") == "heatmap"), None)


def _subtracted(a: dict[str, Any], b: dict[str, Any]) -> tuple[np.ndarray, dict[str, Any]]:
    """b − a at the pixels of the one that has more of them, and that one's trace."""
    first, second = numbers(a["z"]), numbers(b["z"])
    finer = a if first.size > second.size else b
    y, x = (_centres(finer, name, size) for name, size in zip("yx", numbers(finer["z"]).shape, strict=True))
    return _at(b, second, y, x) - _at(a, first, y, x), finer


def _centres(trace: dict[str, Any], name: str, size: int) -> np.ndarray:
    if name in trace:
        return numbers(trace[name])
    return trace[f"{name}0"] + trace[f"d{name}"] * np.arange(size)


def _at(trace: dict[str, Any], values: np.ndarray, y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Values at the pixels that are nearest to these coordinates."""
    rows, columns = (
        np.abs(_centres(trace, name, size)[None, :] - positions[:, None]).argmin(1)
        for name, size, positions in zip("yx", values.shape, (y, x), strict=True)
    )
    return values[np.ix_(rows, columns)]
