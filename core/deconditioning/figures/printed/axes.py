"""The axes of a printed plotly figure: ranges, ticks, names, and what stands on them beside the traces."""

import base64
import html
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deconditioning.figures.colours import clear, four_numbers, hue
from deconditioning.figures.style import RAISED, power, uncompacted
from deconditioning.wording import number

#: Points of one of the screen's pixels.
PX = 0.8
#: Below so many decades a log axis has ticks between powers of ten.
_FEW_DECADES = 2
_RAISE = re.compile("<sup>([^<]*)</sup>")
_TAG = re.compile(r"<[^>]+>")


def plain_text(text: Any) -> str:
    """Words of plotly, which reads some HTML, as they are read."""
    lines = re.sub(r"<br ?/?>", "\n", _RAISE.sub(lambda match: match[1].translate(RAISED), str(text)))
    return html.unescape(_TAG.sub("", lines)).replace("\u2060", "")


def paint(name: Any) -> tuple[float, float, float, float]:
    """A colour of plotly's as Matplotlib takes it."""
    red, green, blue, alpha = (part / 255 for part in four_numbers(name))
    return red, green, blue, alpha


@dataclass
class Places:
    """Where what is drawn lies on an axis: numbers where they are, words one after the other."""

    words: list[str] = field(default_factory=list)

    def __call__(self, values: Any) -> np.ndarray:
        """Numbers for the values of a trace."""
        try:
            return uncompacted(values)
        except (TypeError, ValueError):
            return np.array([self._of(str(value)) for value in values], dtype=float)

    def _of(self, word: str) -> int:
        if word not in self.words:
            self.words.append(word)
        return self.words.index(word)


def places_of(traces: Sequence[Mapping[str, Any]], layout: Mapping[str, Any]) -> dict[str, Places]:
    """Those of every axis: "x", "y", "y2"; words are in the order of the layout, or in which they come."""
    result = {}
    for name in ("x", *sorted({trace.get("yaxis", "y") for trace in traces} or {"y"})):
        axis = layout.get(f"{name[0]}axis{name[1:]}") or {}
        result[name] = Places([str(word) for word in axis.get("categoryarray", [])])
        for trace in traces:
            if (name == "x" or trace.get("yaxis", "y") == name) and trace.get(name[0]) is not None:
                result[name](trace[name[0]])
    return result


def set_axis(axes: Any, name: str, options: Mapping[str, Any], *, shown: bool = True) -> None:
    """An axis as the layout tells of it: log or even, its range and name; before the traces are drawn."""
    axis, ink = getattr(axes, f"{name}axis"), hue("ink", False)
    log = options.get("type") == "log"
    if log:
        axes.set(**{f"{name}scale": "log"})
    limits = options.get("range")
    if limits and all(isinstance(end, int | float) for end in limits):
        getattr(axes, f"set_{name}lim")(*(10.0**end if log else end for end in limits))
    elif options.get("autorange") == "reversed":
        axis.set_inverted(True)
    axes.tick_params(axis=name, length=0, labelsize=9, colors=ink, labelbottom=shown)
    if options.get("showgrid", True):
        axis.grid(color=_clear_ink(), linewidth=0.6)
    axes.set_axisbelow(True)
    if shown:
        axis.set_label_text(plain_text((options.get("title") or {}).get("text") or ""), fontsize=10, color=ink)
    if options.get("visible") is False:
        axis.set_visible(False)
    for side in axes.spines.values():
        side.set(color=_clear_ink(), linewidth=0.6)
    if options.get("scaleanchor"):
        axes.set_aspect("equal", adjustable="box" if limits else "datalim")


def _clear_ink() -> tuple[float, ...]:
    """The faint ink of grids and frames."""
    return tuple(part / 255 for part in four_numbers(clear(hue("ink", False), 0.14)))


