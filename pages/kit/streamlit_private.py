"""Calls of what is private to Streamlit. All of them stand here, and what they need is listed in streamlit_parts.py."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.middleware import Middleware
    from starlette.routing import BaseRoute
    from streamlit.runtime import Runtime


# ---- the server (scripts/) -----------------------------------------------------------------------------------------
def run_command_line() -> None:
    """Streamlit's own command line, with the words in ``sys.argv``."""
    from streamlit.web import cli

    cli.main()


def ignore_pages_folder() -> None:
    """``pages/`` is not Streamlit's old kind of several pages."""
    from streamlit.runtime.pages_manager import PagesManager

    PagesManager.uses_pages_directory = False


def put_in_front(routes: Callable[[Runtime], list[BaseRoute]], middleware: Callable[[], list[Middleware]]) -> None:
    """Serve these routes before Streamlit's, behind this middleware before Streamlit's."""
    from streamlit.web.server.starlette import starlette_app

    own_routes, own_middleware = starlette_app.create_streamlit_routes, starlette_app.create_streamlit_middleware
    starlette_app.create_streamlit_routes = lambda runtime: [*routes(runtime), *own_routes(runtime)]
    starlette_app.create_streamlit_middleware = lambda: [*middleware(), *own_middleware()]


def keep_ends_of_fragments() -> None:
    """Let the browser hear that a fragment's run has succeeded where a run of other fragments begins at once.

    Streamlit calls it broken off then: what the fragment no longer draws stays on the page.
    """
    from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
    from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

    original, success = ForwardMsgQueue.clear, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY

    def clear(
        self: ForwardMsgQueue, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
    ) -> None:
        begun = fragment_ids_this_run or ()  # none where the whole page runs
        ends = [
            message
            for message in self._queue
            if begun and message.WhichOneof("type") == "script_finished" and message.script_finished == success
            and set(begun).isdisjoint(message.metadata.run.fragment_ids)
        ]  # fmt: skip
        original(self, retain_lifecycle_msgs, fragment_ids_this_run)
        for message in ends:
            message.script_finished = success

    ForwardMsgQueue.clear = clear  # type: ignore[method-assign]


def leave_pages_for_good() -> None:
    """Let no fragment run of a page that was left: what it asks for on the way to the next page is ignored.

    Streamlit would run the page that the fragment's message names, the one that was left, and the way to the next page
    is lost or ends on an empty page.
    """
    from streamlit.runtime.app_session import AppSession

    original = AppSession.request_rerun

    def request_rerun(self: AppSession, client_state: Any) -> None:
        page = client_state.page_script_hash if client_state else ""
        if page and client_state.fragment_id and page != self._client_state.page_script_hash:
            return
        if page:  # Streamlit notes it when the run begins
            self._client_state.page_script_hash = page
        original(self, client_state)

    AppSession.request_rerun = request_rerun  # type: ignore[method-assign]


def change_signal_handling(change: Callable[[Callable[[Any], None]], Callable[[Any], None]]) -> None:
    """Put ``change`` of it in the place of Streamlit's set-up of signals."""
    from streamlit.web import bootstrap

    bootstrap._set_up_signal_handler = change(bootstrap._set_up_signal_handler)  # type: ignore[assignment]


def option(name: str) -> Any:
    """The value of an option such as ``server.address``, before a page has run."""
    from streamlit import config

    return config.get_option(name)


def set_option(name: str, value: Any) -> None:
    """Set an option of the server."""
    from streamlit import config

    config.set_option(name, value)


def document() -> str:
    """Streamlit's index.html."""
    from streamlit import file_util

    return Path(file_util.get_static_dir(), "index.html").read_text(encoding="utf-8")


def let_old_sessions_go(runtime: Runtime, then: Callable[[], object]) -> None:
    """Drop the sessions whose time to come back is over, in the server's event loop, and call ``then`` there.

    They are shut down, which deletes their uploads: Streamlit leaves that to the next collection of garbage.
    """
    sessions = runtime._session_mgr._session_storage._cache  # type: ignore[attr-defined]

    def drop() -> None:
        for _, old in sessions.expire():
            old.session.shutdown()

    for deed in (drop, then):  # one after the other: what is collected then is held by nobody
        runtime._get_async_objs().eventloop.call_soon_threadsafe(deed)


