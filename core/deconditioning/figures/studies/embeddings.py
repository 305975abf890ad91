"""Pictures of conditional mean embeddings: bags with their regressions, μ(x, y) as a map, rates on log axes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deconditioning.figures import descriptions
from deconditioning.figures.colours import GROUND, Colours, hue, image_scale, series_colour
from deconditioning.figures.style import (
    INK,
    Figure,
    axis,
    compact,
    hover_numbers,
    layout,
    legend_on_the_right,
    log_axis,
    rimmed_line,
    upright,
)
from deconditioning.wording import duration, number, signed

#: How a map of an embedding with the groups and a cut is read.
MEANING = (
    "Bright: values of x that are likely at this y. Line: the y of the cut, which a click moves; dots: the groups."
)
_DASHES = {"standard": "solid", "shrinkage": "dash", "truth": "dot"}
_ESTIMATES = {"standard": "cmp", "shrinkage": "shrinkage_cmp", "truth": "truth"}
#: Further apart than those of the models whose estimates they are.
_HUES = {"standard": "violet", "shrinkage": "teal", "truth": "ink"}
_REGRESSIONS = {
    "standard": "standard:<br>every point counts once", "shrinkage": "shrinkage:<br>every group counts once",
    "truth": "truth: x = y sin y",
}  # fmt: skip


def bag_regression_plot(
    x: np.ndarray, bag: np.ndarray, labels: np.ndarray, y: np.ndarray, lines: Mapping[str, np.ndarray], *,
    most: int = 4000, height: int = 430, dark: bool = False,
) -> Figure:  # fmt: skip
    """Points ``x`` (N,) of each ``bag`` (N,) over its label (B,), every bag's mean with an area in proportion to its
    size, and ``E[X | Y = y]`` over ``y`` by both estimators and the truth."""
    keep = np.linspace(0, len(x) - 1, min(len(x), most)).round().astype(int)
    sizes = np.bincount(bag, minlength=len(labels))
    means = np.bincount(bag, x, len(sizes)) / sizes
    ring = {"size": compact(5 + 21 * np.sqrt(sizes / sizes.max())), "symbol": "circle-open", "color": hue("rust", dark)}
    traces: list[dict[str, Any]] = [
        {
            "type": "scattergl", "mode": "markers", "x": compact(labels[bag[keep]]), "y": compact(x[keep]),
            "name": "single points", "marker": {"size": 3, "color": hue("grey", dark)},
            "hoverinfo": "skip",
        },
        {
            "type": "scatter", "mode": "markers", "x": compact(labels, "f8"), "y": compact(means, "f8"),
            "name": "mean of a group<br>(area: its size)", "marker": ring | {"line": {"width": 1.4}},
            "customdata": sizes.tolist(),
            "hovertemplate": "group of %{customdata} points at y = %{x:.2f}: mean x = %{y:.2f}<extra></extra>",
        },
    ]  # fmt: skip
    traces += [_estimate(y, values, name, _REGRESSIONS[name], dark) for name, values in lines.items()]
    picture = _frame("Points in groups, and the mean of x given y", height, dark)
    legend_on_the_right(picture)
    picture["xaxis"] = axis("y, the label that a group shares", dark, automargin=False)
    picture["yaxis"] = axis("x, the value of a point", dark, automargin=False)
    others = {_ESTIMATES[name]: values for name, values in lines.items() if name != "truth"}
    picture["meta"]["alt"] = (
        f"{len(x)} points in {len(sizes)} groups, each at its label y; {descriptions.together(labels[bag], x)}. "
        f"Conditional mean of x given y; RMSE against y sin y of {descriptions.off_by(others, lines['truth'])}."
    )
    return {"data": traces, "layout": picture}


def _estimate(at: np.ndarray, values: np.ndarray, name: str, title: str, dark: bool) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "x": compact(at, "f8"), "y": compact(values, "f8"), "name": title,
        "line": {"color": hue(_HUES[name], dark), "width": 2.4, "dash": _DASHES[name]},
        "hovertemplate": f"{title}: %{{y:.3f}}<extra></extra>",
    }  # fmt: skip


def embedding_map(
    values: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    *,
    title: str,
    colours: Colours = "sequential",
    limits: tuple[float, float] | None = None,
    names: tuple[str, str] = ("x", "y"),
    data: tuple[np.ndarray, np.ndarray] | None = None,
    cut: float | None = None,
    bar: str = "",
    height: int = 260,
    dark: bool = False,
) -> Figure:
    """``μ(x, y)`` (X, Y) as a heat map, y to the right, x up; ``names`` are those of x and y.

    ``data`` are points (x, y) that it was made from, drawn on it, and ``cut`` is a y at which a line is drawn;
    ``bar`` is the title of the colour bar.
    """
    up, across = names
    low, high = limits or (float(values.min()), float(values.max()))
    look = {"thickness": 9, "len": 0.9, "tickfont": {"size": 11}, "outlinewidth": 0, "nticks": 6,
            "exponentformat": "power", "title": {"text": bar, "side": "right", "font": {"size": 11}}}  # fmt: skip
    trace = {
        "type": "heatmap", "z": compact(values), "x": compact(y, "f8"), "y": compact(x, "f8"),
        "colorscale": image_scale(colours, dark), "zmin": low, "zmax": high, "colorbar": look, "zsmooth": "best",
        "hovertemplate": f"{across} %{{x:.2f}}, {up} %{{y:.2f}}: %{{z:.4f}}<extra></extra>",
    }  # fmt: skip
    picture = _frame(title, height, dark)
    row, column = np.unravel_index(int(np.argmax(values)), values.shape)
    picture["meta"]["alt"] = (
        f"{title} over {across} and {up}, from {number(values.min())} to {number(values.max())}, highest at {across} = "
        f"{number(y[column])}, {up} = {number(x[row])}."
    )
    if data is not None and cut is not None and names == ("x", "y"):
        picture["meta"]["finding"] = MEANING
    if data is not None or cut is not None:  # they make no room for themselves
        for name, along in (("xaxis", y), ("yaxis", x)):
            picture[name] = picture.get(name, {}) | {"range": [float(along[0]), float(along[-1])]}
    line = (
        [] if cut is None else rimmed_line(np.full(2, cut), x[[0, -1]], width=1.4, hoverinfo="skip", showlegend=False)
    )
    return {"data": [trace, *line, *([] if data is None else [_dots(*data)])], "layout": picture}


def _dots(x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Points on a map: dark, with a light rim, to be seen on all of its colours."""
    marker = {"size": 4, "color": INK[False], "line": {"width": 0.8, "color": GROUND[False]}}
    return {"type": "scatter", "mode": "markers", "x": compact(y, "f8"), "y": compact(x, "f8"), "marker": marker,
            "cliponaxis": False, "hoverinfo": "skip", "showlegend": False}  # fmt: skip


