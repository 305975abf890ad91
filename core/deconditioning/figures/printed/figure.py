"""A plotly figure of ours as it is printed: the same lines, marks, bars and colours, drawn by Matplotlib as PNG bytes.

What stays away is what a page says elsewhere (the title) or what a pointer asks for.
"""

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.figures.colours import hue
from deconditioning.figures.printed.axes import PX, Places, decorate, paint, places_of, plain_text, set_axis, set_ticks
from deconditioning.figures.style import uncompacted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Plotly's symbols as Matplotlib's; others are circles.
_SYMBOLS = {"diamond": "D", "square": "s", "x": "X", "cross": "P", "star": "*", "triangle-up": "^", "line-ew": "_"}
_DASHES = {"dot": (0, (1, 1.6)), "dash": (0, (4, 2.4)), "dashdot": (0, (4, 2, 1, 2))}
_GREY = "0.72"
#: Letters that fit side by side into a legend, and those that a line or mark takes.
_LEGEND, _HANDLE = 100, 8


def paper_figure(figure: Mapping[str, Any], *, size: tuple[float, float] = (7.6, 5.5), dpi: int = 200) -> bytes:
    """PNG bytes of a figure of ``size`` inches on white; ``InputError`` for a kind of trace that is not drawn here."""
    import matplotlib
    from matplotlib.figure import Figure

    matplotlib.rcParams["text.parse_math"] = False  # for all threads alike: a $ is a $
    page = Figure(figsize=size, layout="constrained")
    deep = any(trace.get("type") == "scatter3d" for trace in figure["data"])
    (_deep if deep else _flat)(page, figure)
    stream = io.BytesIO()
    page.savefig(stream, format="png", dpi=dpi)
    return stream.getvalue()


def _flat(page: "Figure", figure: Mapping[str, Any]) -> None:
    """On axes from left to right, one below the other where the figure has two up."""
    layout, traces = figure["layout"], figure["data"]
    names = sorted({trace.get("yaxis", "y") for trace in traces}) or ["y"]
    tall = [np.ptp((layout.get(_long(name)) or {}).get("domain", (0, 1))) for name in names]
    axes = page.subplots(len(names), 1, squeeze=False, sharex=True, gridspec_kw={"height_ratios": tall})[:, 0]
    places = places_of(traces, layout)
    for name, one in zip(names, axes, strict=True):
        across, up = layout.get("xaxis") or {}, layout.get(_long(name)) or {}
        set_axis(one, "x", across, shown=name == names[-1])
        set_axis(one, "y", up)
        for order, trace in enumerate(traces):
            if trace.get("yaxis", "y") == name and trace.get("visible", True) is True:
                draw_trace(one, trace, places["x"], places[name], order + 3)
        set_ticks(one.xaxis, across, places["x"])
        set_ticks(one.yaxis, up, places[name])
    decorate(axes[0], layout)
    _legend(page, figure)


def _long(name: str) -> str:
    """The layout's name of an axis: "y2" is "yaxis2"."""
    return f"yaxis{name[1:]}"


def draw_trace(axes: Any, trace: Mapping[str, Any], across: Places, up: Places, order: int) -> None:
    """Draw a trace of the plane; ``InputError`` for a kind that is not drawn here."""
    kind = trace.get("type", "scatter")
    if kind in ("scatter", "scattergl"):
        _scatter(axes, trace, across(trace.get("x")), up(trace.get("y")), order)
    elif kind == "bar":
        marker, x, y = trace.get("marker") or {}, across(trace["x"]), up(trace["y"])
        edge = marker.get("line") or {}
        look = {"color": paint(marker.get("color")), "edgecolor": paint(edge.get("color", marker.get("color")))}
        width = trace.get("width", 0.8 * (np.diff(np.sort(x)).min() if len(x) > 1 else 1.0))
        axes.bar(x, y, width=width, linewidth=PX * edge.get("width", 0), zorder=order, **look)
    elif kind in ("heatmap", "contour"):
        _heat(axes, trace, across, up)
    else:
        raise InputError(f"A trace of type '{kind}' cannot be printed.")


