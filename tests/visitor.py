"""A browser as the app's server sees it: one websocket that speaks Streamlit's messages, without drawing anything.

It keeps the cookie that a shared server gives. Thirty of them cost no more than the server's own work, so they can
arrive at once on a small machine.
"""

import asyncio
import json
import secrets
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import connect

from pages.kit.visitor import COOKIE
from tests.waiting import HANG_S

T = TypeVar("T")


def visit(visits: Coroutine[Any, Any, T]) -> T:
    """Run visits to their end, in a thread: the caller's may have an event loop, as Playwright's tests have."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, visits).result()


@dataclass(frozen=True)
class Control:
    """A widget on the page: its id, and the fragment that it redraws (empty: the page)."""

    id: str
    fragment: str


class Visitor:
    """One session on a page of the app: ``async with Visitor(url, "bayes", "k-y0=1") as visitor``.

    ``headings``, ``texts`` and ``troubles`` (exceptions, a script that cannot be compiled) are what came so far;
    ``sliders`` are by key, ``buttons`` by label; ``pictures`` are the charts' stamps by key. Fragments that want to
    be run again every so many seconds are, as by a browser.
    """

    def __init__(self, url: str, page: str = "", query: str = "") -> None:
        self._address = f"ws://{urlsplit(url).netloc}/_stcore/stream"
        self._page, self._query, self._hash = page, query, ""
        self.headings: list[str] = []
        self.texts: list[str] = []
        self.troubles: list[str] = []
        self.sliders: dict[str, Control] = {}
        self.buttons: dict[str, Control] = {}
        self.pictures: dict[str, str] = {}
        self.page_runs = 0
        self._widgets: dict[str, WidgetState] = {}
        self._timers: list[asyncio.Task] = []
        self._news = asyncio.Condition()

    async def __aenter__(self) -> "Visitor":
        self._socket = await connect(
            self._address, subprotocols=["streamlit"], max_size=None, open_timeout=HANG_S, ping_timeout=None,
            additional_headers={"Cookie": f"{COOKIE}={secrets.token_hex(32)}"},
        )  # fmt: skip
        self._reader = asyncio.create_task(self._read())
        await self._run()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        tasks = [self._reader, *self._timers]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._socket.close()

    async def until(self, there: Callable[[], Any]) -> Any:
        """Wait until something has come; fails when the server closed the connection."""

        def look() -> Any:
            if self._reader.done():
                self._reader.result()
                raise AssertionError("the server closed the session")
            return there()

        async with asyncio.timeout(HANG_S), self._news:
            return await self._news.wait_for(look)

    async def press(self, label: str) -> None:
        """Press a button."""
        button = self.buttons[label]
        await self._run(button.fragment, WidgetState(id=button.id, trigger_value=True))

    async def move(self, key: str, value: float) -> None:
        """Move a slider; alone its fragment is run, as after a key press."""
        slider = self.sliders[key]
        self._widgets[slider.id] = WidgetState(id=slider.id)
        self._widgets[slider.id].double_array_value.data.append(value)
        await self._run(slider.fragment)

    async def rerun(self) -> None:
        """Run the whole page and wait until it has run."""
        before = self.page_runs
        await self._run()
        await self.until(lambda: self.page_runs > before)

    async def _run(self, fragment: str = "", *pressed: WidgetState, again: bool = False) -> None:
        message = BackMsg()
        state = message.rerun_script
        state.page_name, state.query_string, state.page_script_hash = self._page, self._query, self._hash
        state.fragment_id, state.is_auto_rerun = fragment, again
        state.context_info.url = "http://localhost/"
        state.widget_states.widgets.extend([*self._widgets.values(), *pressed])
        await self._socket.send(message.SerializeToString())

    async def _read(self) -> None:
        try:
            async for data in self._socket:
                self._take(ForwardMsg.FromString(data))
                async with self._news:
                    self._news.notify_all()
        finally:  # whoever waits learns of an error too
            async with self._news:
                self._news.notify_all()

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "delta":
            self._draw(message.delta)
        elif kind == "script_finished":
            self.page_runs += message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY
        elif kind == "session_event" and message.session_event.HasField("script_compilation_exception"):
            self.troubles.append(message.session_event.script_compilation_exception.message)
        elif kind == "navigation":
            self._hash = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self._query = message.page_info_changed.query_string
        elif kind == "new_session" and not message.metadata.run.fragment_ids:
            self._stop_timers()
        elif kind == "auto_rerun":
            self._timers.append(asyncio.create_task(self._again(message.auto_rerun)))

    def _draw(self, delta: Delta) -> None:
        element = delta.new_element
        kind = element.WhichOneof("type")
        said = getattr(element, kind) if kind else None
        if kind == "heading":
            self.headings.append(said.body)
        elif kind == "exception":
            self.troubles.append(said.message)
        elif kind in ("alert", "markdown", "html"):
            self.texts.append(said.body)
        elif kind == "slider":
            self.sliders[said.id.split("-", 2)[-1]] = Control(said.id, delta.fragment_id)
        elif kind == "button":
            self.buttons[said.label] = Control(said.id, delta.fragment_id)
        elif kind == "bidi_component" and said.json:
            data = json.loads(said.json)
            if isinstance(data, dict) and {"key", "stamp"} <= set(data):
                self.pictures[data["key"]] = data["stamp"]

    def _stop_timers(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()

    async def _again(self, every: Any) -> None:
        while True:
            await asyncio.sleep(every.interval)
            await self._run(every.fragment_id, again=True)
