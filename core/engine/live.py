"""A run of this engine that has not ended: its record in memory, its status on disk."""

import time
from dataclasses import replace
from typing import Any

from core.engine.owner import Owner
from core.engine.records import Run

_WRITE_S = 0.5
_BEAT_S = 5.0


class Live:
    """The moving part of one run. ``run`` is replaced at every change; ``status`` is what goes to disk."""

    def __init__(self, run: Run, owner: Owner) -> None:
        self.run = run
        self.owner = owner
        self.future: Any = None
        self.stopping = False
        self.ending = False
        self.written = 0.0
        self.best: dict[str, Any] | None = None
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
        again = self.run.attempt > 0
        message = "The worker process was lost; the run was started again from its beginning." if again else ""
        self.change(status="running", started=now, heard=now, attempt=self.run.attempt + 1, message=message)
        self.change(progress=None, eta_s=None)
        self._rate_from = None

    def advance(self, row: dict[str, Any], now: float) -> None:
        """Take progress, time left and message from a trace row."""
        self.change(heard=now)
        if row.get("message"):
            self.change(message=str(row["message"])[:2000])
        step, total = row.get("step"), row.get("total")
        if not isinstance(step, int | float) or not isinstance(total, int | float) or total <= 0:
            return
        progress = min(1.0, max(0.0, step / total))
        if self._rate_from is None or progress < self._rate_from[1]:
            self._rate_from = (now, progress)  # the first step carries imports and set-up: leave it out of the rate
        done, spent = progress - self._rate_from[1], now - self._rate_from[0]
        self.change(progress=progress, eta_s=spent / done * (1 - progress) if done > 0 else None)

    def view(self, now: float) -> Run:
        """The run as seen now: the time left goes down between two reports."""
        run = self.run
        if run.eta_s is None or run.heard is None:
            return run
        return replace(run, eta_s=max(0.0, run.eta_s - (now - run.heard)))

    def status(self, **changes: Any) -> dict[str, Any]:
        """What status.json holds, with these fields changed."""
        names = ("status", "created", "started", "ended", "progress", "eta_s", "message", "heard", "attempt")
        values = {name: getattr(self.run, name) for name in names}
        return values | {"owner": self.owner.to_dict(), "beat": time.time()} | changes

    def due(self, now: float) -> bool:
        """Whether the status on disk is to be written again."""
        age = now - self.written
        return age > _BEAT_S or (self._changed and age > _WRITE_S)

    def wrote(self, now: float) -> None:
        """The status was written."""
        self.written, self._changed = now, False