def set_ticks(axis: Any, options: Mapping[str, Any], places: Places) -> None:
    """The axis's ticks, once the traces are drawn."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    if "tickvals" in options:
        at = uncompacted(options["tickvals"])
        words = [plain_text(text) for text in options.get("ticktext", (number(each, 6) for each in at.tolist()))]
        axis.set_ticks(at, labels=words)
        axis.set_minor_locator(NullLocator())
    elif places.words:
        axis.set_ticks(range(len(places.words)), labels=[plain_text(word) for word in places.words])
    elif options.get("type") == "log":
        low, high = np.log10(np.sort(axis.get_view_interval()))
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high - low < _FEW_DECADES else (1,), numticks=8))
        axis.set_major_formatter(FuncFormatter(lambda value, _: power(value)))
        axis.set_minor_locator(NullLocator())
    elif options.get("nticks"):
        axis.set_major_locator(MaxNLocator(options["nticks"]))


def decorate(axes: Any, layout: Mapping[str, Any]) -> None:
    """Pictures, rules, frames and words that stand on the axes."""
    for image in layout.get("images") or ():
        _image(axes, image)
    for shape in layout.get("shapes") or ():
        _shape(axes, shape)
    for note in layout.get("annotations") or ():
        at = {"xycoords": (_reference(note.get("xref")), _reference(note.get("yref")))}
        ha = {"left": "left", "right": "right"}.get(note.get("xanchor", "center"), "center")
        va = {"top": "top", "bottom": "bottom"}.get(note.get("yanchor", "middle"), "center")
        where = tuple(_place(axes, note, name) for name in "xy")
        axes.annotate(plain_text(note["text"]), where, ha=ha, va=va, fontsize=9, color=hue("ink", False), **at)


def _reference(name: str | None) -> str:
    """Whether a place is one of the data or a share of the axes."""
    return "axes fraction" if name and (name == "paper" or name.endswith("domain")) else "data"


def _place(axes: Any, note: Mapping[str, Any], name: str) -> float:
    """Where words stand along an axis; plotly counts those on a log axis in powers of ten."""
    at: float = note.get(name, 0)
    on_data = _reference(note.get(f"{name}ref")) == "data"
    return float(10.0**at) if on_data and getattr(axes, f"get_{name}scale")() == "log" else at


def _transform(axes: Any, shape: Mapping[str, Any]) -> Any:
    from matplotlib.transforms import blended_transform_factory

    across, up = (
        axes.transAxes if _reference(shape.get(f"{name}ref")) == "axes fraction" else axes.transData for name in "xy"
    )
    return blended_transform_factory(across, up)


def _shape(axes: Any, shape: Mapping[str, Any]) -> None:
    """A rule or a frame; below the traces where the screen has it there."""
    from matplotlib.patches import Rectangle

    line, where = shape.get("line") or {}, _transform(axes, shape)
    colour = paint(line.get("color", hue("ink", False)))
    thick, order = PX * line.get("width", 2), 1.5 if shape.get("layer") == "below" else 60
    x0, x1, y0, y1 = (shape.get(name, default) for name, default in (("x0", 0), ("x1", 1), ("y0", 0), ("y1", 1)))
    if shape["type"] == "line":
        dash = {"dot": ":", "dash": "--"}.get(line.get("dash", "solid"), "-")
        axes.plot([x0, x1], [y0, y1], color=colour, linewidth=thick, linestyle=dash, transform=where, zorder=order,
                  scalex=False, scaley=False)  # fmt: skip
    elif shape["type"] == "rect":
        inside = paint(shape["fillcolor"]) if shape.get("fillcolor") else "none"
        axes.add_patch(
            Rectangle((x0, y0), x1 - x0, y1 - y0, facecolor=inside, edgecolor=colour if thick else "none",
                      linewidth=thick, transform=where, zorder=order)
        )  # fmt: skip


def _image(axes: Any, image: Mapping[str, Any]) -> None:
    """A picture, which the screen has as a PNG in base64, at its place among the data."""
    from matplotlib.image import imread

    pixels = imread(io.BytesIO(base64.b64decode(str(image["source"]).partition(",")[2])))
    wide, high = image["sizex"], image["sizey"]
    left = image.get("x", 0) - wide * {"left": 0, "center": 0.5, "right": 1}[image.get("xanchor", "left")]
    top = image.get("y", 0) + high * {"top": 0, "middle": 0.5, "bottom": 1}[image.get("yanchor", "top")]
    limits = axes.get_xlim(), axes.get_ylim(), axes.get_aspect()
    extent = (left, left + wide, top - high, top)
    axes.imshow(pixels, extent=extent, aspect="auto", zorder=1, interpolation="nearest")
    axes.set(xlim=limits[0], ylim=limits[1], aspect=limits[2])
