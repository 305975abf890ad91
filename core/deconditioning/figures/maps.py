"""Field maps: one heat map on the grid's own coordinates with its coastline."""

from typing import Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.grids import sphere
from deconditioning.fields.grids.grid import Grid
from deconditioning.figures import descriptions
from deconditioning.figures.colours import colour_scale, hue
from deconditioning.figures.map_panel import Extend, MapScale, Panel
from deconditioning.figures.places import cities_on
from deconditioning.figures.projection import coast_on, frame
from deconditioning.figures.style import DARK, LIGHT, MISSING, Figure, axis, compact, layout, literal, rimmed_line
from deconditioning.wording import number

_NODES = 40
#: Thickness of a colour bar and its distance from the map in pixels; its length as a share of the map's width.
_THICK, _PAD, _LONG = 9, 8, 0.9
#: Width of the rim without which an end of the bar as dark or light as the page would vanish.
_RIM = 0.8
_BEYOND = {
    "neither": "",
    "min": ", values below it clipped",
    "max": ", values above it clipped",
    "both": ", values beyond it clipped",
}


def field_map(panel: Panel, *, dark: bool = False, height: int = 460, every: int = 1) -> Figure:
    """Map of a field on its grid's own coordinates (degrees, rotated degrees, metres), as a plotly figure (dict).

    Parameters
    ----------
    panel : the field with its title and scale; NaN is missing and drawn grey. Sent as float32.
    every : send only every so many-th row and column, drawn that much larger (a preview).

    Raises ``InputError`` for values of another shape than the grid's.
    """
    grid, scale = panel.grid, panel.scale
    if np.shape(panel.values) != grid.shape:
        result = np.shape(panel.values)
        raise InputError(f"`values` has shape {result}, but the grid is {grid.shape}: give one value per pixel.")
    x0, x1, y0, y1 = bounds = frame(grid)
    picture = layout(panel.title, height=height, dark=dark, role="map", plot_bgcolor=MISSING[dark])
    picture["margin"] = {"l": 2, "r": 2, "t": 30 if panel.title else 6, "b": 56}
    stretch, extend = stretch_of(grid), scale.extend(panel.values)
    picture["xaxis"] = _map_axis(x0, x1, dark)
    picture["yaxis"] = _map_axis(y0, y1, dark) | {"scaleanchor": "x", "scaleratio": stretch}
    picture["uirevision"] = " ".join(f"{edge:.6g}" for edge in bounds)
    shown = ": ".join(words for words in (panel.title, scale.label) if words) or "field"
    describe = descriptions.size_of_error if scale.low == -scale.high else descriptions.extremes
    limits = f"colour scale from {number(scale.low, 4)} to {number(scale.high, 4)}{_BEYOND[extend]}"
    values = np.asarray(panel.values, dtype=float)
    finding = describe(values)
    aspect = (y1 - y0) * stretch / (x1 - x0)
    picture["meta"] |= {
        "alt": f"Map, {shown}: {finding}; {limits}.",
        "finding": descriptions.spread(values, scale.units),
        "aspect": round(aspect, 4),
        "units": scale.units,
        "place": _coordinate_lattice(grid),
    }
    picture["annotations"] = [_below(scale.label, 38)] if scale.label else []
    picture["shapes"] = _arrows(scale, extend, dark)
    return {"data": [_heat(panel, extend, every, dark), *_coast(grid), *_cities(grid)], "layout": picture}


def _heat(panel: Panel, extend: Extend, every: int, dark: bool) -> dict[str, Any]:
    scale, grid = panel.scale, panel.grid
    places, words = zip(*scale.ticks(extend), strict=True)
    bar = {
        "orientation": "h", "thickness": _THICK, "len": _LONG, "x": 0.5, "y": 0, "yanchor": "top", "ypad": _PAD,
        "xpad": 0, "outlinewidth": _RIM, "outlinecolor": hue("grey", dark), "ticks": "", "tickvals": places,
        "ticktext": words, "tickfont": {"size": 11},
    }  # fmt: skip
    return {
        "type": "heatmap", "z": compact(thinned(panel.values, every)), "zmin": scale.low, "zmax": scale.high,
        "colorscale": colour_scale(scale.colours), "colorbar": bar, "hoverongaps": False,
        "name": "field", **coordinates("x", grid.x, every), **coordinates("y", grid.y, every),
    }  # fmt: skip


def _arrows(scale: MapScale, extend: Extend, dark: bool) -> list[dict[str, Any]]:
    """Points at the ends of the colour bar beyond which values lie, in the colours of these ends, rimmed as it is."""
    colours = colour_scale(scale.colours)
    ends = [("min", (1 - _LONG) / 2, -1, colours[0][1]), ("max", (1 + _LONG) / 2, 1, colours[-1][1])]
    rim = {"width": _RIM, "color": hue("grey", dark)}
    return [_arrow(x, side, colour) | {"line": rim} for end, x, side, colour in ends if extend in (end, "both")]


