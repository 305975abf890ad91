"""Some of many cells, in patches all over the map: what learning and the test one scale up look at.

The evidence of M cells costs M³ a step. Hyperparameters are well determined by far fewer cells than a map may have, if
some of these are neighbours, which show the roughness, and others lie far apart, which show the long lengthscales. The
map itself is conditioned on all cells. Source: Stein, Chi and Welty 2004, *Approximating likelihoods for large spatial
data sets*, on learning from blocks of data.
"""

from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Int

from deconditioning.fields.problem.problem import DownscalingProblem

#: Visible cells beyond which some of them are taken, and how many these are at most.
FROM, MOST = 1000, 500
#: Cells that a patch is high and wide: an even number, so that patches consist of whole larger cells.
_SIDE = 8


def some_cells(problem: DownscalingProblem, seed: int = 0) -> DownscalingProblem:
    """The problem with at most ``MOST`` of its visible cells, in patches drawn by the ``seed``.

    Cells that are matched through mediators are left as they are; stations are all kept.
    """
    data = problem.data
    alone = (data.covariance, data.footprints, data.importance, data.points) == (None,) * 4
    if not problem.matched or not alone or len(data.targets) <= FROM:
        return problem
    return _only(problem, _chosen(problem, seed))


def _chosen(problem: DownscalingProblem, seed: int) -> Int[np.ndarray, " m"]:
    """Places of the cells among the targets: whole patches in random order, as many as there is room for."""
    row, column = np.divmod(problem.target_cell, problem.coarse_shape[1])
    patch = np.unique(np.stack([row, column]) // _SIDE, axis=1, return_inverse=True)[1].ravel()
    order = np.random.default_rng(seed).permutation(patch.max() + 1)
    sizes = np.bincount(patch)[order]
    first_patches = order[np.cumsum(sizes) <= MOST]
    return np.flatnonzero(np.isin(patch, first_patches))


def _only(problem: DownscalingProblem, chosen: Int[np.ndarray, " m"]) -> DownscalingProblem:
    """The problem as if the other cells were hidden, standardised as it is."""
    data, rows = problem.data, torch.as_tensor(chosen)
    bags = data.bags.subset(rows)
    chosen_cells = np.zeros(problem.observed.size, dtype=bool)
    chosen_cells[problem.target_cell[chosen]] = True
    observed = problem.observed & chosen_cells.reshape(problem.observed.shape)
    mediators, errors = data.mediators[rows], None if data.errors is None else data.errors[rows]
    return replace(
        problem,
        data=replace(
            data, bags=bags, mediators=mediators, query_mediators=mediators, targets=data.targets[rows], errors=errors
        ),
        bag_cell=problem.bag_cell[chosen],
        target_cell=problem.target_cell[chosen],
        bag_pixel=problem.bag_pixel[np.isin(data.bags.bag.cpu().numpy(), chosen)],
        observed=observed,
        coarse=np.where(observed, problem.coarse, np.nan),
        unwarped=None if problem.unwarped is None else _only(problem.unwarped, chosen),
    )
