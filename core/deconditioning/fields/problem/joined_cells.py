"""One scale up: merges neighbouring cells into larger ones, even if some are withheld or missing."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from deconditioning.fields.problem.problem import DownscalingProblem

#: Cells that a larger one is high and wide.
FACTOR = 2


@dataclass(frozen=True, eq=False)
class Joined:
    """Which cells make which larger one.

    Parameters
    ----------
    item : (n,) places of the cells in the list that they come from.
    group : (n,) the larger cell that each belongs to, numbered 0 … G − 1.
    share : (n,) what each has of its larger cell's area; sums to one in a group.
    square : (G, 2) row and column of each larger cell on a grid of such cells.
    """

    item: Int[np.ndarray, " n"]
    group: Int[np.ndarray, " n"]
    share: Float[np.ndarray, " n"]
    square: Int[np.ndarray, "G 2"]

    @property
    def count(self) -> int:
        """How many larger cells there are."""
        return len(self.square)

    def mean(self, values: Float[np.ndarray, " all"]) -> Float[np.ndarray, " G"]:
        """Area-weighted means of the larger cells, from the values of the whole list."""
        return np.bincount(self.group, self.share * values[self.item], self.count)


def join(row: Int[np.ndarray, " all"], column: Int[np.ndarray, " all"], area: Float[np.ndarray, " all"]) -> Joined:
    """Squares of ``FACTOR`` × ``FACTOR`` places of a grid of which at least half are taken; others are left out.

    A larger cell is the taken places of its square alone, so that nothing hidden enters it.
    """
    squares, of, filled = np.unique(
        np.stack([row, column], axis=1) // FACTOR, axis=0, return_inverse=True, return_counts=True
    )
    of = of.reshape(-1)
    half_known = 2 * filled >= FACTOR**2
    number = np.cumsum(half_known) - 1
    item = np.flatnonzero(half_known[of])
    group = number[of[item]]
    return Joined(item, group, area[item] / np.bincount(group, area[item])[group], squares[half_known])


def join_targets(problem: DownscalingProblem) -> Joined:
    """The visible coarse cells of a problem, joined; ``item`` counts along its targets."""
    row, column = np.divmod(problem.target_cell, problem.coarse_shape[1])
    return join(row, column, problem.coarse_grid.area.flat[problem.target_cell])


def join_bags(problem: DownscalingProblem) -> Joined:
    """The bags of a problem, made of its prediction pixels, joined as its blocks lie."""
    bag, pixel = problem.data.bags.bag.cpu().numpy(), problem.pixel[problem.bag_pixel]
    row, column = np.divmod(pixel[np.unique(bag, return_index=True)[1]], problem.grid.shape[1])
    area = np.bincount(bag, problem.grid.area.flat[pixel])
    return join(row // problem.spec.block[0], column // problem.spec.block[1], area)
