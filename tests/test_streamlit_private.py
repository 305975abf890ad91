"""What is private to Streamlit stands in one file, and each part that a new version takes away is named."""

import ast
import importlib
import inspect
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.state import SafeSessionState
from streamlit.testing.v1 import AppTest

from pages.kit import streamlit_parts, streamlit_private
from pages.kit.streamlit_parts import PARTS, SCRIPT_PARTS, TEST_IDS, Part, missing

ROOT = Path(__file__).resolve().parents[1]
#: Public: the package's own face, and the class of a place on a page, which annotations name.
PUBLIC = {"streamlit", "streamlit.delta_generator"}
APP = [path for pattern in ("pages/**/*.py", "scripts/*.py", "app.py") for path in ROOT.glob(pattern)]


def imported(path: Path) -> set[str]:
    """Modules that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(str(node.module))
            found |= {f"{node.module}.{name.name}" for name in node.names if node.module == "streamlit"}
    return found


def test_no_other_file_imports_what_is_private_to_streamlit() -> None:
    own = Path(streamlit_private.__file__)
    private = {
        str(path.relative_to(ROOT)): sorted(names)
        for path in APP
        if path != own
        if (names := {name for name in imported(path) if name.partition(".")[0] == "streamlit"} - PUBLIC)
        if not _for_annotations_only(path, names)
    }
    assert not private, "put it into pages/kit/streamlit_private.py, with why and what to do when it goes"


def _for_annotations_only(path: Path, names: set[str]) -> bool:
    """Whether these are imported under ``if TYPE_CHECKING`` alone: they need nothing at run time."""
    blocks = [
        node
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
    ]
    inside = {each.module for node in blocks for each in ast.walk(node) if isinstance(each, ast.ImportFrom)}
    return names <= inside


def test_the_installed_version_has_every_part() -> None:
    assert not missing(), "\n".join(missing())


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.where)
def test_a_part_that_is_taken_away_is_named(part: Part, monkeypatch: pytest.MonkeyPatch) -> None:
    module, _, names = part.where.partition(":")
    holder = importlib.import_module(module)
    *path, last = names.split(".")
    for name in path:
        holder = getattr(holder, name)
    if hasattr(holder, last):
        for owner in inspect.getmro(holder) if inspect.isclass(holder) else [holder]:
            if last in vars(owner):
                monkeypatch.delattr(owner, last)
    else:  # set when an object is made
        source = inspect.getsource(holder)
        monkeypatch.setattr(inspect, "getsource", lambda each: source.replace(f"self.{last}", "self.renamed"))
    (told,) = missing([part])
    assert told.startswith(f"Streamlit has no {part.where} ") and part.why in told and part.instead in told


@pytest.mark.parametrize("part", SCRIPT_PARTS, ids=lambda part: part.where)
def test_a_part_of_a_script_that_is_taken_away_is_named(part: Part, monkeypatch: pytest.MonkeyPatch) -> None:
    module, _, name = part.where.partition(":")
    whole = streamlit_parts.script
    monkeypatch.setattr(
        streamlit_parts,
        "script",
        lambda each: whole(each).replace(name, "renamed") if module.endswith(each) else whole(each),
    )
    assert missing([part]) == [f"Streamlit has no {part.where} any more. {part.why} {part.instead}"]


def test_the_parts_of_scripts_are_those_that_the_dragged_slider_uses() -> None:
    used = (ROOT / "pages/kit/controls/dragging.js").read_text()
    names = [part.where.partition(":")[2] for part in SCRIPT_PARTS]
    assert [name for name in names if name not in used] == []


def test_a_module_that_is_gone_is_named() -> None:
    lost = Part("streamlit.runtime.no_such_module:name", "It was needed.", "Do without.")
    assert missing([lost]) == [f"Streamlit has no {lost.where} any more. It was needed. Do without."]


def test_the_list_of_test_ids_is_what_style_scripts_and_browser_tests_select() -> None:
    places = [
        *(path for path in ROOT.glob("pages/**/*") if path.suffix in (".css", ".js", ".py")),
        *ROOT.glob("tests/browser/*.py"),
        *ROOT.glob("tests/benchmarks/*.py"),
    ]
    used = set()
    for path in places:
        if path != Path(streamlit_parts.__file__):
            used |= set(re.findall(r"data-testid\^?=['\"]?(st\w+)", path.read_text()))
            used |= set(re.findall(r"(?:get_by_test_id\(\"|find\('|testid === ')(st\w+)", path.read_text()))
    assert used == set(TEST_IDS)


def _finished(fragments: list[str]) -> ForwardMsg:
    message = ForwardMsg()
    message.metadata.run.fragment_ids.extend(fragments)
    message.script_finished = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
    return message


@pytest.mark.parametrize(
    ("next_run", "kept"), [(["b"], True), (["a"], False), (["b", "a"], False), (None, False)], ids=str
)
def test_a_fragments_end_is_told_though_others_begin_at_once(
    next_run: list[str] | None, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message that waits when the next run begins: what fragment a no longer draws leaves the page."""
    monkeypatch.setattr(ForwardMsgQueue, "clear", ForwardMsgQueue.clear)
    streamlit_private.keep_ends_of_fragments()
    queue = ForwardMsgQueue()
    queue.enqueue(_finished(["a"]))
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=next_run)
    (message,) = queue.flush()
    success, early = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY, ForwardMsg.FINISHED_EARLY_FOR_RERUN
    assert message.script_finished == (success if kept else early)


def test_single_values_are_those_that_streamlit_writes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def page() -> None:
        import streamlit as st

        st.session_state["own"] = [1, 2]
        st.selectbox("With a key", ["a", "b"], index=1, key="with")
        st.number_input("Nothing is typed", value=None, key="open")
        st.text_input("No key", "x")

    run = AppTest.from_function(page).run()
    session = run.session_state._state
    written = dict(session.filtered_state)
    names = [each.proto.id for each in (*run.selectbox, *run.number_input, *run.text_input)]
    monkeypatch.setattr(SafeSessionState, "filtered_state", SafeSessionState.filtered_state)
    streamlit_private.look_up_single_values()
    looked_up = session.filtered_state
    assert written == {"own": [1, 2], "with": "b", "open": None} == dict(looked_up) and len(looked_up) == 3
    assert [key in looked_up for key in (*written, *names, "other")] == [True] * 3 + [False] * 4
    again = run.selectbox(key="with").set_value("a").run()
    assert again.session_state["with"] == "a" and not again.exception


@pytest.mark.parametrize(
    ("page", "fragment", "runs"), [("new", "", 1), ("new", "a", 1), ("old", "a", 0), ("old", "", 1)]
)
def test_a_fragment_of_a_page_that_was_left_does_not_run(
    page: str, fragment: str, runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests: list[ClientState | None] = []
    monkeypatch.setattr(AppSession, "request_rerun", lambda _, state: requests.append(state))
    streamlit_private.leave_pages_for_good()
    session: Any = SimpleNamespace(_client_state=ClientState(page_script_hash="old"))
    AppSession.request_rerun(session, None)
    AppSession.request_rerun(session, ClientState(page_script_hash="new"))
    AppSession.request_rerun(session, ClientState(page_script_hash=page, fragment_id=fragment))
    assert len(requests) == 2 + runs
    assert session._client_state.page_script_hash == ("new" if fragment else page)
