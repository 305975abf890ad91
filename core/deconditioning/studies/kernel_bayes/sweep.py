"""What can be swept of kernel Bayes' rule on the Gaussian problem, and its error at a setting."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from deconditioning.device import one_thread
from deconditioning.embeddings.bayes_rule import KernelBayes, cross_validation
from deconditioning.embeddings.kernel_mean import empirical
from deconditioning.figures.small_multiples import small_lines
from deconditioning.studies.kernel_bayes.one_observation import kernel_means
from deconditioning.studies.kernel_bayes.settings import FEW, OBSERVATIONS, KernelBayesSettings
from deconditioning.studies.kernel_bayes.study import (
    GaussianProblem,
    GaussianSpec,
    exact_embedding,
    gaussian_rule,
    gaussian_spec,
    make_gaussian,
)
from deconditioning.studies.sweeping import Study
from deconditioning.sweeps import Score

#: Points of a small picture.
_POINTS = 60


@lru_cache(maxsize=4)
def problem_at(spec: GaussianSpec) -> GaussianProblem:
    """The drawn problem, kept while only the rule moves."""
    return make_gaussian(spec)


@one_thread()
def row(values: dict[str, Any]) -> dict[str, Any]:
    """Error of the posterior mean against the exact one, that of left-out states, and the posterior."""
    settings = KernelBayesSettings(**values)
    few = settings.dimension in FEW
    problem = problem_at(gaussian_spec(settings, 1 if few else OBSERVATIONS))
    rule = replace(
        gaussian_rule(problem, settings.scale), regularisation=settings.epsilon,
        second_regularisation=settings.delta, printed=settings.printed,
    )  # fmt: skip
    scores: dict[str, Any] = {"left_out": cross_validation(rule)}
    return scores | (_one(problem, rule, settings) if few else _several(problem, settings))


def _one(problem: GaussianProblem, rule: KernelBayes, settings: KernelBayesSettings) -> dict[str, Any]:
    y = np.array(settings.observed)
    sample = rule.posterior(empirical(torch.from_numpy(problem.draws), rule.kernel), torch.from_numpy(y))
    exact = problem.posterior(y)[0]
    entry = {
        "distance": float(np.linalg.norm(sample.expectation(sample.points).numpy() - exact)),
        "negative": sample.negative,
    }
    if problem.spec.dimension > 1:
        return entry
    limit = 3.2 * float(np.sqrt(problem.xx[0, 0]))
    grid = np.linspace(-limit, limit, _POINTS)[:, None]
    lines = {
        "embedding": sample.at(torch.from_numpy(grid)).numpy(),
        "exact": exact_embedding(problem, y, grid, rule.kernel),
    }
    return entry | {"picture": small_lines(grid[:, 0], lines)}


def _several(problem: GaussianProblem, settings: KernelBayesSettings) -> dict[str, Any]:
    result = kernel_means(problem, **settings.rule)["kbr"]
    exact, index = problem.posterior(problem.tests)[0], settings.observation - 1
    coordinates = np.arange(1, problem.spec.dimension + 1)
    return {
        "mse": float(((result - exact) ** 2).sum(1).mean()),
        "distance": float(np.linalg.norm(result[index] - exact[index])),
        "picture": small_lines(coordinates, {"posterior mean": result[index], "exact": exact[index]}),
    }


SWEEP = Study(
    "Kernel Bayes' rule",
    KernelBayesSettings.declared(),
    {
        "left_out": Score("Error of left-out states, in the RKHS", truth=False),
        "mse": Score(f"MSE of the posterior mean, {OBSERVATIONS} observations"),
        "distance": Score("Distance of the posterior mean from the exact one"),
        "negative": Score("Negative weights", ""),
    },
    row,
    setting_s=0.15,
)
