"""Cell means weighted by a field, and sums over cells as densities."""

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields, Variable
from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.grids.sphere import EARTH_KM
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.fields.units import convert_errors

#: ``area: sum``, ``lat: lon: sum``, but not ``time: sum``.
_SUM = re.compile(
    r"\b(?:(?:area|y|x|[rn]?lat|[rn]?lon|(?:grid_)?(?:latitude|longitude)|projection_[xy]_coordinate)\s*:\s*)+sum\b"
)


def weights_of_pixels(fields: Fields, spec: DownscalingSpec, window: tuple[slice, slice]) -> np.ndarray | None:
    """(H, W) the field ``spec.weights`` on the pixels of a window, relative to its maximum; None without any.

    Means are ``Σ f a w v / Σ f a w`` with the share f and the area a of a pixel (`Shares.weighted`).
    A pixel without a weight has none. Raises ``InputError`` for negative weights, or if they are nowhere positive.
    """
    if spec.weights is None:
        return None
    values = np.nan_to_num(fields.values(spec.weights, spec.select)[window])
    if values.min() < 0 or values.max() <= 0:
        raise InputError(
            f"The weights `{spec.weights}` go from {values.min():g} to {values.max():g}: give a field that is not "
            "negative, such as a population or a land fraction."
        )
    return values / values.max()


def weights_note(spec: DownscalingSpec) -> list[str]:
    """What the means are weighted by, in a sentence; none for areas."""
    return [f"Cell means are weighted by area times `{spec.weights}`."] if spec.weights is not None else []


def errors_of_cells(coarse: Fields, spec: DownscalingSpec) -> np.ndarray:
    """(H, W) standard deviations of the errors of a coarse file's values, in the target's units; 0 without. A number
    that is the name of no field is that of every cell.

    Raises ``InputError`` for negative ones, or units of another kind.
    """
    if spec.error is None:
        return np.zeros(coarse.grid.shape)
    same, target_units = stated_error(spec.error, coarse.holds), coarse.check(spec.target).units
    if same is not None:
        values = np.full(coarse.grid.shape, same)
    else:
        values = coarse.values(spec.error, spec.select)
        if np.nanmin(values, initial=0.0) < 0:
            raise InputError(f"`{spec.error}` has negative values: name a field of standard deviations.")
        values = convert_errors(values, coarse.check(spec.error).units, target_units, spec.error)
    return values / _areas(coarse.grid) if _SUM.search(_methods(coarse, spec)) else values


def stated_error(error: str, holds: Callable[[str], bool]) -> float | None:
    """The standard deviation that ``error`` states, None if it is a name, such as of what a file ``holds``."""
    try:
        value = float(error)
    except ValueError:
        return None
    if holds(error):
        return None
    if not (np.isfinite(value) and value > 0):
        raise InputError(f"The error {error} is no standard deviation: give a positive number, or the name of a field.")
    return value


def _methods(fields: Fields, spec: DownscalingSpec) -> str:
    owner, _ = fields.at(spec.target, spec.select)
    return str(owner.dataset.variables[spec.target].attrs.get("cell_methods", ""))


def _areas(grid: Grid) -> np.ndarray:
    """(H, W) km²."""
    return grid.steradians() * EARTH_KM**2


def as_density(
    fields: Fields, spec: DownscalingSpec, values: np.ndarray, grid: Grid
) -> tuple[np.ndarray, Variable, list[str]]:
    """The target's values (H, W) on a grid, its name and units, and a note; a sum over a cell is divided by its area.

    Sums are those whose ``cell_methods`` say so for the area, as ``area: sum`` does (CF conventions, section 7.3).
    """
    target, methods = fields.check(spec.target), _methods(fields, spec)
    if not _SUM.search(methods):
        return values, target, []
    units = f"{target.units} km-2".strip()
    note = (
        f"`{spec.target}` is a sum over each cell (cell_methods: {methods}) and is divided by the cell's area: the map "
        f"is in {units}."
    )
    about = replace(target, units=units, standard_name="", long_name=f"{target.long_name} per area")
    return values / _areas(grid), about, [note]
