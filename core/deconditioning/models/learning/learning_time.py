"""Estimates the duration of learning before it starts, for pages, command and benchmarks."""

#: Seconds of one evaluation of the loss with its gradient, on one core: however small the data; for every pair of
#: points that an exact kernel is summed over, and of a point and an inducing point; for the number of targets cubed.
#: From ``tests/benchmarks/results`` and runs of the bundled data: 0.02 s at 400 pairs on a line, 0.3 s at 4,950 points.
_STEP_S, _PAIR_S, _INDUCING_S, _CUBE_S = 0.006, 1.3e-8, 4e-8, 1.5e-10
#: Evaluations after which a start of L-BFGS has usually converged; 22 to 87 were seen.
EVALUATIONS = 30


def expected_seconds(
    points: int, targets: int, starts: int, steps: int, *, inducing: int | None = None, converges: bool = True
) -> float:
    """Expected seconds of learning on one core, accurate to a factor of three.

    ``starts · evaluations · (STEP_S + PAIR_S · N² + CUBE_S · m³)``, with ``N`` = ``points`` used in learning and ``m``
    = ``targets``; with fewer ``inducing`` points, ``INDUCING_S · N · inducing`` in place of both. Evaluations are the
    ``steps``, at most ``EVALUATIONS`` if the optimiser ``converges`` (L-BFGS; Adam uses all its steps).
    """
    evaluations = starts * (min(steps, EVALUATIONS) if converges else steps)
    if inducing is not None and inducing < points:
        return evaluations * (_STEP_S + _INDUCING_S * points * inducing)
    return evaluations * (_STEP_S + _PAIR_S * points**2 + _CUBE_S * targets**3)
