"""One embedded cluster for the engines of many tests: its processes take longer to start than what they are given."""

import os
from collections.abc import Callable
from typing import Any

from deconditioning.engine.cluster import Cluster


def see(runs: str) -> None:
    """In a worker: the runs folder, and the uploads in it, of the test that uses the cluster now."""
    os.environ["DECONDITIONING_RUNS"] = runs


class KeptCluster(Cluster):
    """Goes from one test's engine to the next one's."""

    def hear(self, topic: str, handler: Callable[[Any], None]) -> None:
        super().hear(topic, handler)
        if self.connected:
            self._client.subscribe_topic(topic, handler)
            self._client.run(see, os.environ.get("DECONDITIONING_RUNS", ""))

    def close(self) -> None:
        """End it only where something still runs, which nobody waits for any more."""
        if self.connected and any(self._client.processing().values()):
            super().close()

    def end(self) -> None:
        """End it after the last test."""
        super().close()
