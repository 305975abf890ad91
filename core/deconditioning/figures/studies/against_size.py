"""Scores against a size: means over runs with their standard errors, one line a method, and guides of a slope."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deconditioning.figures import descriptions
from deconditioning.figures.colours import hue, model_colour, model_name
from deconditioning.figures.style import INK, Figure, axis, compact, layout, log_axis, upright
from deconditioning.wording import number


def scores_against(
    scores: Mapping[str, Mapping[float, Sequence[float]]], *, title: str, labels: tuple[str, str],
    names: Mapping[str, str] | None = None, guides: Mapping[str, tuple[np.ndarray, np.ndarray]] | None = None,
    dashes: Mapping[str, str] | None = None, now: float | None = None, height: int = 380, dark: bool = False,
) -> Figure:  # fmt: skip
    """Means ± standard error on log axes.

    Parameters
    ----------
    scores : method → size → its runs.
    names : what methods are called, where not by their own name.
    guides : name → (sizes, values) of dotted lines, such as a slope from theory.
    dashes : method → plotly's dash of its line, where another line lies below it.
    now : a size to mark by a rule.
    """
    traces: list[dict[str, Any]] = []
    for method, by_size in scores.items():
        sizes = np.array(sorted(by_size), dtype=float)
        runs = [np.asarray(by_size[size], dtype=float) for size in sizes]
        mean = np.array([r.mean() for r in runs])
        error = np.array([_error(r) for r in runs])
        colour = model_colour(method, dark)
        traces.append(
            {
                "type": "scatter", "mode": "lines+markers", "x": compact(sizes, "f8"), "y": compact(mean, "f8"),
                "error_y": {"type": "data", "array": compact(error, "f8"), "thickness": 1.2, "width": 3},
                "name": (names or {}).get(method, model_name(method)),
                "line": {"color": colour, "width": 2, "dash": (dashes or {}).get(method, "solid")},
                "marker": {"size": 6, "color": colour}, "hovertemplate": "%{text}",
                "text": [f"{number(m)} ± {number(e, 1)}" for m, e in zip(mean, error, strict=True)],
            }
        )  # fmt: skip
    for name, (x, y) in (guides or {}).items():
        line = {"color": INK[dark], "width": 1.4, "dash": "dot"}
        traces.append(
            {"type": "scatter", "mode": "lines", "x": compact(x, "f8"), "y": compact(y, "f8"), "name": name,
             "line": line, "hoverinfo": "skip"}
        )  # fmt: skip
    picture = _layout(scores, title, labels, len(traces), now, height, dark)
    ends = {
        method: np.array([np.mean(runs) for _, runs in sorted(by_size.items())]) for method, by_size in scores.items()
    }
    picture["meta"]["alt"] = f"{title}: {descriptions.ends(ends, names or {})}."
    return {"data": traces, "layout": picture}


def _error(runs: np.ndarray) -> float:
    """Standard error of the mean, 0 for one run."""
    return float(runs.std(ddof=1) / np.sqrt(len(runs))) if len(runs) > 1 else 0.0


def _layout(
    scores: Mapping[str, Mapping[float, Sequence[float]]], title: str, labels: tuple[str, str], lines: int,
    now: float | None, height: int, dark: bool,
) -> dict[str, Any]:  # fmt: skip
    picture = layout(title, height=height, dark=dark, showlegend=True, hovermode="x unified")
    picture["margin"] = {"l": 58, "r": 8, "t": 40, "b": 64 + 18 * (lines // 3)}
    picture["legend"] |= {"y": -0.16, "yanchor": "top"}  # below: long names take several rows in a narrow column
    sizes = sorted({size for by_size in scores.values() for size in by_size})
    every = [np.asarray(runs, dtype=float) for by_size in scores.values() for runs in by_size.values()]
    values = [float(runs.mean()) + sign * _error(runs) for runs in every for sign in (-1, 1)]
    across = log_axis(np.array(sizes))
    if len(sizes) <= 8:
        across |= {"tickvals": sizes, "ticktext": [f"{size:,.0f}" for size in sizes]}
    picture["xaxis"] = axis(labels[0], dark, automargin=False, **across)
    picture["yaxis"] = axis(labels[1], dark, automargin=False, **log_axis(np.array(values)))
    if now is not None:
        picture["shapes"] = [upright(now, {"dash": "dot", "color": hue("grey", dark)})]
    return picture
