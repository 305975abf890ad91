"""Gradient boosting on pixels, constrained to the cell means: a common machine-learning approach to downscaling.

The fine field starts as bilinear interpolation. Trees learn it from coordinates and covariates; the difference between
their cell means and the measured ones is interpolated bilinearly and added, and trees learn the sum, as long as the
means improve. Quantiles are those of trees that learn each pixel's own cell value. Sources: Malone, McBratney, Minasny
and Wheeler 2012 (dissever); Friedman 2001; Koenker and Bassett 1978 for the quantile loss.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from deconditioning.errors import Check, InputError, never
from deconditioning.fields.problem.baselines import bilinear
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.metrics.predictive import Predictive

#: The most rounds, and by what share the means have to come nearer for another.
_ROUNDS, _NEARER = 12, 0.01
#: Leaves of a tree: small trees did best, looking at the truth of four real fields, to the advantage of this peer.
_LEAVES = 8
#: Quantiles of the interval that gives the sd, and their distance in sds of a Gaussian.
_QUANTILES, _WIDTH = (0.025, 0.975), 2 * 1.959963984540054


def gradient_boosting(problem: DownscalingProblem, check: Check = never) -> Predictive:
    """Distributions (H, W) in the target's units, from the visible cells alone; one thread.

    Raises ``InputError`` if no pixel lies in a visible cell, and ``Cancelled``.
    """
    from threadpoolctl import threadpool_limits

    problem = problem.plain
    row, shares = problem.shares_of_pixels()
    observed = problem.observed.ravel()[shares.cell]
    if not observed.any():
        raise InputError("Gradient boosting learns from pixels inside measured cells, and there are none: omit it.")
    inputs, scale = problem.inputs.numpy(), problem.target_scale
    cells, cell = np.unique(shares.cell[observed], return_inverse=True)
    area, row = shares.areas(problem.grid.area)[observed], row[observed]
    share = area / np.bincount(cell, area)[cell]
    values = scale.forward(problem.coarse.flat[cells])
    fine, best = scale.forward(bilinear(problem).flat[problem.pixel]), np.inf
    with threadpool_limits(1):
        for _ in range(_ROUNDS):
            check()
            result = _trees(problem.spec.seed).fit(inputs[row], fine[row], sample_weight=area).predict(inputs)
            missed = values - np.bincount(cell, share * result[row])
            error = float(np.sqrt(np.mean(missed**2)))
            if error > (1 - _NEARER) * best:
                break
            best, fine = error, result + _between(problem, cells, missed)
        ends = []
        for quantile in _QUANTILES:
            check()
            trees = _trees(problem.spec.seed, loss="quantile", quantile=quantile)
            ends.append(trees.fit(inputs[row], values[cell], sample_weight=area).predict(inputs))
    sd = np.maximum(ends[1] - ends[0], 0.0) / _WIDTH
    return Predictive(problem.physical_mean(fine), problem.physical_sd(sd))


def _between(problem: DownscalingProblem, cells: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(P,) values of some visible cells, interpolated bilinearly."""
    coarse = np.full(problem.coarse_shape, np.nan)
    coarse.flat[cells] = values
    return bilinear(replace(problem, coarse=coarse, observed=np.isfinite(coarse))).flat[problem.pixel]


def _trees(seed: int, **more: Any) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(
        max_iter=100, max_leaf_nodes=_LEAVES, early_stopping=False, random_state=seed, **more
    )
