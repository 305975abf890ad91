"""Many targets as a small summary: equal to the dense formulas, and what is approximate beyond it says by how much."""

from dataclasses import replace

import pytest
import torch

from deconditioning import linalg
from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.bag_sums.direct import cross, gram
from deconditioning.errors import InputError
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.kernels.tiles import evaluate
from deconditioning.models.conditioning import observation_noise
from deconditioning.models.indirect_gp import mediation_weights
from deconditioning.models.learning.learning import LearningOptions, learn
from deconditioning.models.learning.objectives import collapsed_objective
from deconditioning.models.learning.trainable import Trainable
from deconditioning.models.sparse import bag_prior, target_summary
from deconditioning.models.sparse.bag_prior import BagPrior, thinning_error
from deconditioning.models.sparse.inducing import place
from deconditioning.models.sparse.sparse_gp import (
    WhitenedGaussian,
    bound,
    bound_and_error,
    collapsed_bound,
    sparse_posterior,
    sparse_terms,
)
from deconditioning.models.sparse.stochastic import StochasticOptions, fit_stochastic
from deconditioning.models.sparse.target_summary import summarise, whiten
from deconditioning.models.spec import Inducing
from deconditioning.observations import Bags, IndirectData
from tests.core.models.small import COLUMNS, assert_gradient, model, normal, problem

EQUAL, UNEQUAL = (5,) * 6, (3, 7, 1, 5, 10, 4)


def case(sizes=UNEQUAL, targets=40, matched=False, name="variational_cmp", **changes):
    """A model through six inducing points, and data with more targets than bags."""
    spec = replace(model(name, **changes), inducing=Inducing(6, seed=1))
    return spec, problem(sizes, targets, matched)


def densely(spec, data):
    """The bound, A and F⁻¹r through the M×M noise matrix, as its formulas are written."""
    kernel, bags = spec.kernel.build(COLUMNS.inputs), sort_bags(data.bags)
    with torch.no_grad():
        weights = mediation_weights(spec, data, COLUMNS)
        residual = data.targets - spec.mean * weights.sum(0)
        noise = observation_noise(weights, spec.noise, spec.point_noise, data.bags.contamination)
        root = torch.linalg.cholesky(noise)
        white = torch.linalg.solve_triangular(root, weights.T, upper=False).T
        inducing = place(spec.inducing, data.bags.inputs)
        factor = linalg.cholesky(evaluate(kernel, inducing, inducing))
        seen = torch.linalg.solve_triangular(root, residual[:, None], upper=False)[:, 0]
        projection = factor.half_solve(cross(kernel, bags, inducing).T @ white)
        density = torch.distributions.MultivariateNormal(
            torch.zeros_like(residual), projection.T @ projection + torch.eye(len(residual)).double()
        ).log_prob(seen) - 0.5 * torch.logdet(noise)
        missed = (white * (gram(kernel, bags) @ white)).sum() - projection.square().sum()
        return float(density - 0.5 * missed), projection, seen


