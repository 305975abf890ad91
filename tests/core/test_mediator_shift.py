"""Density ratios against those of known normals; weighed bags against bags that are there several times."""

from dataclasses import replace

import pytest
import torch

from deconditioning.embeddings.conditional_mean import (
    MediatorGrams,
    nystrom_weights,
    replicated_weights,
    shrinkage_weights,
    streamed_weights,
)  # fmt: skip
from deconditioning.errors import InputError
from deconditioning.kernels.spec import gaussian
from deconditioning.mediator_shift import mediator_shift, reweighted
from deconditioning.models.indirect_gp import Columns, posterior
from deconditioning.models.learning.learning import LearningOptions, learn
from deconditioning.models.mediation import mediation_covariance
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import Bags, IndirectData
from deconditioning.studies.one_dimension.shifted import shifted_line


def normal(count: int, mean: float = 0.0, sd: float = 1.0, seed: int = 0) -> torch.Tensor:
    draws = torch.randn(count, 1, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return mean + sd * draws


def test_the_ratio_of_two_normals_is_found():
    bags, targets = normal(600), normal(500, 1.0, 0.8, seed=1)
    density = [torch.distributions.Normal(mean, sd).log_prob(bags[:, 0]) for mean, sd in ((1.0, 0.8), (0.0, 1.0))]
    ratio = torch.exp(density[0] - density[1])
    ratio /= ratio.mean()
    found = mediator_shift(bags, targets)
    assert (found.importance - ratio).abs().mean() < 0.15
    assert found.effective == pytest.approx(float(ratio.sum() ** 2 / (600 * ratio.square().sum())), abs=0.08)
    assert float(found.importance.mean()) == pytest.approx(1) and found.reached > 0.9


def test_no_shift_leaves_all_bags_and_a_far_one_reaches_no_target():
    bags = normal(200)
    same, far = mediator_shift(bags, normal(150, seed=1)), mediator_shift(bags, normal(150, 12.0, 0.1, seed=2))
    assert same.effective > 0.85 and same.reached > 0.95
    assert far.reached == 0 and far.effective < same.effective and bool((far.importance > 0).all())
    with pytest.raises(InputError, match="at least two of each"):
        mediator_shift(bags[:1], bags)


@pytest.mark.parametrize("replicated", [False, True])
def test_an_importance_of_two_is_a_bag_that_is_there_twice(replicated):
    y, query, sizes = normal(6), normal(4, seed=1), torch.tensor([1.0, 3, 2, 4, 1, 1], dtype=torch.float64)
    times = torch.tensor([2, 1, 1, 3, 1, 1])
    kernel = gaussian(("y",), (0.7,), 1.3).build(("y",))
    grams = MediatorGrams(kernel(y, y).to_dense(), kernel(y, query).to_dense(), sizes, importance=times.double())
    weights = replicated_weights if replicated else shrinkage_weights
    found = weights(grams, 1e-2).detach()
    each = torch.repeat_interleave(torch.arange(6), times)
    lam = 1e-2 * float(sizes.sum() / sizes[each].sum()) if replicated else 1e-2 * 6 / len(each)
    many = weights(MediatorGrams(grams.within[each][:, each], grams.across[each], sizes[each]), lam).detach()
    brute = torch.zeros_like(found).index_add_(0, each, many)
    torch.testing.assert_close(found, brute)
    common = (kernel, y, sizes, 1e-2, replicated, times.double())
    for route in (streamed_weights(*common), nystrom_weights(*common, 1e-14, 6)):
        torch.testing.assert_close(route.left @ route.rows(query).T, found, atol=1e-6, rtol=1e-5)


def test_what_stays_unknown_of_g_is_that_of_noises_divided_by_importance():
    y, query, omega = normal(5), normal(3, seed=1), torch.tensor([0.5, 2, 1, 1.2, 0.3], dtype=torch.float64)
    kernel = gaussian(("y",), (0.9,), 1.0).build(("y",))
    within, across, between = (kernel(*pair).to_dense().detach() for pair in ((y, y), (y, query), (query, query)))
    grams = MediatorGrams(within, across, torch.ones(5, dtype=torch.float64), between, omega)
    found = mediation_covariance(grams, shrinkage_weights(grams, 0.02))
    brute = between - across.T @ torch.linalg.solve(within + torch.diag(5 * 0.02 / omega), across)
    torch.testing.assert_close(found, brute)


def data_of(shift: float) -> IndirectData:
    return shifted_line(shift, 0).data


def test_models_learn_and_condition_with_the_importance_of_the_data():
    given = data_of(3.0)
    weighed = reweighted(given)
    spec = ModelSpec("shrinkage_cmp", gaussian(("x",), (1.0,), 4.0), gaussian(("y",), (8.0,), 1.0), 1e-3, 0.4)
    options, columns = LearningOptions(restarts=1, steps=4), Columns(("x",), ("y",))
    at = torch.linspace(-3, 3, 7, dtype=torch.float64)[:, None]
    plain, other = (posterior(spec, data, columns).mean(at) for data in (given, weighed))
    assert float((plain - other).abs().max()) > 0.1
    even = replace(given, importance=torch.ones(len(given.mediators), dtype=torch.float64))
    torch.testing.assert_close(posterior(spec, even, columns).mean(at), plain)
    learned = [learn(spec, data, columns, options).spec.regularisation for data in (given, weighed, even)]
    assert learned[0] == pytest.approx(learned[2], rel=1e-6) and abs(learned[0] / learned[1] - 1) > 1e-3


def test_matched_data_are_left_alone_and_a_wrong_importance_is_refused():
    y, bags = normal(5), Bags(normal(5), torch.arange(5), 5)
    matched = IndirectData(bags, y, y, torch.zeros(5, dtype=torch.float64))
    assert reweighted(matched) is matched
    for wrong in (torch.ones(4, dtype=torch.float64), torch.zeros(5, dtype=torch.float64)):
        with pytest.raises(InputError, match="one positive number per bag"):
            replace(matched, importance=wrong)
