"""Work that must not hold up a page: one thread, results kept by key, the newest request wins."""

import contextlib
import ctypes
import os
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import streamlit as st

from deconditioning.errors import Cancelled, InputError
from deconditioning.threads import usable_cores
from pages.kit.layout.escaping import sentence_of
from pages.kit.record import page_record
from pages.kit.session import Key
from pages.kit.streamlit_private import is_connected, session_id

#: Jobs that are kept, in all sessions: one page of Downscaling alone looks at up to eight.
_KEPT = 16
_NICE = 10
#: Seconds after which work that nobody asked for again is stopped: its page was closed. Pages that wait ask every
#: second, browsers let hidden ones do so once a minute.
PATIENCE_S = 180.0
#: Seconds for which work goes on after its window was closed: a page that is reloaded asks for it again.
_RELOAD_S = 5.0


def _leave_room() -> None:
    """Leave one core and the first turn to the pages: called by the thread that works in the background."""
    import torch

    torch.set_num_threads(max(1, usable_cores() - 1))
    if sys.platform == "linux":  # where a thread has a priority of its own
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)


def _give_back_memory() -> None:
    """Return to the system what the allocator of Linux keeps of memory that is free again."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)


class Background:
    """Jobs by key; a job of the same ``lane`` that is no longer wanted is stopped at its next check."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="page-work", initializer=_leave_room)
        self._jobs: OrderedDict[str, Future[Any]] = OrderedDict()
        self._wanted: dict[str, str] = {}
        self._asked: dict[str, float] = {}
        self._sessions: dict[str, dict[str, str]] = {}  # of each job the lanes and the sessions that asked for it
        self._connected: dict[str, float] = {}  # when a session was last seen connected
        self._waiting = 0  # jobs that nothing may hold up and that have not begun
        self._lock = threading.Lock()

    def known(self, key: str) -> "Future[Any] | None":
        """The job of that key, when there is one."""
        with self._lock:
            if key in self._jobs:
                self._jobs.move_to_end(key)
            return self._jobs.get(key)

    def drop(self, lane: str, unless: str) -> None:
        """Stop what the lane is computing, at its next check, unless it is the job of that key."""
        with self._lock:
            if self._wanted.get(lane) not in (None, unless):
                self._wanted[lane] = unless

    def request(
        self, key: str, lane: str, work: Callable[[Callable[[], None]], Any], *, gives_way: bool = False
    ) -> "Future[Any]":
        """The job of that key, submitted when it is new; ``work`` gets a check that raises ``Cancelled``.

        One that ``gives_way`` is stopped when another waits that does not: request it again later.
        """
        with self._lock:
            self._wanted[lane] = key
            self._asked[lane] = time.monotonic()
            self._sessions.setdefault(key, {})[lane] = session_id()
            job = self._jobs.get(key)
            if job is not None and not (job.done() and isinstance(job.exception(), Cancelled)):
                self._jobs.move_to_end(key)
                return job

            def check() -> None:
                if gives_way and self._waiting:
                    raise Cancelled("another picture waits")
                wanting = [each for each in [*self._sessions[key]] if self._wanted.get(each) == key]
                if not wanting:
                    raise Cancelled("another picture was requested")
                if not any(self._waits(each, self._sessions[key][each]) for each in wanting):
                    raise Cancelled("nobody is waiting for this picture any more")

            def run() -> Any:
                if not gives_way:
                    with self._lock:
                        self._waiting -= 1
                check()
                try:
                    return work(check)
                except (Cancelled, InputError) as error:  # its traceback would hold arrays of the size of the picture
                    raise error.with_traceback(None) from None
                finally:
                    _give_back_memory()

            self._waiting += not gives_way
            job = self._jobs[key] = self._pool.submit(run)
            self._jobs.move_to_end(key)
            done = [name for name, other in self._jobs.items() if name != key and other.done()]
            done.sort(key=lambda name: self._jobs[name].exception() is None)  # without a result first, then the oldest
            for name in done[: max(0, len(self._jobs) - _KEPT)]:
                del self._jobs[name], self._sessions[name]
            known = {session for sessions in self._sessions.values() for session in sessions.values()}
            self._connected = {session: at for session, at in self._connected.items() if session in known}
            return job

    def _waits(self, lane: str, session: str) -> bool:
        """Whether somebody still waits for what a lane has asked for."""
        now = time.monotonic()
        if is_connected(session):
            self._connected[session] = now
        closed = now - self._connected.setdefault(session, now)
        return closed <= _RELOAD_S and now - self._asked[lane] <= PATIENCE_S


@st.cache_resource(show_spinner=False)
def get_background() -> Background:
    """The background worker of this server."""
    return Background()


def session_lane(name: str) -> str:
    """A lane of this session alone: what another session asks for does not stop its work."""
    mine = st.session_state.setdefault(Key.BACKGROUND_LANES, f"{time.time_ns()}")
    return f"{name}-{mine}"


def awaited(
    key: str, lane: str, work: Callable[[Callable[[], None]], Any], words: str, share: Callable[[], float] | None = None
) -> Any:  # fmt: skip
    """The result of background work; until it is there None, and a caption that redraws the page at its end.

    ``share`` of the work that is done makes the caption a bar.
    """
    job = get_background().request(key, session_lane(lane), work)
    if job.done():
        error = job.exception()
        if error is None:
            return job.result()
        st.caption(sentence_of(error) if isinstance(error, InputError) else "Another picture was requested.")
        return None

    def waiting() -> None:
        if share is None:
            st.caption(words)
        else:
            st.progress(share(), words)

    redraw_when(lambda: get_background().request(key, session_lane(lane), work).done(), waiting)
    return None


def ended(key: str) -> bool:
    """Whether the job of that key has ended, or is known no more."""
    job = get_background().known(key)
    return job is None or job.done()


def redraw_when(ready: Callable[[], bool], waiting: Callable[[], object], every: float = 0.5) -> None:
    """Draw ``waiting``, and the whole page again once it is ``ready``, which is asked ``every`` so many seconds."""

    @st.fragment(run_every=every)
    def wait() -> None:
        if ready():
            redraw()
        waiting()

    wait()


def redraw() -> None:
    """Run the page again, unless a dialog is open on it: a run may lose a file that is on its way there.

    Closing the dialog runs the page.
    """
    if not page_record().dialog:
        st.rerun()
