"""Cells that occur twice in a grid: halo columns, the fold of a tripolar ocean grid, filled positions.

NEMO's ORCA grids repeat columns on both sides, and one row, or half of one, along the fold between their two northern
poles (Madec et al., *NEMO ocean engine*, chapter on lateral boundary conditions); omitted land-only processors leave
zeros as positions.
"""

import numpy as np

from deconditioning.fields.grids.sphere import unit_vectors

#: Columns of a halo on one side, and rows at an edge that are looked at for a fold.
_MOST_COLUMNS, _FOLD_ROWS = 6, 3
#: Cells lie in one place where they are closer than this share of the step between neighbours.
_CLOSE = 0.05
#: Neighbours no further apart, on the unit sphere, lie in one place: singles are no finer.
_ONE_PLACE = 5e-7
#: This many cells do not share one position unless it is none.
_SHARED = 4


def shared_positions(latitude: np.ndarray, longitude: np.ndarray) -> np.ndarray:
    """(H, W) where neighbours have exactly one position, such as 0, 0, in four cells or more: it is none.

    At a pole any number of cells may meet.
    """
    result = np.zeros(latitude.shape, dtype=bool)
    same = (latitude[:, :-1] == latitude[:, 1:]) & (longitude[:, :-1] == longitude[:, 1:])
    if not same.any():
        return result
    pairs = np.unique(np.stack([latitude[:, :-1][same], longitude[:, :-1][same]], axis=1), axis=0)
    for y, x in pairs[:64]:
        repeated = (latitude == y) & (longitude == x)
        if abs(y) < 89.9 and np.count_nonzero(repeated) >= _SHARED:
            result |= repeated
    return result & ~result.all()  # one value in all cells is reported elsewhere


def repeated_columns(latitude: np.ndarray, longitude: np.ndarray) -> int:
    """How many columns at the end repeat those at the beginning; NaN where a cell has no position."""
    width = latitude.shape[1]
    for count in range(min(_MOST_COLUMNS, width // 4), 0, -1):
        first, last = (
            unit_vectors(latitude[:, part], longitude[:, part]) for part in (slice(count), slice(width - count, None))
        )
        distance = np.linalg.norm(first - last, axis=-1)
        step = np.linalg.norm(unit_vectors(latitude[:, count], longitude[:, count]) - first[:, -1], axis=-1)
        known = np.isfinite(distance) & np.isfinite(step)[:, None] & (step > 0)[:, None]
        if known.mean() > 0.3 and (distance < _CLOSE * step[:, None])[known].mean() > 0.99:
            return count
    return 0


def folded_cells(latitude: np.ndarray, longitude: np.ndarray) -> np.ndarray:
    """(H, W) cells of the outer rows that lie where another cell does, which is further in or stands before them.

    Positions in degrees, NaN where a cell has none. Looked for along both ends; cells whose neighbours in the row all
    lie in one place, as at a pole, are passed over.
    """
    from scipy.spatial import cKDTree

    result = np.zeros(latitude.shape, dtype=bool)
    height, width = latitude.shape
    if height <= 2 * _FOLD_ROWS + 2:
        return result
    for rows in (np.arange(height - _FOLD_ROWS - 1, height), np.arange(_FOLD_ROWS, -1, -1)):  # from within outwards
        vectors = unit_vectors(latitude[rows], longitude[rows])
        gap = np.linalg.norm(np.diff(vectors, axis=1), axis=-1)
        gap[~(gap > _ONE_PLACE)] = np.nan
        step = np.fmin(np.pad(gap, ((0, 0), (1, 0)), "edge"), np.pad(gap, ((0, 0), (0, 1)), "edge"))
        usable = np.flatnonzero(np.isfinite(step))
        if not len(usable):
            continue
        steps = step.ravel()[usable]
        pairs = cKDTree(vectors.reshape(-1, 3)[usable]).query_pairs(_CLOSE * float(steps.max()), output_type="ndarray")
        close = np.linalg.norm(np.diff(vectors.reshape(-1, 3)[usable][pairs], axis=1)[:, 0], axis=-1)
        pairs = pairs[close < _CLOSE * np.minimum(*steps[pairs].T)]
        outer = usable[pairs.max(axis=1)] if len(pairs) else np.array([], dtype=int)
        result[rows[outer // width], outer % width] = True
    return result
