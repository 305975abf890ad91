"""Scores over swept hyperparameters: a curve for one, a heat map for two; small maps side by side."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.figures.colours import colour_scale, series_colour
from core.figures.style import DARK, LIGHT, Figure, axis, compact, layout, literal

Values = Mapping[str, float]
#: Marks: the best score, the evidence's optimum, where the sliders stand.
MARKS = (("star", "best here"), ("diamond", "the evidence's choice"), ("circle", "the sliders"))


def sweep_plot(
    rows: Sequence[Mapping[str, Any]], score: str, title: str, places: Sequence[Values | None], *, log: Sequence[bool],
    dark: bool = False, height: int = 260,
) -> Figure:  # fmt: skip
    """One score over one or two hyperparameters.

    Parameters
    ----------
    rows : of `core.downscaling.sweep`; a score that a row lacks leaves a gap.
    places : settings that are marked (`MARKS`), None where there is none.  log : of each axis, in the rows' order.
    """
    names = list(rows[0]["values"])
    picture = layout(title, height=height, dark=dark, showlegend=False)
    picture["margin"] = {"l": 56, "r": 8, "t": 36, "b": 46}
    traces = [_curve(rows, score, names[0], dark)] if len(names) == 1 else [_heat(rows, score, names)]
    for (symbol, words), values, size in zip(MARKS, places, (14, 12, 10), strict=True):
        at = _place(rows, score, names, values)
        if at is not None:
            traces.append(_mark(at, symbol, words, size))
    kinds = ["log" if each else "linear" for each in log]
    picture["xaxis"] = axis(names[0], dark, type=kinds[0])
    picture["yaxis"] = axis(
        names[1] if len(names) == 2 else "", dark, **({"type": kinds[1]} if len(names) == 2 else {})
    )
    known = [row[score] for row in rows if row.get(score) is not None]
    span = f"from {min(known):.4g} to {max(known):.4g}" if known else "nowhere known"
    picture["meta"]["alt"] = f"{title} over {' and '.join(names)}, {len(rows)} settings, {span}."
    return {"data": traces, "layout": picture}


def _curve(rows: Sequence[Mapping[str, Any]], score: str, name: str, dark: bool) -> dict[str, Any]:
    y = np.array([np.nan if row.get(score) is None else row[score] for row in rows], dtype=float)
    return {
        "type": "scatter", "mode": "lines+markers", "x": compact(np.array([row["values"][name] for row in rows]), "f8"),
        "y": compact(y, "f8"), "line": {"color": series_colour(0, dark), "width": 2}, "name": score,
        "hovertemplate": "%{x:.4g}: %{y:.5g}<extra></extra>",
    }  # fmt: skip


def table_of(rows: Sequence[Mapping[str, Any]], score: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values of the first and second hyperparameter, ascending, and the score (second, first); NaN where missing."""
    first, second = list(rows[0]["values"])
    x, y = (sorted({row["values"][name] for row in rows}) for name in (first, second))
    z = np.full((len(y), len(x)), np.nan)
    for row in rows:
        if row.get(score) is not None:
            z[y.index(row["values"][second]), x.index(row["values"][first])] = row[score]
    return np.array(x), np.array(y), z


def _heat(rows: Sequence[Mapping[str, Any]], score: str, names: Sequence[str]) -> dict[str, Any]:
    x, y, z = table_of(rows, score)
    known = z[np.isfinite(z)]
    low = float(np.quantile(known, 0.1)) if known.size and score == "evidence" else None  # it falls without end
    return {
        "type": "heatmap", "x": x.tolist(), "y": y.tolist(), "z": compact(z, "f8"), "zmin": low,
        "colorscale": colour_scale("sequential"), "colorbar": {"thickness": 9, "outlinewidth": 0}, "hoverongaps": False,
        "zmax": float(known.max()) if low is not None else None, "name": score,
        "hovertemplate": "%{x:.4g}, %{y:.4g}: %{z:.5g}<extra></extra>",
    }  # fmt: skip


def _place(
    rows: Sequence[Mapping[str, Any]], score: str, names: Sequence[str], values: Values | None
) -> tuple[float, float] | None:
    if values is None or any(name not in values for name in names):
        return None
    if len(names) == 2:
        return values[names[0]], values[names[1]]
    near = min(rows, key=lambda row: abs(np.log(row["values"][names[0]] / values[names[0]])))
    return (values[names[0]], float(near[score])) if near.get(score) is not None else None


def _mark(at: tuple[float, float], symbol: str, words: str, size: int) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "markers", "x": [at[0]], "y": [at[1]], "name": words,
        "marker": {"symbol": symbol, "size": size, "color": LIGHT, "line": {"width": 1.5, "color": DARK}},
        "hovertemplate": f"{words}<extra></extra>",
    }  # fmt: skip


def small_multiples(maps: Sequence[np.ndarray], words: Sequence[str], columns: int, *, dark: bool = False) -> Figure:
    """Small maps (h, w), rows from south to north, on one scale 0 … 1, ``columns`` in a row, each with its words."""
    rows, (height, width) = -(-len(maps) // columns), maps[0].shape
    gap, room = max(2, width // 20), max(5, height // 7)
    sheet = np.full((rows * (height + room), columns * (width + gap)), np.nan)
    notes = []
    for index, (each, word) in enumerate(zip(maps, words, strict=True)):
        row, column = divmod(index, columns)
        bottom, left = (rows - 1 - row) * (height + room), column * (width + gap)
        sheet[bottom : bottom + height, left : left + width] = each
        notes.append({"x": left, "y": bottom + height, "text": literal(word), "xanchor": "left", "yanchor": "bottom",
                      "showarrow": False, "font": {"size": 11}})  # fmt: skip
    pixels = int(np.clip(900 / columns * (height + room) / (width + gap), 60, 120))
    picture = layout("", height=pixels * rows + 10, dark=dark, showlegend=False, annotations=notes)
    picture["margin"] = {"l": 0, "r": 0, "t": 16, "b": 0}
    for name in ("xaxis", "yaxis"):
        picture[name] = axis(dark=dark, visible=False, constrain="domain")
    picture["yaxis"] |= {"scaleanchor": "x"}
    heat = {"type": "heatmap", "z": compact(sheet), "zmin": 0, "zmax": 1, "colorscale": colour_scale("sequential"),
            "showscale": False, "hoverinfo": "skip"}  # fmt: skip
    picture["meta"]["alt"] = f"{len(maps)} small maps of the posterior mean on one colour scale: {'; '.join(words)}."
    return {"data": [heat], "layout": picture}
