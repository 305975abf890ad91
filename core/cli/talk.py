"""What a command says while it works: on standard error, so that standard output stays the result."""

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Any

_EVERY_S = 1.0


def say(sentence: str) -> None:
    """One line on standard error."""
    print(sentence, file=sys.stderr, flush=True)


class Progress:
    """Trace rows as lines on standard error, at most one a second."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._last = 0.0

    def __call__(self, row: dict[str, Any]) -> None:
        """Say one row, unless the last one was said less than a second ago."""
        now = time.monotonic()
        if self._quiet or now - self._last < _EVERY_S:
            return
        self._last = now
        known = {"step", "total", "message", "time"}
        where = f"{row.get('step')} of {row['total']}" if row.get("total") else str(row.get("step") or "")
        numbers = [f"{name} {row[name]:.4g}" for name in row if name not in known and isinstance(row[name], float)]
        say("  ".join(part for part in (where, str(row.get("message") or ""), *numbers[:4]) if part))


@contextlib.contextmanager
def stdout_kept_clean() -> Iterator[None]:
    """What any library prints goes to standard error."""
    with contextlib.redirect_stdout(sys.stderr):
        yield
