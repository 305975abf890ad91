"""Pictures of a point that is followed: the plane at one step, and errors over all steps."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from deconditioning.figures import descriptions
from deconditioning.figures.colours import hue, model_colour, model_name, series_colour
from deconditioning.figures.style import (
    ALONE,
    INK,
    Figure,
    axis,
    compact,
    filled,
    hover_numbers,
    layout,
    legend_on_the_right,
    upright,
)
from deconditioning.wording import number

#: Steps of the trail behind the truth.
_TRAIL = 12
#: From this step on the mean of all steps so far fits the axis of the errors.
_SETTLED = 10
#: Steps of a column that are drawn at once.
_WINDOW = 120
#: No filter has a name of the page's own.
_NAMES: Mapping[str, str] = {}


def plane_plot(
    truth: np.ndarray, observations: np.ndarray | None, means: Mapping[str, np.ndarray], step: int, *,
    sample: tuple[np.ndarray, np.ndarray] | None = None, limits: tuple[float, float] | None = None,
    labels: tuple[str, str] = ("u", "v"), track: np.ndarray | None = None, names: Mapping[str, str] = _NAMES,
    signs: bool = True, legend: bool = True, height: int = 430, dark: bool = False,
) -> Figure:  # fmt: skip
    """Truth with its trail, the observation where it lies in the same plane, every estimate, and a weighted sample.

    Parameters
    ----------
    limits : those of both axes, which then have one scale.
    track : (n, 2), the line near which the state moves.
    names : filter → its name in the legend.
    signs : draws negative weights apart; without it only positive ones are drawn.
    legend : without it the page says what the marks mean, and the picture gets it where it stands alone.
    """
    traces = [] if sample is None else _weighted(*sample, signs, dark)
    if track is not None:
        faint = {"color": hue("grey", dark), "width": 1.2}
        traces.append(_points(track, "track", {}) | {"mode": "lines", "line": faint})
    trail = truth[max(0, step - _TRAIL) : step + 1]
    fading = {"size": compact(np.linspace(4, 8, len(trail)), "f8"), "color": INK[dark],
              "opacity": np.linspace(0.2, 1, len(trail)).tolist()}  # fmt: skip
    traces.append(_points(trail, f"true state,<br>last {_TRAIL} steps", fading))
    if observations is not None:
        mark = {"size": 12, "symbol": "x", "color": hue("grey", dark)}
        traces.append(_points(observations[step : step + 1], "noisy observation", mark))
    for name, values in means.items():
        marker = {"size": 12, "color": model_colour(name, dark), "symbol": "diamond"}
        traces.append(_points(values[step : step + 1], names.get(name, model_name(name)), marker))
    ring = {"size": 16, "symbol": "circle-open", "color": INK[dark], "line": {"width": 2.5}}
    traces.append(_points(truth[step : step + 1], "true state now", ring))
    picture = layout(f"Step {step + 1} of {len(truth)}", height=height, dark=dark)
    picture["margin"] = {"l": 54, "r": 8, "t": 36, "b": 46}
    legend_on_the_right(picture)
    if not legend:
        _legend_where_alone(picture)
    for side, label in (("xaxis", labels[0]), ("yaxis", labels[1])):
        picture[side] = axis(label, dark, automargin=False)
    if limits:
        picture["xaxis"] |= {"range": list(limits), "constrain": "domain", "constraintoward": "left"}
        picture["yaxis"] |= {"scaleanchor": "x", "range": list(limits), "constrain": "domain", "constraintoward": "top"}
        picture["meta"]["aspect"] = 1
    at = truth[step]
    far = {name: float(np.linalg.norm(values[step] - at)) for name, values in means.items()}
    nearest = sorted(far.items(), key=lambda one: one[1])
    summary = ", ".join(f"{descriptions.legend_name(name, names)} {number(value, 2)}" for name, value in nearest)
    known = (
        f"truth at ({at[0]:.2f}, {at[1]:.2f}); distances from it: {summary}" if np.isfinite(at).all() else "no truth"
    )
    picture["meta"]["alt"] = f"Step {step + 1}: {known}."
    return {"data": traces, "layout": picture}


def _weighted(points: np.ndarray, weights: np.ndarray, signs: bool, dark: bool) -> list[dict[str, Any]]:
    """A weighted sample as discs whose areas are the weights."""
    largest = max(float(np.abs(weights).max()), 1e-12)
    kinds = [("examples<br>(area: weight)", weights > 0.02 * largest, series_colour(0, dark))]
    if signs:
        kinds.append(("examples of<br>negative weight", weights < -0.02 * largest, series_colour(1, dark)))
    return [
        _points(points[chosen], name, {"size": compact(3 + 11 * np.sqrt(np.abs(weights[chosen]) / largest))}
                | filled(colour, 0.25))
        for name, chosen, colour in kinds
    ]  # fmt: skip


def _mean_so_far(squares: np.ndarray) -> np.ndarray:
    """Means of the squares up to each step, of those that are known."""
    known = np.isfinite(squares)
    return np.where(known, squares, 0.0).cumsum() / np.maximum(known.cumsum(), 1)


def errors_plot(
    truth: np.ndarray, means: Mapping[str, np.ndarray], step: int, *, names: Mapping[str, str] = _NAMES,
    legend: bool = True, height: int = 300, dark: bool = False,
) -> Figure:  # fmt: skip
    """Mean square error so far, one line a filter, with a rule at the present step; means of the first few steps may
    leave the axis. Without its ``legend`` the page says what the lines mean, and the picture gets it where it stands
    alone."""
    steps = np.arange(1, len(truth) + 1)
    traces, last, highest = [], {}, 0.0
    for name, values in means.items():
        so_far = _mean_so_far(((values - truth) ** 2).sum(1))
        last[name] = float(so_far[-1])
        highest = max(highest, float(so_far[min(_SETTLED, len(so_far) - 1) :].max()))
        traces.append(
            {
                "type": "scatter", "mode": "lines", "x": compact(steps, "f8"), "y": compact(so_far, "f8"),
                "name": names.get(name, model_name(name)), "line": {"color": model_colour(name, dark), "width": 2},
                "hovertemplate": "%{y:.4f}",
            }
        )  # fmt: skip
    picture = over_steps(
        "Mean square error up to each step (dashed: the step shown)", "mean square error", step, height, dark
    )
    picture["yaxis"] |= {"range": [0, 1.1 * highest]} if highest > 0 else {"rangemode": "tozero"}
    if not legend:
        _legend_where_alone(picture)
    summary = ", ".join(f"{descriptions.legend_name(name, names)} {number(error)}" for name, error in last.items())
    picture["meta"]["alt"] = f"Mean square error so far over {len(steps)} steps; at the end: {summary}."
    return {"data": traces, "layout": picture}


def column_plot(
    truth: np.ndarray, means: Mapping[str, np.ndarray], step: int, *, name: str, names: Mapping[str, str] = _NAMES,
    height: int = 240, dark: bool = False,
) -> Figure:  # fmt: skip
    """One column of a state (n,) over the steps around the present one: truth, every estimate, a rule at the step."""
    first = max(0, min(step - _WINDOW // 2, len(truth) - _WINDOW))
    shown = slice(first, first + _WINDOW)
    steps = compact(np.arange(1, len(truth) + 1)[shown], "f8")
    lines = {"truth": (truth, {"color": INK[dark], "width": 1.6, "dash": "dot"})}
    lines |= {key: (values, {"color": model_colour(key, dark), "width": 2}) for key, values in means.items()}
    traces = [
        {
            "type": "scatter", "mode": "lines", "x": steps, "y": compact(values[shown], "f8"),
            "name": "hidden: true value" if key == "truth" else names.get(key, model_name(key)),
            "line": line,
        }
        | hover_numbers(values[shown])
        for key, (values, line) in lines.items()
    ]  # fmt: skip
    picture = over_steps(f"{name}, hidden, and its estimates", name, step, height, dark)
    error = {key: float(np.sqrt(np.mean((values - truth) ** 2))) for key, values in means.items()}
    summary = ", ".join(f"{descriptions.legend_name(key, names)} {number(value)}" for key, value in error.items())
    picture["meta"]["alt"] = f"{name} over {len(truth)} steps; root mean square errors: {summary}."
    return {"data": traces, "layout": picture}


def _legend_where_alone(picture: dict[str, Any]) -> None:
    """Leave the legend to the page, and to a slide that has nothing else."""
    picture["showlegend"] = False
    picture["meta"]["legend"] = ALONE


def over_steps(title: str, label: str, step: int, height: int, dark: bool) -> dict[str, Any]:
    """The layout of lines over the steps, a rule at the present one, their names beside."""
    picture = layout(title, height=height, dark=dark)
    picture["margin"] = {"l": 54, "r": 8, "t": 36, "b": 42}
    legend_on_the_right(picture)
    picture["hovermode"] = "x unified"
    picture["xaxis"] = axis("step", dark, automargin=False)
    picture["yaxis"] = axis(label, dark, automargin=False)
    picture["shapes"] = [upright(step + 1, {"dash": "dot", "color": hue("grey", dark)})]
    return picture


def _points(places: np.ndarray, name: str, marker: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "markers", "x": compact(places[:, 0], "f8"), "y": compact(places[:, 1], "f8"),
        "name": name, "marker": marker, "hovertemplate": "%{x:.2f}, %{y:.2f}", "cliponaxis": False,
    }  # fmt: skip
