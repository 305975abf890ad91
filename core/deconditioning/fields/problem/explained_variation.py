"""The share of the variation inside coarse cells that the covariates explain."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from deconditioning.fields.problem.once import once
from deconditioning.fields.problem.problem import DownscalingProblem

WEAK = 0.3


@dataclass(frozen=True)
class ExplainedShare:
    """R² of a linear regression, what it was measured on, and a sentence for the reader."""

    share: float
    basis: Literal["truth", "coarse"]
    sentence: str


@once
def explained_share(problem: DownscalingProblem) -> ExplainedShare:
    """Share of the target's variance inside the cells that is linear in the covariates' variation there.

    R² of a′ = A′β by area-weighted least squares, where ′ subtracts the area-weighted mean of the pixel's cell, over
    pixels with truth and covariates. Without truth: R² of the regression of the observed coarse values on the cells'
    mean covariates, which need not hold inside the cells. Coordinates do not count as covariates here.
    """
    count = len(problem.spec.covariates)
    columns = problem.inputs.numpy()[:, problem.inputs.shape[1] - count :]
    basis: Literal["truth", "coarse"] = "truth" if problem.truth is not None else "coarse"
    share = 0.0
    if count:
        share = _inside_cells(problem, columns) if basis == "truth" else _between_cells(problem, columns)
    return ExplainedShare(share, basis, _sentence(share, basis, count))


def _inside_cells(problem: DownscalingProblem, columns: np.ndarray) -> float:
    assert problem.truth is not None
    row, shares = problem.shares_of_pixels()
    truth = problem.truth.flat[shares.pixel]
    use = np.isfinite(truth)
    weights, cell = shares.areas(problem.grid.area)[use], shares.cell[use]
    values = np.column_stack([truth[use], columns[row[use]]])
    mass = np.bincount(cell, weights)
    for i in range(values.shape[1]):
        total = np.bincount(cell, weights * values[:, i])
        values[:, i] -= (total / np.where(mass > 0, mass, 1.0))[cell]
    return _r_squared(values[:, 0], values[:, 1:], weights)


def _between_cells(problem: DownscalingProblem, columns: np.ndarray) -> float:
    row, shares = problem.shares_of_pixels()
    cell, size, weights = shares.cell, shares.count, shares.areas(problem.grid.area)
    mass = np.bincount(cell, weights, size)
    use = problem.observed.ravel() & (mass > 0)
    if use.sum() < columns.shape[1] + 3:
        return 0.0
    means = [np.bincount(cell, weights * column[row], size)[use] / mass[use] for column in columns.T]
    target, area = problem.coarse.ravel()[use], problem.coarse_grid.area.ravel()[use]
    values = np.column_stack([target, *means])
    values -= np.average(values, axis=0, weights=area)
    return _r_squared(values[:, 0], values[:, 1:], area)


def _r_squared(target: np.ndarray, columns: np.ndarray, weights: np.ndarray) -> float:
    """1 − Σ a e² / Σ a t² of the weighted least-squares fit of centred columns to a centred target."""
    root = np.sqrt(weights)
    t, x = root * target, root[:, None] * columns
    total = float(t @ t)
    if total <= 0:
        return 0.0
    residual = t - x @ np.linalg.lstsq(x, t, rcond=None)[0]
    return float(np.clip(1.0 - (residual @ residual) / total, 0.0, 1.0))


def _sentence(share: float, basis: str, count: int) -> str:
    if not count:
        return "There are no covariates: inside a cell only the coordinates distinguish one pixel from another."
    if basis == "truth":
        sentence = (
            f"The covariates explain {100 * share:.0f} % of the target's variance inside the coarse cells (linearly)"
        )
        weak = "expect little more detail than from interpolation, or choose covariates that vary with the target"
    else:
        sentence = (
            f"There is no high-resolution truth: the covariates explain {100 * share:.0f} % of the variance between "
            "coarse cells (linearly), which only hints at how much they explain inside them"
        )
        weak = "expect little, or check that both files belong to the same place and time"
    return f"{sentence}; {weak}." if share < WEAK else f"{sentence}."
