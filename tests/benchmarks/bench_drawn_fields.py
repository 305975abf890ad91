"""How far the widths of intervals are off on fields drawn from a known covariance, by how many cells are visible."""

import numpy as np

from tests.benchmarks.table import Row, keep
from tests.drawn_fields import drawn_problem, generating, judged, learned

#: Sides of the fields in pixels, their exponents α, and draws of each.
SIDES, EXPONENTS, DRAWS = (80, 110), (0.6, 1.0, 1.4), 5
SMOKE = {"SIDES": (40,), "EXPONENTS": (1.0,), "DRAWS": 2}


def bench_drawn_fields() -> None:
    """The sd over draws of the logarithm of the factor that 95 % intervals need: learned, and with what made them."""
    rows = []
    for side in SIDES:
        more: dict[str, list[float]] = {"alpha": [], "learned": [], "known": [], "held": [], "held_known": []}
        for seed, alpha in enumerate(EXPONENTS * DRAWS):  # every field from random numbers of its own
            problem = drawn_problem(side, alpha, seed)
            found = learned(problem)
            held, factor, _ = judged(problem, found)
            held_known, known, _ = judged(problem, generating(problem, found, alpha))
            for name, value in zip(more, (alpha, factor, known, held, held_known), strict=True):
                more[name].append(value)
        spread = {name: 100 * float(np.log(more[name]).std()) for name in ("learned", "known")}
        cells, size = len(problem.data.targets), f"{len(more['learned'])} fields of {side} × {side} pixels"
        note = f"{spread['known']:.1f} % with the hyperparameters that made the fields"
        also = {**more, "cells": cells, "spread_known": spread["known"]}
        rows.append(
            Row(f"Width of intervals, {cells} visible cells", size, spread["learned"], "%", note=note, more=also)
        )
    keep("drawn_fields", rows)
