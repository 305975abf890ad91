"""Sequential ABC: a population of parameters whose simulations approach the observation.

Source: Lenormand, Jabot and Deffuant 2013, *Adaptive approximate Bayesian computation for complex models*; population
Monte Carlo as in Beaumont et al. 2009.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.likelihood_free.simulators import Problem

#: Share of a generation that must come nearer than the tolerance, or the population is not moved on.
_LEAST_NEARER = 0.05


@dataclass(frozen=True)
class Population:
    """Parameters u (N, p) with ``weights`` (N,), in sum one, and ``distances`` (N,) of their simulations in standard
    deviations of the first generation's; ``tolerances`` of all generations; ``used`` runs of the simulator."""

    u: np.ndarray
    weights: np.ndarray
    distances: np.ndarray
    tolerances: tuple[float, ...]
    used: int


def smc_abc(
    problem: Problem, budget: int, *, accepted: int = 200, fresh: int = 200, seed: int = 0,
    check: Callable[[], None] = lambda: None,
) -> Population:  # fmt: skip
    """The ``accepted`` nearest of all generations of ``fresh`` runs, until the budget is spent or few runs are closer.

    The first generation, ``accepted + fresh`` runs, is drawn from π with weights p/π. Later ones are proposed by a
    kernel density of the population with twice its covariance, ``q(u) = Σ_j w_j N(u; u_j, 2C)``, inside the support,
    with weights ``p(u)/q(u)``. Discarded runs count and are never near. ``check`` is called before every generation and
    may stop it by raising.
    """
    if problem.simulator is None:
        raise InputError(f"{problem.name} is a table, and sequential ABC needs a simulator: choose another method.")
    from scipy.stats import gaussian_kde

    rng = np.random.default_rng([seed, 18])
    prior = problem.prior.restricted(problem.proposal.bounds)
    u = problem.proposal.spread(accepted + fresh, rng)
    x, good = problem.simulator(u, rng)
    scales = x[good].std(0)
    weights = np.exp(prior.log_density(u) - problem.proposal.log_density(u))
    known = _nearest(accepted, u, weights, _distances(problem, x, good, scales))
    tolerances, used, nearer = [float(known[2][-1])], len(u), 1.0
    if not np.isfinite(tolerances[0]):
        raise InputError(f"Fewer than {accepted} of {used} runs of {problem.name} ended: narrow the prior.")
    while used + fresh <= budget and nearer >= _LEAST_NEARER:
        check()
        density = gaussian_kde(known[0].T, bw_method=np.sqrt(2), weights=known[1])
        u, inside = _proposed(density, prior.bounds, fresh, rng)
        x, good = problem.simulator(u, rng)
        distances, used = _distances(problem, x, good, scales), used + fresh
        weights = np.exp(prior.log_density(u)) * inside / density(u.T)
        nearer = float((distances < tolerances[-1]).mean())
        both = (np.concatenate(pair) for pair in zip(known, (u, weights, distances), strict=True))
        known = _nearest(accepted, *both)
        tolerances.append(float(known[2][-1]))
    return Population(known[0], known[1] / known[1].sum(), known[2], tuple(tolerances), used)


def _distances(problem: Problem, x: np.ndarray, good: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """``‖(x_i − y)/sd‖`` (n,), infinite for runs that were given up."""
    return np.where(good, np.linalg.norm((x - problem.observed) / scales, axis=1), np.inf)


def _nearest(count: int, u: np.ndarray, weights: np.ndarray, distances: np.ndarray) -> tuple[np.ndarray, ...]:
    """The rows of the ``count`` smallest distances, in their order."""
    order = np.argsort(distances, kind="stable")[:count]
    return u[order], weights[order], distances[order]


def _proposed(density: Any, bounds: np.ndarray, count: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Draws (count, p) of a density inside ``bounds`` (p, 2), and the share of its draws that lies there."""
    result, drawn = np.empty((0, len(bounds))), 0
    while len(result) < count:
        u = density.resample(2 * count, seed=rng).T
        result = np.concatenate([result, u[((u >= bounds[:, 0]) & (u <= bounds[:, 1])).all(1)]])
        drawn += len(u)
    return result[:count], len(result) / drawn
