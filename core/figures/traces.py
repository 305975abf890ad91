"""Learning curves: the evidence and every hyperparameter against the step."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.figures.colours import SERIES
from core.figures.style import Figure, axis, compact, layout

MOST_POINTS = 300


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
    """Lines of one or several values against the step of a fit; None and NaN leave gaps.

    Parameters
    ----------
    step : (T,) step numbers, ascending.  series : name → (T,) values in the units of `label`.
    log : logarithmic axis, for positive hyperparameters of different size.
    """
    chosen = thin(len(step))
    at = np.asarray(step, dtype=float)[chosen]
    traces: list[dict[str, Any]] = []
    for index, (name, values) in enumerate(series.items()):
        y = np.array([np.nan if v is None else v for v in values], dtype=float)[chosen]
        traces.append(_line(at, y, name, SERIES[index % len(SERIES)]))
    picture = layout(title, height=height, dark=dark, showlegend=len(series) > 1, hovermode="x unified")
    picture["margin"] = {"l": 52, "r": 8, "t": (52 if len(series) > 1 else 34) if title else 24, "b": 40}
    picture["xaxis"] = axis("Step", dark, showgrid=False, automargin=False, rangemode="nonnegative")
    picture["yaxis"] = axis(label, dark, **({"type": "log", "dtick": 1} if log else {}))
    last = ", ".join(f"{name} {_last(values)}" for name, values in series.items())
    picture["meta"]["alt"] = f"{title or label or 'Trace'} against the step, {len(step)} steps; now {last}."
    return {"data": traces, "layout": picture}


def evidence_trace(
    step: Sequence[float], evidence: Sequence[float | None], *, height: int = 220, dark: bool = False
) -> Figure:
    """The log evidence log p(z̃), in nats, against the step of the fit."""
    label = "Log evidence (nats)"
    return trace_plot(step, {"log evidence": evidence}, title="Evidence", label=label, height=height, dark=dark)


def hyperparameter_trace(
    step: Sequence[float], values: Mapping[str, Sequence[float | None]], *, height: int = 260, dark: bool = False
) -> Figure:
    """Every hyperparameter against the step, on one logarithmic axis (all are positive)."""
    return trace_plot(step, values, title="Hyperparameters", label="Value", log=True, height=height, dark=dark)


def _line(x: np.ndarray, y: np.ndarray, name: str, colour: str) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "x": compact(x, "f8"), "y": compact(y, "f8"), "name": name,
        "line": {"color": colour, "width": 1.8}, "hovertemplate": "%{y:.4~g}",
    }  # fmt: skip


def _last(values: Sequence[float | None]) -> str:
    known = [v for v in values if v is not None and np.isfinite(v)]
    return f"{known[-1]:.4g}" if known else "unknown"
