"""What can be swept of the kernel Bayes filter on a rotating point, and its errors at a setting."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.figures.small_multiples import small_lines
from deconditioning.filtering.systems import RotationSystem
from deconditioning.studies.filtering.study import (
    FilterProblem,
    FilterSettings,
    follow,
    rotation_problem,
    validation_error,
)
from deconditioning.studies.sweeping import Setting, Settings, Study
from deconditioning.sweeps import Score

#: Steps of a small picture.
STEPS = 60
#: Systems (a) and (b) have their own numbers.
OWN = {"system": ("own",)}


@lru_cache(maxsize=4)
def problem_at(system: RotationSystem, train: int, test: int, seed: int) -> FilterProblem:
    """Both series, kept while only the filter moves; no other filters."""
    return replace(rotation_problem(system, train, test, seed), others={})


def system_at(given: Settings) -> RotationSystem:
    """System (a), (b), or one's own."""
    if given["system"] != "own":
        return RotationSystem.named(str(given["system"]), str(given["generator"]))
    eta, b, waves, hidden, seen = (float(given[name]) for name in ("eta", "b", "waves", "state_noise", "look_noise"))
    return RotationSystem(eta, b, waves, hidden, seen, str(given["generator"]))


def row(given: Settings) -> dict[str, Any]:
    """Error on the second half of the training steps, on the series that is followed, and the first coordinate."""
    problem = problem_at(system_at(given), given["train"], given["test"], given["seed"])
    settings = FilterSettings(given["scale"], given["regularisation"], given["tolerance"])
    found = follow(problem, settings)
    told: dict[str, Any] = {"mse": found.errors["kbr"], "ms": 1000 * found.seconds["kbr"]}
    try:
        told["validation"] = validation_error(problem, settings)
    except InputError:
        told["validation"] = None  # too few steps to be halved
    steps = np.arange(1, min(STEPS, len(found.truth)) + 1)
    lines = {"filter": found.means["kbr"][: len(steps), 0], "truth": found.truth[: len(steps), 0]}
    return told | {"picture": small_lines(steps, lines)}


SWEEP = Study(
    "Filtering",
    {
        "system": Setting("System", "a"),
        "generator": Setting("Next angle, 'M' or 'D'", "M"),
        "train": Setting("Training steps T", 200, 20, 800, whole=True, draws=True),
        "test": Setting("Steps to track", 150),
        "seed": Setting("Seed", 0),
        "eta": Setting("η, turn per step", 0.3, 0.0, 1.5, log=False, draws=True, only=OWN),
        "b": Setting("b, depth of the waves", 0.4, 0.0, 0.9, log=False, draws=True, only=OWN),
        "waves": Setting("M, waves", 8, 1, 12, log=False, whole=True, draws=True, only=OWN),
        "state_noise": Setting("Noise of the state (sd)", 0.2, 0.0, 1.0, log=False, draws=True, only=OWN),
        "look_noise": Setting("Observation noise (sd)", 0.2, 0.05, 1.0, log=False, draws=True, only=OWN),
        "tolerance": Setting("Trace dropped by the low-rank factors", 1e-4, 1e-10, 1e-2),
        "scale": Setting("β, lengthscale in median distances", 0.7, 0.1, 3.0),
        "regularisation": Setting("ε, δ = 2ε", 1e-4, 1e-7, 1e-1),
    },
    {
        "validation": Score("MSE on the second half of the training steps", truth=False),
        "mse": Score("MSE on the test series"),
        "ms": Score("CPU time per step, ms", ""),
    },
    row,
    setting_s=0.13,
)
