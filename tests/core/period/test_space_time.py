"""Separable space-time against the full covariance of all values."""

import numpy as np
import pytest
import torch

from deconditioning.period.space_time import separable_evidence

RNG = np.random.default_rng(0)
CELLS, TIMES, NOISE = 7, 9, 0.04


@pytest.fixture(scope="module")
def problem() -> tuple[np.ndarray, ...]:
    places = RNG.uniform(size=(CELLS, 2))
    space = np.exp(-np.linalg.norm(places[:, None] - places[None], axis=-1))
    days = np.sort(RNG.uniform(0, 5, TIMES))
    between = np.exp(-np.abs(np.subtract.outer(days, days)))
    return space, between, RNG.normal(size=(CELLS, TIMES))


def test_evidence_is_that_of_the_whole_covariance(problem) -> None:
    space, between, z = problem
    cells = space[:CELLS, :CELLS]
    whole = np.kron(cells, between) + NOISE * np.eye(CELLS * TIMES)
    fit = np.linalg.solve(whole, z.ravel())
    evidence = -0.5 * (z.ravel() @ fit + np.linalg.slogdet(whole)[1] + z.size * np.log(2 * np.pi))
    values, vectors = np.linalg.eigh(cells)
    parts = [torch.as_tensor(each) for each in (values, vectors)]
    assert separable_evidence(*parts, between, torch.as_tensor(z), NOISE) == pytest.approx(evidence, abs=1e-9)
