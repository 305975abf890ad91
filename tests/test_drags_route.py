"""The route on which a dragged slider asks for pictures: what it takes, and how it answers while the page runs."""

import asyncio
import json
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.requests import Request
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.scriptrunner import ScriptRunnerEvent

from pages.kit.chart.plotly_live import COMPONENT
from scripts.drags import Drags

FRAGMENT, SLIDER = "fragment-1", "slider-1"
BUSY = (200, "null")
GOOD = {"fragment": FRAGMENT, "slider": SLIDER, "values": [0.5]}


class Session:
    """What the route asks of Streamlit's: it notes what the browser is told and what runs are asked for."""

    def __init__(self) -> None:
        from streamlit.proto.ClientState_pb2 import ClientState

        self.id, self._scriptrunner, self._state = "here", None, AppSessionState.APP_NOT_RUNNING
        self._client_state = ClientState(query_string="o-n=60", page_script_hash="page")
        self.told: list[str] = []
        self.requests: list[Any] = []

    def has_fragment(self, name: str) -> bool:
        return name == FRAGMENT

    def request_rerun(self, client_state: Any) -> None:
        AppSession.request_rerun(self, client_state)  # type: ignore[arg-type]

    def says(self, event: ScriptRunnerEvent, message: Any = None, fragments: Any = None) -> None:
        AppSession._handle_scriptrunner_event_on_event_loop(
            self, self._scriptrunner, event, message, None, None, "page", fragments, None, None
        )  # type: ignore[arg-type]


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Session:
    result = Session()

    def begin(each: Session, client_state: Any) -> None:
        each.requests.append(client_state)
        each._scriptrunner = each._scriptrunner or object()

    monkeypatch.setattr(AppSession, "request_rerun", begin)
    monkeypatch.setattr(
        AppSession, "_handle_scriptrunner_event_on_event_loop",
        lambda each, sender, event, *rest: each.told.append(event.name),
    )  # fmt: skip
    return result


@pytest.fixture
def route(session: Session) -> Drags:
    sessions = SimpleNamespace(
        get_active_session_info=lambda name: SimpleNamespace(session=session) if name == session.id else None
    )
    return Drags(SimpleNamespace(_session_mgr=sessions))  # type: ignore[arg-type]


