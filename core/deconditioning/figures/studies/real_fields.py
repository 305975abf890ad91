"""Accuracy and coverage of every model on several fields: one line a field, a dot a model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deconditioning.figures.colours import clear, hue, model_colour, model_name
from deconditioning.figures.style import INK, Figure, axis, layout, literal

#: Coverage of 95 % intervals that counts as right.
_NOMINAL = (0.90, 0.97)
_LINE = 46


@dataclass(frozen=True)
class Measured:
    """One model on one field: its RMSE as a share of that of bilinear interpolation, the coverage of its 95 % intervals
    (None where it gives none)."""

    field: str
    model: str
    share: float
    coverage: float | None


def accuracy_and_coverage(rows: Sequence[Measured], usual: str, *, dark: bool = False) -> Figure:
    """Left, RMSE relative to bilinear interpolation (1, dotted); right, coverage with the nominal range shaded.

    Dots of the model ``usual`` are larger and filled; the others are rings of their colours.
    """
    fields = list(dict.fromkeys(row.field for row in rows))
    models = sorted(dict.fromkeys(row.model for row in rows), key=lambda model: model == usual)
    picture = layout("", height=96 + _LINE * len(fields), dark=dark, showlegend=True)
    picture["margin"] |= {"t": 40, "l": 8, "b": 44}
    most = max(1.05, *(row.share for row in rows))
    picture["xaxis"] = axis("RMSE / RMSE of bilinear interpolation", dark, domain=[0, 0.48], range=[0, 1.03 * most])
    picture["xaxis2"] = axis("coverage of 95 % intervals", dark, domain=[0.56, 1], tickformat=".0%", anchor="y")
    low = min(0.85, *(row.coverage for row in rows if row.coverage is not None))
    picture["xaxis2"]["range"] = [low - 0.02, 1.005]
    picture["yaxis"] = axis("", dark, range=[len(fields) - 0.5, -0.5], fixedrange=True, zeroline=False)
    picture["yaxis"] |= {"tickvals": list(range(len(fields))), "ticktext": [literal(field) for field in fields]}
    ends = {"y0": 0, "y1": 1, "yref": "paper", "layer": "below"}
    picture["shapes"] = [
        {"type": "line", "x0": 1, "x1": 1, "line": {"color": INK[dark], "width": 1, "dash": "dot"}} | ends,
        {"type": "rect", "xref": "x2", "x0": _NOMINAL[0], "x1": _NOMINAL[1], "line": {"width": 0},
         "fillcolor": clear(hue("teal", dark), 0.14)} | ends,
    ]  # fmt: skip
    own = [row for row in rows if row.model == usual]
    picture["meta"]["alt"] = f"{model_name(usual)}: " + ", ".join(map(_told, own)) + "."
    traces = [trace for model in models for trace in _dots([r for r in rows if r.model == model], fields, usual, dark)]
    return {"data": traces, "layout": picture}


def _told(row: Measured) -> str:
    held = "" if row.coverage is None else f", coverage {100 * row.coverage:.0f} %"
    return f"{row.field} {100 * row.share:.0f} % of the RMSE of bilinear interpolation{held}"


def _dots(rows: Sequence[Measured], fields: Sequence[str], usual: str, dark: bool) -> list[dict[str, Any]]:
    """The dots of one model in both panels; one of them stands in the legend."""
    model = rows[0].model
    chosen, colour = model == usual, model_colour(model, dark)
    marker = {"size": 14 if chosen else 10, "color": colour, "symbol": "circle" if chosen else "circle-open",
              "line": {"width": 2, "color": colour}}  # fmt: skip
    both = {"type": "scatter", "mode": "markers", "marker": marker, "name": literal(model_name(model)),
            "legendgroup": model}  # fmt: skip
    held = [row for row in rows if row.coverage is not None]
    left = both | {
        "x": [row.share for row in rows], "y": [fields.index(row.field) for row in rows],
        "hovertemplate": "%{x:.0%} of the RMSE of bilinear interpolation",
    }  # fmt: skip
    right = both | {
        "x": np.array([row.coverage for row in held], dtype=float).tolist(), "xaxis": "x2", "showlegend": False,
        "y": [fields.index(row.field) for row in held], "hovertemplate": "coverage %{x:.0%}",
    }  # fmt: skip
    return [left, right] if held else [left]
