"""Kernel Bayes' rule: against its operators written out, low rank against dense, limits, a Gaussian posterior."""

import math
from copy import deepcopy
from dataclasses import replace

import pytest
import torch

from deconditioning.embeddings.bayes_rule import (
    KernelBayes,
    cross_validation,
    median_distance,
    update_by_factor,
    update_by_gram,
)
from deconditioning.embeddings.kernel_mean import KernelMean, empirical
from deconditioning.errors import InputError
from deconditioning.kernels.low_rank import incomplete_cholesky
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.kernels.tiles import evaluate
from tests.core.models.small import normal

K = KernelSpec((Term((Factor("rbf", ("a",), (1.0,)),)),)).build(("a",))
EYE = torch.eye


def rule(count: int = 25, epsilon: float = 1e-2, delta: float = 1e-2, tolerance: float = 0.0) -> KernelBayes:
    x = normal(count, 1, seed=1)
    return KernelBayes(x, x + 0.5 * normal(count, 1, seed=2), K, K, epsilon, delta, tolerance)


def prior(count: int = 30) -> KernelMean:
    return KernelMean(0.5 + 0.7 * normal(count, 1, seed=3), torch.full((count,), 1 / count).double(), K)


def linear(width: int):
    names = tuple(f"c{i}" for i in range(width))
    return KernelSpec((Term((Factor("linear", names, (1.0,)),)),)).build(names)


def test_prior_weights_are_those_of_the_papers_operators():
    """``Ĉ_(YX)X (Ĉ_XX + εI)⁻¹ m̂_Π`` as a tensor of features is ``Σ_i μ̂_i ψ_i ⊗ φ_i``; eq. 12 prints n times μ̂."""
    x, y, u = normal(20, 3, seed=1), normal(20, 2, seed=2), normal(15, 3, seed=3)
    gamma, epsilon = normal(15, seed=6), 0.05
    second, third = torch.einsum("ia,ib->ab", x, x) / 20, torch.einsum("ia,ib,ic->abc", y, x, x) / 20
    joint = third @ torch.linalg.solve(second + epsilon * EYE(3).double(), u.T @ gamma)
    found = KernelBayes(x, y, linear(3), linear(2), epsilon, 0.3)
    prior_mean = KernelMean(u, gamma, linear(3))
    weights = found.prior_weights(prior_mean)
    assert torch.allclose(torch.einsum("i,ia,ib->ab", weights, y, x), joint, atol=1e-13)
    printed = torch.linalg.solve(x @ x.T / 20 + epsilon * EYE(20).double(), x @ (u.T @ gamma))
    assert torch.allclose(replace(found, printed=True).prior_weights(prior_mean), printed, atol=1e-10)
    assert torch.allclose(printed, 20 * weights, atol=1e-10)


def test_form_b_is_the_rule_of_operators_in_finite_feature_spaces():
    """``C_ZW (C_WW² + δI)⁻¹ C_WW k_y`` with ``C_ZW = Σ μ_i φ_i ψ_iᵀ`` and ``C_WW = Σ μ_i ψ_i ψ_iᵀ``."""
    x, y, u = normal(20, 3, seed=1), normal(20, 4, seed=2), normal(15, 3, seed=3)
    found = KernelBayes(x, y, linear(3), linear(4), 0.05, 0.3)
    start = KernelMean(u, torch.full((15,), 1 / 15).double(), linear(3))
    weights = torch.linalg.solve(x @ x.T + 20 * 0.05 * EYE(20).double(), x @ (u.mean(0)))
    assert torch.allclose(found.prior_weights(start), weights, atol=1e-10)
    joint, evidence = (x * weights[:, None]).T @ y, (y * weights[:, None]).T @ y
    at = normal(4, seed=5)
    embedding = joint @ torch.linalg.solve(evidence @ evidence + 0.3 * EYE(4).double(), evidence @ at)
    posterior = found.posterior(start, at)
    assert torch.allclose(posterior.weights @ x, embedding, atol=1e-9)
    swapped = weights * torch.linalg.solve(
        (y @ y.T * weights) @ (y @ y.T * weights) + 0.3 * EYE(20).double(), (y @ y.T * weights) @ (y @ at)
    )
    assert torch.allclose(posterior.weights, swapped, atol=1e-9)  # both expressions of eq. 14


def test_form_a_uses_the_conditional_operator_of_the_joint_and_sits_on_the_prior():
    """``C_XY|X`` applied to the prior's second moment: weights on U from the ridge of each pair on its own x."""
    x, y, u = normal(20, 3, seed=1), normal(20, 4, seed=2), normal(15, 3, seed=3)
    found = KernelBayes(x, y, linear(3), linear(4), 0.05, 0.3)
    gamma = normal(15, seed=6).abs() / 15
    start, at = KernelMean(u, gamma, linear(3)), normal(4, seed=5)
    weights = torch.linalg.solve(x @ x.T + EYE(20).double(), x @ (u.T @ gamma))
    forward = y.T @ torch.linalg.solve(x @ x.T + EYE(20).double(), x)  # C_Y|X (4, 3)
    joint = u.T @ (gamma[:, None] * (u @ forward.T))  # Σ γ_j u_j (C_Y|X u_j)ᵀ
    evidence = (y * weights[:, None]).T @ y
    embedding = joint @ torch.linalg.solve(evidence @ evidence + 0.3 * EYE(4).double(), evidence @ at)
    posterior = found.posterior_on_prior(start, at)
    assert torch.allclose(posterior.weights @ u, embedding, atol=1e-9)


