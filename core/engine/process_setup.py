"""What each process of the embedded cluster does first: be polite, and never outlive the app."""

import asyncio
import contextlib
import os
from typing import Any

_NICE = 10
_watchers: set[Any] = set()


def dask_setup(server: Any) -> None:
    """Called by Dask in a new scheduler, nanny or worker process of the embedded cluster."""
    if type(server).__name__ == "Worker":
        os.nice(max(0, _NICE - os.nice(0)))
        return
    os.setpgid(0, 0)  # Ctrl-C in a terminal is for the app, which then ends the cluster in order
    if type(server).__name__ == "Scheduler":
        # The app holds this process's stderr as a pipe that nobody reads: a full one would block it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    _watchers.add(asyncio.get_running_loop().create_task(_end_with_parent(server, os.getppid())))


async def _end_with_parent(server: Any, parent: int) -> None:
    while os.getppid() == parent:
        await asyncio.sleep(1.0)
    kill = getattr(server, "kill", None)  # a nanny has a worker process to end
    if kill is not None:
        with contextlib.suppress(Exception):
            await asyncio.wait_for(kill(timeout=1), 5)
    os._exit(0)
