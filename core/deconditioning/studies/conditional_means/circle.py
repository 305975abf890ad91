"""A deconditional mean operator that is known exactly: Fourier features on the circle, of any difficulty (b, c).

``y`` is uniform on the circle and ``x = y + N(0, spread²)`` around it, so that the conditional mean operator is
diagonal: ``E[√2 cos 2πkX | y] = e^{−2π²k²spread²} √2 cos 2πky``. Features are scaled so that the n-th eigenvalue of
the images' second moment is ``n^−b`` and the inverse operator satisfies the range assumption with exponent c just so.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.embeddings.deconditional import (
    conditional_operator_of_moments,
    deconditional_operator_of_moment,
    reconstruction_risk,
)
from deconditioning.errors import InputError

#: Draws whose features are held at a time: moments add up, so memory does not grow with N.
CHUNK = 1 << 15
#: By how much the coefficients of the range assumption decay faster than they must for their sum to stay finite.
_MARGIN = 0.1
#: Frequencies of the circle: flat features (b infinite), and features of polynomial decay.
_FLAT, _GRADED = 2, 16


@dataclass(frozen=True)
class Moments:
    """``E[φψᵀ]`` and ``E[ψψᵀ]`` (q, q), of a sample or of the truth."""

    cross: Float[Tensor, "q q"]
    second: Float[Tensor, "q q"]


@dataclass(frozen=True)
class OperatorError:
    """What an estimate D̂ misses: ``risk`` E‖ψ(Y) − D̂Cψ(Y)‖² (the theorem's excess risk, here the true D has risk 0)
    and ``hilbert_schmidt`` ‖D̂ − D‖²_HS."""

    risk: float
    hilbert_schmidt: float


@dataclass(frozen=True)
class Circle:
    """Features ``ψ_n(y) = a_n e_n(y)``, ``φ_n(x) = b_n e_n(x)`` with ``e = 1, √2 cos 2πk·, √2 sin 2πk·``.

    Parameters
    ----------
    b : eigenvalues of ``E[(Cψ)(Cψ)ᵀ]`` are ``n^−b``; infinite for two flat frequencies (a finite-dimensional problem).
    c : ``D = G T^{(c−1)/2}`` with a G that is just Hilbert-Schmidt: ``a_n² = n^{−(bc + 1 + margin)}``.
    spread : sd of x around y.
    astray : the share of x that lie anywhere instead, where it is above 0; the rest are y itself. All frequencies are
        damped alike then, so that any number can be given.
    most : the largest frequency, where it is not ``_FLAT`` or ``_GRADED``.

    Source: Chau et al. 2021, definition D.3 and theorem D.4; ℋ_ℓ is finite-dimensional, as the theorem asks.
    """

    b: float = math.inf
    c: float = 2.0
    spread: float = 0.02
    astray: float = 0.0
    most: int | None = None

    @property
    def frequencies(self) -> int:
        """Largest frequency k."""
        return self.most or (_FLAT if math.isinf(self.b) else _GRADED)

    @cached_property
    def _orders(self) -> tuple[Tensor, Tensor]:
        """Frequency k and rank n of each feature."""
        k = torch.arange(1, self.frequencies + 1, dtype=torch.float64)
        first = torch.zeros(1, dtype=torch.float64)
        return torch.cat([first, k, k]), torch.cat([first + 1, 2 * k, 2 * k + 1])

    @cached_property
    def mediator_scales(self) -> Float[Tensor, " q"]:
        """``a_n``."""
        rank = self._orders[1]
        return torch.ones_like(rank) if math.isinf(self.b) else rank ** (-(self.b * self.c + 1 + _MARGIN) / 2)

    @cached_property
    def input_scales(self) -> Float[Tensor, " q"]:
        """``b_n``: what makes ``(Cψ)_n = n^{−b/2} e_n`` after the damping by the spread of x."""
        rank = self._orders[1]
        return torch.ones_like(rank) if math.isinf(self.b) else rank ** (-self.b / 2) / self.damping

    @cached_property
    def damping(self) -> Float[Tensor, " q"]:
        """``e^{−2π²k²spread²}``, or the share of x that is y (1 for the constant)."""
        if self.astray:
            return torch.where(self._orders[0] > 0, 1 - self.astray, 1.0).double()
        return torch.exp(-2 * (math.pi * self._orders[0] * self.spread) ** 2)

    @cached_property
    def _diagonal(self) -> Float[Tensor, " q"]:
        return self.input_scales * self.damping / self.mediator_scales

    def operator(self) -> Float[Tensor, "q q"]:
        """The true conditional mean operator ``C``, diagonal."""
        return torch.diag(self._diagonal)

    def inverse(self) -> Float[Tensor, "q q"]:
        """The true deconditional mean operator ``D`` with ``DC = I``."""
        return torch.diag(1 / self._diagonal)

    def truth(self) -> Moments:
        """Moments of the distribution itself: N = M = ∞."""
        second = torch.diag(self.mediator_scales**2)
        return Moments(self.operator() @ second, second)

    def waves(self, angles: Float[Tensor, " n"]) -> Float[Tensor, "n q"]:
        """``e(angles)``: orthonormal under the uniform distribution."""
        turn = torch.polar(torch.full_like(angles, 1.0), 2 * math.pi * angles)
        powers = turn[:, None].expand(-1, self.frequencies).cumprod(1)
        root = math.sqrt(2)
        return torch.cat([torch.ones_like(angles)[:, None], root * powers.real, root * powers.imag], dim=1)

    def draw(
        self, samples: int, generator: torch.Generator, check: Callable[[], None] = lambda: None, inputs: bool = True
    ) -> Moments:
        """Moments of a sample, added up in chunks; ``check`` may raise between them. Without ``inputs``, only of y."""
        size = len(self._diagonal)
        cross, second = (torch.zeros(size, size, dtype=torch.float64) for _ in range(2))
        for begin in range(0, samples, CHUNK):
            check()
            y = torch.rand(min(CHUNK, samples - begin), generator=generator, dtype=torch.float64)
            psi = self.waves(y) * self.mediator_scales
            second += psi.T @ psi / samples
            if inputs:
                x = self.draw_x(y, generator)
                cross += (self.waves(x) * self.input_scales).T @ psi / samples
        return Moments(cross, second)

    def draw_x(self, y: Float[Tensor, " n"], generator: torch.Generator) -> Float[Tensor, " n"]:
        """An x for every y."""
        if not self.astray:
            return y + self.spread * torch.randn(len(y), generator=generator, dtype=torch.float64)
        lost, where = torch.rand(2, len(y), generator=generator, dtype=torch.float64)
        return torch.where(lost < self.astray, where, y)

    def error(self, first: Moments, query: Moments, lam: float, epsilon: float) -> OperatorError:
        """The two-staged estimate from the moments of both samples, against the truth."""
        learned = conditional_operator_of_moments(first.cross, first.second, lam)
        inverse = deconditional_operator_of_moment(learned, query.second, epsilon)
        risk = reconstruction_risk(inverse, self.operator(), self.truth().second)
        return OperatorError(float(risk), float((inverse - self.inverse()).square().sum()))

    def limit(self, lam: float, epsilon: float) -> OperatorError:
        """The error that regularisation alone leaves, N = M = ∞: every operator is diagonal, a closed form.

        ``ĉ = C a²/(a² + λ)``, ``d̂ = ĉ a²/(ĉ² a² + ε)``.
        """
        square, c = self.mediator_scales**2, self._diagonal
        learned = c * square / (square + lam)
        inverse = learned * square / (learned**2 * square + epsilon)
        risk = (square * (1 - inverse * c) ** 2).sum()
        return OperatorError(float(risk), float((inverse - 1 / c).square().sum()))


def estimate_error(
    circle: Circle,
    targets: int,
    samples: int,
    lam: float,
    epsilon: float,
    generator: torch.Generator,
    check: Callable[[], None] = lambda: None,
) -> OperatorError:
    """Error of the operator learned from N = ``samples`` and M = ``targets`` draws of the circle."""
    if targets < 1 or samples < 1:
        raise InputError(f"{samples} and {targets} draws were requested: give each stage at least one.")
    first = circle.draw(samples, generator, check)
    return circle.error(first, circle.draw(targets, generator, check, inputs=False), lam, epsilon)
