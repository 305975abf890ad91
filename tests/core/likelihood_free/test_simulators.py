"""Priors and simulators against integrals, moments and a plain event loop with the same random numbers."""

import numpy as np
import pytest
from scipy import integrate, stats

from deconditioning.errors import InputError
from deconditioning.likelihood_free import lotka_volterra as lv
from deconditioning.likelihood_free.prior import Marginal, Prior
from deconditioning.likelihood_free.simulators import exponential_gamma, gaussian, lotka_volterra, simulate

MARGINALS = (
    Marginal("a", "uniform", -1.0, 3.0, low=0.5),
    Marginal("b", "normal", 0.3, 2.0, low=-1.0, high=4.0),
    Marginal("c", "gamma", 0.1, 0.1, log=True, low=np.log(0.01), high=0.0),
)


@pytest.mark.parametrize("part", MARGINALS, ids=lambda part: part.family)
def test_quantiles_invert_the_integral_of_the_density(part: Marginal) -> None:
    low, _ = part.support
    for level in (0.05, 0.4, 0.9):
        at = float(part.quantile(np.array(level)))
        mass, _ = integrate.quad(lambda u: float(np.exp(part.log_density(np.array(u)))), low, at)
        assert mass == pytest.approx(level, abs=1e-6)
    assert part.log_density(np.array([low - 0.1, part.support[1] + 0.1])).tolist() == [-np.inf, -np.inf]


def test_draws_follow_the_prior_and_the_spread_design_fills_every_share() -> None:
    prior, rng = Prior(MARGINALS), np.random.default_rng(0)
    drawn = prior.draw(4000, rng)
    for j, part in enumerate(MARGINALS):
        levels = np.array([0.1, 0.5, 0.9])
        assert np.allclose((drawn[:, j, None] <= part.quantile(levels)).mean(0), levels, atol=0.025)
    spread = prior.spread(50, rng)
    for j, part in enumerate(MARGINALS):
        edges = part.quantile(np.linspace(0, 1, 51)[1:-1])
        assert (np.bincount(np.searchsorted(edges, spread[:, j]), minlength=50) == 1).all()
    assert np.allclose(prior.working(prior.natural(drawn)), drawn)


@pytest.mark.parametrize(
    "bad",
    [
        lambda: Marginal("a", "uniform", 2.0, 1.0),
        lambda: Marginal("a", "normal", 0.0, -1.0),
        lambda: Marginal("a", "gamma", 1.0, 1.0),
        lambda: Marginal("a", "uniform", 0.0, 1.0, low=2.0),
        lambda: exponential_gamma(0.5),
        lambda: exponential_gamma(float("nan")),
        lambda: gaussian(0),
        lambda: simulate(gaussian(1), 5, 0),
        lambda: lv.simulate_counts(np.array([[1.0, -1.0, 1.0, 1.0]]), np.random.default_rng(0)),
    ],
)
def test_nonsense_is_a_sentence(bad) -> None:
    with pytest.raises(InputError, match=r": (give|swap|widen|narrow|set)|worked with in log"):
        bad()


@pytest.mark.parametrize("observed", [9.42, 3.0])
def test_exponential_gamma_is_what_numerical_integration_gives(observed: float) -> None:
    problem = exponential_gamma(observed)
    exact = problem.exact(problem.observed)
    grid = np.linspace(*problem.prior.bounds[0], 40_001)
    theta = np.exp(grid)
    log = problem.prior.log_density(grid[:, None]) + 500 * grid - 500 * theta * observed
    density = np.exp(log - log.max())
    mass = np.cumsum(density) / density.sum()
    assert exact.mean[0] == pytest.approx((density * theta).sum() / density.sum(), rel=1e-6)
    for level, end in zip((0.025, 0.975), exact.interval[0], strict=True):
        assert end == pytest.approx(np.interp(level, mass, theta), rel=1e-4)


def test_its_published_numbers() -> None:
    problem = exponential_gamma()
    exact = problem.exact(problem.observed)
    assert exact.mean[0] == pytest.approx(0.106176, abs=5e-7)
    assert exact.interval[0] == pytest.approx([0.0971, 0.1157], abs=5e-5)


def test_summaries_of_exponential_gamma_follow_their_law() -> None:
    problem = exponential_gamma()
    found = simulate(problem, 400, 3)
    assert stats.kstest(500 * np.exp(found.summaries + found.parameters)[:, 0], stats.gamma(500).cdf).pvalue > 0.01
    assert np.allclose(
        np.exp(found.log_weights), np.exp(problem.prior.log_density(found.parameters)) * np.log(100), rtol=1e-9
    )


def test_gaussian_posterior_is_conditioning_of_the_joint_normal() -> None:
    problem = gaussian(3, noise=0.7, correlation=0.4)
    noise = 0.49 * (0.6 * np.eye(3) + 0.4)
    joint = np.eye(3) + noise
    exact = problem.exact(problem.observed)
    assert np.allclose(exact.mean, np.linalg.solve(joint, problem.observed))
    assert np.allclose(exact.covariance, np.eye(3) - np.linalg.inv(joint))
    found = simulate(problem, 3000, 0, "random")
    assert np.allclose(np.cov((found.summaries - found.parameters).T), noise, atol=0.06)