def _scatter(axes: Any, trace: Mapping[str, Any], x: np.ndarray, y: np.ndarray, order: int) -> None:
    """Band, line, error bars and marks."""
    line, mode = trace.get("line") or {}, trace.get("mode", "lines")
    if trace.get("fill"):
        for part in _unbroken(x, y):
            axes.fill(x[part], y[part], facecolor=paint(trace.get("fillcolor")), linewidth=0, zorder=order)
    if "lines" in mode and line.get("width", 2):
        dash = _DASHES.get(line.get("dash", "solid"), "-")
        thick, ink = PX * line.get("width", 2), paint(line.get("color"))
        axes.plot(x, y, color=ink, linewidth=thick, linestyle=dash, zorder=order)
    for name, bars in (("xerr", trace.get("error_x")), ("yerr", trace.get("error_y"))):
        if bars:
            look = {"ecolor": paint(bars.get("color")), "elinewidth": PX * bars.get("thickness", 2)}
            sizes = {name: np.abs(uncompacted(bars["array"])), "capsize": PX * bars.get("width", 4)}
            axes.errorbar(x, y, fmt="none", zorder=order, **sizes, **look)
    if "markers" in mode:
        _marks(axes, trace.get("marker") or {}, (x, y), order)


def _unbroken(x: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """Indices of the parts of a curve between its gaps."""
    known = np.isfinite(x) & np.isfinite(y)
    runs = np.split(np.arange(len(x)), np.flatnonzero(np.diff(known.astype(int))) + 1)
    return [run for run in runs if len(run) > 2 and known[run[0]]]


def _marks(axes: Any, marker: Mapping[str, Any], at: tuple[np.ndarray, ...], order: int, **more: Any) -> Any:
    """Marks of every symbol among them; returns what a colour bar needs."""
    count, drawn = len(at[0]), None
    symbols = marker.get("symbol", "circle")
    symbols = np.array(symbols if isinstance(symbols, list) and len(symbols) == count else [_first(symbols)] * count)
    sizes = np.broadcast_to(np.asarray(_numbers(marker.get("size", 6)), dtype=float), count)
    colours, scaled = _colours(marker, count)
    rim = marker.get("line") or {}
    for symbol in dict.fromkeys(symbols.tolist()):
        mine, hollow = symbols == symbol, symbol.endswith("-open")
        shape = _SYMBOLS.get(symbol.removesuffix("-open"), "o")
        look = {"s": (PX * sizes[mine]) ** 2, "marker": shape, "zorder": order, "alpha": marker.get("opacity"), **more}
        thick = PX * rim.get("width", 1.5 if hollow or shape == "_" else 0)
        points = [values[mine] for values in at]
        if scaled:
            drawn = axes.scatter(*points, c=colours[mine], **scaled, linewidths=0, **look)
        elif hollow and shape != "_":
            axes.scatter(*points, facecolors="none", edgecolors=colours[mine], linewidths=thick, **look)
        else:
            edge = {} if shape == "_" or "color" not in rim else {"edgecolors": paint(_first(rim["color"]))}
            axes.scatter(*points, facecolors=colours[mine], linewidths=thick, **edge, **look)
    return drawn


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, list) else value


def _numbers(value: Any) -> Any:
    return uncompacted(value) if isinstance(value, Mapping | list) else value


def _colours(marker: Mapping[str, Any], count: int) -> tuple[np.ndarray, dict[str, Any]]:
    """Of every mark its colour, or its number with the scale that makes colours of such."""
    colours = marker.get("color")
    if isinstance(colours, list) and colours and isinstance(colours[0], str):
        return np.array([paint(name) for name in colours]), {}
    if isinstance(colours, Mapping | list):
        return uncompacted(colours), _scale_of(marker, "cmin", "cmax")
    return np.tile(paint(colours), (count, 1)), {}


def _scale_of(holder: Mapping[str, Any], low: str, high: str) -> dict[str, Any]:
    """Matplotlib's words for a colour scale and its limits."""
    from matplotlib.colors import LinearSegmentedColormap

    stops = [(float(at), paint(name)) for at, name in holder["colorscale"]]
    colours = LinearSegmentedColormap.from_list("scale", stops).with_extremes(bad=_GREY)
    return {"cmap": colours, "vmin": holder.get(low), "vmax": holder.get(high)}


def _heat(axes: Any, trace: Mapping[str, Any], across: Places, up: Places) -> None:
    z = uncompacted(trace["z"])
    x, y = (
        places(trace[name]) if name in trace else np.arange(count) * trace.get(f"d{name}", 1) + trace.get(f"{name}0", 0)
        for places, name, count in ((across, "x", z.shape[1]), (up, "y", z.shape[0]))
    )
    look, values = _scale_of(trace, "zmin", "zmax"), np.ma.masked_invalid(z)
    if trace["type"] == "contour":
        mesh = axes.contourf(x, y, values, _levels(trace, values), extend="both", **look)
    else:
        mesh = axes.pcolormesh(x, y, values, shading="nearest", rasterized=True, **look)
    if trace.get("showscale", True):
        _bar(axes, mesh, trace.get("colorbar") or {})


