"""Estimates of a vector, coordinate by coordinate, beside the exact one with its uncertainty."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from deconditioning.figures import descriptions
from deconditioning.figures.colours import MODEL_NAMES, model_colour
from deconditioning.figures.style import INK, Figure, axis, compact, layout, legend_on_the_right

_SPREAD = 0.5  # of the room between two coordinates


def coordinates_plot(
    exact: np.ndarray,
    sd: np.ndarray,
    estimates: Mapping[str, np.ndarray],
    *,
    title: str,
    names: Mapping[str, str] = MODEL_NAMES,
    height: int = 360,
    dark: bool = False,
) -> Figure:
    """The exact mean ± 2 sd (d,) of every coordinate, and estimates (d,) on both sides, in their models' colours."""
    at = np.arange(1, len(exact) + 1, dtype=float)
    half = (len(estimates) + 1) // 2
    offsets = np.arange(1, half + 1) / max(half, 1) * _SPREAD / 2
    steps = np.concatenate([-offsets[::-1], offsets])[: len(estimates)]
    bars = {"type": "data", "array": compact(2 * sd, "f8"), "thickness": 1.5, "width": 5, "color": INK[dark]}
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter", "mode": "markers", "x": compact(at, "f8"), "y": compact(exact, "f8"),
            "name": "exact posterior:<br>mean ± 2 sd", "error_y": bars,
            "marker": {"color": INK[dark], "size": 7, "symbol": "line-ew-open"},
            "hovertemplate": "exact %{y:.2f}",
        }
    ]  # fmt: skip
    for step, (name, values) in zip(steps, estimates.items(), strict=True):
        traces.append(
            {
                "type": "scatter", "mode": "markers", "x": compact(at + step, "f8"), "y": compact(values, "f8"),
                "name": names.get(name, name), "marker": {"color": model_colour(name, dark), "size": 9},
                "hovertemplate": f"{names.get(name, name)} %{{y:.2f}}<extra></extra>",
            }
        )  # fmt: skip
    picture = layout(title, height=height, dark=dark)
    picture["margin"] = {"l": 54, "r": 8, "t": 36, "b": 44}
    legend_on_the_right(picture)
    ticks = {"tickvals": at.tolist(), "ticktext": [f"x{_lower(int(i))}" for i in at], "showgrid": False}
    picture["xaxis"] = axis("coordinate of X", dark, automargin=False, **ticks)
    picture["yaxis"] = axis("posterior mean", dark, automargin=False)
    near = {name: float(np.linalg.norm(values - exact)) for name, values in estimates.items()}
    summary = ", ".join(f"{descriptions.legend_name(name, names)} {value:.2f}" for name, value in near.items())
    picture["meta"]["alt"] = f"{title}. Distances from the exact mean: {summary}."
    return {"data": traces, "layout": picture}


def _lower(number: int) -> str:
    return "".join(chr(0x2080 + int(digit)) for digit in str(number))