@pytest.mark.parametrize("sizes", [EQUAL, UNEQUAL], ids=["equal", "unequal"])
@pytest.mark.parametrize("point_noise", [0.0, 0.2])
@pytest.mark.parametrize("regularisation", [1e-2, 1e-6 / 6], ids=["lambda", "small-lambda"])
@pytest.mark.parametrize("targets", [4, 40])
@pytest.mark.parametrize("shrinkage", [False, True], ids=["replicated", "shrinkage"])
def test_bound_q_and_posterior_equal_the_dense_formulas(
    monkeypatch, sizes, point_noise, regularisation, targets, shrinkage
):
    if shrinkage:
        from deconditioning.models.catalogue import MODELS

        other = replace(MODELS["shrinkage_cmp"], name="variational_cmp", sparse=True)
        monkeypatch.setitem(MODELS, "variational_cmp", other)
    spec, data = case(sizes, targets, point_noise=point_noise, regularisation=regularisation)
    value, projection, seen = densely(spec, data)
    assert bound(spec, data, COLUMNS) == pytest.approx(value, rel=1e-9, abs=1e-9)
    q, found = WhitenedGaussian.optimal(projection, seen), sparse_posterior(spec, data, COLUMNS)
    assert torch.allclose(found.q.mean, q.mean, rtol=1e-9, atol=1e-9)
    assert torch.allclose(found.q.root @ found.q.root.T, q.root @ q.root.T, rtol=1e-9, atol=1e-9)
    at, dense = normal(9, 3, seed=9), sparse_posterior(spec, data, COLUMNS, q)
    assert torch.allclose(found.mean(at), dense.mean(at), rtol=1e-9, atol=1e-9)
    assert torch.allclose(found.variance(at), dense.variance(at), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("point_noise", [0.0, 0.2])
def test_where_w_is_the_identity_the_summary_is_the_data(point_noise):
    spec, data = case(matched=True, name="vbagg", point_noise=point_noise)
    assert bound(spec, data, COLUMNS) == pytest.approx(densely(spec, data)[0], abs=1e-9)


def test_chunks_of_targets_and_blocks_of_the_moment_change_nothing(monkeypatch):
    spec, data = case()
    whole = bound(spec, data, COLUMNS)
    monkeypatch.setattr(target_summary, "CHUNK", 20)
    monkeypatch.setattr(target_summary, "BLOCK", 2)
    assert bound(spec, data, COLUMNS) == pytest.approx(whole, abs=1e-10)
    seen = []
    summarise(replace(spec, mean=0.1), data, COLUMNS, check=lambda: seen.append(1))
    assert len(seen) == 14  # three targets at a time


def test_the_last_summary_is_kept_for_the_same_data_and_weights_only():
    spec, data = case()
    first = summarise(spec, data, COLUMNS)
    thin = replace(data, bags=replace(data.bags, inputs=data.bags.inputs + 1))  # W knows no inputs
    assert summarise(replace(spec, noise=0.7), thin, COLUMNS) is first
    for other in (replace(spec, regularisation=0.3), replace(spec, mean=0.1), replace(spec, model="cmp")):
        assert summarise(other, data, COLUMNS) is not first
        first = summarise(spec, data, COLUMNS)
    assert summarise(spec, replace(data, targets=data.targets.clone()), COLUMNS) is not first
    first = summarise(spec, data, COLUMNS)
    data.targets.mul_(2)
    assert torch.allclose(
        summarise(replace(spec, mean=0.0), data, COLUMNS).residual,
        2 * summarise(replace(spec, mean=0.0), replace(data, targets=data.targets / 2), COLUMNS).residual,
    )


@pytest.mark.parametrize("point_noise", [0.0, 0.2])
def test_the_summary_keeps_what_the_targets_say(point_noise):
    """The density of the residuals given any bag means, rotated or not."""
    spec, data = case(point_noise=point_noise)
    weights = mediation_weights(spec, data, COLUMNS)
    residual = data.targets - spec.mean * weights.sum(0)
    noise = observation_noise(weights, spec.noise, point_noise, data.bags.contamination)
    means = normal(data.bags.count, seed=11)
    wanted = torch.distributions.MultivariateNormal(weights.T @ means, noise).log_prob(residual)
    white = summarise(spec, data, COLUMNS).whiten(data.targets.new_tensor(spec.noise), point_noise)
    misfit = (white.residual - white.project(means[:, None])[:, 0]).square().sum()
    assert float(white.constant() - 0.5 * misfit) == pytest.approx(float(wanted), abs=1e-9)


def test_the_gradient_with_many_targets_equals_central_differences():
    spec, data = case()
    trainable = Trainable(replace(spec, inducing=replace(spec.inducing, learned=True)), data, COLUMNS)
    assert_gradient(collapsed_objective(trainable, data, lambda: None), trainable.vector, absolute=2e-6)


def test_learning_from_many_targets_raises_the_bound():
    spec, data = case()
    learned = learn(spec, data, COLUMNS, LearningOptions("target_gp", restarts=1, steps=8))
    frozen = replace(learned.spec, kernel=spec.kernel, noise=spec.noise, point_noise=spec.point_noise)
    assert bound(learned.spec, data, COLUMNS) > bound(frozen, data, COLUMNS)
    assert learned.evidence == pytest.approx(bound(learned.spec, data, COLUMNS), abs=1e-6)


def thousands(bags=300, targets=350, seed=0):
    """Bags of two points over a plane, mediators that follow the first of them, targets of a smooth function."""
    y, query = normal(bags, 2, seed=seed), normal(targets, 2, seed=seed + 1)
    inputs = torch.cat(
        [y.repeat_interleave(2, 0) + 0.1 * normal(2 * bags, 2, seed=seed + 2), normal(2 * bags, 1, seed=3)], 1
    )
    z = torch.sin(2 * query[:, 0]) + 0.1 * normal(targets, seed=seed + 4)
    return IndirectData(Bags(inputs, torch.arange(bags).repeat_interleave(2), bags), y, query, z)


@pytest.mark.parametrize(("smooth", "error", "most"), [(True, 1e-4, 300), (False, 0.1, 150)])
def test_beyond_the_most_bags_a_low_rank_of_the_mediators_is_close_and_says_what_it_leaves_out(
    monkeypatch, smooth, error, most
):
    ell = KernelSpec((Term((Factor("rbf" if smooth else "matern32", ("u", "v"), (1.0,)),)),))
    spec, data = replace(case(regularisation=1e-2 / 300)[0], mediator_kernel=ell), thousands()
    at = normal(9, 3, seed=9)
    exact, value = sparse_posterior(spec, data, COLUMNS), bound(spec, data, COLUMNS)
    monkeypatch.setattr(target_summary, "MOST_BAGS", 200)
    monkeypatch.setattr(target_summary, "MOST_COLUMNS", most)
    monkeypatch.setattr(target_summary, "LEFT_OUT", 1e-10)
    near = sparse_posterior(spec, data, COLUMNS)
    assert exact.left_out == 0 and 0 < near.left_out < (1e-10 if smooth else 1e-2)
    assert float((near.mean(at) - exact.mean(at)).abs().max()) < error
    assert float((near.variance(at) - exact.variance(at)).abs().max()) < error
    assert bound(spec, data, COLUMNS) == pytest.approx(value, rel=error)


def test_too_low_a_rank_is_refused(monkeypatch):
    spec, data = case()[0], thousands()
    monkeypatch.setattr(target_summary, "MOST_BAGS", 200)
    monkeypatch.setattr(target_summary, "MOST_COLUMNS", 5)
    with pytest.raises(InputError, match="rank of 5 omits"):
        sparse_posterior(spec, data, COLUMNS)


def test_a_singular_regularisation_is_refused():
    spec, data = case(regularisation=0.0)
    twice = replace(data, mediators=data.mediators[[0, 0, 1, 2, 3, 4]])
    with pytest.raises(InputError, match="too small for these mediators"):
        sparse_posterior(spec, twice, COLUMNS)


def crowd():
    """Six bags of forty points each around a centre of its own."""
    spec, data = case((40,) * 6)
    moved = data.bags.inputs + 2 * normal(6, 3, seed=8)[data.bags.bag]
    return spec, replace(data, bags=replace(data.bags, inputs=moved))


def through(spec, data):
    with torch.no_grad():
        return sparse_terms(spec, data, COLUMNS).through


def test_of_very_many_points_only_what_the_inducing_points_miss_is_thinned(monkeypatch):
    spec, data = crowd()
    kernel, exact_through = spec.kernel.build(COLUMNS.inputs), through(spec, data)
    value = bound_and_error(spec, data, COLUMNS)
    assert value == (bound(spec, data, COLUMNS), 0.0)
    with torch.no_grad():
        exact = BagPrior.of(data.bags, whole=True)(kernel, exact_through)
        monkeypatch.setattr(bag_prior, "MOST_POINTS", 48)
        prior = BagPrior.of(data.bags, whole=True)
        near, alone = prior(kernel, exact_through), gram(kernel, prior.bags)
        assert not prior.exact and len(prior.bags.bags.inputs) == 48
        assert torch.allclose(near.diagonal(), exact.diagonal(), atol=1e-13)
        assert 1e-6 < float((near - exact).norm()) < 0.3 * float((alone - exact).norm())
    thinned, error = bound_and_error(spec, data, COLUMNS)
    assert 1e-6 < abs(thinned - value[0]) < 2 * error < 2
    with torch.no_grad():
        between = sparse_terms(spec, data, COLUMNS).targets.between_bags()
        mean, spread = thinning_error(kernel, data.bags, near, between, pairs=600)
    assert abs(mean - float((between * (exact - near)).sum())) < 4 * spread < 0.4
    assert 0.5 * float((between * (exact - near)).sum()) == pytest.approx(thinned - value[0], abs=1e-9)
    monkeypatch.setattr(bag_prior, "MOST_PAIRS_WITHIN", 10)
    with torch.no_grad():
        rough = BagPrior.of(data.bags, whole=True)(kernel, exact_through)
    assert not torch.allclose(rough.diagonal(), exact.diagonal(), atol=1e-6)


def test_where_the_inducing_points_miss_nothing_thinning_changes_nothing(monkeypatch):
    spec, data = crowd()
    rows = tuple(tuple(row) for row in data.bags.inputs.tolist())
    spec = replace(spec, inducing=Inducing(len(rows), locations=rows))
    value = bound(spec, data, COLUMNS)
    monkeypatch.setattr(bag_prior, "MOST_POINTS", 48)
    assert bound(spec, data, COLUMNS) == pytest.approx(value, abs=0.05)


def test_the_gradient_with_thinned_bags_equals_central_differences(monkeypatch):
    spec, data = crowd()
    monkeypatch.setattr(bag_prior, "MOST_POINTS", 24)
    trainable = Trainable(replace(spec, inducing=replace(spec.inducing, learned=True)), data, COLUMNS)
    assert_gradient(collapsed_objective(trainable, data, lambda: None), trainable.vector, absolute=2e-6)


def test_minibatches_of_too_many_targets_are_refused_where_they_need_the_noise_of_all(monkeypatch):
    spec, data = case()
    monkeypatch.setattr(target_summary, "MOST_TARGETS", 39)
    with pytest.raises(InputError, match="noise covariance of all 40 targets"):
        fit_stochastic(spec, data, COLUMNS, StochasticOptions(steps=1))
    fit_stochastic(replace(spec, point_noise=0.0), data, COLUMNS, StochasticOptions(steps=1))


def test_the_dense_whitening_gives_the_same_bound():
    spec, data = case()
    weights = mediation_weights(spec, data, COLUMNS)
    residual = data.targets - spec.mean * weights.sum(0)
    noise = data.targets.new_tensor(spec.noise)
    white = whiten(residual, weights, noise, spec.point_noise, data.bags.contamination)
    value, projection, _ = densely(spec, data)
    kernel = spec.kernel.build(COLUMNS.inputs)
    with torch.no_grad():
        variances = white.prior_variances(gram(kernel, sort_bags(data.bags)))
        assert float(collapsed_bound(projection, variances, white)) == pytest.approx(value, abs=1e-9)
