"""β and ε of a kernel Bayes filter by split-half validation: one half trains the candidates, the other ranks them."""

import math
from collections.abc import Callable, Iterable
from itertools import product

from deconditioning.errors import Check, InputError, never
from deconditioning.filtering.kernel_bayes_filter import FEWEST


def half_of(steps: int) -> int:
    """The steps that candidates are trained on; ``InputError`` if they are too few."""
    half = steps // 2
    if half < FEWEST:
        raise InputError(
            f"A series of {steps} steps was given: at least {2 * FEWEST} are needed to choose β and ε by "
            "split-half validation; set both by hand."
        )
    return half


def best_candidate(
    scales: Iterable[float],
    regularisations: Iterable[float],
    error: Callable[[float, float], float],
    check: Check = never,
) -> tuple[float, float]:
    """The β and ε with the smallest ``error(β, ε)``; candidates that cannot be computed are skipped.

    Raises ``InputError`` if there is none. Source: Fukumizu et al. 2013, §5.3.
    """
    best, chosen = math.inf, None
    for scale, regularisation in product(scales, regularisations):
        check()
        try:
            result = error(scale, regularisation)
        except InputError:
            continue
        if result < best:
            best, chosen = result, (scale, regularisation)
    if chosen is None:
        raise InputError("No candidate of β and ε works on the second half: set both by hand, or give a longer series.")
    return chosen
