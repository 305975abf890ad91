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


@dataclass(frozen=True)
class Exponents:
    """Powers of theorem 4.2 (Chau et al. 2021) for ``N = M^samples`` samples of the first stage.

    ``best`` is ``a* = b(c + 1)/(bc + 1)``, beyond which more samples of the first stage gain nothing. ``rate`` is ``r``
    of ``E_d(D̂) − E_d(D) = O(M^−r)``: ``ac/(c + 1)`` up to a*, ``bc/(bc + 1)`` beyond. ``samples`` is
    ``a(c′ + 1)/(ι(c′ − 1))``. ``epsilon`` is that of ``ε = M^−e``: ``a/(c + 1)`` up to a*, ``b/(bc + 1)`` beyond.
    ``lam`` is that of ``λ = N^−e``: ``1/(c′ + 1)``.

    ``distance`` is the exponent of ``‖D̂ − D‖²_HS`` that the range assumption allows ε alone, ``ε^{c−1}``. The theorem
    bounds the risk only; this is its bias in the stronger norm, ``‖ε(T + ε)⁻¹ T^{(c−1)/2} G‖² ≤ ε^{c−1} ‖G‖²``.
    """

    best: float
    rate: float
    samples: float
    epsilon: float
    lam: float
    distance: float


def theorem_exponents(a: float, difficulty: Difficulty) -> Exponents:
    """The powers at a growth ``a`` > 0 of the first stage; ``InputError`` for any other a."""
    if not (math.isfinite(a) and a > 0):
        raise InputError(f"a is {a}: the theorem asks for a positive number.")
    b, c, c_prime = difficulty.b, difficulty.c, difficulty.c_prime
    best = (c + 1) / c if math.isinf(b) else b * (c + 1) / (b * c + 1)
    beyond = 1.0 if math.isinf(b) else b * c / (b * c + 1)
    epsilon = min(a, best) / (c + 1)
    return Exponents(
        best=best,
        rate=a * c / (c + 1) if a <= best else beyond,
        samples=a * (c_prime + 1) / (difficulty.iota * (c_prime - 1)),
        epsilon=epsilon,
        lam=1 / (c_prime + 1),
        distance=epsilon * (c - 1),
    )
