"""There and back: f is conditioned on Y, then deconditioned; what is lost, and when nothing is.

``ĝ = Aᵀ f(x)`` is the conditional mean at ỹ, ``f̂(x) = ĝᵀ G k(x)`` its deconditional mean. Source: Hsu and Ramos 2019,
theorems 4.2 and 6.2.
"""

from dataclasses import dataclass
from functools import cached_property

import gpytorch
import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.datasets.one_dimension import Line
from deconditioning.embeddings.conditional_mean import MediatorGrams, shrinkage_weights
from deconditioning.embeddings.deconditional import deconditional_weights, posterior_embedding
from deconditioning.errors import InputError
from deconditioning.kernels.fourier import draw_prior
from deconditioning.kernels.spec import KernelSpec
from deconditioning.kernels.tiles import diagonal, evaluate
from deconditioning.studies.one_dimension.problem import COLUMNS


@dataclass(frozen=True)
class Operators:
    """What both directions need: k and ℓ on the line's points, λ and ε; each matrix once, when first asked for."""

    line: Line
    kernel: KernelSpec
    mediator_kernel: KernelSpec
    regularisation: float
    second_regularisation: float

    @cached_property
    def gram(self) -> Float[Tensor, "n n"]:
        """``K`` over the known x."""
        return self._matrix(self._k, self.line.inputs, self.line.inputs)

    @cached_property
    def within(self) -> Float[Tensor, "n n"]:
        """``L`` over the known y."""
        return self._matrix(self._ell, self.line.mediators, self.line.mediators)

    @cached_property
    def across(self) -> Float[Tensor, "n m"]:
        """``L̃`` between y and ỹ."""
        return self._matrix(self._ell, self.line.mediators, self.line.query)

    @cached_property
    def query(self) -> Float[Tensor, "m m"]:
        """``L̃̃`` over ỹ."""
        return self._matrix(self._ell, self.line.query, self.line.query)

    @cached_property
    def cross(self) -> Float[Tensor, "n P"]:
        """``k`` between the known x and the grid."""
        return self._matrix(self._k, self.line.inputs, self.line.grid)

    @cached_property
    def prior(self) -> float:
        """Mean of ``ℓ(ỹ, ỹ)``."""
        with torch.no_grad():
            return float(diagonal(self._ell, self.line.query[:, None]).mean())

    @cached_property
    def _k(self) -> gpytorch.kernels.Kernel:
        return self.kernel.build(COLUMNS.inputs)

    @cached_property
    def _ell(self) -> gpytorch.kernels.Kernel:
        return self.mediator_kernel.build(COLUMNS.mediators)

    @staticmethod
    def _matrix(kernel: gpytorch.kernels.Kernel, left: Tensor, right: Tensor) -> Tensor:
        with torch.no_grad():
            return evaluate(kernel, left[:, None], right[:, None])

    def mediation(self, across: Tensor | None = None, regularisation: float | None = None) -> Float[Tensor, "n m"]:
        """``A = (L + nλI)⁻¹ L̃`` (n, m), L̃ = ``across`` (n, m) between the mediators of both tables."""
        lam = self.regularisation if regularisation is None else regularisation
        grams = MediatorGrams(self.within, self.across if across is None else across, torch.ones(len(self.within)))
        return shrinkage_weights(grams, lam)

    def back(self) -> Float[Tensor, "m n"]:
        """``G = (AᵀKA + mεI)⁻¹Aᵀ``."""
        return deconditional_weights(
            self.gram, self.within, self.across, self.regularisation, self.second_regularisation
        )


@dataclass(frozen=True)
class RoundTrip:
    """``function`` f and ``back`` f̂ on the grid (P,), ``conditioned`` ĝ and ``again`` (ĝ of f̂) at ỹ (m,); RMSEs."""

    function: np.ndarray
    back: np.ndarray
    conditioned: np.ndarray
    again: np.ndarray
    lost: float
    lost_again: float


