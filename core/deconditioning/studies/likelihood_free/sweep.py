"""What can be swept of likelihood-free inference, and what a posterior is worth at a setting."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from deconditioning.errors import InputError
from deconditioning.figures.small_multiples import small_lines
from deconditioning.likelihood_free.inference import Settings as Kernels
from deconditioning.likelihood_free.objective import Guards, find_guards, learn, log_q_bar
from deconditioning.likelihood_free.simulators import Problem, Simulations, simulate
from deconditioning.studies.likelihood_free.settings import KernelSettings, SweptSettings
from deconditioning.studies.likelihood_free.study import Inference, infer, kernels_at, numbers_of, problem_at, rows_of
from deconditioning.studies.sweeping import Study
from deconditioning.sweeps import Score

#: What q̄ sets unless one of them is swept.
HYPERPARAMETERS = tuple(KernelSettings.declared())
#: Levels of the quantiles in a small picture.
_LEVELS = np.linspace(0.02, 0.98, 49)


@lru_cache(maxsize=4)
def _simulated(name: str, numbers: tuple[float, ...], count: int, seed: int) -> tuple[Problem, Simulations, Guards]:
    problem = problem_at(name, numbers)
    simulations = simulate(problem, count, seed)
    return problem, simulations, find_guards(simulations, problem.observed)


@lru_cache(maxsize=4)
def _learned(name: str, numbers: tuple[float, ...], count: int, seed: int) -> Kernels:
    problem, simulations, _ = _simulated(name, numbers, count, seed)
    return learn(problem.prior, simulations, problem.observed, seed=seed).settings


def _simulation_key(settings: SweptSettings) -> tuple[str, tuple[float, ...], int, int]:
    """What is simulated: the problem, its numbers, how often, the seed."""
    return settings.problem, numbers_of(settings), settings.simulations, settings.seed


def row(values: dict[str, Any]) -> dict[str, Any]:
    """log q̄, the posterior mean's and interval's errors where the posterior is known, and its quantiles."""
    settings = SweptSettings(**values)
    requested, seed, method = _simulation_key(settings), settings.seed, settings.method
    problem, simulations, guards = _simulated(*requested)
    kernels = _learned(*requested) if settings.by_q else kernels_at(settings, guards)
    inference = infer(problem, simulations, seed=seed, settings=kernels, methods=(method,))
    if method not in inference.answers:
        raise InputError(inference.refused[method])
    scores = next(each["scores"] for each in rows_of(inference, seed) if each["model"] == method)
    entry = {name: scores[name] for name in SWEEP.scores if name in scores}
    return entry | {"log_q": _log_q(inference), "picture": _quantiles(inference, method)}


def _log_q(inference: Inference) -> float:
    kernels = inference.settings
    lengths = torch.tensor(kernels.lengthscales, dtype=torch.float64)
    width = torch.tensor([kernels.epsilon], dtype=torch.float64)
    with torch.no_grad():
        return float(log_q_bar(inference.data, lengths, kernels.regularisation, width)[0])


def _quantiles(inference: Inference, method: str) -> dict[str, Any]:
    """Quantiles of the first parameter: of the herded samples, and exact ones where they are known."""
    lines = {"samples": np.quantile(inference.answers[method].samples[:, 0], _LEVELS)}
    if inference.exact is not None:
        lines["exact"] = np.asarray(inference.exact.marginals[0].ppf(_LEVELS), dtype=float)
    return small_lines(_LEVELS, lines)


def _by_hand(values: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Hyperparameters no longer follow q̄ where one of them is swept."""
    return values | {"by_q": values["by_q"] and not set(names) & set(HYPERPARAMETERS)}


SWEEP = Study(
    "Likelihood-free inference",
    SweptSettings.declared(),
    {
        "log_q": Score("log q̄, the approximate evidence", "more", truth=False),
        "error": Score("Error of the posterior mean"),
        "width": Score("Width of the 95 % interval, relative to the exact one", ""),
        "covers": Score("Intervals that contain the exact mean", ""),
    },
    row,
    _by_hand,
    setting_s=0.1,
)
