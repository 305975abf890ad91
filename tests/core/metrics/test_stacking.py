"""Stacking against a search over a grid, a closed form, and what must hold for any densities."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from deconditioning.errors import InputError
from deconditioning.metrics.stacking import stacking_weights


def objective(weights: np.ndarray, log_density: np.ndarray, sizes: np.ndarray, prior: float) -> np.ndarray:
    """The log score of each row of weights with the log prior."""
    return np.log(weights @ np.exp(log_density).T) @ sizes + prior * np.log(weights).sum(-1)


@pytest.mark.parametrize("prior", [0.1, 1.0, 5.0])
def test_three_weights_are_those_of_a_search_over_the_simplex(prior: float) -> None:
    rng = np.random.default_rng(0)
    values, sizes = rng.standard_normal(60), rng.uniform(0.2, 1.5, 60)
    centres = values[:, None] + rng.standard_normal((60, 3)) * [0.5, 0.6, 1.5]
    log_density = norm.logpdf(values[:, None], centres, [0.6, 0.5, 1.0])
    weights = stacking_weights(log_density, sizes=sizes, prior=prior)
    steps = np.linspace(0.001, 0.999, 400)
    first, second = (part.ravel() for part in np.meshgrid(steps, steps))
    grid = np.column_stack([first, second, 1 - first - second])[first + second < 0.9995]
    best = grid[objective(grid, log_density, sizes, prior).argmax()]
    assert weights.sum() == pytest.approx(1) and np.abs(weights - best).max() < 4e-3
    mine = objective(weights[None], log_density, sizes, prior)
    assert mine >= objective(grid, log_density, sizes, prior).max() - 1e-9


def test_values_that_one_alone_explains_give_the_shares_of_a_dirichlet() -> None:
    log_density = np.array([[0.0, -800.0]] * 7 + [[-800.0, 0.0]] * 3)
    assert stacking_weights(log_density, prior=2.0) == pytest.approx([9 / 14, 5 / 14], abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4))
def test_order_scale_and_copies_do_not_matter(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    log_density = rng.normal(0, 3, (30, count))
    weights = stacking_weights(log_density)
    order = rng.permutation(count)
    assert stacking_weights(log_density[:, order]) == pytest.approx(weights[order], abs=1e-5)
    assert stacking_weights(log_density + rng.normal(0, 50, (30, 1))) == pytest.approx(weights, abs=1e-5)
    twice = stacking_weights(np.repeat(log_density, 2, axis=0), sizes=np.full(60, 0.5))
    assert twice == pytest.approx(weights, abs=1e-5)
    assert stacking_weights(np.zeros((30, count))) == pytest.approx(1 / count)


def test_what_is_no_density_is_refused() -> None:
    with pytest.raises(InputError, match="finite log densities"):
        stacking_weights(np.array([[0.0, np.nan]]))
    with pytest.raises(InputError, match="not negative"):
        stacking_weights(np.zeros((3, 2)), prior=-1.0)