def run(work: Coroutine[Any, Any, Any]) -> Any:
    """Its result, from a thread of its own: in this one the loop of browser tests may be running."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def chart(text: str, component: str = COMPONENT) -> ForwardMsg:
    message = ForwardMsg()
    message.delta.new_element.bidi_component.component_name = component
    message.delta.new_element.bidi_component.json = text
    return message


async def ask(route: Drags, question: object, session: str = "here") -> tuple[int, str]:
    body = question if isinstance(question, bytes) else json.dumps(question).encode()
    parts = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> Any:
        return next(parts)

    scope = {"type": "http", "method": "POST", "headers": [], "path_params": {"session_id": session}}
    answer = await route.answer(Request(scope, receive))
    return answer.status_code, bytes(answer.body).decode()


async def after_asking(route: Drags, *then: Any) -> tuple[int, str]:
    """The answer to a good question, when these have been called one after the other meanwhile."""
    answer = asyncio.ensure_future(ask(route, GOOD))
    await asyncio.sleep(0.01)
    for each in then:
        each()
    return await asyncio.wait_for(answer, 10)


@pytest.mark.parametrize(
    "question",
    [
        b"", b"{", b"[]", b"3", b"x" * 70_000, {}, GOOD | {"values": []}, GOOD | {"values": [1, 2, 3]},
        GOOD | {"values": "ab"}, GOOD | {"values": [True]}, GOOD | {"values": ["a", 1]}, GOOD | {"values": None},
        GOOD | {"fragment": 1}, GOOD | {"slider": None}, b'{"fragment":"a","slider":"b","values":[NaN]}',
    ],
)  # fmt: skip
def test_what_no_page_asks_is_refused_and_nothing_runs(route: Drags, session: Session, question: object) -> None:
    assert run(ask(route, question))[0] == 400
    assert not session.requests


def test_a_run_gives_what_its_charts_are_given_and_the_browser_is_told_of_none_of_it(
    route: Drags, session: Session
) -> None:
    event = ScriptRunnerEvent
    answer = after_asking(
        route,
        lambda: session.says(event.SCRIPT_STARTED, fragments=[FRAGMENT]),
        lambda: session.says(event.ENQUEUE_FORWARD_MSG, chart('{"key":"a"}')),
        lambda: session.says(event.ENQUEUE_FORWARD_MSG, chart('{"key":"slider"}', "lab_other")),
        lambda: session.says(event.ENQUEUE_FORWARD_MSG, chart('{"key":"b"}')),
        lambda: session.says(event.FRAGMENT_STOPPED_WITH_SUCCESS),
        lambda: session.says(event.SHUTDOWN),
    )
    assert run(answer) == (200, '[{"key":"a"},{"key":"b"}]')
    assert session.told == ["SHUTDOWN"]
    (asked,) = session.requests
    assert (asked.fragment_id, asked.query_string, asked.page_script_hash) == (FRAGMENT, "o-n=60", "page")
    (state,) = asked.widget_states.widgets
    assert (state.id, list(state.double_array_value.data)) == (SLIDER, [0.5])


def test_words_of_a_slider_over_a_list_are_sent_as_words(route: Drags, session: Session) -> None:
    async def both() -> None:
        answer = asyncio.ensure_future(ask(route, GOOD | {"values": ["low", "high"]}))
        await asyncio.sleep(0.01)
        session.says(ScriptRunnerEvent.SCRIPT_STARTED, fragments=[FRAGMENT])
        session.says(ScriptRunnerEvent.FRAGMENT_STOPPED_WITH_SUCCESS)
        assert await answer == (200, "[]")

    run(both())
    assert list(session.requests[0].widget_states.widgets[0].string_array_value.data) == ["low", "high"]


def test_while_a_run_is_under_way_and_without_a_session_or_fragment_the_browser_asks_again(
    route: Drags, session: Session
) -> None:
    assert run(ask(route, GOOD, "gone")) == BUSY
    assert run(ask(route, GOOD | {"fragment": "gone"})) == BUSY
    session._scriptrunner = object()
    assert run(ask(route, GOOD)) == BUSY
    assert not session.requests


@pytest.mark.parametrize(
    ("fragments", "then"),
    [([FRAGMENT, "other"], []), (None, []), ([FRAGMENT], ["SCRIPT_STOPPED_WITH_COMPILE_ERROR"])],
    ids=["with another fragment", "of the whole page", "that fails"],
)
def test_of_any_other_run_the_browser_is_told(
    route: Drags, session: Session, fragments: list[str] | None, then: list[str]
) -> None:
    steps = [lambda: session.says(ScriptRunnerEvent.SCRIPT_STARTED, fragments=fragments)]
    steps += [lambda name=name: session.says(ScriptRunnerEvent[name]) for name in then]
    assert run(after_asking(route, *steps)) == BUSY
    session.says(ScriptRunnerEvent.ENQUEUE_FORWARD_MSG, chart("{}"))
    assert session.told == [*(then or ["SCRIPT_STARTED"]), "ENQUEUE_FORWARD_MSG"]


def test_a_run_that_another_request_may_join_is_told(route: Drags, session: Session) -> None:
    """Streamlit makes one run of two requests that come at once: the release of the handle must reach the browser."""
    answer = after_asking(
        route,
        lambda: session.request_rerun(object()),
        lambda: session.says(ScriptRunnerEvent.SCRIPT_STARTED, fragments=[FRAGMENT]),
        lambda: session.says(ScriptRunnerEvent.ENQUEUE_FORWARD_MSG, chart("{}")),
    )
    assert run(answer) == BUSY
    assert session.told == ["SCRIPT_STARTED", "ENQUEUE_FORWARD_MSG"]


def test_a_request_during_the_run_leaves_it_quiet_and_makes_another_one(route: Drags, session: Session) -> None:
    event = ScriptRunnerEvent
    answer = after_asking(
        route,
        lambda: session.says(event.SCRIPT_STARTED, fragments=[FRAGMENT]),
        lambda: session.request_rerun(object()),
        lambda: session.says(event.ENQUEUE_FORWARD_MSG, chart("{}")),
        lambda: session.says(event.FRAGMENT_STOPPED_WITH_SUCCESS),
        lambda: session.says(event.SCRIPT_STARTED, fragments=[FRAGMENT]),
    )
    assert run(answer) == (200, "[{}]")
    assert session.told == ["SCRIPT_STARTED"]


def test_a_run_that_is_broken_off_answers_that_the_page_runs(route: Drags, session: Session) -> None:
    event = ScriptRunnerEvent
    answer = after_asking(
        route,
        lambda: session.says(event.SCRIPT_STARTED, fragments=[FRAGMENT]),
        lambda: session.says(event.SCRIPT_STOPPED_FOR_RERUN),
        lambda: session.says(event.SCRIPT_STARTED),
    )
    assert run(answer) == BUSY
    assert session.told == ["SCRIPT_STARTED"]
