"""K2-ABC: simulations weighted by the discrepancy between their data and the observed data as distributions.

Source: Park, Jitkrittum and Sejdinovic 2016, *K2-ABC: Approximate Bayesian Computation with Kernel Embeddings*.
"""

import numpy as np
import torch

from deconditioning.embeddings.bayes_rule import median_distance
from deconditioning.embeddings.kernel_mean import empirical
from deconditioning.likelihood_free.inference import gaussian_kernel, nearest_count
from deconditioning.likelihood_free.objective import effective_count, width_seeing
from deconditioning.likelihood_free.simulators import Problem, Simulations


def squared_discrepancies(problem: Problem, simulations: Simulations, *, seed: int = 0) -> np.ndarray:
    """``MMD²(data of run i, observed data)`` (n,) with a Gaussian kernel, its lengthscale the median distance.

    Data are what ``problem.sample`` draws given the summaries. Where a run has no independent data, its summaries in
    standard deviations are a sample of one: ``MMD² = 2 − 2k(x_i, y)``.
    """
    if problem.sample is None:
        data = simulations.summaries[:, None, :] / simulations.scales
        observed = problem.observed[None] / simulations.scales
        spread = data[:, 0]
    else:
        rng = np.random.default_rng([seed, 17])
        data = problem.sample(simulations.summaries, rng)[..., None]
        observed = problem.sample(problem.observed[None], rng)[0][:, None]
        spread = observed
    kernel = gaussian_kernel((median_distance(torch.from_numpy(spread)),) * observed.shape[1])
    target = empirical(torch.from_numpy(observed), kernel)
    if problem.sample is None:
        return 2 - 2 * target.at(torch.from_numpy(data[:, 0])).numpy()
    runs = [empirical(torch.from_numpy(each), kernel) for each in data]
    of_target = target.inner(target)
    return np.array([max(run.inner(run) - 2 * run.inner(target) + of_target, 0.0) for run in runs])


def k2_abc_weights(simulations: Simulations, square: np.ndarray) -> np.ndarray:
    """``w_i ∝ exp(−MMD²_i/ε) p/π`` (n,), in sum one; ε lets through as many simulations as rejection ABC keeps, ⌈√n⌉
    (the effective number, at most half of that of the design)."""
    count = min(nearest_count(len(square)), 0.5 * effective_count(square, simulations.weights, 1e6))
    width = width_seeing(square, simulations.weights, count)  # ε = 2 width²
    weights = simulations.weights * np.exp(-0.5 * (square - square.min()) / width**2)
    return weights / weights.sum()
