"""The field with a chosen mediator: it depends on what was asked for, and nothing is smooth in space."""

import numpy as np
import pytest

from deconditioning.datasets.mediated import CELL, NOISE, SIDE, make_mediated
from deconditioning.errors import InputError


def cells(values: np.ndarray) -> np.ndarray:
    rows = range(0, SIDE, CELL)
    return np.array([[values[i : i + CELL, j : j + CELL].mean() for j in rows] for i in rows])


@pytest.mark.parametrize("dependence", [0.0, 0.5, 1.0])
def test_the_mediator_depends_on_the_covariate_on_the_target_or_on_both(dependence):
    data = make_mediated(dependence, 0.4, seed=3)
    x, z, y = (cells(data[name].values).ravel() for name in ("covariate", "target", "mediator"))
    x, z = ((v - v.mean()) / v.std() for v in (x, z))
    found, *_ = np.linalg.lstsq(np.column_stack([x, z]), y, rcond=None)
    expected = np.cos(dependence * np.pi / 2), np.sin(dependence * np.pi / 2)
    assert found == pytest.approx(expected, abs=0.06)
    assert np.std(y - np.column_stack([x, z]) @ found) == pytest.approx(NOISE, rel=0.1)
    inside = data.mediator.values.reshape(SIDE // CELL, CELL, -1, CELL)
    assert np.ptp(inside, axis=(1, 3)).max() < 1e-9


@pytest.mark.parametrize("unexplained", [0.0, 0.5])
def test_the_target_is_a_function_of_the_covariate_at_every_pixel(unexplained):
    data = make_mediated(0.0, unexplained, seed=1)
    x = data.covariate.values
    rest = data.target.values - np.sin(2 * x) - 0.5 * x
    assert np.std(cells(rest)) == pytest.approx(unexplained, rel=0.1, abs=1e-12)
    assert np.abs(np.kron(cells(rest), np.ones((CELL, CELL))) - rest).max() < 1e-9


def test_cells_are_independent_and_seeds_are_others():
    first, second = (make_mediated(0.5, 0.5, seed).target.values for seed in (0, 1))
    assert not np.allclose(first, second) and np.array_equal(first, make_mediated(0.5, 0.5, 0).target.values)
    means = cells(first)
    assert abs(np.corrcoef(means[:, 1:].ravel(), means[:, :-1].ravel())[0, 1]) < 0.1
    with pytest.raises(InputError, match="from 0 to 1"):
        make_mediated(1.5, 0.5)
