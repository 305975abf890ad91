"""What all plotly pictures share: ink, fonts, margins, compact arrays."""

import base64
import math
from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from deconditioning.figures.colours import clear, hue
from deconditioning.wording import number

Figure = dict[str, Any]

INK = {dark: hue("ink", dark) for dark in (False, True)}
#: Quiet words and rules on paper.
QUIET, RULE = "#55646e", "#9aa7af"
_FAINT = {dark: clear(INK[dark], 0.14) for dark in (False, True)}
MISSING = {False: "#c9cdd1", True: "#4b545a"}
#: Lines and marks over maps, whose colours run from dark to light: a light line on a dark one, or a dark on a light.
LIGHT, DARK = "#ffffff", "#10161c"
_NOTHING = "rgba(0,0,0,0)"
#: Digits and signs of a power.
RAISED = str.maketrans("0123456789-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")
_FONT = '"Source Sans", "Source Sans 3", "Helvetica Neue", Arial, sans-serif'


#: In a figure's "meta": its legend is that of the picture beside it, and is drawn where it stands alone.
ALONE = "alone"


def compact(array: np.ndarray, dtype: str = "f4") -> dict[str, str]:
    """A numeric array as plotly's base64 typed array: float32 by default, NaN kept."""
    values = np.ascontiguousarray(array, dtype=f"<{dtype}")
    spec = {"dtype": dtype, "bdata": base64.b64encode(values.tobytes()).decode("ascii")}
    return spec if values.ndim == 1 else spec | {"shape": ", ".join(str(n) for n in values.shape)}


def uncompacted(data: Any) -> np.ndarray:
    """Numbers of a trace, given as plotly's typed array or as a list; ``TypeError`` or ``ValueError`` for words."""
    if isinstance(data, Mapping):
        flat = np.frombuffer(base64.b64decode(data["bdata"]), np.dtype(data["dtype"]).newbyteorder("<"))
        shape = [int(part) for part in str(data["shape"]).split(",")] if "shape" in data else [-1]
        return flat.reshape(shape).astype(float)
    return np.array([np.nan if value is None else value for value in np.ravel(np.asarray(data, dtype=object))], float)


def literal(text: object) -> str:
    """Words of others as plotly shows them as they are: in its texts it reads some HTML, and %{…} where it hovers."""
    return escape(str(text), quote=False).replace("%{", "%\u2060{")


def filled(colour: str, alpha: float = 0.45) -> dict[str, Any]:
    """A plotly marker that lets through what lies behind it inside an edge of its full colour."""
    return {"color": clear(colour, alpha), "line": {"color": colour, "width": 1}}


def histogram_bins(samples: np.ndarray, limits: tuple[float, float]) -> int:
    """Number of bins between the limits, of width ``2 IQR / n^{1/3}`` of the samples (n,), from 8 to 36.

    Source: Freedman and Diaconis 1981.
    """
    low, high = np.quantile(samples, [0.25, 0.75])
    wide = 2 * (high - low) / len(samples) ** (1 / 3)
    return int(np.clip(np.ceil((limits[1] - limits[0]) / wide), 8, 36)) if wide > 0 else 36


def rimmed_line(x: np.ndarray, y: np.ndarray, *, width: float, **more: Any) -> list[dict[str, Any]]:
    """A dark line on a wider light one, to be seen on any colour of a map: two traces, each with ``more``."""
    both = {"type": "scatter", "mode": "lines", "x": compact(x), "y": compact(y), "connectgaps": False, **more}
    return [
        both | {"line": {"color": colour, "width": wide, "simplify": True}}
        for colour, wide in ((clear(LIGHT, 0.8), width + 1.3), (DARK, width))
    ]


def upright(at: float, line: dict[str, Any]) -> dict[str, Any]:
    """An upright line over the whole height of a picture."""
    return {"type": "line", "x0": at, "x1": at, "yref": "paper", "y0": 0, "y1": 1, "line": line}


def axis(title: str = "", dark: bool = False, **more: Any) -> dict[str, Any]:
    """A quiet axis: faint grid, no box, its title with units."""
    line = _FAINT[dark]
    base = {"gridcolor": line, "linecolor": line, "zerolinecolor": line, "ticks": "", "automargin": True}
    heading = {"text": literal(title), "font": {"size": 12}, "standoff": 6}
    return base | {"title": heading, "tickfont": {"size": 11}} | more


