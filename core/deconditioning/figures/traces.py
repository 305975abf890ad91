"""Learning curves: the evidence and every hyperparameter against the step."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deconditioning.figures.colours import SERIES, hue, series_colour
from deconditioning.figures.style import Figure, axis, compact, hover_numbers, layout, literal, upright
from deconditioning.figures.trace_lines import BEST, hyperparameters_of_fits
from deconditioning.wording import number

_MOST_POINTS = 300
_FEW_POINTS = 12  # up to here every evaluation is marked: a line through one point shows nothing
_LEGEND_ROW = 20  # pixels of one line of a legend
_NAME_ROW = 14  # pixels of one row of the fits' names
_MOST_ON_TOP = 2  # more names than these stand below the curves
_DASHES = ("solid", "dash", "dot")
#: An objective's axis shows this share of its evaluations, the best; all of it where there are fewer evaluations.
_SHOWN, _FEW_TO_CLIP = 0.95, 4
#: Least height of that axis, as a share of the values.
_LEAST_SPAN = 1e-3


def _thin(count: int, most: int = _MOST_POINTS) -> np.ndarray:
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
    fits: Sequence[str] = (),
    dark: bool = False,
) -> Figure:
    """Lines of one or several values against the step of a fit; None and NaN leave gaps, few points are marked.

    Names stand below the curves and make the figure higher, so that the curves keep their room, where they are more
    than two or where several fits have names of their own above the curves.

    Parameters
    ----------
    step : (T,) step numbers, ascending.  series : name → (T,) values in the units of `label`.
    log : logarithmic axis, for positive hyperparameters of different size.  height : pixels without a legend below.
    fits : names of the fits that follow one another; numbers by default.
    """
    boundaries = _boundaries(step, series)
    chosen = np.union1d(_thin(len(step)), np.flatnonzero(np.isin(step, boundaries)))
    at = np.asarray(step, dtype=float)[chosen]
    traces: list[dict[str, Any]] = []
    for index, (name, values) in enumerate(series.items()):
        y = np.array([np.nan if v is None else v for v in values], dtype=float)[chosen]
        traces.append(_line(at, y, name, index, dark))
    below = len(series) > _MOST_ON_TOP or (len(series) > 1 and bool(boundaries))
    rows = len(series) if below else 0
    picture = layout(title, height=height + _LEGEND_ROW * rows, dark=dark, showlegend=len(series) > 1)
    picture["hovermode"] = "x unified"
    picture["shapes"] = [_divider(position, dark) for position in boundaries]
    picture["annotations"] = _named(at, boundaries, fits)
    on_top = len(series) > 1 and not below
    top = 52 + _NAME_ROW if boundaries else 52 if on_top else 34
    picture["margin"] = {"l": 52, "r": 8, "t": top if title else 24, "b": 40}
    if below:
        picture["legend"] |= {"yref": "container", "y": 0, "maxheight": _LEGEND_ROW * (rows + 1)}
    picture["xaxis"] = axis("Step", dark, showgrid=False, automargin=below, rangemode="nonnegative")
    if len(at):  # the same for all pictures of one learning
        picture["xaxis"] |= {"range": [0, 1.02 * float(at.max()) or 1.0], "autorange": False}
    picture["xaxis"] |= {"dtick": 1} if len(at) and np.ptp(at) < 6 else {"nticks": 8}
    picture["yaxis"] = axis(label, dark, **(_decades(series) if log else {}))
    last = ", ".join(f"{name} {_last(values)}" for name, values in series.items())
    fits = f" in {len(boundaries) + 1} fits" if boundaries else ""
    many = f"{len(step) - len(boundaries)} steps{fits}"
    picture["meta"]["alt"] = f"{title or label or 'Trace'} against the step, {many}; last value {last}."
    return {"data": traces, "layout": picture}


def _boundaries(step: Sequence[float], series: Mapping[str, Sequence[float | None]]) -> list[float]:
    """The steps at which no curve has a value: there another fit begins."""
    return [at for at, *row in zip(step, *series.values(), strict=True) if all(value is None for value in row)]


def _named(steps: np.ndarray, boundaries: Sequence[float], fits: Sequence[str]) -> list[dict[str, Any]]:
    """The name of each fit above its part of the curves, where there are several; "Fit 1", "Fit 2" … without names.

    They stand by turns in two rows, so that the name of a narrow part has room.
    """
    starts = [float(steps[0]), *boundaries] if boundaries else []
    names = fits if len(fits) == len(starts) else [f"Fit {n}" for n in range(1, len(starts) + 1)]
    head = {"yref": "paper", "y": 1, "yanchor": "bottom", "xanchor": "left", "showarrow": False, "font": {"size": 11}}
    return [
        {"text": literal(name), "x": start, "yshift": _NAME_ROW * (row % 2), **head}
        for row, (name, start) in enumerate(zip(reversed(names), reversed(starts), strict=True))
    ][::-1]


def _divider(at: float, dark: bool) -> dict[str, Any]:
    ink = {"dash": "dot", "width": 1, "color": hue("grey", dark)}
    return upright(at, ink)


def objective_trace(
    stage: str,
    step: Sequence[float],
    lines: Mapping[str, Sequence[float | None]],
    *,
    height: int = 240,
    fits: Sequence[str] = (),
    dark: bool = False,
) -> Figure:
    """What a stage of learning climbs (a log evidence) or descends (a loss), by its own name and sign.

    ``stage`` is the title, the first of ``lines`` (its name up to a bracket) that of the vertical axis: (T,) values at
    the (T,) ``step``, in ``fits`` as `trace_plot` has them. The axis shows the best `_SHOWN` of the trace where the
    rest would flatten it.
    """
    title = stage[:1].upper() + stage[1:] or "Objective"
    quantity = next(iter(lines), "").split(" (")[0]
    figure = trace_plot(step, lines, title=title, label=quantity, height=height, fits=fits, dark=dark)
    _shorten_names(figure)
    if (ends := _least_span(lines)) is not None:
        figure["layout"]["yaxis"] |= {"range": list(ends), "autorange": False}
        return figure
    if lines and (limits := _range_of_best(lines)) is not None:
        low, high, beyond, side = limits
        figure["layout"]["yaxis"] |= {"range": [low, high], "autorange": False}
        words = f"{beyond} of {len(step) - len(_boundaries(step, lines))} evaluations lie {side} this range"
        corner = {"xref": "paper", "yref": "paper", "x": 1, "y": float(side == "above"), "showarrow": False}
        figure["layout"]["annotations"] = [
            *figure["layout"].get("annotations", ()),
            {"text": words, "xanchor": "right", "font": {"size": 10}, **corner},
        ]
        figure["layout"]["meta"]["alt"] += f" {words}."
    return figure


def _shorten_names(figure: Figure) -> None:
    """Leave what a name says in brackets out of the legend, and put that below the axes where the chart is narrow."""
    for trace in figure["data"]:
        trace["name"] = trace["name"].split(" (")[0]
    figure["layout"]["meta"]["legend"] = "beside"


def _least_span(lines: Mapping[str, Sequence[float | None]]) -> tuple[float, float] | None:
    """Ends of an axis for an objective that hardly changes, where ticks would differ in late digits alone."""
    known = [v for values in lines.values() for v in values if v is not None and np.isfinite(v)]
    if not known:
        return None
    low, high = min(known), max(known)
    least = _LEAST_SPAN * max(abs(low), abs(high))
    return None if high == low or high - low >= least else ((low + high - least) / 2, (low + high + least) / 2)


def _range_of_best(lines: Mapping[str, Sequence[float | None]]) -> tuple[float, float, int, str] | None:
    """Ends of an axis for the best of an objective, how many evaluations lie beyond them and on which side; None where
    all of it can be shown."""
    every = {
        name: np.array([np.nan if v is None else v for v in values], dtype=float) for name, values in lines.items()
    }
    values = next(iter(every.values()))
    values = values[np.isfinite(values)]
    if len(values) < _FEW_TO_CLIP:
        return None
    sign = -1.0 if _descends(every) else 1.0
    best_first = -np.sort(-sign * values)
    shown_values = best_first[: len(values) - int(np.ceil((1 - _SHOWN) * len(values)))]
    span, whole = shown_values[0] - shown_values[-1], best_first[0] - best_first[-1]
    if whole <= 2 * span or whole == 0:
        return None
    room = 0.05 * (span or abs(shown_values[0]) or 1.0)
    low, high = shown_values[-1] - room, shown_values[0] + room
    ends = sorted((sign * low, sign * high))
    return ends[0], ends[1], int((best_first < low).sum()), "below" if sign > 0 else "above"


def _descends(lines: Mapping[str, np.ndarray]) -> bool:
    """Whether less is better: the best so far has fallen, or the name says so."""
    if BEST in lines:
        best = lines[BEST][np.isfinite(lines[BEST])]
        if len(best) and best[0] != best[-1]:
            return bool(best[-1] < best[0])
    return "loss" in next(iter(lines))


def hyperparameter_trace(
    step: Sequence[float],
    values: Mapping[str, Sequence[float | None]],
    *,
    height: int = 260,
    fits: Sequence[str] = (),
    dark: bool = False,
) -> Figure:
    """Every hyperparameter against the step, on one logarithmic axis (all are positive)."""
    named, _ = hyperparameters_of_fits(values)
    return trace_plot(
        step, named, title="Hyperparameters", label="value, standardised units", log=True, height=height, fits=fits,
        dark=dark,
    )  # fmt: skip


def _line(x: np.ndarray, y: np.ndarray, name: str, index: int, dark: bool) -> dict[str, Any]:
    colour, dash = series_colour(index, dark), _DASHES[index // len(SERIES) % len(_DASHES)]
    few = int(np.isfinite(y).sum()) <= _FEW_POINTS
    return {
        "type": "scatter", "mode": "lines+markers" if few else "lines", "x": compact(x, "f8"), "y": compact(y, "f8"),
        "name": literal(name), "line": {"color": colour, "width": 1.8, "dash": dash},
        "marker": {"color": colour, "size": 5},
    } | hover_numbers(y, digits=4)  # fmt: skip


def _decades(series: Mapping[str, Sequence[float | None]]) -> dict[str, Any]:
    """A logarithmic axis with about five labels, at powers of ten."""
    known = [v for values in series.values() for v in values if v is not None and np.isfinite(v) and v > 0]
    span = np.log10(max(known)) - np.log10(min(known)) if known else 1.0
    step, low = max(1, int(np.ceil(span / 5))), int(np.floor(np.log10(min(known, default=0.1))))
    powers = [10.0**n for n in range(low, low + int(np.ceil(span)) + 1, step)]
    return {"type": "log", "tickvals": powers, "ticktext": [number(each).removeprefix("1 × ") for each in powers]}


def _last(values: Sequence[float | None]) -> str:
    known = [v for v in values if v is not None and np.isfinite(v)]
    return number(known[-1], 4) if known else "unknown"
