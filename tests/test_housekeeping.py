"""A session that is over is let go of by itself, with what it held, and not before its time to come back is over."""

import asyncio
import gc
import threading
import weakref
from types import SimpleNamespace

from streamlit.runtime.caching.ttl_cache import TTLCache

from scripts.housekeeping import let_sessions_go


class Session:
    """What a session holds."""


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
    assert held() is not None, "nobody has asked yet"
    assert let_sessions_go(runtime, 1) == 0 and held() is None
    loop.call_soon_threadsafe(loop.stop)
