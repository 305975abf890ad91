"""A run of this engine that is not completely on disk yet: its state in memory, and what remains to be written."""

import time
from dataclasses import replace
from typing import Any

from deconditioning.engine.owner import Owner
from deconditioning.engine.records import Run
from deconditioning.engine.store import Store

_WRITE_S = 0.5
_BEAT_S = 5.0
_NOT_SAVED = (
    "The run cannot be written to disk ({}): it is kept in memory, and writing is retried every second. Free space "
    "in the runs folder, and do not close the app while this message is shown."
)


class Live:
    """The moving part of one run. ``run`` is replaced at every change; ``status`` is what goes to disk.

    ``rows`` of the trace, ``result`` and ``files`` are kept until ``save`` has written them; ``trouble`` says why it
    could not. ``address`` is where the visitor is who asked; ``overtime`` says why it was stopped, where it took too
    long.
    """

    def __init__(self, run: Run, owner: Owner, address: str = "") -> None:
        self.run = run
        self.owner = owner
        self.address = address
        self.future: Any = None
        self.stopping = False
        self.ending = False
        self.overtime = ""
        self.began = 0.0  # by the clock that never jumps
        self.written = 0.0
        self.rows: list[dict[str, Any]] = []
        self.result: dict[str, Any] | None = None
        self.files: dict[str, bytes] = {}
        self.trouble = ""
        self._unsaved = False
        self._changed = True
        self._rate_from: tuple[float, float] | None = None

    def change(self, **fields: Any) -> None:
        """Replace fields of the run."""
        self.run = replace(self.run, **fields)
        self._changed = True

    def hear(self, now: float) -> None:
        """The worker was heard of."""
        self.change(heard=now)

    def start(self, now: float) -> None:
        """The task began on a worker (again, when its first worker was lost)."""
        again, self.began = self.run.attempt > 0, time.monotonic()
        message = "The worker process was lost; the run was started again from its beginning." if again else ""
        self.change(status="running", started=now, heard=now, attempt=self.run.attempt + 1, message=message)
        self.change(progress=None, eta_s=None)
        self._rate_from = None

    def advance(self, row: dict[str, Any], now: float) -> None:
        """Take progress, time left and message from a trace row."""
        self.change(heard=now)
        if row.get("message"):
            self.change(message=str(row["message"])[:2000])
        share, step, total = row.get("share"), row.get("step"), row.get("total")
        if isinstance(step, int | float) and isinstance(total, int | float) and total > 0 and share is None:
            share = step / total
        if not isinstance(share, int | float):
            return
        progress = min(1.0, max(0.0, share))
        if self._rate_from is None or progress < self._rate_from[1]:
            self._rate_from = (now, progress)  # the first step carries imports and set-up: leave it out of the rate
        done, spent = progress - self._rate_from[1], max(0.0, now - self._rate_from[0])
        self.change(progress=progress, eta_s=spent / done * (1 - progress) if done > 0 else None)

    def keep(self, result: dict[str, Any] | None = None, files: dict[str, bytes] | None = None) -> None:
        """Take a result, files, to be saved."""
        if result is not None:
            self.result, self._unsaved = result, True
        if files:
            self.files |= files
            self.change(files=tuple(sorted({*self.run.files, *files})))

    def save(self, store: Store) -> None:
        """Write what is not on disk yet, in the order in which readers may rely on it; ``OSError`` as it comes."""
        if self.rows:
            store.add_trace(self.run.id, self.rows)
            self.rows = []
        for name in list(self.files):
            store.write_file(self.run.id, name, self.files[name])
            del self.files[name]
        if self._unsaved and self.result is not None:
            store.write_result(self.run.id, self.result)
            self._unsaved = False
        if not self.run.active or self.due(time.time()):
            store.write_status(self.run.id, self.status())
            self.wrote(time.time())
        self.trouble = ""

    def view(self, now: float) -> Run:
        """The run as seen now: the time left goes down between two reports; what could not be written is shown."""
        run = self.run
        if self.trouble:
            run = replace(run, message=f"{run.message} {_NOT_SAVED.format(self.trouble)}".strip())
        if not run.active:
            return replace(run, result=self.result)
        if run.eta_s is None or run.heard is None:
            return run
        return replace(run, eta_s=max(0.0, run.eta_s - (now - run.heard)))

    def status(self, **changes: Any) -> dict[str, Any]:
        """What status.json holds, with these fields changed."""
        names = ("status", "created", "started", "ended", "progress", "eta_s", "message", "heard", "attempt", "version")
        values = {name: getattr(self.run, name) for name in names}
        return values | {"owner": self.owner.to_dict(), "beat": time.time()} | changes

    def due(self, now: float) -> bool:
        """Whether the status on disk is to be written again."""
        age = abs(now - self.written)  # the clock may have been set back
        return age > _BEAT_S or (self._changed and age > _WRITE_S)

    def wrote(self, now: float) -> None:
        """The status was written."""
        self.written, self._changed = now, False
