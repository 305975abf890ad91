"""Fields to flip through, as the browser takes them: bytes on one colour scale, and the coastline in shares."""

import base64
from typing import Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.grids.grid import Grid
from deconditioning.figures.colours import colour_scale
from deconditioning.figures.map_panel import MapScale
from deconditioning.figures.maps import stretch_of
from deconditioning.figures.places import cities_on
from deconditioning.figures.projection import coast_on, frame
from deconditioning.figures.style import rimmed_line

#: A byte 0 is a missing value; 1 … 255 go through the colours.
LEVELS = 254
_MISSING_RGB = (128, 128, 128)
_NOTHING = np.empty(0), np.empty(0)


def flip_book(frames: np.ndarray, grid: Grid, scale: MapScale, *, stride: int = 1) -> dict[str, Any]:
    """Frames (N, h, w), rows from south to north, of every ``stride``-th pixel of a grid, as plain JSON data.

    ``frames`` in it is base64 of N · h · w bytes, rows from north to south; ``colours`` 256 RGB triples, ``coast``
    lines of (x, y) as shares of width and height from the upper left, drawn in each colour and width of ``ink``;
    ``cities`` names with such places; ``aspect`` height over width of the map.
    Raises ``InputError`` for frames of another shape than the grid's.
    """
    rows, columns = (-(-n // stride) for n in grid.shape)
    if frames.ndim != 3 or frames.shape[1:] != (rows, columns):
        raise InputError(f"`frames` has shape {frames.shape}, but the grid needs (N, {rows}, {columns}).")
    return {
        "frames": base64.b64encode(coded(frames[:, ::-1], scale.low, scale.high).tobytes()).decode("ascii"),
        "count": len(frames), "rows": rows, "columns": columns, **ends_and_ticks(scale, frames),
        "colours": [*_MISSING_RGB, *colour_table(scale)], **outline(grid),
    }  # fmt: skip


def ends_and_ticks(scale: MapScale, values: np.ndarray) -> dict[str, Any]:
    """``label`` and ends ``low`` and ``high`` of a colour bar; as ``ticks`` the place, as a share of its length,
    and the word of each tick; "≤" and "≥" where values lie beyond.
    """
    ticks = [[(at - scale.low) / (scale.high - scale.low), word] for at, word in scale.ticks(scale.extend(values))]
    return {"label": scale.label, "low": scale.low, "high": scale.high, "ticks": ticks}


def outline(grid: Grid) -> dict[str, Any]:
    """The ``coast`` and ``cities`` of a grid's frame in shares of its width and height, its ``ink`` and ``aspect``."""
    x0, x1, y0, y1 = frame(grid)
    return {
        "coast": in_shares(*coast_on(grid), grid),
        "ink": [[trace["line"]["color"], trace["line"]["width"]] for trace in rimmed_line(*_NOTHING, width=0.9)],
        "aspect": round(_aspect(grid), 4),
        "cities": [
            [name, round(float((x - x0) / (x1 - x0)), 4), round(float((y1 - y) / (y1 - y0)), 4)]
            for name, x, y in cities_on(grid)
        ],
    }


def coded(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Values as bytes: 1 at ``low`` and below, 255 at ``high`` and above, 0 where missing."""
    share = np.clip((np.nan_to_num(values, nan=low) - low) / (high - low), 0, 1)
    return np.where(np.isfinite(values), 1 + np.round(LEVELS * share), 0).astype(np.uint8)


def colour_table(scale: MapScale) -> list[int]:
    """Red, green and blue (0 … 255) of 255 colours from the scale's low end to its high one, one after the other."""
    colours = [[int(text[at : at + 2], 16) for at in (1, 3, 5)] for _, text in colour_scale(scale.colours, 255)]
    return [int(part) for part in np.array(colours).ravel()]


def in_shares(x: np.ndarray, y: np.ndarray, grid: Grid) -> list[list[float]]:
    """A line with gaps, in native coordinates, as lines x, y, x, y, … from the frame's upper left corner."""
    x0, x1, y0, y1 = frame(grid)
    points = np.stack([(x - x0) / (x1 - x0), (y1 - y) / (y1 - y0)], axis=1)
    gaps = np.flatnonzero(~np.isfinite(points).all(1))
    lines = [line[np.isfinite(line).all(1)] for line in np.split(points, gaps)]
    return [np.round(line, 4).ravel().tolist() for line in lines if len(line) > 1]


def _aspect(grid: Grid) -> float:
    x0, x1, y0, y1 = frame(grid)
    return (y1 - y0) * stretch_of(grid) / (x1 - x0)
