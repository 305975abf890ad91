"""The log evidence of the one-dimensional problem over any two of its hyperparameters, the others as they stand."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from deconditioning.datasets.one_dimension import Line
from deconditioning.errors import Check, InputError, never
from deconditioning.kernels.spec import KernelSpec
from deconditioning.kernels.tiles import evaluate
from deconditioning.models.conditioning import log_evidence
from deconditioning.models.indirect_gp import weights_and_noise
from deconditioning.models.named_model import NamedModel
from deconditioning.models.spec import ModelSpec
from deconditioning.studies.one_dimension.problem import COLUMNS

#: Name (as learning reports it) → range of the picture's axis.
AXES: dict[str, tuple[float, float]] = {
    "k1 lengthscale [x]": (0.1, 10.0),
    "k1 variance": (1e-2, 1e2),
    "ℓ1 lengthscale [y]": (0.1, 10.0),
    "ℓ1 variance": (1e-2, 1e3),
    "regularisation λ": (1e-8, 1.0),
    "noise σ²": (1e-3, 10.0),
}


@dataclass(frozen=True)
class Surface:
    """``values`` (B, A): log evidence at ``first`` (A,) to the right and ``second`` (B,) up; NaN where singular."""

    names: tuple[str, str]
    first: np.ndarray
    second: np.ndarray
    values: np.ndarray

    @property
    def best(self) -> tuple[float, float]:
        """Where on the picture the evidence is largest."""
        row, column = np.unravel_index(int(np.nanargmax(self.values)), self.values.shape)
        return float(self.first[column]), float(self.second[row])


def moved(spec: ModelSpec, name: str, value: float) -> ModelSpec:
    """``spec`` with one hyperparameter changed."""
    if name == "regularisation λ":
        return replace(spec, regularisation=value)
    if name == "noise σ²":
        return replace(spec, noise=value)
    assert spec.mediator_kernel is not None
    if name.startswith("k1"):
        return replace(spec, kernel=_changed(spec.kernel, name, value))
    return replace(spec, mediator_kernel=_changed(spec.mediator_kernel, name, value))


def read(spec: ModelSpec, name: str) -> float:
    """The present value of one hyperparameter."""
    if name == "regularisation λ":
        return spec.regularisation
    if name == "noise σ²":
        return spec.noise
    assert spec.mediator_kernel is not None
    term = (spec.kernel if name.startswith("k1") else spec.mediator_kernel).terms[0]
    return term.scale if "variance" in name else term.factors[0].lengthscales[0]


def _changed(kernel: KernelSpec, name: str, value: float) -> KernelSpec:
    term = kernel.terms[0]
    if "variance" in name:
        return replace(kernel, terms=(replace(term, scale=value),))
    return replace(kernel, terms=(replace(term, factors=(replace(term.factors[0], lengthscales=(value,)),)),))


def evidence_surface(
    line: Line, spec: ModelSpec, first: str, second: str, size: int = 21, *, tied: bool = False, check: Check = never
) -> Surface:
    """The surface on a log-spaced grid of ``size`` × ``size``; K, W and Σ are computed once per value they depend on.

    ``tied`` keeps ``λ = σ²/n`` along the way. Raises ``InputError`` for unknown or equal names.
    """
    for name in (first, second):
        if name not in AXES:
            raise InputError(f"The hyperparameter '{name}' is unknown: choose among {', '.join(AXES)}.")
    if first == second:
        raise InputError(f"Both axes are '{first}': choose two different hyperparameters.")
    grids = [np.geomspace(*AXES[name], size) for name in (first, second)]
    at = _evaluator(line, tied)
    values = np.full((size, size), np.nan)
    for row, upwards in enumerate(grids[1]):
        for column, right in enumerate(grids[0]):
            check()
            values[row, column] = at(moved(moved(spec, first, float(right)), second, float(upwards)))
    return Surface((first, second), grids[0], grids[1], values)


def _evaluator(line: Line, tied: bool) -> Callable[[ModelSpec], float]:
    """Log evidence of a model, its parts remembered; NaN where a matrix is singular."""
    data, x = line.data, line.data.bags.inputs

    @lru_cache(maxsize=64)
    def gram(kernel: KernelSpec) -> Any:
        """k among the points."""
        with torch.no_grad():
            return evaluate(kernel.build(COLUMNS.inputs), x, x)

    @lru_cache(maxsize=64)
    def mediation(model: NamedModel, kernel: KernelSpec, regularisation: float) -> Any:
        """W and the noise of the mediation."""
        bare = ModelSpec(model, kernel, kernel, regularisation, 0.0)
        return weights_and_noise(bare, data, COLUMNS)

    def at(spec: ModelSpec) -> float:
        """The log evidence of ``spec``; NaN where a matrix is singular."""
        lam = spec.noise / len(x) if tied else spec.regularisation
        try:
            weights, unknown = mediation(spec.model, spec.mediator_kernel, lam)
            noise = unknown + spec.noise * torch.eye(len(data.targets), dtype=torch.float64)
            return float(log_evidence(gram(spec.kernel), weights, noise, data.targets - spec.mean * weights.sum(0)))
        except InputError:
            return float("nan")

    return at
