"""Accuracy and coverage of every model on several fields: one line for each field, one dot for each model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deconditioning.figures.colours import clear, hue, model_colour, model_name
from deconditioning.figures.style import INK, Figure, axis, layout, literal
from deconditioning.metrics.intervals import AIM

#: Pixels of a line of few fields, and of one of more than `_MANY`.
_LINE, _LOW_LINE, _MANY = 46, 28, 6
#: Letters of the longest name in one line.
_LONG = 24
#: How far from the line of a field the dots of its models lie at most, in lines.
_ASIDE = 0.42
#: From the foot to the top of a panel, behind its dots.
_ENDS = {"y0": 0, "y1": 1, "yref": "paper", "layer": "below"}


@dataclass(frozen=True)
class Measured:
    """One model on one field: its RMSE as a share of that of bilinear interpolation, the coverage of its 95 % intervals
    (None if it gives none)."""

    field: str
    model: str
    share: float
    coverage: float | None


def accuracy(rows: Sequence[Measured], usual: str, *, dark: bool = False) -> Figure:
    """RMSE relative to bilinear interpolation, which is the dotted line at 1.

    Dots of the model ``usual`` are larger and filled; the others are rings of their colours.
    """
    places = {(row.field, row.model): row.share for row in rows}
    shares = [f"{row.field} {100 * row.share:.0f} %" for row in rows if row.model == usual]
    sentence = f"RMSE of {model_name(usual)} relative to bilinear interpolation: {', '.join(shares)}."
    picture = _picture(rows, "Error", "RMSE relative to bilinear", sentence, dark)
    picture["xaxis"]["range"] = [0, 1.03 * max(1.05, *places.values())]
    line = {"type": "line", "x0": 1, "x1": 1, "line": {"color": INK[dark], "width": 1, "dash": "dot"}}
    picture["shapes"] += [line | _ENDS]
    picture["annotations"] = [_above("bilinear interpolation: 1", 1)]
    hover = "%{x:.0%} of the RMSE of bilinear interpolation"
    return {"data": _dots(rows, places, usual, hover, dark), "layout": picture}


def coverage(rows: Sequence[Measured], usual: str, *, dark: bool = False) -> Figure:
    """Coverage of the 95 % intervals, shaded where it is about right; dots as in `accuracy`."""
    places = {(row.field, row.model): row.coverage for row in rows if row.coverage is not None}
    shares = [f"{field} {100 * share:.0f} %" for (field, model), share in places.items() if model == usual]
    sentence = f"{model_name(usual)}: {', '.join(shares)}."
    picture = _picture(rows, "Coverage of 95 % intervals", "share of the truth inside them", sentence, dark)
    tenths = [tenth / 10 for tenth in range(11)]
    picture["xaxis"] |= {"range": [min(0.85, *places.values()) - 0.02, 1.005], "tickvals": tenths}
    picture["xaxis"]["ticktext"] = [f"{100 * share:.0f} %" for share in tenths]
    band = {"type": "rect", "x0": AIM[0], "x1": AIM[1], "line": {"width": 0}}
    picture["shapes"] += [band | {"fillcolor": clear(hue("teal", dark), 0.14)} | _ENDS]
    words = f"aim: {100 * AIM[0]:.0f} to {100 * AIM[1]:.0f} %"
    picture["annotations"] = [_above(words, sum(AIM) / 2)]
    return {"data": _dots(rows, places, usual, "coverage %{x:.0%}", dark), "layout": picture}


def _picture(rows: Sequence[Measured], title: str, label: str, alt: str, dark: bool) -> dict[str, Any]:
    """A line for each field, every other one shaded: dots lie on both sides of their line."""
    fields = _fields(rows)
    picture = layout(title, height=124 + (_LINE if len(fields) <= _MANY else _LOW_LINE) * len(fields), dark=dark)
    picture["margin"] |= {"t": 60, "l": 8, "b": 44}
    picture["xaxis"] = axis(label, dark)
    picture["yaxis"] = axis("", dark, range=[len(fields) - 0.4, -0.6], fixedrange=True, zeroline=False)
    picture["yaxis"] |= {"tickvals": list(range(len(fields))), "ticktext": [_in_two_lines(field) for field in fields]}
    strip = {"type": "rect", "xref": "paper", "x0": 0, "x1": 1, "line": {"width": 0}, "layer": "below"}
    picture["shapes"] = [
        strip | {"y0": row - 0.5, "y1": row + 0.5, "fillcolor": clear(INK[dark], 0.06)}
        for row in range(0, len(fields), 2)
    ]
    picture["meta"]["alt"] = f"{title}: {alt}"
    return picture


def _fields(rows: Sequence[Measured]) -> list[str]:
    return list(dict.fromkeys(row.field for row in rows))


def _in_two_lines(name: str) -> str:
    """A long name broken after the comma nearest its middle: a phone has no room beside it."""
    commas = [at for at, letter in enumerate(name) if letter == ","]
    if len(name) <= _LONG or not commas:
        return literal(name)
    at = min(commas, key=lambda comma: abs(comma - len(name) / 2)) + 1
    return f"{literal(name[:at])}<br>{literal(name[at:].strip())}"


def _above(text: str, x: float) -> dict[str, Any]:
    """The name of a line or a band, above it."""
    where = {"x": x, "xref": "x", "y": 1, "yref": "paper", "yanchor": "bottom", "showarrow": False}
    return where | {"text": text, "font": {"size": 11.5}}


def _dots(
    rows: Sequence[Measured], places: Mapping[tuple[str, str], float], usual: str, hover: str, dark: bool
) -> list[dict[str, Any]]:  # fmt: skip
    """The dots of every model: the usual one's on the line of its field, the others' by turns above and below it."""
    fields, traces = _fields(rows), []
    models = sorted(dict.fromkeys(model for _, model in places), key=lambda model: model != usual)
    for index, model in reversed([*enumerate(models)]):
        aside = _ASIDE * ((index + 1) // 2) / max(1, len(models) // 2) * (-1) ** index
        chosen, colour = model == usual, model_colour(model, dark)
        marker = {"size": 14 if chosen else 10, "color": colour, "symbol": "circle" if chosen else "circle-open",
                  "line": {"width": 2, "color": colour}}  # fmt: skip
        shares = {field: share for (field, each), share in places.items() if each == model}
        traces.append(
            {"type": "scatter", "mode": "markers", "marker": marker, "name": literal(model_name(model)),
             "x": list(shares.values()), "y": [fields.index(field) + aside for field in shares], "hovertemplate": hover}
        )  # fmt: skip
    return traces
