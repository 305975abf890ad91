"""A distribution as a weighted sample in a feature space, the result of every rule in this library."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.errors import InputError
from deconditioning.kernels.families.family import scaled
from deconditioning.kernels.families.gaussian import Gaussian
from deconditioning.kernels.tiles import evaluate

#: Below this sum of weights an estimate of a distribution has lost its mass.
LEAST_TOTAL = 0.1
#: Entries of a kernel matrix between candidates and points that is kept (16 MB), and how many sets of points.
_KEPT, _KEPT_SETS = 2_000_000, 2


@dataclass(frozen=True)
class PreImage:
    """A point whose feature is close to an embedding: ``point`` (d,), the reason the search ended, and its number of
    steps.

    ``status``: "converged"; "stopped" at the maximum number of steps; "guarded" if the denominator came near zero, with
    the last good point.
    """

    point: Float[Tensor, " d"]
    status: Literal["converged", "stopped", "guarded"]
    steps: int


@dataclass(frozen=True)
class KernelMean:
    """``μ = Σ_i w_i k(x_i, ·)``.

    Parameters
    ----------
    points : x_i (n, d).
    weights : w_i (n,); they may be negative and need not sum to one.
    kernel : ``k``, made by ``KernelSpec.build``.

    Source: Fukumizu et al. 2013, §2; Hsu and Ramos 2019, §2.
    """

    points: Float[Tensor, "n d"]
    weights: Float[Tensor, " n"]
    kernel: gpytorch.kernels.Kernel

    def __post_init__(self) -> None:
        if self.points.ndim != 2 or self.weights.shape != self.points.shape[:1]:
            raise InputError(
                f"`points` has shape {tuple(self.points.shape)} and `weights` {tuple(self.weights.shape)}: give one "
                "row and one weight per point."
            )
        if not bool(torch.isfinite(self.weights).all()):
            raise InputError(
                "`weights` contains missing or infinite values: raise the regularisation that produced them."
            )

    def at(self, inputs: Float[Tensor, "P d"]) -> Float[Tensor, " P"]:
        """``μ(x) = Σ_i w_i k(x_i, x)``."""
        with torch.no_grad():
            return evaluate(self.kernel, inputs, self.points) @ self.weights

    def expectation(self, values: Float[Tensor, "n *_k"]) -> Float[Tensor, "*k"]:
        """``E[f(X)] ≈ Σ_i w_i f(x_i)`` from ``values`` f(x_i), one row per point."""
        if len(values) != len(self.points):
            raise InputError(
                f"`values` has {len(values)} rows, but there are {len(self.points)} points: give one row per point."
            )
        return torch.tensordot(self.weights, values, dims=1)

    @property
    def total(self) -> float:
        """``Σ_i w_i``, near one for a good estimate of a distribution."""
        return float(self.weights.sum())

    @property
    def negative(self) -> float:
        """``Σ_i max(−w_i, 0)``, the negative part of the weights: zero if they are probabilities."""
        return float((-self.weights).clamp_min(0).sum())

    def normalised(self) -> "KernelMean":
        """The same embedding with weights that sum to one; ``InputError`` if their sum is below 0.1."""
        if self.total < LEAST_TOTAL:
            raise InputError(
                f"The weights sum to {self.total:.2g}, less than {LEAST_TOTAL}: the estimate is too far from "
                "the data; move closer to them, or raise the lengthscale."
            )
        return replace(self, weights=self.weights / self.total)

    def inner(self, other: "KernelMean") -> float:
        """``⟨μ, ν⟩ = Σ_ij w_i v_j k(x_i, x′_j)`` of two embeddings in the same feature space."""
        with torch.no_grad():
            return float(self.weights @ evaluate(self.kernel, self.points, other.points) @ other.weights)

    def distance(self, other: "KernelMean") -> float:
        """Maximum mean discrepancy ``‖μ − ν‖_k``. Source: Gretton et al. 2012, eq. 5."""
        square = self.inner(self) - 2 * self.inner(other) + other.inner(other)
        return max(square, 0.0) ** 0.5

    def preimage(self, steps: int = 100, tolerance: float = 1e-8) -> PreImage:
        """A local minimiser of ``‖k_x − μ‖`` for a Gaussian k, by ``x ← Σ w_i k(x_i, x) x_i / Σ w_i k(x_i, x)``.

        Starts at the mean of the points with weights clipped at zero. Raises ``InputError`` for kernels that are not
        Gaussian, and if no weight is positive. Source: Schölkopf et al. 1999; Fukumizu et al. 2013, §4.3.
        """
        return preimages(self.points, self.weights[None], self.kernel, steps, tolerance)[0]

    def herd(self, count: int, candidates: Float[Tensor, "c d"] | None = None) -> Float[Tensor, "count d"]:
        """Herded samples of the normalised embedding: ``x_{t+1} = argmax_x (t + 1) μ(x) − Σ_{s≤t} k(x_s, x)``.

        The maximum is over ``candidates`` (by default the points); a candidate may be chosen repeatedly. Source: Chen,
        Welling, Smola 2010, eq. 8-9.
        """
        return Candidates(self.points if candidates is None else candidates, self.kernel).herd(self, count)


def preimages(
    points: Float[Tensor, "n d"], weights: Float[Tensor, "s n"], kernel: gpytorch.kernels.Kernel, steps: int = 100,
    tolerance: float = 1e-8,
) -> list[PreImage]:  # fmt: skip
    """``KernelMean.preimage`` for many weightings of the same points at once."""
    if not _is_gaussian(kernel):
        raise InputError("A pre-image by fixed point needs one Gaussian kernel: use herded samples instead.")
    clipped = weights.clamp_min(0)
    total = clipped.sum(1, keepdim=True)
    if not bool((total > 0).all()):
        raise InputError("No weight is positive, so the pre-image has no starting point: use herded samples instead.")
    at, width = clipped @ points / total, float(points.std(0, correction=0).mean().clamp_min(1e-300))
    ended: list[tuple[Literal["converged", "stopped", "guarded"], int]] = [("stopped", steps)] * len(weights)
    active = torch.arange(len(weights), device=points.device)
    for step in range(1, steps + 1):
        with torch.no_grad():
            pull = weights[active] * evaluate(kernel, at[active], points)
        mass = pull.sum(1)
        good = mass > 1e-12 * pull.abs().sum(1) + 1e-300
        moved = torch.where(good[:, None], pull @ points / torch.where(good, mass, 1.0)[:, None], at[active])
        still = (moved - at[active]).abs().amax(1) <= tolerance * width
        at[active] = moved
        for row, fine in zip(active[still].tolist(), good[still].tolist(), strict=True):
            ended[row] = ("converged" if fine else "guarded", step)
        active = active[~still]
        if not len(active):
            break
    return [PreImage(point, status, used) for point, (status, used) in zip(at, ended, strict=True)]


class Candidates:
    """Points x (c, d) that herding chooses among, with one kernel.

    What is computed for one embedding serves the next: the columns ``k(x_s, ·)`` of chosen candidates, and the kernel
    matrix between the candidates and the embedding's points, where that is small.
    """

    def __init__(self, points: Float[Tensor, "c d"], kernel: gpytorch.kernels.Kernel) -> None:
        self.points, self.kernel = points, kernel
        self._column_of = _columns(kernel, points)
        self._columns: dict[int, Tensor] = {}
        self._across: list[tuple[Tensor, Tensor]] = []

    def _mean(self, embedding: KernelMean) -> Float[Tensor, " c"]:
        """``Σ_i w_i k(x_i, ·)`` at the candidates."""
        for points, matrix in self._across:
            if points is embedding.points:
                return matrix @ embedding.weights
        with torch.no_grad():
            matrix = evaluate(self.kernel, self.points, embedding.points)
        if matrix.numel() <= _KEPT and len(self._across) < _KEPT_SETS:
            self._across.append((embedding.points, matrix))
        return matrix @ embedding.weights

    def herd(self, embedding: KernelMean, count: int) -> Float[Tensor, "count d"]:
        """`KernelMean.herd` of the embedding's weights with this kernel.

        Raises ``InputError`` for fewer than one sample, and if the weights sum to less than 0.1.
        """
        if count < 1:
            raise InputError(f"{count} herded samples were requested: give at least one.")
        mean = self._mean(embedding.normalised())
        score, chosen = mean.clone(), []
        with torch.no_grad():
            for _ in range(count):
                best = int(score.argmax())
                chosen.append(best)
                if best not in self._columns:
                    self._columns[best] = self._column_of(best)
                score.add_(mean).sub_(self._columns[best])
        return self.points[torch.tensor(chosen, device=self.points.device)]


def _columns(kernel: gpytorch.kernels.Kernel, among: Float[Tensor, "c d"]) -> Callable[[int], Float[Tensor, " c"]]:
    """The kernel's columns by index; those of one Gaussian from points that are scaled once, to the same bits."""
    if not _is_gaussian(kernel) or len(kernel.kernels[0].base_kernel.kernels) > 1:
        return lambda index: evaluate(kernel, among[index : index + 1], among)[0]
    (term,) = kernel.kernels
    with torch.no_grad():
        points, scale = scaled(term.base_kernel.kernels[0], among), term.outputscale
    return lambda index: (points - points[index]).square_().sum(1).mul_(-0.5).exp_().mul_(scale)


def empirical(points: Float[Tensor, "n d"], kernel: gpytorch.kernels.Kernel) -> KernelMean:
    """The embedding of an unweighted sample: equal weights 1/n."""
    return KernelMean(points, torch.full_like(points[:, 0], 1 / len(points)), kernel)


def _is_gaussian(kernel: gpytorch.kernels.Kernel) -> bool:
    terms = list(kernel.kernels)
    return len(terms) == 1 and all(isinstance(factor.family, Gaussian) for factor in terms[0].base_kernel.kernels)
