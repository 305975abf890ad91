"""Small multiples: the picture at every setting of a sweep, as small maps or small curves on the same scale."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from deconditioning.figures.colours import clear, colour_scale, series_colour
from deconditioning.figures.flip_book import coded
from deconditioning.figures.style import Figure, axis, compact, layout, literal

_Frame = tuple[float, float, float, float]


def small_multiples(maps: Sequence[np.ndarray], words: Sequence[str], columns: int, *, dark: bool = False) -> Figure:
    """Small maps (h, w), rows from south to north, on one scale 0 … 1, ``columns`` in a row, each with its words."""
    rows, (height, width) = -(-len(maps) // columns), maps[0].shape
    gap, room = max(2, width // 20), max(5, height // 7)
    sheet = np.full((rows * (height + room), columns * (width + gap)), np.nan)
    notes = []
    for index, (each, word) in enumerate(zip(maps, words, strict=True)):
        row, column = divmod(index, columns)
        bottom, left = (rows - 1 - row) * (height + room), column * (width + gap)
        sheet[bottom : bottom + height, left : left + width] = each
        notes.append({"x": left, "y": bottom + height, "text": literal(word), "xanchor": "left", "yanchor": "bottom",
                      "showarrow": False, "font": {"size": 11}})  # fmt: skip
    pixels = int(np.clip(900 / columns * (height + room) / (width + gap), 60, 120))
    picture = layout("", height=pixels * rows + 10, dark=dark, showlegend=False, annotations=notes)
    picture["margin"] = {"l": 0, "r": 0, "t": 16, "b": 0}
    for name in ("xaxis", "yaxis"):
        picture[name] = axis(dark=dark, visible=False, constrain="domain")
    picture["yaxis"] |= {"scaleanchor": "x"}
    heat = {"type": "heatmap", "z": compact(sheet), "zmin": 0, "zmax": 1, "colorscale": colour_scale("sequential"),
            "showscale": False, "hoverinfo": "skip"}  # fmt: skip
    picture["meta"]["alt"] = (
        f"{len(maps)} small maps of the posterior mean on the same colour scale: {'; '.join(words)}."
    )
    return {"data": [heat], "layout": picture}


def small_picture(values: np.ndarray, low: float, high: float) -> dict[str, Any]:
    """A small map (h, w), rows from south to north, as JSON: one byte a value on a scale from ``low`` to ``high``."""
    text = base64.b64encode(coded(values, low, high).tobytes()).decode("ascii")
    return {"shape": list(values.shape), "bytes": text}


def small_map(picture: Mapping[str, Any]) -> np.ndarray:
    """What `small_picture` made (h, w), as shares 0 … 1 of its scale; NaN where missing."""
    flat = np.frombuffer(base64.b64decode(picture["bytes"]), np.uint8).reshape(picture["shape"]).astype(float)
    return np.where(flat > 0, (flat - 1) / 254, np.nan)


def small_lines(x: np.ndarray, lines: Mapping[str, np.ndarray], sd: np.ndarray | None = None) -> dict[str, Any]:
    """Curves over x as JSON, to four digits: the first with its ±2 ``sd``, others such as the truth beside it."""

    def short(values: np.ndarray) -> list[float | None]:
        """Values to four digits; None if one is not finite."""
        return [float(f"{value:.4g}") if np.isfinite(value) else None for value in values]

    band = {} if sd is None else {"sd": short(sd)}
    return {"x": short(x), "lines": {name: short(values) for name, values in lines.items()}} | band


def small_curves(
    pictures: Sequence[Mapping[str, Any]], words: Sequence[str], columns: int, *, dark: bool = False
) -> Figure:
    """Small plots of `small_lines`, all on the same ends, ``columns`` in a row, each with its words."""
    rows, names = -(-len(pictures) // columns), list(pictures[0]["lines"])
    frame = _ends(pictures)
    traces, notes = [], []
    placed = [(*_corner(index, columns, rows), picture) for index, picture in enumerate(pictures)]
    if "sd" in pictures[0]:
        traces.append(_bands(placed, frame, names[0], dark))
    for index, name in enumerate(names):
        parts = [_moved(picture["x"], picture["lines"][name], left, bottom, frame) for left, bottom, picture in placed]
        line = {"color": series_colour(index, dark), "width": 1.6, "dash": "dot" if index else "solid"}
        traces.append(_joined(parts) | {"mode": "lines", "line": line, "name": name})
    for (left, bottom, _), word in zip(placed, words, strict=True):
        notes.append({"x": left, "y": bottom + 1.02, "text": literal(word), "xanchor": "left", "yanchor": "bottom",
                      "showarrow": False, "font": {"size": 11}})  # fmt: skip
    picture = layout(
        "", height=int(np.clip(760 / columns, 80, 150)) * rows + 10, dark=dark, annotations=notes, showlegend=False
    )
    picture["margin"] = {"l": 0, "r": 0, "t": 8, "b": 0}
    for axis_name, most in (("xaxis", columns * 1.08), ("yaxis", rows * 1.35)):
        picture[axis_name] = axis(dark=dark, visible=False, range=[-0.02, most])
    picture["meta"]["alt"] = f"{len(pictures)} small plots of {', '.join(names)} on the same axes: {'; '.join(words)}."
    return {"data": traces, "layout": picture}


def _corner(index: int, columns: int, rows: int) -> tuple[float, float]:
    row, column = divmod(index, columns)
    return column * 1.08, (rows - 1 - row) * 1.35


def _ends(pictures: Sequence[Mapping[str, Any]]) -> _Frame:
    """Least and most of x and, but for what 1 % of the values go beyond, of all lines."""
    x = np.concatenate([np.asarray(picture["x"], dtype=float) for picture in pictures])
    y = np.array([value for picture in pictures for line in picture["lines"].values() for value in line], dtype=float)
    low, high = np.nanquantile(y, [0.01, 0.99]) if np.isfinite(y).any() else (0.0, 1.0)
    return float(x.min()), float(x.max()), float(low), float(high if high > low else low + 1)


def _moved(
    x: Sequence[float] | np.ndarray, y: Sequence[float | None], left: float, bottom: float, frame: _Frame
) -> tuple[np.ndarray, np.ndarray]:
    """A line in its own unit square, what leaves it held at its edge."""
    across = (np.asarray(x, dtype=float) - frame[0]) / ((frame[1] - frame[0]) or 1.0)
    up = np.clip((np.array(y, dtype=float) - frame[2]) / (frame[3] - frame[2]), 0, 1)
    return left + across, bottom + up


def _bands(
    placed: Sequence[tuple[float, float, Mapping[str, Any]]], frame: _Frame, name: str,
    dark: bool,
) -> dict[str, Any]:  # fmt: skip
    parts = []
    for left, bottom, picture in placed:
        mean, sd = (np.array(values, dtype=float) for values in (picture["lines"][name], picture["sd"]))
        x = np.asarray(picture["x"], dtype=float)
        around = np.concatenate([mean + 2 * sd, (mean - 2 * sd)[::-1]])
        parts.append(_moved(np.concatenate([x, x[::-1]]), around.tolist(), left, bottom, frame))
    face = clear(series_colour(0, dark), 0.25)
    return _joined(parts) | {"mode": "lines", "fill": "toself", "fillcolor": face, "line": {"width": 0},
                             "name": f"{name} ±2 sd"}  # fmt: skip


def _joined(parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> dict[str, Any]:
    """Lines as one trace, gaps between them."""
    x, y = (np.concatenate([np.append(part[side], np.nan) for part in parts]) for side in (0, 1))
    return {"type": "scatter", "x": compact(x), "y": compact(y), "hoverinfo": "skip"}
