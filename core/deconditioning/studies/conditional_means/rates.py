"""How fast the deconditional mean operator is learned: exponents, sizes and regularisers of theorem 4.2."""

import math
from dataclasses import dataclass

from deconditioning.errors import InputError


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
    if not (math.isfinite(a) and a > 0):
        raise InputError(f"a is {a}: the theorem asks for a positive number.")
    b, c = difficulty.b, difficulty.c
    if a <= minimax_exponent(difficulty):
        return a * c / (c + 1)
    return 1.0 if math.isinf(b) else b * c / (b * c + 1)


def samples_exponent(a: float, difficulty: Difficulty) -> float:
    """``log N / log M = a(c′ + 1)/(ι(c′ − 1))``: what the first stage must be given."""
    return a * (difficulty.c_prime + 1) / (difficulty.iota * (difficulty.c_prime - 1))


def distance_exponent(a: float, difficulty: Difficulty) -> float:
    """Exponent of ``‖D̂ − D‖²_HS`` that the range assumption allows ε alone: ``ε^{c−1}``.

    The theorem bounds the risk only; this is its bias in the stronger norm,
    ``‖ε(T + ε)⁻¹ T^{(c−1)/2} G‖² ≤ ε^{c−1} ‖G‖²``, with the theorem's ε.
    """
    return epsilon_exponent(a, difficulty) * (difficulty.c - 1)


def epsilon_exponent(a: float, difficulty: Difficulty) -> float:
    """``e`` of ``ε = M^−e``: ``a/(c + 1)`` up to a*, ``b/(bc + 1)`` beyond (theorem 4.2)."""
    return min(a, minimax_exponent(difficulty)) / (difficulty.c + 1)


def lambda_exponent(difficulty: Difficulty) -> float:
    """``e`` of ``λ = N^−e``: ``1/(c′ + 1)`` (theorem 4.2)."""
    return 1 / (difficulty.c_prime + 1)
