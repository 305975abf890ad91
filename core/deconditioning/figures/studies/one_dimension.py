"""Pictures of one-dimensional problems: scatters, a function with its band, weights, evidence."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deconditioning.figures import descriptions
from deconditioning.figures.colours import (
    MODEL_NAMES,
    clear,
    colour_scale,
    hue,
    image_scale,
    model_colour,
    model_name,
    series_colour,
)
from deconditioning.figures.style import (
    DARK,
    INK,
    LIGHT,
    Figure,
    axis,
    compact,
    hover_numbers,
    layout,
    legend_on_the_right,
    literal,
    log_axis,
    power,
    upright,
)
from deconditioning.wording import number

#: What a picture of the evidence over two hyperparameters is called.
EVIDENCE = "Log evidence below its maximum"
_DASHES = {"impute": "dash", "cascade": "dot", "truth": "dot"}
#: Ticks of an evidence picture: by how much the log evidence lies below its best.
_DROPS, _DROP_NAMES = (0, 1, 9, 50, 200), ("0", "−1", "−9", "−50", "−200")


def pairs_plot(
    across: np.ndarray, up: np.ndarray, *, title: str, labels: tuple[str, str], curve: np.ndarray | None = None,
    curve_at: np.ndarray | None = None, curve_name: str = "", curve_sd: np.ndarray | None = None,
    rule: float | None = None, by_hand: np.ndarray | None = None, logs: tuple[bool, bool] = (False, False),
    height: int = 300, dark: bool = False,
) -> Figure:  # fmt: skip
    """A scatter (n,), ringed where points lie ``by_hand`` (e, 2); optional: a curve, its ±2 sd, a horizontal rule.

    ``logs``: whether the axis of ``across``, and that of ``up``, is logarithmic; their correlation is then of logs.
    """
    traces: list[dict[str, Any]] = []
    if curve is not None and curve_at is not None and curve_sd is not None:
        traces.append(_band(curve_at, curve - 2 * curve_sd, curve + 2 * curve_sd, hue("grey", dark)))
    traces += [
        {
            "type": "scatter", "mode": "markers", "x": compact(across, "f8"), "y": compact(up, "f8"),
            "marker": {"size": 4, "color": series_colour(0, dark)}, "name": "data",
            "hovertemplate": f"{literal(labels[0])} %{{x:.2f}}, {literal(labels[1])} %{{y:.2f}}<extra></extra>",
        }
    ]  # fmt: skip
    if curve is not None and curve_at is not None:
        traces.append(line(curve_at, curve, curve_name, INK[dark], "dot", 1.6))
    if by_hand is not None and len(by_hand):
        traces.append(_rings(by_hand, series_colour(1, dark)))
    picture = frame(title, labels, height, dark, legend=False)
    if rule is not None:
        picture["shapes"] = [_rule(rule, series_colour(1, dark))]
    pair = [np.log(values) if log else values for values, log in zip((across, up), logs, strict=True)]
    for side, values, log in zip(("xaxis", "yaxis"), (across, up), logs, strict=True):
        picture[side] |= _natural_axis(values) if log else {}
    ringed = f", {len(by_hand)} of them by hand" if by_hand is not None and len(by_hand) else ""
    picture["meta"]["alt"] = (
        f"{title}: {len(across)} pairs{ringed}, {labels[1]} against {labels[0]}; {descriptions.together(*pair)}."
    )
    return {"data": traces, "layout": picture}


def _natural_axis(values: np.ndarray) -> dict[str, Any]:
    """A log axis whose ticks are the numbers themselves: 0.1, 1, 10."""
    result = log_axis(values)
    step = result.pop("dtick", None)
    if step is not None:
        low, high = result["range"]
        powers = range(math.ceil(low), math.floor(high) + 1, step)
        result |= {"tickvals": [10.0**p for p in powers], "ticktext": [number(10.0**p, 6) for p in powers]}
    return result


def function_plot(
    grid: np.ndarray, mean: np.ndarray, sd: np.ndarray | None, lines: Mapping[str, np.ndarray], *, title: str,
    model: str, name: str = "", marks: np.ndarray | None = None, points: tuple[np.ndarray, np.ndarray] | None = None,
    labels: tuple[str, str] = ("x", "f(x)"), limits: tuple[float, float] | None = None,
    names: Mapping[str, str] = MODEL_NAMES, legend: bool = True, height: int = 360, dark: bool = False,
    band: tuple[np.ndarray, np.ndarray] | None = None,
) -> Figure:  # fmt: skip
    """A posterior mean with its ±2 sd band beside other lines (truth, naive ways), data points and marks below.

    ``band``, its lower and upper end, replaces that of 2 sd. ``names`` are those of the other lines; without its
    ``legend`` the picture stands beside one that has it.
    """
    colour = model_colour(model, dark)
    traces: list[dict[str, Any]] = []
    if sd is not None:
        low, high = band or (mean - 2 * sd, mean + 2 * sd)
        traces.append(_band(grid, low, high, colour))
    if points is not None:
        traces.append(
            {
                "type": "scatter", "mode": "markers", "x": compact(points[0], "f8"), "y": compact(points[1], "f8"),
                "marker": {"size": 3, "color": hue("grey", dark)}, "name": "data", "hoverinfo": "skip",
            }
        )  # fmt: skip
    drawn = {
        other: line(grid, values, names.get(other, other), model_colour(other, dark), _DASHES.get(other, "solid"), 1.8)
        for other, values in lines.items()
    }
    truth = [drawn.pop("truth")] if "truth" in drawn else []
    mean_line = line(grid, mean, name or f"{model_name(model)} ±2 sd", colour, "solid", 2.4)
    traces += [*drawn.values(), mean_line, *truth]
    picture = frame(title, labels, height, dark, legend=False)
    if legend:
        legend_on_the_right(picture)
    low, high = limits or _limits(grid, mean, sd, lines)
    picture["yaxis"] |= {"range": [low, high]}
    if marks is not None and len(marks):
        foot = low + 0.03 * (high - low)
        traces.append(
            {
                "type": "scatter", "mode": "markers", "x": compact(marks, "f8"),
                "y": compact(np.full(len(marks), foot)),
                "marker": {"size": 9, "symbol": "triangle-up", "color": series_colour(1, dark)}, "name": "points",
                "hovertemplate": "point at %{x:.3f}<extra></extra>",
            }
        )  # fmt: skip
    picture["meta"]["alt"] = (
        f"{title} from {grid[0]:.2f} to {grid[-1]:.2f}: {_description(grid, mean, sd, lines, model)}."
    )
    return {"data": traces, "layout": picture}


def _description(
    grid: np.ndarray, mean: np.ndarray, sd: np.ndarray | None, lines: Mapping[str, np.ndarray], model: str
) -> str:
    """What the curve does, and how near it and the others come to the truth where that is drawn."""
    truth = lines.get("truth")
    if truth is None:
        return descriptions.course(grid, mean)
    others = {name: values for name, values in lines.items() if name != "truth" and np.isfinite(values).any()}
    near = "RMSE of " + descriptions.off_by({model: mean} | others, truth)
    if not others:  # a curve alone needs no name
        near = f"RMSE {number(float(np.sqrt(np.nanmean((mean - truth) ** 2))))}"
    return near if sd is None else f"{near}; {descriptions.held(mean, sd, truth)}"


def _limits(
    grid: np.ndarray, mean: np.ndarray, sd: np.ndarray | None, lines: Mapping[str, np.ndarray]
) -> tuple[float, float]:
    """Room for all lines, which may have gaps, and most of the band."""
    every = np.concatenate([np.ravel(values) for values in (mean, *lines.values())])
    low, high = np.nanmin(every), np.nanmax(every)
    if sd is not None:
        low = min(low, float(np.quantile(mean - 2 * sd, 0.03)))
        high = max(high, float(np.quantile(mean + 2 * sd, 0.97)))
    pad = 0.06 * max(high - low, 1e-9)
    return float(low - pad), float(high + pad)


def error_band_plot(
    grid: np.ndarray, error: np.ndarray, sd: np.ndarray, *, model: str, height: int = 300, dark: bool = False
) -> Figure:
    """Error of the mean (mean − truth) inside its ±2 sd, over x."""
    colour = model_colour(model, dark)
    share = float(np.mean(np.abs(error) <= 2 * sd))
    traces = [_band(grid, -2 * sd, 2 * sd, colour), line(grid, error, "error", colour, "solid", 2)]
    picture = frame("Error and ±2 sd band", ("x", "mean − truth"), height, dark, legend=False)
    limit = 1.08 * max(float(np.quantile(2 * sd, 0.97)), float(np.abs(error).max()), 1e-9)
    picture["yaxis"] |= {"range": [-limit, limit], "zeroline": True, "zerolinecolor": INK[dark]}
    picture["meta"]["alt"] = f"Error of the mean over x; {100 * share:.0f} % of it is within two sd."
    return {"data": traces, "layout": picture}


def weights_plot(
    weights: np.ndarray, rows: np.ndarray, columns: np.ndarray, *, most: int = 120, height: int = 300,
    dark: bool = False,
) -> Figure:  # fmt: skip
    """W (n, m) with both sides sorted by their mediator; evenly thinned beyond ``most`` a side."""
    order = [np.argsort(v)[np.linspace(0, len(v) - 1, min(len(v), most)).round().astype(int)] for v in (rows, columns)]
    shown = weights[np.ix_(*order)]
    limit = max(float(np.quantile(np.abs(shown), 0.999)), 1e-12)
    trace = {
        "type": "heatmap", "z": compact(shown), "x": compact(columns[order[1]], "f8"),
        "y": compact(rows[order[0]], "f8"), "colorscale": image_scale("diverging", dark), "zmin": -limit, "zmax": limit,
        "colorbar": _bar(),
        "hovertemplate": "y %{y:.2f}, ỹ %{x:.2f}: weight %{z:.4f}<extra></extra>",
    }  # fmt: skip
    title, names = "Weights W of the known x in each z̃", ("ỹ, where z̃ is observed", "y, where x is observed")
    picture = frame(title, names, height, dark, legend=False)

    size = np.abs(shown)
    distance = np.abs(rows[order[0]][:, None] - columns[order[1]][None, :])
    picture["meta"]["alt"] = (
        f"Weights between {weights.shape[0]} y and {weights.shape[1]} ỹ: weighted mean distance between y and ỹ "
        f"{number(np.sum(size * distance) / max(size.sum(), 1e-300), 2)}, mean distance {number(distance.mean(), 2)}."
    )
    return {"data": [trace], "layout": picture}


def surface_plot(
    first: np.ndarray, second: np.ndarray, values: np.ndarray, *, names: tuple[str, str], now: tuple[float, float],
    best: tuple[float, float], path: np.ndarray | None = None, height: int = 300, dark: bool = False,
) -> Figure:  # fmt: skip
    """Log evidence over two hyperparameters on log axes: now, the best of the picture, and the path of learning."""
    top = float(np.nanmax(values))
    drop = np.maximum(values - top, -200.0)  # below that nobody looks
    shown = -np.log10(1 - drop)  # 0 at the best; one unit a factor of ten in log evidence
    traces: list[dict[str, Any]] = [
        {
            "type": "contour", "z": compact(shown), "x": compact(np.log10(first), "f8"),
            "y": compact(np.log10(second), "f8"), "colorscale": colour_scale("sequential"),
            "contours": {"coloring": "fill", "showlines": False},
            "ncontours": 30, "customdata": _customdata(values),
            "colorbar": _bar() | {"tickvals": [-np.log10(1 + d) for d in _DROPS], "ticktext": list(_DROP_NAMES)},
            "hovertemplate": "log evidence %{customdata:.1f}<extra></extra>",
        }
    ]  # fmt: skip
    if path is not None and len(path):
        steps = np.log10(path)
        for ink, width in ((DARK, 3.4), (LIGHT, 1.6)):
            traces.append(line(steps[:, 0], steps[:, 1], "learning", ink, "solid", width) | {"hoverinfo": "skip"})
    for position, name, symbol in ((best, "best here", "star"), (now, "now", "circle")):
        traces.append(
            {
                "type": "scatter", "mode": "markers", "x": [float(np.log10(position[0]))],
                "y": [float(np.log10(position[1]))], "name": name,
                "marker": {"size": 11, "symbol": symbol, "color": LIGHT, "line": {"color": DARK, "width": 1.5}},
                "hovertemplate": f"{name}: {number(position[0])}, {number(position[1])}<extra></extra>",
            }
        )  # fmt: skip
    picture = frame(EVIDENCE, names, height, dark, legend=False)
    for side, grid in (("xaxis", first), ("yaxis", second)):
        picture[side] |= {"range": np.log10(grid[[0, -1]]).tolist(), **_powers(grid)}
    picture["meta"]["alt"] = (
        f"Log evidence over {names[0]} and {names[1]}: at most {top:.1f}, now at {number(now[0])}, {number(now[1])}."
    )
    return {"data": traces, "layout": picture}


def _customdata(values: np.ndarray) -> list[list[float | None]]:
    return [[None if np.isnan(v) else round(float(v), 2) for v in row] for row in values]


def curves_plot(
    at: np.ndarray, curves: Mapping[str, np.ndarray], *, title: str, labels: tuple[str, str], now: float | None = None,
    height: int = 300, dark: bool = False,
) -> Figure:  # fmt: skip
    """Positive curves on log axes, with a rule at the present value."""
    traces = [
        line(
            at, np.where(values > 0, values, np.nan), name, series_colour(index, dark), ("solid", "dash")[index % 2], 2
        )
        | {"mode": "lines+markers", "marker": {"size": 4}}
        | hover_numbers(values)
        for index, (name, values) in enumerate(curves.items())
    ]
    picture = frame(title, labels, height, dark, legend=len(curves) > 1)
    picture["xaxis"] |= log_axis(at)
    picture["yaxis"] |= log_axis(np.concatenate(list(curves.values())))
    if now is not None:
        picture["shapes"] = [upright(now, {"dash": "dot", "color": hue("grey", dark)})]
    picture["meta"]["alt"] = f"{title}: {descriptions.ends(curves)}."
    return {"data": traces, "layout": picture}


def shares_plot(
    at: np.ndarray, shares: Mapping[str, np.ndarray], *, names: Mapping[str, str], title: str, labels: tuple[str, str],
    reach: tuple[float, float] = (-0.6, 2.4), height: int = 340, dark: bool = False,
) -> Figure:  # fmt: skip
    """Shares by method over a log axis, with rules at nothing (0) and all (1); beyond ``reach`` they are cut off."""
    traces = [
        line(at, values, names.get(key, key), model_colour(key, dark), ("solid", "dash", "solid")[index % 3], 2)
        for index, (key, values) in enumerate(shares.items())
    ]
    picture = frame(title, labels, height, dark)
    picture["xaxis"] |= log_axis(at)
    picture["yaxis"] |= {"range": list(reach)}
    picture["shapes"] = [_rule(1.0, INK[dark]), _rule(0.0, hue("grey", dark))]
    ends = descriptions.ends(shares, names)
    picture["meta"]["alt"] = f"{title}, from {number(at[0], 1)} to {number(at[-1], 1)}: {ends}."
    return {"data": traces, "layout": picture}


def frame(title: str, labels: tuple[str, str], height: int, dark: bool, *, legend: bool = True) -> dict[str, Any]:
    """The layout of a picture with one pair of axes."""
    picture = layout(title, height=height, dark=dark, showlegend=legend)
    picture["margin"] = {"l": 52, "r": 8, "t": 58 if legend else 34, "b": 42}
    picture["xaxis"] = axis(labels[0], dark, automargin=False)
    picture["yaxis"] = axis(labels[1], dark, automargin=False)
    return picture


def line(x: np.ndarray, y: np.ndarray, name: str, colour: str, dash: str, width: float) -> dict[str, Any]:
    """A line with its name in the legend."""
    return {
        "type": "scatter", "mode": "lines", "x": compact(x, "f8"), "y": compact(y, "f8"), "name": name,
        "line": {"color": colour, "width": width, "dash": dash}, "hovertemplate": "%{y:.3f}",
    }  # fmt: skip


def _rings(places: np.ndarray, colour: str) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "markers", "x": compact(places[:, 0], "f8"), "y": compact(places[:, 1], "f8"),
        "marker": {"size": 10, "symbol": "circle-open", "color": colour, "line": {"width": 1.8}}, "name": "by hand",
        "hoverinfo": "skip",
    }  # fmt: skip


def _band(x: np.ndarray, low: np.ndarray, high: np.ndarray, colour: str) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "x": compact(np.concatenate([x, x[::-1]]), "f8"),
        "y": compact(np.concatenate([high, low[::-1]]), "f8"), "line": {"width": 0.8, "color": colour},
        "fill": "toself", "fillcolor": clear(colour, 0.2), "name": "±2 sd", "hoverinfo": "skip", "showlegend": False,
    }  # fmt: skip


def _bar() -> dict[str, Any]:
    return {
        "thickness": 9,
        "len": 0.95,
        "tickfont": {"size": 11},
        "outlinewidth": 0,
        "nticks": 6,
        "exponentformat": "power",
    }


def _powers(grid: np.ndarray) -> dict[str, Any]:
    """Ticks at whole powers of ten of an axis in log10."""
    powers: Sequence[int] = range(int(np.ceil(np.log10(grid[0]) - 1e-9)), int(np.floor(np.log10(grid[-1]) + 1e-9)) + 1)
    step = max(1, len(powers) // 5)
    return {"tickvals": list(powers)[::step], "ticktext": [power(10.0**p) for p in list(powers)[::step]]}


def _rule(at: float, colour: str) -> dict[str, Any]:
    return {
        "type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": at, "y1": at, "line": {"color": colour, "width": 1.6},
    }  # fmt: skip
