"""Scores over swept settings: a curve for one, a heat map for two; as PNG for a list of runs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deconditioning.figures.colours import colour_scale, series_colour
from deconditioning.figures.printed.thumbnail import curve_thumbnail, field_thumbnail
from deconditioning.figures.style import DARK, LIGHT, Figure, axis, compact, hover_numbers, layout
from deconditioning.wording import number

_Values = Mapping[str, float]
#: Marks: the best score, what is chosen without a truth, where the sliders stand.
_MARKS = ("star", "diamond", "circle")
#: Values of a setting up to which each has its tick.
_MOST_TICKS = 6
#: Pixels that a thumbnail gives each of so many settings a side.
_PIXELS = 12


def sweep_plot(
    rows: Sequence[Mapping[str, Any]], score: str, title: str, places: Mapping[str, _Values | None], *,
    log: Sequence[bool], names: Mapping[str, str] | None = None, falls: bool = False, dark: bool = False,
    height: int = 260,
) -> Figure:  # fmt: skip
    """One score over one or two settings.

    Parameters
    ----------
    rows : of a sweep; a score that a row lacks leaves a gap.
    places : words → settings that are marked with `_MARKS`, in their order; None if there is none.
    log : of each axis, in the rows' order.  names : what settings are called on the axes.
    falls : the score falls without end away from its best: the lowest tenth of a map shares a colour.
    """
    keys = list(rows[0]["values"])
    titles = [(names or {}).get(key, key) for key in keys]
    picture = layout(title, height=height, dark=dark, showlegend=False)
    picture["margin"] = {"l": 56, "r": 8, "t": 36, "b": 46}
    traces = [_curve(rows, score, keys[0], dark)] if len(keys) == 1 else [_heat(rows, score, keys, falls)]
    for (words, values), symbol, size in zip(places.items(), _MARKS, (14, 12, 10), strict=False):
        at = _position(rows, score, keys, values, log[0])
        if at is not None:
            traces.append(_mark(at, symbol, words, size))
    kinds = ["log" if each else "linear" for each in log]
    ticks = [_ticks(rows, key) for key in keys]
    picture["xaxis"] = axis(titles[0], dark, type=kinds[0], **ticks[0])
    picture["yaxis"] = axis(titles[1], dark, type=kinds[1], **ticks[1]) if len(keys) == 2 else axis("", dark)
    known = [row[score] for row in rows if row.get(score) is not None]
    span = f"from {number(min(known), 4)} to {number(max(known), 4)}" if known else "nowhere known"
    picture["meta"]["alt"] = f"{title} over {' and '.join(titles)}, {len(rows)} settings, {span}."
    return {"data": traces, "layout": picture}


def _ticks(rows: Sequence[Mapping[str, Any]], name: str) -> dict[str, Any]:
    """A tick at every value of a setting, where they are few."""
    values = sorted({row["values"][name] for row in rows})
    if len(values) > _MOST_TICKS:
        return {}
    return {"tickmode": "array", "tickvals": values, "ticktext": [number(value) for value in values]}


def _curve(rows: Sequence[Mapping[str, Any]], score: str, name: str, dark: bool) -> dict[str, Any]:
    y = np.array([np.nan if row.get(score) is None else row[score] for row in rows], dtype=float)
    return {
        "type": "scatter", "mode": "lines+markers", "x": compact(np.array([row["values"][name] for row in rows]), "f8"),
        "y": compact(y, "f8"), "line": {"color": series_colour(0, dark), "width": 2}, "name": score,
    } | hover_numbers(y, "%{x}: ", "<extra></extra>", 5)  # fmt: skip


def table_of(rows: Sequence[Mapping[str, Any]], score: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values of the first and second hyperparameter, ascending, and the score (second, first); NaN where missing."""
    first, second = list(rows[0]["values"])
    x, y = (sorted({row["values"][name] for row in rows}) for name in (first, second))
    z = np.full((len(y), len(x)), np.nan)
    for row in rows:
        if row.get(score) is not None:
            z[y.index(row["values"][second]), x.index(row["values"][first])] = row[score]
    return np.array(x), np.array(y), z


def _heat(rows: Sequence[Mapping[str, Any]], score: str, names: Sequence[str], falls: bool) -> dict[str, Any]:
    x, y, z = table_of(rows, score)
    known = z[np.isfinite(z)]
    low = float(np.quantile(known, 0.1)) if known.size and falls else None
    return {
        "type": "heatmap", "x": x.tolist(), "y": y.tolist(), "z": compact(z, "f8"), "zmin": low,
        "colorscale": colour_scale("sequential"), "colorbar": {"thickness": 9, "outlinewidth": 0}, "hoverongaps": False,
        "zmax": float(known.max()) if low is not None else None, "name": score,
    } | hover_numbers(z, "%{x}, %{y}: ", "<extra></extra>", 5)  # fmt: skip


def _position(
    rows: Sequence[Mapping[str, Any]], score: str, names: Sequence[str], values: _Values | None, log: bool
) -> tuple[float, float] | None:
    if values is None or any(name not in values or (log and values[name] <= 0) for name in names[:1]):
        return None
    if len(names) == 2:
        return values[names[0]], values[names[1]]
    scale = np.log if log else float
    near = min(rows, key=lambda row: abs(scale(row["values"][names[0]]) - scale(values[names[0]])))
    return (values[names[0]], float(near[score])) if near.get(score) is not None else None


def _mark(at: tuple[float, float], symbol: str, words: str, size: int) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "markers", "x": [at[0]], "y": [at[1]], "name": words,
        "marker": {"symbol": symbol, "size": size, "color": LIGHT, "line": {"width": 1.5, "color": DARK}},
        "hovertemplate": f"{words}<extra></extra>",
    }  # fmt: skip


def sweep_thumbnail(rows: Sequence[Mapping[str, Any]], score: str) -> bytes:
    """A PNG of a score: a curve over one setting, a map over two. Raises ``InputError`` if nothing is known yet."""
    if len(rows[0]["values"]) == 1:
        return curve_thumbnail([row.get(score) for row in rows])
    table = table_of(rows, score)[2]
    return field_thumbnail(np.kron(table, np.ones((_PIXELS, _PIXELS))))
