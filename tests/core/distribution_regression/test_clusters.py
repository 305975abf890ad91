"""Exchangeable functions of clusters against brute force over all measures, and at both ends of the correlation."""

import numpy as np
import pytest
import torch

from deconditioning.distribution_regression.clusters import CORRELATIONS, ClusteredSums, fit_clusters, learn_correlation
from deconditioning.distribution_regression.gpdr import RegressionSpec, fit
from deconditioning.distribution_regression.kernel_sums import KernelSums
from deconditioning.distribution_regression.simulate import SimulationSpec, regression_function, simulate
from deconditioning.errors import InputError
from deconditioning.kernels.spec import Factor, KernelSpec, Term

SPEC = RegressionSpec(KernelSpec((Term((Factor("rbf", ("x",), (0.3,)),), 0.7),)), 0.02)
AT = torch.linspace(0, 1, 9).double()[:, None]


@pytest.fixture(scope="module")
def data():
    """24 subjects of three clusters, their functions apart."""
    of = lambda i: lambda x: regression_function(x) + 0.3 * (i % 3) * x  # noqa: E731
    subjects = simulate(SimulationSpec(24, 15), of).subjects
    return subjects, torch.arange(24) % 3


def given(data) -> tuple:
    subjects, cluster = data
    return KernelSums(subjects.bags, subjects.columns), cluster, subjects.outcomes, subjects.covariates


def test_posteriors_are_those_of_all_pairs_of_measures(data):
    subjects, cluster = data
    x, owner = subjects.measures[:, 0].numpy(), subjects.owner.numpy()
    share = (owner == np.arange(24)[:, None]) / 15
    of, rho = cluster.numpy()[owner], 0.4

    def kernel(a, b, c, d):
        near = 0.7 * np.exp(-((a[:, None] - b) ** 2) / (2 * 0.3**2))
        return near * (rho + (1 - rho) * (np.asarray(c)[:, None] == d))

    gram = share @ kernel(x, x, of, of) @ share.T + 0.02 * np.eye(24)
    points = AT[:, 0].numpy()
    for at, found in enumerate(fit_clusters(SPEC, *given(data), rho)):
        cross = kernel(points, x, np.full(9, at), of) @ share.T
        mean, variance = found.moments(AT)
        assert np.allclose(mean, cross @ np.linalg.solve(gram, subjects.outcomes.numpy()), atol=1e-10)
        assert np.allclose(variance, 0.7 - (cross * np.linalg.solve(gram, cross.T).T).sum(1), atol=1e-10)


def test_the_ends_are_one_function_for_all_and_one_for_each_by_itself(data):
    subjects, cluster = data
    base = KernelSums(subjects.bags, subjects.columns)
    whole = fit(SPEC, base, subjects.outcomes, subjects.covariates)
    for found in fit_clusters(SPEC, *given(data), 1.0):
        assert torch.allclose(found.mean(AT), whole.mean(AT), atol=1e-12)
    for at, found in enumerate(fit_clusters(SPEC, *given(data), 0.0)):
        own = torch.nonzero(cluster == at)[:, 0]
        alone = KernelSums(subjects.bags.subset(own), subjects.columns)
        expected = fit(SPEC, alone, subjects.outcomes[own], subjects.covariates[own])
        assert torch.allclose(found.mean(AT), expected.mean(AT), atol=1e-10)
        assert torch.allclose(found.variance(AT), expected.variance(AT), atol=1e-10)


def test_the_learned_correlation_has_the_highest_evidence(data):
    at, tried = learn_correlation(SPEC, *given(data))
    base, cluster, *rest = given(data)
    evidence = [fit(SPEC, ClusteredSums(base, cluster, rho), *rest).evidence for rho in (at, *np.linspace(0, 1, 41))]
    assert evidence[0] >= max(evidence[1:]) - 1e-3 and len(tried) == len(CORRELATIONS)


@pytest.mark.parametrize("rho", [-0.1, 1.1, float("nan")])
def test_a_correlation_outside_of_zero_to_one_is_refused(data, rho):
    with pytest.raises(InputError, match="from 0 to 1"):
        fit_clusters(SPEC, *given(data), rho)
