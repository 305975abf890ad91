"""The prior's effect: kernel Bayes' rule loses it as δ → 0 and becomes a conditional mean; the DME keeps some."""

import numpy as np
import pytest
import torch

from deconditioning.embeddings.kernel_mean import empirical
from deconditioning.errors import InputError
from deconditioning.studies.kernel_bayes.prior_effect import FIRST, PriorEffect, _rule, prior_effect
from deconditioning.studies.kernel_bayes.study import GaussianSpec, make_gaussian

PROBLEM = make_gaussian(GaussianSpec(1, 60, 60, 1, seed=26))


def test_without_regularisation_the_prior_cancels():
    rule, at = _rule(PROBLEM, 0.5, 1e-18), torch.tensor([2.0], dtype=torch.float64)
    direct = torch.linalg.solve(rule.observation_gram, rule.near(at))
    for moved in (0.0, 1.0):
        prior = empirical(torch.from_numpy(PROBLEM.draws + moved), rule.kernel)
        assert torch.allclose(rule.posterior(prior, at).weights, direct, atol=1e-5)


def test_shares_of_the_priors_shift():
    found = prior_effect(PROBLEM, 2.0, scale=0.5, steps=(1e-2, 1e-18, 1e-10))
    assert 0.5 < found.share("kbr")[0] < 1.6 and abs(found.share("kbr")[1]) < 0.01
    assert abs(found.share("dme")[2]) > 0.1
    variance = PROBLEM.xx[0, 0] / 2  # the exact means by the precision form
    slope, noise = (float(v[0, 0]) for v in PROBLEM.channel)
    precision = 1 / variance + slope**2 / noise
    for mean, prior in zip(found.exact, (0.0, variance**0.5), strict=True):
        assert mean == pytest.approx((prior / variance + slope * (2.0 - 1) / noise) / precision)


def test_the_share_is_one_where_means_are_exact():
    exact = np.array([0.5, 1.25])
    found = PriorEffect(np.ones(3), {"kbr": exact[:, None] + np.zeros(3)}, exact)
    assert np.allclose(found.share("kbr"), 1) and FIRST > 0
    with pytest.raises(InputError, match="one dimension"):
        prior_effect(make_gaussian(GaussianSpec(2, 10, 10, 1)), 0.0)