def _arrow(x: float, side: int, colour: str) -> dict[str, Any]:
    """A triangle that begins one pixel inside the bar's end at ``x`` (a share of the width)."""
    top, middle, bottom = -_PAD, -_PAD - _THICK / 2, -_PAD - _THICK
    path = f"M{-side},{top} L0,{top} L{side * _THICK},{middle} L0,{bottom} L{-side},{bottom}"
    where = {"xref": "paper", "yref": "paper", "xsizemode": "pixel", "ysizemode": "pixel", "xanchor": x, "yanchor": 0}
    return {"type": "path", "path": path, **where, "fillcolor": colour}


def thinned(values: np.ndarray, every: int) -> np.ndarray:
    """The first value that is not missing of every square of ``every``² pixels."""
    result = np.array(values[::every, ::every], dtype=float)
    for row, column in np.ndindex(every, every):
        part = values[row::every, column::every]
        target = result[: part.shape[0], : part.shape[1]]
        np.copyto(target, part, where=np.isnan(target))
    return result


def coordinates(name: str, centres: np.ndarray, every: int) -> dict[str, Any]:
    """A heat map's "x" or "y", of every so many-th pixel: start and step where these are even, else all centres."""
    c = np.asarray(centres, dtype=float)
    step = (c[-1] - c[0]) / max(len(c) - 1, 1) or 1.0
    if len(c) == 1 or np.allclose(np.diff(c), step, rtol=2e-3, atol=0):
        return {f"{name}0": float(c[0] + 0.5 * (every - 1) * step), f"d{name}": float(every * step)}
    groups = [c[begin : begin + every].mean() for begin in range(0, len(c), every)]
    return {name: compact(np.array(groups), "f8")}


def _coast(grid: Grid) -> list[dict[str, Any]]:
    """The coastline as SVG: browsers allow 16 WebGL contexts a page, a WebGL trace takes three."""
    return rimmed_line(*coast_on(grid), width=0.9, hoverinfo="skip", name="coast", meta={"role": "coast"})


def _cities(grid: Grid) -> list[dict[str, Any]]:
    """A few cities as dots with their names; nothing if the map shows none."""
    cities = cities_on(grid)
    if not cities:
        return []
    names, x, y = zip(*cities, strict=True)
    return [
        {"type": "scatter", "mode": "markers+text", "x": list(x), "y": list(y), "text": list(names), "name": "cities",
         "marker": {"size": 5, "color": DARK, "line": {"color": LIGHT, "width": 1}}, "textposition": "top center",
         "textfont": {"size": 11, "color": DARK}, "hoverinfo": "skip", "meta": {"role": "cities"}}
    ]  # fmt: skip


def add_marks(figure: Figure, traces: list[dict[str, Any]]) -> None:
    """Add marks to a map, below the names of its towns."""
    named = [trace for trace in figure["data"] if trace.get("meta", {}).get("role") == "cities"]
    figure["data"] = [trace for trace in figure["data"] if trace not in named] + traces + named


def _map_axis(low: float, high: float, dark: bool) -> dict[str, Any]:
    more: dict[str, Any] = {"range": [low, high], "constrain": "domain", "showgrid": False, "zeroline": False}
    return axis(dark=dark, **more, showticklabels=False, automargin=False)


def _below(text: str, shift: int) -> dict[str, Any]:
    """A line of text under the colour bar (a colour bar's own title moves the map)."""
    where = {"xref": "paper", "x": 0.5, "yref": "paper", "y": 0, "yshift": -shift, "yanchor": "top"}
    return where | {"text": literal(text), "showarrow": False, "font": {"size": 11}}


def stretch_of(grid: Grid) -> float:
    """Height of a unit of y over width of a unit of x: a degree of longitude shrinks by cos φ on regional grids."""
    if grid.kind != "latlon":
        return 1.0 if grid.kind in ("rotated", "projected") else _curvilinear_stretch(grid)
    middle, spread = (grid.y[0] + grid.y[-1]) / 2, np.ptp(grid.y)
    return 1.0 if spread > 90 else round(1 / max(float(np.cos(np.deg2rad(middle))), 0.2), 4)


def _curvilinear_stretch(grid: Grid) -> float:
    (x0, x1, y0, y1), (rows, cols) = frame(grid), grid.latitude.shape
    return (x1 - x0) / (y1 - y0) * rows / cols


def _coordinate_lattice(grid: Grid) -> dict[str, Any] | None:
    """A lattice of unit vectors from which the browser tells the latitude and longitude of any pixel.

    Between nodes the vectors are interpolated and normalised, which has neither date line nor poles.
    On a latitude-longitude grid the native coordinates say it already, and None is returned.
    """
    if grid.kind == "latlon":
        return None
    rows, cols = (np.unique(np.linspace(0, n - 1, min(n, _NODES)).round().astype(int)) for n in grid.latitude.shape)
    vectors = sphere.unit_vectors(grid.latitude[np.ix_(rows, cols)], grid.longitude[np.ix_(rows, cols)])
    return {
        "y": compact(np.asarray(grid.y)[rows], "f8"),
        "x": compact(np.asarray(grid.x)[cols], "f8"),
        "vectors": compact(vectors.reshape(-1, 3)),
    }
