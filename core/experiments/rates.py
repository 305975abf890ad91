"""How fast the deconditional mean operator is learned: the exponent of theorem 4.2, and a measured curve beside it."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from core.embeddings.deconditional import (
    conditional_mean_operator,
    deconditional_mean_operator,
    reconstruction_risk,
)
from core.errors import InputError

#: Samples of the first stage between which a measured curve runs, how many sizes, and the constant of λ and ε.
SAMPLES = (3_000, 300_000)
SIZES = 7
CONSTANT = 0.1


@dataclass(frozen=True)
class Difficulty:
    """Parameters of the classes of distributions: ``b`` > 1 (effective dimension; infinite for finite features),
    ``c`` and ``c_prime`` in ]1, 2] (smoothness of both stages), ``iota`` in ]0, 1] (Hölder exponent)."""

    b: float = 2.0
    c: float = 2.0
    c_prime: float = 2.0
    iota: float = 1.0

    def __post_init__(self) -> None:
        checks = {
            "b": self.b > 1, "c": 1 < self.c <= 2, "c′": 1 < self.c_prime <= 2, "ι": 0 < self.iota <= 1
        }  # fmt: skip
        wrong = [name for name, good in checks.items() if not good]
        if wrong:
            raise InputError(f"{wrong[0]} lies outside the theorem: b > 1, 1 < c ≤ 2, 1 < c′ ≤ 2, 0 < ι ≤ 1.")


def minimax_exponent(difficulty: Difficulty) -> float:
    """``a* = b(c + 1)/(bc + 1)``: beyond it more samples of the first stage gain nothing (theorem 4.2)."""
    b, c = difficulty.b, difficulty.c
    return (c + 1) / c if math.isinf(b) else b * (c + 1) / (b * c + 1)


def rate_exponent(a: float, difficulty: Difficulty) -> float:
    """``r`` of ``E_d(D̂) − E_d(D) = O(M^−r)`` with ``N = M^{a(c′+1)/(ι(c′−1))}``.

    ``r = ac/(c + 1)`` up to a*, ``bc/(bc + 1)`` beyond. Source: Chau et al. 2021, theorem 4.2.
    """
    b, c = difficulty.b, difficulty.c
    if a <= minimax_exponent(difficulty):
        return a * c / (c + 1)
    return 1.0 if math.isinf(b) else b * c / (b * c + 1)


def samples_exponent(a: float, difficulty: Difficulty) -> float:
    """``log N / log M = a(c′ + 1)/(ι(c′ − 1))``: what the first stage must be given."""
    return a * (difficulty.c_prime + 1) / (difficulty.iota * (difficulty.c_prime - 1))


@dataclass(frozen=True)
class Circle:
    """``y`` uniform on the circle, ``x = y + N(0, spread²)`` around it; Fourier features of both up to ``frequency``.

    The conditional mean operator is then diagonal, ``E[cos 2πkX | y] = e^{−2π²k²spread²} cos 2πky``: known exactly.
    """

    frequency: int = 2
    spread: float = 0.05

    def features(self, angles: Float[Tensor, " n"]) -> Float[Tensor, "n q"]:
        """``1, √2 cos 2πky, √2 sin 2πky`` for k = 1 … frequency: orthonormal under the uniform distribution."""
        orders = 2 * math.pi * torch.arange(1, self.frequency + 1, dtype=angles.dtype)
        waves = angles[:, None] * orders
        ones = torch.ones_like(angles)[:, None]
        return torch.cat([ones, math.sqrt(2) * waves.cos(), math.sqrt(2) * waves.sin()], dim=1)

    def operator(self) -> Float[Tensor, "q q"]:
        """The true conditional mean operator."""
        orders = torch.arange(1, self.frequency + 1, dtype=torch.float64)
        damping = torch.exp(-2 * (math.pi * orders * self.spread) ** 2)
        return torch.diag(torch.cat([torch.ones(1, dtype=torch.float64), damping, damping]))

    def risk(self, targets: int, samples: int, lam: float, epsilon: float, seed: int) -> float:
        """``E ‖ψ(Y) − D̂ C ψ(Y)‖²`` of the two-staged estimate from N = ``samples`` and M = ``targets`` draws."""
        generator = torch.Generator().manual_seed(seed)
        y = torch.rand(samples, generator=generator, dtype=torch.float64)
        x = y + self.spread * torch.randn(samples, generator=generator, dtype=torch.float64)
        query = self.features(torch.rand(targets, generator=generator, dtype=torch.float64))
        learned = conditional_mean_operator(self.features(x), self.features(y), lam)
        inverse = deconditional_mean_operator(learned, query, epsilon)
        identity = torch.eye(2 * self.frequency + 1, dtype=torch.float64)
        return float(reconstruction_risk(inverse, self.operator(), identity))


@dataclass(frozen=True)
class RateCurve:
    """Measured risks (targets × seeds), the sizes behind them, and the slope of log risk on log M."""

    targets: tuple[int, ...]
    samples: tuple[int, ...]
    risks: np.ndarray
    slope: float


def measured_curve(a: float, difficulty: Difficulty, seeds: int = 6) -> RateCurve:
    """Risk against M with N as theorem 4.2 sets it and λ, ε a tenth of its powers (finite features: b infinite in ε).

    Raises ``InputError`` where even 300,000 samples of the first stage leave fewer than three sizes.
    """
    finite = Difficulty(math.inf, difficulty.c, difficulty.c_prime, difficulty.iota)
    used, power = min(a, minimax_exponent(finite)), samples_exponent(a, difficulty)
    low, high = (n ** (1 / power) for n in SAMPLES)
    sizes = np.unique(np.geomspace(low, high, SIZES).round().astype(int))
    sizes = sizes[sizes >= 8]
    if len(sizes) < 3:
        raise InputError(
            f"At a = {a:.2g} the first stage grows as M^{power:.1f}: even {SAMPLES[1]:,} samples allow fewer than "
            "three sizes; choose a smaller a or smoother c′."
        )
    circle, samples = Circle(), [round(float(m) ** power) for m in sizes]
    risks = [
        [
            circle.risk(
                int(m),
                n,
                CONSTANT * n ** (-1 / (difficulty.c_prime + 1)),
                CONSTANT * float(m) ** (-used / (difficulty.c + 1)),
                1000 * seed + int(m),
            )
            for seed in range(seeds)
        ]
        for m, n in zip(sizes, samples, strict=True)
    ]
    found = np.array(risks)
    slope = float(np.polyfit(np.log(sizes), np.log(found.mean(1)), 1)[0])
    return RateCurve(tuple(int(m) for m in sizes), tuple(samples), found, slope)
