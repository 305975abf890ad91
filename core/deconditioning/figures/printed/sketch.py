"""A plotly figure as a small picture, PNG bytes: what it shows at a glance, without axes and words."""

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from deconditioning.errors import InputError
from deconditioning.figures.colours import GROUND, four_numbers
from deconditioning.figures.style import uncompacted

#: Width and height in pixels, drawn so many times larger, and marks drawn at most.
SIZE, _FINER, _MOST_MARKS = (200, 125), 3, 800
_MISSING = (178, 184, 189)
#: Where a view from the front, a little from above and from the right, puts a third coordinate.
_LEAN, _RISE = 0.35, 0.18


def figure_sketch(figure: Mapping[str, Any]) -> bytes:
    """The figure's map, or else its bands, lines and marks on its first axes.

    Raises ``InputError`` for a figure without any of them.
    """
    traces = [each for each in figure["data"] if each.get("xaxis", "x") == "x" and each.get("visible", True) is True]
    heats = [trace for trace in traces if trace.get("type") in ("heatmap", "contour", "heatmapgl")]
    picture = _heat(heats[0]) if heats else _drawn(traces, figure["layout"])
    stream = io.BytesIO()
    picture.convert("RGB").quantize(96, dither=Image.Dither.NONE).save(stream, format="PNG", optimize=True)
    return stream.getvalue()


