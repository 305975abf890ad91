"""Any number of targets summarised by at most B numbers: W, Σ and z̃ for inducing-point models without an M×M matrix.

With ``ξ_j = Σ_i w_i²`` and ``Wᵀ diag(√ξ) = Q S Pᵀ``, the rotated residuals are ``Qᵀr = Uᵀ(f̄ − m̄) + e`` with ``U =
diag(1/√ξ) P S`` (B, k) and independent noise of variance ``σ² + ς²s²``; the part orthogonal to Q is noise of variance
σ² alone. So Σ is diagonal for every σ² and ς², and M targets enter through ``WWᵀ`` (B, B), ``Wr`` (B,) and ``‖r‖²``,
summed over chunks of targets. Sources: Chau et al. 2021, App. E.2.2 for Σ; the rotation is Woodbury's identity in the
eigenbasis of ``WWᵀ``.
"""

import math
import weakref
from dataclasses import dataclass
from typing import Any

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.embeddings.conditional_mean import StreamedWeights, nystrom_weights, streamed_weights
from deconditioning.errors import Check, InputError, never
from deconditioning.models.conditioning import observation_noise
from deconditioning.models.indirect_gp import Columns, check_matching, mediation_weights
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData

#: Bags above which the mediators' kernel matrix is replaced by a low-rank one, and the most columns that one has.
MOST_BAGS, MOST_COLUMNS = 5000, 1000
#: Share of the trace of that matrix at which it is called good.
LEFT_OUT = 1e-7
#: Targets whose M×M noise matrix is factorised where every single target is wanted.
MOST_TARGETS = 5000
#: Entries of a chunk of W, and columns of a block of ``WWᵀ`` (its upper half is not computed).
CHUNK, BLOCK = 1 << 23, 1024


@dataclass(frozen=True)
class WhitenedTargets:
    """Targets divided by a root of Σ, rotated or not.

    ``residual`` F⁻¹r (k,), ``weights`` (B, k) or None if W = I and ``scale`` (k,) or None if it is one, so that
    ``F⁻¹Wᵀ = diag(scale) weightsᵀ``; ``log_determinant`` of Σ; ``rest`` ``rᵀΣ⁻¹r`` of the ``others``, the directions of
    target space that no bag reaches.
    """

    residual: Float[Tensor, " k"]
    weights: Float[Tensor, "B k"] | None
    scale: Float[Tensor, " k"] | None
    log_determinant: Float[Tensor, ""]
    rest: Tensor | float = 0.0
    others: int = 0

    def project(self, sums: Float[Tensor, "B q"]) -> Float[Tensor, "k q"]:
        """``F⁻¹ Wᵀ c``: what the whitened targets see of bag sums."""
        whitened = sums if self.weights is None else self.weights.T @ sums
        return whitened if self.scale is None else self.scale[:, None] * whitened

    def prior_variances(self, bag_gram: Float[Tensor, "B *B"]) -> Float[Tensor, " k"]:
        """``diag(F⁻¹ Wᵀ K̄ W F⁻ᵀ)``; where W = I the diagonal of K̄ is enough."""
        whitened = bag_gram if self.weights is None else (self.weights * (bag_gram @ self.weights)).sum(0)
        return whitened if self.scale is None else self.scale.square() * whitened

    def between_bags(self) -> Float[Tensor, "B B"]:
        """``W Σ⁻¹ Wᵀ``, where W is not the identity."""
        assert self.weights is not None
        scaled = self.weights if self.scale is None else self.weights * self.scale
        return scaled @ scaled.T

    def constant(self) -> Tensor:
        """``−½ (rest + log det Σ + M log 2π)``: the part of a log density that no latent value enters."""
        count = len(self.residual) + self.others
        return -0.5 * (self.rest + self.log_determinant + count * math.log(2 * math.pi))