def slice_plot(x: np.ndarray, lines: Mapping[str, np.ndarray], y: float, *, height: int = 260, dark: bool) -> Figure:
    """``μ_{X|Y=y}(x)`` along x at one y, by both estimators and the truth."""
    traces = [_estimate(x, values, name, name, dark) for name, values in lines.items()]
    picture = _frame(f"Cut through both maps at y = {signed(y, 2)}", height, dark) | {"hovermode": "x unified"}
    legend_on_the_right(picture)
    picture["xaxis"] = axis("x", dark, automargin=False)
    picture["yaxis"] = axis("μ(x, y)", dark, automargin=False)
    summary = "; ".join(f"{name} {descriptions.course(x, values)}" for name, values in lines.items())
    picture["meta"]["alt"] = f"Embedding along x at y = {y:.2f}: {summary}."
    return {"data": traces, "layout": picture}


def exponent_plot(
    a: np.ndarray, curves: Mapping[str, np.ndarray], marks: Mapping[str, tuple[float, float]], now: float, *,
    height: int = 340, dark: bool = False,
) -> Figure:  # fmt: skip
    """Rate exponents against a, one line a difficulty, the minimax points marked, the chosen a as a rule."""
    traces: list[dict[str, Any]] = []
    for index, (name, values) in enumerate(curves.items()):
        colour = series_colour(index, dark)
        traces.append(
            {
                "type": "scatter", "mode": "lines", "x": compact(a, "f8"), "y": compact(values, "f8"), "name": name,
                "line": {"color": colour, "width": 2.4 if index == 0 else 1.4}, "hovertemplate": "%{y:.3f}",
            }
        )  # fmt: skip
        position = marks[name]
        traces.append(
            {
                "type": "scatter", "mode": "markers", "x": [position[0]], "y": [position[1]], "showlegend": False,
                "marker": {"size": 9, "color": colour, "symbol": "diamond"},
                "hovertemplate": f"minimax point of {name}: a = %{{x:.3f}}, exponent %{{y:.3f}}<extra></extra>",
            }
        )  # fmt: skip
    picture = _frame("Exponent r of the rate, a power −r of M", height, dark) | {
        "showlegend": True,
        "hovermode": "x unified",
    }
    picture["margin"] = picture["margin"] | {"t": 54}
    picture["xaxis"] = axis("a: how fast N of the first stage grows with M", dark, automargin=False)
    picture["yaxis"] = axis("r", dark, automargin=False, rangemode="tozero")
    picture["shapes"] = [upright(now, {"color": INK[dark], "width": 1, "dash": "dot"})]
    summary = "; ".join(
        f"{name} at a = {position[0]:.2f}, exponent {position[1]:.2f}" for name, position in marks.items()
    )
    picture["meta"]["alt"] = f"Exponent of the rate against a, now a = {now:.2f}; minimax points: {summary}."
    return {"data": traces, "layout": picture}


