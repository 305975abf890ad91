"""Mediation weights and conditioning: limits, symmetries and what more data may do."""

from itertools import pairwise

import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.kernels.tiles import evaluate
from deconditioning.models.conditioning import condition, observation_noise
from deconditioning.models.mediation import (
    MediatorGrams,
    Misfit,
    leave_one_bag_out,
    mediation_covariance,
    replicated_weights,
    shrinkage_weights,
)
from tests.anything import seeds
from tests.core.models.small import normal

ESTIMATORS = (shrinkage_weights, replicated_weights)
KERNEL = KernelSpec((Term((Factor("matern32", ("u", "v"), (0.5,)),)),)).build(("u", "v"))
few = settings(max_examples=40)
counts = some.integers(2, 7)
estimators = some.sampled_from(ESTIMATORS)
regularisations = some.floats(1e-6, 1.0)


def grams(seed: int, count: int, targets: int = 4, *, same_places: bool = False, equal: bool = False) -> MediatorGrams:
    """Gram matrices of mediators at random places, far enough apart to be told from each other."""
    places = normal(count, 2, seed=seed) + 3 * torch.arange(count)[:, None]
    query = places if same_places else normal(targets, 2, seed=seed + 1) + 3 * torch.arange(targets)[:, None]
    sizes = torch.full((count,), 3.0) if equal else 1 + normal(count, seed=seed + 2).abs().mul(5).round()
    with torch.no_grad():
        return MediatorGrams(
            evaluate(KERNEL, places, places),
            evaluate(KERNEL, places, query),
            sizes.double(),
            evaluate(KERNEL, query, query),
        )


@few
@given(seeds, counts, estimators)
def test_little_regularisation_interpolates_and_much_shrinks_to_nothing(seed, count, weights) -> None:
    found = grams(seed, count, same_places=True)
    assert torch.allclose(weights(found, 1e-12), torch.eye(count, dtype=torch.float64), atol=1e-7)
    assert float(weights(found, 1e9).abs().max()) < 1e-8


@few
@given(seeds, counts, regularisations)
def test_the_two_estimators_agree_where_bags_are_equally_large(seed, count, regularisation) -> None:
    """``Nλ D⁻¹ = BλI`` with ``N = nB`` and ``D = nI``."""
    found = grams(seed, count, equal=True)
    expected = shrinkage_weights(found, regularisation)
    assert torch.allclose(replicated_weights(found, regularisation), expected, atol=1e-10)


@few
@given(seeds, counts, estimators, regularisations)
def test_weights_follow_the_order_of_bags_and_targets(seed, count, weights, regularisation) -> None:
    found = grams(seed, count)
    generator = torch.Generator().manual_seed(seed)
    bags, targets = torch.randperm(count, generator=generator), torch.randperm(4, generator=generator)
    turned = MediatorGrams(found.within[bags][:, bags], found.across[bags][:, targets], found.sizes[bags])
    expected = weights(found, regularisation)[bags][:, targets]
    assert torch.allclose(weights(turned, regularisation), expected, atol=1e-9)


@few
@given(seeds, counts, regularisations, regularisations)
def test_more_regularisation_leaves_more_unknown(seed, count, one, other) -> None:
    """``L̃̃ − L̃ᵀ(L + BλI)⁻¹L̃`` is a covariance between 0 and L̃̃, and grows with λ."""
    found = grams(seed, count)
    assert found.query is not None
    low, high = sorted((one, other))
    covariances = [
        torch.zeros_like(found.query),
        *(mediation_covariance(found, shrinkage_weights(found, value)) for value in (low, high)),
        found.query,
    ]
    for smaller, larger in pairwise(covariances):
        assert float(torch.linalg.eigvalsh(larger - smaller)[0]) >= -1e-9


@few
@given(seeds, counts, regularisations)
def test_leaving_a_bag_out_is_leaving_it_out(seed, count, regularisation) -> None:
    """The identity of ridge regression against the regression made without each bag, ``Bλ`` staying what it was."""
    found = grams(seed, count, same_places=True)
    root = normal(count, count, seed=seed + 3)
    bag_gram = root @ root.T
    smoother = shrinkage_weights(found, regularisation).T
    squares = []
    for bag in range(count):
        kept = torch.arange(count) != bag
        ridge = found.within[kept][:, kept] + count * regularisation * torch.eye(count - 1, dtype=torch.float64)
        away = -torch.eye(count, dtype=torch.float64)[bag]
        away[kept] = torch.linalg.solve(ridge, found.within[kept, bag])
        squares.append(away @ bag_gram @ away)
    assert torch.allclose(leave_one_bag_out(bag_gram, smoother), torch.stack(squares).mean(), rtol=1e-8)
    unknown = Misfit(smoother, torch.ones(3, dtype=torch.float64))(bag_gram)
    assert torch.allclose(unknown, torch.eye(3, dtype=torch.float64) * torch.stack(squares).mean(), rtol=1e-8)


def conditioned(seed: int, bags: int, targets: int, noise: float, kept: slice | torch.Tensor = slice(None)):
    """Some of the targets of a random problem, conditioned on, with bag sums of a few points and the targets."""
    root = normal(bags, bags + 3, seed=seed)
    weights, values = normal(bags, targets, seed=seed + 1)[:, kept], normal(targets, seed=seed + 2)[kept]
    covariance = observation_noise(weights, noise, 0.1, torch.full((bags,), 0.3, dtype=torch.float64))
    return condition(root @ root.T, weights, covariance, values), root @ normal(bags + 3, 5, seed=seed + 3)


@few
@given(seeds, counts, some.integers(2, 6), some.floats(1e-3, 10.0))
def test_another_target_never_widens_an_interval(seed, bags, targets, noise) -> None:
    whole, sums = conditioned(seed, bags, targets, noise)
    fewer, _ = conditioned(seed, bags, targets, noise, slice(0, targets - 1))
    assert bool((fewer.reduction(sums) <= whole.reduction(sums) * (1 + 1e-9) + 1e-12).all())
    assert bool((fewer.reduction(sums) >= -1e-12).all())


@few
@given(seeds, counts, some.integers(2, 6), some.floats(1e-3, 10.0))
def test_a_posterior_knows_no_order_of_targets(seed, bags, targets, noise) -> None:
    whole, sums = conditioned(seed, bags, targets, noise)
    order = torch.randperm(targets, generator=torch.Generator().manual_seed(seed))
    turned, _ = conditioned(seed, bags, targets, noise, order)
    assert torch.allclose(whole.mean(sums), turned.mean(sums), rtol=1e-8, atol=1e-9)
    assert torch.allclose(whole.reduction(sums), turned.reduction(sums), rtol=1e-8, atol=1e-9)
    assert float(whole.evidence) == float(turned.evidence) or abs(float(whole.evidence / turned.evidence) - 1) < 1e-9
    between = whole.reduction_between(sums, sums)
    assert torch.allclose(between.diagonal(), whole.reduction(sums), rtol=1e-10, atol=1e-12)


@few
@given(seeds, counts, some.integers(2, 6), some.floats(1e-3, 10.0), some.floats(-5, 5))
def test_a_mean_is_linear_in_the_targets(seed, bags, targets, noise, factor) -> None:
    whole, sums = conditioned(seed, bags, targets, noise)
    other = normal(targets, seed=seed + 9)
    gram = normal(bags, bags + 3, seed=seed)
    each = [
        condition(gram @ gram.T, whole.weights, whole.noise, values).mean(sums)
        for values in (whole.residual, other, whole.residual + factor * other)
    ]
    assert torch.allclose(each[2], each[0] + factor * each[1], rtol=1e-8, atol=1e-8)
