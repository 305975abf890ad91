"""Conditional and deconditional mean operators: bag level against labels replicated, weight space against kernels."""

import pytest
import torch

from deconditioning.embeddings.conditional_mean import MediatorGrams, replicated_weights, shrinkage_weights
from deconditioning.embeddings.deconditional import (
    conditional_mean_operator,
    deconditional_mean_operator,
    reconstruction_risk,
)
from deconditioning.errors import InputError


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def grams(sizes, seed=0):
    y, query = normal(len(sizes), 1, seed=seed), normal(4, 1, seed=seed + 1)
    rbf = lambda a, b: torch.exp(-0.5 * (a - b.T) ** 2)  # noqa: E731
    return MediatorGrams(rbf(y, y), rbf(y, query), torch.tensor(sizes, dtype=torch.float64)), y, query, rbf


@pytest.mark.parametrize("sizes", [(4, 4, 4), (1, 7, 3, 12)])
@pytest.mark.parametrize("lam", [1e-2, 1e-5])
def test_the_standard_weights_are_those_of_labels_replicated_over_bags(sizes, lam):
    given, y, query, rbf = grams(sizes)
    bag = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    total = len(bag) * lam * torch.eye(len(bag)).double()
    dense = torch.linalg.solve(rbf(y[bag], y[bag]) + total, rbf(y[bag], query))
    summed = torch.zeros(len(sizes), 4, dtype=torch.float64).index_add_(0, bag, dense)
    assert torch.allclose(replicated_weights(given, lam), summed, atol=1e-9)


def test_equal_bags_make_both_estimators_one_and_unequal_bags_do_not():
    equal, unequal = grams((5, 5, 5, 5))[0], grams((1, 9, 4, 6))[0]
    assert torch.allclose(replicated_weights(equal, 0.1), shrinkage_weights(equal, 0.1), atol=1e-13)
    assert float((replicated_weights(unequal, 0.1) - shrinkage_weights(unequal, 0.1)).abs().max()) > 1e-2


def test_the_first_stage_minimises_its_regularised_risk():
    phi, psi = normal(30, 4), normal(30, 3, seed=1)
    best = conditional_mean_operator(phi, psi, 0.05)

    def risk(c):
        return (phi - psi @ c.T).square().sum(1).mean() + 0.05 * c.square().sum()

    for seed in range(5):
        assert float(risk(best + 1e-2 * normal(4, 3, seed=seed + 2))) > float(risk(best))
    free = best.clone().requires_grad_(True)
    risk(free).backward()
    assert torch.allclose(free.grad, torch.zeros_like(free), atol=1e-12)


@pytest.mark.parametrize("targets", [2, 40])
def test_weight_space_and_kernel_form_of_the_deconditional_operator_agree_and_minimise(targets):
    operator, query = normal(5, 3), normal(targets, 3, seed=1)
    found = deconditional_mean_operator(operator, query, 1e-3)
    images = query @ operator.T
    process = images @ images.T + targets * 1e-3 * torch.eye(targets).double()
    assert torch.allclose(found, query.T @ torch.linalg.solve(process, images), atol=1e-10)
    free = found.clone().requires_grad_(True)
    risk = (query - query @ operator.T @ free.T).square().sum(1).mean() + 1e-3 * free.square().sum()
    risk.backward()
    assert torch.allclose(free.grad, torch.zeros_like(free), atol=1e-11)


def test_the_reconstruction_risk_is_the_mean_over_draws():
    operator, inverse, draws = normal(5, 3), normal(3, 5, seed=1), normal(200_000, 3, seed=2)
    moment = draws.T @ draws / len(draws)
    direct = (draws - draws @ operator.T @ inverse.T).square().sum(1).mean()
    assert float(reconstruction_risk(inverse, operator, moment)) == pytest.approx(float(direct), rel=1e-10)
    exact = torch.linalg.pinv(operator)
    assert float(reconstruction_risk(exact, operator, moment)) == pytest.approx(0, abs=1e-20)


def test_no_regularisation_of_a_singular_problem_is_said():
    doubled = normal(6, 2).repeat(1, 2)
    with pytest.raises(InputError, match="singular"):
        conditional_mean_operator(normal(6, 2), doubled * torch.tensor([1e9, 1.0, 1e9, 1.0]).double() * 1e-300, 0.0)
