"""A family of maps along one slider as the browser takes it: codes of 16 bits, and a table of coefficients."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deconditioning.fields.grids.grid import Grid
from deconditioning.figures.maps import coordinates
from deconditioning.figures.style import compact

#: The code of a missing value; others run from −_CODES to _CODES.
_MISSING, _CODES = -32768, 32767


@dataclass(frozen=True)
class MapFamily:
    """Maps ``centre + Σ cᵢ(t) bases[i]`` of every so many-th pixel of a grid, rows as the grid has them.

    ``centre`` is (h, w), NaN where nothing is known, ``bases`` (R, h, w), and ``coefficients`` (T, R) are those at T
    evenly spaced t from ``low`` to ``high``.
    """

    centre: np.ndarray
    bases: np.ndarray
    coefficients: np.ndarray
    low: float
    high: float
    grid: Grid
    every: int


def _coded(values: np.ndarray) -> dict[str, Any]:
    """Values as ``middle + step · code`` with codes of 16 bits, off by at most half a step; NaN kept."""
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    middle, step = (low + high) / 2, (high - low) / (2 * _CODES) or 1.0
    codes = np.where(np.isfinite(values), np.round((np.nan_to_num(values, nan=middle) - middle) / step), _MISSING)
    return {"middle": middle, "step": step, "codes": base64.b64encode(codes.astype("<i2").tobytes()).decode("ascii")}


def decoded(part: dict[str, Any]) -> np.ndarray:
    """The values (n,) that `_coded` wrote."""
    codes = np.frombuffer(base64.b64decode(part["codes"]), "<i2").astype(float)
    return np.where(codes == _MISSING, np.nan, part["middle"] + part["step"] * codes)


def map_frames(maps: Mapping[str, MapFamily]) -> dict[str, Any]:
    """Plain JSON data of maps by the chart that shows each.

    Bases that several maps share, as a mean and its error do, are written once: the others name whose they are.
    """
    codes: dict[int, str] = {}
    result: dict[str, Any] = {}
    for key, each in maps.items():
        rows, columns = each.centre.shape
        shared = codes.setdefault(id(each.bases), key)
        result[key] = {
            "rows": rows, "columns": columns, "centre": _coded(each.centre), "low": each.low, "high": each.high,
            "bases": [_coded(base) for base in each.bases] if shared == key else shared,
            "coefficients": compact(each.coefficients.ravel()),
            **coordinates("x", each.grid.x, each.every), **coordinates("y", each.grid.y, each.every),
        }  # fmt: skip
    return result
