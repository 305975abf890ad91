"""Waiting in tests: for states. No test asserts how long something took; one limit ends what would never end."""

import os
import time
from collections.abc import Callable
from typing import Any

#: Longer than anything takes on a busy machine: who waits this long waits for something that hangs. HANG_S=40 is less.
HANG_S = float(os.environ.get("HANG_S", "300"))
HANG_MS = 1000 * HANG_S


def wait_for(truth: Callable[[], Any], what: str = "what was waited for", every: float = 0.02) -> Any:
    """Wait until ``truth()``, asked ``every`` so many seconds, holds, and return it; fail when it never does."""
    end = time.monotonic() + HANG_S
    while not (found := truth()):
        assert time.monotonic() < end, f"{what} did not come in {HANG_S:.0f} s"
        time.sleep(every)
    return found


def wait_for_value(read: Callable[[], Any], wanted: Any, what: str = "a value") -> None:
    """Wait until ``read()`` equals ``wanted``; fail with what it was last when it never does.

    For what a test reads of a page between two of its runs: one look may come too early.
    """
    end = time.monotonic() + HANG_S
    while (value := read()) != wanted:
        assert time.monotonic() < end, f"{what}: {value!r} after {HANG_S:.0f} s, not {wanted!r}"
        time.sleep(0.02)
