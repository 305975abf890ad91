"""The one conditioning against joint Gaussians written out at pixel level."""

from dataclasses import replace

import pytest
import torch

from deconditioning.errors import InputError
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.centroids import singletons
from deconditioning.models.indirect_gp import Columns, posterior
from deconditioning.models.mediation import leave_one_bag_out
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import Bags, IndirectData
from tests.core.models.small import COLUMNS, KERNEL, MEDIATOR_KERNEL, dense, model, normal, problem

POINTS = normal(6, 3, seed=9)


def pixel_weights(name: str, data: IndirectData, lam: float) -> torch.Tensor:
    """A (N, M): what multiplies f at every pixel, from N×N (cmp) or B×B (others) systems solved directly."""
    bag, count = data.bags.bag, data.bags.count
    spread = torch.zeros(len(bag), count, dtype=torch.float64)
    spread[torch.arange(len(bag)), bag] = data.bags.weights
    if name == "bag_gp":
        return spread
    across = dense(MEDIATOR_KERNEL, COLUMNS.mediators, data.mediators, data.query_mediators)
    within = dense(MEDIATOR_KERNEL, COLUMNS.mediators, data.mediators, data.mediators)
    if name == "cmp":
        total = len(bag)
        replicated = within[bag][:, bag] + total * lam * torch.eye(total, dtype=torch.float64)
        return torch.linalg.solve(replicated, across[bag])
    return spread @ torch.linalg.solve(within + count * lam * torch.eye(count, dtype=torch.float64), across)


def brute_force(spec: ModelSpec, data: IndirectData, points: torch.Tensor):
    """Mean, covariance and log evidence from the joint Gaussian of pixels, targets and points."""
    weights = pixel_weights(spec.model.name, data, spec.regularisation)
    inputs = data.bags.inputs
    prior = dense(spec.kernel, COLUMNS.inputs, inputs, inputs)
    noise = spec.noise * torch.eye(len(data.targets), dtype=torch.float64)
    covariance = weights.T @ (prior + spec.point_noise * torch.eye(len(inputs), dtype=torch.float64)) @ weights + noise
    expected = spec.mean * weights.sum(0)
    cross = dense(spec.kernel, COLUMNS.inputs, points, inputs) @ weights
    gain = torch.linalg.solve(covariance, cross.T).T
    mean = spec.mean + gain @ (data.targets - expected)
    spread = dense(spec.kernel, COLUMNS.inputs, points, points) - gain @ cross.T
    evidence = torch.distributions.MultivariateNormal(expected, covariance).log_prob(data.targets)
    return mean, spread, float(evidence)


@pytest.mark.parametrize("point_noise", [0.0, 0.2])
@pytest.mark.parametrize("sizes", [(3, 7, 1, 5, 10), (4, 4, 4, 4, 4)])
@pytest.mark.parametrize("lam", [1e-2, 1e-4, 1e-5])
@pytest.mark.parametrize("name", ["cmp", "shrinkage_cmp"])
def test_posterior_equals_the_pixel_level_joint_gaussian(name, lam, sizes, point_noise):
    data = problem(sizes)
    spec = model(name, lam, point_noise=point_noise)
    found = posterior(spec, data, COLUMNS)
    mean, spread, evidence = brute_force(spec, data, POINTS)
    assert torch.allclose(found.mean(POINTS), mean, atol=1e-9, rtol=0)
    assert torch.allclose(found.covariance(POINTS), spread, atol=1e-9, rtol=0)
    assert torch.allclose(found.variance(POINTS), spread.diagonal(), atol=1e-9, rtol=0)
    for values, expected in zip(found.mean_and_variance(POINTS), (mean, spread.diagonal()), strict=True):
        assert torch.allclose(values, expected, atol=1e-9, rtol=0)
    assert found.evidence == pytest.approx(evidence, abs=1e-8)


