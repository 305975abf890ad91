"""A session that is over is let go of, with what it held, once its time to come back is over; little memory is held."""

import asyncio
import gc
import platform
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.runtime.caching.ttl_cache import TTLCache

from scripts.housekeeping import let_sessions_go


class Session:
    """What a session holds; itself, too, as Streamlit's do."""

    is_shut_down = False

    def __init__(self) -> None:
        self.session = self

    def shutdown(self) -> None:
        Session.is_shut_down = True


def test_a_session_goes_when_its_time_is_over_and_nobody_asks() -> None:
    now = [0.0]
    cache = TTLCache(maxsize=9, ttl=120, timer=lambda: now[0])
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    manager = SimpleNamespace(_session_storage=SimpleNamespace(_cache=cache), num_sessions=lambda: len(cache))
    runtime = SimpleNamespace(_session_mgr=manager, _get_async_objs=lambda: SimpleNamespace(eventloop=loop))
    session = Session()
    cache["one"], held = session, weakref.ref(session)
    del session
    now[0] = 119
    assert let_sessions_go(runtime) == 1 and held() is not None
    now[0] = 121
    gc.collect()
    assert held() is not None and not Session.is_shut_down, "nobody has asked yet"
    assert let_sessions_go(runtime, 1) == 0 and held() is None and Session.is_shut_down
    loop.call_soon_threadsafe(loop.stop)


HOLDING = """
import ctypes, threading
from scripts.housekeeping import hold_little

if {little}:
    hold_little()
met = threading.Barrier(9)
threads = [threading.Thread(target=lambda: (bytearray(2000), met.wait())) for _ in range(8)]
for thread in threads:
    thread.start()
met.wait()
library = ctypes.CDLL(None)
library.fopen.restype = ctypes.c_void_p
stream = ctypes.c_void_p(library.fopen(b"{path}", b"w"))
library.malloc_info(0, stream)
library.fclose(stream)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="arenas are those of glibc")
@pytest.mark.parametrize("little", [True, False])
def test_many_threads_share_two_arenas(tmp_path: Path, little: bool) -> None:
    path = tmp_path / "malloc.xml"
    code = HOLDING.format(little=little, path=path)
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[1])
    assert (path.read_text().count("<heap nr=") <= 2) is little
