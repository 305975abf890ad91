"""Lemma 1 of Tang et al. by closed form, by draws, and at its limits."""

import numpy as np
import pytest

from deconditioning.distribution_regression.separation import drawn_averages, expected_square, moments, separation
from deconditioning.distribution_regression.simulate import draw_distribution
from deconditioning.errors import InputError


def wave(x: np.ndarray) -> np.ndarray:
    return np.sin(2 * np.pi * x)


def ramp(x: np.ndarray) -> np.ndarray:
    return 1 + 2 * x


def test_moments_are_those_of_the_uniform_distribution():
    assert np.allclose(moments(wave), (0, 0.5), atol=1e-14) and np.allclose(moments(ramp), (2, 13 / 3), atol=1e-14)


@pytest.mark.parametrize("alpha", [1.0, 5.0, 25.0])
def test_the_square_of_averages_is_that_of_drawn_distributions(alpha):
    """Within four standard errors of 4,000 drawn distributions; so are mean and variance of the averages."""
    for f in (wave, ramp):
        averages, (mean, square) = drawn_averages(f, alpha, 4000, 1), moments(f)
        squares = averages**2
        assert abs(squares.mean() - expected_square(f, alpha)) < 4 * squares.std() / 4000**0.5
        assert abs(averages.mean() - mean) < 4 * averages.std() / 4000**0.5
        assert averages.var() == pytest.approx((square - mean**2) / (1 + alpha), rel=0.12)


def test_the_bound_is_met_by_functions_without_a_mean_alone():
    alphas = (0.5, 3.0, 40.0)
    none, some, all_of_it = (separation(f, alphas, 2, 0) for f in (wave, ramp, np.ones_like))
    assert np.allclose(none.exact, none.bound, rtol=1e-12)
    assert (some.exact < some.bound).all() and (some.exact > 1).all()
    assert np.allclose(all_of_it.exact, 1) and np.allclose(all_of_it.drawn, 1)


def test_a_distribution_s_shares_are_positive_and_sum_to_one():
    shares, atoms = draw_distribution(np.random.default_rng(0), 25.0)
    assert shares.shape == atoms.shape and (shares >= 0).all() and shares.sum() == pytest.approx(1, abs=1e-14)


def test_nothing_and_too_few_draws_are_refused():
    with pytest.raises(InputError, match="zero everywhere"):
        separation(np.zeros_like, (1.0,), 10, 0)
    with pytest.raises(InputError, match="request at least 2"):
        separation(wave, (1.0,), 1, 0)
