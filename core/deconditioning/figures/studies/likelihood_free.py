"""Pictures of likelihood-free inference: marginals with every method's interval, pairs, q̄, ranks, errors."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deconditioning.figures import descriptions
from deconditioning.figures.colours import (
    MODEL_NAMES,
    clear,
    hue,
    image_scale,
    model_colour,
    series_colour,
)
from deconditioning.figures.style import (
    DARK,
    INK,
    LIGHT,
    Figure,
    axis,
    compact,
    filled,
    histogram_bins,
    hover_numbers,
    layout,
    legend_on_the_right,
    literal,
    log_axis,
    rimmed_line,
    upright,
)
from deconditioning.wording import number

#: Natural logarithms of q̄ around its best inside the guards at the ends of the colours, at least and at most.
_LEAST_DEPTH, _MOST_DEPTH = 0.1, 10.0
#: Height of a method's name and interval, as a share of the picture.
_ROW = 0.1
#: How far above its interval a name stands, as a share of the row.
_NAME = 0.16


def marginal_plot(
    samples: np.ndarray, intervals: Mapping[str, tuple[float, float, float]], *, variable: str,
    limits: tuple[float, float], shown: str = "dme", prior: tuple[np.ndarray, np.ndarray] | None = None,
    exact: tuple[np.ndarray, np.ndarray] | None = None, truth: float | None = None,
    names: Mapping[str, str] = MODEL_NAMES, units: str = "", legend: bool = True, height: int = 380,
    dark: bool = False,
) -> Figure:  # fmt: skip
    """Herded samples (S,) of one parameter as a histogram with the prior and the exact density; below, every method's
    mean and central 95 % interval (low, mean, high) on the same axis.

    ``prior`` and ``exact`` are (places, densities); ``truth`` is drawn as a rule; ``names`` are those of the methods,
    ``units`` those of the parameter.
    """
    traces: list[dict[str, Any]] = []
    if len(samples):
        counts, edges = np.histogram(samples, bins=histogram_bins(samples, limits), range=limits)
        traces.append(
            {
                "type": "bar", "x": compact(0.5 * (edges[1:] + edges[:-1]), "f8"),
                "name": f"{len(samples)} samples:<br>{names.get(shown, shown)}",
                "y": compact(counts / len(samples) / (edges[1] - edges[0]), "f8"), "width": float(edges[1] - edges[0]),
                "marker": filled(model_colour(shown, dark)), "hovertemplate": "%{x:.4~r}",
            }
        )  # fmt: skip
    for curve, name, ink, dash in (
        (prior, "prior: before the<br>observation", hue("grey", dark), "dash"),
        (exact, "exact posterior", INK[dark], "solid"),
    ):
        if curve is not None:
            traces.append(_line(*curve, name, ink, dash))
    rows = [names.get(name, name) for name in intervals]
    for row, (name, ends) in enumerate(intervals.items()):
        traces.append(_interval(len(rows) - 1 - row, names.get(name, name), *ends, model_colour(name, dark)))
    traces.append(_names(rows, limits[0], dark))
    picture = layout(f"Posterior of {variable}; below, mean and 95 % interval", height=height, dark=dark,
                     barmode="overlay")  # fmt: skip
    if legend:
        legend_on_the_right(picture)
    picture["margin"] = {"l": 52, "r": 10, "t": 36, "b": 42}
    label = f"{variable}, {units}" if units else variable
    picture["xaxis"] = axis(label, dark, automargin=False, range=list(limits), anchor="y2")
    picture |= _above_rows(rows, dark)
    if truth is not None:
        stroke = {"color": series_colour(1, dark), "width": 1.3, "dash": "dot"}
        picture["shapes"] = [upright(truth, stroke)]
    summary = ", ".join(
        f"{descriptions.legend_name(n, names)} {number(m)} [{number(low)}, {number(high)}]"
        for n, (low, m, high) in intervals.items()
    )
    picture["meta"]["alt"] = f"Posterior of {variable}, means and central 95 % intervals: {summary}."
    return {"data": traces, "layout": picture}


def _above_rows(rows: list[str], dark: bool) -> dict[str, Any]:
    """The axis of the density, and below it that of the methods."""
    share = _ROW * len(rows)
    return {
        "yaxis": axis("density", dark, automargin=False, domain=[share + 0.06, 1], rangemode="tozero", nticks=6),
        "yaxis2": axis("", dark, automargin=False, domain=[0, share], showgrid=False, zeroline=False,
                       range=[-0.5, len(rows)], showticklabels=False),
    }  # fmt: skip


def _names(rows: list[str], left: float, dark: bool) -> dict[str, Any]:
    """The methods' names above their intervals: beside them, they would take half of a narrow picture."""
    return {
        "type": "scatter", "mode": "text", "x": [left] * len(rows), "text": [literal(row) for row in rows],
        "y": [at + _NAME for at in reversed(range(len(rows)))], "yaxis": "y2", "textposition": "top right",
        "textfont": {"size": 11, "color": INK[dark]}, "showlegend": False, "hoverinfo": "skip",
    }  # fmt: skip


