"""The partially mediated process: only what a footprint does not tell goes through the mediators."""

from dataclasses import replace

import pytest
import torch

from deconditioning.errors import InputError, never
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.catalogue import named
from deconditioning.models.indirect_gp import Columns, condition_on_gram, mediation_weights, posterior
from deconditioning.models.learning.learning import LearningOptions, learn
from deconditioning.models.learning.objectives import exact_objective
from deconditioning.models.learning.trainable import Trainable
from deconditioning.models.spec import ModelSpec
from deconditioning.models.term_bags import bag_gram_of
from deconditioning.observations import Bags, IndirectData
from tests.core.models.small import MEDIATOR_KERNEL, assert_gradient, dense, normal, problem
from tests.core.models.test_indirect_gp import POINTS

COLUMNS = Columns(("a", "b", "c"), ("u", "v"), ("a", "b"))
PLACE = Term((Factor("matern32", ("a", "b"), (0.5,)),), 0.8)
MEDIATED = Term((Factor("rbf", ("c",), (0.8,)), Factor("matern52", ("a",), (1.3,))), 1.7)
SPEC = ModelSpec(
    "partial_cmp", KernelSpec((PLACE, MEDIATED)), MEDIATOR_KERNEL, 0.05, noise=0.02, point_noise=0.3, mean=0.0
)


def with_footprints(targets: int = 4) -> IndirectData:
    """The small problem, each target with pixels of its own."""
    sizes = torch.arange(targets) % 3 + 2
    own = Bags(normal(int(sizes.sum()), 3, seed=31), torch.repeat_interleave(torch.arange(targets), sizes), targets)
    return replace(problem(targets=targets), footprints=own)


def spread(bags: Bags) -> torch.Tensor:
    out = torch.zeros(len(bags.inputs), bags.count, dtype=torch.float64)
    out[torch.arange(len(out)), bags.bag] = bags.weights
    return out


def misfit(data: IndirectData, bag_gram: torch.Tensor) -> torch.Tensor:
    """What mediators miss, target by target: every bag left out in turn, its embedding predicted from the others."""
    y, query, count = data.mediators, data.query_mediators, data.bags.count
    within = dense(MEDIATOR_KERNEL, COLUMNS.mediators, y, y)
    noise = count * SPEC.regularisation
    losses = []
    for out in range(count):
        rest = [j for j in range(count) if j != out]
        system = within[rest][:, rest] + noise * torch.eye(count - 1, dtype=torch.float64)
        weights = torch.zeros(count, dtype=torch.float64)
        weights[rest], weights[out] = torch.linalg.solve(system, within[rest, out]), -1.0
        losses.append(weights @ bag_gram @ weights)
    across = dense(MEDIATOR_KERNEL, COLUMNS.mediators, y, query)
    solved = torch.linalg.solve(within + noise * torch.eye(count, dtype=torch.float64), across)
    own = dense(MEDIATOR_KERNEL, COLUMNS.mediators, query, query).diagonal()
    unknown = own - (across * solved).sum(0) + noise
    return torch.stack(losses).mean() * unknown / unknown.mean()


def brute_force(data: IndirectData, mean: float = 0.0) -> tuple[torch.Tensor, torch.Tensor, float]:
    """Mean, covariance and log evidence from f = f₁ + f₂ of all pixels: bags see f₁, footprints f₂ with the mean m."""
    first, second = KernelSpec((MEDIATED,)), KernelSpec((PLACE,))
    bags, own = data.bags, data.footprints
    w = mediation_weights(replace(SPEC, model="shrinkage_cmp"), data, COLUMNS)
    a, b = spread(bags) @ w, spread(own)
    gram = dense(first, COLUMNS.inputs, bags.inputs, bags.inputs)
    s = a.T @ gram @ a + b.T @ dense(second, COLUMNS.inputs, own.inputs, own.inputs) @ b
    s = s + torch.diag(misfit(data, spread(bags).T @ gram @ spread(bags)))
    s = s + SPEC.noise * torch.eye(len(s), dtype=torch.float64)
    s = s + SPEC.point_noise * b.T @ b
    cross = (
        dense(first, COLUMNS.inputs, POINTS, bags.inputs) @ a + dense(second, COLUMNS.inputs, POINTS, own.inputs) @ b
    )
    gain = torch.linalg.solve(s, cross.T).T
    prior = dense(SPEC.kernel, COLUMNS.inputs, POINTS, POINTS)
    expected = b.T @ torch.full((len(b),), mean, dtype=torch.float64)
    evidence = torch.distributions.MultivariateNormal(expected, s)
    return mean + gain @ (data.targets - expected), prior - gain @ cross.T, float(evidence.log_prob(data.targets))


