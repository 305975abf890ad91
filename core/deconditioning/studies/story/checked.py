"""Checks that need no exact answer: secret parameters drawn, data made from them, and whether intervals hold them."""

from dataclasses import dataclass, replace

import numpy as np

from deconditioning.errors import Check, never
from deconditioning.likelihood_free.simulators import Problem, simulate
from deconditioning.studies.likelihood_free.study import infer

#: Secrets drawn, and the level of their intervals.
SECRETS, LEVEL = 30, 0.95


@dataclass(frozen=True)
class Checked:
    """Secret parameters ``theta`` (R,) of one-parameter problems and the ``intervals`` (R, 2) found from their data."""

    theta: np.ndarray
    intervals: np.ndarray

    @property
    def inside(self) -> np.ndarray:
        """Which intervals hold their secret (R,)."""
        return (self.intervals[:, 0] <= self.theta) & (self.theta <= self.intervals[:, 1])


def check_secrets(problem: Problem, simulations: int, *, seed: int = 0, check: Check = never) -> Checked:
    """The deconditional posterior's 95 % intervals of `SECRETS` parameters that are known only to the check.

    Every secret is drawn from the prior and has data of its own; the simulations to learn from are shared, kernels are
    learned anew. Source: Talts et al. 2018.
    """
    runs, rng = simulate(problem, simulations, seed), np.random.default_rng([seed, 16])
    assert problem.simulator is not None
    u = problem.prior.draw(SECRETS, rng)
    data, _ = problem.simulator(u, rng)
    intervals = []
    for y in data:
        check()
        inference = infer(replace(problem, observed=y), runs, seed=seed, methods=("dme",))
        intervals.append(inference.answers["dme"].interval[0] if "dme" in inference.answers else [-np.inf, np.inf])
    return Checked(problem.prior.natural(u)[:, 0], np.array(intervals))
