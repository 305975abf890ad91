"""The standard error of a map's coverage: neighbouring pixels err alike, so that far fewer than its pixels count."""

import numpy as np
from jaxtyping import Float, Int

from deconditioning.metrics.points import scored_points
from deconditioning.metrics.predictive import Predictive

#: Sides of the blocks, in cells.
_SIDES = (1, 2, 3, 4)


def coverage_error(
    truth: Float[np.ndarray, "H W"],
    predictive: Predictive,
    cell: Int[np.ndarray, "H W"],
    shape: tuple[int, int],
    level: float = 0.95,
) -> float:
    """The standard error of the share p of the truth inside the central intervals, from blocks of b × b cells.

    In the circular moving-block bootstrap ``n/b²`` blocks are drawn with replacement from the n blocks of a lattice
    that is closed at its edges. A block has C scored pixels, H of them inside; to first order the share has the
    variance ``E[(H − pC)²] b² / (n E[C]²)``. The largest over b up to 4, and up to half of the lattice, is taken.

    Parameters
    ----------
    truth, predictive : (H, W), in one unit.
    cell : (H, W) row-major index of the cell of every pixel, −1 for none.
    shape : rows and columns of the lattice of cells.

    Returns
    -------
    The standard error of p, as a share. Raises `InputError` if no pixel is scored.

    Source: Künsch 1989, *Annals of Statistics* 17; Politis and Romano 1992 (circular blocks).
    """
    from scipy.special import ndtri

    points = scored_points(truth=truth, predicted=predictive, weights=(cell >= 0).astype(float))
    inside, at = points.off <= float(ndtri((1 + level) / 2)), cell[points.there]
    count = int(np.prod(shape))
    hits, sizes = (np.bincount(at, w, count).reshape(shape) for w in (inside.astype(float), np.ones(len(at))))
    missed = hits - inside.mean() * sizes
    sides = [side for side in _SIDES if side == 1 or 2 * side <= min(shape)]
    variances = [np.mean(_of_blocks(missed, side) ** 2) / (sizes.mean() * side) ** 2 / count for side in sides]
    return float(np.sqrt(max(variances)))


def _of_blocks(values: Float[np.ndarray, "y x"], side: int) -> Float[np.ndarray, "y x"]:
    """Sums over the block that begins at each cell."""
    return np.sum([np.roll(values, (-i, -j), (0, 1)) for i in range(side) for j in range(side)], axis=0)
