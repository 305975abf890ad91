"""What the server does by itself: sessions that are over give their memory back, uploads nobody opens are deleted.

Streamlit keeps a session for two minutes after its browser has gone, in case that comes back, and lets go of it only
when somebody else leaves; the C library keeps freed memory for itself until it is asked.
"""

import ctypes
import gc
import logging
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from deconditioning.engine.visitors.upload_quota import expire
from pages.kit.streamlit_private import count_sessions, let_old_sessions_go
from pages.kit.visitor import is_shared

if TYPE_CHECKING:
    from streamlit.runtime import Runtime

#: Of malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
EVERY_S, _EXPIRE_EVERY_S = 60.0, 3600.0
logger = logging.getLogger("streamlit.deconditioning")


def hold_little() -> None:
    """Let the C library hold little freed memory, from before the first thread on: two arenas, 1 MiB at their ends.

    By itself it makes eight arenas a core, holds up to 64 MiB at the end of each, and `malloc_trim` frees only the
    main one's.
    """
    for option, value in ((_ARENA_MAX, 2), (_TRIM_THRESHOLD, 1 << 20), (_MMAP_THRESHOLD, 1 << 20)):
        _c_library("mallopt", option, value)


def keep_house(runtime: "Runtime") -> None:
    """Begin to do so, in a thread of its own."""
    threading.Thread(target=_rounds, args=(runtime,), name="housekeeping", daemon=True).start()


def _rounds(runtime: "Runtime") -> None:
    kept, expired = 0, -_EXPIRE_EVERY_S
    while True:
        time.sleep(EVERY_S)
        try:
            kept = let_sessions_go(runtime, kept)
            if time.monotonic() - expired > _EXPIRE_EVERY_S:
                expired = time.monotonic()
                expire(shared=is_shared())
        except Exception:  # it is tried again in a minute; the server goes on
            logger.exception("The server could not tidy up.")


def let_sessions_go(runtime: "Runtime", before: int = 0) -> int:
    """Drop sessions whose time to come back is over, and return memory where some are fewer than ``before``.

    Returns how many sessions there are, with those that may come back.
    """
    gone = threading.Event()
    let_old_sessions_go(runtime, gone.set)
    gone.wait(EVERY_S)
    now = count_sessions(runtime)
    if now < before:
        _give_memory_back()
    return now


def _give_memory_back() -> None:
    """Hand memory that was freed back to the system, where the C library can."""
    gc.collect()
    _c_library("malloc_trim", 0)


def _c_library(function: str, *arguments: int) -> None:
    """Call a function of the C library; one that it does not have is left out."""
    if sys.platform.startswith("linux"):
        with suppress(OSError, AttributeError):  # another C library
            getattr(ctypes.CDLL(None), function)(*arguments)
