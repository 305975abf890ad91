"""The browser's tab keeps a page's undo history, so that it is there again after a reload."""

import json
import secrets
from pathlib import Path
from typing import Any

import streamlit as st

from pages.kit.controls.address import LONGEST
from pages.kit.record import page_record
from pages.kit.session import Key
from pages.kit.tools.history import KEPT, History, State, history, join

_KEY = "lab-tab"
#: Characters and controls beyond which a text is no history of ours.
_MOST_TEXT, _MOST_CONTROLS = 400_000, 300
_TAB = st.components.v2.component(
    "lab_tab", html="<span hidden></span>", js=Path(__file__).with_name("tab.js").read_text(encoding="utf-8")
)


def keep() -> None:
    """Give the page's history to the tab, and take what the tab has kept when a session begins; at a page's end."""
    session = st.session_state.setdefault(Key.TAB_SESSION, secrets.token_hex(8))
    data = {"page": page_record().page, "session": session, "history": written(history())}
    _TAB(key=_KEY, data=data, on_before_change=_take)


def _take() -> None:
    """Join what the tab kept, once a page and session."""
    joined = st.session_state.setdefault(Key.TAB_JOINED, set())
    before = read(st.session_state.get(_KEY, {}).get("before"))
    if before is not None and page_record().page not in joined:
        joined.add(page_record().page)
        join(before)


def written(past: History) -> str:
    """A history as JSON: which state is shown, and of each state what the one before it does not say."""
    changes: list[dict[str, Any]] = []
    last: State = {}
    for state in past.states:
        keys = state.keys() | last.keys()
        changes.append({key: state.get(key) for key in sorted(keys) if state.get(key) != last.get(key)})
        last = state
    return json.dumps({"at": past.at, "changes": changes}, separators=(",", ":"))


def read(text: Any) -> History | None:
    """The history that `written` has made a text of; None for any other text, which a browser may send."""
    if not isinstance(text, str) or len(text) > _MOST_TEXT:
        return None
    try:
        result = json.loads(text)
        at, changes = result["at"], result["changes"]
        if not (isinstance(at, int) and 0 <= at < len(changes) <= KEPT):
            return None
        return History(_states(changes), at)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _states(changes: list[dict[str, Any]]) -> list[State]:
    states: list[State] = []
    last: dict[str, tuple[str, ...]] = {}
    for change in changes:
        now = last | {key: None if words is None else _words(words) for key, words in change.items()}
        last = {key: words for key, words in now.items() if words is not None}
        if len(last) > _MOST_CONTROLS:
            raise ValueError(len(last))
        states.append(last)
    return states


def _words(result: Any) -> tuple[str, ...]:
    if not all(isinstance(word, str) and len(word) <= LONGEST for word in result) or isinstance(result, str):
        raise ValueError(result)
    return tuple(result)