def _interval(row: int, name: str, low: float, mean: float, high: float, colour: str) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines+markers", "x": [low, mean, high], "y": [row] * 3, "yaxis": "y2",
        "line": {"color": colour, "width": 3}, "showlegend": False, "cliponaxis": True,
        "marker": {"color": colour, "size": [1, 9, 1], "symbol": "diamond"},
        "hovertemplate": f"{name}: {number(mean, 4)} [{number(low, 4)}, {number(high, 4)}]<extra></extra>",
    }  # fmt: skip


def _line(x: np.ndarray, y: np.ndarray, name: str, colour: str, dash: str, width: float = 1.8) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "x": compact(x, "f8"), "y": compact(y, "f8"), "name": name,
        "line": {"color": colour, "width": width, "dash": dash},
    } | hover_numbers(y)  # fmt: skip


def corner_plot(
    samples: np.ndarray, names: Sequence[str], *, limits: np.ndarray, shown: str = "dme",
    exact: tuple[np.ndarray, np.ndarray] | None = None, truth: np.ndarray | None = None,
    methods: Mapping[str, str] = MODEL_NAMES, height: int = 520, dark: bool = False,
) -> Figure:  # fmt: skip
    """Samples (S, p) of every two parameters against each other, with the exact 95 % ellipse and the true parameters.

    ``limits`` (p, 2) of the axes; ``exact`` is (mean (p,), covariance (p, p)) of a normal posterior; ``methods`` are
    what methods are called.
    """
    count = len(names)
    picture = layout("Posterior of every two parameters", height=height, dark=dark)
    legend_on_the_right(picture)
    picture["margin"] = {"l": 58, "r": 10, "t": 36, "b": 46}
    traces: list[dict[str, Any]] = []
    panels = [(row, column) for row in range(1, count) for column in range(row)]
    for index, (row, column) in enumerate(panels, 1):
        x_axis, y_axis = (f"{side}{index if index > 1 else ''}" for side in "xy")
        axes = {"xaxis": x_axis, "yaxis": y_axis, "showlegend": index == 1}
        marker = {"size": 4, "color": model_colour(shown, dark)}
        hover = f"{literal(names[column])} %{{x:.3~r}}, {literal(names[row])} %{{y:.3~r}}<extra></extra>"
        traces.append({"type": "scatter", "mode": "markers", "x": compact(samples[:, column], "f8"), "marker": marker,
                       "y": compact(samples[:, row], "f8"), "name": f"samples:<br>{methods.get(shown, shown)}",
                       "hovertemplate": hover} | axes)  # fmt: skip
        if exact is not None:
            ellipse = _ellipse(exact[0][[column, row]], exact[1][np.ix_([column, row], [column, row])])
            traces.append(_line(*ellipse, "exact 95 %", INK[dark], "solid", 1.4) | axes | {"hoverinfo": "skip"})
        if truth is not None:
            star = {"size": 11, "symbol": "x-thin", "line": {"width": 2.4, "color": series_colour(1, dark)}}
            traces.append({"type": "scatter", "mode": "markers", "x": [float(truth[column])], "y": [float(truth[row])],
                           "marker": star, "name": "true parameters",
                           "hovertemplate": "true parameters<extra></extra>"} | axes)  # fmt: skip
        across = axis(names[column] if row == count - 1 else "", dark, automargin=False, nticks=4, anchor=y_axis,
                      domain=_part(column, count - 1), range=limits[column].tolist())  # fmt: skip
        up = axis(names[row] if column == 0 else "", dark, automargin=False, nticks=4, anchor=x_axis,
                  domain=_part(count - 1 - row, count - 1), range=limits[row].tolist())  # fmt: skip
        picture[f"xaxis{x_axis[1:]}"] = across | {"showticklabels": row == count - 1}
        picture[f"yaxis{y_axis[1:]}"] = up | {"showticklabels": column == 0}
    tied = ", ".join(
        f"{names[row]} with {names[column]} {np.corrcoef(samples[:, row], samples[:, column])[0, 1]:.2f}"
        for row, column in panels
    )
    picture["meta"]["alt"] = f"{len(samples)} samples, for each pair of {', '.join(names)}; correlations: {tied}."
    return {"data": traces, "layout": picture}


