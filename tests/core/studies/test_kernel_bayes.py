"""The Gaussian problem: its exact posterior, both estimators' definitions, and who comes nearer."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.embeddings.bayes_rule import cross_validation
from deconditioning.errors import InputError
from deconditioning.studies.kernel_bayes import study
from deconditioning.studies.kernel_bayes.study import (
    BANDWIDTHS,
    GaussianSpec,
    best_density_means,
    compare_rules,
    conditional_rule,
    conditional_weights,
    density_means,
    embedding_error,
    gaussian_rule,
    kernel_bayes_weights,
    least_squares_score,
    make_gaussian,
    rejection_means,
    simulate,
    theorem_rule,
)

PROBLEM = make_gaussian(GaussianSpec(2, 60, 50, 7, seed=1))


def test_the_exact_posterior_is_that_of_the_joint_gaussian():
    p = PROBLEM
    slope = np.linalg.solve(p.xx, p.xy).T
    noise = p.yy - slope @ p.xy
    prior = p.xx / 2
    gain = prior @ slope.T @ np.linalg.inv(slope @ prior @ slope.T + noise)
    means, covariance = p.posterior(p.tests)
    assert np.allclose(means, (p.tests - 1) @ gain.T, atol=1e-10)
    assert np.allclose(covariance, prior - gain @ slope @ prior, atol=1e-10)


def test_samples_have_the_problems_moments():
    p = make_gaussian(GaussianSpec(2, 40_000, 40_000, 5, seed=2))
    assert np.allclose(np.cov(p.inputs.T), p.xx, rtol=0.05, atol=0.1) and np.allclose(
        p.observations.mean(0), 1, atol=0.1
    )
    assert np.allclose(np.cov(p.draws.T), p.xx / 2, rtol=0.05, atol=0.1)
    slope = np.linalg.solve(p.xx, p.xy).T
    expected = slope @ (p.xx / 2) @ slope.T + p.yy - slope @ p.xy
    assert np.allclose(np.cov(p.simulated.T), expected, rtol=0.06, atol=0.15)


def test_density_means_are_importance_weights_written_out():
    found = density_means(PROBLEM, 2.0)
    for index, y in enumerate(PROBLEM.tests):
        weights = []
        for u in PROBLEM.draws:
            near = np.exp(-0.5 * ((u - PROBLEM.inputs) ** 2).sum(1) / 4)
            weights.append((near * np.exp(-0.5 * ((y - PROBLEM.observations) ** 2).sum(1) / 4)).sum() / near.sum())
        assert np.allclose(found[index], np.array(weights) @ PROBLEM.draws / sum(weights), atol=1e-10)


def test_the_best_bandwidth_is_the_one_of_least_error():
    means, bandwidth = best_density_means(PROBLEM)
    exact = PROBLEM.posterior(PROBLEM.tests)[0]
    errors = [((density_means(PROBLEM, h) - exact) ** 2).sum() for h in BANDWIDTHS]
    assert BANDWIDTHS[int(np.argmin(errors))] == bandwidth and np.array_equal(means, density_means(PROBLEM, bandwidth))


def test_low_rank_means_are_the_dense_ones():
    rules = [gaussian_rule(PROBLEM, tolerance=tolerance) for tolerance in (1e-14, 0.0)]
    low, dense = ((kernel_bayes_weights(PROBLEM, rule).T @ rule.inputs).numpy() for rule in rules)
    assert np.allclose(low, dense, atol=1e-6)
    assert gaussian_rule(PROBLEM).second_regularisation == pytest.approx(0.02 / 60)


def test_the_conditional_mean_is_kernel_ridge_regression():
    gram = lambda a, b, s: np.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(-1) / s**2)  # noqa: E731
    y, distances = PROBLEM.simulated, []
    for i in range(50):
        distances += [np.linalg.norm(y[i] - y[j]) for j in range(i)]
    scale = sorted(distances)[(len(distances) - 1) // 2]
    ridge = gram(y, y, scale) + 50 * 0.01 / np.sqrt(50) * np.eye(50)
    expected = gram(PROBLEM.tests, y, scale) @ np.linalg.solve(ridge, PROBLEM.draws)
    rule = conditional_rule(PROBLEM)
    found = (conditional_weights(PROBLEM, rule).T @ rule.inputs).numpy()
    assert np.allclose(found, expected, atol=1e-8)


def test_rejection_keeps_the_nearest_and_nears_the_truth_with_more_simulations():
    u, simulated = simulate(PROBLEM, 500)
    near = np.argsort(((simulated - PROBLEM.tests[2]) ** 2).sum(1))[:30]
    found, kept = rejection_means(PROBLEM, 500)
    assert kept in (10, 30, 100)
    if kept == 30:
        assert np.allclose(found[2], u[near].mean(0))
    exact = PROBLEM.posterior(PROBLEM.tests)[0]
    few, many = (np.mean((rejection_means(PROBLEM, n)[0] - exact) ** 2) for n in (200, 50_000))
    assert many < 0.5 * few


def test_the_error_of_an_embedding_is_nought_at_the_exact_one_and_follows_the_theorems_powers():
    rule, y = theorem_rule(PROBLEM), PROBLEM.tests
    assert rule.regularisation == pytest.approx(0.01 * 60 ** (-1 / 3))
    assert rule.second_regularisation == pytest.approx(0.01 * 60 ** (-1 / 6))
    draws = np.random.default_rng(0)
    mean, covariance = PROBLEM.posterior(y)
    many = torch.from_numpy(draws.multivariate_normal(mean[0], covariance, size=20_000))
    one = replace(PROBLEM, tests=y[:1])
    sampled = replace(rule, inputs=many, observations=many)
    weights = torch.full((20_000, 1), 1 / 20_000, dtype=torch.float64)
    assert embedding_error(one, weights, sampled) < 1e-4 < embedding_error(one, 2 * weights, sampled)


def test_validation_takes_the_candidate_of_least_error(monkeypatch):
    monkeypatch.setattr(study, "SCALES", (0.3, 1.0))
    monkeypatch.setattr(study, "EPSILONS", (1e-4, 1e-2))
    errors = {}
    for scale in (0.3, 1.0):
        for epsilon in (1e-4, 1e-2):
            rule = gaussian_rule(PROBLEM, scale)
            rule = replace(rule, regularisation=epsilon, second_regularisation=2 * epsilon)
            for own in (True, False):
                judge = None if own else gaussian_rule(PROBLEM).kernel
                errors.setdefault(own, {})[scale, epsilon] = cross_validation(rule, judge=judge)
    for own, found in errors.items():
        assert study.validated(PROBLEM, own=own) == min(found, key=found.__getitem__)
    assert study.validated(PROBLEM, own=True, epsilons=(1e-3,)) == (1.0, 1e-3)


@pytest.mark.parametrize("bandwidth", [0.3, 0.8])
def test_the_least_squares_score_is_its_integral(bandwidth):
    """∫p̂² on a grid, and every point left out in turn."""
    points = np.random.default_rng(3).standard_normal((9, 2))
    along = np.linspace(-9, 9, 361)
    grid = np.stack(np.meshgrid(along, along), -1).reshape(-1, 2)

    def density(at: np.ndarray, kept: np.ndarray) -> np.ndarray:
        square = ((at[:, None] - kept[None]) ** 2).sum(-1)
        return np.exp(-0.5 * square / bandwidth**2).mean(1) / (2 * np.pi * bandwidth**2)

    whole = float((density(grid, points) ** 2).sum() * (along[1] - along[0]) ** 2)
    left_out = [float(density(points[i : i + 1], np.delete(points, i, 0))[0]) for i in range(9)]
    expected = whole - 2 * np.mean(left_out)
    assert least_squares_score(points, bandwidth) == pytest.approx(expected, rel=1e-8)
    assert least_squares_score(points, bandwidth, 3.0) == pytest.approx(expected * 2 * np.pi * 9, rel=1e-8)


def test_bandwidths_are_validated_on_pairs_alone():
    """Many points of one Gaussian: the bandwidth of least expected score is known in closed form."""
    dimension, count = 4, 400
    p = make_gaussian(GaussianSpec(dimension // 2, count, 50, 7, seed=5))
    v = np.block([[p.xx, p.xy], [p.xy.T, p.yy]])

    def expected(h: float) -> float:  # ∫E p̂² − 2 ∫E p̂ p
        normal = lambda c: (np.linalg.det(2 * np.pi * c)) ** -0.5  # noqa: E731
        same, apart = np.eye(dimension) * 2 * h**2, 2 * v + 2 * h**2 * np.eye(dimension)
        return normal(same) / count + (1 - 1 / count) * normal(apart) - 2 * normal(2 * v + h**2 * np.eye(dimension))

    assert study.validated_bandwidth(p) == min(BANDWIDTHS, key=expected)
    row = compare_rules(replace(p.spec, tests=7), ("kde_lscv",))[0]
    assert f"bandwidth {study.validated_bandwidth(p):g} by" in row["message"]


def test_a_flat_kernel_wins_where_each_candidate_judges_itself():
    problem = make_gaussian(GaussianSpec(8, 60, 60, 5, seed=0))
    own, one = (study.validated(problem, epsilons=(0.01 / 60,), own=own)[0] for own in (True, False))
    assert own == max(study.SCALES) > one
    words = [row["message"] for row in compare_rules(problem.spec, ("kbr_cv", "kbr_cv_own"))]
    assert words == [f"{scale:g} × the median distance by 10-fold cross-validation" for scale in (one, own)]


@pytest.mark.slow
def test_kernel_bayes_comes_nearer_than_densities_in_eight_dimensions():
    rows = [row for seed in range(3) for row in compare_rules(GaussianSpec(8, tests=200, seed=seed), ("kbr", "kde"))]
    mean = {name: np.mean([r["scores"]["mse"] for r in rows if r["model"] == name]) for name in ("kbr", "kde")}
    assert mean["kbr"] < 0.8 * mean["kde"] and 4 < mean["kbr"] < 16


def test_wrong_problems_are_said():
    for wrong in ({"dimension": 0}, {"pairs": 1}, {"tests": 0}):
        with pytest.raises(InputError, match="at least"):
            GaussianSpec(**wrong)
    with pytest.raises(InputError, match="unknown"):
        compare_rules(GaussianSpec(tests=2), ("nonsense",))
