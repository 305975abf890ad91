"""Inducing points: the collapsed bound, q(u), the stochastic ELBO and the posterior, each by a second route."""

from dataclasses import replace

import pytest
import torch

from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.bag_sums.direct import gram
from deconditioning.errors import Cancelled, InputError
from deconditioning.models.catalogue import MODELS, named
from deconditioning.models.indirect_gp import mediation_weights, posterior
from deconditioning.models.learning.learning import LearningOptions, learn
from deconditioning.models.learning.objectives import collapsed_objective, projected
from deconditioning.models.learning.trainable import Trainable
from deconditioning.models.named_posterior import named_posterior
from deconditioning.models.sparse.bag_prior import BagPrior
from deconditioning.models.sparse.sparse_gp import (
    WhitenedGaussian,
    bound,
    collapsed_bound,
    sparse_posterior,
    sparse_terms,
)
from deconditioning.models.sparse.stochastic import (
    StochasticOptions,
    elbo,
    fit_stochastic,
    matched_subset,
    minibatches,
)
from deconditioning.models.spec import Inducing, ModelSpec
from tests.core.models.small import COLUMNS, assert_gradient, dense, model, normal, problem

EXACT = {
    "variational_cmp": "cmp",
    "variational_shrinkage_cmp": "shrinkage_cmp",
    "vbagg": "bag_gp",
    "variational_gp": "centroid_gp",
}
ON_BAGS = [name for name in EXACT if not MODELS[name].centroids]


def test_every_model_through_inducing_points_has_its_exact_one():
    assert EXACT.keys() == {name for name, each in MODELS.items() if each.sparse}


def case(name, count=6, point_noise=0.2):
    """A sparse model with inducing points of its own, and data it can use."""
    spec = replace(model(name, point_noise=point_noise), inducing=Inducing(count, seed=1))
    return spec, problem(matched=not MODELS[name].mediated)


def through_all_points(name, **changes):
    """The model with every input as an inducing point."""
    spec, data = case(name, **changes)
    points = data.bags.mean(data.bags.inputs) if MODELS[name].centroids else data.bags.inputs
    rows = tuple(tuple(row) for row in points.tolist())
    return replace(spec, inducing=Inducing(len(rows), locations=rows)), data


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("point_noise", [0.0, 0.2])
def test_with_every_input_as_inducing_point_the_bound_is_the_evidence_and_the_posterior_exact(name, point_noise):
    spec, data = through_all_points(name, point_noise=point_noise)
    exact = named_posterior(replace(spec, model=EXACT[name]), data, COLUMNS)

    assert bound(spec, named(name).sees(data), COLUMNS) == pytest.approx(exact.evidence, abs=1e-8)
    sparse, at = named_posterior(spec, data, COLUMNS), normal(7, 3, seed=9)
    assert torch.allclose(sparse.mean(at), exact.mean(at), atol=1e-8)
    assert torch.allclose(sparse.variance(at), exact.variance(at), atol=1e-8)
    assert torch.allclose(sparse.covariance(at), exact.covariance(at), atol=1e-8)
    for values, expected in zip(sparse.mean_and_variance(at), exact.mean_and_variance(at), strict=True):
        assert torch.allclose(values, expected, atol=1e-8)