def count_sessions(runtime: Runtime) -> int:
    """How many sessions there are, with those that may come back."""
    return runtime._session_mgr.num_sessions()


def is_own_form(token: str | None, cookies: dict[str, str]) -> bool:
    """Whether a form with this token comes from a page of this server."""
    from streamlit.web.server.server_util import is_xsrf_enabled
    from streamlit.web.server.starlette.starlette_app_utils import validate_xsrf_token
    from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

    return not is_xsrf_enabled() or validate_xsrf_token(token, cookies.get(XSRF_COOKIE_NAME))


def tell_of_upload(runtime: Runtime, session: str, file: str, name: str, kind: str, data: bytes) -> None:
    """Tell a session of an uploaded file of that name and kind."""
    from streamlit.runtime.uploaded_file_manager import UploadedFileRec

    runtime.uploaded_file_mgr.add_file(session, UploadedFileRec(file, name, kind, data))  # type: ignore[attr-defined]


def on_removed_uploads(runtime: Runtime, one: Callable[[str, str], None], every: Callable[[str], None]) -> None:
    """Call ``one(session, file)`` when a file is removed and ``every(session)`` when all of a session are."""
    manager: Any = runtime.uploaded_file_mgr
    forget_file, forget_session = manager.remove_file, manager.remove_session_files

    def remove_file(session_id: str, file_id: str) -> None:
        forget_file(session_id=session_id, file_id=file_id)
        one(session_id, file_id)

    def remove_session_files(session_id: str) -> None:
        forget_session(session_id)
        every(session_id)

    manager.remove_file = remove_file
    manager.remove_session_files = remove_session_files


# ---- a page's run --------------------------------------------------------------------------------------------------
def address_of_run() -> Any:
    """What Streamlit keeps of the address, to be changed: a context manager."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    context = get_script_run_ctx()
    assert context is not None  # pages run in one
    return context.session_state.query_params()


class _Values(Mapping[str, Any]):
    """The session's values by key, each looked up when it is asked for; ``whole`` gives all of them."""

    def __init__(self, session: Any, whole: Callable[[Any], dict[str, Any]]) -> None:
        self._session, self._whole = session, whole

    def __getitem__(self, key: str) -> Any:
        from streamlit.runtime.state.common import is_element_id

        if is_element_id(key):  # the name of a control, not its key
            raise KeyError(key)
        return self._session[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole(self._session))

    def __len__(self) -> int:
        return len(self._whole(self._session))


def look_up_single_values() -> None:
    """Let a control look up its own value alone: Streamlit writes out the values of all controls for each of them."""
    from streamlit.runtime.state import SafeSessionState

    whole = SafeSessionState.filtered_state.fget  # type: ignore[attr-defined]
    SafeSessionState.filtered_state = property(lambda session: _Values(session, whole))  # type: ignore


def overtaken_error() -> type[Exception]:
    """Raised in a drawing whose places a newer run of the page has taken back."""
    from streamlit.errors import StreamlitInvalidLayoutContextError

    return StreamlitInvalidLayoutContextError


def api_error() -> type[Exception]:
    """Raised by a link to a page that no router lists."""
    from streamlit.errors import StreamlitAPIException

    return StreamlitAPIException


def session_id() -> str:
    """The name of this session in the server's addresses; empty outside one."""
    from streamlit.runtime.scriptrunner import get_script_run_ctx

    context = get_script_run_ctx(suppress_warning=True)
    return context.session_id if context is not None else ""


def is_connected(session: str) -> bool:
    """Whether a browser shows the session; True where no server runs."""
    from streamlit import runtime

    return not runtime.exists() or runtime.get_instance().is_active_session(session)


# ---- runs whose elements are not sent ------------------------------------------------------------------------------
#: Seconds after which nobody waits for such a run any more.
_QUIET_S = 60.0


