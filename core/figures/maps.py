"""Field maps: one heat map on the grid's own coordinates with its coastline."""

from typing import Any

import numpy as np

from core.errors import InputError
from core.fields import sphere
from core.fields.grid import Grid
from core.figures.colours import Colours, colour_scale, limits_for
from core.figures.projection import coast_on, frame
from core.figures.style import COAST, INK, MISSING, Figure, axis, compact, layout

NODES = 40


def field_map(
    values: np.ndarray,
    grid: Grid,
    *,
    title: str = "",
    label: str = "",
    units: str = "",
    colours: Colours = "sequential",
    limits: tuple[float, float] | None = None,
    coast: bool = True,
    dark: bool = False,
    height: int = 460,
    outline: tuple[float, float, float, float] | None = None,
    ticks: bool = False,
    every: int = 1,
) -> Figure:
    """Map of a field on its grid, as a plotly figure (dict).

    Parameters
    ----------
    values : (H, W) field; NaN is missing and drawn grey. Sent as float32.
    grid : its grid, y and x ascending; the picture is in native coordinates (degrees, rotated degrees, metres).
    title : short heading of the panel.
    label, units : what the colour bar shows and in what, such as "Air temperature" and "K".
    colours : "sequential" for fields, "diverging" for errors (symmetric about 0), "uncertainty" for sd (from 0).
    limits : colour limits; give the same to every map of the same quantity (`colours.shared_limits`).
    outline : frame (x0, x1, y0, y1) of a cell to mark, in native coordinates.
    ticks : whether the native axes are labelled.
    every : send only every so many-th row and column, drawn that much larger (a preview).
    """
    shape = (len(grid.y), len(grid.x))
    if np.shape(values) != shape:
        raise InputError(f"`values` has shape {np.shape(values)}, the grid is {shape}: give one value per pixel.")
    low, high = limits if limits is not None else limits_for(colours, values)
    x0, x1, y0, y1 = bounds = frame(grid)
    picture = layout(title, height=height, dark=dark, role="map", plot_bgcolor=MISSING[dark])
    picture["margin"] = {"l": 46 if ticks else 2, "r": 2, "t": 30 if title else 6, "b": 76 if ticks else 56}
    stretch = _stretch(grid)
    picture["xaxis"] = _map_axis(x0, x1, ticks, dark)
    picture["yaxis"] = _map_axis(y0, y1, ticks, dark) | {"scaleanchor": "x", "scaleratio": stretch}
    picture["uirevision"] = " ".join(f"{edge:.6g}" for edge in bounds)
    bar = f"{label} ({units})" if label and units else label or units
    shown = f"{title}: {bar}" if title and bar else title or bar or "field"
    alt = f"Map, {shown}; colour scale from {low:.4g} to {high:.4g}."
    aspect = (y1 - y0) * stretch / (x1 - x0)
    picture["meta"] |= {"alt": alt, "aspect": round(aspect, 4), "units": units, "place": _place(grid)}
    picture["annotations"] = [_below(bar, 58 if ticks else 38)] if bar else []
    if outline is not None:
        picture["shapes"] = [_outline(outline)]
    traces = [_heat(values, grid, units, colours, (low, high), every)]
    return {"data": traces + ([_coast(grid)] if coast else []), "layout": picture}


def _heat(
    values: np.ndarray, grid: Grid, units: str, colours: Colours, limits: tuple[float, float], every: int
) -> dict[str, Any]:
    bar = {
        "orientation": "h", "thickness": 9, "len": 0.92, "x": 0.5, "y": 0, "yanchor": "top", "ypad": 8, "xpad": 0,
        "outlinewidth": 0, "ticks": "", "nticks": 5, "tickfont": {"size": 11},
    }  # fmt: skip
    where = "lat %{y:.2f}° lon %{x:.2f}°" if grid.kind == "latlon" else "y %{y:.6~g} x %{x:.6~g}"
    return {
        "type": "heatmap", "z": compact(_thinned(values, every)), "zmin": limits[0], "zmax": limits[1],
        "colorscale": colour_scale(colours), "colorbar": bar, "hoverongaps": False,
        "hovertemplate": f"%{{z:.5~g}} {units}<br>{where}<extra></extra>",
        "name": "field", **_coordinates("x", grid.x, every), **_coordinates("y", grid.y, every),
    }  # fmt: skip


