"""The task-transformed Gaussian process against joint Gaussians written out, and its other forms against it."""

import math
from dataclasses import replace

import pytest
import torch

from deconditioning import linalg
from deconditioning.errors import InputError
from deconditioning.models.centroids import singletons
from deconditioning.models.indirect_gp import Columns, posterior
from deconditioning.models.learning.learning import LearningOptions, learn
from deconditioning.models.learning.objectives import exact_objective
from deconditioning.models.learning.trainable import Trainable
from deconditioning.models.spec import ModelSpec
from deconditioning.models.task_transformed import TaskMoments, WeightSpace, reduced_posterior
from deconditioning.observations import IndirectData
from tests.core.models.small import COLUMNS, KERNEL, MEDIATOR_KERNEL, assert_gradient, dense, model, normal, problem

POINTS = normal(6, 3, seed=9)


def singles(count: int = 7, targets: int = 9) -> IndirectData:
    """The one-dimensional problem's form: singleton bags, mediators, other mediators with targets."""
    bags = singletons(normal(count, 3, seed=4))
    return IndirectData(bags, normal(count, 2, seed=2), normal(targets, 2, seed=3), normal(targets, seed=5))


def joint_gaussian(spec: ModelSpec, data: IndirectData, points: torch.Tensor):
    """Mean, covariance, evidence: ``p(z̃ | f̄)`` by conditioning ``(g(y) + e, g(ỹ) + ξ)``, then ``p(f* | z̃)``."""
    bags, m = data.bags, len(data.targets)
    places = torch.cat([data.mediators, data.query_mediators])
    of_g = dense(MEDIATOR_KERNEL, COLUMNS.mediators, places, places)
    noise = torch.tensor([bags.count * spec.regularisation] * bags.count + [spec.noise] * m, dtype=torch.float64)
    of_g = of_g + torch.diag(noise)
    b = bags.count
    transform = of_g[b:, :b] @ torch.linalg.inv(of_g[:b, :b])
    sigma = of_g[b:, b:] - transform @ of_g[:b, b:]
    spread = torch.zeros(b, len(bags.inputs), dtype=torch.float64)
    spread[bags.bag, torch.arange(len(bags.inputs))] = bags.weights
    everywhere = torch.cat([bags.inputs, points])
    of_f = dense(spec.kernel, COLUMNS.inputs, everywhere, everywhere)
    n = len(bags.inputs)
    seen = transform @ spread
    fine = spec.point_noise * (seen @ seen.T)
    covariance = seen @ of_f[:n, :n] @ seen.T + fine + sigma
    gain = of_f[n:, :n] @ seen.T @ torch.linalg.inv(covariance)
    expected = spec.mean * seen.sum(1)
    mean = spec.mean + gain @ (data.targets - expected)
    left = of_f[n:, n:] - gain @ seen @ of_f[:n, n:]
    evidence = torch.distributions.MultivariateNormal(expected, covariance).log_prob(data.targets)
    return mean, left, float(evidence)


@pytest.mark.parametrize("data", [problem(), singles(), problem(matched=True)], ids=["bags", "singletons", "matched"])
@pytest.mark.parametrize("lam", [1e-1, 1e-3])
def test_the_full_model_equals_the_joint_gaussian_of_f_and_g(data, lam):
    spec = model("task_transformed_gp", lam)
    found = posterior(spec, data, COLUMNS)
    mean, spread, evidence = joint_gaussian(spec, data, POINTS)
    assert torch.allclose(found.mean(POINTS), mean, atol=1e-9, rtol=0)
    assert torch.allclose(found.covariance(POINTS), spread, atol=1e-9, rtol=0)
    assert found.evidence == pytest.approx(evidence, abs=1e-8)


def test_full_noise_never_knows_more_than_its_map():
    data = singles()
    full = posterior(model("task_transformed_gp", point_noise=0.0), data, COLUMNS)
    short = posterior(model("shrinkage_cmp", point_noise=0.0), data, COLUMNS)
    assert (full.variance(POINTS) >= short.variance(POINTS) - 1e-12).all()


@pytest.mark.usefixtures("few_features")
def test_samples_of_the_full_model_have_its_covariance():
    found = posterior(model("task_transformed_gp"), problem(), COLUMNS)
    draws = found.sample(POINTS[:3], 800, torch.Generator().manual_seed(0))
    spread = found.covariance(POINTS[:3])
    assert ((draws.mean(0) - found.mean(POINTS[:3])).abs() < 5 * (spread.diagonal() / 800).sqrt()).all()
    assert torch.allclose(torch.cov(draws.T), spread, atol=0.5)


