"""Coarse values of a training period that are missing, from the archive's means of the same cells."""

import numpy as np
from jaxtyping import Float

#: Times that a training period has, and known values of a cell from which its missing ones are taken, at least.
LEAST_TIMES = 20


def without_gaps(
    coarse: Float[np.ndarray, "n m"], cells: Float[np.ndarray, "n m"]
) -> tuple[Float[np.ndarray, "n m"], str]:
    """``coarse`` values as they are, or, if all of them are known at fewer than 20 times, `filled` from the archive's
    means over the ``cells``; and words on that, to follow those on where they come from.
    """
    lost = ~np.isfinite(coarse)
    if (~lost.any(axis=1)).sum() >= LEAST_TIMES:
        return coarse, ""
    share = f"{100 * lost.mean():.2g} %"
    return filled(coarse, cells), f"; the {share} that are missing are regressed on the archive's means of their cells"


def filled(coarse: Float[np.ndarray, "n m"], cells: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "n m"]:
    """``coarse`` values whose missing ones are ``a + b c + e``, with the archive's mean c of the cell, the regression
    of its known values on these means, and residuals e drawn with the sd of the known ones, so that coarse values
    differ from the archive as much as they do where they are known. Cells with fewer than 20 known values stay as they
    are.
    """
    result, rng = coarse.copy(), np.random.default_rng(0)
    for column in range(coarse.shape[1]):
        y, x = coarse[:, column], cells[:, column]
        known, lost = np.isfinite(y) & np.isfinite(x), ~np.isfinite(y) & np.isfinite(x)
        if known.sum() < LEAST_TIMES or not lost.any():
            continue
        design = np.stack([np.ones(known.sum()), x[known] - x[known].mean()], axis=1)
        (a, b), *_ = np.linalg.lstsq(design, y[known], rcond=None)
        sd = np.sqrt(np.square(y[known] - design @ (a, b)).sum() / (known.sum() - 2))
        result[lost, column] = a + b * (x[lost] - x[known].mean()) + sd * rng.standard_normal(lost.sum())
    return result