def rate_plot(
    targets: np.ndarray,
    errors: np.ndarray,
    lines: Mapping[str, np.ndarray],
    *,
    title: str,
    label: str,
    height: int = 340,
    dark: bool = False,
) -> Figure:
    """Errors (sizes × seeds, or none yet) against M on log axes, and lines to compare them with, by name."""
    known = errors.reshape(len(targets), -1) if errors.size else np.empty((len(targets), 0))
    points = {
        "type": "scatter", "mode": "markers", "x": compact(np.repeat(targets, known.shape[1]), "f8"),
        "y": compact(known.ravel(), "f8"), "name": "single data sets",
        "marker": {"size": 4, "color": hue("grey", dark)},
    } | hover_numbers(known.ravel(), "M = %{x:.0f}: ", "<extra></extra>")  # fmt: skip
    drawn = [
        {
            "type": "scatter", "mode": "lines", "x": compact(targets, "f8"), "y": compact(values, "f8"), "name": name,
            "line": {"color": series_colour(index, dark), "width": 2, "dash": ("dot", "dash", "solid")[index % 3]},
            "hoverinfo": "skip",
        }
        for index, (name, values) in enumerate(lines.items())
    ]  # fmt: skip
    picture = _frame(title, height, dark)
    legend_on_the_right(picture)
    picture["xaxis"] = axis("M, samples of the second stage", dark, automargin=False, **log_axis(targets))
    picture["yaxis"] = axis(label, dark, automargin=False, **log_axis(np.concatenate([known.ravel(), *lines.values()])))
    measured = {"measured": np.median(known, axis=1)} if known.size else {}
    summary = descriptions.ends(measured | dict(lines))
    picture["meta"]["alt"] = f"{title} against M from {targets[0]:,.0f} to {targets[-1]:,.0f}: {summary}."
    return {"data": [points, *drawn] if known.size else drawn, "layout": picture}