def test_prior_weights_sum_to_about_one_and_so_does_the_posterior():
    found = rule(200, 1e-4, 1e-6)
    assert float(found.prior_weights(prior()).sum()) == pytest.approx(1, abs=0.05)
    assert found.posterior(prior(), torch.tensor([0.5]).double()).total == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("tolerance", [0.0, 1e-14])
def test_the_printed_normalisation_is_the_rule_with_delta_divided_by_n_squared(tolerance):
    plain = rule(30, 1e-2, 1e-2 / 30**2, tolerance)
    printed = replace(plain, second_regularisation=1e-2, printed=True)
    at = torch.tensor([0.4]).double()
    for form in ("posterior", "posterior_on_prior"):
        ours, theirs = (getattr(each, form)(prior(), at).weights for each in (plain, printed))
        assert torch.allclose(ours, theirs, atol=1e-7) and theirs.abs().max() > 1e-3
    assert cross_validation(replace(printed, tolerance=0.0), 5) == pytest.approx(
        cross_validation(replace(plain, tolerance=0.0, second_regularisation=1e-2 / 24**2), 5), rel=1e-6
    )


def test_the_printed_normalisation_is_figure_1_written_out():
    found = replace(rule(20), printed=True)
    x, y = found.inputs[:, 0], found.observations[:, 0]
    gram = lambda a, b: torch.exp(-0.5 * (a[:, None] - b[None]) ** 2)  # noqa: E731
    at = prior()
    m = gram(x, at.points[:, 0]) @ at.weights
    mu = 20 * torch.linalg.inv(gram(x, x) + 20 * 1e-2 * EYE(20)) @ m
    joint = torch.diag(mu) @ gram(y, y)
    square = torch.linalg.inv(joint @ joint + 1e-2 * EYE(20))
    expected = joint @ square @ torch.diag(mu) @ gram(y, torch.tensor([0.4]).double())[:, 0]
    assert torch.allclose(found.posterior(at, torch.tensor([0.4]).double()).weights, expected, atol=1e-8)


@pytest.mark.parametrize("count", [12, 40])
def test_full_rank_is_the_dense_form(count):
    dense, low = rule(count), rule(count, tolerance=1e-14)
    at = torch.tensor([0.4]).double()
    assert torch.allclose(low.prior_weights(prior()), dense.prior_weights(prior()), atol=1e-9)
    first, second = (r.posterior(prior(), at) for r in (dense, low))
    assert torch.allclose(first.weights, second.weights, atol=1e-9)


def test_a_rough_tolerance_is_near_and_says_what_it_left_out():
    dense, low = rule(150), rule(150, tolerance=1e-4)
    at, ranks = torch.tensor([0.4]).double(), [factor.rank for factor in low.low_rank]
    assert all(rank < 30 for rank in ranks) and all(factor.residual <= 1e-4 for factor in low.low_rank)
    first, second = (r.posterior(prior(), at) for r in (dense, low))
    assert first.distance(second) < 0.02


def test_it_finds_a_gaussian_posterior():
    """X ~ N(0.5, 0.7²), Y | X ~ N(X, 0.5²): the posterior mean in closed form."""
    x = 2 * normal(600, 1, seed=1)
    found = KernelBayes(x, x + 0.5 * normal(600, 1, seed=2), K, K, 1e-4, 1e-4, 1e-8)
    start = KernelMean(0.5 + 0.7 * normal(500, 1, seed=3), torch.full((500,), 1 / 500).double(), K)
    for y in (-0.5, 0.5, 1.5):
        exact = (0.5 / 0.49 + y / 0.25) / (1 / 0.49 + 1 / 0.25)
        posterior = found.posterior(start, torch.tensor([y]).double()).normalised()
        assert float(posterior.expectation(found.inputs)) == pytest.approx(exact, abs=0.12)


def test_priors_effect_vanishes_with_regularisation_in_kbr():
    """Hsu and Ramos 2019, §7: as δ → 0 the weights no longer depend on the prior's."""
    x = torch.linspace(-2, 2, 9).double()[:, None]
    narrow = KernelSpec((Term((Factor("rbf", ("a",), (0.3,)),)),)).build(("a",))
    rising = torch.arange(1, 10).double() / 45
    at, gaps = torch.tensor([0.1]).double(), []
    for delta in (1e-2, 1e-5, 1e-12):
        found = KernelBayes(x, x, narrow, narrow, 1e-12, delta)
        priors = (KernelMean(x, weights, narrow) for weights in (rising, rising.flip(0)))
        left, right = (found.posterior(start, at).weights for start in priors)
        gaps.append(float((left - right).norm() / (left + right).norm()))
    assert gaps[2] < 1e-3 * gaps[0] and gaps[0] > 0.05


