"""Leave-one-out errors in closed form against models that never had the target."""

from dataclasses import replace

import pytest
import torch

from deconditioning.models.indirect_gp import posterior
from deconditioning.models.leave_one_out import MOST_TARGETS, left_out
from deconditioning.models.sparse.inducing import Inducing
from deconditioning.models.sparse.sparse_gp import sparse_posterior
from deconditioning.observations import IndirectData
from tests.core.models.small import COLUMNS, model, normal, problem


def without(data: IndirectData, target: int) -> IndirectData:
    """The same bags with one target fewer."""
    kept = torch.arange(len(data.targets)) != target
    return replace(data, query_mediators=data.query_mediators[kept], targets=data.targets[kept])


@pytest.mark.parametrize("name", ["shrinkage_cmp", "cmp", "task_transformed_gp"])
def test_errors_and_variances_are_those_of_a_model_that_never_had_the_target(name):
    """Second route: the posterior of f given the other targets, read at every pixel of every bag."""
    data, spec = problem(targets=5), model(name)
    found = left_out(spec, data, COLUMNS)
    whole = posterior(spec, data, COLUMNS)
    bags = data.bags
    for target in range(5):
        others = posterior(spec, without(data, target), COLUMNS)
        given = whole.conditioning
        weight = given.weights[bags.bag, target] * bags.weights
        kept = torch.arange(5) != target
        misfit = others.conditioning.factor.solve(others.conditioning.residual)
        # Σ ties the targets' noises to each other: the others' misfit tells of this one's
        expected = weight @ others.mean(bags.inputs) + given.noise[target, kept] @ misfit
        assert float(data.targets[target] - expected) == pytest.approx(float(found.error[target]), abs=1e-9)


def test_variances_of_the_bag_gp_are_those_of_the_bag_left_out():
    data, spec = problem(matched=True), model("bag_gp", point_noise=0.0)
    found, bags = left_out(spec, data, COLUMNS), data.bags
    for target in range(bags.count):
        rows = torch.arange(bags.count) != target
        places = data.mediators[rows]
        part = IndirectData(bags.subset(torch.nonzero(rows)[:, 0]), places, places, data.targets[rows])
        mine = bags.bag == target
        weights = bags.weights[mine]
        other = posterior(spec, part, COLUMNS)
        covariance = other.covariance(bags.inputs[mine])
        assert float(weights @ covariance @ weights) + spec.noise == pytest.approx(
            float(found.variance[target]), rel=1e-8
        )
        error = float(data.targets[target] - weights @ other.mean(bags.inputs[mine]))
        assert error == pytest.approx(float(found.error[target]), abs=1e-8)
    assert found.rmse == pytest.approx(float(found.error.square().mean().sqrt()))


def test_through_inducing_points_at_all_inputs_it_is_the_exact_models():
    data = problem(targets=5)
    spec = replace(model("variational_cmp"), inducing=Inducing(locations=tuple(map(tuple, data.bags.inputs.tolist()))))
    assert len(sparse_posterior(spec, data, COLUMNS).inducing) == len(data.bags.inputs)
    found, exact = left_out(spec, data, COLUMNS), left_out(replace(spec, model="cmp"), data, COLUMNS)
    assert torch.allclose(found.error, exact.error, atol=1e-6) and torch.allclose(
        found.variance, exact.variance, atol=1e-6
    )


def test_too_many_targets_are_none():
    data = problem(targets=4)
    many = replace(data, query_mediators=normal(MOST_TARGETS + 1, 2, seed=6), targets=normal(MOST_TARGETS + 1, seed=7))
    assert left_out(model("cmp"), many, COLUMNS) is None
