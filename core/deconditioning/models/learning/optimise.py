"""Minimisation of a loss over a parameter vector by L-BFGS with restarts or by Adam, with trace and cancellation."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor

from deconditioning.errors import Cancelled, InputError
from deconditioning.models.learning.parameters import ParameterVector

_Loss = Callable[[], Tensor]
Report = Callable[[dict[str, Any]], None]

#: Loss reported to the line search where a matrix is singular.
_REFUSED = 1e10


@dataclass(frozen=True)
class Optimum:
    """The best point found: ``vector`` of logarithms, its ``loss``, number of evaluations, whether cancelled."""

    vector: np.ndarray
    loss: float
    evaluations: int
    restart_losses: tuple[float, ...]
    cancelled: bool


@dataclass
class _Search:
    """Evaluates, keeps the best point and reports every evaluation."""

    loss: _Loss
    vector: ParameterVector
    report: Report
    total: int
    best_loss: float = math.inf
    best: np.ndarray | None = None
    evaluations: int = 0
    restart: int = 0

    def evaluate(self, point: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss at a point (n,) and its gradient (n,)."""
        self.vector.set(point)
        self.vector.clear_gradient()
        self.evaluations += 1
        try:
            value = self.loss()
            value.backward()
        except InputError:
            return _REFUSED, np.zeros_like(point)
        number, gradient = float(value.detach()), self.vector.gradient()
        if not (math.isfinite(number) and np.isfinite(gradient).all()):
            return _REFUSED, np.zeros_like(point)
        if number < self.best_loss:
            self.best_loss, self.best = number, self.vector.get()
        self.report(
            {
                "evaluation": self.evaluations,
                "total": self.total,
                "restart": self.restart,
                "loss": number,
                "best_loss": self.best_loss,
                "hyperparameters": self.vector.values(),
            }
        )
        return number, gradient


def _starts(vector: ParameterVector, restarts: int, rng: np.random.Generator) -> list[np.ndarray]:
    """The given start, then log-normal perturbations of it (a factor of about 3 either way), inside the bounds."""
    first = vector.get()
    low, high = (np.array(side) for side in zip(*vector.bounds, strict=True))
    moves = [rng.normal(0, 1.1, first.shape) for _ in range(restarts - 1)]
    others = [first + move * vector.logarithms for move in moves]
    return [np.clip(start, low, high) for start in (first, *others)]


def _lbfgs(search: _Search, start: np.ndarray, steps: int) -> float:
    options = {"maxiter": steps, "maxfun": 2 * steps, "ftol": 1e-9, "gtol": 1e-6}
    result = minimize(search.evaluate, start, jac=True, method="L-BFGS-B", bounds=search.vector.bounds, options=options)
    return float(result.fun)


def _adam(search: _Search, start: np.ndarray, steps: int, rate: float = 0.1) -> float:
    low, high = (torch.tensor(side, dtype=torch.float64) for side in zip(*search.vector.bounds, strict=True))
    point = torch.tensor(start, requires_grad=True)
    optimiser = torch.optim.Adam([point], lr=rate)
    value = math.inf
    for _ in range(steps):
        value, gradient = search.evaluate(point.detach().numpy())
        point.grad = torch.as_tensor(gradient)
        optimiser.step()
        with torch.no_grad():
            point.clamp_(low, high)
    return value


def minimise(
    loss: _Loss,
    vector: ParameterVector,
    *,
    method: str = "lbfgs",
    restarts: int = 3,
    steps: int = 40,
    seed: int = 0,
    report: Report = lambda event: None,
) -> Optimum:
    """Minimise ``loss`` over ``vector``, which is left at the best point found.

    ``method`` is "lbfgs" (bounded, ``restarts`` starts of at most ``steps`` iterations) or "adam" (rate 0.1, one start,
    as Chau et al. 2021). ``Cancelled`` raised inside the loss or the report ends the search with the best so far;
    ``InputError`` is raised if no point could be evaluated.
    """
    if method not in ("lbfgs", "adam"):
        raise InputError(f"The optimiser '{method}' is unknown: choose lbfgs or adam.")
    if not vector.names:
        raise InputError(
            "There is nothing to learn: the kernel has no hyperparameters and the noise variances are fixed. Add a "
            "term with lengthscales, let a noise variance be learned, or skip learning."
        )
    count = restarts if method == "lbfgs" else 1
    search = _Search(loss, vector, report, total=count * steps)
    losses: list[float] = []
    cancelled = False
    try:
        for search.restart, start in enumerate(_starts(vector, count, np.random.default_rng(seed))):
            losses.append(_lbfgs(search, start, steps) if method == "lbfgs" else _adam(search, start, steps))
    except Cancelled:
        cancelled = True
    if search.best is None:
        if cancelled:
            search.best = vector.get()
        else:
            raise InputError(
                "No starting point gave a positive definite covariance: raise the noise or the regularisation."
            )
    vector.set(search.best)
    return Optimum(search.best, search.best_loss, search.evaluations, tuple(losses), cancelled)
