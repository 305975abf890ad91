"""One observation answered by every rule: closed forms, ABC in its limit, answers near the exact mean."""

import numpy as np
import pytest

from deconditioning.kernels.spec import gaussian
from deconditioning.studies.kernel_bayes.one_observation import answers, normal_density, rejection
from deconditioning.studies.kernel_bayes.study import GaussianSpec, exact_embedding, make_gaussian

LINE = make_gaussian(GaussianSpec(1, 300, 300, 1, seed=1))
PLANE = make_gaussian(GaussianSpec(2, 200, 200, 1, seed=2))
VALUES = {"scale": 0.7, "epsilon": 1e-4, "delta": 1e-4, "bandwidth": 0.7}


@pytest.mark.parametrize("problem", [LINE, PLANE])
def test_the_exact_embedding_is_the_mean_of_kernels_at_exact_draws(problem):
    y = np.full(problem.spec.dimension, 1.5)
    mean, covariance = problem.posterior(y)
    draws = np.random.default_rng(0).multivariate_normal(mean, covariance, size=100_000)
    at = mean + np.random.default_rng(1).standard_normal((4, len(y)))
    kernels = np.exp(-0.5 * ((at[:, None] - draws[None]) ** 2).sum(-1) / 0.8**2).mean(1)
    kernel = gaussian(("x", "z")[: len(y)], (0.8,)).build(("x", "z")[: len(y)])
    assert np.allclose(exact_embedding(problem, y, at, kernel), kernels, atol=0.01)


def test_the_density_integrates_to_one():
    mean, covariance = PLANE.posterior(np.array([1.0, 0.0]))
    side = np.linspace(-12, 12, 400)
    grid = np.stack(np.meshgrid(side, side, indexing="ij"), -1).reshape(-1, 2) + mean
    assert normal_density(mean, covariance, grid).sum() * (side[1] - side[0]) ** 2 == pytest.approx(1, abs=1e-3)


def test_rejection_nears_the_exact_posterior():
    y = np.array([1.5])
    mean, covariance = LINE.posterior(y)
    kept = rejection(LINE, y, 200_000)
    assert len(kept) == 1000
    assert kept.mean() == pytest.approx(mean[0], abs=0.15) and kept.std() == pytest.approx(
        covariance[0, 0] ** 0.5, rel=0.1
    )


def test_every_rule_comes_near_the_exact_mean_on_the_line():
    y = np.array([1.5])
    exact, covariance = LINE.posterior(y)
    found = answers(LINE, y, **VALUES)
    assert set(found) == {"kbr", "kbr_a", "cme", "kde", "abc"}
    for name, answer in found.items():
        assert abs(answer.mean[0] - exact[0]) < 0.5 * covariance[0, 0] ** 0.5, name
    assert found["kbr"].sample.points.shape == (300, 1) and found["kbr_a"].sample.points.shape == (300, 1)