def test_bag_gp_equals_the_joint_gaussian():
    data = problem(matched=True)
    spec = model("bag_gp")
    mean, spread, evidence = brute_force(spec, data, POINTS)
    found = posterior(spec, data, COLUMNS)
    assert torch.allclose(found.mean(POINTS), mean, atol=1e-10)
    assert torch.allclose(found.covariance(POINTS), spread, atol=1e-10)
    assert found.evidence == pytest.approx(evidence, abs=1e-9)


def test_equal_bags_make_cmp_and_shrinkage_coincide_and_unequal_bags_do_not():
    for sizes, same in (((4, 4, 4, 4, 4), True), ((3, 7, 1, 5, 10), False)):
        data = problem(sizes)
        first, second = (posterior(model(name), data, COLUMNS).mean(POINTS) for name in ("cmp", "shrinkage_cmp"))
        assert torch.allclose(first, second, atol=1e-10) is same


def test_singletons_without_mediation_are_gaussian_process_regression():
    inputs, targets = normal(12, 3, seed=1), normal(12, seed=2)
    data = IndirectData(singletons(inputs), inputs, inputs, targets)
    spec = ModelSpec("bag_gp", KERNEL, noise=0.1)
    found = posterior(spec, data, Columns(COLUMNS.inputs))
    prior = dense(KERNEL, COLUMNS.inputs, inputs, inputs) + 0.1 * torch.eye(12, dtype=torch.float64)
    cross = dense(KERNEL, COLUMNS.inputs, POINTS, inputs)
    assert torch.allclose(found.mean(POINTS), cross @ torch.linalg.solve(prior, targets), atol=1e-10)


def test_weights_tend_to_bag_membership_as_the_mediator_kernel_and_lambda_vanish():
    data = problem(matched=True)
    narrow = KernelSpec((Term((Factor("rbf", ("u", "v"), (1e-3,)),)),))
    bag = posterior(model("bag_gp"), data, COLUMNS)
    for name in ("cmp", "shrinkage_cmp"):
        spec = replace(model(name, 1e-12), mediator_kernel=narrow)
        assert torch.allclose(posterior(spec, data, COLUMNS).mean(POINTS), bag.mean(POINTS), atol=1e-8)


@pytest.mark.parametrize("name", ["cmp", "shrinkage_cmp"])
def test_what_the_posterior_leaves_of_the_targets_is_what_the_model_takes_for_noise(name):
    data, spec = problem(), model(name)
    found = posterior(spec, data, COLUMNS)
    back = found.conditioning.weights.T @ data.bags.mean(found.mean(data.bags.inputs))
    given = found.conditioning
    assert torch.allclose(data.targets - back, given.noise @ given.factor.solve(given.residual), atol=1e-9)


@pytest.mark.parametrize("name", ["cmp", "shrinkage_cmp"])
def test_variance_lies_between_zero_and_the_prior_and_order_does_not_matter(name):
    data, spec = problem(), model(name)
    found = posterior(spec, data, COLUMNS)
    points = torch.cat([POINTS, data.bags.inputs])
    variance = found.variance(points)
    assert (variance >= 0).all() and (variance <= KERNEL.variance + 1e-12).all()
    order = torch.randperm(len(data.bags.bag), generator=torch.Generator().manual_seed(7))
    shuffled = replace(data, bags=Bags(data.bags.inputs[order], data.bags.bag[order], data.bags.count))
    assert torch.allclose(posterior(spec, shuffled, COLUMNS).mean(POINTS), found.mean(POINTS), atol=1e-12)


def test_duplicated_points_change_what_they_should():
    """Without point noise: all bags doubled changes neither model, one bag doubled changes CMP only."""
    data = problem()
    everything = torch.arange(len(data.bags.bag)).repeat(2)
    one = torch.cat([torch.arange(len(data.bags.bag)), torch.nonzero(data.bags.bag == 1)[:, 0]])

    def mean(name: str, rows: torch.Tensor | None) -> torch.Tensor:
        bags = data.bags if rows is None else Bags(data.bags.inputs[rows], data.bags.bag[rows], data.bags.count)
        return posterior(model(name, point_noise=0.0), replace(data, bags=bags), COLUMNS).mean(POINTS)

    for name in ("cmp", "shrinkage_cmp"):
        assert torch.allclose(mean(name, everything), mean(name, None), atol=1e-10)
    assert torch.allclose(mean("shrinkage_cmp", one), mean("shrinkage_cmp", None), atol=1e-12)
    assert not torch.allclose(mean("cmp", one), mean("cmp", None), atol=1e-6)


