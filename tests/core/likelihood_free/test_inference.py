"""Posteriors and their objective against brute force, limits, exact posteriors and finite differences."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.embeddings.bayes_rule import KernelBayes
from deconditioning.embeddings.kernel_mean import empirical
from deconditioning.errors import InputError
from deconditioning.likelihood_free.inference import (
    METHODS,
    Settings,
    abc,
    cme,
    dme,
    evidence,
    gaussian_kernel,
    kbr,
    let_through,
    nearest_count,
    posterior,
)
from deconditioning.likelihood_free.objective import (
    effective_count,
    evidence_at,
    find_guards,
    learn,
    log_q_bar,
    objective,
    residual_noise,
    surface,
)
from deconditioning.likelihood_free.simulators import exponential_gamma, gaussian, simulate
from tests.core.likelihood_free.by_hand import gauss

SETTINGS = Settings(0.1, (0.25,), 0.15, 1e-3, 1e-2)


def test_dme_is_algorithm_8_1_as_printed(small) -> None:
    _, _, seen = small
    u, x, y, prior = (part.numpy() for part in (seen.u, seen.x, seen.y, seen.prior))
    n, m = len(u), len(prior)
    L, L_tilde, L_star = gauss(u, u, 0.25), gauss(u, prior, 0.25), gauss(prior, seen.candidates.numpy(), 0.25)
    A = np.linalg.inv(L + n * 1e-3 * np.eye(n)) @ L_tilde
    K, k = gauss(x, x, 0.15), gauss(x, y[None], 0.15)[:, 0]
    mu = L_star.T @ A.T @ np.linalg.inv(K @ A @ A.T + m * 1e-2 * np.eye(n)) @ k
    found = dme(seen, SETTINGS)
    assert np.allclose(found.at(seen.candidates).numpy(), mu, atol=1e-8)


def test_dme_with_a_large_delta_is_the_prior_times_the_kernel_likelihood(small) -> None:
    _, _, seen = small
    u, x, y, prior = (part.numpy() for part in (seen.u, seen.x, seen.y, seen.prior))
    likelihood = gauss(prior, u, 0.25) @ np.linalg.solve(
        gauss(u, u, 0.25) + 0.04 * np.eye(40), gauss(x, y[None], 0.15)[:, 0]
    )
    found = dme(seen, replace(SETTINGS, second_regularisation=1e8)).weights.numpy()
    assert np.allclose(found / found.sum(), likelihood / likelihood.sum(), atol=1e-6)


def test_herding_is_the_loop_of_algorithm_8_1(small) -> None:
    problem, _, seen = small
    answer = posterior("dme", seen, SETTINGS, problem.prior, herded=30)
    mu = replace(answer.embedding, kernel=gaussian_kernel((0.25 / 4,))).normalised().at(seen.candidates).numpy()
    at, total, chosen = seen.candidates.numpy(), np.zeros(len(mu)), []
    for s in range(1, 31):
        best = int(np.argmax(mu - total / s))
        chosen.append(at[best])
        total += gauss(at, at[best][None], 0.25 / 4)[:, 0]
    assert np.allclose(answer.samples, np.exp(np.array(chosen)))
    assert answer.mean[0] == pytest.approx(np.exp(chosen).mean())


def test_weighted_conditional_mean_is_ridge_regression_and_plain_with_equal_weights(small) -> None:
    _, _, seen = small
    x, y = seen.x.numpy(), seen.y.numpy()
    v, K, k = np.diag(seen.weights.numpy()), gauss(x, x, 0.15), gauss(x, y[None], 0.15)[:, 0]
    ridge = 40 * 1e-3 * np.eye(40)
    # minimiser of Σ v_i ‖ℓ_i − Fk_i‖² + nλ‖F‖²: weights V(KV + nλI)⁻¹k
    assert np.allclose(cme(seen, SETTINGS).weights.numpy(), v @ np.linalg.solve(K @ v + ridge, k), atol=1e-9)
    plain = cme(replace(seen, weights=torch.ones_like(seen.weights)), SETTINGS).weights.numpy()
    assert np.allclose(plain, np.linalg.solve(K + ridge, k), atol=1e-9)


def test_kbr_is_the_rule_of_embeddings_with_the_priors_draws_as_prior(small) -> None:
    _, _, seen = small
    k, ell = gaussian_kernel((0.15,) * seen.x.shape[1]), gaussian_kernel((0.25,))
    rule = KernelBayes(seen.u, seen.x, ell, k, 1e-3, 1e-2**2)
    expected = rule.posterior(empirical(seen.prior, ell), seen.y).weights
    assert torch.allclose(kbr(seen, SETTINGS).weights, expected, atol=1e-9 * float(expected.abs().max()))


def test_abc_keeps_the_nearest_and_finds_the_exact_posterior_with_many_runs() -> None:
    problem = gaussian(1, noise=0.5, seed=3)
    found = simulate(problem, 3000, 0, "random")
    seen = evidence(problem.prior, found, problem.observed, 0.1)
    kept = abc(seen, replace(SETTINGS, lengthscales=(1.0,)))
    distance = np.abs(found.summaries - problem.observed)[:, 0]
    assert len(kept.points) == nearest_count(3000) == 55
    assert set(kept.points[:, 0].tolist()) == set(found.parameters[np.argsort(distance)[:55], 0].tolist())
    exact = problem.exact(problem.observed)
    answer = posterior("abc", seen, replace(SETTINGS, lengthscales=(1.0,)), problem.prior)
    assert abs(answer.mean[0] - exact.mean[0]) < 4 * np.sqrt(exact.covariance[0, 0] / 55)
    assert np.diff(answer.interval)[0, 0] == pytest.approx(np.diff(exact.interval)[0, 0], rel=0.35)


@pytest.mark.parametrize("observed", [9.42, 3.0])
def test_kernels_from_q_bar_and_its_guards_meet_the_standard(observed: float) -> None:
    """Ten seeds of 100 simulations, at 9.42 and at 3.0; the exact posterior scores and does nothing else."""
    problem = exponential_gamma(observed)
    exact = problem.exact(problem.observed)
    errors, covered, widths = [], 0, []
    for seed in range(10):
        found = simulate(problem, 100, seed)
        learned = learn(problem.prior, found, problem.observed, seed=seed)
        seen = evidence(problem.prior, found, problem.observed, learned.settings.epsilon, seed=seed)
        answer = posterior("dme", seen, learned.settings, problem.prior)
        errors.append(abs(answer.mean[0] - exact.mean[0]))
        covered += bool(answer.interval[0, 0] <= exact.mean[0] <= answer.interval[0, 1])
        widths.append((np.diff(answer.interval) / np.diff(exact.interval)).item())
    assert np.median(errors) < 0.003
    assert covered >= 9
    assert max(widths) <= 3


def test_q_bar_is_the_mean_of_a_transposed_times_kappa(small) -> None:
    _, _, seen = small
    u, x, y, prior = (part.numpy() for part in (seen.u, seen.x, seen.y, seen.prior))
    A = np.linalg.solve(gauss(u, u, 0.3) + 40 * 2e-3 * np.eye(40), gauss(u, prior, 0.3))
    kappa = gauss(x, y[None], 0.2)[:, 0] / (0.2 * np.sqrt(2 * np.pi))
    found = log_q_bar(seen, torch.tensor([0.3], dtype=torch.float64), 2e-3, torch.tensor([0.2], dtype=torch.float64))
    assert found.exp().item() == pytest.approx((A.T @ kappa).mean(), rel=1e-9)


def test_q_bar_is_the_evidence_where_simulations_abound() -> None:
    problem = gaussian(1, noise=0.5, seed=3)
    found = simulate(problem, 800, 0)
    seen = evidence(problem.prior, found, problem.observed, 0.3)
    unit = float(found.scales[0])
    epsilon = torch.tensor([0.3], dtype=torch.float64)
    value = log_q_bar(seen, torch.tensor([0.4], dtype=torch.float64), 1e-6, epsilon).item()
    variance = 1.25 + (0.3 * unit) ** 2  # of y under the prior, the simulator and the ε-kernel
    exact = -0.5 * (problem.observed[0] ** 2 / variance + np.log(2 * np.pi * variance)) + np.log(unit)
    assert value == pytest.approx(exact, abs=0.03)


def test_the_gradient_of_q_bar_is_its_finite_difference(small) -> None:
    problem, found, seen = small
    guards = find_guards(found, problem.observed)
    value = objective(seen, guards)
    at = np.log([1.1 * guards.epsilon[0], 1.3])
    _, gradient = value(at)
    for j in range(2):
        step = np.eye(2)[j] * 1e-5
        assert gradient[j] == pytest.approx((value(at + step)[0] - value(at - step)[0]) / 2e-5, rel=1e-5, abs=1e-8)


def test_guards_are_what_they_say(small) -> None:
    problem, found, _ = small
    guards = find_guards(found, problem.observed)
    square = ((found.summaries - problem.observed) / found.scales)[:, 0] ** 2
    assert effective_count(square, found.weights, guards.epsilon[0]) >= nearest_count(40) - 1e-6
    assert guards.epsilon[0] >= guards.noise
    kappa = found.weights * np.exp(-0.5 * square / guards.epsilon[0] ** 2)
    mean = kappa @ found.parameters[:, 0] / kappa.sum()
    assert guards.spread[0] == pytest.approx(np.sqrt(kappa @ (found.parameters[:, 0] - mean) ** 2 / kappa.sum()))
    assert let_through(found, problem.observed, guards.epsilon[0])[0][0] == pytest.approx(mean)


def test_residual_noise_is_brute_force_leave_one_out(small) -> None:
    problem, found, _ = small
    u, x = found.parameters, (found.summaries - found.summaries.mean(0)) / found.scales
    square = ((found.summaries - problem.observed) / found.scales)[:, 0] ** 2
    scale, left_out = 0.5 * u.std(0), []
    for i in range(40):
        rest = np.arange(40) != i
        gram = gauss(u[rest], u[rest], scale) + 40 * 1e-3 * np.eye(39)
        left_out.append(x[i, 0] - gauss(u[i : i + 1], u[rest], scale)[0] @ np.linalg.solve(gram, x[rest, 0]))
    weights = found.weights * np.exp(-0.5 * (square - square.min()) / 0.3**2)
    brute = np.sqrt((weights * np.array(left_out) ** 2).sum() / weights.sum())
    assert residual_noise(found, square, 0.3) == pytest.approx(brute, rel=1e-8)


def test_learning_stays_inside_its_guards_and_beats_its_grid(small) -> None:
    problem, found, _ = small
    learned = learn(problem.prior, found, problem.observed)
    guards, settings = learned.guards, learned.settings
    assert guards.epsilon[0] - 1e-9 <= settings.epsilon <= guards.epsilon[1] + 1e-9
    assert guards.length[0] - 1e-9 <= learned.length <= guards.length[1] + 1e-9
    assert settings.regularisation == pytest.approx(1e-3 * learned.length)
    seen = evidence(problem.prior, found, problem.observed, guards.epsilon[0])
    grid = surface(seen, guards, np.geomspace(*guards.epsilon, 7), np.geomspace(*guards.length, 7))
    assert learned.log_q >= grid.max() - 1e-9
    assert settings.second_regularisation == pytest.approx(
        0.1 * evidence_at(seen, guards, settings.epsilon, learned.length)
    )


def test_without_the_tie_q_bar_grows_as_lambda_falls(small) -> None:
    problem, found, seen = small
    guards = find_guards(found, problem.observed)
    rows = surface(seen, guards, np.array([guards.epsilon[0]]), np.array([1.0]), np.array([1e-1, 1e-3]))
    assert rows[1, 0] > rows[0, 0] + 0.3


def test_prior_draws_stay_inside_the_simulations(small) -> None:
    problem, found, _ = small
    part = replace(found, parameters=found.parameters.clip(-3.0, -1.0))
    seen = evidence(problem.prior, part, problem.observed, 0.2)
    for points in (seen.prior, seen.candidates):
        assert float(points.min()) >= -3.0 and float(points.max()) <= -1.0


def test_nonsense_is_a_sentence(small) -> None:
    problem, found, seen = small
    with pytest.raises(InputError, match="unknown"):
        posterior("mcmc", seen, SETTINGS, problem.prior)
    with pytest.raises(InputError, match="positive"):
        replace(SETTINGS, epsilon=0.0)
    with pytest.raises(InputError, match="lengthscales"):
        dme(seen, replace(SETTINGS, lengthscales=(1.0, 1.0)))
    with pytest.raises(InputError, match="one finite number per summary"):
        learn(problem.prior, found, np.array([1.0, 2.0]))
    with pytest.raises(InputError, match="the same in all"):
        replace(found, summaries=np.ones_like(found.summaries))


def test_every_method_answers(small) -> None:
    problem, found, _ = small
    learned = learn(problem.prior, found, problem.observed)
    seen = evidence(problem.prior, found, problem.observed, learned.settings.epsilon)
    exact = problem.exact(problem.observed)
    for method in METHODS:
        answer = posterior(method, seen, learned.settings, problem.prior, herded=50)
        assert answer.samples.shape == (50, 1)
        assert answer.interval[0, 0] < exact.mean[0] < answer.interval[0, 1]