@pytest.mark.parametrize("prior_mean", [0.0, 0.7, -5.0])
@pytest.mark.parametrize("targets", [4, 9])
def test_posterior_equals_the_pixel_level_joint_gaussian(targets, prior_mean):
    data, spec = with_footprints(targets), replace(SPEC, mean=prior_mean)
    found = posterior(spec, data, COLUMNS)
    mean, covariance, evidence = brute_force(data, prior_mean)
    assert torch.allclose(found.mean(POINTS), mean, atol=1e-9)
    assert torch.allclose(found.covariance(POINTS), covariance, atol=1e-9)
    assert torch.allclose(found.mean_and_variance(POINTS)[1], covariance.diagonal(), atol=1e-9)
    assert found.evidence == pytest.approx(evidence, abs=1e-9)


def test_targets_that_equal_the_prior_mean_leave_it_as_it_is():
    data = with_footprints(9)
    level = replace(data, targets=torch.full_like(data.targets, 5.0))
    spec = replace(SPEC, mean=5.0)
    found = posterior(spec, level, COLUMNS)
    assert torch.allclose(found.mean(POINTS), torch.full((len(POINTS),), 5.0).double(), atol=1e-12)
    zero = replace(data, targets=torch.zeros_like(data.targets))
    assert found.evidence == pytest.approx(posterior(SPEC, zero, COLUMNS).evidence, abs=1e-9)
    trainable = Trainable(spec, level, COLUMNS)
    per_target = float(exact_objective(trainable, level, never)().detach())
    assert per_target * len(level.targets) == pytest.approx(-found.evidence, abs=1e-9)


@pytest.mark.parametrize("name", ["partial_cmp", "shrinkage_cmp", "cmp"])
def test_an_unknown_mean_is_the_posterior_mean_of_a_constant_term(name):
    """A constant term of variance v in k is a mean m ~ N(0, v): its posterior mean as m gives the same predictions.

    The targets' response to the constant, h, is read from K̄ of the constant term itself: ``WᵀK̄W = v hhᵀ``.
    """
    data, variance = with_footprints(9), 4.0
    plain = replace(SPEC, model=name, point_noise=0.0)
    constant = Term((Factor("constant", ("a", "b"), ()),), variance)
    wide = replace(plain, kernel=KernelSpec((*plain.kernel.terms, constant)))
    gram = bag_gram_of(wide, data, COLUMNS.place)(wide.kernel.build(COLUMNS.inputs)).detach()
    less = bag_gram_of(plain, data, COLUMNS.place)(plain.kernel.build(COLUMNS.inputs)).detach()
    given = condition_on_gram(plain, data, COLUMNS, less)
    seen = given.weights.T @ (gram - less) @ given.weights / variance
    response = seen[:, 0] / seen[0, 0].sqrt()
    assert torch.allclose(seen, torch.outer(response, response), atol=1e-9)
    covariance = given.weights.T @ less @ given.weights + given.noise + variance * seen
    level = float(variance * response @ torch.linalg.solve(covariance, data.targets))
    fixed = posterior(replace(plain, mean=level), data, COLUMNS).mean(POINTS)
    assert torch.allclose(posterior(wide, data, COLUMNS).mean(POINTS), fixed, atol=1e-8)


def test_only_the_place_of_footprints_is_looked_at():
    data = with_footprints()
    blind = data.footprints.inputs.clone()
    blind[:, 2] = 1e6
    hidden = replace(data, footprints=replace(data.footprints, inputs=blind))
    first, second = (posterior(SPEC, each, COLUMNS) for each in (data, hidden))
    assert torch.equal(first.mean(POINTS), second.mean(POINTS))


@pytest.mark.usefixtures("few_features")
def test_draws_have_the_posteriors_moments():
    found = posterior(SPEC, with_footprints(9), COLUMNS)
    draws = found.sample(POINTS, 1200, torch.Generator().manual_seed(0))
    scale = found.variance(POINTS).sqrt()
    both = torch.outer(scale, scale)
    assert torch.allclose((draws.mean(0) - found.mean(POINTS)) / scale, torch.zeros(len(POINTS)).double(), atol=0.12)
    assert torch.allclose(torch.cov(draws.T) / both, found.covariance(POINTS) / both, atol=0.18)