@pytest.mark.parametrize("name", ON_BAGS)
@pytest.mark.parametrize("point_noise", [0.0, 0.2])
def test_the_bound_and_posterior_equal_the_dense_formulas_of_the_joint_gaussian(name, point_noise):
    spec, data = case(name, point_noise=point_noise)
    terms, bags = sparse_terms(spec, data, COLUMNS), data.bags
    spread = torch.zeros(len(bags.inputs), bags.count, dtype=torch.float64)
    spread[torch.arange(len(bags.inputs)), bags.bag] = bags.weights
    weights = mediation_weights(spec, data, COLUMNS)
    noise = (
        spec.noise * torch.eye(len(data.targets)).double() + point_noise * (weights.T * bags.contamination) @ weights
    )
    k_uu = dense(spec.kernel, COLUMNS.inputs, terms.through.inducing, terms.through.inducing)
    aim = (spread @ weights).T  # (M, N): targets from points
    k_fu = dense(spec.kernel, COLUMNS.inputs, bags.inputs, terms.through.inducing)
    k_ff = dense(spec.kernel, COLUMNS.inputs, bags.inputs, bags.inputs)
    low_rank = k_fu @ torch.linalg.solve(k_uu, k_fu.T)
    residual = data.targets - spec.mean * weights.sum(0)
    target = torch.distributions.MultivariateNormal(torch.zeros(len(residual)).double(), aim @ low_rank @ aim.T + noise)
    missed = torch.trace(torch.linalg.solve(noise, aim @ (k_ff - low_rank) @ aim.T))
    assert bound(spec, data, COLUMNS) == pytest.approx(float(target.log_prob(residual) - missed / 2), abs=1e-8)
    assert bound(spec, data, COLUMNS) <= posterior(replace(spec, model=EXACT[name]), data, COLUMNS).evidence

    at = normal(5, 3, seed=9)
    k_xu = dense(spec.kernel, COLUMNS.inputs, at, terms.through.inducing)
    precision = k_uu + (aim @ k_fu).T @ torch.linalg.solve(noise, aim @ k_fu)
    mean = spec.mean + k_xu @ torch.linalg.solve(precision, (aim @ k_fu).T @ torch.linalg.solve(noise, residual))
    cov = (
        dense(spec.kernel, COLUMNS.inputs, at, at)
        - k_xu @ torch.linalg.solve(k_uu, k_xu.T)
        + k_xu @ torch.linalg.solve(precision, k_xu.T)
    )
    found = sparse_posterior(spec, data, COLUMNS)
    assert torch.allclose(found.mean(at), mean, atol=1e-8)
    assert torch.allclose(found.covariance(at), cov, atol=1e-8)
    assert torch.allclose(found.variance(at), cov.diagonal(), atol=1e-8)


def test_equal_bags_are_weighed_alike_replicated_or_shrunk_and_unequal_ones_are_not():
    """``N λ D⁻¹ = B λ I`` where all n_j are the same: one model then, two where sizes differ."""
    at = normal(7, 3, seed=9)
    for sizes, same in (((4, 4, 4, 4), True), ((1, 9, 2, 12), False)):
        data = problem(sizes)
        replicated, shrunk = (
            replace(model(name, 1e-1), inducing=Inducing(6, seed=1))
            for name in ("variational_cmp", "variational_shrinkage_cmp")
        )
        means = [sparse_posterior(spec, data, COLUMNS).mean(at) for spec in (replicated, shrunk)]
        bounds = [bound(spec, data, COLUMNS) for spec in (replicated, shrunk)]
        assert torch.allclose(*means, atol=1e-9) == same and (abs(bounds[0] - bounds[1]) < 1e-8) == same


@pytest.mark.usefixtures("few_features")
def test_draws_have_the_posterior_mean_and_covariance():
    spec, data = case("variational_cmp")
    found, at, count = sparse_posterior(spec, data, COLUMNS), normal(3, 3, seed=9), 2500
    draws = found.sample(at, count, torch.Generator().manual_seed(0))
    cov = found.covariance(at)
    error = (cov.square() + cov.diagonal()[:, None] * cov.diagonal()).div(count).sqrt()
    assert ((torch.cov(draws.T) - cov).abs() < 5.5 * error).all()
    assert ((draws.mean(0) - found.mean(at)).abs() < 5 * (cov.diagonal() / count).sqrt()).all()


def terms_of(name, point_noise=0.2, learned=False, singly=True):
    spec, data = case(name, point_noise=point_noise)
    spec = replace(spec, inducing=replace(spec.inducing, learned=learned))
    trainable = Trainable(spec, data, COLUMNS)
    prior = BagPrior.of(data.bags, whole=trainable.model.mediated)
    return trainable, data, projected(trainable, data, sort_bags(data.bags), prior, lambda: None, singly=singly)


@pytest.mark.parametrize("name", ON_BAGS)
@pytest.mark.parametrize("point_noise", [0.0, 0.2])
def test_the_elbo_at_the_optimal_q_is_the_collapsed_bound_and_no_other_q_is_better(name, point_noise):
    with torch.no_grad():
        _, _, (targets, projection, variances) = terms_of(name, point_noise)
        best = WhitenedGaussian.optimal(projection, targets.residual)
        top = float(elbo(projection, variances, targets, best))
        assert top == pytest.approx(float(collapsed_bound(projection, variances, targets)), abs=1e-8)
        for seed in range(5):
            near = WhitenedGaussian(
                best.mean + 0.05 * normal(6, seed=seed), best.root + 0.03 * normal(6, 6, seed=seed + 9)
            )
            assert float(elbo(projection, variances, targets, near)) < top


