"""What can be swept of the kernel Bayes filter on a rotating point, and its errors at a setting."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.figures.small_multiples import small_lines
from deconditioning.filtering.systems import RotationSystem
from deconditioning.studies.filtering.settings import SweptSettings
from deconditioning.studies.filtering.study import (
    FilterProblem,
    FilterSettings,
    follow,
    rotation_problem,
    system_of,
    validation_error,
)
from deconditioning.studies.sweeping import Study
from deconditioning.sweeps import Score

#: Steps of a small picture.
_STEPS = 60


@lru_cache(maxsize=4)
def _problem_at(system: RotationSystem, train: int, test: int, seed: int) -> FilterProblem:
    """Both series, kept while only the filter moves; no other filters."""
    return replace(rotation_problem(system, train, test, seed), others={})


def _settings_at(values: dict[str, Any]) -> tuple[FilterProblem, FilterSettings]:
    """The series and the filter of these settings."""
    settings = SweptSettings(**values)
    problem = _problem_at(system_of(settings), settings.train, settings.test, settings.seed)
    return problem, FilterSettings(settings.scale, settings.regularisation, settings.tolerance)


def row(values: dict[str, Any]) -> dict[str, Any]:
    """Error on the second half of the training steps, on the series that is followed, and the first coordinate."""
    problem, settings = _settings_at(values)
    result = follow(problem, settings)
    entry: dict[str, Any] = {"mse": result.errors["kbr"], "ms": 1000 * result.seconds["kbr"]}
    try:
        entry["validation"] = validation_error(problem, settings)
    except InputError:
        entry["validation"] = None  # too few steps to be halved
    steps = np.arange(1, min(_STEPS, len(result.truth)) + 1)
    lines = {"filter": result.means["kbr"][: len(steps), 0], "truth": result.truth[: len(steps), 0]}
    return entry | {"picture": small_lines(steps, lines)}


SWEEP = Study(
    "Filtering",
    SweptSettings.declared(),
    {
        "validation": Score("MSE on the second half of the training steps", truth=False),
        "mse": Score("MSE on the test series"),
        "ms": Score("CPU time per step, ms", ""),
    },
    row,
    setting_s=0.13,
)
