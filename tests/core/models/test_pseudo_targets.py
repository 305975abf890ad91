"""What pseudo-targets err by is carried on: the law of total variance, written out densely and sampled."""

from dataclasses import replace

import pytest
import torch

from deconditioning.errors import InputError
from deconditioning.models import pseudo_targets
from deconditioning.models.indirect_gp import condition_on_gram, posterior
from deconditioning.models.learning.learning import LearningOptions
from deconditioning.models.named_posterior import named_posterior
from deconditioning.models.pseudo_targets import with_pseudo_targets
from deconditioning.models.spec import Inducing
from deconditioning.observations import IndirectData
from tests.core.models.small import COLUMNS, KERNEL, MEDIATOR_KERNEL, dense, model, normal, problem
from tests.core.models.test_indirect_gp import POINTS

ROOT = normal(5, 5, seed=21)
#: Doubts smaller and, along one direction, much larger than the covariance of the targets.
DOUBTS = {"small": 0.02 * ROOT @ ROOT.T, "large": 9.0 * torch.outer(ROOT[0], ROOT[0]) + 0.01 * torch.eye(5)}


def doubtful(doubt: torch.Tensor) -> IndirectData:
    return replace(problem(matched=True), covariance=doubt)


@pytest.mark.parametrize("doubt", DOUBTS)
def test_variance_is_what_is_left_and_what_the_targets_err_by(doubt):
    data, spec = doubtful(DOUBTS[doubt]), model("bag_gp", mean=0.0)
    spread = torch.zeros(len(data.bags.inputs), 5, dtype=torch.float64)
    spread[torch.arange(len(spread)), data.bags.bag] = data.bags.weights
    k = dense(KERNEL, COLUMNS.inputs, torch.cat([data.bags.inputs, POINTS]), torch.cat([data.bags.inputs, POINTS]))
    at_bags, cross = spread.T @ k[: len(spread), : len(spread)] @ spread, k[len(spread) :, : len(spread)] @ spread
    s = at_bags + spec.noise * torch.eye(5) + spec.point_noise * torch.diag(data.bags.contamination)
    gain = torch.linalg.solve(s, cross.T).T
    expected = k[len(spread) :, len(spread) :] - gain @ cross.T + gain @ DOUBTS[doubt] @ gain.T
    found = posterior(spec, data, COLUMNS)
    assert torch.allclose(found.covariance(POINTS), expected, atol=1e-9)
    assert torch.allclose(found.variance(POINTS), expected.diagonal(), atol=1e-9)
    plain = posterior(spec, replace(data, covariance=None), COLUMNS)
    assert torch.equal(found.mean(POINTS), plain.mean(POINTS)) and found.evidence == plain.evidence
    given = condition_on_gram(spec, data, COLUMNS, at_bags)
    seen = given.root.T @ cross.T
    assert torch.allclose(given.summed(seen.square()), k.diagonal()[len(spread) :] - expected.diagonal(), atol=1e-9)
    assert (doubt == "large") == bool((given.signs < 0).any())


@pytest.mark.parametrize("doubt", DOUBTS)
@pytest.mark.parametrize(("sparse", "exact"), [("vbagg", "bag_gp"), ("variational_gp", "centroid_gp")])
def test_inducing_points_everywhere_are_the_exact_model(doubt, sparse, exact):
    data, whole = doubtful(DOUBTS[doubt]), model(exact, noise=0.05, point_noise=0.0)
    places = data.bags.inputs if sparse == "vbagg" else data.bags.mean(data.bags.inputs)
    through = Inducing(len(places), locations=tuple(map(tuple, places.tolist())))
    found = named_posterior(replace(whole, model=sparse, inducing=through), data, COLUMNS)
    expected = named_posterior(whole, data, COLUMNS)
    assert torch.allclose(found.covariance(POINTS), expected.covariance(POINTS), atol=1e-6)
    plain = named_posterior(whole, replace(data, covariance=None), COLUMNS)
    assert bool((expected.variance(POINTS) > plain.variance(POINTS)).all())


@pytest.mark.usefixtures("few_features")
@pytest.mark.parametrize("name", ["bag_gp", "vbagg"])
def test_draws_have_the_doubt_in_them(name):
    data, spec = doubtful(DOUBTS["large"]), replace(model(name), inducing=Inducing(20))
    found = named_posterior(spec, data, COLUMNS)
    draws = found.sample(POINTS, 1200, torch.Generator().manual_seed(0))
    expected = found.covariance(POINTS)
    scale = expected.diagonal().sqrt()
    assert torch.allclose(
        torch.cov(draws.T) / torch.outer(scale, scale), expected / torch.outer(scale, scale), atol=0.18
    )


def test_pseudo_targets_are_the_regression_of_targets_on_mediators():
    data = problem(sizes=(3, 2, 2, 4, 1), targets=25)
    found = with_pseudo_targets(MEDIATOR_KERNEL, data, COLUMNS, LearningOptions(restarts=1, steps=5))
    assert found.matched and found.footprints is None and len(found.targets) == 5
    fitted, _, _ = pseudo_targets.fit_target_gp(
        MEDIATOR_KERNEL, data, COLUMNS, LearningOptions(restarts=1, steps=5), lambda event: None, lambda: None
    )
    y, query = data.mediators, data.query_mediators
    k = dense(fitted.kernel, COLUMNS.mediators, torch.cat([query, y]), torch.cat([query, y]))
    gain = torch.linalg.solve(k[:25, :25] + fitted.noise * torch.eye(25), k[:25, 25:]).T
    assert torch.allclose(found.targets, gain @ data.targets, atol=1e-8)
    expected = k[25:, 25:] - gain @ k[:25, 25:] + fitted.noise * torch.eye(5)
    assert torch.allclose(found.covariance, expected, atol=1e-8)


def test_too_many_are_taken_for_measurements(monkeypatch):
    monkeypatch.setattr(pseudo_targets, "DENSE_LIMIT", 4)
    found = with_pseudo_targets(MEDIATOR_KERNEL, problem(), COLUMNS, LearningOptions(restarts=1, steps=2))
    assert found.covariance is None and len(found.targets) == 5


def test_a_covariance_of_another_size_is_refused(unchecked):
    with pytest.raises(InputError, match="covariance"):
        replace(problem(matched=True), covariance=torch.eye(4, dtype=torch.float64))
