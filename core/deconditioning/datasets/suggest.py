"""A first guess of settings for fields nobody has described: which to refine, from what, in which blocks."""

from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.selecting import is_dated

if TYPE_CHECKING:
    from deconditioning.fields.gridded import Fields, Variable

_MOST_COVARIATES = 4
LEAST_SHARE = 0.02
_SAME = 0.995
_KELVIN = {"k", "kelvin", "degc", "°c", "celsius", "degree_celsius", "degrees_celsius"}
CELLS = 500
WINDOW = 1024
_MOST_VARIABLES = 24
#: Names and standard names of heights of the ground, the first of static covariates.
_HEIGHTS = {"surface_altitude", "orog", "orography", "topo", "topography", "elevation", "elev", "dem", "altitude",
           "hsurf", "zsurf", "hgt_m", "hgt", "ht"}  # fmt: skip
#: Static fields that tell of the grid, or are codes and angles, and make no covariate by themselves.
_NO_COVARIATES = {"cell_area", "areacella", "areacello", "latitude", "longitude", "lat", "lon", "xlat", "xlong",
                 "xlat_m", "xlong_m", "grid_latitude", "grid_longitude", "soil_type", "soiltype", "aspect", "region",
                 "basin", "forecast_reference_time"}  # fmt: skip


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
        kelvin = v.units.strip().lower() in _KELVIN
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


def static_covariates(fields: "Fields", target: str = "") -> list[str]:
    """Fields on the grid that do not change with time, such as the height of the ground: covariates unless others are
    named.

    They are known by their names, or have no date where the other fields have several. Cell areas, positions and codes
    (soil types, aspects) are left out, and fields that are constant or missing on half of the grid.
    """
    variables = fields.variables()
    several = {name for name, variable in variables.items() if any(map(_has_dates, variable.extra.values()))}
    result = []
    for name, variable in variables.items():
        words = {name.lower(), variable.standard_name.lower()}
        fixed = fields.is_static(name) or (bool(several - {name}) and not variable.extra)
        if name == target or not fixed or words & _NO_COVARIATES or "flag_values" in fields.attributes(name):
            continue
        values = _values_or_gap(fields, name, fields.grid.shape)
        there = values[np.isfinite(values)]
        if there.size > values.size / 2 and np.ptp(there) > 0:
            result.append(name)
    return sorted(result, key=lambda name: _is_height(variables[name]), reverse=True)[:_MOST_COVARIATES]


def _has_dates(labels: tuple[str, ...]) -> bool:
    return len(labels) > 1 and is_dated(labels)


def _is_height(variable: "Variable") -> bool:
    return variable.standard_name in _HEIGHTS or variable.name.lower() in _HEIGHTS


def suggest_spec(fields: "Fields") -> dict[str, Any]:
    """Settings (the fields of a `DownscalingSpec`) to begin with for a file that came without any.

    The target is the variable that looks most like a temperature; blocks make about 500 cells; covariates are fields
    that do not change with time (``static_covariates``), then those that correlate most with the target *within* blocks
    (squared correlation above 0.02), leaving out copies of the target or of each other (above 0.995 in size), four in
    all. No mediator: matching is direct. Along further dimensions the first index is taken.

    Errors: `InputError` where no numeric field lies on the grid.
    """
    target = _target(fields)
    values = fields.values(target, {})
    block = _block(*values.shape)
    goal = _within(values[:WINDOW, :WINDOW], block)
    others = [name for name in fields.variables() if name != target][:_MOST_VARIABLES]
    anomaly = {name: _within(_values_or_gap(fields, name, values.shape)[:WINDOW, :WINDOW], block) for name in others}
    strength = {name: abs(_correlation(goal, anomaly[name])) for name in others}
    chosen = static_covariates(fields, target)
    for name in sorted(others, key=lambda n: -round(strength[n], 3)):
        copy = name in chosen or any(abs(_correlation(anomaly[name], anomaly[other])) > _SAME for other in chosen)
        if LEAST_SHARE < strength[name] ** 2 <= _SAME**2 and not copy and len(chosen) < _MOST_COVARIATES:
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
