"""The factor by the predicted value: against a general optimiser, and where it is used."""

import numpy as np
import pytest
from scipy.optimize import minimize

from deconditioning.period.archive.by_value import ByValue
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.training import Training
from deconditioning.period.series import Series
from tests.core.period.made import UNLEARNED


def test_the_weights_are_those_of_the_largest_likelihood() -> None:
    rng = np.random.default_rng(0)
    s = rng.normal(size=(300, 40))
    u = rng.normal(size=s.shape) * np.exp(0.5 * (-0.2 - 0.4 * s + 0.15 * s**2))
    factor = ByValue.fit(u, s, np.zeros(3), np.ones(3))
    clipped = np.clip(s, *np.percentile(s, [1, 99]))

    def loss(b: np.ndarray) -> float:
        logs = b[0] + b[1] * clipped + b[2] * clipped**2
        return float((0.5 * (logs + u**2 * np.exp(-logs))).sum() / 40 + 0.5 * 5 * (b[1] ** 2 + b[2] ** 2))

    np.testing.assert_allclose(factor.weights, minimize(loss, np.zeros(3), tol=1e-9).x, atol=2e-3)
    np.testing.assert_allclose(factor.weights, [-0.2, -0.4, 0.15], atol=0.05)
    h = np.exp(0.5 * (factor.weights[0] + factor.weights[1] * clipped + factor.weights[2] * clipped**2))
    assert np.mean(u**2 / h**2) == pytest.approx(1, abs=1e-3)
    beyond = [h.ravel()[s.argmin()], np.exp(0.5 * factor.weights[0]), h.ravel()[s.argmax()]]
    np.testing.assert_allclose(factor(np.array([-99.0, 0.0, 99.0])), beyond, rtol=1e-6)


def test_errors_without_any_pattern_keep_their_sd() -> None:
    rng = np.random.default_rng(1)
    factor = ByValue.fit(rng.normal(size=(200, 50)), rng.normal(size=(200, 50)), np.zeros(1), np.ones(1))
    assert all(factor(np.array([value]))[0] == pytest.approx(1, abs=0.06) for value in (-2.0, 0.0, 2.0))
    same = ByValue.fit(2 * rng.normal(size=(200, 50)), np.zeros((200, 50)), np.zeros(1), np.zeros(1))
    assert same(np.array([7.0]))[0] == pytest.approx(2, rel=0.03)


def test_the_sd_of_a_time_has_it(series: Series, training: Training) -> None:
    result = downscale_with_archive(series, training, UNLEARNED)
    assert isinstance(result.by_value, ByValue)
    y, b = training.fine, result.by_value.weights
    s = np.clip((result.means[4].ravel() - y.mean(0)) / y.std(0), *result.by_value.ends)
    sd = result.amplitude[4] * result.spreads[result.spread_of[4]].ravel()
    np.testing.assert_allclose(result.sd(4).ravel(), sd * np.exp(0.5 * (b[0] + b[1] * s + b[2] * s**2)), rtol=1e-9)
