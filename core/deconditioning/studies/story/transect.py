"""One row of a real field: potential temperature and the ground's altitude along a line across Snowdonia.

A curve is easier to look at than a map, and everything on it is small enough to be computed while a slider moves.
"""

from dataclasses import dataclass

import numpy as np

from deconditioning.fields.problem.problem import DownscalingProblem

_ALTITUDE = "surface_altitude"
#: The row of the UKV example that crosses Snowdonia, at 53° N.
ROW = 31
EARTH_KM = 6371.229


@dataclass(frozen=True)
class Transect:
    """Places along a line: ``km`` from its western end (P,), ``altitude`` of the ground in m, ``values`` in ``units``;
    ``ends`` are latitude and longitude of the first and the last place."""

    km: np.ndarray
    altitude: np.ndarray
    values: np.ndarray
    units: str
    ends: tuple[tuple[float, float], tuple[float, float]]

    @property
    def spacing(self) -> float:
        """Distance of neighbouring places in km."""
        return float(self.km[1] - self.km[0])


def transect_of(problem: DownscalingProblem, row: int = ROW) -> Transect:
    """A row of a problem with a known truth and an altitude among its covariates; distances along the row's circle."""
    assert problem.truth is not None
    grid, column = problem.grid, problem.columns.index(_ALTITUDE)
    altitude = problem.on_grid(problem.input_scaling.scales[column].backward(problem.inputs[:, column].numpy()))
    along = np.deg2rad(grid.x - grid.x[0]) * np.cos(np.deg2rad(grid.y[row]))
    ends = tuple((float(grid.latitude[row, at]), float(grid.longitude[row, at])) for at in (0, -1))
    return Transect(EARTH_KM * along, altitude[row], problem.truth[row], problem.units, (ends[0], ends[1]))


@dataclass(frozen=True)
class Cells:
    """A transect as cells of equal width know it.

    ``cell`` (P,) the cell of every place, ``means`` (C,) of the cells, ``edges`` (C + 1,) in km; ``kept`` is the share
    of the values' variance that lies between cells, ``farthest`` the largest distance of a value from its cell's mean
    and ``where`` (km) that is.
    """

    cell: np.ndarray
    means: np.ndarray
    edges: np.ndarray
    kept: float
    farthest: float
    where: float


def through_cells(transect: Transect, size: int) -> Cells:
    """Averages over ``size`` neighbouring places; the last cell holds what is left.

    ``kept = Var(E[v | cell]) / Var(v)``.
    """
    places = np.arange(len(transect.km))
    cell = places // size
    means = np.bincount(cell, transect.values) / np.bincount(cell)
    begins = transect.km[places % size == 0] - transect.spacing / 2
    edges = np.append(begins, transect.km[-1] + transect.spacing / 2)
    off = np.abs(transect.values - means[cell])
    share = float(means[cell].var() / transect.values.var())
    return Cells(cell, means, edges, share, float(off.max()), float(transect.km[off.argmax()]))
