"""A first guess of settings for fields nobody has described: which to refine, from what, in which blocks."""

from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import InputError

if TYPE_CHECKING:
    from core.fields import Fields

MOST_COVARIATES = 4
LEAST_SHARE = 0.02
SAME = 0.995
KELVIN = {"k", "kelvin", "degc", "°c", "celsius", "degree_celsius", "degrees_celsius"}
CELLS = 500
WINDOW = 1024
MOST_VARIABLES = 24


def _block(rows: int, columns: int) -> int:
    """Side of a square block that gives about 500 cells, from 2 to 25 pixels, with 4 × 4 cells at least."""
    side = round((rows * columns / CELLS) ** 0.5)
    return int(np.clip(side, 2, max(2, min(25, rows // 4, columns // 4))))


def _target(fields: "Fields") -> str:
    """The variable that looks most like a temperature, else the first."""
    variables = fields.variables()
    if not variables:
        raise InputError("The file has no numeric field on a horizontal grid: choose a file with one.")

    def rank(name: str) -> int:
        v = variables[name]
        words = f"{name} {v.long_name} {v.standard_name}".lower()
        kelvin = v.units.strip().lower() in {
            "k",
            "kelvin",
            "degc",
            "°c",
            "celsius",
            "degree_celsius",
            "degrees_celsius",
        }
        return 2 * ("temperature" in words and "dew" not in words) + kelvin

    return max(variables, key=rank)


def _within(values: np.ndarray, block: int) -> np.ndarray:
    """Anomalies of (H, W) values from their block means, flat; NaN where a block holds a gap."""
    rows, columns = values.shape[0] // block, values.shape[1] // block
    cells = values[: rows * block, : columns * block].reshape(rows, block, columns, block)
    return (cells - cells.mean(axis=(1, 3), keepdims=True)).ravel()


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Correlation of anomalies over the points where both are there; 0 where one is constant."""
    there = np.isfinite(a) & np.isfinite(b)
    a, b = a[there], b[there]
    scale = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / scale) if scale > 0 else 0.0


def suggest_spec(fields: "Fields") -> dict[str, Any]:
    """Settings (the fields of a `DownscalingSpec`) to begin with for a file that came without any.

    The target is the variable that looks most like a temperature; blocks make about 500 cells; covariates are the
    up to four variables that correlate most with the target *within* blocks (squared correlation above 0.02), leaving
    out copies of the target or of each other (above 0.995 in size). No mediator: matching is direct. Along further
    dimensions the first index is taken.

    Errors: `InputError` where no numeric field lies on the grid.
    """
    target = _target(fields)
    values = fields.values(target, {})
    block = _block(*values.shape)
    goal = _within(values[:WINDOW, :WINDOW], block)
    others = [name for name in fields.variables() if name != target][:MOST_VARIABLES]
    anomaly = {name: _within(_values_or_gap(fields, name, values.shape)[:WINDOW, :WINDOW], block) for name in others}
    strength = {name: abs(_correlation(goal, anomaly[name])) for name in others}
    chosen: list[str] = []
    for name in sorted(others, key=lambda n: -round(strength[n], 3)):
        copy = any(abs(_correlation(anomaly[name], anomaly[other])) > SAME for other in chosen)
        if LEAST_SHARE < strength[name] ** 2 <= SAME**2 and not copy and len(chosen) < MOST_COVARIATES:
            chosen.append(name)
    return {
        "target": target,
        "covariates": chosen,
        "mediators": [],
        "block": [block, block],
        "withhold": 0.5,
        "seed": 0,
        "select": {},
    }


def _values_or_gap(fields: "Fields", name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Values of a field; all missing where the field has none at its first time and level."""
    try:
        return fields.values(name, {})
    except InputError:
        return np.full(shape, np.nan)
