"""Selections on a map: a cell to hide or reveal, a rectangle of whole cells."""

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.problem.cells import Cell, Region, cells_text, checked_region
from deconditioning.fields.problem.problem import DownscalingProblem


def number_of(problem: DownscalingProblem, cell: Cell) -> int | None:
    """The problem's own count of a cell of the whole field; None outside the region."""
    row, column = cell[0] - problem.corner[0], cell[1] - problem.corner[1]
    ny, nx = problem.coarse_shape
    return row * nx + column if 0 <= row < ny and 0 <= column < nx else None


def cell_of(problem: DownscalingProblem, number: int) -> Cell:
    """The cell of the whole field that the problem counts so."""
    row, column = divmod(number, problem.coarse_shape[1])
    return problem.corner[0] + row, problem.corner[1] + column


def is_withheld(problem: DownscalingProblem, cell: Cell) -> bool:
    """Whether a cell (of the whole field, inside the region) loses its value, drawn or by hand."""
    spec, number = problem.spec, number_of(problem, cell)
    drawn = number is not None and bool(problem.drawn.flat[number])
    return (drawn or cell in spec.hide) and cell not in spec.reveal


def toggled(problem: DownscalingProblem, cell: Cell) -> tuple[tuple[Cell, ...], tuple[Cell, ...]]:
    """(hide, reveal) of the problem's spec with one cell the other way round; ``InputError`` for one without a value.

    Cells that are as the seed draws them are in neither.
    """
    number = number_of(problem, cell)
    if number is None or not np.isfinite(problem.coarse_truth.flat[number]):
        raise InputError(f"The cell {cells_text([cell])} has no value to hide or reveal.")
    drawn, hidden = bool(problem.drawn.flat[number]), is_withheld(problem, cell)
    hide, reveal = ({each for each in cells if each != cell} for cells in (problem.spec.hide, problem.spec.reveal))
    if hidden == drawn:
        (reveal if hidden else hide).add(cell)
    return tuple(sorted(hide)), tuple(sorted(reveal))


def cell_at(problem: DownscalingProblem, x: float, y: float) -> Cell | None:
    """The cell of the whole field at native coordinates of the fine grid; None if the pixel there is in none."""
    grid = problem.grid
    number = int(problem.cell[np.abs(grid.y - y).argmin(), np.abs(grid.x - x).argmin()])
    return None if number < 0 else cell_of(problem, number)


def region_touched(problem: DownscalingProblem, x: tuple[float, float], y: tuple[float, float]) -> Region:
    """The whole cells that a rectangle in native coordinates of the fine grid touches; ``InputError`` if too few."""
    grid, sides = problem.grid, []
    for edges, ends in ((grid.y_edges, y), (grid.x_edges, x)):
        sides.append((edges[1:] > min(ends)) & (edges[:-1] < max(ends)))
    inside = problem.cell[np.ix_(*sides)]
    if not (inside >= 0).any():
        raise InputError("The rectangle does not touch any coarse cell: draw it on the map.")
    rows, columns = np.transpose([cell_of(problem, number) for number in np.unique(inside[inside >= 0]).tolist()])
    result = checked_region((rows.min(), rows.max(), columns.min(), columns.max()))
    assert result is not None
    return result
