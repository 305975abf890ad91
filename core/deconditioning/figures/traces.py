"""Learning curves: the evidence and every hyperparameter against the step."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deconditioning.figures.colours import SERIES, series_colour
from deconditioning.figures.style import Figure, axis, compact, layout, literal

MOST_POINTS = 300
FEW_POINTS = 12  # up to here every evaluation is marked: a line through one point shows nothing
_LEGEND_ROW = 17  # pixels of one line of a legend
_MOST_ON_TOP = 2  # more names than these stand below the curves
DASHES = ("solid", "dash", "dot")


def thin(count: int, most: int = MOST_POINTS) -> np.ndarray:
    """Indices of at most `most` of `count` points, evenly spread, first and last kept."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int)) if count else np.arange(0)


def trace_plot(
    step: Sequence[float],
    series: Mapping[str, Sequence[float | None]],
    *,
    title: str = "",
    label: str = "",
    log: bool = False,
    height: int = 240,
    dark: bool = False,
) -> Figure:
    """Lines of one or several values against the step of a fit; None and NaN leave gaps, few points are marked.

    More than two names stand below the curves and make the figure higher, so that the curves keep their room.

    Parameters
    ----------
    step : (T,) step numbers, ascending.  series : name → (T,) values in the units of `label`.
    log : logarithmic axis, for positive hyperparameters of different size.  height : pixels without a legend below.
    """
    chosen = thin(len(step))
    at = np.asarray(step, dtype=float)[chosen]
    traces: list[dict[str, Any]] = []
    for index, (name, values) in enumerate(series.items()):
        y = np.array([np.nan if v is None else v for v in values], dtype=float)[chosen]
        traces.append(_line(at, y, name, index, dark))
    below = len(series) > _MOST_ON_TOP
    rows = len(series) if below else 0
    picture = layout(title, height=height + _LEGEND_ROW * rows, dark=dark, showlegend=len(series) > 1)
    picture["hovermode"] = "x unified"
    on_top = len(series) > 1 and not below
    picture["margin"] = {"l": 52, "r": 8, "t": (52 if on_top else 34) if title else 24, "b": 40}
    if below:
        picture["legend"] |= {"yref": "container", "y": 0, "maxheight": _LEGEND_ROW * (rows + 1)}
    picture["xaxis"] = axis("Step", dark, showgrid=False, automargin=False, rangemode="nonnegative")
    picture["xaxis"] |= {"dtick": 1} if len(at) and np.ptp(at) < 6 else {"nticks": 8}
    picture["yaxis"] = axis(label, dark, **(_decades(series) if log else {}))
    last = ", ".join(f"{name} {_last(values)}" for name, values in series.items())
    picture["meta"]["alt"] = f"{title or label or 'Trace'} against the step, {len(step)} steps; last value {last}."
    return {"data": traces, "layout": picture}


def objective_trace(
    stage: str,
    step: Sequence[float],
    lines: Mapping[str, Sequence[float | None]],
    *,
    height: int = 240,
    dark: bool = False,
) -> Figure:
    """What a stage of learning climbs (a log evidence) or descends (a loss), by its own name and sign.

    ``stage`` is the title, the first of ``lines`` (its name up to a bracket) that of the vertical axis: (T,) values at
    the (T,) ``step``.
    """
    title = stage[:1].upper() + stage[1:] or "Objective"
    quantity = next(iter(lines), "").split(" (")[0]
    return trace_plot(step, lines, title=title, label=quantity, height=height, dark=dark)


def hyperparameter_trace(
    step: Sequence[float], values: Mapping[str, Sequence[float | None]], *, height: int = 260, dark: bool = False
) -> Figure:
    """Every hyperparameter against the step, on one logarithmic axis (all are positive)."""
    return trace_plot(step, values, title="Hyperparameters", label="Value", log=True, height=height, dark=dark)


def _line(x: np.ndarray, y: np.ndarray, name: str, index: int, dark: bool) -> dict[str, Any]:
    colour, dash = series_colour(index, dark), DASHES[index // len(SERIES) % len(DASHES)]
    few = int(np.isfinite(y).sum()) <= FEW_POINTS
    return {
        "type": "scatter", "mode": "lines+markers" if few else "lines", "x": compact(x, "f8"), "y": compact(y, "f8"),
        "name": literal(name), "line": {"color": colour, "width": 1.8, "dash": dash},
        "marker": {"color": colour, "size": 5}, "hovertemplate": "%{y:.4~g}",
    }  # fmt: skip


def _decades(series: Mapping[str, Sequence[float | None]]) -> dict[str, Any]:
    """A logarithmic axis with about five labels, at powers of ten."""
    known = [v for values in series.values() for v in values if v is not None and np.isfinite(v) and v > 0]
    span = np.log10(max(known)) - np.log10(min(known)) if known else 1.0
    return {"type": "log", "dtick": max(1, int(np.ceil(span / 5))), "exponentformat": "power"}


def _last(values: Sequence[float | None]) -> str:
    known = [v for v in values if v is not None and np.isfinite(v)]
    return f"{known[-1]:.4g}" if known else "unknown"
