"""Two tables that never meet, and the mediator between them: what one value of the mediator says of both.

The problem is that of page One dimension (Hsu and Ramos 2019, §8.1), with its hyperparameters on opening.
"""

from dataclasses import dataclass

import numpy as np
import torch

from deconditioning.datasets.one_dimension import Line, LineSpec, make_line
from deconditioning.device import one_thread
from deconditioning.kernels.spec import Factor, KernelSpec, Term, gaussian
from deconditioning.models.catalogue import TASK_TRANSFORMED_GP
from deconditioning.models.spec import ModelSpec
from deconditioning.studies.one_dimension.problem import COLUMNS, LineFit, condition_line, on_grid
from deconditioning.studies.one_dimension.round_trip import Operators, RoundTrip, round_trip

#: Lengthscale and variance of k and ℓ, λ and σ² with which page One dimension opens.
KERNEL, MEDIATOR_KERNEL, REGULARISATION, NOISE = ((1.0,), 2.1), ((0.4,), 2.0), 1e-3, 0.2
#: Of its view There and back: lengthscales of k (Gaussian) and ℓ (Matérn ½) and λ with which it opens, and a smaller ε.
_TRIP_KERNEL, _TRIP_MEDIATOR, _TRIP_LAMBDA, TRIP_EPSILON = ((0.8,), 1.0), 0.5, 1e-6, 1e-5
#: Half-width of what counts as near a value of the mediator, in its units.
NEAR = 0.25


@dataclass(frozen=True)
class Link:
    """What both tables say near one value of the mediator: mean ``input`` and mean ``outcome`` of so many rows."""

    input: float
    outcome: float
    rows: tuple[int, int]


def link_at(line: Line, mediator: float) -> Link:
    """Means over the rows whose mediator is within `NEAR`, NaN where a table has none there."""
    sides = ((line.mediators, line.inputs), (line.query, line.targets))
    result = [values[(at - mediator).abs() <= NEAR].numpy() for at, values in sides]
    means = [float(values.mean()) if len(values) else float("nan") for values in result]
    return Link(means[0], means[1], (len(result[0]), len(result[1])))


@one_thread()
def deconditioned(line: Line) -> LineFit:
    """The hidden function from both tables, by the task-transformed process with the page's hyperparameters."""
    spec = ModelSpec(
        TASK_TRANSFORMED_GP,
        gaussian(COLUMNS.inputs, *KERNEL),
        gaussian(COLUMNS.mediators, *MEDIATOR_KERNEL),
        REGULARISATION,
        NOISE,
    )
    return on_grid(line, condition_line(line, spec), spec)


def read_at(line: Line, values: torch.Tensor, at: float) -> float:
    """A function on the line's grid, read at one input."""
    return float(np.interp(at, line.grid.numpy(), values.numpy()))


@one_thread()
def there_and_back(averages: int) -> tuple[Line, RoundTrip]:
    """The hidden function conditioned on the mediator at so many of its values, and deconditioned from there."""
    line = make_line(LineSpec(m=averages))
    ell = KernelSpec((Term((Factor("matern12", COLUMNS.mediators, (_TRIP_MEDIATOR,)),), 1.0),))
    operators = Operators(line, gaussian(COLUMNS.inputs, *_TRIP_KERNEL), ell, _TRIP_LAMBDA, TRIP_EPSILON)
    return line, round_trip(operators, line.spec.f(line.inputs.numpy()), line.truth.numpy())


def share_back(trip: RoundTrip) -> float:
    """Share of the function's variance that comes back, ``1 − MSE/Var``; none if it is off by more than that."""
    return max(0.0, 1 - trip.lost**2 / float(trip.function.var()))
