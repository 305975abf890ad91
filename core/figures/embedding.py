"""Pictures of conditional mean embeddings: bags of points, μ(x, y) as a map, regressions, rates on log axes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from core.figures.colours import SERIES, Colours, colour_scale, model_colour
from core.figures.style import INK, Figure, axis, compact, layout

_ESTIMATES = {"standard": "cmp", "shrinkage": "shrinkage_cmp", "truth": "truth"}


def bags_plot(
    x: np.ndarray, y: np.ndarray, bag: np.ndarray, *, most: int = 4000, height: int = 320, dark: bool = False
) -> Figure:
    """Points (y of their bag, x), one colour a bag; evenly thinned beyond ``most`` points."""
    keep = np.linspace(0, len(x) - 1, min(len(x), most)).round().astype(int)
    colours = np.array(SERIES)[bag[keep] % len(SERIES)]
    trace = {
        "type": "scattergl", "mode": "markers", "x": compact(y[keep]), "y": compact(x[keep]),
        "marker": {"size": 4, "color": colours.tolist(), "opacity": 0.7}, "hovertemplate": "y %{x:.2f}, x %{y:.2f}",
    }  # fmt: skip
    picture = _frame("Data: one column a bag", height, dark)
    count = len(np.unique(bag))
    picture["meta"]["alt"] = f"{len(x)} points in {count} bags, each bag at its y."
    return {"data": [trace], "layout": picture}


def embedding_map(
    values: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    *,
    title: str,
    colours: Colours = "sequential",
    limits: tuple[float, float] | None = None,
    height: int = 320,
    dark: bool = False,
) -> Figure:
    """``μ(x, y)`` (X, Y) as a heat map, y to the right, x up."""
    low, high = limits or (float(values.min()), float(values.max()))
    bar = {"thickness": 9, "len": 0.9, "tickfont": {"size": 10}, "outlinewidth": 0, "nticks": 6}
    trace = {
        "type": "heatmap", "z": compact(values), "x": compact(y, "f8"), "y": compact(x, "f8"),
        "colorscale": colour_scale(colours), "zmin": low, "zmax": high, "colorbar": bar, "zsmooth": "best",
        "hovertemplate": "y %{x:.2f}, x %{y:.2f}: %{z:.4f}<extra></extra>",
    }  # fmt: skip
    picture = _frame(title, height, dark)
    picture["meta"]["alt"] = f"{title} over y and x, from {values.min():.3g} to {values.max():.3g}."
    return {"data": [trace], "layout": picture}


def regressions_plot(
    y: np.ndarray, lines: Mapping[str, np.ndarray], *, height: int = 320, dark: bool = False
) -> Figure:
    """``E[X | Y = y]`` by both estimators and the truth."""
    names = {"standard": "standard", "shrinkage": "shrinkage", "truth": "y sin y"}
    dashes = {"standard": "solid", "shrinkage": "dash", "truth": "dot"}
    traces = [
        {
            "type": "scatter", "mode": "lines", "x": compact(y, "f8"), "y": compact(values, "f8"), "name": names[name],
            "line": {"color": model_colour(_ESTIMATES[name]), "width": 2, "dash": dashes[name]},
            "hovertemplate": "%{y:.3f}",
        }
        for name, values in lines.items()
    ]  # fmt: skip
    picture = _frame("Regression E[X | Y = y]", height, dark) | {"showlegend": True, "hovermode": "x unified"}
    picture["margin"] = picture["margin"] | {"t": 54}
    picture["meta"]["alt"] = "Conditional mean of X given y by both estimators beside y sin y."
    return {"data": traces, "layout": picture}


def slice_plot(x: np.ndarray, lines: Mapping[str, np.ndarray], y: float, *, height: int = 320, dark: bool) -> Figure:
    """``μ_{X|Y=y}(x)`` along x at one y."""
    traces = [
        {
            "type": "scatter", "mode": "lines", "x": compact(x, "f8"), "y": compact(values, "f8"), "name": name,
            "line": {"color": model_colour(_ESTIMATES[name]), "width": 2, "dash": "dash" if i else "solid"},
            "hovertemplate": "%{y:.4f}",
        }
        for i, (name, values) in enumerate(lines.items())
    ]  # fmt: skip
    picture = _frame(f"Embedding at y = {y:.2f}", height, dark) | {"showlegend": True, "hovermode": "x unified"}
    picture["margin"] = picture["margin"] | {"t": 54}
    picture["xaxis"] = axis("x", dark, automargin=False)
    picture["yaxis"] = axis("μ(x)", dark, automargin=False)
    picture["meta"]["alt"] = f"Both embeddings along x at y = {y:.2f}."
    return {"data": traces, "layout": picture}


def exponent_plot(
    a: np.ndarray, curves: Mapping[str, np.ndarray], marks: Mapping[str, tuple[float, float]], now: float, *,
    height: int = 340, dark: bool = False,
) -> Figure:  # fmt: skip
    """Rate exponents against a, one line a difficulty, the minimax points marked, the chosen a as a rule."""
    traces: list[dict[str, Any]] = []
    for index, (name, values) in enumerate(curves.items()):
        colour = SERIES[index % len(SERIES)]
        traces.append(
            {
                "type": "scatter", "mode": "lines", "x": compact(a, "f8"), "y": compact(values, "f8"), "name": name,
                "line": {"color": colour, "width": 2.4 if index == 0 else 1.4}, "hovertemplate": "%{y:.3f}",
            }
        )  # fmt: skip
        place = marks[name]
        traces.append(
            {
                "type": "scatter", "mode": "markers", "x": [place[0]], "y": [place[1]], "showlegend": False,
                "marker": {"size": 9, "color": colour, "symbol": "diamond"},
                "hovertemplate": f"minimax point of {name}: a = %{{x:.3f}}, exponent %{{y:.3f}}<extra></extra>",
            }
        )  # fmt: skip
    picture = _frame("Exponent r of the rate M^(−r)", height, dark) | {"showlegend": True, "hovermode": "x unified"}
    picture["margin"] = picture["margin"] | {"t": 54}
    picture["xaxis"] = axis("a: how fast the first stage's N grows with M", dark, automargin=False)
    picture["yaxis"] = axis("r", dark, automargin=False, rangemode="tozero")
    rule = {"type": "line", "x0": now, "x1": now, "yref": "paper", "y0": 0, "y1": 1}
    picture["shapes"] = [rule | {"line": {"color": INK[dark], "width": 1, "dash": "dot"}}]
    first = next(iter(marks.values()))
    picture["meta"]["alt"] = f"Exponent of the rate against a; the minimax point lies at a = {first[0]:.2f}."
    return {"data": traces, "layout": picture}


def rate_plot(
    targets: np.ndarray, risks: np.ndarray, slope: float, theory: float, *, height: int = 340, dark: bool = False
) -> Figure:
    """Measured risks (sizes × seeds) against M on log axes, their fitted slope and that of the theorem."""
    mean = risks.mean(1)
    middle = len(targets) // 2

    def line(exponent: float) -> np.ndarray:
        return mean[middle] * (targets / targets[middle]) ** exponent

    spread = {
        "type": "scatter", "mode": "markers", "x": compact(np.repeat(targets, risks.shape[1]), "f8"),
        "y": compact(risks.ravel(), "f8"), "name": "one data set each", "marker": {"size": 4, "color": "#8b949b"},
        "hovertemplate": "M = %{x}: %{y:.4f}",
    }  # fmt: skip
    lines = [
        {
            "type": "scatter", "mode": "lines", "x": compact(targets, "f8"), "y": compact(line(exponent), "f8"),
            "name": name, "line": {"color": colour, "width": 2, "dash": dash}, "hoverinfo": "skip",
        }
        for name, exponent, colour, dash in (
            (f"measured slope {slope:.2f}", slope, SERIES[0], "solid"),
            (f"theorem 4.2: {-theory:.2f}", -theory, SERIES[1], "dash"),
        )
    ]  # fmt: skip
    picture = _frame("Measured risk of the deconditional mean operator", height, dark) | {"showlegend": True}
    picture["margin"] = picture["margin"] | {"t": 54}
    picture["xaxis"] = axis("M, samples of the second stage", dark, automargin=False, type="log")
    picture["yaxis"] = axis("E‖ψ(Y) − D̂Cψ(Y)‖²", dark, automargin=False, type="log", exponentformat="power")
    picture["meta"]["alt"] = f"Risk against M on log axes: measured slope {slope:.2f}, theorem {-theory:.2f}."
    return {"data": [spread, *lines], "layout": picture}


def _frame(title: str, height: int, dark: bool) -> dict[str, Any]:
    picture = layout(title, height=height, dark=dark)
    picture["margin"] = {"l": 54, "r": 8, "t": 34, "b": 44}
    picture["xaxis"] = axis("y", dark, automargin=False)
    picture["yaxis"] = axis("x", dark, automargin=False)
    return picture