@pytest.mark.parametrize("name", ON_BAGS)
def test_the_average_over_all_minibatches_is_the_full_elbo(name):
    with torch.no_grad():
        _, data, (targets, projection, variances) = terms_of(name)
        q = WhitenedGaussian(normal(6, seed=3), normal(6, 6, seed=4))
        full, count = float(elbo(projection, variances, targets, q)), len(data.targets)
        # batches of unequal size, each weighted by its share of the targets
        parts = [(rows, elbo(projection, variances, targets, q, rows)) for rows in torch.arange(count).split(3)]
        assert sum(float(value) * len(rows) / count for rows, value in parts) == pytest.approx(full, abs=1e-10)


def test_where_w_is_the_identity_looking_at_some_bags_alone_is_unbiased():
    spec, data = case("vbagg")
    q = WhitenedGaussian(normal(6, seed=3), normal(6, 6, seed=4))

    def value(part):
        some = Trainable(replace(spec, inducing=inducing), part, COLUMNS)
        bags, prior = sort_bags(part.bags), BagPrior.of(part.bags, whole=False)
        targets, projection, variances = projected(some, part, bags, prior, lambda: None)
        return elbo(projection, variances, targets, q) + q.divergence()

    inducing = Trainable(spec, data, COLUMNS).learned().inducing
    with torch.no_grad():
        parts = sum(value(matched_subset(data, rows)) for rows in torch.arange(5).split(2))
        assert float(parts) == pytest.approx(float(value(data)), abs=1e-10)


@pytest.mark.parametrize("name", ON_BAGS)
def test_the_gradient_of_the_bound_equals_central_differences_inducing_points_included(name):
    trainable, data, _ = terms_of(name, learned=True)
    objective = collapsed_objective(trainable, data, lambda: None)
    assert_gradient(objective, trainable.vector, absolute=2e-7)
    assert trainable.inducing is not None and float(trainable.inducing.grad.abs().max()) > 1e-4


@pytest.mark.parametrize("name", EXACT)
def test_learning_raises_the_bound_and_keeps_the_inducing_points_it_used(name):

    spec, data = case(name, count=4)
    spec = replace(spec, inducing=replace(spec.inducing, learned=True))
    learned = learn(spec, data, COLUMNS, LearningOptions(restarts=1, steps=15))
    assert len(learned.spec.inducing.locations) == 4
    frozen = replace(learned.spec, kernel=spec.kernel, noise=spec.noise, point_noise=spec.point_noise)
    frozen = replace(frozen, inducing=spec.inducing)
    seen = named(name).sees(data)
    assert learned.evidence > bound(frozen, seen, COLUMNS)
    assert learned.evidence == pytest.approx(bound(learned.spec, seen, COLUMNS), abs=1e-6)
    assert ModelSpec.from_dict(learned.spec.to_dict()) == learned.spec


@pytest.mark.parametrize("name", ON_BAGS)
def test_minibatches_climb_close_to_the_collapsed_bound(name):
    spec, data = case(name, count=5)
    fitted = fit_stochastic(spec, data, COLUMNS, StochasticOptions(steps=250, rate=0.03, batch=2))
    assert bound(fitted.spec, data, COLUMNS) > bound(spec, data, COLUMNS)
    optimal = sparse_posterior(fitted.spec, data, COLUMNS)
    own = sparse_posterior(fitted.spec, data, COLUMNS, fitted.q)
    at = normal(20, 3, seed=9)
    assert float((own.mean(at) - optimal.mean(at)).abs().max()) < 0.5 * float(optimal.variance(at).sqrt().mean())


def test_sampling_bags_too_is_biased():
    """The option of the public code: its expectation over subsets of bags is not the ELBO of all bags."""
    spec, data = case("variational_cmp")
    q = WhitenedGaussian(normal(6, seed=3), normal(6, 6, seed=4))
    trainable = Trainable(spec, data, COLUMNS)

    def value(bags):
        part = replace(data, bags=data.bags.subset(bags), mediators=data.mediators[bags])
        blocks, prior = sort_bags(part.bags), BagPrior.of(part.bags, whole=True)
        targets, projection, variances = projected(trainable, part, blocks, prior, lambda: None, singly=True)
        return float(elbo(projection, variances, targets, q))

    with torch.no_grad():
        every = torch.combinations(torch.arange(5), 4)
        average = sum(value(bags) for bags in every) / len(every)
        assert abs(average - value(torch.arange(5))) > 0.1
    fit_stochastic(spec, data, COLUMNS, StochasticOptions(steps=3, batch=2, sampled_bags=3))