@pytest.mark.parametrize("name", ["cmp", "shrinkage_cmp"])
def test_leave_one_bag_out_equals_leaving_every_bag_out(name):
    """The shortcut against solving the regression anew without each bag, in the RKHS through K̄."""
    data, lam = problem(), 3e-2
    within = dense(MEDIATOR_KERNEL, COLUMNS.mediators, data.mediators, data.mediators)
    sizes, count = data.bags.sizes, data.bags.count
    membership = torch.zeros(len(data.bags.bag), count, dtype=torch.float64)
    membership[torch.arange(len(data.bags.bag)), data.bags.bag] = data.bags.weights
    gram = membership.T @ dense(KERNEL, COLUMNS.inputs, data.bags.inputs, data.bags.inputs) @ membership
    ridge = count * lam * torch.ones(count) if name == "shrinkage_cmp" else sizes.sum() * lam / sizes
    ridge = torch.diag(ridge.double())
    total = torch.zeros((), dtype=torch.float64)
    for j in range(count):
        rest = [i for i in range(count) if i != j]
        solved = torch.linalg.solve((within + ridge)[rest][:, rest], within[rest, j])
        weight = torch.zeros(count, dtype=torch.float64)
        weight[rest] = solved
        weight[j] = -1.0
        share = 1 / count if name == "shrinkage_cmp" else float(sizes[j] / sizes.sum())
        total = total + share * weight @ gram @ weight
    smoother = torch.linalg.solve(within + ridge, within).T
    found = leave_one_bag_out(gram, smoother, sizes if name == "cmp" else None)
    assert float(found) == pytest.approx(float(total), rel=1e-10)


@pytest.mark.usefixtures("few_features")
def test_samples_have_the_posterior_mean_and_covariance():
    data, spec = problem(), model("shrinkage_cmp")
    found = posterior(spec, data, COLUMNS)
    draws = found.sample(POINTS[:3], 800, torch.Generator().manual_seed(0))
    spread = found.covariance(POINTS[:3])
    error = (spread.diagonal() / 800).sqrt()
    assert ((draws.mean(0) - found.mean(POINTS[:3])).abs() < 5 * error).all()
    assert torch.allclose(torch.cov(draws.T), spread, atol=0.5)
    again = found.sample(POINTS[:3], 2, torch.Generator().manual_seed(0))
    assert torch.equal(again, draws[:2])


def test_a_covariance_of_too_many_points_is_refused():
    found = posterior(model("cmp"), problem(), COLUMNS)
    with pytest.raises(InputError, match="the limit is 5000"):
        found.covariance(torch.zeros(5001, 3, dtype=torch.float64))


def test_models_that_need_matched_data_say_so():
    with pytest.raises(InputError, match="pseudo-targets"):
        posterior(model("bag_gp"), problem(), COLUMNS)
    with pytest.raises(InputError, match="unknown"):
        posterior(model("nonsense"), problem(), COLUMNS)
    with pytest.raises(InputError, match="needs a kernel on the mediators"):
        posterior(ModelSpec("cmp", KERNEL), problem(), COLUMNS)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["cmp", "shrinkage_cmp"])
def test_cuda_gives_the_same_numbers(name):
    data, spec = problem(), model(name)
    here, there = posterior(spec, data, COLUMNS), posterior(spec, data.to("cuda"), COLUMNS)
    assert torch.allclose(there.mean(POINTS.cuda()).cpu(), here.mean(POINTS), atol=1e-6)
    assert torch.allclose(there.variance(POINTS.cuda()).cpu(), here.variance(POINTS), atol=1e-6)
