"""The shrinkage CMP with an uncertain operator: what leaving bags out shows that W misses is part of Σ."""

from dataclasses import replace

import pytest
import torch

from deconditioning.errors import never
from deconditioning.models.catalogue import MODELS
from deconditioning.models.indirect_gp import IndirectPosterior, posterior
from deconditioning.models.learning.learning import LearningOptions, learn
from deconditioning.models.learning.objectives import exact_objective
from deconditioning.models.learning.trainable import Trainable
from deconditioning.models.leave_one_out import left_out
from tests.core.models.small import COLUMNS, KERNEL, MEDIATOR_KERNEL, assert_gradient, dense, model, problem
from tests.core.models.test_indirect_gp import POINTS, pixel_weights

SPEC = model("uncertain_cmp", 5e-2)


def missed(data, spec=SPEC) -> torch.Tensor:
    """Every bag left out in turn, its embedding predicted from the others by ridge regression on mediators."""
    y, query, count = data.mediators, data.query_mediators, data.bags.count
    spread = torch.zeros(len(data.bags.inputs), count, dtype=torch.float64)
    spread[torch.arange(len(spread)), data.bags.bag] = data.bags.weights
    gram = spread.T @ dense(KERNEL, COLUMNS.inputs, data.bags.inputs, data.bags.inputs) @ spread
    within, ridge = dense(MEDIATOR_KERNEL, COLUMNS.mediators, y, y), count * spec.regularisation
    losses = []
    for out in range(count):
        rest = [j for j in range(count) if j != out]
        apart = torch.zeros(count, dtype=torch.float64)
        system = within[rest][:, rest] + ridge * torch.eye(count - 1, dtype=torch.float64)
        apart[rest], apart[out] = torch.linalg.solve(system, within[rest, out]), -1.0
        losses.append(apart @ gram @ apart)
    across = dense(MEDIATOR_KERNEL, COLUMNS.mediators, y, query)
    weights = torch.linalg.solve(within + ridge * torch.eye(count, dtype=torch.float64), across)
    unknown = dense(MEDIATOR_KERNEL, COLUMNS.mediators, query, query).diagonal() - (across * weights).sum(0) + ridge
    return torch.stack(losses).mean() * unknown / unknown.mean()


@pytest.mark.parametrize("targets", [3, 9])
def test_posterior_equals_the_pixel_level_joint_gaussian(targets):
    data = problem(targets=targets)
    weights = pixel_weights("shrinkage_cmp", data, SPEC.regularisation)
    inputs, eye = data.bags.inputs, torch.eye(targets, dtype=torch.float64)
    prior = dense(KERNEL, COLUMNS.inputs, inputs, inputs) + SPEC.point_noise * torch.eye(len(inputs)).double()
    covariance = weights.T @ prior @ weights + SPEC.noise * eye + torch.diag(missed(data))
    cross = dense(KERNEL, COLUMNS.inputs, POINTS, inputs) @ weights
    gain = torch.linalg.solve(covariance, cross.T).T
    expected = SPEC.mean * weights.sum(0)
    found = posterior(SPEC, data, COLUMNS)
    assert torch.allclose(found.mean(POINTS), SPEC.mean + gain @ (data.targets - expected), atol=1e-9)
    spread = dense(KERNEL, COLUMNS.inputs, POINTS, POINTS) - gain @ cross.T
    assert torch.allclose(found.covariance(POINTS), spread, atol=1e-9)
    density = torch.distributions.MultivariateNormal(expected, covariance).log_prob(data.targets)
    assert found.evidence == pytest.approx(float(density), abs=1e-9)


def test_it_is_never_surer_than_the_shrinkage_cmp():
    data = problem(targets=9)
    doubtful, sure = (
        posterior(replace(SPEC, model=name), data, COLUMNS) for name in ("uncertain_cmp", "shrinkage_cmp")
    )
    assert bool((doubtful.variance(POINTS) > sure.variance(POINTS) - 1e-12).all())
    assert float((doubtful.variance(POINTS) - sure.variance(POINTS)).max()) > 1e-3


@pytest.mark.usefixtures("few_features")
def test_draws_have_the_posteriors_moments():
    found = posterior(SPEC, problem(targets=9), COLUMNS)
    assert isinstance(found, IndirectPosterior)
    draws = found.sample(POINTS, 1200, torch.Generator().manual_seed(0))
    scale = found.variance(POINTS).sqrt()
    assert torch.allclose((draws.mean(0) - found.mean(POINTS)) / scale, torch.zeros(len(POINTS)).double(), atol=0.12)
    both = torch.outer(scale, scale)
    assert torch.allclose(torch.cov(draws.T) / both, found.covariance(POINTS) / both, atol=0.18)


@pytest.mark.parametrize("joint", [False, True])
def test_the_evidence_gradient_equals_finite_differences(joint):
    data = problem(targets=9)
    trainable = Trainable(SPEC, data, COLUMNS, joint=joint)
    assert_gradient(exact_objective(trainable, data, never), trainable.vector)


def test_learning_and_leaving_out_take_it_like_any_other():
    data = problem(targets=9)
    learned = learn(SPEC, data, COLUMNS, LearningOptions(restarts=1, steps=10))
    assert learned.evidence == pytest.approx(posterior(learned.spec, data, COLUMNS).evidence, abs=1e-6)
    found = left_out(learned.spec, data, COLUMNS)
    assert found is not None and bool((found.variance > 0).all())
    assert MODELS["uncertain_cmp"].learns_mediation_first("leave_one_bag_out")
