"""Maps of a period side by side, in step through time, and a field against time and one coordinate."""

import base64
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.times import MONTHS, text_of
from deconditioning.figures.colours import colour_scale
from deconditioning.figures.flip_book import coded, colour_table, ends_and_ticks, outline
from deconditioning.figures.map_panel import MapScale, round_step
from deconditioning.figures.projection import frame
from deconditioning.figures.style import MISSING, Figure, axis, compact, layout, literal
from deconditioning.wording import number

#: Share of a diagram's width between two of its panels; of a panel's, without ticks at either end; round steps in it.
_BETWEEN, _EDGE, _STEPS = 0.02, 0.1, 8
#: Pixels between two maps, as a share of one map's width; grey for missing values.
_GAP = 0.06
_MISSING_RGB = (128, 128, 128)


@dataclass(frozen=True)
class Sheet:
    """``count`` maps of (``height``, ``width``) pixels beside and below one another in ``columns``."""

    height: int
    width: int
    count: int
    columns: int

    @property
    def gap(self) -> int:
        """Pixels between two maps."""
        return max(1, round(_GAP * self.width))

    @property
    def shape(self) -> tuple[int, int]:
        """Pixels of the whole sheet, down and across."""
        rows = -(-self.count // self.columns)
        return rows * (self.height + self.gap) - self.gap, self.columns * (self.width + self.gap) - self.gap

    def corners(self) -> list[tuple[int, int]]:
        """The upper left pixel of each map, down and across."""
        places = (divmod(n, self.columns) for n in range(self.count))
        return [(down * (self.height + self.gap), across * (self.width + self.gap)) for down, across in places]

    def pixel_at(self, x: float, y: float) -> tuple[int, int] | None:
        """Row from the south and column from the west of the pixel at shares of the sheet's width and height, from its
        upper left corner, whichever map it is on; None between maps.
        """
        down, across = (int(share * size) for share, size in zip((y, x), self.shape, strict=True))
        for top, left in self.corners():
            row, column = down - top, across - left
            if 0 <= row < self.height and 0 <= column < self.width:
                return self.height - 1 - row, column
        return None

    def marks(self, row: int, column: int) -> list[list[float]]:
        """Shares (x, y) of the centre of one pixel on every map."""
        tall, wide = self.shape
        return [[(left + column + 0.5) / wide, (top + self.height - row - 0.5) / tall] for top, left in self.corners()]

    def boxes(self) -> list[list[float]]:
        """Left and upper edge, width and height of each map, in shares of the sheet."""
        tall, wide = self.shape
        return [[left / wide, top / tall, self.width / wide, self.height / tall] for top, left in self.corners()]

    def on_each(self, lines: list[list[float]]) -> list[list[float]]:
        """Lines x, y, x, y, … in shares of one map, on every map of the sheet."""
        tall, wide = self.shape
        result = []
        for top, left in self.corners():
            for line in lines:
                points = np.array(line).reshape(-1, 2) * (self.width, self.height) + (left, top)
                result.append(np.round(points / (wide, tall), 4).ravel().tolist())
        return result


def sheet_of(frames: Mapping[str, np.ndarray], columns: int) -> Sheet:
    """The sheet of several maps (T, H, W)."""
    _, height, width = next(iter(frames.values())).shape
    return Sheet(height, width, len(frames), columns)


def maps_in_step(
    frames: Mapping[str, np.ndarray], grid: Grid, scale: MapScale, columns: int,
    stations: tuple[np.ndarray, np.ndarray] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """A flip book of several maps on one `Sheet`, all on one scale and at the same time, with coastlines.

    ``frames`` : title → (T, H, W). The result is what `pages.kit.chart.flip_book` takes; cities stand on every map,
    and as ``dots`` the ``stations``, by latitude and longitude (S,).
    """
    sheet = sheet_of(frames, columns)
    whole = np.zeros((len(next(iter(frames.values()))), *sheet.shape), dtype=np.uint8)
    for values, (top, left) in zip(frames.values(), sheet.corners(), strict=True):
        part = whole[:, top : top + sheet.height, left : left + sheet.width]
        part[...] = coded(values[:, ::-1], scale.low, scale.high)
    line = outline(grid)
    stretch = line["aspect"] * sheet.width / sheet.height
    return {
        "frames": base64.b64encode(whole.tobytes()).decode("ascii"),
        "count": len(whole), "rows": sheet.shape[0], "columns": sheet.shape[1],
        **ends_and_ticks(scale, np.concatenate([values.ravel() for values in frames.values()])),
        "colours": [*_MISSING_RGB, *colour_table(scale)], "ink": line["ink"],
        "coast": sheet.on_each(line["coast"]), "aspect": round(stretch * sheet.shape[0] / sheet.shape[1], 4),
        "maps": sheet.boxes(), "titles": list(frames),
        "cities": [[name, *place] for name, x, y in line["cities"] for place in sheet.on_each([[x, y]])],
        "dots": [] if stations is None else sheet.on_each([[*place] for place in _in_frame(grid, *stations)]),
    }  # fmt: skip


def _in_frame(grid: Grid, latitude: np.ndarray, longitude: np.ndarray) -> np.ndarray:
    """(S, 2) places in shares of the map's width and height, from its upper left corner; none on curvilinear grids."""
    if grid.kind == "curvilinear":
        return np.empty((0, 2))
    west, east, south, north = frame(grid)
    y, x = grid.native(latitude, longitude)
    return np.stack([(x - west) / (east - west), (north - y) / (north - south)], axis=1)


def date_ticks(dates: Sequence[Any], days: np.ndarray, most: int = 6) -> dict[str, Any]:
    """Ticks of an axis of ``days`` since the first of (T,) ``dates``: the days themselves, or months and years where
    there are many; none of its own where there are no dates.
    """
    if any(not hasattr(date, "year") and not isinstance(date, np.datetime64) for date in dates):
        return {}
    parts = [text_of(date).split("T") for date in dates]
    fine = days[-1] - days[0] < most / 2
    begins = [n for n, part in enumerate(parts) if fine or n == 0 or part[0] != parts[n - 1][0]]
    chosen = begins[:: max(1, -(-len(begins) // most))]
    return {
        "tickvals": [float(days[n]) for n in chosen],
        "ticktext": [_short_date(*parts[n], hours=fine) for n in chosen],
    }


def _short_date(day: str, hour: str, *, hours: bool) -> str:
    """``3 Mar 2019``, with the hour where days are too coarse."""
    year, month, number_of_day = day.rsplit("-", 2)
    return f"{int(number_of_day)} {MONTHS[int(month) - 1][:3]} " + (hour if hours else year)


def _ticks_across(across: np.ndarray, words: Callable[[float], str] | None) -> dict[str, Any]:
    """Ticks of a coordinate (n,) in ``words``: two round numbers near its ends, which fit on a phone, too."""
    if words is None:
        return {"nticks": 5}
    low, high = float(across.min()), float(across.max())
    edge, step = _EDGE * (high - low), round_step((high - low) / _STEPS)
    inside = [step * n for n in range(math.ceil((low + edge) / step), math.floor((high - edge) / step) + 1)]
    at = inside[:: max(1, len(inside) - 1)]
    return {"tickvals": at, "ticktext": [words(each) for each in at], "tickangle": 0}


def hovmoeller(
    panels: Mapping[str, np.ndarray], across: np.ndarray, days: np.ndarray, scale: MapScale, *,
    labels: tuple[str, str], ticks: Mapping[str, Any] | None = None, words: Callable[[float], str] | None = None,
    height: int = 420, dark: bool = False,
) -> Figure:  # fmt: skip
    """Fields against one coordinate and time, side by side on one scale; time runs downwards.

    Parameters
    ----------
    panels : title → (T, n) values, NaN where missing.
    across : (n,) the coordinate; ``days`` (T,) the time. ``labels`` are the titles of both axes, ``ticks`` those of the
        time, and ``words`` writes those of the coordinate; without them they are numbers.

    Source: Hovmöller 1949, *The trough-and-ridge diagram*.
    """
    picture = layout("", height=height, dark=dark, showlegend=False, plot_bgcolor=MISSING[dark])
    picture["margin"] = {"l": 96 if ticks else 52, "r": 8, "t": 42, "b": 42}
    picture["yaxis"] = axis(
        labels[1], dark, automargin=False, **(ticks or {}), range=[float(days[-1]), float(days[0])], showgrid=False
    )
    picture["annotations"], traces, count = [], [], len(panels)
    wide, places = (1 - _BETWEEN * (count - 1)) / count, _ticks_across(across, words)
    for n, (title, values) in enumerate(panels.items()):  # on a phone a panel is as wide as one word
        left = n * (wide + _BETWEEN)
        name = "x" if n == 0 else f"x{n + 1}"
        picture[name.replace("x", "xaxis")] = axis(labels[0], dark, automargin=False, domain=[left, left + wide],
                                                   showgrid=False, anchor="y", **places)  # fmt: skip
        picture["annotations"].append(
            {"xref": f"{name} domain", "x": 0, "yref": "paper", "y": 1, "yanchor": "bottom", "align": "left",
             "text": literal(title).replace(" ", "<br>"), "showarrow": False, "font": {"size": 13}}
        )  # fmt: skip
        traces.append(
            {
                "type": "heatmap", "z": compact(values), "x": compact(across, "f8"), "y": compact(days, "f8"),
                "zmin": scale.low, "zmax": scale.high, "colorscale": colour_scale(scale.colours), "xaxis": name,
                "showscale": n == count - 1, "hoverongaps": False, "name": title,
                "colorbar": {"thickness": 9, "outlinewidth": 0, "nticks": 6, "tickfont": {"size": 11},
                             "title": {"text": literal(scale.label), "side": "right", "font": {"size": 12}}},
                "hovertemplate": f"%{{z:.4~g}} {literal(scale.units)}<extra>{literal(title)}</extra>",
            }
        )  # fmt: skip
    ends = ", ".join(
        f"{title} {number(np.nanmin(each))} to {number(np.nanmax(each))}" for title, each in panels.items()
    )
    picture["meta"]["alt"] = f"{labels[1]} against {labels[0]}, {scale.label}: {ends}."
    return {"data": traces, "layout": picture}
