"""Messages of a command on standard error, so that standard output contains only the result."""

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Any

from deconditioning.wording import rough_duration

_EVERY_S = 1.0


def say(sentence: str) -> None:
    """One line on standard error."""
    print(sentence, file=sys.stderr, flush=True)


class Progress:
    """Trace rows as lines on standard error, at most one step per second, with the remaining time now and then."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._last = 0.0
        self._begun: tuple[float, int] | None = None

    def __call__(self, row: dict[str, Any]) -> None:
        """Say one row, unless it is a step and the last one was said less than a second ago."""
        now = time.monotonic()
        if self._quiet or ("step" in row and now - self._last < _EVERY_S):
            return
        self._last = now
        known = {"step", "total", "message", "time"}
        where = f"{row.get('step')} of {row['total']}" if row.get("total") else str(row.get("step") or "")
        numbers = [f"{name} {row[name]:.4g}" for name in row if name not in known and isinstance(row[name], float)]
        left = self._left(now, row.get("step"), row.get("total"))
        say("  ".join(part for part in (where, left, str(row.get("message") or ""), *numbers[:4]) if part))

    def _left(self, now: float, step: Any, total: Any) -> str:
        """How long the steps that are left take at most, at the pace so far."""
        if not isinstance(step, int) or not isinstance(total, int):
            return ""
        if self._begun is None or step < self._begun[1]:
            self._begun = (now, step)
        since, done = now - self._begun[0], step - self._begun[1]
        return f"at most {rough_duration(since / done * (total - step))} left" if since > 5 and done > 1 else ""


@contextlib.contextmanager
def clean_stdout() -> Iterator[None]:
    """Redirect anything that libraries print to standard error."""
    with contextlib.redirect_stdout(sys.stderr):
        yield
