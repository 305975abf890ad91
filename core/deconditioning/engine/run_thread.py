"""The engine's own thread: gives runs to Dask, hears what they report, and writes it to disk."""

import atexit
import contextlib
import logging
import queue
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable
from typing import Any

from deconditioning.engine.cancelled_tasks import CancelledTasks
from deconditioning.engine.cluster import Cluster
from deconditioning.engine.context import check_file_name
from deconditioning.engine.live import Live
from deconditioning.engine.store import Store
from deconditioning.engine.turns import in_turn, waiting_sentences
from deconditioning.engine.visitors.uploads import packed
from deconditioning.engine.worker import flag_name, run_task
from deconditioning.errors import InputError
from deconditioning.wording import duration

logger = logging.getLogger(__name__)
_TICK_S = 0.05
_RETRY_S = 1.0
_WATCH_S = 3.0
_GRACE_S = 60.0
APP_GONE = "The app was closed while this run was in progress: its trace and best result so far are kept; run it again."
_LOST = "The connection to the Dask scheduler was lost: trace and best result so far are kept; run it again."
_KILLED = (
    "The worker process was killed twice (often for lack of memory): trace and best result so far are kept; "
    "use fewer points or larger blocks and run it again."
)
_MENDING = "The computing process was lost: a new one is being started, and the run starts again there."
_CANCELLED_EARLY = "Cancelled before it started."
_NOTHING_YET = "Cancelled before there was a first result."
_CANCELLED = "Cancelled; the best result so far is kept."