def grid_plot(
    samples: np.ndarray,
    curves: Mapping[str, np.ndarray],
    *,
    title: str,
    label: str,
    along: str = "N, samples of the first stage",
    height: int = 340,
    dark: bool = False,
) -> Figure:
    """Errors on log axes against sizes, which ``along`` names with a letter first; one line a case."""
    letter = along.split(",")[0]
    traces = [
        {
            "type": "scatter", "mode": "lines+markers", "x": compact(samples, "f8"), "y": compact(values, "f8"),
            "name": name, "line": {"color": series_colour(index, dark), "width": 1.8}, "marker": {"size": 5},
        }
        | hover_numbers(values, f"{letter} = %{{x:,.0f}}: ")
        for index, (name, values) in enumerate(curves.items())
    ]  # fmt: skip
    picture = _frame(title, height, dark) | {"showlegend": True}
    picture["margin"] = picture["margin"] | {"t": 74}
    picture["xaxis"] = axis(along, dark, automargin=False, **log_axis(samples))
    picture["yaxis"] = axis(label, dark, automargin=False, **log_axis(np.concatenate(list(curves.values()))))
    picture["meta"]["alt"] = (
        f"{title} against {letter} from {samples[0]:,.0f} to {samples[-1]:,.0f}: {descriptions.ends(curves)}."
    )
    return {"data": traces, "layout": picture}


def cost_plot(
    rows: Sequence[tuple[str, float, float, bool]], now: Sequence[tuple[str, float, float, bool]], *,
    height: int = 320, dark: bool = False,
) -> Figure:  # fmt: skip
    """CPU seconds against N on log axes, one line a route; hollow marks are extrapolated, large ones measured now.

    Parameters
    ----------
    rows, now : (route, N, seconds, extrapolated) of the kept table, and of the data on the page.
    """
    hues = dict(zip(dict.fromkeys(route for route, *_ in rows), ("sky", "violet", "teal"), strict=False))
    dashes = dict(zip(hues, ("solid", "dot", "dash"), strict=False))
    traces: list[dict[str, Any]] = []
    for route, name in hues.items():
        colour = hue(name, dark)
        mine = sorted((n, t, guess) for name, n, t, guess in rows if name == route)
        traces.append(
            _costs(mine, colour, 6)
            | {"name": route, "mode": "lines+markers", "line": {"color": colour, "width": 1.8, "dash": dashes[route]}}
        )
        times = [(n, t, guess) for name, n, t, guess in now if name == route]
        if times:
            traces.append(
                _costs(times, colour, 12) | {"name": f"{route}, here", "mode": "markers", "showlegend": False}
            )
    picture = _frame("CPU time of the weights", height, dark) | {"showlegend": True}
    picture["margin"] = picture["margin"] | {"t": 74}
    everything = [*rows, *now]
    picture["xaxis"] = axis("N, points", dark, automargin=False, **log_axis(np.array([n for _, n, _, _ in everything])))
    picture["yaxis"] = axis("seconds", dark, automargin=False, **log_axis(np.array([t for _, _, t, _ in everything])))
    summary = ", ".join(f"{name} {duration(t)} at {n:,.0f} points" for name, n, t, _ in now or rows)
    picture["meta"]["alt"] = f"CPU time against the number of points: {summary}."
    return {"data": traces, "layout": picture}


def _costs(points: Sequence[tuple[float, float, bool]], colour: str, size: int) -> dict[str, Any]:
    symbols = ["circle-open" if guess else "circle" for _, _, guess in points]
    return {
        "type": "scatter", "x": [float(n) for n, _, _ in points], "y": [float(t) for _, t, _ in points],
        "marker": {"size": size, "color": colour, "symbol": symbols, "line": {"width": 1.6, "color": colour}},
        "text": [f"{duration(t)} ({'extrapolated' if guess else 'measured'})" for _, t, guess in points],
        "hovertemplate": "N = %{x:,.0f}: %{text}",
    }  # fmt: skip


def _frame(title: str, height: int, dark: bool) -> dict[str, Any]:
    picture = layout(title, height=height, dark=dark)
    picture["margin"] = {"l": 54, "r": 8, "t": 34, "b": 44}
    picture["xaxis"] = axis("y", dark, automargin=False)
    picture["yaxis"] = axis("x", dark, automargin=False)
    return picture
