"""How many times faster than a yardstick: one line a task, a dot a size, on a log axis."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from deconditioning.figures.colours import GROUND, hue, series_colour
from deconditioning.figures.style import INK, Figure, axis, layout, log_axis
from deconditioning.wording import number

_LINE = 38


def plain_ratio(value: float) -> str:
    """A ratio with two or three digits that mean something: 2.6×, 94×, 16,900×."""
    digits = 2 if value < 100 else 3
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:,.0f}×" if rounded >= 10 else f"{number(rounded, 6)}×"


def ratio_dots(rows: Sequence[tuple[str, str, float]], *, dark: bool = False) -> Figure:
    """Dots of ratios (yardstick over ours), given as (what, size, ratio); 1 means as fast as the yardstick.

    Rows of the same ``what`` share a line; its largest ratio is written at the dot.
    """
    whats = list(dict.fromkeys(what for what, _, _ in rows))
    best = {what: max(ratio for name, _, ratio in rows if name == what) for what in whats}
    values = np.array([1.0, *(ratio for _, _, ratio in rows)])
    picture = layout("", height=64 + _LINE * max(len(whats), 1), dark=dark)
    picture["margin"] = {"l": 8, "r": 56, "t": 6, "b": 48}
    picture["xaxis"] = axis("times faster than a plain implementation", dark, automargin=False) | log_axis(values)
    powers = [10.0**n for n in range(int(np.floor(np.log10(values.min()))), int(np.ceil(np.log10(values.max()))) + 1)]
    picture["xaxis"] |= {"tickvals": powers, "ticktext": [number(each) for each in powers]}
    picture["yaxis"] = axis("", dark, automargin=False, showticklabels=False, showgrid=False, zeroline=False)
    picture["yaxis"] |= {"range": [len(whats) - 0.4, -0.75], "fixedrange": True}
    picture["annotations"] = [_label(what, index, dark) for index, what in enumerate(whats)]
    picture["shapes"] = [_same(dark)]
    summary = ", ".join(f"{what} {plain_ratio(best[what])}" for what in whats)
    picture["meta"]["alt"] = (
        f"Ratios of the time of a plain implementation to ours on a log scale, the largest of each task: {summary}."
    )
    marks: dict[str, Any] = {
        "type": "scatter", "mode": "markers+text", "x": [ratio for _, _, ratio in rows],
        "y": [whats.index(what) for what, _, _ in rows], "marker": {"size": 10, "color": series_colour(0, dark)},
        "text": [plain_ratio(ratio) if ratio == best[what] else "" for what, _, ratio in rows],
        "textposition": "middle right", "textfont": {"size": 12, "color": INK[dark]}, "cliponaxis": False,
        "customdata": [[what, size, plain_ratio(ratio)] for what, size, ratio in rows],
        "hovertemplate": "%{customdata[0]}<br>%{customdata[1]}: %{customdata[2]}<extra></extra>",
    }  # fmt: skip
    return {"data": [*_lines(whats, rows, dark), marks], "layout": picture}


def _lines(whats: list[str], rows: Sequence[tuple[str, str, float]], dark: bool) -> list[dict[str, Any]]:
    """A thin line from the yardstick to the farthest dot of each task."""
    far = [max((ratio for name, _, ratio in rows if name == what), key=lambda r: abs(np.log(r))) for what in whats]
    return [
        {"type": "scatter", "mode": "lines", "x": [1, ratio], "y": [index, index], "hoverinfo": "skip",
         "line": {"color": hue("grey", dark), "width": 2}}
        for index, ratio in enumerate(far)
    ]  # fmt: skip


def _label(what: str, index: int, dark: bool) -> dict[str, Any]:
    where = {"xref": "paper", "x": 0, "xanchor": "left", "yref": "y", "y": index, "yanchor": "bottom", "yshift": 5}
    return where | {"text": what, "showarrow": False, "font": {"size": 12}, "align": "left", "bgcolor": GROUND[dark]}


def _same(dark: bool) -> dict[str, Any]:
    line = {"color": INK[dark], "width": 1, "dash": "dot"}
    return {
        "type": "line",
        "xref": "x",
        "x0": 1,
        "x1": 1,
        "yref": "paper",
        "y0": 0,
        "y1": 1,
        "line": line,
        "layer": "below",
    }
