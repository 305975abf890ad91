"""Predictive distributions against closed forms, numerical integrals and draws: Gaussians, mixtures, warps, limits."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import lognorm, norm
from scoringrules import crps_lognormal

from deconditioning.fields.problem.warp import Warp
from deconditioning.metrics.calibration import calibration, pit
from deconditioning.metrics.predictive import Predictive

CENTRES = (np.array([0.2, -1.0, 1.5]), np.array([0.9, 1.0, 1.6]))
SPREADS = (np.array([0.5, 0.3, 0.2]), np.array([0.8, 0.6, 1.1]))
WEIGHTS = (0.3, 0.7)
PARTS = tuple(zip(WEIGHTS, CENTRES, SPREADS, strict=True))
LOG = Warp("box-cox")
TRUTH = np.array([0.5, 0.1, 4.0])


def mixture() -> Predictive:
    mean = sum(w * m for w, m, _ in PARTS)
    return Predictive(mean, np.sqrt(sum(w * (s**2 + (m - mean) ** 2) for w, m, s in PARTS)), PARTS)


def below(i: int, t: float) -> float:
    """The mixture's probability below t at the value i, in units of the warp."""
    return sum(w * norm.cdf(t, m[i], s[i]) for w, m, s in PARTS)


def quantile_by_hand(i: int, level: float) -> float:
    return brentq(lambda t: below(i, t) - level, -20, 20, xtol=1e-12)


def crps_by_integration(cumulative, z: float, low: float, high: float) -> float:
    """∫ (F(t) − 1[t ≥ z])² dt, each side of z."""
    first = quad(lambda t: cumulative(t) ** 2, low, z, limit=200)[0]
    return first + quad(lambda t: (1 - cumulative(t)) ** 2, z, high, limit=400)[0]


def test_a_gaussian_is_a_gaussian() -> None:
    mean, sd = CENTRES[0], SPREADS[0]
    found = Predictive(mean, sd)
    assert found.quantile(0.9) == pytest.approx(norm.ppf(0.9, mean, sd), rel=1e-12)
    assert np.allclose(found.interval(0.8), norm.interval(0.8, mean, sd), rtol=1e-12)
    assert found.exceedance(0.3) == pytest.approx(norm.sf(0.3, mean, sd), rel=1e-12)
    assert found.score(TRUTH) == pytest.approx((TRUTH - mean) / sd, rel=1e-12)


def test_a_mixture_by_brute_force() -> None:
    found = mixture()
    for level in (0.001, 0.05, 0.5, 0.975):
        wanted = [quantile_by_hand(i, level) for i in range(3)]
        assert found.quantile(level) == pytest.approx(wanted, abs=1e-8)
    assert found.exceedance(0.7) == pytest.approx([1 - below(i, 0.7) for i in range(3)], rel=1e-10)
    assert norm.cdf(found.score(TRUTH)) == pytest.approx([below(i, z) for i, z in enumerate(TRUTH)], rel=1e-10)
    wanted = [crps_by_integration(lambda t, i=i: below(i, t), z, -12, 14) for i, z in enumerate(TRUTH)]
    assert found.crps(TRUTH) == pytest.approx(wanted, rel=1e-6)
    far = found.score(np.array([-9.0, -9.0, 40.0]))
    assert np.isfinite(far).all() and far[0] < -8 and far[2] > 8


def test_a_mixture_of_equal_parts_is_one_of_them() -> None:
    mean, sd = CENTRES[1], SPREADS[1]
    for warp in (None, LOG):
        twice = ((0.4, mean, sd), (0.6, mean, sd))
        once = Predictive(mean, sd) if warp is None else Predictive.behind(warp, ((1.0, mean, sd),))
        found = Predictive(mean, sd, twice) if warp is None else Predictive.behind(warp, twice)
        assert found.quantile(0.9) == pytest.approx(once.quantile(0.9), rel=1e-9)
        assert found.score(TRUTH) == pytest.approx(once.score(TRUTH), rel=1e-7)
        assert found.crps(TRUTH) == pytest.approx(once.crps(TRUTH), rel=1e-6 if warp is None else 1e-3)
        assert found.mean == pytest.approx(once.mean) and found.sd == pytest.approx(once.sd)


def test_behind_a_logarithm_it_is_log_normal() -> None:
    mean, sd = CENTRES[0], SPREADS[0]
    found, wanted = Predictive.behind(LOG, ((1.0, mean, sd),)), lognorm(s=sd, scale=np.exp(mean))
    assert found.mean == pytest.approx(wanted.mean(), rel=1e-9) and found.sd == pytest.approx(wanted.std(), rel=1e-6)
    assert np.allclose(found.interval(0.95), wanted.interval(0.95), rtol=1e-9)
    assert found.exceedance(1.3) == pytest.approx(wanted.sf(1.3), rel=1e-10)
    truth = np.exp(mean + sd * np.array([-1.0, 0.3, 2.0]))
    assert found.crps(truth) == pytest.approx(crps_lognormal(truth, mean, sd), rel=1e-3)