class RunThread:
    """Keeps this engine's active runs. All writing is done by one thread, in the order of events."""

    def __init__(self, store: Store, cluster: Cluster, limit_s: float | None = None) -> None:
        self.cluster = cluster
        self._letting_go = CancelledTasks(cluster)
        self._limit_s = limit_s
        self._served: dict[str, int] = {}
        self._durations: deque[float] = deque(maxlen=10)
        self._store = store
        self._topic = f"deconditioning-{uuid.uuid4().hex[:12]}"
        self._inbox: queue.Queue[tuple[str, Any]] = queue.Queue()
        self._active: dict[str, Live] = {}
        self._unwritten: dict[str, Live] = {}  # ended, but not all of it is on disk
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._leaving = False
        self._tried = self._watched = 0.0
        self.cluster.hear(self._topic, lambda event: self._inbox.put(("event", event[1])))

    def live(self, run_id: str) -> Live | None:
        """The run of that id, if it is ours and active or not wholly on disk."""
        return self._active.get(run_id) or self._unwritten.get(run_id)

    def count(self, owner: str | None = None, address: str | None = None) -> int:
        """How many runs wait or go on; of one owner, from one address."""
        every = [*self._active.values()]
        return sum(owner in (None, live.run.owner) and address in (None, live.address) for live in every)

    def forget(self, run_id: str) -> None:
        """Write no more of an ended run: it is to be deleted."""
        self._unwritten.pop(run_id, None)

    def take(self, live: Live) -> None:
        """Take charge of a new run, whose first status is on disk."""
        with self._lock:
            if self._closed:
                raise InputError("The engine was closed: reload the page.")
            self._active[live.run.id] = live
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="engine", daemon=True)
                self._thread.start()
        self._inbox.put(("submit", live.run.id))

    def cancel(self, run_id: str) -> bool:
        """Ask one of our active runs to stop; False when it is not one."""
        if run_id not in self._active:
            return False
        self._inbox.put(("cancel", run_id))
        return True

    def close(self) -> None:
        """Stop the thread, mark what is active as interrupted, end or leave the cluster."""
        with self._lock:
            self._closed = True
        if self._thread is not None and self._thread is not threading.current_thread():
            self._inbox.put(("close", None))
            self._thread.join(timeout=10)
        for run_id in list(self._active):
            self._end(run_id, "interrupted", APP_GONE)
        for run_id, live in self._unwritten.items():
            logger.error("Run %s is lost, it could not be written: %s", run_id, live.trouble)
        self.cluster.close()
        atexit.unregister(self.close)

    def _serve(self) -> None:
        handlers: dict[str, Callable[[Any], None]] = {
            "submit": self._submit,
            "cancel": self._cancel,
            "event": self._event,
            "ended": self._ended,
        }
        tended = 0.0
        while True:
            try:
                wait = _TICK_S if self._active or self._letting_go else _RETRY_S if self._unwritten else None
                with contextlib.suppress(queue.Empty):  # nothing came: time to look after the runs
                    kind, content = self._inbox.get(timeout=wait)
                    if kind == "close":
                        return
                    handlers[kind](content)
            except Exception:  # one broken message must not stop the other runs
                logger.exception("The run engine met an unexpected error.")
            if time.monotonic() - tended > _TICK_S:
                tended = time.monotonic()
                self._tend()
                self._letting_go.tend(_GRACE_S)
                self._begin_next()
                self._retry()
                self._watch()

    def _submit(self, run_id: str) -> None:
        """A new run: it waits for its turn."""
        self._begin_next()

    def _waiting(self) -> list[str]:
        """Runs that have not been given to Dask, in the order in which they will be."""
        every = [*self._active.values()]
        waiting = [(live.run.id, live.run.owner) for live in every if live.future is None]
        return in_turn(waiting, [live.run.owner for live in every if live.future is not None], self._served)

    def _begin_next(self) -> None:
        """Give runs to Dask: on our own workers as many as there are of them, on the user's all."""
        for run_id in self._waiting():
            under_way = sum(live.future is not None for live in self._active.values()) + len(self._letting_go)
            if self.cluster.address is None and under_way >= self.cluster.workers:
                return
            self._served[self._active[run_id].run.owner] = max(self._served.values(), default=0) + 1
            self._give(run_id)

    def _tell_waiting(self) -> None:
        """Say to runs that wait how many come before them, and about how long that takes."""
        waiting = self._waiting()
        left = [live.run.eta_s for live in self._active.values() if live.future is not None]
        mean = sum(self._durations) / len(self._durations) if self._durations else None
        for run_id, sentence in zip(
            waiting, waiting_sentences(len(waiting), left, mean, self.cluster.workers), strict=True
        ):
            self._active[run_id].change(message=sentence)

    def _give(self, run_id: str) -> None:
        live = self._active[run_id]
        live.change(message="")
        try:
            client = self.cluster.client()
        except Exception as error:
            self._end(run_id, "failed", str(error))
            return
        if not self._leaving:
            self._leaving = True
            atexit.register(self.close)  # now that Dask is imported: before Dask's own farewell
        workers = client.scheduler_info(n_workers=-1).get("workers", {})
        if self.cluster.address and not workers:
            live.change(message=f"Waiting: the scheduler at {self.cluster.address} has no workers yet.")
        spec = live.run.spec.to_dict()
        files = packed(live.run.spec.settings) if self.cluster.address else []  # our own workers share the folder
        live.future = client.submit(run_task, run_id, self._topic, spec, files, key=f"run-{run_id}", pure=False)

    def _cancel(self, run_id: str) -> None:
        live = self._active.get(run_id)
        if live is None or live.stopping:
            return
        live.stopping = True
        if live.run.status == "queued":
            if live.future is not None:
                live.future.cancel()
            self._end(run_id, "cancelled", _CANCELLED_EARLY)
            return
        self._flag(run_id).set()
        if live.result is None and live.run.progress is None and not live.overtime:  # there is nothing to wait for
            future, live.future = live.future, None
            self._letting_go.add(future, lambda: self._flag(run_id).clear())
            self._end(run_id, "cancelled", _NOTHING_YET)
            return
        live.change(message="Stopping; the best result so far is being completed.")

    def _event(self, event: dict[str, Any]) -> None:
        live = self._active.get(str(event.get("run")))
        if live is None:
            return
        now, kind = time.time(), event.get("kind")
        live.hear(now)
        if kind == "start":
            live.start(now)
            if live.stopping:
                self._flag(live.run.id).set()
        elif kind == "best":
            live.keep({**event["result"], "partial": True})
        elif kind == "trace":
            mark = {"attempt": live.run.attempt} if live.run.attempt > 1 else {}
            live.rows += [row | mark for row in event["rows"]]
            for row in event["rows"]:
                live.advance(row, now)
        self._save(live)

    def _ended(self, run_id: str) -> None:
        live = self._active.get(run_id)
        if live is None:
            return
        state = live.future.status
        if state == "finished":
            try:
                self._finish(live, live.future.result(timeout=120))
            except Exception as error:
                self._end(run_id, "failed", f"The result could not be transferred from the worker: {error}.")
        elif state == "error":
            cause = live.future.exception(timeout=10)
            killed = type(cause).__name__ == "KilledWorker"
            self._end(run_id, "interrupted" if killed else "failed", _KILLED if killed else _foreign(cause))
        elif live.stopping:
            self._end(run_id, "cancelled", _CANCELLED)
        else:
            self._end(run_id, "interrupted", _LOST)

    def _finish(self, live: Live, end: dict[str, Any]) -> None:
        """Keep what came back: files, the result, and the status that announces them."""
        run_id, message = live.run.id, end["message"]
        live.keep(end["result"], {check_file_name(name): data for name, data in end["files"].items()})
        if end["status"] == "cancelled" and not message:
            message = _CANCELLED if end["result"] is not None else _NOTHING_YET
        self._end(run_id, end["status"], message)

    def _end(self, run_id: str, status: str, message: str) -> None:
        live = self._active.get(run_id)
        if live is None:
            return
        if live.overtime and status == "cancelled":
            message = live.overtime
        if live.began and status in ("done", "cancelled"):
            self._durations.append(time.monotonic() - live.began)
        changes = {"status": status, "message": message, "ended": time.time(), "eta_s": None}
        live.change(**changes, **({"progress": 1.0} if status == "done" else {}))
        self._unwritten[run_id] = live  # seen as ended from here on, from memory until the disk tells the whole story
        self._active.pop(run_id, None)
        self._save(live)
        if live.stopping and live.future is not None and self.cluster.connected:
            with contextlib.suppress(Exception):  # the flag is forgotten with the scheduler anyway
                self._flag(run_id).clear()
        live.future = None

    def _tend(self) -> None:
        """Between events: other processes' wishes to cancel, statuses due on disk, a scheduler gone."""
        now = time.time()
        for run_id, live in list(self._active.items()):
            try:
                if self._store.cancel_requested(run_id):
                    self._cancel(run_id)
                self._stop_overtime(live)
                if live.due(now):
                    self._save(live)
                if live.future is not None and live.future.done() and not live.ending:
                    live.ending = True
                    self._inbox.put(("ended", run_id))  # behind the reports that came before it
                elif live.future is not None and not self.cluster.connected:
                    self._end(run_id, "interrupted", _LOST)
            except InputError:  # the scheduler cannot be asked: the next turn tells
                continue

    def _stop_overtime(self, live: Live) -> None:
        """Ask a run that takes longer than it may to stop; one that does not is ended with its worker."""
        if self._limit_s is None or not live.began:
            return
        over = time.monotonic() - live.began - self._limit_s
        if over > 0 and not live.overtime:
            live.overtime = (
                f"Stopped after {duration(self._limit_s)}, the limit of this server; the best so far is kept."
            )
            self._cancel(live.run.id)
        elif over > _GRACE_S and live.future is not None:
            future = live.future
            self._end(live.run.id, "cancelled", live.overtime)
            self.cluster.end_by_force(future)

    def _watch(self) -> None:
        """While runs wait or go on, see that the embedded cluster has its workers, and that those who wait know why."""
        now = time.monotonic()
        if not self._active or now - self._watched < _WATCH_S:
            return
        self._watched = now
        self._tell_waiting()
        if self.cluster.mend():
            logger.warning("A worker process of the run engine ended unexpectedly; a new one is being started.")
            for live in self._active.values():
                live.change(message=_MENDING)

    def _retry(self) -> None:
        """Ended runs that are not wholly on disk."""
        now = time.monotonic()
        if self._unwritten and now - self._tried > _RETRY_S:
            self._tried = now
            for live in list(self._unwritten.values()):
                self._save(live)

    def _save(self, live: Live) -> None:
        """Write what is new of a run; what cannot be written stays in memory, and the run says so."""
        run_id = live.run.id
        try:
            live.save(self._store)
        except InputError:  # the folder was removed by hand: nobody waits for this run
            if live.future is not None:
                live.future.cancel()
            self._active.pop(run_id, None)
            self._unwritten.pop(run_id, None)
        except OSError as error:
            live.wrote(time.time())  # not at every turn
            if not live.trouble:
                logger.warning("Run %s cannot be written: %s", run_id, error)
            live.trouble = error.strerror or str(error)
        else:
            self._unwritten.pop(run_id, None)

    def _flag(self, run_id: str) -> Any:
        from distributed import Event

        return Event(flag_name(self._topic, run_id), client=self.cluster.client())


def _foreign(error: BaseException) -> str:
    """A failure that happened around the task, in words."""
    if isinstance(error, ModuleNotFoundError):
        return (
            f"The worker cannot import this project ({error}): start its workers in an environment where "
            "it is installed, with `pip install .` in the project's folder."
        )
    return f"The run failed with {type(error).__name__}: {' '.join(str(error).split())[:300]}."
