"""How well averages under a Dirichlet process separate functions: Lemma 1 of Tang et al.

For ``z ~ DP(μ, α)`` with weights β_k, ``E Σ_k β_k² = 1/(1 + α)``, so that

    E_z (E_z f)² = (E_μ f² + α (E_μ f)²) / (1 + α)  ≥  E_μ f² / (1 + α):

averages over subjects retain at least that share of the square of f; exactly that share if the mean of f is zero, and
all of it if f is constant. Separation decreases as α makes subjects alike.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deconditioning.distribution_regression.simulate import Function, draw_distribution
from deconditioning.errors import InputError

#: Nodes of integrals over [0, 1].
_NODES = 200


@dataclass(frozen=True)
class Separation:
    """Against the concentration α (A,): ``E_μ f² / E_z (E_z f)²`` ``exact`` and over ``drawn`` distributions, the
    ``bound`` 1 + α; ``averages`` (A, D) are the drawn ``E_z f``; ``square`` is ``E_μ f²``, ``mean`` is ``E_μ f``."""

    concentration: np.ndarray
    exact: np.ndarray
    drawn: np.ndarray
    bound: np.ndarray
    averages: np.ndarray
    square: float
    mean: float


def moments(function: Function) -> tuple[float, float]:
    """``E_μ f`` and ``E_μ f²`` over the uniform distribution on [0, 1], by Gauss-Legendre."""
    x, weights = np.polynomial.legendre.leggauss(_NODES)
    values = function(0.5 * (x + 1))
    return float(0.5 * weights @ values), float(0.5 * weights @ values**2)


def expected_square(function: Function, concentration: float) -> float:
    """``E_z (E_z f)²`` of ``z ~ DP(U[0, 1], α)``, in closed form."""
    mean, square = moments(function)
    return (square + concentration * mean**2) / (1 + concentration)


def drawn_averages(function: Function, concentration: float, draws: int, seed: int) -> np.ndarray:
    """``E_z f`` (draws,) of distributions drawn by stick breaking."""
    result = np.empty(draws)
    for number in range(draws):
        shares, atoms = draw_distribution(np.random.default_rng([seed, number]), concentration)
        result[number] = shares @ function(atoms)
    return result


def separation(function: Function, concentrations: Sequence[float], draws: int, seed: int) -> Separation:
    """Lemma 1 at several concentrations. Raises ``InputError`` for a zero function or too few draws."""
    if draws < 2:
        raise InputError(f"{draws} distributions were requested: request at least 2.")
    mean, square = moments(function)
    if square <= 0:
        raise InputError("The function is zero everywhere, so it cannot distinguish distributions: choose another.")
    alpha = np.asarray(concentrations, dtype=float)
    averages = np.stack([drawn_averages(function, float(value), draws, seed) for value in alpha])
    exact = np.array([square / expected_square(function, float(value)) for value in alpha])
    return Separation(alpha, exact, square / np.mean(averages**2, axis=1), 1 + alpha, averages, square, mean)
