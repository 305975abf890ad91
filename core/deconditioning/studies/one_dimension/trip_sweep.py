"""What can be swept of f's way there and back, and what is lost on it at a setting."""

from typing import Any

import numpy as np

from deconditioning.figures.small_multiples import small_lines
from deconditioning.studies.one_dimension.round_trip import Operators, drawn_function, round_trip
from deconditioning.studies.one_dimension.settings import TripSettings
from deconditioning.studies.one_dimension.sweep import THIN, further_parameters, kernel_at, line_at
from deconditioning.studies.sweeping import Study
from deconditioning.sweeps import Score


def row(values: dict[str, Any]) -> dict[str, Any]:
    """The share of f's variance that comes back, the RMSEs of f and of its conditional mean, f and what came back."""
    line, k = line_at(values), kernel_at(values, "k", "x")
    operators = Operators(
        line, k, kernel_at(values, "l", "y"), values["regularisation"], values["second_regularisation"]
    )  # fmt: skip
    usual = (line.spec.f(line.inputs.numpy()), line.truth.numpy())
    result = round_trip(operators, *(drawn_function(line, k, values["draw"]) if values["drawn"] else usual))
    spread = max(float(np.std(result.function)), 1e-300)
    return {
        "lost": result.lost,
        "lost_again": result.lost_again,
        "comes_back": 1 - (result.lost / spread) ** 2,
        "picture": small_lines(
            line.grid.numpy()[::THIN], {"there and back": result.back[::THIN], "truth": result.function[::THIN]}
        ),
    }


SWEEP = Study(
    "One dimension: there and back",
    TripSettings.declared() | further_parameters(TripSettings, "t"),
    {
        "lost": Score("RMSE of f, there and back"),
        "lost_again": Score("RMSE of its conditional mean, conditioned again"),
        "comes_back": Score("Share of the variance of f that is recovered", "more"),
    },
    row,
)
