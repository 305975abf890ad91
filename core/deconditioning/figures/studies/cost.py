"""Cost and memory of one job against its size, from the rows of a stored benchmark."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.figures.colours import series_colour
from deconditioning.figures.style import INK, Figure, axis, compact, layout, log_axis

#: The other sizes that must agree for two rows to lie on one line.
_FIXED = ("bags", "targets")


def cost_against_size(rows: Sequence[Mapping[str, Any]], *, height: int = 580, dark: bool = False) -> Figure:
    """CPU seconds of each part, and below the peak memory, against the number of pixels on log axes.

    ``rows`` are those of ``results/scale.json``: ``ours`` in seconds, ``peak_mb``, and ``more`` with ``part``,
    ``pixels``, ``bags`` and ``targets``. Rows of the same bags and targets lie on one line, whose name says how cost
    grows between its ends (a slope of 1 is linear); a size alone is a hollow diamond, in the legend by its bags and
    targets. Raises ``InputError`` without such rows.
    """
    known = [row for row in rows if {"part", "pixels", *_FIXED} <= set(row.get("more", {}))]
    if not known:
        raise InputError("These rows contain no sizes: give the rows of the benchmark `scale`.")
    parts = list(dict.fromkeys(row["more"]["part"] for row in known))
    traces: list[dict[str, Any]] = []
    for index, part in enumerate(parts):
        lines = _lines([row for row in known if row["more"]["part"] == part])
        traces += [_trace(*line, "ours", part, series_colour(index, dark)) for line in lines]
    memory = [row for row in known if row["more"]["part"] == parts[0] and row.get("peak_mb")]
    traces += [_trace(*line, "peak_mb", "peak memory", INK[dark]) | {"yaxis": "y2"} for line in _lines(memory)]
    for hover_text, of_line in _lines(memory or [row for row in known if row["more"]["part"] == parts[0]]):
        if len(of_line) == 1:
            traces.append(_in_legend(hover_text.removeprefix(" with "), INK[dark]))
    return {"data": traces, "layout": _picture(known, memory, traces, height, dark)}


def _lines(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Rows by what stays fixed, each line ordered by pixels; the longest line first."""

    def fixed(row: Mapping[str, Any]) -> tuple[int, ...]:
        """The numbers of a row that are the same along a line."""
        return tuple(int(row["more"][name]) for name in _FIXED)

    groups = [list(group) for _, group in groupby(sorted(rows, key=fixed), key=fixed)]
    ordered = [sorted(group, key=lambda row: row["more"]["pixels"]) for group in groups]
    sentences = [
        " with " + ", ".join(f"{n:,} {name}" for n, name in zip(fixed(g[0]), _FIXED, strict=True)) for g in ordered
    ]
    return sorted(zip(sentences, ordered, strict=True), key=lambda line: -len(line[1]))


def _trace(hover_text: str, rows: list[Mapping[str, Any]], value: str, name: str, colour: str) -> dict[str, Any]:
    at = np.array([row["more"]["pixels"] for row in rows], dtype=float)
    values = np.array([row[value] for row in rows], dtype=float)
    alone = len(rows) == 1
    unit = "%{y:.3~r} MB" if value == "peak_mb" else "%{y:.3~r} s"
    return {
        "type": "scatter", "mode": "markers" if alone else "lines+markers", "x": compact(at, "f8"),
        "y": compact(values, "f8"), "name": name + ("" if alone else f", slope {slope(at, values):.2f}"),
        "legendgroup": name, "showlegend": not alone, "line": {"color": colour, "width": 2},
        "marker": {"color": colour, "size": 9 if alone else 6, "symbol": "diamond-open" if alone else "circle"},
        "hovertemplate": f"{name}: {unit}, %{{x:,}} pixels{hover_text}<extra></extra>",
    }  # fmt: skip


def _in_legend(name: str, colour: str) -> dict[str, Any]:
    """An entry of the legend for the sizes that stand alone, whatever their colour."""
    marker = {"color": colour, "size": 9, "symbol": "diamond-open"}
    return {"type": "scatter", "mode": "markers", "x": [None], "y": [None], "name": name, "showlegend": True,
            "marker": marker, "hoverinfo": "skip"}  # fmt: skip


def slope(at: np.ndarray, values: np.ndarray) -> float:
    """The power by which ``values`` grow with ``at`` (both positive), between the ends."""
    return math.log(values[-1] / values[0]) / math.log(at[-1] / at[0])


def _picture(
    rows: Sequence[Mapping[str, Any]], memory: Sequence[Mapping[str, Any]], traces: list[dict[str, Any]], height: int,
    dark: bool,
) -> dict[str, Any]:  # fmt: skip
    pixels = np.array([row["more"]["pixels"] for row in rows], dtype=float)
    seconds = np.array([row["ours"] for row in rows], dtype=float)
    picture = layout("Cost against size", height=height, dark=dark, showlegend=True)
    picture["margin"] = {"l": 60, "r": 8, "t": 146, "b": 42}
    picture["xaxis"] = axis("pixels", dark, automargin=False, anchor="y2" if memory else "y") | log_axis(pixels)
    picture["yaxis"] = axis("seconds", dark, automargin=False, domain=[0.42 if memory else 0, 1]) | log_axis(seconds)
    if memory:
        megabytes = np.array([row["peak_mb"] for row in memory], dtype=float)
        picture["yaxis2"] = axis("MB", dark, automargin=False, domain=[0, 0.34]) | log_axis(megabytes)
    names = [str(trace["name"]) for trace in traces if trace["showlegend"]]
    picture["meta"]["alt"] = (
        f"Seconds and megabytes from {int(pixels.min()):,} to {int(pixels.max()):,} pixels: {'; '.join(names)}."
    )
    return picture
