"""What stands beside the paper's method: each against brute force, a limit or an exact posterior."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import stats

from deconditioning.embeddings.deconditional import deconditional_weights
from deconditioning.errors import Cancelled, InputError
from deconditioning.likelihood_free.conditional_evidence import learn_conditional, log_evidence
from deconditioning.likelihood_free.inference import Settings, cme, dme, evidence, kelfi
from deconditioning.likelihood_free.k2_abc import k2_abc_weights, squared_discrepancies
from deconditioning.likelihood_free.mixture_density import MixtureDensityNetwork, train
from deconditioning.likelihood_free.objective import average_weights, effective_count, learn
from deconditioning.likelihood_free.other_methods import OTHERS, other_posterior
from deconditioning.likelihood_free.simulators import exponential_gamma, gaussian, simulate
from deconditioning.likelihood_free.smc_abc import smc_abc
from tests.core.likelihood_free.by_hand import gauss

SETTINGS = Settings(0.2, (0.25,), 0.15, 1e-3, 1e-2)


# Kernel embedding likelihood


def test_kelfi_is_the_prior_times_its_likelihood_and_sums_to_q_bar(small) -> None:
    _, _, seen = small
    u, x, prior = seen.u.numpy(), seen.x.numpy(), seen.prior.numpy()
    kappa = gauss(x, seen.y.numpy()[None], 0.2)[:, 0]
    likelihood = gauss(prior, u, 0.25) @ np.linalg.solve(gauss(u, u, 0.25) + 0.04 * np.eye(40), kappa)
    found = kelfi(seen, SETTINGS).weights.numpy()
    assert np.allclose(found, likelihood / likelihood.sum(), atol=1e-9)
    q_bar = average_weights(seen, torch.tensor([0.25], dtype=torch.float64), 1e-3).detach().numpy() @ kappa
    assert likelihood.mean() == pytest.approx(q_bar, rel=1e-9)
    limit = dme(seen, replace(SETTINGS, kernel_scale=0.2, second_regularisation=1e8)).weights.numpy()
    assert np.allclose(found, limit / limit.sum(), atol=1e-6)


# K2-ABC


def test_discrepancies_are_brute_force_sums_over_pairs(small) -> None:
    problem, runs, _ = small
    few = runs.first(12)
    rng = np.random.default_rng([5, 17])
    data, seen = problem.sample(few.summaries, rng), problem.sample(problem.observed[None], rng)[0]
    assert np.allclose(np.log(data.mean(1)), few.summaries[:, 0]) and seen.mean() == pytest.approx(9.42)
    apart = np.abs(seen[:, None] - seen)[np.triu_indices(500, 1)]
    scale = np.median(apart)

    def k(a, b):
        return np.mean([np.exp(-0.5 * ((value - b) / scale) ** 2).mean() for value in a])

    brute = [k(each, each) - 2 * k(each, seen) + k(seen, seen) for each in data]
    assert np.allclose(squared_discrepancies(problem, few, seed=5), brute, rtol=5e-3, atol=1e-9)


def test_data_given_their_mean_are_what_the_simulator_draws() -> None:
    """Kolmogorov-Smirnov: means from the simulator and data given these are exponential draws at θ."""
    problem, rng = exponential_gamma(), np.random.default_rng(0)
    x, _ = problem.simulator(np.full((40, 1), np.log(0.2)), rng)
    assert stats.kstest(problem.sample(x, rng).ravel(), stats.expon(scale=5).cdf).pvalue > 0.01


def test_k2_abc_lets_through_as_many_as_rejection_keeps_and_prefers_the_near(small) -> None:
    problem, runs, _ = small
    square = squared_discrepancies(problem, runs)
    weights = k2_abc_weights(runs, square)
    assert weights.sum() == pytest.approx(1) and 1 / (weights**2).sum() == pytest.approx(7, rel=1e-6)
    shares = weights / runs.weights
    assert (np.diff(shares[np.argsort(square)]) <= 0).all()
    single = squared_discrepancies(gaussian(2), simulate(gaussian(2), 30, 0))
    assert single.shape == (30,) and 0 <= single.min() and single.max() <= 2


# Sequential ABC


def test_smc_abc_is_the_exact_posterior_where_the_tolerance_is_small() -> None:
    problem = gaussian(1, noise=0.5, seed=3)
    exact = problem.exact(problem.observed)
    found = smc_abc(problem, 20_000, accepted=500, fresh=500)
    assert found.used <= 20_000 and len(found.u) == 500 and (np.diff(found.tolerances) <= 0).all()
    assert found.tolerances[-1] < 0.1 and found.distances.max() == found.tolerances[-1]
    mean = float(found.weights @ found.u[:, 0])
    sd = float(np.sqrt(found.weights @ (found.u[:, 0] - mean) ** 2))
    true = float(np.sqrt(exact.covariance[0, 0]))
    assert abs(mean - exact.mean[0]) < 5 * true / np.sqrt(500) and sd == pytest.approx(true, rel=0.15)


def test_smc_abc_at_a_wide_tolerance_is_rejection_by_integration() -> None:
    """Weights p/q undo the proposal of the second generation; the ABC posterior at that tolerance by quadrature."""
    problem = gaussian(1, noise=0.5, seed=3)
    found = smc_abc(problem, 12_000, accepted=4000, fresh=4000, seed=1)
    u = np.linspace(-5, 5, 4001)
    unit = np.sqrt(1.25) * found.tolerances[-1]
    inside = stats.norm(u, 0.5).cdf(problem.observed[0] + unit) - stats.norm(u, 0.5).cdf(problem.observed[0] - unit)
    density = stats.norm.pdf(u) * inside
    density /= density.sum()
    mean, sd = density @ u, np.sqrt(density @ u**2 - (density @ u) ** 2)
    got = found.weights @ found.u[:, 0]
    assert got == pytest.approx(mean, abs=4 * sd / np.sqrt(2000))
    assert np.sqrt(found.weights @ (found.u[:, 0] - got) ** 2) == pytest.approx(sd, rel=0.08)


def test_smc_abc_stays_in_the_support_and_counts_its_runs() -> None:
    problem = exponential_gamma()
    found = smc_abc(problem, 3000, seed=2)
    assert found.used == 400 + 200 * (len(found.tolerances) - 1) <= 3000
    low, high = problem.proposal.bounds[0]
    assert low <= found.u.min() and found.u.max() <= high and found.weights.sum() == pytest.approx(1)
    with pytest.raises(InputError, match="needs a simulator"):
        smc_abc(replace(problem, simulator=None), 1000)


# Mixture density network


def test_the_network_is_a_density_of_the_parameters() -> None:
    torch.manual_seed(0)
    network = MixtureDensityNetwork(3, 2, components=3, hidden=5).double()
    with torch.no_grad():
        mixture = network(torch.randn(4, 3, dtype=torch.float64))
    side = torch.linspace(-12, 12, 241, dtype=torch.float64)
    grid = torch.cartesian_prod(side, side)
    for index in range(4):
        single = [part[index] for part in (mixture.mixture_distribution.logits, mixture.component_distribution.loc,
                                           mixture.component_distribution.scale_tril)]  # fmt: skip
        weights, total = torch.softmax(single[0], 0).tolist(), 0.0
        for weight, mean, root in zip(weights, single[1], single[2], strict=True):
            total += weight * stats.multivariate_normal(mean, root @ root.T).pdf(grid.numpy())
        assert float(total.sum()) * 0.01 == pytest.approx(1, abs=1e-3)
        at = mixture.log_prob(grid[1000].expand(4, 2))[index]
        assert float(at) == pytest.approx(float(np.log(total[1000].item())), rel=1e-8)


def test_the_network_finds_a_normal_posterior_with_its_correlation() -> None:
    problem = gaussian(2, noise=0.5, correlation=0.8, seed=3)
    exact = problem.exact(problem.observed)
    runs = simulate(problem, 1000, 0)
    u = train(runs, components=2, hidden=20).draw(problem.observed, problem.prior.bounds, 4000)
    sd = np.sqrt(np.diag(exact.covariance))
    assert (np.abs(u.mean(0) - exact.mean) < 0.2 * sd).all()
    assert np.allclose(np.cov(u.T), exact.covariance, atol=0.25 * sd.max() ** 2)


def test_weights_make_a_network_of_the_design_answer_for_the_prior() -> None:
    """Simulated at θ ~ N(0, 1), asked under a prior half as wide; and the same seed gives the same network."""
    problem = gaussian(1, noise=0.5, seed=3)
    narrow = gaussian(1, noise=0.5, prior_sd=0.5)
    runs = simulate(problem, 1000, 0)
    weighted = replace(
        runs, log_weights=narrow.prior.log_density(runs.parameters) - problem.prior.log_density(runs.parameters)
    )
    one, other = (train(weighted.first(100), components=1, hidden=5, seed=1) for _ in range(2))
    assert one.losses == other.losses
    first = train(weighted, components=1, hidden=20, seed=1)
    u, exact = first.draw(problem.observed, problem.prior.bounds, 4000), narrow.exact(problem.observed)
    sd = float(np.sqrt(exact.covariance[0, 0]))
    assert abs(u.mean() - exact.mean[0]) < 0.25 * sd and u.std() == pytest.approx(sd, rel=0.15)


# The conditional mean's own evidence


def test_the_evidence_is_that_of_gaussian_processes_on_the_features_of_l(small) -> None:
    _, _, seen = small
    u, x = seen.u.numpy(), seen.x.numpy()
    features = gauss(u, u, 0.25)
    values, vectors = np.linalg.eigh(features)
    root = vectors * np.sqrt(values.clip(0))  # 40 features, rootᵢ·rootⱼ = ℓ(uᵢ, uⱼ)
    M = gauss(x, x, 0.3) + np.diag(0.05 / seen.weights.numpy())
    share = np.trace(np.linalg.solve(M, features)) / 40  # amplitude s² over all features together: s²/40 each
    joint = sum(stats.multivariate_normal(cov=share / 40 * M).logpdf(column) for column in root.T)
    found = float(log_evidence(seen, (0.25,), 0.3, 0.05).detach())
    assert joint / 40 == pytest.approx(found + 20 * np.log(40), rel=1e-9)


def test_the_gradient_of_the_evidence_is_its_finite_difference_and_learning_climbs_it(small) -> None:
    _, _, seen = small
    at = torch.tensor([0.3, 0.05], dtype=torch.float64, requires_grad=True)
    log_evidence(seen, (0.25,), *at).backward()
    for index, step in enumerate(np.eye(2) * 1e-6):
        up, down = (
            float(log_evidence(seen, (0.25,), *(np.array([0.3, 0.05]) + sign * step)).detach()) for sign in (1, -1)
        )
        assert float(at.grad[index]) == pytest.approx((up - down) / 2e-6, rel=1e-4)
    own = learn_conditional(seen, SETTINGS)
    best = float(log_evidence(seen, (0.25,), own.kernel_scale, 40 * own.regularisation).detach())
    around = [(s, n) for s in (0.8, 1, 1.25) for n in (0.5, 1, 2)]
    assert all(
        float(log_evidence(seen, (0.25,), s * own.kernel_scale, n * 40 * own.regularisation).detach()) <= best + 1e-6
        for s, n in around
    )


def test_the_evidence_finds_what_q_bar_and_its_limits_give() -> None:
    problem = exponential_gamma()
    for seed in range(4):
        runs = simulate(problem, 100, seed)
        given = learn(problem.prior, runs, problem.observed, seed=seed).settings
        own = learn_conditional(evidence(problem.prior, runs, problem.observed, given.epsilon, seed=seed), given)
        for name in ("kernel_scale", "regularisation"):
            assert 0.5 < getattr(own, name) / getattr(given, name) < 2


def test_the_evidence_is_the_deconditional_one_at_its_own_queries_as_lambda_vanishes(small) -> None:
    """Theorem 6.2: with ũ = u and λ → 0, ``AᵀKA + σ²I`` is ``K + σ²I``, and the DME's weights are the CME's."""
    _, _, seen = small
    u, x = seen.u.numpy()[::4], seen.x.numpy()[::4]
    L, K = gauss(u, u, 0.1), gauss(x, x, 0.15)
    A = np.linalg.solve(L + 1e-9 * np.eye(10), L)
    assert np.allclose(A.T @ K @ A, K, atol=1e-6)
    L, K = torch.from_numpy(L), torch.from_numpy(K)
    weights = deconditional_weights(K, L, L, 1e-10, 1e-3)
    assert torch.allclose(weights, torch.linalg.inv(K + 1e-2 * torch.eye(10, dtype=K.dtype)), atol=1e-4)


# All of them


def test_every_one_of_them_answers_and_the_seed_repeats(small) -> None:
    problem, runs, _ = small
    learned = learn(problem.prior, runs, problem.observed)
    seen = evidence(problem.prior, runs, problem.observed, learned.settings.epsilon)
    exact = problem.exact(problem.observed)
    for method in OTHERS:
        answer, again = (other_posterior(method, problem, runs, seen, learned.settings, herded=50) for _ in range(2))
        assert answer.samples.shape == (50, 1) and (answer.samples == again.samples).all()
        low, high = answer.interval[0]
        assert low < exact.mean[0] * 1.1 and high > exact.mean[0] * 0.9, method
        assert (answer.used is not None) == (method == "smc_abc")
    own = cme(seen, learn_conditional(seen, learned.settings)).weights
    assert not torch.allclose(own, cme(seen, learned.settings).weights)
    assert effective_count(np.zeros(4), np.ones(4), 1.0) == 4
    asked = []

    def stop() -> None:
        asked.append(1)
        if len(asked) == 3:
            raise Cancelled("nobody waits")

    for method in ("mdn", "smc_abc"):
        asked.clear()
        with pytest.raises(Cancelled):
            other_posterior(method, problem, runs, seen, learned.settings, check=stop)
    with pytest.raises(InputError, match="unknown"):
        other_posterior("mcmc", problem, runs, seen, learned.settings)