def drawn_function(line: Line, kernel: KernelSpec, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A draw of f from its prior, at the line's inputs and on its grid."""
    draw = draw_prior(kernel, COLUMNS.inputs, torch.Generator().manual_seed(seed), torch.device("cpu"))
    return draw(line.inputs[:, None]).numpy(), draw(line.grid[:, None]).numpy()


def round_trip(operators: Operators, at_inputs: np.ndarray, on_grid: np.ndarray) -> RoundTrip:
    """Condition ``f(x_i)`` on Y, decondition the result, condition that again."""
    spread, back = operators.mediation(), operators.back()
    conditioned = spread.T @ torch.from_numpy(at_inputs)
    dual = back.T @ conditioned
    result, again = operators.cross.T @ dual, spread.T @ (operators.gram @ dual)
    return RoundTrip(
        on_grid,
        result.numpy(),
        conditioned.numpy(),
        again.numpy(),
        _rmse(result.numpy(), on_grid),
        _rmse(again.numpy(), conditioned.numpy()),
    )


def _rmse(left: np.ndarray, right: np.ndarray) -> float:
    return float(np.sqrt(np.mean((left - right) ** 2)))


def pseudo_inverse_gap(operators: Operators, epsilons: np.ndarray) -> dict[str, np.ndarray]:
    """How far ``D̂Ĉ`` is from doing nothing, for each ε: relative to ``‖ψ‖`` and, for ``ĈD̂Ĉ`` against Ĉ, to ``‖Ĉψ‖``.

    With ``Q = AᵀKA`` and ``R = mε(Q + mεI)⁻¹`` the means over ψ(ỹ_j) are ``‖ψ − D̂Ĉψ‖² = tr(RL̃̃R)/m`` and
    ``‖Ĉ(ψ − D̂Ĉψ)‖² = tr(RQR)/m``. Both vanish with ε where D̂ is a pseudo-inverse of Ĉ (theorem 4.2).
    """
    spread = operators.mediation()
    process = spread.T @ operators.gram @ spread
    values, vectors = linalg.eigen(process, "process's covariance")
    turned = (vectors.T @ operators.query @ vectors).diagonal()
    count = len(values)
    there, image = [], []
    for epsilon in epsilons:
        left = (count * epsilon / (values.clamp_min(0) + count * epsilon)).square()
        there.append(float((left * turned).sum() / count) / operators.prior)
        image.append(float((left * values.clamp_min(0)).sum() / values.clamp_min(0).sum()))
    return {"D̂Ĉψ against ψ": np.sqrt(there), "ĈD̂Ĉψ against Ĉψ": np.sqrt(image)}


def reverse_gap(operators: Operators, lambdas: np.ndarray) -> np.ndarray:
    """``‖D̂ − Ĉ_{Y|X}‖_HS / ‖Ĉ_{Y|X}‖_HS`` with ``ỹ = y`` for each λ, NaN where singular; it vanishes with λ.

    Source: Hsu and Ramos 2019, theorem 6.2.
    """
    reverse = _reverse(operators)
    size = _square(reverse, operators)
    result = []
    for lam in lambdas:
        try:
            weights = deconditional_weights(
                operators.gram, operators.within, operators.within, float(lam), operators.second_regularisation
            )
        except InputError:
            result.append(np.nan)
            continue
        result.append((_square(weights - reverse, operators) / size) ** 0.5)
    return np.array(result)


def _reverse(operators: Operators) -> Float[Tensor, "n n"]:
    """H of ``Ĉ_{Y|X} = Ψ H Φᵀ``, ``H = (K + nεI)⁻¹``."""
    n = len(operators.gram)
    identity = torch.eye(n, dtype=torch.float64)
    ridge = n * operators.second_regularisation * identity
    return linalg.solve_general(operators.gram + ridge, identity, "kernel matrix of the inputs")[0]


def _square(weights: Float[Tensor, "n n"], operators: Operators) -> float:
    """``‖Ψ W Φᵀ‖²_HS = tr(Wᵀ L W K)``."""
    return max(float(torch.trace(weights.T @ operators.within @ weights @ operators.gram)), 0.0)


def both_ways(operators: Operators, x: float, y: Float[Tensor, " G"]) -> tuple[np.ndarray, np.ndarray]:
    """Embeddings of Y given X = x over y: by the deconditional operator with ``ỹ = y``, and by the reverse CME."""
    k, ell = operators.kernel.build(COLUMNS.inputs), operators.mediator_kernel.build(COLUMNS.mediators)
    at = torch.tensor([[x]], dtype=torch.float64)
    with torch.no_grad():
        near = evaluate(k, operators.line.inputs[:, None], at)[:, 0]
    mediators = operators.line.mediators[:, None]
    forth = deconditional_weights(
        operators.gram, operators.within, operators.within, operators.regularisation, operators.second_regularisation
    )
    embeddings = (posterior_embedding(weights, near, mediators, ell) for weights in (forth, _reverse(operators)))
    first, second = (mean.at(y[:, None]).numpy() for mean in embeddings)
    return first, second
