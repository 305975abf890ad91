"""About how long learning takes, before it begins."""

#: Seconds that one step takes however small the data, and more for every pair of points that the kernel is summed over:
#: 100 steps at 441 bags of 10 points take 40 s, a step at 5,000 points 0.36 s (``tests/benchmarks/results``, one core).
STEP_S, PAIR_S = 0.01, 2e-8


def expected_seconds(points: int, starts: int, steps: int, *, inducing: int | None = None) -> float:
    """Seconds that learning takes on one core of the machine of the stored benchmarks, all steps taken.

    ``starts · steps · (STEP_S + PAIR_S · N · M)``, with ``N`` = ``points`` that learning looks at and ``M`` = N, or the
    number of ``inducing`` points where these are fewer. A search that converges ends earlier.
    """
    others = points if inducing is None else min(inducing, points)
    return starts * steps * (STEP_S + PAIR_S * points * others)