def test_the_evidence_gradient_equals_finite_differences():
    data = with_footprints(9)
    trainable = Trainable(SPEC, data, COLUMNS)
    assert_gradient(exact_objective(trainable, data, never), trainable.vector)


def test_learning_raises_the_evidence_and_takes_the_mediators_from_the_covariates():
    data = with_footprints(12)
    learned = learn(SPEC, data, COLUMNS, LearningOptions(restarts=1, steps=15))
    frozen = replace(SPEC, mediator_kernel=learned.spec.mediator_kernel, regularisation=learned.spec.regularisation)
    assert learned.evidence > posterior(frozen, data, COLUMNS).evidence
    assert learned.evidence == pytest.approx(posterior(learned.spec, data, COLUMNS).evidence, abs=1e-6)
    other = replace(data, targets=data.targets.flip(0))
    again = learn(SPEC, other, COLUMNS, LearningOptions(restarts=1, steps=15)).spec
    assert again.mediator_kernel == learned.spec.mediator_kernel and again.kernel != learned.spec.kernel
    values = data.bags.mean(data.bags.inputs[:, 2:])[:, 0]
    values = (values - values.mean()) / values.std()

    def evidence(spec: ModelSpec) -> float:
        k = dense(spec.mediator_kernel, COLUMNS.mediators, data.mediators, data.mediators)
        k = k + data.bags.count * spec.regularisation * torch.eye(len(k), dtype=torch.float64)
        zero = torch.zeros(len(k), dtype=torch.float64)
        return float(torch.distributions.MultivariateNormal(zero, k).log_prob(values))

    assert evidence(learned.spec) > evidence(SPEC)
    assert learned.stages["stage_one"]["loss"] * data.bags.count == pytest.approx(-evidence(learned.spec))


def test_mediators_that_tell_the_covariates_exactly_are_no_warning():
    data = with_footprints(12)
    means = data.bags.mean(data.bags.inputs)[:, 2:]
    exact = replace(data, mediators=means.repeat(1, 2))
    learned = learn(SPEC, exact, COLUMNS, LearningOptions(restarts=1, steps=40))
    assert learned.spec.regularisation * data.bags.count < 1e-4
    assert not any("λ at its lower" in warning for warning in learned.warnings)


def test_stacked_bags_stand_in_blocks_and_weights_end_in_the_identity():
    data = with_footprints()
    gram = bag_gram_of(SPEC, data, COLUMNS.place)(SPEC.kernel.build(COLUMNS.inputs)).detach()
    given = condition_on_gram(SPEC, data, COLUMNS, gram)
    assert gram.shape == (9, 9) and not gram[:5, 5:].any() and torch.equal(given.weights[5:], torch.eye(4).double())
    covariance = given.weights.T @ gram @ given.weights
    assert torch.allclose(SPEC.model.covariance(given.weights, gram), covariance, rtol=1e-12)
    assert not named("partial_cmp").reads(problem()) and named("partial_cmp").reads(data)


@pytest.mark.parametrize("terms", [(PLACE,), (MEDIATED,)])
def test_a_kernel_without_both_parts_is_refused(terms):
    with pytest.raises(InputError, match="a term in location alone and a mediated term"):
        posterior(replace(SPEC, kernel=KernelSpec(terms)), with_footprints(), COLUMNS)


def test_targets_without_footprints_are_refused():
    with pytest.raises(InputError, match="whose locations are known"):
        posterior(SPEC, problem(), COLUMNS)
    with pytest.raises(InputError, match="There are 4 footprints and 9 targets"):
        replace(problem(targets=9), footprints=with_footprints().footprints)


@pytest.mark.gpu
def test_the_gpu_gives_what_the_cpu_gives():
    data = with_footprints(9)
    here, there = (posterior(SPEC, data.to(device), COLUMNS) for device in (torch.device("cpu"), torch.device("cuda")))
    mean, variance = there.mean_and_variance(POINTS.cuda())
    assert torch.allclose(mean.cpu(), here.mean(POINTS), atol=1e-9)
    assert torch.allclose(variance.cpu(), here.variance(POINTS), atol=1e-9)
