"""Few points that represent many data: the task-transformed GP with X = Y and trainable points.

The n points u take the place of both x and y: ``A = (L + σ²I)⁻¹ ℓ(u, ỹ)`` distributes every datum over them, and
evidence and posterior need only n×n matrices: O(n³ + m n²). Source: Hsu and Ramos 2019, §8.2.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from deconditioning import linalg
from deconditioning.errors import Check, InputError, never
from deconditioning.kernels.spec import KernelSpec
from deconditioning.kernels.tiles import diagonal, evaluate
from deconditioning.models.learning.optimise import Report, minimise
from deconditioning.models.learning.parameters import (
    NOISE,
    ParameterVector,
    kernel_parameters,
    log_parameter,
    plain_parameter,
)
from deconditioning.models.task_transformed import ReducedPosterior, TaskMoments, reduced_posterior

#: Data read at a time; what is kept of them is n×n.
_CHUNK = 8192
#: How far a point may travel from the data, in units of the largest coordinate.
_REACH = 1.5


@dataclass(frozen=True)
class SparseRepresentation:
    """The model as data.

    Parameters
    ----------
    locations : u, n rows.  columns : names of their coordinates, which both kernels refer to.
    kernel, mediator_kernel : ``k`` of f and ``ℓ`` of g; None shares k: with X = Y, f and g are one function, and with
        two kernels f between the points is not what the data saw.  noise : σ², which is also stage one's ``nλ``.
    """

    locations: tuple[tuple[float, ...], ...]
    columns: tuple[str, ...]
    kernel: KernelSpec
    mediator_kernel: KernelSpec | None = None
    noise: float = 0.01

    def __post_init__(self) -> None:
        if not self.locations:
            raise InputError("A sparse representation needs at least one point.")
        if not self.noise > 0:
            raise InputError(f"The noise σ² is {self.noise}: a sparse representation needs a positive one.")


@dataclass(frozen=True)
class SparsePosteriorMean:
    """The posterior of f, read anywhere; ``evidence`` is ``log N(z̃; 0, AᵀKA + σ²I)``."""

    spec: SparseRepresentation
    reduced: ReducedPosterior
    evidence: float
    device: torch.device

    def _cross(self, inputs: Tensor) -> tuple[gpytorch.kernels.Kernel, Tensor]:
        kernel = self.spec.kernel.build(self.spec.columns).to(self.device)
        return kernel, evaluate(kernel, _points(self.spec, self.device), inputs)

    def mean(self, inputs: Float[Tensor, "P d"]) -> Float[Tensor, " P"]:
        """``k(x, u) α``."""
        with torch.no_grad():
            return torch.cat([self.reduced.mean(self._cross(x)[1]) for x in inputs.split(_CHUNK)])

    def variance(self, inputs: Float[Tensor, "P d"]) -> Float[Tensor, " P"]:
        """``k(x, x) − k(x, u) R k(u, x)``."""
        parts = []
        with torch.no_grad():
            for x in inputs.split(_CHUNK):
                kernel, cross = self._cross(x)
                parts.append(self.reduced.variance(cross, diagonal(kernel, x)))
        return torch.cat(parts)


def sparse_moments(
    kernel: gpytorch.kernels.Kernel,
    locations: Float[Tensor, "n d"],
    inputs: Float[Tensor, "m d"],
    targets: Float[Tensor, " m"],
    noise: float | Tensor,
    *,
    chunk: int = _CHUNK,
    check: Check = never,
) -> TaskMoments:
    """``AAᵀ``, ``Az̃`` and ``z̃ᵀz̃``, differentiable, with memory for one chunk of data whatever m is.

    ``Σ ℓ(u, ỹ)ℓ(ỹ, u)`` is summed chunk by chunk and, if there are several, recomputed on the way back;
    ``M = L + σ²I`` is solved against it.
    """
    chunks = list(zip(inputs.split(chunk), targets.split(chunk), strict=True))
    recomputed = len(chunks) > 1 and torch.is_grad_enabled()
    second, cross = locations.new_zeros(len(locations), len(locations)), locations.new_zeros(len(locations))
    for at, values in chunks:
        check()
        if recomputed:
            part = checkpoint(_chunk_moments, kernel, locations, at, values, use_reentrant=False)
        else:  # without `checkpoint`, which imports torch._dynamo
            part = _chunk_moments(kernel, locations, at, values)
        second, cross = second + part[0], cross + part[1]
    identity = linalg.identity(len(locations), locations)
    factor = linalg.cholesky(evaluate(kernel, locations, locations) + noise * identity, "kernel matrix of the points")
    half = factor.solve(second)
    return TaskMoments(factor.solve(half.T), factor.solve(cross), targets.square().sum(), len(targets))


def _chunk_moments(kernel: gpytorch.kernels.Kernel, locations: Tensor, at: Tensor, values: Tensor) -> Any:
    ell = evaluate(kernel, locations, at)
    return ell @ ell.T, ell @ values


def _points(spec: SparseRepresentation, device: torch.device) -> Tensor:
    return torch.tensor(spec.locations, dtype=torch.float64, device=device)


def sparse_posterior(
    spec: SparseRepresentation, inputs: Float[Tensor, "m d"], targets: Float[Tensor, " m"], check: Check = never
) -> SparsePosteriorMean:
    """The posterior at given points and hyperparameters; ``InputError`` for wrong shapes or a singular matrix."""
    _refuse(spec, inputs, targets)
    device = targets.device
    at = _points(spec, device)
    with torch.no_grad():
        k, ell = _kernels(spec, device)
        moments = sparse_moments(ell, at, inputs, targets, spec.noise, check=check)
        gram = evaluate(k, at, at)
        reduced, evidence = reduced_posterior(gram, moments, spec.noise)
    return SparsePosteriorMean(spec, reduced, float(evidence), device)


def _kernels(
    spec: SparseRepresentation, device: torch.device
) -> tuple[gpytorch.kernels.Kernel, gpytorch.kernels.Kernel]:
    k = spec.kernel.build(spec.columns).to(device)
    return k, k if spec.mediator_kernel is None else spec.mediator_kernel.build(spec.columns).to(device)


def _refuse(spec: SparseRepresentation, inputs: Tensor, targets: Tensor) -> None:
    if inputs.ndim != 2 or inputs.shape[1] != len(spec.columns) or len(inputs) != len(targets):
        raise InputError(
            f"`inputs` has shape {tuple(inputs.shape)}, `targets` {tuple(targets.shape)}: give one row of "
            f"{len(spec.columns)} coordinates per target."
        )
    if not bool(torch.isfinite(inputs).all() and torch.isfinite(targets).all()):
        raise InputError("`inputs` or `targets` contain missing or infinite values: remove those rows first.")


@dataclass(frozen=True)
class SparseLearned:
    """Result of learning: the new ``spec``, its log evidence, whether it was cancelled, and parameters at bounds in
    words.
    """

    spec: SparseRepresentation
    evidence: float
    cancelled: bool
    warnings: tuple[str, ...]


def sparse_objective(
    spec: SparseRepresentation,
    inputs: Tensor,
    targets: Tensor,
    *,
    hyperparameters: bool = True,
    check: Check = never,
) -> tuple[Any, ParameterVector, Any]:
    """Minus the log evidence per datum, what it may move, and the spec at the present values.

    The points always move; ``hyperparameters`` False keeps k, ℓ and σ² as they are.
    """
    device = targets.device
    k, ell = _kernels(spec, device)
    points, noise = _points(spec, device).requires_grad_(True), log_parameter("noise σ²", spec.noise, NOISE, device)
    limit = _REACH * max(float(inputs.abs().max()), 1e-6)
    places = plain_parameter("point coordinate", points, limit)
    moving = [places]
    if hyperparameters:
        of_g = [] if spec.mediator_kernel is None else kernel_parameters("ℓ", spec.mediator_kernel, ell)
        moving = [*kernel_parameters("k", spec.kernel, k), *of_g, noise, places]

    def loss() -> Tensor:
        """Minus the log evidence per datum at the present parameters."""
        value = noise.raw.exp()
        moments = sparse_moments(ell, points, inputs, targets, value, check=check)
        return -reduced_posterior(evaluate(k, points, points), moments, value)[1] / len(targets)

    def now() -> SparseRepresentation:
        """The spec at the present parameters."""
        return replace(
            spec,
            locations=tuple(tuple(row) for row in points.detach().cpu().tolist()),
            kernel=spec.kernel.updated(k) if hyperparameters else spec.kernel,
            mediator_kernel=None if spec.mediator_kernel is None else spec.mediator_kernel.updated(ell),
            noise=float(noise.raw.detach().exp()) if hyperparameters else spec.noise,
        )

    return loss, ParameterVector(tuple(moving)), now


def learn_sparse(
    spec: SparseRepresentation,
    inputs: Float[Tensor, "m d"],
    targets: Float[Tensor, " m"],
    *,
    hyperparameters: bool = True,
    steps: int = 100,
    starts: int = 6,
    seed: int = 0,
    report: Report = lambda event: None,
    check: Check = never,
) -> SparseLearned:
    """Maximise the evidence of theorem 5.3 (4) over the points, and with ``hyperparameters`` also over k, ℓ and σ², by
    L-BFGS.

    The objective has many optima: besides the given points there are ``starts − 1`` random choices of data. Each start
    optimises the points first and then everything, and the best evidence is kept. ``report`` receives a dict per
    evaluation with the points' ``locations``; ``check`` may cancel.
    """
    _refuse(spec, inputs, targets)
    if starts < 1:
        raise InputError(f"{starts} starts were requested: give at least one.")
    generator, climb = torch.Generator().manual_seed(seed), _Climb(inputs, targets, steps, starts, report, check)
    for start in range(starts):
        begun = spec if start == 0 else replace(spec, locations=_random_points(spec, inputs, generator))
        reached = climb.from_here(begun, start, hyperparameters=False)
        if hyperparameters and not climb.cancelled:
            climb.from_here(reached, start, hyperparameters=True)
        if climb.cancelled:
            break
    assert climb.best is not None
    return replace(climb.best, cancelled=climb.cancelled)


@dataclass
class _Climb:
    """Climbs from several places; keeps the best spec met."""

    inputs: Tensor
    targets: Tensor
    steps: int
    starts: int
    report: Report
    check: Check
    best: SparseLearned | None = None
    cancelled: bool = False
    used: int = 0

    def from_here(self, spec: SparseRepresentation, start: int, *, hyperparameters: bool) -> SparseRepresentation:
        """Climb from ``spec``, of the points alone or also of the hyperparameters; returns where it ended."""
        loss, vector, now = sparse_objective(
            spec, self.inputs, self.targets, hyperparameters=hyperparameters, check=self.check
        )
        before, lowest = self.used, math.inf if self.best is None else -self.best.evidence / len(self.targets)

        def tell(event: dict[str, Any]) -> None:
            """Report one evaluation with its restart and the best evidence of all."""
            total = self.starts * self.steps * (2 if hyperparameters else 1)
            progress = {"restart": start, "evaluation": before + event["evaluation"], "total": total}
            least = min(lowest, event["best_loss"])
            count = len(self.targets)
            values = {"quantity": "log evidence", "value": -count * event["loss"], "best": -count * least}
            self.report({"stage": "evidence", **event, **progress, **values, "locations": now().locations})

        optimum = minimise(loss, vector, restarts=1, steps=self.steps, report=tell)
        self.used, self.cancelled, reached = before + optimum.evaluations, optimum.cancelled, now()
        if optimum.loss < lowest:
            hits = tuple(f"Learning ended with {hit}." for hit in vector.at_bounds())
            self.best = SparseLearned(reached, -optimum.loss * len(self.targets), optimum.cancelled, hits)
        return reached


def _random_points(spec: SparseRepresentation, inputs: Tensor, generator: torch.Generator) -> Any:
    chosen = torch.randint(len(inputs), (len(spec.locations),), generator=generator)
    jitter = 1e-3 * torch.randn(len(chosen), inputs.shape[1], generator=generator, dtype=torch.float64)
    return tuple(tuple(row) for row in (inputs.cpu()[chosen] + jitter).tolist())
