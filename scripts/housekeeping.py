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

from streamlit.runtime import Runtime

from deconditioning.engine.room import expire
from pages.kit.visitor import is_shared

EVERY_S, EXPIRE_EVERY_S = 60.0, 3600.0
logger = logging.getLogger("streamlit.deconditioning")


def keep_house(runtime: Runtime) -> None:
    """Begin to do so, in a thread of its own."""
    threading.Thread(target=_rounds, args=(runtime,), name="housekeeping", daemon=True).start()


def _rounds(runtime: Runtime) -> None:
    kept, expired = 0, -EXPIRE_EVERY_S
    while True:
        time.sleep(EVERY_S)
        try:
            kept = let_sessions_go(runtime, kept)
            if time.monotonic() - expired > EXPIRE_EVERY_S:
                expired = time.monotonic()
                expire(shared=is_shared())
        except Exception:  # it is tried again in a minute; the server goes on
            logger.exception("The server could not tidy up.")


def let_sessions_go(runtime: Runtime, before: int = 0) -> int:
    """Drop sessions whose time to come back is over, and return memory where some are fewer than ``before``.

    Returns how many sessions there are, with those that may come back.
    """
    manager, gone = runtime._session_mgr, threading.Event()
    sessions = manager._session_storage._cache  # type: ignore[attr-defined]
    loop = runtime._get_async_objs().eventloop
    loop.call_soon_threadsafe(lambda: (sessions.expire(), gone.set()))
    gone.wait(EVERY_S)
    now = manager.num_sessions()
    if now < before:
        give_memory_back()
    return now


def give_memory_back() -> None:
    """Hand memory that was freed back to the system, where the C library can."""
    gc.collect()
    if sys.platform.startswith("linux"):
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
