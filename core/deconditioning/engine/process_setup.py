"""Setup of each process of the embedded cluster: low priority, no web page, and an end together with the app."""

import asyncio
import contextlib
import multiprocessing
import os
from collections.abc import Callable
from typing import Any

from deconditioning.jail import end_with_parent

_watchers: set[Any] = set()


def setup_under(app: int) -> Callable[[Any], None]:
    """Set up this new scheduler, nanny or worker process; returns what Dask is to call with its server.

    ``app`` is the process id of the app, which may have ended since it started this process. A worker's parent is its
    nanny. Workers run at the niceness of ``$DECONDITIONING_NICE``, else 10, so that the pages stay quick.
    """
    import dask

    nanny = multiprocessing.parent_process()
    parent = app if nanny is None or nanny.pid is None else nanny.pid
    end_with_parent(parent)
    dask.config.set({"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []})

    def dask_setup(server: Any) -> None:
        """Dask calls this with the scheduler, nanny or worker of the process."""
        if getattr(server, "http_server", None) is not None:
            server.http_server.stop()  # it would tell everybody on this machine of all runs
        if nanny is not None:
            os.nice(max(0, int(os.environ.get("DECONDITIONING_NICE", "10")) - os.nice(0)))
            return
        os.setpgid(0, 0)  # Ctrl-C in a terminal is for the app, which then ends the cluster in order
        if type(server).__name__ == "Scheduler":
            # The app holds this process's stderr as a pipe that nobody reads: a full one would block it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        _watchers.add(asyncio.get_running_loop().create_task(_end_with(server, parent)))

    return dask_setup


async def _end_with(server: Any, parent: int) -> None:
    """Where the kernel does not end this process with its parent."""
    while os.getppid() == parent:
        await asyncio.sleep(1.0)
    kill = getattr(server, "kill", None)  # a nanny has a worker process to end
    if kill is not None:
        with contextlib.suppress(Exception):  # this process ends next, whatever becomes of its worker
            await asyncio.wait_for(kill(timeout=1), 5)
    os._exit(0)
