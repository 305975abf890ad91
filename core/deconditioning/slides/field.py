"""A map's values and colours as a browser takes them: 16-bit codes, so that the value under a pointer can be read."""

import base64
import math
from typing import Any

import numpy as np

from deconditioning.fields.grids import sphere
from deconditioning.fields.grids.grid import Grid
from deconditioning.figures.flip_book import colour_table, in_shares, outline
from deconditioning.figures.map_panel import Panel
from deconditioning.figures.projection import graticule_on
from deconditioning.wording import number

#: A code 0 is a missing value; 1 … 65535 lie evenly between the least and the most value of the field.
CODES = 65534
#: Mean radius of the Earth (IUGG).
_EARTH_KM = 6371.0088
#: Longest part of a map's width that the bar of its scale takes.
_LONGEST = 0.28


def field_data(panel: Panel, stride: int = 1) -> dict[str, Any]:
    """A panel as plain JSON data, every ``stride``-th row and column of it, rows from north to south.

    ``codes`` is base64 of little-endian 16-bit integers, ``v = least + (code − 1)(most − least) / 65534``, so that a
    value is off by at most ``(most − least) / 131068``; ``colours`` are 255 RGB triples from ``low`` to ``high``.
    """
    values, scale = np.asarray(panel.values, dtype=float)[::stride, ::stride][::-1], panel.scale
    known = values[np.isfinite(values)]
    least, most = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    share = (np.nan_to_num(values, nan=least) - least) / ((most - least) or 1.0)
    codes = np.where(np.isfinite(values), 1 + np.round(CODES * share), 0).astype("<u2")
    return {
        "rows": values.shape[0], "columns": values.shape[1], "least": least, "most": most,
        "codes": base64.b64encode(codes.tobytes()).decode("ascii"),
        "low": scale.low, "high": scale.high, "colours": colour_table(scale), "label": scale.label,
        "units": scale.units, "ticks": [list(tick) for tick in scale.ticks(scale.extend(panel.values))],
    }  # fmt: skip


def decoded(field: dict[str, Any]) -> np.ndarray:
    """The values (rows, columns) that `field_data` wrote, NaN where missing."""
    codes = np.frombuffer(base64.b64decode(field["codes"]), "<u2").astype(float).reshape(field["rows"], -1)
    values = field["least"] + (codes - 1) * (field["most"] - field["least"]) / CODES
    return np.where(codes > 0, values, np.nan)


def frame_data(grid: Grid) -> dict[str, Any]:
    """What all maps of a grid share: coastline, graticule, aspect and the bar of its scale."""
    return outline(grid) | {"graticule": in_shares(*graticule_on(grid), grid), "bar": scale_bar(grid)}


def scale_bar(grid: Grid) -> dict[str, Any]:
    """A round number of kilometres as a ``share`` of the map's width in its middle row, and its ``text``.

    Empty for fields round the globe, where no bar holds for all of the map.
    """
    if grid.wraps or np.ptp(grid.latitude) > 60:
        return {"share": 0.0, "text": ""}
    row = grid.latitude.shape[0] // 2
    points = sphere.unit_vectors(grid.latitude[row], grid.longitude[row])
    steps = np.arcsin(np.clip(np.linalg.norm(np.diff(points, axis=0), axis=1) / 2, 0, 1))
    width = float(2 * _EARTH_KM * steps.sum()) * len(points) / max(len(points) - 1, 1)
    decade = 10.0 ** math.floor(math.log10(_LONGEST * width))
    length = max(step * decade for step in (1, 2, 5) if step * decade <= _LONGEST * width)
    return {"share": length / width, "text": f"{number(length, 6)} km"}
