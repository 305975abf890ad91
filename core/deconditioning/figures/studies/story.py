"""Pictures for a lecture hall: thick lines, large words, few of them; larger yet in a projector's window (`hall`)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from deconditioning.figures.colours import clear, hue
from deconditioning.figures.style import INK, Figure, axis, compact, layout, literal
from deconditioning.wording import number

#: Sizes of words and of the marks of axes, in pixels, and the height of a large picture.
_WORDS, _TICKS, TALL = 17, 15, 500
#: Height of the axes over their width where the picture is narrow: the question below stays in sight.
_ASPECT = 0.8
Trace = dict[str, Any]


def line(x: np.ndarray, y: np.ndarray, name: str, colour: str, *, width: float = 3.0, dash: str = "solid") -> Trace:
    """A line; NaN leaves gaps. Without a name it is not in the legend."""
    return {
        "type": "scatter", "mode": "lines", "x": compact(x, "f8"), "y": compact(y, "f8"), "name": literal(name),
        "showlegend": bool(name), "line": {"color": colour, "width": width, "dash": dash},
        "hovertemplate": "%{y:.3~r}", "connectgaps": False,
    }  # fmt: skip


def cells(edges: np.ndarray, means: np.ndarray, name: str, colour: str, *, width: float = 6.0) -> Trace:
    """Cell means (C,) as flat pieces between their edges (C + 1,)."""
    x = np.column_stack([edges[:-1], edges[1:], np.full(len(means), np.nan)]).ravel()
    y = np.column_stack([means, means, np.full(len(means), np.nan)]).ravel()
    return line(x, y, name, colour, width=width)


def band(x: np.ndarray, low: np.ndarray, high: np.ndarray, name: str, colour: str, alpha: float = 0.22) -> Trace:
    """A trace that fills the area between two lines ``low`` and ``high`` (n,) over ``x`` (n,)."""
    return {
        "type": "scatter", "mode": "lines", "x": compact(np.concatenate([x, x[::-1]]), "f8"),
        "y": compact(np.concatenate([high, low[::-1]]), "f8"), "line": {"width": 0, "color": colour},
        "fill": "toself", "fillcolor": clear(colour, alpha), "name": literal(name), "hoverinfo": "skip",
        "showlegend": bool(name),
    }  # fmt: skip


def dots(
    x: np.ndarray, y: np.ndarray, name: str, colour: str, *, size: float = 8, symbol: str = "circle", alpha: float = 1.0
) -> Trace:
    """Points; open symbols such as "circle-open" are drawn with a thick edge."""
    thick = 3 if symbol.endswith("-open") else 0
    marker = {
        "size": size,
        "symbol": symbol,
        "color": colour,
        "opacity": alpha,
        "line": {"width": thick, "color": colour},
    }
    return {
        "type": "scatter", "mode": "markers", "x": compact(np.atleast_1d(x), "f8"),
        "y": compact(np.atleast_1d(y), "f8"), "name": literal(name), "showlegend": bool(name), "marker": marker,
        "hovertemplate": "%{x:.3~r}, %{y:.3~r}",
    }  # fmt: skip


def ground(x: np.ndarray, altitude: np.ndarray, name: str, dark: bool) -> Trace:
    """Mountains as a filled outline, to be drawn on an axis of their own (`over_ground`)."""
    return line(x, altitude, name, hue("ochre", dark), width=1.5) | {
        "fill": "tozeroy", "fillcolor": clear(hue("ochre", dark), 0.25), "yaxis": "y2",
        "hovertemplate": "%{y:.0f} m",
    }  # fmt: skip


def stems(at: np.ndarray, values: np.ndarray, dark: bool) -> list[Trace]:
    """Values as stems from zero, negative ones in a colour of their own."""
    result = []
    for name, chosen, colour in (("positive", values >= 0, "teal"), ("negative", values < 0, "rust")):
        x, y, gap = at[chosen], values[chosen], np.full(int(chosen.sum()), np.nan)
        across, up = np.column_stack([x, x, gap]).ravel(), np.column_stack([0 * y, y, gap]).ravel()
        result.append(line(across, up, name, hue(colour, dark), width=2.5) | {"hoverinfo": "skip"})
    return result


def rule(at: float, colour: str, *, upright: bool = True, panel: str = "") -> dict[str, Any]:
    """A dashed line across the picture, or across the panel whose axes end in that number."""
    along, across = ("x", "y") if upright else ("y", "x")
    return {
        "type": "line", f"{along}0": at, f"{along}1": at, f"{across}0": 0, f"{across}1": 1,
        f"{across}ref": f"{across}{panel} domain", f"{along}ref": f"{along}{panel}",
        "line": {"color": colour, "width": 2.5, "dash": "dash"},
    }  # fmt: skip


def picture(
    traces: list[Trace], labels: tuple[str, str], alt: str, *, dark: bool, up: tuple[float, float] | None = None,
    across: tuple[float, float] | None = None, rules: list[dict[str, Any]] | None = None, height: int = TALL,
) -> Figure:  # fmt: skip
    """One large picture with its words above it."""
    result = layout("", height=height, dark=dark, showlegend=True, shapes=rules or [])
    result["margin"] = {"l": 66, "r": 12, "t": 46, "b": 58}
    result["legend"] |= {"font": {"size": _TICKS + 1}, "itemsizing": "constant"}
    result["xaxis"] = large_axis(labels[0], dark) | ({"range": list(across)} if across else {})
    result["yaxis"] = large_axis(labels[1], dark) | ({"range": list(up)} if up else {})
    result["hoverlabel"] = {"font": {"size": _TICKS}}
    result["meta"] |= {"alt": alt, "hall": True, "aspect": _ASPECT}
    return {"data": traces, "layout": result}


def intervals(
    rows: Mapping[str, tuple[float, np.ndarray, str]], exact: tuple[float, np.ndarray], label: str, *, dark: bool
) -> Figure:
    """A row for each name with its mean, interval (2,) and colour; the exact mean and interval as a band behind all."""
    traces: list[Trace] = []
    for up, (mean, interval, colour) in enumerate(rows.values()):
        at = np.full(2, float(up))
        traces += [line(interval, at, "", colour, width=9), dots(np.array([mean]), at[:1], "", colour, size=20)]
    ends = np.concatenate([exact[1], *(interval for _, interval, _ in rows.values())])
    room = 0.04 * float(np.ptp(ends))
    across = (float(ends.min() - room), float(ends.max() + room))
    known = {name: (mean, interval) for name, (mean, interval, _) in rows.items()} | {"exact": exact}
    summary = ", ".join(
        f"{name} {number(at)} [{number(low)}, {number(high)}]" for name, (at, (low, high)) in known.items()
    )
    alt = f"Means and intervals: {summary}."
    result = picture(traces, (label, ""), alt, dark=dark, up=(-0.8, len(rows) - 0.2), across=across)
    result["layout"]["yaxis"] |= {"tickvals": list(range(len(rows))), "ticktext": list(rows)}
    result["layout"]["margin"] |= {"l": 150}
    low, high = exact[1].tolist()
    result["layout"]["shapes"] = [
        {"type": "rect", "x0": low, "x1": high, "y0": 0, "y1": 1, "yref": "paper", "line": {"width": 0},
         "fillcolor": clear(INK[dark], 0.14), "layer": "below"}
    ]  # fmt: skip
    words = {"text": "exact", "x": exact[0], "y": 1, "yref": "paper", "yanchor": "bottom", "showarrow": False}
    result["layout"]["annotations"] = [words | {"font": {"size": _WORDS}}]
    return result


def over_ground(figure: Figure, highest: float, dark: bool) -> Figure:
    """The picture with room for mountains of so many metres in the lowest third, on an axis without marks."""
    hidden = large_axis("", dark) | {"range": [0, 3.2 * highest], "overlaying": "y", "visible": False}
    return figure | {"layout": figure["layout"] | {"yaxis2": hidden}}


def two_pictures(
    left: list[Trace], right: list[Trace], labels: tuple[str, str, str], alt: str, *, dark: bool,
    rules: list[dict[str, Any]] | None = None, height: int = TALL,
) -> Figure:  # fmt: skip
    """Two pictures that share what is up: ``labels`` of the left and right one's across, and of both ones' up."""
    result = picture([*left, *(each | {"xaxis": "x2"} for each in right)], (labels[0], labels[2]), alt, dark=dark,
                    rules=rules, height=height)  # fmt: skip
    result["layout"]["xaxis"] |= {"domain": [0, 0.46]}
    result["layout"]["xaxis2"] = large_axis(labels[1], dark) | {"domain": [0.54, 1]}
    return result


def large_axis(title: str, dark: bool) -> dict[str, Any]:
    """An axis that is read from far away."""
    result = axis(title, dark, automargin=False, zeroline=False, nticks=7)
    result["title"] |= {"font": {"size": _WORDS, "color": INK[dark]}, "standoff": 10}
    return result | {"tickfont": {"size": _TICKS}}
