"""Cancelled tasks that still occupy a worker.

The user who cancelled need not wait until the worker notices; the next run does.
"""

import contextlib
import time
from collections.abc import Callable
from typing import Any

from deconditioning.engine.cluster import Cluster


class CancelledTasks:
    """Futures of such tasks, each with what is to be done once its worker is free; ``len`` counts those workers.

    Parameters
    ----------
    cluster : where they run; a worker of the embedded one that holds a task for longer than the grace is restarted.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._held: list[tuple[float, Any, Callable[[], None]]] = []

    def __len__(self) -> int:
        return len(self._held)

    def add(self, future: Any, then: Callable[[], None]) -> None:
        """A worker was asked to let go of a task."""
        self._held.append((time.monotonic(), future, then))

    def tend(self, grace: float) -> None:
        """Forget tasks that have ended; end those by force that have not within ``grace`` seconds."""
        for held in list(self._held):
            since, future, then = held
            late = time.monotonic() - since > grace
            if not (late or future.done()):
                continue
            self._held.remove(held)
            with contextlib.suppress(Exception):  # the scheduler has gone, and with it what is to be tidied up
                if late and self._cluster.address is None:
                    self._cluster.end_by_force(future)
                then()
