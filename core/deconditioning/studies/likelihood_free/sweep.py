"""What can be swept of likelihood-free inference, and what a posterior is worth at a setting."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from deconditioning.errors import InputError
from deconditioning.figures.small_multiples import small_lines
from deconditioning.likelihood_free.inference import METHODS
from deconditioning.likelihood_free.inference import Settings as Kernels
from deconditioning.likelihood_free.objective import Guards, find_guards, learn, log_q_bar
from deconditioning.likelihood_free.simulators import (
    Problem,
    Simulations,
    exponential_gamma,
    gaussian,
    lotka_volterra,
    simulate,
)
from deconditioning.studies.likelihood_free.study import PROBLEMS, Inference, infer, rows_of
from deconditioning.studies.sweeping import Setting, Settings, Study
from deconditioning.sweeps import Score

#: What q̄ sets unless one of them is swept.
HYPERPARAMETERS = ("epsilon", "length", "kernel_scale", "regularisation", "second_regularisation")
#: Levels of the quantiles in a small picture.
LEVELS = np.linspace(0.02, 0.98, 49)
#: Problem → the settings that are its own.
NUMBERS = dict(
    zip(PROBLEMS, (("observed", "shape", "rate"), ("dimension", "noise", "sd"), ("low", "high")), strict=True)
)
_GAMMA, _NORMAL, PREDATORS = ({"problem": (name,)} for name in PROBLEMS)


def _problem(name: str, numbers: tuple[float, ...]) -> Problem:
    if name == PROBLEMS[0]:
        return exponential_gamma(numbers[0], shape=numbers[1], rate=numbers[2])
    if name == PROBLEMS[1]:
        return gaussian(int(numbers[0]), noise=numbers[1], prior_sd=numbers[2])
    return lotka_volterra(box=(numbers[0], numbers[1]))


@lru_cache(maxsize=4)
def _simulated(name: str, numbers: tuple[float, ...], count: int, seed: int) -> tuple[Problem, Simulations, Guards]:
    problem = _problem(name, numbers)
    simulations = simulate(problem, count, seed)
    return problem, simulations, find_guards(simulations, problem.observed)


@lru_cache(maxsize=4)
def _learned(name: str, numbers: tuple[float, ...], count: int, seed: int) -> Kernels:
    problem, simulations, _ = _simulated(name, numbers, count, seed)
    return learn(problem.prior, simulations, problem.observed, seed=seed).settings


def _asked(given: Settings) -> tuple[str, tuple[float, ...], int, int]:
    """What is simulated: the problem, its numbers, how often, the seed."""
    name = str(given["problem"])
    if name not in NUMBERS:
        raise InputError(f"The problem '{name}' is unknown: choose among {', '.join(PROBLEMS)}.")
    return name, tuple(float(given[number]) for number in NUMBERS[name]), given["simulations"], given["seed"]


def row(given: Settings) -> dict[str, Any]:
    """log q̄, the posterior mean's and interval's errors where the posterior is known, and its quantiles."""
    asked, seed, method = _asked(given), given["seed"], str(given["method"])
    problem, simulations, guards = _simulated(*asked)
    if given["by_q"]:
        kernels = _learned(*asked)
    else:
        lengths = tuple(given["length"] * float(value) for value in guards.spread)
        kernels = Kernels(given["epsilon"], lengths, *(float(given[name]) for name in HYPERPARAMETERS[2:]))
    found = infer(problem, simulations, seed=seed, settings=kernels, methods=(method,))
    if method not in found.answers:
        raise InputError(found.refused.get(method, f"The method is unknown: choose among {', '.join(METHODS)}."))
    scores = next(each["scores"] for each in rows_of(found, seed) if each["model"] == method)
    told = {name: scores[name] for name in SWEEP.scores if name in scores}
    return told | {"log_q": _log_q(found), "picture": _quantiles(found, method)}


def _log_q(found: Inference) -> float:
    kernels = found.settings
    lengths = torch.tensor(kernels.lengthscales, dtype=torch.float64)
    width = torch.tensor([kernels.epsilon], dtype=torch.float64)
    with torch.no_grad():
        return float(log_q_bar(found.seen, lengths, kernels.regularisation, width)[0])


def _quantiles(found: Inference, method: str) -> dict[str, Any]:
    """Quantiles of the first parameter: of the herded samples, and exact ones where they are known."""
    lines = {"samples": np.quantile(found.answers[method].samples[:, 0], LEVELS)}
    if found.exact is not None:
        lines["exact"] = np.asarray(found.exact.marginals[0].ppf(LEVELS), dtype=float)
    return small_lines(LEVELS, lines)


def by_hand(given: Settings, names: Sequence[str]) -> Settings:
    """Hyperparameters no longer follow q̄ where one of them is swept."""
    return given | {"by_q": given["by_q"] and not set(names) & set(HYPERPARAMETERS)}


SWEEP = Study(
    "Likelihood-free inference",
    {
        "problem": Setting("Simulator", PROBLEMS[0]),
        "simulations": Setting("Simulations", 100, 20, 2000, whole=True, draws=True),
        "seed": Setting("Seed", 0),
        "observed": Setting("Observed mean", 9.42, 1.25, 75.0, only=_GAMMA, draws=True),
        "shape": Setting("Prior: shape", 0.1, 0.01, 100.0, only=_GAMMA, draws=True),
        "rate": Setting("Prior: rate", 0.1, 0.01, 100.0, only=_GAMMA, draws=True),
        "dimension": Setting("Parameters", 2, 1, 5, log=False, whole=True, only=_NORMAL, draws=True),
        "noise": Setting("Noise σ of the simulator", 0.5, 0.05, 2.0, only=_NORMAL, draws=True),
        "sd": Setting("Prior: sd", 1.0, 0.1, 5.0, only=_NORMAL, draws=True),
        "low": Setting("Prior: log θ from", -5.0, only=PREDATORS),
        "high": Setting("Prior: log θ to", 2.0, only=PREDATORS),
        "method": Setting("Samples of", METHODS[0]),
        "by_q": Setting("Hyperparameters from q̄", True),
        "epsilon": Setting("ε, of the ε-kernel", 0.1, 0.01, 10.0),
        "length": Setting("ℓ, in sd of near parameters", 1.0, 0.1, 10.0),
        "kernel_scale": Setting("k", 0.1, 0.01, 10.0),
        "regularisation": Setting("λ", 1e-3, 1e-8, 1.0),
        "second_regularisation": Setting("δ", 1e-3, 1e-6, 1.0),
    },
    {
        "log_q": Score("log q̄, the approximate evidence", "more", truth=False),
        "error": Score("Error of the posterior mean"),
        "width": Score("Width of the 95 % interval, relative to the exact one", ""),
        "covers": Score("Intervals that contain the exact mean", ""),
    },
    row,
    by_hand,
    setting_s=0.1,
)
