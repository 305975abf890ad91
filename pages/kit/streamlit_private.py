"""What the app uses of Streamlit although Streamlit does not promise to keep it. All of it stands here.

`PARTS` names each part, says what it is for and what to do when a version takes it away, `SCRIPT_PARTS` those of the
browser's scripts; `missing` says which parts the installed version lacks (the server asks when it starts, the tests
too). `TEST_IDS` and `ATTRIBUTES` are the marks in
Streamlit's HTML that our style sheets, scripts and browser tests select; tests/browser/test_words.py looks for
each of them in a browser. Besides these we use Streamlit's public API: ``import streamlit as st``, and
`DeltaGenerator` in annotations.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.middleware import Middleware
    from starlette.routing import BaseRoute
    from streamlit.runtime import Runtime


@dataclass(frozen=True)
class Part:
    """A private part: where it is (``module:name.attribute``), why we need it, what to do when it is gone."""

    where: str
    why: str
    instead: str


_OWN_SERVER = "Mount our routes and middleware in front of Streamlit's ASGI app in scripts/serve.py."
_UPLOADS = "Without it uploads stay in the server's memory: drop scripts/uploads.py, or find the new upload manager."
_SESSIONS = "Without it ended sessions stay in memory until another one ends: see scripts/housekeeping.py."
_ADDRESS = "Write the address with st.query_params alone, where it takes keys that belong to controls."
_ENDS = "Drop keep_ends_of_fragments where tests/test_streamlit_private.py passes without it."
PARTS = (
    Part("streamlit.web.cli:main", "Runs `streamlit run` in this process, after the changes below.", _OWN_SERVER),
    Part(
        "streamlit.runtime.pages_manager:PagesManager.uses_pages_directory",
        "Otherwise Streamlit takes pages/ for its old kind of several pages, and a first visitor's address fails.",
        "Check whether a fresh server opens /line at once; if not, rename the folder pages/.",
    ),
    Part(
        "streamlit.web.server.starlette.starlette_app:create_streamlit_routes",
        "Our routes come first: a document for every page, uploads to the disk.",
        _OWN_SERVER,
    ),
    Part(
        "streamlit.web.server.starlette.starlette_app:create_streamlit_middleware",
        "The gate (scripts/gate.py) stands in front of everything.",
        _OWN_SERVER,
    ),
    Part(
        "streamlit.web.bootstrap:_set_up_signal_handler",
        "The server ends in seconds although threads of it compute.",
        "Set our own handlers of SIGTERM and SIGINT once the server runs.",
    ),
    Part("streamlit.config:get_option", "Options of the server, before a page has run.", "Use st.get_option."),
    Part("streamlit.config:set_option", "Leaves the check of host names to our gate.", "Pass --server.allowedHosts."),
    Part(
        "streamlit.file_util:get_static_dir",
        "Where Streamlit's index.html is, which we send with a script that says where the server is.",
        "Look for static/index.html beside streamlit.__file__.",
    ),
    Part("streamlit.runtime:Runtime.is_active_session", "Uploads are taken only for open sessions.", _UPLOADS),
    Part("streamlit.runtime:Runtime.uploaded_file_mgr", "Holds what was uploaded.", _UPLOADS),
    Part("streamlit.runtime:Runtime._get_async_objs", "The event loop in which sessions may be changed.", _SESSIONS),
    Part("streamlit.runtime:Runtime._session_mgr", "Knows the sessions that may come back.", _SESSIONS),
    Part(
        "streamlit.runtime.websocket_session_manager:WebsocketSessionManager._session_storage", "Holds them.", _SESSIONS
    ),
    Part("streamlit.runtime.memory_session_storage:MemorySessionStorage._cache", "Lets old ones go.", _SESSIONS),
    Part("streamlit.runtime.caching.ttl_cache:TTLCache.expire", "Lets old ones go now.", _SESSIONS),
    Part("streamlit.runtime.uploaded_file_manager:UploadedFileRec", "The record of an upload.", _UPLOADS),
    *(
        Part(f"streamlit.runtime.memory_uploaded_file_manager:MemoryUploadedFileManager.{name}", why, _UPLOADS)
        for name, why in {
            "add_file": "Tells a session of an upload.",
            "remove_file": "A file that is taken away goes from the disk, too.",
            "remove_session_files": "So do the files of a session that ends.",
        }.items()
    ),
    Part("streamlit.web.server.server_util:is_xsrf_enabled", "Whether forms carry a token.", _UPLOADS),
    Part("streamlit.web.server.starlette.starlette_app_utils:validate_xsrf_token", "Checks that token.", _UPLOADS),
    Part(
        "streamlit.web.server.starlette.starlette_server_config:XSRF_COOKIE_NAME", "The cookie of that token.", _UPLOADS
    ),
    Part("streamlit.runtime.scriptrunner:get_script_run_ctx", "Leads to the address of this run.", _ADDRESS),
    Part("streamlit.runtime.state:SafeSessionState.query_params", "The address of this run, locked.", _ADDRESS),
    *(
        Part(f"streamlit.runtime.state.query_params:QueryParams.{name}", why, _ADDRESS)
        for name, why in {
            "remove_param": "Takes out a key that belongs to a control, which st.query_params refuses.",
            "set_corrected_value": "Writes such a key without the control's being set again.",
            "set_initial_query_params_from_current": "Controls begin with the address as it is now.",
        }.items()
    ),
    Part(
        "streamlit.errors:StreamlitInvalidLayoutContextError",
        "Raised in a fragment whose places a newer run of the page has taken back.",
        "See what a drawing that is overtaken raises now (tests/browser/test_picture_first.py).",
    ),
    *(
        Part(f"streamlit.runtime.forward_msg_queue:ForwardMsgQueue.{name}", why, _ENDS)
        for name, why in {
            "clear": "Called when a run begins, with what was not yet sent of the run before.",
            "_queue": "Holds the messages that were not yet sent.",
        }.items()
    ),
    Part("streamlit.errors:StreamlitAPIException", "st.page_link without a router.", "Catch what it raises now."),
)

_DRAGGING = "Without it sliders send their value on release alone: see what pages/kit/controls/dragging.js calls."
#: Where: ``js/script:name``. All of it is used by dragging.js.
SCRIPT_PARTS = tuple(
    Part(f"js/{where}", why, _DRAGGING)
    for where, why in {
        "react-dom:__reactFiber$": "Leads from an element to the components around it.",
        "react-dom:memoizedProps": "What a component was given.",
        "react-dom:__reactProps$": "What an element was given: the exact value of a slider's handle.",
        "Slider:onChangeEnd": "Lets a slider know the value that was sent past it.",
        "Slider:minValue": "Marks the component that has it, and the slider's lower end.",
        "Slider:maxValue": "The slider's upper end.",
        "Slider:data-dragging": "Whether a handle is dragged.",
        "Slider:aria-valuetext": "A handle's value in words.",
        "Slider:widgetMgr": "Holds the values that go to the server.",
        "Slider:options": "The words that a slider over a list sends.",
        "index:setStringArrayValue": "Sends the value of a slider over a list.",
        "index:setDoubleArrayValue": "Sends the value of a slider over numbers.",
        "index:triggerRerun": "Whether what is put there begins a run.",
        "index:setJsonValue": "Puts the number of the drag among them.",
        "index:addScriptFinishedHandler": "Tells when a run has ended.",
        "index:removeScriptFinishedHandler": "Stops telling.",
    }.items()
)

#: ``data-testid`` of Streamlit's elements, in our style sheets, scripts and browser tests.
TEST_IDS = tuple(
    """stAlertContentError stApp stBaseButton stButtonGroup stCaptionContainer stCheckbox stCode stColumn stDataFrame
    stElementContainer stException stExpandSidebarButton stExpander stFileUploader stHorizontalBlock stHtml
    stLayoutWrapper stMain stMainBlockContainer stMarkdownContainer stMultiSelectTagsContainer stPageLink stPopover
    stPopoverBody stSelectbox stSidebar stSidebarCollapseButton stSidebarContent stSidebarHeader stSidebarNav
    stSidebarNavItems stSidebarNavLink stSlider stSliderThumbValue stToast stTopNav stWidgetLabel
    stIconMaterial stButton""".split()
)
#: Classes of what can be set; `pages.kit.level` hides those that are not essential.
CONTROL_CLASSES = (
    "stSlider", "stSelectbox", "stNumberInput", "stTextInput", "stCheckbox", "stButtonGroup", "stMultiSelect",
    "stFileUploader",
)  # fmt: skip
#: Other marks: whether a script runs, whether an element is being redrawn, whether the sidebar is closed, what of a
#: data frame scrolls, where mathematics is.
ATTRIBUTES = ("[data-test-script-state]", "[data-stale]", "[data-collapsed]", ".dvn-scroller", ".katex-display")


def missing(parts: Sequence[Part] = (*PARTS, *SCRIPT_PARTS)) -> list[str]:
    """A sentence for each part that the installed Streamlit lacks."""
    return [f"Streamlit has no {part.where} any more. {part.why} {part.instead}" for part in parts if not _found(part)]


def _found(part: Part) -> bool:
    module, _, names = part.where.partition(":")
    if module.startswith("js/"):
        return names in script(module.removeprefix("js/"))
    try:
        holder: Any = importlib.import_module(module)
    except ImportError:
        return False
    for name in names.split("."):
        if not hasattr(holder, name):
            return inspect.isclass(holder) and f"self.{name} " in inspect.getsource(holder).replace(":", " ")
        holder = getattr(holder, name)
    return True


def script(name: str) -> str:
    """The text of one of the browser's scripts; empty where there is none of that name."""
    import streamlit

    found = sorted(Path(streamlit.__file__).parent.glob(f"static/static/js/{name}.*.js"))
    return "".join(path.read_text(encoding="utf-8") for path in found)


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

    own, success = ForwardMsgQueue.clear, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY

    def clear(
        self: ForwardMsgQueue, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
    ) -> None:
        others = fragment_ids_this_run is not None
        ends = [
            message
            for message in self._queue
            if others and message.WhichOneof("type") == "script_finished" and message.script_finished == success
            and not {*message.metadata.run.fragment_ids} & {*(fragment_ids_this_run or ())}
        ]  # fmt: skip
        own(self, retain_lifecycle_msgs, fragment_ids_this_run)
        for message in ends:
            message.script_finished = success

    ForwardMsgQueue.clear = clear  # type: ignore[method-assign]


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
    """Drop the sessions whose time to come back is over, in the server's event loop, and call ``then`` there."""
    sessions = runtime._session_mgr._session_storage._cache  # type: ignore[attr-defined]
    runtime._get_async_objs().eventloop.call_soon_threadsafe(lambda: (sessions.expire(), then()))


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


def overtaken_error() -> type[Exception]:
    """Raised in a drawing whose places a newer run of the page has taken back."""
    from streamlit.errors import StreamlitInvalidLayoutContextError

    return StreamlitInvalidLayoutContextError


def api_error() -> type[Exception]:
    """Raised by a link to a page that no router lists."""
    from streamlit.errors import StreamlitAPIException

    return StreamlitAPIException