def _levels(trace: Mapping[str, Any], values: np.ndarray) -> np.ndarray:
    """Where the colours of a contour change: as its steps say, else so many times between its ends."""
    steps = trace.get("contours") or {}
    if "start" in steps:
        return np.arange(steps["start"], steps["end"] + steps["size"] / 2, steps["size"])
    return np.linspace(float(values.min()), float(values.max()), 1 + trace.get("ncontours", 15))


def _bar(axes: Any, mesh: Any, colour_bar: Mapping[str, Any], **more: Any) -> None:
    bar = axes.figure.colorbar(mesh, ax=axes, aspect=34, pad=0.02, **more)
    bar.outline.set_linewidth(0)
    bar.ax.tick_params(length=2, labelsize=8, colors=hue("ink", False))
    if "tickvals" in colour_bar:
        bar.set_ticks(_numbers(colour_bar["tickvals"]), labels=[plain_text(text) for text in colour_bar["ticktext"]])
    title = colour_bar.get("title") or {}
    bar.set_label(plain_text(title.get("text") or ""), fontsize=9)


def _deep(page: "Figure", figure: Mapping[str, Any]) -> None:
    """Marks in space, seen from where the screen's camera stands at first."""
    axes: Any = page.add_subplot(projection="3d")
    scene = figure["layout"].get("scene") or {}
    for trace in figure["data"]:
        marker = trace.get("marker") or {}
        at = tuple(uncompacted(trace[name]) for name in "xyz")
        small = dict(marker) | {"size": 2 * marker.get("size", 3)}
        drawn = _marks(axes, small, at, 3, depthshade=False)
        if drawn is not None and marker.get("showscale"):
            _bar(axes, drawn, marker.get("colorbar") or {}, orientation="horizontal", shrink=0.7)
    for name in "xyz":
        axis = scene.get(f"{name}axis") or {}
        getattr(axes, f"set_{name}label")(plain_text((axis.get("title") or {}).get("text") or ""), fontsize=9)
        getattr(axes, f"{name}axis").set_pane_color((1, 1, 1, 0))
        axes.locator_params(axis=name, nbins=axis.get("nticks", 5))
    axes.tick_params(labelsize=8)
    eye = ((scene.get("camera") or {}).get("eye")) or {"x": 1.25, "y": 1.25, "z": 1.25}
    flat = float(np.hypot(eye["x"], eye["y"]))
    axes.view_init(elev=np.degrees(np.arctan2(eye["z"], flat)), azim=np.degrees(np.arctan2(eye["y"], eye["x"])))
    axes.set_box_aspect((1, 1, 1))


def _legend(page: "Figure", figure: Mapping[str, Any]) -> None:
    """What every named trace is, above the axes, where the screen has a legend."""
    if not figure["layout"].get("showlegend"):
        return
    named = [trace for trace in figure["data"] if trace.get("name") and trace.get("showlegend", True)]
    handles = {plain_text(trace["name"]): _handle(trace) for trace in named}
    if handles:
        legend = figure["layout"].get("legend") or {}
        ground, ink = legend.get("bgcolor"), (legend.get("font") or {}).get("color", hue("ink", False))
        columns = max(1, _LEGEND // (max(map(len, handles)) + _HANDLE))
        page.legend(
            handles.values(), handles.keys(), loc="outside upper left", ncols=columns, fontsize=9,
            frameon=bool(ground), facecolor=paint(ground) if ground else "none", labelcolor=ink,
        )  # fmt: skip


def _handle(trace: Mapping[str, Any]) -> Any:
    """A small picture of a trace."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    line, marker = trace.get("line") or {}, trace.get("marker") or {}
    lines = "lines" in trace.get("mode", "lines") and line.get("width", 2)
    if trace.get("type") == "bar" or (trace.get("fill") and not lines):
        return Patch(facecolor=paint(trace.get("fillcolor", _first(marker.get("color")))))
    symbol = str(_first(marker.get("symbol", "circle")))
    ink = line.get("color") if lines else _first(marker.get("color"))
    return Line2D(
        [], [], color=paint(ink), linewidth=PX * line.get("width", 2) if lines else 0,
        linestyle=_DASHES.get(line.get("dash", "solid"), "-") if lines else "none",
        marker=_SYMBOLS.get(symbol.removesuffix("-open"), "o") if "markers" in trace.get("mode", "lines") else None,
        markersize=5, markerfacecolor="none" if symbol.endswith("-open") else paint(ink),
    )  # fmt: skip