def whiten(
    residual: Float[Tensor, " M"],
    weights: Float[Tensor, "B M"],
    noise: Tensor,
    point_noise: Tensor | float,
    contamination: Float[Tensor, " B"],
) -> WhitenedTargets:
    """Divide ``z̃ − Wᵀm̄ = Wᵀ(f̄ − m̄) + e`` by a root of Σ, target by target; W, σ² and ς² may carry gradients.

    For minibatches, and where ℓ is learned too. Raises ``InputError`` if Σ would be too large.
    """
    count = len(residual)
    if isinstance(point_noise, float) and point_noise == 0:
        root = noise.sqrt()
        return WhitenedTargets(residual / root, weights / root, None, count * noise.log())
    if count > MOST_TARGETS:
        raise InputError(
            f"Minibatches of targets, and learning ℓ jointly, factorise the noise covariance of all {count} targets; "
            f"the limit is {MOST_TARGETS}: use the collapsed bound with ℓ learned in a separate stage, or set ς² to 0."
        )
    factor = linalg.cholesky(observation_noise(weights, noise, point_noise, contamination), "noise of the targets")
    return WhitenedTargets(factor.half_solve(residual), factor.half_solve(weights.T).T, None, factor.log_determinant())


@dataclass(frozen=True)
class TargetSummary:
    """Everything about fixed W and z̃: ``residual`` Qᵀr (k,), ``weights`` U (B, k) or None for the identity,
    ``values`` s² (k,), ``rest`` ``‖r − QQᵀr‖²``, ``count`` M, and ``left_out``, the share of the trace of the
    mediators' kernel matrix that its low-rank substitute leaves out (0 where there is none)."""

    residual: Float[Tensor, " k"]
    weights: Float[Tensor, "B k"] | None
    values: Float[Tensor, " k"]
    rest: float
    count: int
    left_out: float = 0.0

    def whiten(self, noise: Tensor, point_noise: Tensor | float) -> WhitenedTargets:
        """Divide by a root of Σ at these σ² and ς²; differentiable in both, O(k)."""
        variance = noise + point_noise * self.values
        others, scale = self.count - len(self.values), variance.rsqrt()
        determinant = variance.log().sum() + others * noise.log()
        return WhitenedTargets(
            self.residual * scale, self.weights, scale, determinant, self.rest / noise, others
        )  # fmt: skip


def summarise(spec: ModelSpec, data: IndirectData, columns: Columns, check: Check = never) -> TargetSummary:
    """The summary of the model's W and the targets, without gradient.

    W is formed completely if there are no more targets than bags, otherwise streamed over chunks of targets; beyond
    ``MOST_BAGS`` bags the mediators' kernel matrix has low rank. Raises ``InputError`` for data that the model cannot
    use.
    """
    check_matching(spec, data)
    with torch.no_grad():
        contamination, count = data.bags.contamination, len(data.targets)
        if not spec.model.mediated:
            return TargetSummary(data.targets - spec.mean, None, contamination, 0.0, count)
        if count <= data.bags.count <= MOST_BAGS:
            weights = mediation_weights(spec, data, columns)
            residual = data.targets - spec.model.expected(weights, spec.mean)
            return _rotated(weights, residual, contamination, spec.point_noise > 0)
        return _LAST.get(spec, data, columns, check)


class _Last:
    """The last streamed summary: learning, the posterior and the bound ask for the same one, and it is dear."""

    def __init__(self) -> None:
        self._kept: tuple[Any, list[weakref.ref[Tensor]], TargetSummary] | None = None

    def get(self, spec: ModelSpec, data: IndirectData, columns: Columns, check: Check) -> TargetSummary:
        """The kept one where it was made from the very same tensors, unchanged, by the same W; else a new one."""
        tensors = [data.mediators, data.query_mediators, data.targets, data.bags.sizes, data.bags.contamination]
        tensors += [] if data.importance is None else [data.importance]
        versions, limits = tuple(t._version for t in tensors), (MOST_BAGS, MOST_COLUMNS, LEFT_OUT, CHUNK, BLOCK)
        weights = (spec.model, spec.mediator_kernel, spec.regularisation, columns.mediators)
        key = (weights, spec.mean, versions, limits)
        cached = self._kept
        if cached is not None and cached[0] == key:
            if len(cached[1]) == len(tensors) and all(
                ref() is tensor for ref, tensor in zip(cached[1], tensors, strict=True)
            ):
                return cached[2]
        self._kept = None
        target_summary = _from_stream(spec, data, columns, check)
        self._kept = (key, [weakref.ref(tensor) for tensor in tensors], target_summary)
        return target_summary


_LAST = _Last()


