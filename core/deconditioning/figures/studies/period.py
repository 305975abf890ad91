"""Maps of a period side by side, in step through time."""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np

from deconditioning.figures.flip_book import coded, colour_table
from deconditioning.figures.map_panel import MapScale

#: Pixels between two maps, as a share of one map's width; grey for missing values.
_GAP = 0.06
_MISSING_RGB = (128, 128, 128)


def maps_in_step(frames: Mapping[str, np.ndarray], scale: MapScale, aspect: float, columns: int = 2) -> dict[str, Any]:
    """A flip book of several maps (T, H, W) beside and below one another, all on one scale and at the same time.

    ``aspect`` is height over width of a map. The result is what `pages.kit.chart.flip_book` takes.
    """
    maps = list(frames.values())
    count, height, width = maps[0].shape
    gap, rows = max(1, round(_GAP * width)), -(-len(maps) // columns)
    shape = rows * height + (rows - 1) * gap, columns * width + (columns - 1) * gap
    whole = np.zeros((count, *shape), dtype=np.uint8)
    for n, values in enumerate(maps):
        down, across = divmod(n, columns)
        corner = down * (height + gap), across * (width + gap)
        part = whole[:, corner[0] : corner[0] + height, corner[1] : corner[1] + width]
        part[...] = coded(values[:, ::-1], scale.low, scale.high)
    tall = rows * aspect + (rows - 1) * _GAP * aspect
    return {
        "frames": base64.b64encode(whole.tobytes()).decode("ascii"),
        "count": count, "rows": shape[0], "columns": shape[1], "low": scale.low, "high": scale.high,
        "label": scale.label, "colours": [*_MISSING_RGB, *colour_table(scale)], "coast": [], "ink": [],
        "aspect": round(tall / (columns + (columns - 1) * _GAP), 4),
    }  # fmt: skip
