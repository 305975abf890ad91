"""CRPS by its defining integral, coverage and calibration by simulation and by quantiles."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from deconditioning.errors import InputError
from deconditioning.metrics.calibration import calibration, pit
from deconditioning.metrics.pointwise import mae
from deconditioning.metrics.predictive import Predictive
from deconditioning.metrics.probabilistic import coverage, coverage_sd, crps


def gaussian_case(seed=0, count=400, inflation=1.0):
    """Truth drawn from N(m, s²); the stated sd is s times ``inflation``."""
    rng = np.random.default_rng(seed)
    mean, sd = 280 + 5 * rng.standard_normal(count), rng.uniform(0.5, 3.0, count)
    return {"truth": mean + sd * rng.standard_normal(count), "predicted": Predictive(mean, inflation * sd)}


def triples(case):
    """Truth, mean and sd, value by value."""
    return zip(case["truth"], case["predicted"].mean, case["predicted"].sd, strict=True)


def crps_by_integration(z, m, s):
    """∫ (F(t) − 1[t ≥ z])² dt, each side of z."""
    below = quad(lambda t: norm.cdf(t, m, s) ** 2, min(m, z) - 12 * s, z, epsabs=1e-11)[0]
    above = quad(lambda t: norm.sf(t, m, s) ** 2, z, max(m, z) + 12 * s, epsabs=1e-11)[0]
    return below + above


def test_crps_is_its_integral_with_weights():
    case = gaussian_case(count=12)
    w = np.random.default_rng(1).random(12)
    brute = [crps_by_integration(z, m, s) for z, m, s in triples(case)]
    assert crps(**case) == pytest.approx(np.mean(brute), rel=1e-8)
    assert crps(**case, weights=w) == pytest.approx(np.average(brute, weights=w), rel=1e-8)


def test_crps_of_a_sharp_prediction_is_the_absolute_error():
    case = gaussian_case()
    truth, mean = case["truth"], case["predicted"].mean
    error = mae(truth=truth, mean=mean)
    assert crps(truth=truth, predicted=Predictive(mean, np.zeros(400))) == pytest.approx(error, rel=1e-12)
    assert crps(truth=truth, predicted=Predictive(mean, np.full(400, 1e-9))) == pytest.approx(error, rel=1e-6)


def test_true_prediction_has_the_best_expected_crps():
    values = {f: crps(**gaussian_case(count=20000, inflation=f)) for f in (0.5, 1.0, 2.0)}
    assert values[1.0] < min(values[0.5], values[2.0])


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_coverage_counts_truth_between_two_quantiles(level):
    case = gaussian_case()
    low, high = (norm.ppf(q, case["predicted"].mean, case["predicted"].sd) for q in ((1 - level) / 2, (1 + level) / 2))
    inside = (low <= case["truth"]) & (case["truth"] <= high)
    w = np.random.default_rng(5).random(400)
    assert coverage(**case, level=level) == pytest.approx(inside.mean())
    assert coverage(**case, level=level, weights=w) == pytest.approx(np.average(inside, weights=w))
    drawn = coverage(**gaussian_case(count=40000), level=level)
    assert drawn == pytest.approx(level, abs=0.01)


def test_coverage_within_two_sd():
    assert coverage_sd(truth=np.array([0.0, 1.9, 2.0, 2.1]), predicted=Predictive(np.zeros(4), np.ones(4))) == 0.75
    assert coverage_sd(**gaussian_case(count=40000)) == pytest.approx(0.9545, abs=0.005)


def test_calibration_is_coverage_at_every_level():
    case = gaussian_case(inflation=0.7)
    levels = np.linspace(0.05, 0.95, 19)
    expected = [coverage(**case, level=q) for q in levels]
    np.testing.assert_allclose(calibration(**case, levels=levels), expected)
    assert (np.diff(expected) >= 0).all()
    wide = calibration(**gaussian_case(count=20000, inflation=2.0), levels=levels)
    narrow = calibration(**gaussian_case(count=20000, inflation=0.5), levels=levels)
    assert (wide > levels).all() and (narrow < levels).all()


def test_pit_counts_are_level_for_the_true_prediction_and_curved_otherwise():
    counts = pit(**gaussian_case(count=20000), bins=10)
    assert counts.sum() == 20000 and np.abs(counts - 2000).max() < 5 * np.sqrt(2000)
    narrow, wide = (pit(**gaussian_case(count=20000, inflation=f)) for f in (0.5, 2.0))
    assert narrow[[0, -1]].min() > 2000 > narrow[4:6].max() and wide[[0, -1]].max() < 2000 < wide[4:6].min()


def test_pit_by_counting_quantiles_and_with_weights():
    case = gaussian_case()
    edges = norm.ppf(np.linspace(0, 1, 6)[:, None], case["predicted"].mean, case["predicted"].sd)
    brute = [np.sum((edges[i] <= case["truth"]) & (case["truth"] < edges[i + 1])) for i in range(5)]
    np.testing.assert_array_equal(pit(**case, bins=5), brute)
    count = np.random.default_rng(6).integers(1, 4, 400)
    every = np.repeat(np.arange(400), count)
    repeated = {name: each[every] for name, each in case.items()}
    weighted = pit(**case, bins=5, weights=count)
    np.testing.assert_allclose(weighted / weighted.sum(), pit(**repeated, bins=5) / count.sum())


def test_sd_of_zero_has_its_limits():
    z, m, s = np.array([1.0, 2.0, 3.0]), np.full(3, 2.0), np.zeros(3)
    np.testing.assert_allclose(calibration(z, Predictive(m, s), [0.1, 0.9]), [1 / 3, 1 / 3])
    np.testing.assert_array_equal(pit(z, Predictive(m, s), 3), [1, 1, 1])


def test_bad_input_is_a_sentence():
    case = gaussian_case(count=3)
    with pytest.raises(InputError, match="`sd` has a negative value"):
        crps(truth=case["truth"], predicted=Predictive(np.zeros(3), np.array([1.0, -1.0, 1.0])))
    with pytest.raises(InputError, match="`level` is 95"):
        coverage(**case, level=95)
    with pytest.raises(InputError, match="`levels` runs from 0"):
        calibration(**case, levels=[0.0, 0.5])
    with pytest.raises(InputError, match="`bins` is 1"):
        pit(**case, bins=1)
