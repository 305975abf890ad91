"""Pictures of the swiss roll: points in space, its side with the slices, and a table of models as dots."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deconditioning.figures.colours import Colours, hue, mark_scale, model_colour, model_name
from deconditioning.figures.style import INK, MISSING, Figure, axis, compact, layout

_TITLES = {"x": "x", "y": "width", "z": "height"}
#: So many points are drawn as discs.
_MOST_DISCS = 2500
_CAMERA = {"eye": {"x": 0.98, "y": -1.62, "z": 0.64}, "center": {"x": 0, "y": 0, "z": -0.12}}


#: The scale beside the bars of the means, which stand at the right edge.
_SCALE = {"title": {"text": "mean t", "font": {"size": 11}}, "thickness": 9, "len": 0.9, "tickfont": {"size": 11},
          "outlinewidth": 0, "nticks": 6}  # fmt: skip


def _markers(
    values: np.ndarray, colours: Colours, limits: tuple[float, float], label: str, size: float, dark: bool
) -> dict[str, Any]:
    bar = {
        "title": {"text": label, "side": "bottom", "font": {"size": 11}}, "orientation": "h", "thickness": 9,
        "len": 0.82, "y": -0.03, "yanchor": "top", "ypad": 2, "tickfont": {"size": 11}, "outlinewidth": 0, "nticks": 6,
    }  # fmt: skip
    return {
        "size": size, "color": compact(values), "colorscale": mark_scale(colours, dark), "cmin": float(limits[0]),
        "cmax": float(limits[1]), "colorbar": bar, "showscale": True, "line": {"width": 0},
    }  # fmt: skip


def roll_in_space(
    inputs: np.ndarray,
    values: np.ndarray,
    *,
    title: str,
    label: str,
    colours: Colours,
    limits: tuple[float, float],
    height: int = 400,
    dark: bool = False,
) -> Figure:
    """Points (N, 3) coloured by ``values`` (N,); the third coordinate points up."""
    markers = _markers(values, colours, limits, label, 1.9, dark)
    if len(values) > _MOST_DISCS:
        markers["symbol"] = "square"  # two triangles, a disc has dozens
    x, y, z = (compact(column) for column in inputs.T)
    trace = {
        "type": "scatter3d", "mode": "markers", "x": x, "y": y, "z": z, "marker": markers,
        "hovertemplate": label + " %{marker.color:.3f}<br>height %{z:.2f}<extra></extra>",
    }  # fmt: skip
    picture = layout(title, height=height, dark=dark)
    bare = {
        "showbackground": False, "gridcolor": MISSING[dark], "linecolor": MISSING[dark], "showline": True,
        "zeroline": False, "tickfont": {"size": 12}, "tickangle": 0, "nticks": 4,
    }  # fmt: skip
    titles = {f"{name}axis": bare | {"title": {"text": title, "font": {"size": 13}}} for name, title in _TITLES.items()}
    picture["scene"] = titles | {"camera": _CAMERA, "aspectmode": "cube", "uirevision": "roll"}
    picture["margin"] = {"l": 0, "r": 0, "t": 34, "b": 58}
    picture["meta"]["alt"] = (
        f"{title}: {len(values)} points of a swiss roll, coloured by {label.lower()}, from {np.min(values):.2f} to "
        f"{np.max(values):.2f}."
    )
    return {"data": [trace], "layout": picture}


def roll_from_the_side(
    inputs: np.ndarray,
    number: np.ndarray,
    heights: np.ndarray,
    means: np.ndarray,
    axes: tuple[Sequence[int], Sequence[int]],
    limits: tuple[float, float],
    *,
    height: int = 400,
    dark: bool = False,
) -> Figure:
    """The roll's cross-section cut into slices: points where a slice keeps them, its mean as a coloured bar.

    One slice with points, that at the middle height, is marked: it cuts several windings.

    Parameters
    ----------
    inputs : (N, 3).  number : (N,) slice of each point.  heights, means : (S,) of each slice.
    axes : slices whose points are seen, slices whose means are seen.
    """
    traces = _side_view(inputs, number, heights, axes[0], dark)
    chosen = np.asarray(axes[1])
    bars = _markers(means[chosen], "sequential", limits, "t", 8, dark)
    bars["colorbar"] = _SCALE
    traces.append(
        {
            "type": "scatter", "mode": "markers", "x": compact(np.zeros(len(chosen))), "xaxis": "x2",
            "y": compact(heights[chosen]), "marker": bars | {"symbol": "square"},
            "hovertemplate": "slice at height %{y:.2f}: mean %{marker.color:.3f}<extra></extra>",
        }
    )  # fmt: skip
    picture = layout("Known: points in slices, mean t of each", height=height, dark=dark)
    picture["margin"] = {"l": 46, "r": 44, "t": 34, "b": 42}
    bare = {"automargin": False, "showgrid": False, "zeroline": False}
    picture["xaxis"] = axis("x, the roll seen from the side", dark, domain=[0, 0.84], **bare)
    picture["xaxis2"] = axis("", dark, domain=[0.88, 1], showline=False, range=[-1, 1], tickvals=[], **bare)
    picture["yaxis"] = axis("height", dark, **bare)
    picture["meta"]["alt"] = (
        f"Side view of the roll: {len(heights)} horizontal slices, {len(axes[0])} with points, {len(chosen)} with a "
        "mean."
    )
    return {"data": traces, "layout": picture}


def _side_view(
    inputs: np.ndarray, number: np.ndarray, heights: np.ndarray, kept: Sequence[int], dark: bool
) -> list[dict[str, Any]]:
    """Points of the slices that keep them, of the others, and of the one at the middle height."""
    with_points, places = np.isin(number, np.asarray(kept)), np.asarray(kept)
    marked = number == places[np.argmin(np.abs(heights[places] - np.median(heights[places])))]
    groups = (
        (with_points & ~marked, INK[dark], 3),
        (~with_points, hue("grey", dark), 1.5),
        (marked, hue("rust", dark), 7),
    )
    return [
        {
            "type": "scattergl", "mode": "markers", "x": compact(inputs[mask, 0]), "y": compact(inputs[mask, 2]),
            "marker": {"size": size, "color": colour}, "hoverinfo": "skip",
        }
        for mask, colour, size in groups
    ]  # fmt: skip


def model_dots(
    rows: Sequence[Mapping[str, Any]],
    *,
    title: str,
    score: str,
    height: int | None = None,
    dark: bool = False,
) -> Figure:
    """One line a model: our mean ± sd as a dot with a bar, the paper's as a hollow diamond.

    Parameters
    ----------
    rows : ``{"model", "mean", "sd", "paper": (mean, sd) or None}``, as ``table_rows`` gives them.
    """
    known = [row for row in rows if row["mean"] is not None]
    names = [model_name(row["model"]) for row in known]
    ours = {
        "type": "scatter", "mode": "markers", "x": [row["mean"] for row in known], "y": names, "name": "ours",
        "marker": {"size": 10, "color": [model_colour(row["model"], dark) for row in known]},
        "error_x": {"array": [row["sd"] or 0 for row in known], "color": INK[dark], "thickness": 1, "width": 3},
        "hovertemplate": "%{y}: %{x:.3f} ± %{error_x.array:.3f}<extra>ours</extra>",
    }  # fmt: skip
    printed = [row for row in known if row.get("paper")]
    paper = {
        "type": "scatter", "mode": "markers", "x": [row["paper"][0] for row in printed],
        "y": [model_name(row["model"]) for row in printed], "name": "printed in the paper",
        "marker": {"size": 10, "symbol": "diamond-open", "color": INK[dark]},
        "hovertemplate": "%{y}: %{x:.2f}<extra>paper</extra>",
    }  # fmt: skip
    picture = layout(title, height=height or 110 + 30 * len(known), dark=dark, showlegend=bool(printed))
    picture["margin"] = {"l": 118, "r": 12, "t": 56 if printed else 34, "b": 42}
    picture["xaxis"] = axis(score, dark, automargin=False, rangemode="tozero")
    picture["yaxis"] = axis("", dark, automargin=False, autorange="reversed", showgrid=False)
    listed = ", ".join(f"{name} {row['mean']:.2f}" for name, row in zip(names, known, strict=True))
    picture["meta"]["alt"] = f"{title}: {score} of {listed}."
    return {"data": [ours, paper] if printed else [ours], "layout": picture}