@pytest.mark.parametrize("sd", [0.05, 1.0, 2.0, 3.0, 4.0])
def test_the_crps_of_a_heavy_tail_is_its_integral(sd: float) -> None:
    """∫ (F − 1)² over the logarithm of the value, one Gaussian and the same in two parts; and its closed form."""
    scores, zero = np.array([-2.5, -1.0, 0.0, 0.4, 2.0]), np.zeros(5)
    wanted = []
    for z in scores:
        below_it = quad(lambda t: norm.cdf(t) ** 2 * sd * np.exp(sd * t), -30, z, epsrel=1e-10)[0]
        above_it = quad(lambda t: norm.sf(t) ** 2 * sd * np.exp(sd * t), z, 30, epsrel=1e-10, points=[sd, z + 1])[0]
        wanted.append(below_it + above_it)
    truth, part = np.exp(sd * scores), (zero, np.full(5, sd))
    assert crps_lognormal(truth, *part) == pytest.approx(wanted, rel=1e-6)
    for parts in (((1.0, *part),), ((0.3, *part), (0.7, *part))):
        assert Predictive.behind(LOG, parts, (0.0, np.inf)).crps(truth) == pytest.approx(wanted, rel=3e-4)


def test_a_value_that_is_certain_is_not_above_itself() -> None:
    mean, sure = np.array([0.0, 1.0, 2.0]), np.zeros(3)
    assert Predictive(mean, sure).exceedance(1.0).tolist() == [0, 0, 1]
    assert Predictive(mean, sure, limits=(0.0, np.inf)).exceedance(0.0).tolist() == [0, 1, 1]  # dry is not rain
    halves = Predictive(mean, sure, ((0.5, mean, sure), (0.5, mean + 1, sure)))
    assert halves.exceedance(1.0).tolist() == [0, 0.5, 1]


def test_a_mixture_behind_a_logarithm_by_brute_force() -> None:
    found = Predictive.behind(LOG, PARTS, (0.0, np.inf))
    for level in (0.05, 0.5, 0.95):
        wanted = [np.exp(quantile_by_hand(i, level)) for i in range(3)]
        assert found.quantile(level) == pytest.approx(wanted, rel=1e-8)
    wanted = [
        crps_by_integration(lambda t, i=i: below(i, np.log(t)) if t > 0 else 0.0, z, 0.0, 400.0)
        for i, z in enumerate(TRUTH)
    ]
    assert found.crps(TRUTH) == pytest.approx(wanted, rel=3e-3)
    first = [quad(lambda t, i=i: 1 - below(i, np.log(t)), 1e-12, 2000, limit=400)[0] for i in range(3)]
    assert found.mean == pytest.approx(first, rel=1e-4)


def test_limits_hold_what_lies_beyond_them() -> None:
    mean, sd = np.array([0.2, -1.0, 1.5]), np.array([0.5, 0.3, 2.0])
    found = Predictive(np.clip(mean, 0, 3), sd, ((1.0, mean, sd),), limits=(0.0, 3.0))
    assert found.quantile(0.01).min() == 0.0 and found.quantile(0.999).max() <= 3.0
    assert found.exceedance(0.0) == pytest.approx(norm.sf(0.0, mean, sd))
    assert found.exceedance(-0.1).tolist() == [1, 1, 1] and found.exceedance(3.0).tolist() == [0, 0, 0]

    def clipped(i: int, t: float) -> float:
        return 0.0 if t < 0 else 1.0 if t >= 3 else norm.cdf(t, mean[i], sd[i])

    truth = np.array([0.0, 0.4, 2.0])
    wanted = [crps_by_integration(lambda t, i=i: clipped(i, t), z, 0.0, 3.0) for i, z in enumerate(truth)]
    assert found.crps(truth) == pytest.approx(wanted, abs=1e-7)
    several = Predictive(found.mean, sd, ((0.5, mean, sd), (0.5, mean, sd)), limits=(0.0, 3.0))
    assert several.crps(truth) == pytest.approx(wanted, rel=0.03, abs=1e-3)


@pytest.mark.parametrize("warp", [None, Warp("box-cox", 0.5, 0.3)])
def test_a_value_at_a_limit_is_inside_the_intervals_that_reach_it(warp: Warp | None) -> None:
    rng = np.random.default_rng(3)
    mean, sd = rng.normal(0, 1, 500), rng.uniform(0.2, 1.0, 500)
    part = ((1.0, mean, sd),)
    found = Predictive(np.maximum(mean, 0), sd, part, None, (0.0, np.inf))
    found = found if warp is None else Predictive.behind(warp, part, (0.0, np.inf))
    truth = np.where(rng.random(500) < 0.5, 0.0, rng.gamma(1.0, 1.0, 500))
    for level in (0.5, 0.9):
        low, high = found.interval(level)
        assert calibration(truth, found, [level]) == pytest.approx(np.mean((truth >= low) & (truth <= high)))


def test_draws_of_the_distribution_are_calibrated() -> None:
    rng, size = np.random.default_rng(4), 40_000
    parts = tuple((w, np.resize(m, size), np.resize(s, size)) for w, m, s in PARTS)
    which, noise = rng.random(size) < WEIGHTS[0], rng.standard_normal(size)
    truth = np.exp(np.where(which, *(m + s * noise for _, m, s in parts)))
    found = Predictive.behind(LOG, parts)
    assert calibration(truth, found, [0.5, 0.95]) == pytest.approx([0.5, 0.95], abs=0.01)
    assert np.abs(pit(truth, found) / size - 0.1).max() < 0.01
    assert np.mean(truth > 3.0) == pytest.approx(found.exceedance(3.0).mean(), abs=0.01)


def test_some_of_the_values() -> None:
    found = Predictive.behind(LOG, PARTS, (0.0, np.inf))
    assert found[1:].quantile(0.3) == pytest.approx(found.quantile(0.3)[1:])
    gaps = Predictive(np.array([np.nan, 1.0]), np.array([1.0, 1.0]), limits=(0.0, 9.0))
    assert np.isnan(gaps.exceedance(-1.0)[0]) and gaps.exceedance(-1.0)[1] == 1.0
