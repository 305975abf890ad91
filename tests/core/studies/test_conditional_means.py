"""The ablation of the shrinkage estimator: values against explicit sums, against quadrature, and what they cost."""

import pytest
import torch

from deconditioning.errors import InputError
from deconditioning.studies.conditional_means.settings import LAYOUTS
from deconditioning.studies.conditional_means.study import (
    MOST_DENSE,
    BagLayout,
    compare,
    conditional_mean,
    dense_estimator,
    embeddings,
    estimators,
    sample_bags,
    true_embedding,
)
from deconditioning.studies.conditional_means.times import (
    ROUTES,
    Cost,
    cheap_costs,
    dense_cost,
    extrapolated_cost,
    growth,
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


def test_unequal_bags_keep_the_total_and_are_unequal():
    sizes = sample_bags(BagLayout(40, 20, unequal=True)).bags.sizes
    assert float(sizes.sum()) == 800 and float(sizes.std()) > 5 and float(sizes.min()) >= 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"bags": 0},
        {"per_bag": 0},
        {"regularisation": 0.0},
        {"input_scale": -1.0},
        {"mediator_scale": float("nan")},
        {"bags": 1000, "per_bag": 1000},
    ],
)
def test_impossible_layouts_are_refused(wrong):
    with pytest.raises(InputError):
        BagLayout(**wrong)


def test_lambda_scaled_alike_is_the_same_number_on_diagonals_divided_by_the_counts():
    sample, queries = sample_bags(BagLayout(6, 5)), torch.zeros(1, 1, dtype=torch.float64)
    same = estimators(BagLayout(6, 5, alike=False, regularisation=3.0), sample, queries)
    assert torch.allclose(same[0], estimators(BagLayout(6, 5, regularisation=3.0 / 30), sample, queries)[0])
    assert torch.allclose(same[1], estimators(BagLayout(6, 5, regularisation=3.0 / 6), sample, queries)[1])


def test_the_true_embedding_is_the_mean_over_many_draws():
    x, y = torch.linspace(-2, 3, 7).double(), torch.tensor([-1.0, 0.5, 2.0]).double()
    noise = torch.randn(400_000, 1, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    for index in range(len(y)):
        draws = conditional_mean(y[index : index + 1]) + 0.5 * noise
        mean = torch.exp(-0.5 * ((x - draws) / 0.8) ** 2).mean(0)
        assert torch.allclose(true_embedding(x, y, 0.8)[:, index], mean, atol=3e-3)


def test_much_data_and_little_regularisation_find_the_truth():
    found = compare(BagLayout(400, 40, regularisation=1e-6, mediator_scale=0.3))
    assert max(found.regression_rmse.values()) < 0.15 and max(found.embedding_rmse.values()) < 0.06
    rough = compare(BagLayout(400, 40, regularisation=10.0, mediator_scale=0.3))
    assert min(rough.regression_rmse.values()) > 0.5


def test_lengthscales_are_multiples_of_the_median_heuristic():
    usual, wide = (sample_bags(BagLayout(input_scale=a, mediator_scale=b)).lengthscales for a, b in ((1, 1), (2, 0.5)))
    assert wide == pytest.approx((2 * usual[0], 0.5 * usual[1]))


def test_the_distance_in_the_rkhs_vanishes_with_the_difference_and_bounds_it():
    assert compare(BagLayout(8, 6)).distance < 1e-7
    found = compare(BagLayout(8, 6, unequal=True))
    assert found.distance >= found.difference > 0  # |μ(x) − ν(x)| ≤ ‖μ − ν‖ √k(x, x)


def test_one_bag_of_one_point_is_a_layout_too():
    assert compare(BagLayout(1, 1)).difference < 1e-15
    bag = sample_bags(BagLayout(1, 1))
    standard, shrinkage = embeddings(BagLayout(1, 1), bag, bag.mediators)
    assert torch.allclose(standard.weights, torch.tensor([[1 / 1.1]]).double())
    assert torch.allclose(shrinkage.weights, standard.weights)


def test_the_dense_estimator_is_refused_where_it_would_fill_the_memory():
    layout = BagLayout(50, 500)
    with pytest.raises(InputError, match=r"5\.0 GB .* bag-level form gives the same numbers"):
        dense_estimator(layout, sample_bags(layout), torch.zeros(1, 1, dtype=torch.float64))


def test_costs_are_measured_where_they_can_be_and_extrapolated_by_the_cube():
    rows = [dense_cost(BagLayout(4, n)) for n in (5, 200)] + cheap_costs(BagLayout(4, 5))
    assert [row.route for row in rows] == [ROUTES[0], ROUTES[0], ROUTES[1], ROUTES[2]]
    assert all(row.seconds > 0 and not row.extrapolated for row in rows)
    far = extrapolated_cost(Cost(ROUTES[0], 50, 5000, 2.0), 25_000, 500)
    assert far == Cost(ROUTES[0], 500, 25_000, 250.0, extrapolated=True) and far.points > MOST_DENSE
    assert growth([Cost(ROUTES[0], 1, n, 1e-9 * n**3) for n in (10, 100, 1000)]) == pytest.approx(3)
