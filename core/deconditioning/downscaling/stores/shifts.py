"""The shifts δ of a warped target that make the map of a problem honour its cells, at the pixels of a store.

See `deconditioning.downscaling.warping.physical_map`. They are those of the problem that the model is conditioned on;
a pixel of the store that the problem does not have takes that of the nearest one.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from deconditioning.downscaling.warping.physical_map import Parts, in_warp_units, shifts
from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.problem.problem import DownscalingProblem


@dataclass(frozen=True, eq=False)
class Shifts:
    """``values`` (H, W) on the problem's grid, and the row and the column of it nearest to each of the store's."""

    values: Float[np.ndarray, "H W"]
    rows: Int[np.ndarray, " R"]
    columns: Int[np.ndarray, " C"]

    def at(self, rows: slice, columns: slice) -> Float[np.ndarray, "h w"]:
        """Those of a window of the store."""
        return self.values[np.ix_(self.rows[rows], self.columns[columns])]


def shifts_on(problem: DownscalingProblem, parts: Parts, cells: Parts, grid: Grid) -> Shifts:
    """The shifts of a problem on a store's grid; its posterior is a mixture of standardised means and sds (P,), with
    ``cells`` as in `physical_map`."""
    from scipy.ndimage import distance_transform_edt

    values = shifts(problem, in_warp_units(problem, parts), cells)
    nearest = distance_transform_edt(np.isnan(values), return_distances=False, return_indices=True)
    model_grid, period = problem.grid, 360.0 if grid.kind in ("latlon", "rotated") else None
    return Shifts(values[tuple(nearest)], _nearest(model_grid.y, grid.y, None), _nearest(model_grid.x, grid.x, period))


def _nearest(axis: np.ndarray, other: np.ndarray, period: float | None) -> Int[np.ndarray, " n"]:
    """The place on an axis nearest to each value of another, round a circle where it has a period."""
    away = axis[None, :] - other[:, None]
    if period is not None:
        away = (away + period / 2) % period - period / 2
    return np.abs(away).argmin(axis=1)
