"""One observation of the Gaussian problem, answered by every rule: embeddings, weights, means, beside the exact one."""

from dataclasses import dataclass, replace

import numpy as np
import torch

from deconditioning.device import one_thread
from deconditioning.embeddings.bayes_rule import KernelBayes
from deconditioning.embeddings.kernel_mean import KernelMean, empirical
from deconditioning.engine.reporting import Stopwatch
from deconditioning.errors import InputError
from deconditioning.studies.kernel_bayes.study import (
    GaussianProblem,
    best_density_means,
    conditional_rule,
    conditional_weights,
    density_means,
    gaussian_rule,
    kernel_bayes_weights,
    rejection_means,
    simulate,
)

#: Draws of rejection ABC, and the share of them that is kept.
ABC_DRAWS, ABC_SHARE = 20_000, 0.005


@dataclass(frozen=True)
class Answer:
    """A rule's ``mean`` of X (d,), its weighted sample (none for ABC and densities) and CPU seconds."""

    mean: np.ndarray
    sample: KernelMean | None
    seconds: float


@one_thread()
def answers(
    problem: GaussianProblem, y: np.ndarray, *, scale: float, epsilon: float, delta: float, bandwidth: float,
    printed: bool = False,
) -> dict[str, Answer]:  # fmt: skip
    """Kernel Bayes' rule in both forms, the conditional mean, densities with importance weights, and rejection ABC.

    ``scale`` of the lengthscales in median distances, ε and δ of the rule, ``bandwidth`` of the densities, μ̂ with
    the factor n of eq. 12 where ``printed``. A rule that fails is left out. Source: Fukumizu et al. 2013, §5.1-5.2.
    """
    rule = _with(gaussian_rule(problem, scale), epsilon, delta, printed)
    prior = empirical(torch.from_numpy(problem.draws), rule.kernel)
    at = torch.from_numpy(np.asarray(y, dtype=float))
    ways = {
        "kbr": lambda: rule.posterior(prior, at),
        "kbr_a": lambda: rule.posterior_on_prior(prior, at),
        "cme": lambda: conditional_rule(problem, scale).conditional_mean(at),
    }
    result: dict[str, Answer] = {}
    for name, way in ways.items():
        watch = Stopwatch()
        try:
            sample = way()
        except InputError:
            continue
        mean = sample.expectation(sample.points).numpy()
        result[name] = Answer(mean, sample, watch.seconds()["cpu"])
    watch = Stopwatch()
    means = density_means(replace(problem, tests=np.asarray(y, dtype=float)[None]), bandwidth)[0]
    result["kde"] = Answer(means, None, watch.seconds()["cpu"])
    watch = Stopwatch()
    result["abc"] = Answer(rejection(problem, y).mean(0), None, watch.seconds()["cpu"])
    return result


@one_thread()
def kernel_means(
    problem: GaussianProblem, *, scale: float, epsilon: float, delta: float, printed: bool = False
) -> dict[str, np.ndarray]:
    """Posterior means (t, d) at every test y by kernel Bayes' rule (b) and by the conditional mean.

    ``scale`` of the lengthscales in median distances, ε and δ of the rule, ``printed`` as in ``answers``. Source:
    Fukumizu et al. 2013, §5.1.
    """
    rule = _with(gaussian_rule(problem, scale, 1e-10), epsilon, delta, printed)
    conditional = conditional_rule(problem, scale)
    return {
        "kbr": (kernel_bayes_weights(problem, rule).T @ rule.inputs).numpy(),
        "cme": (conditional_weights(problem, conditional).T @ conditional.inputs).numpy(),
    }


def _with(rule: KernelBayes, epsilon: float, delta: float, printed: bool) -> KernelBayes:
    return replace(rule, regularisation=epsilon, second_regularisation=delta, printed=printed)


@one_thread()
def other_means(problem: GaussianProblem) -> dict[str, np.ndarray]:
    """The same by what takes no kernel: densities, and ABC with as many simulations as the rule has samples
    (``abc_few``) or with 20,000 (``abc``), each at its best bandwidth or acceptance given the truth."""
    few = problem.spec.pairs + problem.spec.prior
    return {
        "kde": best_density_means(problem)[0],
        "abc_few": rejection_means(problem, few)[0],
        "abc": rejection_means(problem, ABC_DRAWS)[0],
    }


def rejection(problem: GaussianProblem, y: np.ndarray, draws: int = ABC_DRAWS) -> np.ndarray:
    """Prior draws whose simulated observation is among the nearest 0.5 % to y: samples of the ABC posterior."""
    u, simulated = simulate(problem, draws)
    far = ((simulated - y) ** 2).sum(1)
    keep = max(10, round(ABC_SHARE * draws))
    return u[np.argpartition(far, keep)[:keep]]


def normal_density(mean: np.ndarray, covariance: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Density of N(mean, covariance) at points (P, d)."""
    misfit = at - mean
    square = np.einsum("ij,ij->i", misfit, np.linalg.solve(covariance, misfit.T).T)
    return np.exp(-0.5 * square) / np.sqrt(np.linalg.det(2 * np.pi * covariance))