def test_cancelling_keeps_what_was_reached():
    spec, data = case("variational_cmp")
    seen = []

    def report(event):
        seen.append(event)
        if len(seen) == 4:
            raise Cancelled("stop")

    fitted = fit_stochastic(spec, data, COLUMNS, StochasticOptions(steps=50), report=report)
    assert fitted.cancelled and len(seen) == 4 and fitted.spec.noise != spec.noise


def test_minibatches_visit_every_target_once_an_epoch():
    batches = minibatches(7, 3, torch.Generator().manual_seed(0))
    rows = torch.cat([next(batches) for _ in range(3)])
    assert sorted(rows.tolist()) == list(range(7))


@pytest.mark.parametrize("placement", ["kmeans", "grid"])
@pytest.mark.parametrize("count", [1, 5, 26])
def test_inducing_points_are_as_many_as_asked_and_lie_among_the_points(placement, count):
    from deconditioning.models.sparse.inducing import place

    inputs = problem().bags.inputs
    found = place(Inducing(count, placement), inputs)
    assert found.shape == (count, 3) and len(torch.unique(found, dim=0)) == count
    assert (found >= inputs.amin(0) - 1e-9).all() and (found <= inputs.amax(0) + 1e-9).all()


def test_rounding_does_not_move_inducing_points():
    """Centroids of a grid's cells share coordinates up to the last digit, which differs between CPU and GPU."""
    from deconditioning.models.sparse.inducing import place

    rows = torch.cartesian_prod(torch.linspace(0, 1, 9).double(), torch.linspace(0, 1, 9).double())
    noise = 1e-15 * normal(81, 2, seed=4)
    inducing = Inducing(7, "kmeans", seed=3)
    assert torch.allclose(place(inducing, rows), place(inducing, rows + noise), atol=1e-9)


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        (replace(model("variational_cmp"), inducing=Inducing(27)), "26 distinct points"),
        (replace(model("variational_cmp"), inducing=Inducing(2, locations=((0.0,),))), "1 columns"),
        (replace(model("vbagg"), inducing=Inducing(3)), "needs a target for every bag"),
        (replace(model("centroid_gp"), inducing=Inducing(3)), "pseudo-targets"),
        (replace(model("variational_cmp", noise=0.0), inducing=Inducing(3)), "σ² is 0"),
    ],
)
def test_what_cannot_be_done_is_said(spec, word):
    with pytest.raises(InputError, match=word):
        named_posterior(spec, problem(), COLUMNS)


def test_wrong_options_are_refused():
    for wrong in (lambda: Inducing(0), lambda: Inducing(3, "maze"), lambda: StochasticOptions(batch=0)):
        with pytest.raises(InputError):
            wrong()
    with pytest.raises(InputError, match="no inducing points"):
        fit_stochastic(model("cmp"), problem(), COLUMNS)


def test_the_bag_gram_of_one_subset_is_a_block_of_the_whole():
    data, chosen = problem(), torch.tensor([3, 0, 4])
    kernel = model("cmp").kernel.build(COLUMNS.inputs)
    with torch.no_grad():
        whole = gram(kernel, sort_bags(data.bags))
        part = gram(kernel, sort_bags(data.bags.subset(chosen)))
    assert torch.allclose(part, whole[chosen][:, chosen], atol=1e-13)


@pytest.mark.gpu
@pytest.mark.parametrize("name", EXACT)
def test_the_gpu_gives_the_same_numbers(name):
    spec, data = case(name, count=5)  # centroids are five
    at = normal(7, 3, seed=9)
    here, there = named_posterior(spec, data, COLUMNS), named_posterior(spec, data.to("cuda"), COLUMNS)
    assert torch.allclose(there.mean(at.cuda()).cpu(), here.mean(at), atol=1e-6)
    assert torch.allclose(there.variance(at.cuda()).cpu(), here.variance(at), atol=1e-6)
    options = LearningOptions(restarts=1, steps=5)
    learned = learn(spec, data.to("cuda"), COLUMNS, options)
    assert learned.evidence == pytest.approx(learn(spec, data, COLUMNS, options).evidence, abs=1e-4)
