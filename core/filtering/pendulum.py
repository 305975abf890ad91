"""An example of a recorded series: a pendulum with friction, pushed at random, whose bob is seen through noise."""

import numpy as np

from core.tables import Table

#: Seconds a step, gravity over length, friction, sd of the pushes on the velocity, sd of the looks.
STEP, PULL, FRICTION, PUSH, LOOK = 0.1, 9.0, 0.15, 0.35, 0.1


def pendulum_table(steps: int = 800, seed: int = 0) -> Table:
    """Columns ``angle`` and ``velocity``, hidden, and ``across`` and ``down`` of the bob, seen with noise.

    ``dv = −(9 sin a + 0.15 v) dt + 0.35 dW``, ``da = v dt``, semi-implicit Euler steps of 0.1 s.
    """
    rng = np.random.default_rng(seed)
    angle, velocity = np.empty(steps), np.empty(steps)
    a, v = 1.2, 0.0
    for t in range(steps):
        v += -STEP * (PULL * np.sin(a) + FRICTION * v) + PUSH * np.sqrt(STEP) * rng.standard_normal()
        a += STEP * v
        angle[t], velocity[t] = a, v
    look = LOOK * rng.standard_normal((2, steps))
    columns = {"angle": angle, "velocity": velocity, "across": np.sin(angle) + look[0], "down": np.cos(angle) + look[1]}
    return Table(columns, "the pendulum")