def _part(index: int, count: int) -> list[float]:
    """The share of the axis that panel ``index`` of ``count`` takes."""
    gap = 0.04 if count > 1 else 0.0
    width = (1 - gap * (count - 1)) / count
    return [index * (width + gap), index * (width + gap) + width]


def _ellipse(mean: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The curve inside which a normal pair lies with 95 %: radius √5.991."""
    turn = np.linspace(0, 2 * np.pi, 80)
    circle = np.sqrt(5.991) * np.stack([np.cos(turn), np.sin(turn)])
    points = mean[:, None] + np.linalg.cholesky(covariance) @ circle
    return points[0], points[1]


def q_surface_plot(
    lengths: np.ndarray, others: np.ndarray, values: np.ndarray, *, other: str, box: tuple[tuple[float, float], ...],
    now: tuple[float, float], inside: float, height: int = 360, dark: bool = False,
) -> Figure:  # fmt: skip
    """``log q̄`` (G, H) over ``others`` (G,; ε or λ, up) and ℓ in spreads (H,; across) relative to ``inside``, its best
    in the guards, which are drawn as a box ((ℓ from, to), (other from, to)); ``now`` is the chosen (ℓ, other).
    """
    known = values[np.isfinite(values)] - inside
    depth = float(np.clip(np.quantile(np.abs(known), 0.7) if known.size else 0.0, _LEAST_DEPTH, _MOST_DEPTH))
    finite = np.where(np.isfinite(values), values - inside, -depth)
    marks = depth * np.array([-1, -0.5, 0, 0.5, 1])
    trace = {
        "type": "contour", "z": compact(np.clip(finite, -depth, depth)), "x": compact(np.log10(lengths), "f8"),
        "y": compact(np.log10(others), "f8"), "colorscale": image_scale("diverging", dark),
        "zmin": -depth, "zmax": depth,
        "contours": {"coloring": "fill", "showlines": False, "start": -depth, "end": depth, "size": depth / 20},
        "colorbar": {"thickness": 9, "len": 0.95, "tickfont": {"size": 11}, "outlinewidth": 0,
                     "tickvals": marks.tolist(), "ticktext": [number(mark, 2) for mark in marks]},
        "hovertemplate": "log q̄ %{z:.2f} relative to the maximum inside<extra></extra>",
    }  # fmt: skip
    mark = {
        "type": "scatter", "mode": "markers", "x": [float(np.log10(now[0]))], "y": [float(np.log10(now[1]))],
        "marker": {"size": 15, "symbol": "star", "color": LIGHT, "line": {"color": DARK, "width": 1.5}},
        "showlegend": False,
        "hovertemplate": f"now: ℓ {number(now[0])} sd, {other} {number(now[1])}<extra></extra>",
    }  # fmt: skip
    (left, right), (low, high) = (np.log10(pair) for pair in box)
    around = np.array([left, right, right, left, left]), np.array([low, low, high, high, low])
    frame = rimmed_line(*around, width=1.8, hoverinfo="skip", showlegend=False)
    picture = layout("log q̄ relative to its maximum inside the limits", height=height, dark=dark)
    picture["margin"] = {"l": 58, "r": 8, "t": 34, "b": 44}
    for side, title, places in (("xaxis", "ℓ, in sd of near parameters", lengths), ("yaxis", other, others)):
        picture[side] = axis(title, dark, automargin=False, range=np.log10(places[[0, -1]]).tolist(), **_ticks(places))
    beyond = float(known.max()) if known.size else 0.0
    picture["meta"]["alt"] = (
        f"log q̄ over ℓ and {other}: the chosen values inside the limits are {number(now[0])}, {number(now[1])}; "
        f"outside the limits log q̄ is up to {beyond:.2f} higher."
    )
    picture["meta"]["diagnostic"] = True
    return {"data": [trace, *frame, mark], "layout": picture}


def _ticks(places: np.ndarray) -> dict[str, Any]:
    """Ticks at 1, 2, 5 times powers of ten where the axis is short, at powers where it is long."""
    low, high = np.log10(places[[0, -1]])
    steps = (1, 2, 5) if high - low < 2.6 else (1,)
    powers = range(int(np.floor(low)), int(np.ceil(high)) + 1)
    every = max(1, len(powers) // 6) if len(steps) == 1 else 1
    marks = [
        m * 10.0**p for p in list(powers)[::every] for m in steps if low - 1e-9 <= np.log10(m * 10.0**p) <= high + 1e-9
    ]
    return {"tickvals": [float(np.log10(mark)) for mark in marks], "ticktext": [number(mark, 6) for mark in marks]}


def ranks_plot(
    counts: np.ndarray, band: tuple[float, float], *, method: str, parameter: str,
    names: Mapping[str, str] = MODEL_NAMES, height: int = 250, dark: bool = False,
) -> Figure:  # fmt: skip
    """How often the truth's rank fell into each part of the samples, and the band of a calibrated posterior."""
    bins, name = len(counts), names.get(method, method)
    colour = model_colour(method, dark)
    bars = {
        "type": "bar", "x": [(index + 0.5) / bins for index in range(bins)], "y": compact(counts, "f8"),
        "width": 0.92 / bins, "marker": {"color": colour}, "hovertemplate": "%{y:.0f}",
    }  # fmt: skip
    picture = layout(f"{name}, {parameter}", height=height, dark=dark)
    picture["margin"] = {"l": 40, "r": 8, "t": 34, "b": 42}
    picture["xaxis"] = axis("rank among the samples", dark, automargin=False, range=[0, 1], nticks=6)
    picture["yaxis"] = axis("", dark, automargin=False, rangemode="tozero", nticks=5)
    strip = {"type": "rect", "xref": "paper", "x0": 0, "x1": 1, "y0": band[0], "y1": band[1], "line": {"width": 0}}
    picture["shapes"] = [strip | {"fillcolor": clear(hue("grey", dark), 0.35), "layer": "below"}]
    outside = int(((counts < band[0]) | (counts > band[1])).sum())
    picture["meta"]["alt"] = (
        f"Ranks of the true {parameter} among {name} samples: {outside} of {bins} bars are outside the band."
    )
    picture["meta"]["diagnostic"] = True
    return {"data": [bars], "layout": picture}


def errors_plot(
    curves: Mapping[str, Mapping[int, float]], *, title: str, label: str, now: int | None = None,
    names: Mapping[str, str] = MODEL_NAMES, height: int = 330, dark: bool = False,
) -> Figure:  # fmt: skip
    """A positive score against the number of simulations on log axes, one line a method, with a rule at ``now``."""
    traces = []
    for name, points in curves.items():
        at, values = np.array(list(points), float), np.array(list(points.values()))
        line = _line(at, values, names.get(name, name), model_colour(name, dark), "solid", 2.0)
        hover = hover_numbers(values, "n = %{x:,.0f}: ")
        traces.append(line | {"mode": "lines+markers", "marker": {"size": 5}} | hover)
    picture = layout(title, height=height, dark=dark, showlegend=True)
    picture["margin"] = {"l": 62, "r": 8, "t": 40, "b": 84}
    picture["legend"] |= {"y": -0.2, "yanchor": "top"}
    places = np.array(sorted({n for points in curves.values() for n in points}), float)
    heights = np.array([value for points in curves.values() for value in points.values()])
    picture["xaxis"] = axis("simulations", dark, automargin=False, **log_axis(places))
    picture["xaxis"] |= {"tickvals": places.tolist(), "ticktext": [number(n, 6) for n in places]}
    picture["yaxis"] = axis(label, dark, automargin=False, **log_axis(heights))
    if now is not None and len(places) and places[0] <= now <= places[-1]:
        picture["shapes"] = [upright(now, {"color": INK[dark], "width": 1, "dash": "dot"})]
        words = {"text": f"now: {now:,}", "font": {"size": 11, "color": INK[dark]}, "showarrow": False}
        corner = {"xanchor": "left", "yref": "paper", "y": 1, "yanchor": "top"}
        picture["annotations"] = [words | corner | {"x": float(np.log10(now))}]
    summary = descriptions.ends({name: list(points.values()) for name, points in curves.items()}, names)
    picture["meta"]["alt"] = f"{title}, from {number(places[0], 6)} to {number(places[-1], 6)} simulations: {summary}."
    return {"data": traces, "layout": picture}
