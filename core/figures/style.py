"""What all plotly pictures share: ink, fonts, margins, compact arrays."""

import base64
from html import escape
from typing import Any

import numpy as np

Figure = dict[str, Any]

INK = {False: "#1e2a32", True: "#e3e8ea"}
FAINT = {False: "rgba(30,42,50,0.13)", True: "rgba(227,232,234,0.16)"}
MISSING = {False: "#c9cdd1", True: "#4b545a"}
COAST = {False: "rgba(16,22,28,0.85)", True: "rgba(16,22,28,0.85)"}
FONT = '"Source Sans", "Source Sans 3", "Helvetica Neue", Arial, sans-serif'


def compact(array: np.ndarray, dtype: str = "f4") -> dict[str, str]:
    """A numeric array as plotly's base64 typed array: float32 unless told otherwise, NaN kept."""
    values = np.ascontiguousarray(array, dtype=f"<{dtype}")
    spec = {"dtype": dtype, "bdata": base64.b64encode(values.tobytes()).decode("ascii")}
    return spec if values.ndim == 1 else spec | {"shape": ", ".join(str(n) for n in values.shape)}


def literal(text: object) -> str:
    """Words of others as plotly shows them as they are: in its texts it reads some HTML, and %{…} where it hovers."""
    return escape(str(text), quote=False).replace("%{", "%\u2060{")


def axis(title: str = "", dark: bool = False, **more: Any) -> dict[str, Any]:
    """A quiet axis: faint grid, no box, its title with units."""
    line = FAINT[dark]
    base = {"gridcolor": line, "linecolor": line, "zerolinecolor": line, "ticks": "", "automargin": True}
    heading = {"text": literal(title), "font": {"size": 12}, "standoff": 6}
    return base | {"title": heading, "tickfont": {"size": 11}} | more


def log_axis(values: np.ndarray) -> dict[str, Any]:
    """A log axis over the values; whole decades are labelled where it spans more than one."""
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known) & (known > 0)]
    low, high = (float(np.log10(v)) for v in (known.min(), known.max())) if known.size else (0.0, 1.0)
    pad = 0.05 * max(high - low, 0.2)
    ticks: dict[str, Any] = {"dtick": max(1, round((high - low) / 5))} if high - low > 1.5 else {"nticks": 6}
    return {"type": "log", "range": [low - pad, high + pad], "exponentformat": "power", "minexponent": 4} | ticks


def layout(title: str = "", *, height: int, dark: bool = False, role: str = "chart", **more: Any) -> dict[str, Any]:
    """The common layout; `role` tells the page's chart component how to treat the figure."""
    base: dict[str, Any] = {
        "height": height,
        "margin": {"l": 8, "r": 8, "t": 34 if title else 10, "b": 8},
        "font": {"family": FONT, "size": 12, "color": INK[dark]},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "closest",
        "showlegend": False,
        "legend": {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "font": {"size": 11}},
        "meta": {"role": role},
    }
    if title:
        heading = {"text": literal(title), "x": 0, "xref": "container", "xanchor": "left", "y": 1, "yref": "container"}
        base["title"] = heading | {"yanchor": "top", "pad": {"t": 8, "l": 2}, "font": {"size": 14}}
    return base | more