def test_the_conditional_mean_is_ridge_regression_on_observations():
    found = rule()
    gram = found.observation_gram + 25 * 1e-2 * EYE(25).double()
    near = found.near(torch.tensor([0.2]).double())
    assert torch.allclose(found.conditional_mean(torch.tensor([0.2]).double()).weights, torch.linalg.inv(gram) @ near)


def test_cross_validation_is_its_definition_and_prefers_a_sensible_lengthscale():
    found, total = rule(12), 0.0
    for fold in range(3):
        out = torch.arange(12) % 3 == fold
        kept = KernelBayes(found.inputs[~out], found.observations[~out], K, K, 1e-2, 1e-2)
        start = empirical(kept.inputs, K)
        average = sum(kept.posterior(start, y).weights for y in found.observations[out]) / 4
        joined = KernelMean(
            torch.cat([kept.inputs, found.inputs[out]]), torch.cat([average, torch.full((4,), -0.25)]), K
        )
        total += joined.inner(joined)
    assert cross_validation(found, 3) == pytest.approx(total, abs=1e-10)
    with pytest.raises(InputError, match="folds"):
        cross_validation(found, 7)


def test_the_median_is_that_of_all_pairs():
    points = normal(30, 2, seed=4)
    pairs = [float((a - b).norm()) for i, a in enumerate(points) for b in points[:i]]
    assert median_distance(points) == pytest.approx(sorted(pairs)[(len(pairs) - 1) // 2])
    with pytest.raises(InputError, match="identical"):
        median_distance(torch.ones(5, 2).double())


def test_incomplete_cholesky_interpolates_its_pivots_and_extends_to_new_points():
    points, further = normal(60, 1, seed=1), normal(7, 1, seed=2)
    found = incomplete_cholesky(K, points, 1e-10)
    gram = evaluate(K, points, points).detach()
    assert torch.allclose(found.factor @ found.factor.T, gram, atol=1e-4)
    assert torch.allclose((found.factor @ found.factor.T)[found.pivots], gram[found.pivots], atol=1e-9)
    left = float((gram - found.factor @ found.factor.T).diagonal().sum() / gram.diagonal().sum())
    assert found.residual == pytest.approx(left, abs=1e-12) and found.residual <= 1e-10
    rows = found.extend(K, points, torch.cat([points[:3], further]))
    assert torch.allclose(rows[:3], found.factor[:3], atol=1e-3)
    assert torch.allclose(rows @ found.factor.T, evaluate(K, torch.cat([points[:3], further]), points), atol=1e-3)
    with pytest.raises(InputError, match="higher rank"):
        incomplete_cholesky(K, 50 * points, 1e-10, most=3)


def test_bad_input_is_said(unchecked):
    with pytest.raises(InputError, match="one of each"):
        KernelBayes(normal(3, 1, seed=0), normal(2, 1, seed=0), K, K, 1e-2, 1e-2)
    with pytest.raises(InputError, match="both positive"):
        rule(epsilon=0.0)
    with pytest.raises(InputError, match="missing"):
        KernelBayes(torch.full((3, 1), math.nan).double(), normal(3, 1, seed=0), K, K, 1e-2, 1e-2)
    with pytest.raises(InputError, match="give one of shape"):
        rule().near(torch.zeros(2).double())
    with pytest.raises(InputError, match="give one of shape"):
        rule().near(torch.tensor([math.nan]).double())


@pytest.mark.gpu
def test_cuda_gives_the_same_numbers():
    here, at = rule(), torch.tensor([0.4]).double()
    kernel = deepcopy(K).cuda()  # `cuda()` moves a module in place
    there = KernelBayes(
        here.inputs.cuda(),
        here.observations.cuda(),
        kernel,
        kernel,
        here.regularisation,
        here.second_regularisation,
    )
    start = prior()
    moved = KernelMean(start.points.cuda(), start.weights.cuda(), kernel)
    assert torch.allclose(there.posterior(moved, at.cuda()).weights.cpu(), here.posterior(start, at).weights, atol=1e-6)


@pytest.mark.parametrize(("priors", "observations"), [(1, 1), (1, 7), (5, 1), (4, 3)])
def test_one_update_serves_one_prior_and_many(priors: int, observations: int) -> None:
    """Through a factor of ``G``, for a batch and one by one, it is the formula with ``G`` written out."""
    root, delta = normal(30, 4, seed=1), 0.2
    weights, near = normal(priors, 30, seed=2), normal(priors, observations, 4, seed=3) @ root.T
    gram = root @ root.T
    found = update_by_factor(root, weights, near, delta)
    assert found.shape == near.shape
    for own, seen, each in zip(weights, near, found, strict=True):
        joint = own.diag() @ gram
        brute = joint @ torch.linalg.inv(joint @ joint + delta * EYE(30).double()) @ own.diag() @ seen.T
        assert torch.allclose(each.T, brute, atol=1e-9)
        assert torch.allclose(update_by_gram(gram, own, seen.T, delta), brute, atol=1e-9)
        assert torch.allclose(update_by_factor(root, own[None], seen[None], delta)[0], each, rtol=1e-10, atol=1e-12)
