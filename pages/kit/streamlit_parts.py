"""What the app uses of Streamlit although Streamlit does not promise to keep it: the list, and whether it is there.

`PARTS` names each part, says what it is for and what to do when a version takes it away, `SCRIPT_PARTS` those of the
browser's scripts; `missing` says which parts the installed version lacks (the server asks when it starts, the tests
too). `TEST_IDS` and `ATTRIBUTES` are the marks in
Streamlit's HTML that our style sheets, scripts and browser tests select; tests/browser/test_words.py looks for
each of them in a browser. Besides these we use Streamlit's public API: ``import streamlit as st``, and
`DeltaGenerator` in annotations. The calls stand in streamlit_private.py.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Part:
    """A private part: where it is (``module:name.attribute``), why we need it, what to do when it is gone."""

    where: str
    why: str
    instead: str


_OWN_SERVER = "Mount our routes and middleware in front of Streamlit's ASGI app in scripts/serve.py."
_UPLOADS = "Without it uploads stay in the server's memory: drop scripts/uploads.py, or find the new upload manager."
_SESSIONS = "Without it ended sessions stay in memory until another one ends: see scripts/housekeeping.py."
_ENDS = "Drop keep_ends_of_fragments where tests/test_streamlit_private.py passes without it."
_QUIET = "Pictures of a dragged slider then come by runs of the page, slower: see `QuietRuns` in streamlit_private.py."
_VALUES = "Drop look_up_single_values: pages are right without it, and slower."
_ADDRESS = "Write the address with st.query_params alone, where it takes keys that belong to controls."
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
    *(
        Part(f"streamlit.{name}", why, _VALUES)
        for name, why in {
            "runtime.state:SafeSessionState.filtered_state": "Where a control looks for its own value.",
            "runtime.state.common:is_element_id": "Tells a control's name from its key.",
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
    *(
        Part(f"streamlit.runtime.{name}", why, _QUIET)
        for name, why in {
            "websocket_session_manager:WebsocketSessionManager.get_active_session_info": "Finds an open session.",
            "app_session:AppSession._handle_scriptrunner_event_on_event_loop": "Sends what a run says.",
            "app_session:AppSession.request_rerun": "Begins a run.",
            "app_session:AppSession.has_fragment": "Whether a fragment is still there.",
            "app_session:AppSession._scriptrunner": "Whether a run is under way.",
            "app_session:AppSession._client_state": "What the browser sent with the last run, and its page.",
            "app_session:AppSession._state": "Whether the session counts as running.",
            "app_session:AppSessionState": "Its values.",
            "scriptrunner:ScriptRunnerEvent": "What a run says: begun, an element, ended, broken off.",
        }.items()
    ),
    Part("streamlit.proto.ClientState_pb2:ClientState", "What a run is asked for with.", _QUIET),
    Part("streamlit.proto.WidgetStates_pb2:WidgetState", "The value of a slider.", _QUIET),
)

_MESSAGES = "Without it a change is lost that comes with one of another fragment: see mendMessages in dragging.js."
_DRAGGING = "Without it sliders send their value on release alone: see what pages/kit/controls/dragging.js calls."
#: Where: ``js/script:name``. All of it is used by dragging.js.
SCRIPT_PARTS = tuple(
    Part(f"js/{where}", why, _MESSAGES if where.startswith("index:send") or "lush" in where else _DRAGGING)
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
        "index:scheduleFlush": "Lets what has changed be sent in the browser's next task.",
        "index:flushScheduled": "Whether something waits to be sent.",
        "index:scheduledFragmentId": "The fragment that will run then.",
        "index:sendUpdateWidgetsMessage": "Sends it; timers call it too.",
        "index:addScriptFinishedHandler": "Tells when a run has ended.",
        "index:removeScriptFinishedHandler": "Stops telling.",
    }.items()
)

#: ``data-testid`` of Streamlit's elements, in our style sheets, scripts and browser tests.
TEST_IDS = tuple(
    """stAlert stAlertContentError stApp stBaseButton stButtonGroup stCaptionContainer stCheckbox stColumn stDataFrame
    stDialog stElementContainer stElementToolbar stException stExpandSidebarButton stExpander stFileChip stFileChipName
    stFileUploader stHorizontalBlock stHtml stMarkdown
    stLayoutWrapper stMain stMainBlockContainer stMarkdownContainer stMultiSelectTagsContainer stPageLink stPopover
    stPopoverBody stSelectbox stSidebar stSidebarCollapseButton stSidebarContent stSidebarHeader stSidebarNav
    stSidebarNavItems stSidebarNavLink stSlider stSliderThumbValue stSliderTickBar stToast stTopNav stWidgetLabel
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
    return [f"Streamlit has no {part.where} any more. {part.why} {part.instead}" for part in parts if not _exists(part)]


def _exists(part: Part) -> bool:
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

    files = sorted(Path(streamlit.__file__).parent.glob(f"static/static/js/{name}.*.js"))
    return "".join(path.read_text(encoding="utf-8") for path in files)
