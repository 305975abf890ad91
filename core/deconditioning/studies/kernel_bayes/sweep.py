"""What can be swept of kernel Bayes' rule on the Gaussian problem, and its error at a setting."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from deconditioning.device import one_thread
from deconditioning.embeddings.bayes_rule import KernelBayes, cross_validation
from deconditioning.embeddings.kernel_mean import empirical
from deconditioning.figures.small import small_lines
from deconditioning.studies.kernel_bayes.one_observation import kernel_means
from deconditioning.studies.kernel_bayes.study import (
    GaussianProblem,
    GaussianSpec,
    exact_embedding,
    gaussian_rule,
    lengthscale_of,
    make_gaussian,
)
from deconditioning.studies.sweeping import Score, Setting, Settings, Study

#: Dimensions in which one chosen observation is answered; in more, so many observations are.
FEW, OBSERVATIONS = 2, 50
#: Points of a small picture.
POINTS = 60


@lru_cache(maxsize=4)
def problem_at(spec: GaussianSpec) -> GaussianProblem:
    """The drawn problem, kept while only the rule moves."""
    return make_gaussian(spec)


@one_thread()
def row(given: Settings) -> dict[str, Any]:
    """Error of the posterior mean against the exact one, that of left-out states, and the posterior."""
    few = given["dimension"] <= FEW
    spec = GaussianSpec(given["dimension"], given["pairs"], given["prior"], 1 if few else OBSERVATIONS, given["seed"])
    problem = problem_at(spec)
    rule = replace(
        gaussian_rule(problem, given["scale"]), regularisation=given["epsilon"],
        second_regularisation=given["delta"], printed=given["prior_weights"] == "n",
    )  # fmt: skip
    told: dict[str, Any] = {"left_out": cross_validation(rule)}
    return told | (_one(problem, rule, given) if few else _several(problem, given))


def _one(problem: GaussianProblem, rule: KernelBayes, given: Settings) -> dict[str, Any]:
    y = np.array([given["y1"], given["y2"]][: problem.spec.dimension], dtype=float)
    sample = rule.posterior(empirical(torch.from_numpy(problem.draws), rule.kernel), torch.from_numpy(y))
    exact = problem.posterior(y)[0]
    told = {
        "distance": float(np.linalg.norm(sample.expectation(sample.points).numpy() - exact)),
        "negative": sample.negative,
    }
    if problem.spec.dimension > 1:
        return told
    reach = 3.2 * float(np.sqrt(problem.xx[0, 0]))
    grid = np.linspace(-reach, reach, POINTS)[:, None]
    lines = {
        "embedding": sample.at(torch.from_numpy(grid)).numpy(),
        "exact": exact_embedding(problem, y, grid, lengthscale_of(rule.kernel)),
    }
    return told | {"picture": small_lines(grid[:, 0], lines)}


def _several(problem: GaussianProblem, given: Settings) -> dict[str, Any]:
    numbers, printed = {name: given[name] for name in ("scale", "epsilon", "delta")}, given["prior_weights"] == "n"
    found = kernel_means(problem, **numbers, printed=printed)["kbr"]
    exact, index = problem.posterior(problem.tests)[0], given["observation"] - 1
    coordinates = np.arange(1, problem.spec.dimension + 1)
    return {
        "mse": float(((found - exact) ** 2).sum(1).mean()),
        "distance": float(np.linalg.norm(found[index] - exact[index])),
        "picture": small_lines(coordinates, {"posterior mean": found[index], "exact": exact[index]}),
    }


SWEEP = Study(
    "Kernel Bayes' rule",
    {
        "dimension": Setting("Dimension", 6),
        "pairs": Setting("Pairs (X, Y)", 200, 10, 500, whole=True, draws=True),
        "prior": Setting("Draws of the prior", 200, 10, 500, whole=True, draws=True),
        "seed": Setting("Seed", 26),
        "observation": Setting("Observation", 5),
        "y1": Setting("Observed y₁", 4.0, -8.0, 8.0, log=False, only={"dimension": (1, 2)}),
        "y2": Setting("Observed y₂", 4.0, -8.0, 8.0, log=False, only={"dimension": (2,)}),
        "scale": Setting("Lengthscales, in median distances", 1.0, 0.05, 5.0),
        "epsilon": Setting("ε", 5e-5, 1e-8, 1.0),
        "delta": Setting("δ", 1e-4, 1e-10, 1.0),
        "prior_weights": Setting("Prior's weights μ̂, 'one' or 'n'", "one"),
    },
    {
        "left_out": Score("Error of left-out states, in the kernel's space", truth=False),
        "mse": Score(f"MSE of the posterior mean, {OBSERVATIONS} observations"),
        "distance": Score("Distance of the posterior mean from the exact one"),
        "negative": Score("Negative weights", ""),
    },
    row,
    setting_s=0.15,
)