class QuietRuns:
    """Runs of one fragment whose elements are not sent to the browser, which lays out none of them.

    They change the session as any run does. Whoever asks for one gets what the components of that name were given.
    All methods are called in the server's event loop.
    """

    def __init__(self, component: str) -> None:
        from streamlit.runtime.app_session import AppSession

        self._component = component
        self._under_way: dict[str, _QuietRun] = {}
        handle, request_rerun = AppSession._handle_scriptrunner_event_on_event_loop, AppSession.request_rerun

        def listen(session: Any, sender: Any, *event: Any, **more: Any) -> None:
            run = self._under_way.get(session.id) if sender is session._scriptrunner else None
            if run is None or not run.takes(session, *event, **more):
                handle(session, sender, *event, **more)
            if run is not None and run.answer.done():
                self._under_way.pop(session.id, None)

        def request(session: Any, client_state: Any) -> None:
            run = self._under_way.get(session.id)
            if run is not None and run.request is not client_state and not run.begun:
                run.end(None)  # Streamlit may make one run of both, whose elements the browser waits for
            request_rerun(session, client_state)

        AppSession._handle_scriptrunner_event_on_event_loop = listen  # type: ignore[method-assign,assignment]
        AppSession.request_rerun = request  # type: ignore[method-assign,assignment]

    async def given(
        self, runtime: Runtime, session: str, fragment: str, slider: str, values: Sequence[float] | Sequence[str]
    ) -> list[str] | None:
        """What the components of a fragment are given (JSON) when a slider has these values.

        None where another run is under way, comes in between or breaks this one off, or where there is no such
        fragment: the browser is told of every other run.
        """
        info = runtime._session_mgr.get_active_session_info(session)
        known: Any = info.session if info is not None else None
        if known is None or known._scriptrunner is not None or not known.has_fragment(fragment):
            return None
        run = self._under_way[session] = _QuietRun(_state(known, fragment, slider, values), self._component)
        known.request_rerun(run.request)
        try:
            return await asyncio.wait_for(asyncio.shield(run.answer), _QUIET_S)
        except TimeoutError:
            return None


def _state(session: Any, fragment: str, slider: str, values: Sequence[float] | Sequence[str]) -> Any:
    """What a run is asked for with: a slider's new values, everything else as the last run had it."""
    from streamlit.proto.ClientState_pb2 import ClientState

    result = ClientState()
    result.CopyFrom(session._client_state)
    result.ClearField("widget_states")
    result.ClearField("cached_message_hashes")
    result.fragment_id, result.is_auto_rerun = fragment, False
    widget = result.widget_states.widgets.add(id=slider)
    array = widget.string_array_value if isinstance(values[0], str) else widget.double_array_value
    array.data.extend(values)
    return result


class _QuietRun:
    """One such run: what was asked for, whether it has begun, what its components have been given so far."""

    def __init__(self, request: Any, component: str) -> None:
        self.request, self.begun = request, False
        self.answer: asyncio.Future[list[str] | None] = asyncio.get_running_loop().create_future()
        self._component, self._given = component, list[str]()

    def takes(self, session: Any, event: Any, message: Any = None, *more: Any, **_: Any) -> bool:
        """Whether this event is one of the quiet run: the browser is not told of it then."""
        from streamlit.runtime.app_session import AppSessionState
        from streamlit.runtime.scriptrunner import ScriptRunnerEvent as Event

        if self.answer.done():
            return False
        if event == Event.SCRIPT_STARTED and not self.begun and more[3] == [self.request.fragment_id]:
            self.begun, session._state = True, AppSessionState.APP_IS_RUNNING
        elif event == Event.ENQUEUE_FORWARD_MSG and self.begun:
            component = message.delta.new_element.bidi_component
            if component.component_name == self._component:
                self._given.append(component.json)
        elif event in (Event.FRAGMENT_STOPPED_WITH_SUCCESS, Event.SCRIPT_STOPPED_FOR_RERUN) and self.begun:
            session._state = AppSessionState.APP_NOT_RUNNING
            self.end(self._given if event == Event.FRAGMENT_STOPPED_WITH_SUCCESS else None)
        else:
            self.end(None)
            return False
        return True

    def end(self, result: list[str] | None) -> None:
        """Answer who asked."""
        if not self.answer.done():
            self.answer.set_result(result)
