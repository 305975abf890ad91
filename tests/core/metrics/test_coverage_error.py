"""The standard error of a map's coverage, against fields of known dependence and against drawing the blocks."""

import numpy as np
import pytest

from deconditioning.errors import InputError
from deconditioning.metrics.coverage_error import coverage_error
from deconditioning.metrics.predictive import Predictive


def _cells(rows: int, columns: int, side: int) -> np.ndarray:
    index = np.arange(rows * columns).reshape(rows, columns)
    return np.kron(index, np.ones((side, side), dtype=int))


def _standard(shape: tuple[int, ...]) -> Predictive:
    return Predictive(np.zeros(shape), np.ones(shape))


@pytest.mark.parametrize("share", [1, 2])
def test_independent_misses_have_the_error_of_a_binomial_share(share) -> None:
    """Every pixel for itself, and squares of 2 × 2 cells that agree, of which there are a quarter as many."""
    rng = np.random.default_rng(0)
    missed = np.kron(rng.random((120, 120)) < 0.08, np.ones((share, share)))
    truth = np.where(missed, 3.0, 0.0)
    error = coverage_error(truth, _standard(truth.shape), _cells(*truth.shape, 1), truth.shape)
    right = np.sqrt(missed.mean() * (1 - missed.mean())) / 120
    assert error == pytest.approx(right, rel=0.25 if share == 2 else 0.12)


def test_it_is_the_spread_of_shares_of_drawn_blocks() -> None:
    """Smooth fields, cells of 3 × 3 pixels, a corner without truth and pixels of no cell."""
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng(1)
    field = gaussian_filter(rng.standard_normal((72, 90)), 6.0)
    truth = field / field.std() * 1.1
    truth[:9, :12] = np.nan
    cell = _cells(24, 30, 3)
    cell[40, 50:70] = -1
    scored = np.isfinite(truth) & (cell >= 0)
    inside, shares = np.abs(truth) < 1.959964, []
    begin = rng.integers(0, 24 * 30, (3000, 45))
    corner_row, corner_column = np.divmod(begin, 30)
    hits, sizes = np.zeros((24, 30)), np.zeros((24, 30))
    np.add.at(hits.ravel(), cell[scored], inside[scored])
    np.add.at(sizes.ravel(), cell[scored], 1.0)
    for rows, columns in zip(corner_row, corner_column, strict=True):
        taken = [(r + i, c + j) for r, c in zip(rows, columns, strict=True) for i in range(4) for j in range(4)]
        at = tuple(np.array(taken).T % [[24], [30]])
        shares.append(hits[at].sum() / sizes[at].sum())
    error = coverage_error(truth, _standard(truth.shape), cell, (24, 30))
    assert error == pytest.approx(np.std(shares), rel=0.06)
    assert error > 2 * np.sqrt(inside[scored].mean() * (1 - inside[scored].mean()) / 720)


def test_a_map_without_misses_has_none_and_one_without_scored_pixels_is_refused() -> None:
    truth = np.zeros((6, 6))
    assert coverage_error(truth, _standard((6, 6)), _cells(2, 2, 3), (2, 2)) == 0.0
    with pytest.raises(InputError, match="nothing to score"):
        coverage_error(truth, _standard((6, 6)), np.full((6, 6), -1), (2, 2))
