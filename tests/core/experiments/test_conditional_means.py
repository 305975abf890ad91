"""The ablation of the shrinkage estimator, and the rate of the deconditional mean operator."""

import math

import numpy as np
import pytest
import torch

from core.errors import InputError
from core.experiments.conditional_means import LAYOUTS, BagLayout, compare, dense_estimator, estimators, sample_bags
from core.experiments.rates import (
    Circle,
    Difficulty,
    measured_curve,
    minimax_exponent,
    rate_exponent,
    samples_exponent,
)


@pytest.mark.parametrize("unequal", [False, True])
@pytest.mark.parametrize("alike", [False, True])
def test_the_estimates_equal_those_with_labels_replicated(unequal, alike):
    layout = BagLayout(12, 6, unequal, alike)
    sample, queries = sample_bags(layout), torch.linspace(-2, 2, 5).double()[:, None]
    dense = dense_estimator(layout, sample, queries)
    summed = torch.zeros(12, 5, dtype=torch.float64).index_add_(0, sample.bags.bag, dense)
    assert torch.allclose(estimators(layout, sample, queries)[0], summed, atol=1e-10)


@pytest.mark.parametrize(("bags", "per_bag"), LAYOUTS)
def test_equal_bags_differ_only_where_the_regularisation_is_not_scaled_alike(bags, per_bag):
    assert compare(BagLayout(bags, per_bag)).difference < 1e-12
    assert compare(BagLayout(bags, per_bag, alike=False)).difference > 1e-3
    assert compare(BagLayout(bags, per_bag, unequal=True)).difference > 1e-3


def test_the_embedding_is_the_kernel_sum_it_stands_for():
    layout = BagLayout(5, 4, unequal=True)
    found, sample = compare(layout), sample_bags(layout)
    weights = estimators(layout, sample, found.y[:, None])[1]
    scale = sample.kernel.terms[0].factors[0].lengthscales[0]
    kernel = torch.exp(-0.5 * ((found.x[:, None] - sample.bags.inputs[:, 0]) / scale) ** 2)
    spread = weights[sample.bags.bag] / sample.bags.sizes[sample.bags.bag, None]
    assert torch.allclose(found.shrinkage, kernel @ spread, atol=1e-11)


def test_unequal_bags_keep_about_the_total_and_are_unequal():
    sizes = sample_bags(BagLayout(40, 20, unequal=True)).bags.sizes
    assert 0.9 * 800 <= float(sizes.sum()) <= 800 and float(sizes.std()) > 5 and float(sizes.min()) >= 1


@pytest.mark.parametrize("wrong", [{"bags": 0}, {"per_bag": 0}, {"regularisation": 0.0}])
def test_impossible_layouts_are_refused(wrong):
    with pytest.raises(InputError):
        BagLayout(**wrong)


def test_the_exponent_has_the_theorems_cases_limits_and_minimax_point():
    hard = Difficulty(b=2.0, c=1.5)
    best = minimax_exponent(hard)
    assert best == pytest.approx(2 * 2.5 / 4) and best < 2
    assert rate_exponent(best, hard) == pytest.approx(rate_exponent(best + 1, hard)) == pytest.approx(3 / 4)
    assert rate_exponent(best / 2, hard) == pytest.approx(best / 2 * 1.5 / 2.5)
    endless = Difficulty(b=math.inf, c=2.0)
    assert rate_exponent(9.0, endless) == 1.0
    assert rate_exponent(9.0, Difficulty(b=1e9, c=2.0)) == pytest.approx(1.0, abs=1e-8)
    assert samples_exponent(1.0, Difficulty(c_prime=2.0)) == 3.0
    assert samples_exponent(1.0, Difficulty(c_prime=1.5, iota=0.5)) == pytest.approx(10.0)
    for wrong in ({"b": 1.0}, {"c": 1.0}, {"c_prime": 2.5}, {"iota": 0.0}):
        with pytest.raises(InputError, match="outside the theorem"):
            Difficulty(**wrong)


def test_the_known_operator_is_that_of_the_drawn_circle():
    circle = Circle()
    generator = torch.Generator().manual_seed(0)
    y = torch.rand(400_000, generator=generator, dtype=torch.float64)
    x = y + circle.spread * torch.randn(len(y), generator=generator, dtype=torch.float64)
    joint = circle.features(x).T @ circle.features(y) / len(y)  # features are orthonormal: E[φψᵀ] = C
    assert torch.allclose(joint, circle.operator(), atol=6e-3)


def test_the_measured_risk_falls_at_least_as_fast_as_the_theorem_says():
    curve = measured_curve(0.5, Difficulty(math.inf), seeds=3)
    assert curve.slope < -0.9 * rate_exponent(0.5, Difficulty(math.inf))
    assert (np.diff(curve.risks.mean(1)) < 0).all()
    with pytest.raises(InputError, match="choose a smaller a"):
        measured_curve(3.0, Difficulty(c_prime=1.05))