def log_axis(values: np.ndarray) -> dict[str, Any]:
    """A log axis over the values; whole decades are labelled where it spans more than one."""
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known) & (known > 0)]
    low, high = (float(np.log10(v)) for v in (known.min(), known.max())) if known.size else (0.0, 1.0)
    pad = 0.05 * max(high - low, 0.2)
    ticks = _few_ticks(low, high)
    if high - low > 1.5:
        step = max(1, round((high - low) / 5))
        places = [10.0**p for p in range(math.ceil(low - pad), math.floor(high + pad) + 1) if p % step == 0]
        ticks = {"tickvals": places, "ticktext": [power(at) for at in places]}
    return {"type": "log", "range": [low - pad, high + pad], "exponentformat": "power", "minexponent": 4} | ticks


def power(value: float) -> str:
    """A tick of a log axis: a plain number, or a power of ten of a small or large one."""
    exponent = math.log10(value) if value > 0 else 0.0
    whole = abs(exponent - round(exponent)) < 1e-9
    return f"10{str(round(exponent)).translate(RAISED)}" if whole and abs(exponent) >= 4 else number(value, 6)


def _few_ticks(low: float, high: float) -> dict[str, Any]:
    """Ticks of a short log axis at 1, 2 and 5 times the powers of ten, if these are fewer than three at 3 times them,
    too; plotly's own if there are still fewer."""
    powers = range(math.floor(low), math.ceil(high) + 1)
    for digits in ((1, 2, 5), (1, 2, 3, 5)):
        places = [m * 10.0**p for p in powers for m in digits if low - 0.02 <= math.log10(m * 10.0**p) <= high + 0.02]
        if len(places) > 2:
            return {"tickvals": places, "ticktext": [number(at) for at in places]}
    return {"nticks": 6}


def hover_numbers(values: np.ndarray, before: str = "", after: str = "", digits: int = 3) -> dict[str, Any]:
    """What hovering over a trace shows of its values (n,) or (h, w), as sentences have numbers: plotly's own formats
    write 1.2e-5."""
    values = np.asarray(values, dtype=float)
    words = np.vectorize(lambda value: number(value, digits) if np.isfinite(value) else "", otypes=[object])(values)
    return {"text": words.tolist(), "hovertemplate": f"{before}%{{text}}{after}"}


def legend_on_the_right(picture: dict[str, Any]) -> None:
    """Put the legend of a layout to the right of its axes; a page puts it below where the chart is narrow."""
    picture["showlegend"] = True
    picture["legend"] |= {"orientation": "v", "x": 1.02, "xanchor": "left", "y": 1, "yanchor": "top"}
    picture["legend"]["font"] = {"size": 12}
    picture["meta"]["legend"] = "beside"


def legend_below(picture: dict[str, Any], room: int = 70) -> None:
    """Put the legend of a layout below its axes at every width, where the picture grows by ``room`` pixels: its axes
    stay as high as those of pictures beside it that have none."""
    picture["height"] += room
    picture["margin"]["b"] += room
    picture["showlegend"] = True
    high = picture["height"] - picture["margin"]["t"] - picture["margin"]["b"]
    picture["legend"] |= {"orientation": "h", "x": 0, "xanchor": "left", "y": -46 / high, "yanchor": "top"}
    picture["meta"].pop("legend", None)


def layout(title: str = "", *, height: int, dark: bool = False, role: str = "chart", **more: Any) -> dict[str, Any]:
    """The common layout; `role` tells the page's chart component how to treat the figure."""
    base: dict[str, Any] = {
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 34 if title else 10, "b": 8},
        "font": {"family": _FONT, "size": 12, "color": INK[dark]},
        "paper_bgcolor": _NOTHING,
        "plot_bgcolor": _NOTHING,
        "hovermode": "closest",
        "showlegend": False,
        "legend": {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "font": {"size": 11}},
        "meta": {"role": role},
    }
    if title:
        heading = {"text": literal(title), "x": 0, "xref": "container", "xanchor": "left", "y": 1, "yref": "container"}
        base["title"] = heading | {"yanchor": "top", "pad": {"t": 8, "l": 2}, "font": {"size": 14}}
    return base | more