def plain_gillespie(rates: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, bool]:
    """One run, event by event, as textbooks write it."""
    x, y, now, path = *lv.START, 0.0, []
    times = np.arange(151) * lv.STEP
    for _ in range(lv.MOST_EVENTS):
        hazards = [rates[0] * x * y, rates[1] * x, rates[2] * y, rates[3] * x * y]
        total = sum(hazards)
        wait = rng.standard_exponential()
        now = now + wait / total if total > 0 else np.inf
        while len(path) < 151 and times[len(path)] <= now:
            path.append((x, y))
        if len(path) == 151:
            return np.array(path, dtype=float), True
        chosen = rng.random() * total
        event = sum(chosen >= part for part in np.cumsum(hazards)[:3])
        x, y = x + (1, -1, 0, 0)[event], y + (0, 0, 1, -1)[event]
    return np.array(path, dtype=float), False


@pytest.mark.parametrize(
    ("seed", "rates"), [(1, lv.TRUE_RATES), (2, (0.02, 0.4, 0.8, 0.02)), (4, (0.0, 1.0, 0.0, 0.0))]
)
def test_lock_step_events_are_those_of_a_plain_loop(seed: int, rates: tuple[float, ...]) -> None:
    path, ended = lv.simulate_counts(np.array([rates]), np.random.default_rng(seed))
    plain, whole = plain_gillespie(np.array(rates), np.random.default_rng(seed))
    assert whole and bool(ended[0])
    assert np.array_equal(path[0], plain)


def test_births_and_deaths_have_their_exact_means_in_many_runs() -> None:
    rates = np.tile([0.0, 0.3, 0.1, 0.0], (600, 1))  # independent: predators die at 0.3, prey are born at 0.1
    path, ended = lv.simulate_counts(rates, np.random.default_rng(0), time=5.0)
    assert ended.all()
    final = path[:, -1]
    expected = np.array([50 * np.exp(-1.5), 100 * np.exp(0.5)])
    assert (np.abs(final.mean(0) - expected) < 4 * final.std(0) / np.sqrt(600)).all()


def test_runs_with_too_many_events_are_drawn_anew_and_counted() -> None:
    wild = np.array([[0.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
    _, ended = lv.simulate_counts(wild, np.random.default_rng(0), most_events=200)
    assert ended.tolist() == [False, True]
    problem = gaussian(1)

    def moody(u, rng):
        return u + 1.0, u[:, 0] > 0

    found = simulate(replace_simulator(problem, moody), 100, 0)
    assert (found.parameters > 0).all() and np.array_equal(found.summaries, found.parameters + 1)
    assert 50 <= found.discarded <= 160
    with pytest.raises(InputError, match="discarded"):
        simulate(replace_simulator(problem, lambda u, rng: (u, np.zeros(len(u), bool))), 10, 0)
    with pytest.raises(InputError, match="pilot runs"):
        lotka_volterra(pilot=6, box=(2.0, 2.5))


def replace_simulator(problem, simulator):
    from dataclasses import replace

    return replace(problem, simulator=simulator)


def test_summaries_are_the_textbook_statistics() -> None:
    path = np.random.default_rng(0).uniform(0, 50, (3, 60, 2)).round()
    found = lv.summaries(path)
    x, y = path[1].T
    assert found.shape == (3, len(lv.SUMMARY_NAMES))
    assert found[1, :4] == pytest.approx([x.mean(), y.mean(), np.log(x.var(ddof=1) + 1), np.log(y.var(ddof=1) + 1)])
    assert found[1, 8] == pytest.approx(np.corrcoef(x, y)[0, 1])
    a = (y - y.mean()) / y.std(ddof=1)
    assert found[1, 7] == pytest.approx((a[2:] * a[:-2]).sum() / 59)
    assert (lv.summaries(np.full((1, 60, 2), 7.0))[0, 4:] == 0).all()


def test_lotka_volterra_is_measured_in_units_of_its_pilot() -> None:
    problem, rng = lotka_volterra(pilot=12), np.random.default_rng([0, 13])
    paths, ended = lv.simulate_counts(np.exp(problem.prior.draw(12, rng)), rng)
    known = lv.summaries(paths[ended])
    path, whole = lv.simulate_counts(np.array([lv.TRUE_RATES]), rng)
    assert whole.all() and path.min() >= 0
    assert np.allclose(problem.observed, (lv.summaries(path)[0] - known.mean(0)) / known.std(0))


def test_an_exact_posterior_outside_the_simulations_is_refused():
    with pytest.raises(InputError, match="lies outside"):
        exponential_gamma(1.25, shape=100.0, rate=1.0)
    inside = exponential_gamma(9.42).exact(np.log([9.42]))
    assert inside.marginals[0].cdf(1.0) - inside.marginals[0].cdf(0.01) > 0.999