def _from_stream(spec: ModelSpec, data: IndirectData, columns: Columns, check: Check) -> TargetSummary:
    ell = _mediator_kernel(spec, data, columns)
    bags = (ell, data.mediators, data.bags.sizes, spec.regularisation, spec.model.replicated, data.importance)
    exact = data.bags.count <= MOST_BAGS
    streamed = streamed_weights(*bags) if exact else nystrom_weights(*bags, LEFT_OUT, MOST_COLUMNS)
    return _streamed(streamed, data, spec.mean, check)


def _mediator_kernel(spec: ModelSpec, data: IndirectData, columns: Columns) -> gpytorch.kernels.Kernel:
    if spec.mediator_kernel is None:
        raise InputError(f"The model '{spec.model.name}' needs a kernel on the mediators: give `mediator_kernel`.")
    return spec.mediator_kernel.build(columns.mediators).to(data.targets.device)


def _rotated(weights: Tensor, residual: Tensor, contamination: Tensor, point_noise: bool) -> TargetSummary:
    """From all of W, with a square Q: nothing is left over."""
    if not point_noise:
        return TargetSummary(residual, weights, torch.zeros_like(residual), 0.0, len(residual))
    values, q = linalg.eigen((weights.T * contamination) @ weights, "point noise of the targets")
    return TargetSummary(q.T @ residual, weights @ q, values.clamp_min(0), 0.0, len(residual))


def _streamed(streamed: StreamedWeights, data: IndirectData, mean: float, check: Check) -> TargetSummary:
    """From ``Wᵀ = Φ Yᵀ`` with Φ's rows summed up chunk by chunk."""
    count, rank = len(data.targets), streamed.left.shape[1]
    moment, vector, square = streamed.left.new_zeros(rank, rank), streamed.left.new_zeros(rank), 0.0
    total = streamed.left.sum(0)
    for begin in range(0, count, max(1, CHUNK // rank)):
        check()
        part = slice(begin, begin + max(1, CHUNK // rank))
        rows = streamed.rows(data.query_mediators[part])
        residual = data.targets[part] - mean * (rows @ total)
        _add_lower(moment, rows)
        vector += rows.T @ residual
        square += float(residual.square().sum())
    moment = moment.tril() + moment.tril(-1).T
    u, values, rotated = _small_rotation(streamed.left, moment, vector, data.bags.contamination)
    rest = max(0.0, square - float(rotated.square().sum()))
    return TargetSummary(rotated, u, values, rest, count, streamed.left_out)


def _add_lower(moment: Float[Tensor, "r r"], rows: Float[Tensor, "c r"]) -> None:
    """Add ``ΦᵀΦ`` to the blocks on and below the diagonal."""
    for begin in range(0, len(moment), BLOCK):
        columns = slice(begin, begin + BLOCK)
        moment[begin:, columns].addmm_(rows[:, begin:].T, rows[:, columns])


def _small_rotation(
    left: Float[Tensor, "B r"], moment: Float[Tensor, "r r"], vector: Float[Tensor, " r"], contamination: Tensor
) -> tuple[Float[Tensor, "B k"], Float[Tensor, " k"], Float[Tensor, " k"]]:
    """U, s² and Qᵀr from ``Y``, ``ΦᵀΦ`` and ``Φᵀr``; directions that are rounding are dropped."""
    root = contamination.sqrt()
    weighted = root[:, None] * left
    if left.shape[1] >= len(left):  # one decomposition, of diag(√ξ) WWᵀ diag(√ξ)
        inner = weighted @ moment @ weighted.T
        values, p = _positive(0.5 * (inner + inner.T))
        return p * values.sqrt() / root[:, None], values, (p.T @ (weighted @ vector)) / values.sqrt()
    size, e = _positive(moment)  # Φ = (Φ e size^-½) (size^½ eᵀ), the first of them orthonormal
    thin = weighted @ (e * size.sqrt())
    values, v = _positive(thin.T @ thin)
    return (thin @ v) / root[:, None], values, v.T @ ((e.T @ vector) / size.sqrt())


def _positive(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues above rounding, and their vectors."""
    values, vectors = linalg.eigen(matrix, "weights of the targets")
    rank = int((values > torch.finfo(values.dtype).eps * values[0].clamp_min(0)).sum())
    return values[:rank], vectors[:, :rank]