def _thinned(values: np.ndarray, every: int) -> np.ndarray:
    """The first value that is not missing of every square of ``every``² pixels."""
    found = np.array(values[::every, ::every], dtype=float)
    for row, column in np.ndindex(every, every):
        part = values[row::every, column::every]
        here = found[: part.shape[0], : part.shape[1]]
        np.copyto(here, part, where=np.isnan(here))
    return found


def _coordinates(name: str, centres: np.ndarray, every: int) -> dict[str, Any]:
    """Start and step where the spacing is even (plotly then paints pixels directly), else all centres."""
    c = np.asarray(centres, dtype=float)
    step = (c[-1] - c[0]) / max(len(c) - 1, 1) or 1.0
    if len(c) == 1 or np.allclose(np.diff(c), step, rtol=2e-3, atol=0):
        return {f"{name}0": float(c[0] + 0.5 * (every - 1) * step), f"d{name}": float(every * step)}
    groups = [c[begin : begin + every].mean() for begin in range(0, len(c), every)]
    return {name: compact(np.array(groups), "f8")}


def _coast(grid: Grid) -> dict[str, Any]:
    """The coastline as one SVG line: browsers allow 16 WebGL contexts a page, a WebGL trace takes three."""
    x, y = coast_on(grid)
    line = {"color": COAST[False], "width": 0.9, "simplify": True}
    return {
        "type": "scatter", "mode": "lines", "x": compact(x), "y": compact(y), "line": line, "connectgaps": False,
        "hoverinfo": "skip", "name": "coast", "meta": {"role": "coast"},
    }  # fmt: skip


def _map_axis(low: float, high: float, ticks: bool, dark: bool) -> dict[str, Any]:
    more: dict[str, Any] = {"range": [low, high], "constrain": "domain", "showgrid": False, "zeroline": False}
    return axis(dark=dark, **more, showticklabels=ticks, nticks=5, automargin=False)


def _below(text: str, shift: int) -> dict[str, Any]:
    """A line of text under the colour bar (a colour bar's own title moves the map)."""
    where = {"xref": "paper", "x": 0.5, "yref": "paper", "y": 0, "yshift": -shift, "yanchor": "top"}
    return where | {"text": text, "showarrow": False, "font": {"size": 11}}


def _stretch(grid: Grid) -> float:
    """Height of a unit of y over width of a unit of x: a degree of longitude shrinks by cos φ on regional grids."""
    if grid.kind != "latlon":
        return 1.0 if grid.kind in ("rotated", "projected") else _curvilinear_stretch(grid)
    middle, spread = (grid.y[0] + grid.y[-1]) / 2, np.ptp(grid.y)
    return 1.0 if spread > 90 else round(1 / max(float(np.cos(np.deg2rad(middle))), 0.2), 4)


def _curvilinear_stretch(grid: Grid) -> float:
    (x0, x1, y0, y1), (rows, cols) = frame(grid), grid.latitude.shape
    return (x1 - x0) / (y1 - y0) * rows / cols


def _place(grid: Grid) -> dict[str, Any] | None:
    """A lattice of unit vectors from which the browser tells the latitude and longitude of any pixel.

    Between nodes the vectors are interpolated and normalised, which has neither date line nor poles.
    On a latitude-longitude grid the native coordinates say it already, and None is returned.
    """
    if grid.kind == "latlon":
        return None
    rows, cols = (np.unique(np.linspace(0, n - 1, min(n, NODES)).round().astype(int)) for n in grid.latitude.shape)
    vectors = sphere.unit_vectors(grid.latitude[np.ix_(rows, cols)], grid.longitude[np.ix_(rows, cols)])
    return {
        "y": compact(np.asarray(grid.y)[rows], "f8"),
        "x": compact(np.asarray(grid.x)[cols], "f8"),
        "vectors": compact(vectors.reshape(-1, 3)),
    }


def _outline(box: tuple[float, float, float, float]) -> dict[str, Any]:
    x0, x1, y0, y1 = box
    line = {"color": INK[False], "width": 1.6}
    return {"type": "rect", "x0": x0, "x1": x1, "y0": y0, "y1": y1, "line": line, "fillcolor": "rgba(255,255,255,0.25)"}