@pytest.mark.parametrize("n, m", [(7, 9), (9, 4), (6, 6)])
def test_the_n_by_n_form_is_the_m_by_m_form(n, m):
    data = singles(n, m)
    spec = replace(model("shrinkage_cmp", point_noise=0.0), mean=0.0)
    big = posterior(spec, data, COLUMNS)
    gram = dense(KERNEL, COLUMNS.inputs, data.bags.inputs, data.bags.inputs)
    cross = dense(KERNEL, COLUMNS.inputs, data.bags.inputs, POINTS)
    small, evidence = reduced_posterior(gram, TaskMoments.of(big.conditioning.weights, data.targets), spec.noise)
    assert float(evidence) == pytest.approx(big.evidence, abs=1e-9)
    assert torch.allclose(small.mean(cross), big.mean(POINTS), atol=1e-9)
    prior = dense(KERNEL, COLUMNS.inputs, POINTS, POINTS).diagonal()
    assert torch.allclose(small.variance(cross, prior), big.variance(POINTS), atol=1e-9)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("name", ["task_transformed_gp", "shrinkage_cmp"])
def test_the_joint_gradient_equals_finite_differences(name, tied):
    data, spec = singles(), replace(model(name, point_noise=0.0), mean=0.0)
    trainable = Trainable(spec, data, COLUMNS, joint=True, tied=tied)
    loss, vector = exact_objective(trainable, data, lambda: None), trainable.vector
    names = vector.names
    assert ("regularisation λ" in names) == (not tied)
    assert ("ℓ1 variance" in names) == (name == "task_transformed_gp")
    assert_gradient(loss, vector)


@pytest.mark.parametrize("tied", [False, True])
def test_learning_is_joint_and_ends_at_the_evidence_it_reports(tied):
    data = singles()
    start = replace(model("task_transformed_gp", point_noise=0.0), mean=0.0)
    learned = learn(start, data, COLUMNS, LearningOptions(restarts=1, steps=15, tied=tied))
    assert "stage_one" not in learned.stages and learned.spec.mediator_kernel != start.mediator_kernel
    assert learned.evidence == pytest.approx(posterior(learned.spec, data, COLUMNS).evidence, abs=1e-6)
    if tied:
        assert learned.spec.regularisation == pytest.approx(learned.spec.noise / data.bags.count)


def features(count: int, width: int, seed: int) -> torch.Tensor:
    return normal(count, width, seed=seed) / math.sqrt(width)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("ridge", [None, 0.3])
def test_the_weight_space_is_the_function_space_of_its_kernels(full, ridge):
    phi, psi, query, targets = (features(7, 5, 0), features(7, 4, 1), features(9, 4, 2), normal(9, seed=3))
    gamma2, beta2, noise = 1.7, 0.6, 0.2
    found = WeightSpace(phi, psi, query, targets, noise, gamma2, beta2, full, ridge)
    lam = (noise / beta2 if ridge is None else ridge) * beta2  # in units of ℓ = β²ψᵀψ
    within = beta2 * psi @ psi.T
    a = torch.linalg.solve(within + lam * torch.eye(7).double(), beta2 * psi @ query.T)
    sigma = noise * torch.eye(9).double()
    if full:
        sigma = sigma + beta2 * query @ query.T - beta2 * query @ psi.T @ a
    covariance = a.T @ (gamma2 * phi @ phi.T) @ a + sigma
    expected = torch.distributions.MultivariateNormal(torch.zeros(9).double(), covariance).log_prob(targets)
    assert float(found.evidence()) == pytest.approx(float(expected), abs=1e-9)
    mean, spread = found.weights()
    cross = gamma2 * phi.T @ a
    assert torch.allclose(mean, cross @ torch.linalg.solve(covariance, targets), atol=1e-9)
    left = gamma2 * torch.eye(5).double() - cross @ torch.linalg.solve(covariance, cross.T)
    assert torch.allclose(spread, left, atol=1e-9)


def test_a_general_solve_gives_the_determinant_and_refuses_singular_matrices():
    matrix = normal(5, 5, seed=0) + 3 * torch.eye(5).double()
    solved, logarithm = linalg.solve_general(matrix, torch.eye(5).double())
    assert torch.allclose(solved @ matrix, torch.eye(5).double(), atol=1e-12)
    assert float(logarithm) == pytest.approx(float(torch.linalg.slogdet(matrix).logabsdet))
    with pytest.raises(InputError, match="singular"):
        linalg.solve_general(torch.zeros(2, 2).double(), torch.eye(2).double())
    with pytest.raises(InputError, match="singular"):
        linalg.solve_general(torch.full((2, 2), math.nan).double(), torch.eye(2).double())


def test_mediators_are_asked_for():
    with pytest.raises(InputError, match="mediators"):
        posterior(ModelSpec("task_transformed_gp", KERNEL), problem(), Columns(COLUMNS.inputs))
