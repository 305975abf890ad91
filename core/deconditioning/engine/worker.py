"""Execution on a worker: one task, with its trace sent live, its cancel flag watched and its end reported."""

import contextlib
import threading
import time
import traceback
from typing import Any

from deconditioning.engine.context import Context
from deconditioning.engine.records import RunSpec, jsonable
from deconditioning.engine.tasks import find_task
from deconditioning.engine.visitors.uploads import unpack
from deconditioning.errors import Cancelled, InputError

_SEND_S = 0.02  # reports closer together than this travel in one message
_BEAT_S = 1.0


def flag_name(topic: str, run_id: str) -> str:
    """Name of the distributed event that asks a run to stop."""
    return f"{topic}-cancel-{run_id}"


class WorkerContext(Context):
    """A context on a (maybe remote) Dask worker: everything travels through the scheduler, no shared disk."""

    def __init__(self, run_id: str, topic: str) -> None:
        from distributed import Event, get_client, get_worker

        super().__init__(stop=lambda: self._stopping.is_set())
        self._worker, self._topic, self._run = get_worker(), topic, run_id
        self._key = self._worker.get_current_task()
        self._flag = Event(flag_name(topic, run_id), client=get_client())
        self._stopping, self._over = threading.Event(), threading.Event()
        self._lock, self._rows, self._sent = threading.Lock(), list[dict[str, Any]](), 0.0
        self._send("start")
        threading.Thread(target=self._pulse, name=f"pulse-{run_id}", daemon=True).start()

    def best(self, result: dict[str, Any]) -> None:
        """Keep the best so far, and send it after the trace before it, so that both survive the loss of this worker."""
        super().best(result)
        self._flush()
        self._send("best", result=self.best_result)

    def end(self) -> None:
        """Send what is left of the trace and stop watching."""
        self._over.set()
        self._flush()

    def _emit(self, row: dict[str, Any]) -> None:
        with self._lock:
            self._rows.append(row)
            late = time.monotonic() - self._sent > _SEND_S
        if late:
            self._flush()

    def _flush(self) -> None:
        with self._lock:
            if self._rows:
                rows, self._rows, self._sent = self._rows, [], time.monotonic()
                self._send("trace", rows=rows)

    def _send(self, kind: str, **content: Any) -> None:
        self._worker.log_event(self._topic, {"kind": kind, "run": self._run, **content})

    def _pulse(self) -> None:
        """Wait for the cancel flag; once a second flush, show life, and see whether anyone still waits."""
        while not self._over.is_set():
            began = time.monotonic()
            try:
                if self._flag.wait(timeout=_BEAT_S):
                    self._stopping.set()
            except Exception:  # the scheduler is away; the worker process ends itself if it stays away
                self._over.wait(_BEAT_S)
            if self._abandoned():
                self._stopping.set()
            self._over.wait(max(0.0, _BEAT_S - (time.monotonic() - began)))
            if not self._over.is_set():
                self._flush()
                self._send("beat")

    def _abandoned(self) -> bool:
        """Whether the app that wants this task's result has gone (Dask then releases the task)."""
        task = self._worker.state.tasks.get(self._key)
        return task is None or task.state in ("cancelled", "released", "forgotten")


def run_task(
    run_id: str, topic: str, spec: dict[str, Any], files: list[tuple[bytes, bytes]] | None = None
) -> dict[str, Any]:
    """Do one run on this worker; ``files`` are the uploads it names, where the worker does not share their folder.

    Returns ``{"status", "message", "result", "files", "seconds": {"cpu", "wall"}}``; a failure is
    reported there in a sentence, with the traceback as the file ``error.txt``.
    """
    import dask

    context = WorkerContext(run_id, topic)
    cpu, wall = time.process_time(), time.perf_counter()
    end: dict[str, Any] = {"result": None}
    try:
        record = RunSpec.from_dict(spec)
        unpack(files or [])
        task = find_task(record.task)  # imports take seconds in a fresh worker
        context.check()
        with dask.config.set(scheduler="synchronous"):  # else xarray hands its file locks to the cluster, and fails
            result = jsonable(task(record.arguments(), context))
        if not isinstance(result, dict):
            raise TypeError(f"the task returned {type(result).__name__}, not a dictionary")
        end |= {"status": "cancelled" if result.get("cancelled") else "done", "result": result}
        end["message"] = str(result.get("message") or "")
    except Cancelled:
        end |= {"status": "cancelled", "result": context.best_result, "message": ""}
    except Exception as error:
        end |= {"status": "failed", "result": context.best_result, "message": _sentence(error)}
        if not isinstance(error, InputError):
            with contextlib.suppress(Exception):  # the run's message has the error, even where the disk is full
                context.save("error.txt", traceback.format_exc().encode())
    finally:
        context.end()
    seconds = {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
    return end | {"files": context.files, "seconds": seconds}


def _sentence(error: Exception) -> str:
    """A failure in words."""
    if isinstance(error, InputError):
        return str(error)
    name, text = type(error).__name__, " ".join(str(error).split())[:300]
    if isinstance(error, MemoryError) or name == "OutOfMemoryError":
        return f"There was not enough memory ({text or name}): use fewer points, larger blocks or another device."
    if isinstance(error, ModuleNotFoundError):
        return f"The worker lacks a package ({text}): install this project's requirements.txt where workers run."
    return f"The computation stopped with {name}: {text or 'no further details'} (details in error.txt)."