def _heat(trace: Mapping[str, Any]) -> Image.Image:
    """The field through its colours, south below, as large as fits."""
    z = uncompacted(trace["z"])
    if z.ndim != 2 or not np.isfinite(z).any():
        raise InputError("The figure's map has no value: there is nothing to draw.")
    step = max(1, -(-max(z.shape) // max(SIZE)))
    z = z[::step, ::step][::-1]
    coloured = _through(z, trace.get("colorscale"), trace.get("zmin"), trace.get("zmax"))
    picture = Image.fromarray(coloured)
    scale = min(SIZE[0] / picture.width, SIZE[1] / picture.height)
    size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    return picture.resize(size, Image.Resampling.NEAREST)


def _through(values: np.ndarray, scale: Any, low: Any, high: Any) -> np.ndarray:
    """Values as colours, (…, 3) of 0 … 255; grey where missing."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()) if low is None else low), (float(known.max()) if high is None else high)
    stops = [(float(at), four_numbers(name)[:3]) for at, name in scale] if isinstance(scale, list) else _PLAIN
    share = np.clip((np.where(np.isfinite(values), values, low) - low) / ((high - low) or 1.0), 0, 1)
    places, colours = [at for at, _ in stops], np.array([colour for _, colour in stops], float)
    found = np.stack([np.interp(share, places, colours[:, part]) for part in range(3)], axis=-1)
    found[~np.isfinite(values)] = _MISSING
    return np.round(found).astype(np.uint8)


_PLAIN = [(0.0, four_numbers(GROUND[1])[:3]), (1.0, four_numbers(GROUND[0])[:3])]


def _drawn(traces: list[Any], layout: Mapping[str, Any]) -> Image.Image:
    """Bands, lines and marks, each trace at its place."""
    placed = [(trace, *found) for trace in traces if (found := _points(trace, layout)) is not None]
    ends = [_ends(layout, name, [one[at] for one in placed]) for at, name in ((1, "xaxis"), (2, "yaxis"))]
    if not placed or not np.isfinite(ends).all():
        raise InputError("The figure has no lines or marks: there is nothing to draw.")
    dark = sum(four_numbers((layout.get("font") or {}).get("color"))[:3]) > 3 * 128
    size = (SIZE[0] * _FINER, SIZE[1] * _FINER)
    picture = Image.new("RGB", size, four_numbers(GROUND[dark])[:3])
    pen, below = ImageDraw.Draw(picture, "RGBA"), None
    for trace, x, y in placed:
        across = [(values - low) / ((high - low) or 1.0) for values, (low, high) in zip((x, y), ends, strict=True)]
        at = np.column_stack([across[0] * size[0], (1 - across[1]) * size[1]]).clip(-9999, 9999)
        _draw(pen, trace, at, below)
        below = at
    return picture.resize(SIZE, Image.Resampling.LANCZOS)


def _points(trace: Mapping[str, Any], layout: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray] | None:
    """Where a trace's points lie on axes that are even; None where it has none that are drawn."""
    if trace.get("type", "scatter") not in ("scatter", "scattergl", "scatter3d", "bar") or trace.get("y") is None:
        return None
    try:
        y = uncompacted(trace["y"])
        x = uncompacted(trace["x"]) if trace.get("x") is not None else np.arange(len(y), dtype=float)
        z = uncompacted(trace["z"]) if trace.get("type") == "scatter3d" else None
    except (TypeError, ValueError):  # names of categories
        return None
    if not len(y) or len(x) != len(y):
        return None
    if z is not None:
        deep = (y - np.nanmin(y)) / ((np.nanmax(y) - np.nanmin(y)) or 1.0)
        return x + _LEAN * deep * np.ptp(x), z + _RISE * deep * np.ptp(z)
    with np.errstate(divide="ignore", invalid="ignore"):
        return tuple(  # type: ignore[return-value]
            np.log10(values) if (layout.get(name) or {}).get("type") == "log" else values
            for values, name in ((x, "xaxis"), (y, "yaxis"))
        )


def _ends(layout: Mapping[str, Any], name: str, values: list[np.ndarray]) -> tuple[float, float]:
    """The axis's own range, else that of the values with a margin."""
    given = (layout.get(name) or {}).get("range")
    if given and all(isinstance(end, int | float) for end in given):
        return float(given[0]), float(given[1])
    known = np.concatenate([each[np.isfinite(each)] for each in values]) if values else np.empty(0)
    if not known.size:
        return np.nan, np.nan
    margin = 0.06 * (np.ptp(known) or 1.0)
    return float(known.min() - margin), float(known.max() + margin)


def _draw(pen: ImageDraw.ImageDraw, trace: Mapping[str, Any], at: np.ndarray, below: np.ndarray | None) -> None:
    mode, line, marker = trace.get("mode", "lines"), trace.get("line") or {}, trace.get("marker") or {}
    good = np.isfinite(at).all(axis=1)
    if trace.get("fill") == "tonexty" and below is not None:
        _area(pen, np.concatenate([at[good], below[np.isfinite(below).all(axis=1)][::-1]]), trace)
    elif trace.get("fill") == "toself":
        _area(pen, at[good], trace)
    if "lines" in mode and line.get("width", 2):
        for part in np.split(at, np.flatnonzero(~good)):
            whole = part[np.isfinite(part).all(axis=1)]
            if len(whole) > 1:
                width = max(1, round(_FINER * min(float(line.get("width", 2)), 2.5)))
                pen.line(
                    [tuple(point) for point in whole], fill=four_numbers(line.get("color")), width=width, joint="curve"
                )
    if "markers" in mode:
        step = max(1, -(-int(good.sum()) // _MOST_MARKS))
        colours = _marks(marker, len(at))[good][::step]
        for (x, y), colour in zip(at[good][::step], colours, strict=True):
            pen.ellipse((x - 1.6 * _FINER, y - 1.6 * _FINER, x + 1.6 * _FINER, y + 1.6 * _FINER), fill=tuple(colour))


def _area(pen: ImageDraw.ImageDraw, outline: np.ndarray, trace: Mapping[str, Any]) -> None:
    if len(outline) > 2:
        pen.polygon([tuple(point) for point in outline], fill=four_numbers(trace.get("fillcolor")))


def _marks(marker: Mapping[str, Any], count: int) -> np.ndarray:
    """A colour for each mark, (count, 4)."""
    given = marker.get("color")
    if isinstance(given, list) and len(given) == count and all(isinstance(name, str) for name in given):
        return np.array([four_numbers(name) for name in given])
    if isinstance(given, Mapping | list):
        coloured = _through(uncompacted(given), marker.get("colorscale"), marker.get("cmin"), marker.get("cmax"))
        return np.column_stack([coloured, np.full(count, 255)])
    return np.tile(four_numbers(given), (count, 1))
