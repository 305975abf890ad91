"""Optimal interpolation by gridpp of what a linear regression on the covariates leaves: how weather services do it.

Each cell's value is taken for one at its centre. Length and error ratio are chosen by cross-validation over the cells;
the sd is the same everywhere, the root mean square error of that validation. Source: Lussana et al. 2019; gridpp 0.8.
"""

from itertools import product
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from deconditioning.errors import InputError
from deconditioning.fields.grids.sphere import EARTH_KM, unit_vectors
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.metrics.predictive import Predictive

#: Lengths of Barnes' structure function in widths of a cell, and the observations' error variance as a share of the
#: background's.
_LENGTHS, _RATIOS = (0.5, 1.0, 2.0, 4.0, 8.0), (0.01, 0.1, 0.5)
_FOLDS, _MOST_POINTS = 10, 50


def optimal_interpolation(problem: DownscalingProblem) -> Predictive:
    """Distributions (H, W) in the target's units, from the visible matched cells alone.

    Raises ``InputError`` if gridpp is not installed and for cells matched through a mediator.
    """
    problem = problem.plain
    if not problem.matched:
        raise InputError("Optimal interpolation reads values where they were measured: match the cells directly.")
    gridpp = _gridpp()
    names = [problem.columns.index(name) for name in problem.spec.covariates]
    bags, inputs = problem.data.bags, problem.inputs[:, names].numpy()
    values, covariates = problem.data.targets.numpy(), bags.mean(bags.inputs[:, names]).numpy()
    slopes = np.linalg.lstsq(_with_one(covariates), values, rcond=None)[0]
    below, background = _with_one(covariates) @ slopes, _with_one(inputs) @ slopes
    cells, grid = problem.coarse_grid, problem.grid
    centre = [each.flat[problem.bag_cell] for each in (cells.latitude, cells.longitude)]
    width = _metres_between(*centre)
    fold = np.random.default_rng(problem.spec.seed).permutation(len(values)) % _FOLDS

    def interpolated(
        at: list[np.ndarray], before: np.ndarray, observed: np.ndarray, length: float, ratio: float
    ) -> Any:
        """The analysis at the points ``at`` from the ``observed`` cells."""
        points = gridpp.Points(*(each[observed] for each in centre))
        structure = gridpp.BarnesStructure(length * width, 0, 0, 5 * length * width)
        return gridpp.optimal_interpolation(
            gridpp.Points(*at), before, points, values[observed], np.full(observed.sum(), ratio), below[observed],
            structure, _MOST_POINTS,
        )  # fmt: skip

    def error(chosen: tuple[float, float]) -> float:
        """Cross-validated RMSE of a (length, ratio), standardised."""
        missed = np.empty(len(values))
        for k in range(_FOLDS):
            out = fold == k
            missed[out] = values[out] - interpolated([each[out] for each in centre], below[out], ~out, *chosen)
        return float(np.sqrt(np.mean(missed**2)))

    errors = {chosen: error(chosen) for chosen in product(_LENGTHS, _RATIOS)}
    best = min(errors, key=errors.__getitem__)
    at = [each.flat[problem.pixel] for each in (grid.latitude, grid.longitude)]
    mean = interpolated(at, background, np.ones(len(values), dtype=bool), *best)
    sd = np.full(len(mean), errors[best])
    return Predictive(problem.physical_mean(np.asarray(mean, float)), problem.physical_sd(sd))


def _metres_between(latitude: np.ndarray, longitude: np.ndarray) -> float:
    """Median distance of a point from its nearest neighbour."""
    vectors = unit_vectors(latitude, longitude)
    return 1000 * EARTH_KM * float(np.median(cKDTree(vectors).query(vectors, k=2)[0][:, 1]))


def _with_one(values: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(len(values)), values])


def _gridpp() -> Any:
    try:
        import gridpp
    except ImportError:
        raise InputError(
            "Optimal interpolation needs gridpp, which is not installed: pip install -r requirements-peers.txt, or "
            "leave this peer out."
        ) from None
    return gridpp
