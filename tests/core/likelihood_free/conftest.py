"""Simulations that several tests of likelihood-free inference look at."""

import pytest

from deconditioning.likelihood_free.inference import evidence
from deconditioning.likelihood_free.simulators import exponential_gamma, simulate


@pytest.fixture(scope="module")
def small():
    """Forty simulations of exponential-gamma and what the rules see of them."""
    problem = exponential_gamma()
    found = simulate(problem, 40, 1)
    seen = evidence(problem.prior, found, problem.observed, 0.2, draws=60, candidates=200)
    return problem, found, seen
