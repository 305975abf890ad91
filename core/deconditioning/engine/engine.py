"""The engine: submits a RunSpec, watches it, cancels it, finds it again. Dask computes, this process writes."""

import logging
import os
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from deconditioning import __version__
from deconditioning.engine.cluster import Cluster
from deconditioning.engine.disk import as_bytes
from deconditioning.engine.labels import Label
from deconditioning.engine.live import Live
from deconditioning.engine.owner import Owner, is_alive
from deconditioning.engine.records import Run, RunSpec
from deconditioning.engine.run_thread import APP_GONE, RunThread
from deconditioning.engine.store import Store
from deconditioning.engine.tasks import task_path
from deconditioning.errors import InputError

logger = logging.getLogger(__name__)


class Engine:
    """Runs on one folder. A plain object: a page may keep it in a cache; safe to use from threads.

    Parameters
    ----------
    root : the runs folder; ``$DECONDITIONING_RUNS``, else ``./runs``.
    address : the user's Dask scheduler; ``$DASK_SCHEDULER_ADDRESS``, else an embedded cluster that
        starts at the first submit. An empty string asks for the embedded one.
    workers : worker processes of the embedded cluster (``$DECONDITIONING_WORKERS``, else 1).
    encrypted : whether the embedded cluster speaks TLS with throw-away certificates: others use this machine, too.
    limit_s : seconds after which a run is stopped, with its best so far; None for no limit.
    """

    def __init__(
        self,
        root: Path | None = None,
        address: str | None = None,
        workers: int | None = None,
        *,
        encrypted: bool = False,
        limit_s: float | None = None,
    ) -> None:
        folder = root if root is not None else Path(os.environ.get("DECONDITIONING_RUNS") or "runs")
        where = os.environ.get("DASK_SCHEDULER_ADDRESS") if address is None else address
        self._store = Store(Path(folder).resolve())
        self._owner = Owner.here()
        self._keeper = RunThread(self._store, Cluster(where or None, workers, encrypted=encrypted), limit_s)
        self._lock = threading.Lock()

    @property
    def root(self) -> Path:
        """The runs folder."""
        return self._store.root

    @property
    def address(self) -> str | None:
        """The user's scheduler, or None for the embedded cluster."""
        return self._keeper.cluster.address

    def active(self, *, owner: str | None = None, address: str | None = None) -> int:
        """Number of runs of this engine that wait or run; optionally of one owner, or from one address."""
        return self._keeper.count(owner, address)

    def submit(self, spec: RunSpec, owner: str = "", address: str = "") -> str:
        """Queue a run and return its id; does not wait for the embedded cluster to start.

        ``owner`` is a visitor's mark (``engine.visitor``), empty for nobody's; ``address`` where they are.
        Raises ``InputError`` for an unknown task, a folder that cannot be written, or a scheduler
        that does not answer.
        """
        task_path(spec.task)
        if self.address is not None:
            self._keeper.cluster.client()
        live = Live(
            Run("", spec, "queued", created=time.time(), owner=owner, version=__version__), self._owner, address
        )
        with self._lock:  # until it is taken, its folder looks like that of a run whose engine lost it
            run_id = self._store.create(spec, owner, live.status())
            live.change(id=run_id)
            self._keeper.take(live)
        return run_id

    def rerun(self, run_id: str) -> str:
        """Submit the same spec again; the new run's id."""
        return self.submit(self.get(run_id).spec)

    def get(self, run_id: str) -> Run:
        """The current state of one run; ``InputError`` if there is none with that id."""
        live = self._keeper.live(run_id)
        if live is not None:
            return replace(live.view(time.time()), label=self._store.label(run_id))
        run, status = self._store.read(run_id)
        if run.active and self._is_lost(run_id, status):
            return self._mark_interrupted(run_id)
        return run

    def runs(self) -> tuple[Run, ...]:
        """All runs in the folder, newest first; other folders are ignored."""
        result = []
        for run_id in self._store.ids():
            try:
                result.append(self.get(run_id))
            except (InputError, OSError):  # deleted this moment, or by another process
                continue
        return tuple(sorted(result, key=lambda run: (run.created, run.id), reverse=True))

    def trace(self, run_id: str) -> list[dict[str, Any]]:
        """All reports of the task so far, one dict each (``time`` in s since its start)."""
        live = self._keeper.live(run_id)
        return self._store.trace(run_id) + (list(live.rows) if live is not None and live.trouble else [])

    def file(self, run_id: str, name: str) -> bytes:
        """The bytes of one of the run's files."""
        live = self._keeper.live(run_id)
        content = live.files.get(name) if live is not None else None
        return self._store.read_file(run_id, name) if content is None else content

    def parts(self, run_id: str) -> dict[str, bytes]:
        """All files of a run by their path in the run's folder, such as ``result.json`` and ``files/out.nc``."""
        result, live = self._store.parts(run_id), self._keeper.live(run_id)
        if live is not None and not live.run.active:  # some of it may be in memory only
            result["status.json"] = as_bytes(live.status())
            if live.result is not None:
                result["result.json"] = as_bytes(live.result)
            result |= {f"files/{name}": data for name, data in live.files.copy().items()}
        return result

    def cancel(self, run_id: str) -> None:
        """Ask a queued or running run to stop, also one of another app; its best result so far is kept."""
        if self._keeper.cancel(run_id):
            return
        if not self.get(run_id).active:
            raise InputError(f"Run {run_id} has ended already: there is nothing to cancel.")
        self._store.ask_to_cancel(run_id)

    def call(self, run_id: str, label: Label) -> None:
        """Give a run its name, star and tags."""
        self._store.write_label(self.get(run_id).id, label)

    def restore(self, run_id: str) -> None:
        """Restore a recently deleted run."""
        self._store.restore(run_id)

    def delete(self, run_id: str) -> None:
        """Delete an ended run and its files; `restore` undoes this for a day."""
        if self.get(run_id).active:
            raise InputError(f"Run {run_id} is still running: cancel it first.")
        self._keeper.forget(run_id)
        self._store.remove(run_id)

    def wait(self, run_id: str, timeout: float = 60.0) -> Run:
        """Block until a run has ended and is on disk or can't be (or ``timeout`` seconds passed); return it."""
        end = time.monotonic() + timeout
        while time.monotonic() < end and (self.get(run_id).active or self._is_being_written(run_id)):
            time.sleep(0.02)
        return self.get(run_id)

    def _is_being_written(self, run_id: str) -> bool:
        live = self._keeper.live(run_id)
        return live is not None and not live.trouble

    def close(self) -> None:
        """End the embedded cluster; running runs become interrupted and keep their results so far."""
        self._keeper.close()
        self._owner.leave()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _is_lost(self, run_id: str, status: dict[str, Any]) -> bool:
        """Whether nobody looks after a run that its status calls active."""
        writer = status.get("owner")
        if isinstance(writer, dict) and writer.get("token") == self._owner.token:
            return self._keeper.live(run_id) is None
        return not is_alive(writer, _number(status.get("beat")))

    def _mark_interrupted(self, run_id: str) -> Run:
        with self._lock:
            live = self._keeper.live(run_id)
            if live is not None:  # it was taken meanwhile
                return live.view(time.time())
            run, status = self._store.read(run_id)
            if not run.active or not self._is_lost(run_id, status):
                return run
            ended = run.heard or run.started or run.created
            changes: dict[str, Any] = {"status": "interrupted", "ended": ended, "eta_s": None, "message": APP_GONE}
            try:
                self._store.write_status(run_id, status | changes)
            except (OSError, InputError) as error:
                logger.warning("Run %s could not be marked as interrupted: %s", run_id, error)
        return replace(run, **changes)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None
