"""An example of a recorded series: a Van der Pol oscillator with random forcing, whose position is
observed with noise.
"""

import numpy as np

from deconditioning.tables.table import Table

#: Seconds between rows, Euler steps within, nonlinearity μ, sd of the pushes on the velocity, sd of the looks.
STEP, INNER, DAMPING, PUSH, LOOK = 0.1, 4, 3.0, 0.3, 0.4


def oscillator_table(steps: int = 1000, seed: int = 0) -> Table:
    """Columns ``position`` and ``velocity``, hidden, and ``observed``, the position with noise.

    ``dv = (3 (1 − x²) v − x) dt + 0.3 dW``, ``dx = v dt``: long slow arcs and sudden jumps, which no linear model has.
    """
    rng = np.random.default_rng(seed)
    x, v, dt = 1.0, 0.0, STEP / INNER
    rows = np.empty((steps, 2))
    for t in range(steps):
        for push in PUSH * np.sqrt(dt) * rng.standard_normal(INNER):
            v += dt * (DAMPING * (1 - x * x) * v - x) + push
            x += dt * v
        rows[t] = x, v
    observed = rows[:, 0] + LOOK * rng.standard_normal(steps)
    return Table({"position": rows[:, 0], "velocity": rows[:, 1], "seen": observed}, "the oscillator")
