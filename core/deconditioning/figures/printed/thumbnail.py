"""Small pictures as PNG bytes: of a field, a curve or a whole figure, without axes and words."""

import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.figures.colours import GROUND, colour_scale, four_numbers, hue
from deconditioning.figures.printed.axes import paint, places_of, set_axis
from deconditioning.figures.printed.figure import draw_trace
from deconditioning.figures.style import uncompacted

if TYPE_CHECKING:
    from PIL.Image import Image

#: Pixels: longer side of a field's picture; width and height of a curve's and of a figure's.
LONGEST, CURVE, SIZE = 160, (120, 72), (200, 125)
#: Low, so that lines and marks are thin in so small a picture.
_DPI = 50
_MISSING = (160, 160, 160)
_MAPS = ("heatmap", "heatmapgl", "contour")
_LINES = ("scatter", "scattergl", "scatter3d", "bar")
#: How far the second coordinate of space moves a point across and up the picture.
_LEAN, _RISE = 0.35, 0.18
_Limits = tuple[float | None, float | None]


def field_thumbnail(values: np.ndarray, low: float | None = None, high: float | None = None) -> bytes:
    """A field (H, W), rows from south to north, in the colours of maps; missing values are grey.

    Colours run from ``low`` to ``high``, by default over the middle 99 % of the values. The field is thinned to at most
    160 pixels a side. Raises ``InputError`` for a field without any value.
    """
    known = values[np.isfinite(values)]
    ends = np.quantile(known, [0.005, 0.995]) if known.size else (0.0, 1.0)
    low, high = (float(limit if limit is not None else end) for limit, end in zip((low, high), ends, strict=True))
    return _png(_coloured(np.asarray(values, dtype=float), colour_scale("sequential"), (low, high), LONGEST))


def curve_thumbnail(values: Sequence[float | None]) -> bytes:
    """A curve through finite values, evenly spaced, on a transparent ground. Raises ``InputError`` below two values."""
    known = [(at, float(value)) for at, value in enumerate(values) if value is not None and np.isfinite(value)]
    if len(known) < 2:
        raise InputError("A curve needs at least two values, and there are fewer: give more.")
    x, y = (list(each) for each in zip(*known, strict=True))
    trace = {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": {"color": hue("teal", dark=False), "width": 4}}
    return _png(_draw_traces([trace], {}, CURVE, None))


def figure_sketch(figure: Mapping[str, Any]) -> bytes:
    """A plotly figure's map, or else its bands, lines and marks on its first axes.

    Raises ``InputError`` for a figure without any of them.
    """
    traces = [each for each in figure["data"] if each.get("xaxis", "x") == "x" and each.get("visible", True) is True]
    heat = next((trace for trace in traces if trace.get("type") in _MAPS), None)
    if heat is None:
        layout = figure["layout"]
        dark = sum(four_numbers((layout.get("font") or {}).get("color"))[:3]) > 3 * 128
        return _png(_draw_traces([_flat(trace) for trace in traces if _has_points(trace)], layout, SIZE, GROUND[dark]))
    scale = heat.get("colorscale")
    stops = scale if isinstance(scale, list) else [[0.0, GROUND[1]], [1.0, GROUND[0]]]
    picture = _coloured(uncompacted(heat["z"]), stops, (heat.get("zmin"), heat.get("zmax")), max(SIZE))
    times = min(SIZE[0] / picture.width, SIZE[1] / picture.height)
    size = (max(1, round(picture.width * times)), max(1, round(picture.height * times)))
    return _png(picture.resize(size, 0))  # 0: the nearest pixel


def _coloured(values: np.ndarray, scale: Sequence[Any], limits: _Limits, longest: int) -> "Image":
    """Values (H, W), rows from south to north, through a colour scale, thinned to so many pixels a side."""
    from PIL import Image

    known = values[np.isfinite(values)]
    if values.ndim != 2 or not known.size:
        raise InputError("The field has no value anywhere: there is nothing to draw.")
    step = max(1, -(-max(values.shape) // longest))
    small = values[::step, ::step][::-1]
    low, high = (float(end if limit is None else limit) for limit, end in zip(limits, _ends(known), strict=True))
    share = np.clip((np.where(np.isfinite(small), small, low) - low) / ((high - low) or 1.0), 0, 1)
    places, colours = [float(at) for at, _ in scale], np.array([four_numbers(name)[:3] for _, name in scale], float)
    result = np.stack([np.interp(share, places, colours[:, part]) for part in range(3)], axis=-1)
    result[~np.isfinite(small)] = _MISSING
    return Image.fromarray(np.round(result).astype(np.uint8))


def _ends(known: np.ndarray) -> tuple[float, float]:
    return float(known.min()), float(known.max())


def _has_points(trace: Mapping[str, Any]) -> bool:
    """Whether a trace has lines or marks anywhere."""
    if trace.get("type", "scatter") not in _LINES or trace.get("y") is None:
        return False
    return bool(np.isfinite(places_of([trace], {})["y"](trace["y"])).any())


def _flat(trace: Mapping[str, Any]) -> Mapping[str, Any]:
    """A trace in the plane: of one in space the view from the front, a little from above and from the right."""
    if trace.get("type") != "scatter3d":
        return trace
    x, y, z = (uncompacted(trace[name]) for name in "xyz")
    deep = (y - np.nanmin(y)) / (np.ptp(y) or 1.0)
    marker = dict(trace.get("marker") or {}) | {"size": 4}
    return {"type": "scatter", "mode": "markers", "marker": marker,
            "x": x + _LEAN * deep * np.ptp(x), "y": z + _RISE * deep * np.ptp(z)}  # fmt: skip


def _draw_traces(
    traces: Sequence[Mapping[str, Any]], layout: Mapping[str, Any], size: tuple[int, int], ground: str | None
) -> "Image":
    """Bands, lines and marks of traces, drawn by Matplotlib, on a ``ground`` or on nothing."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    if not traces:
        raise InputError("The figure has no lines or marks: there is nothing to draw.")
    page = Figure((size[0] / _DPI, size[1] / _DPI), dpi=_DPI, facecolor=paint(ground) if ground else "none")
    axes = page.add_axes((0, 0, 1, 1))
    for name in "xy":
        set_axis(axes, name, {**(layout.get(f"{name}axis") or {}), "scaleanchor": None})
    places = places_of(traces, layout)
    for order, trace in enumerate(traces):
        draw_trace(axes, trace, places["x"], places[trace.get("yaxis", "y")], order + 3)
    axes.set_axis_off()
    canvas = FigureCanvasAgg(page)
    canvas.draw()
    drawn = Image.fromarray(np.asarray(canvas.buffer_rgba()).copy())
    return drawn.convert("RGB") if ground else drawn


def _png(picture: "Image") -> bytes:
    stream = io.BytesIO()
    picture.save(stream, format="PNG", optimize=True)
    return stream.getvalue()
