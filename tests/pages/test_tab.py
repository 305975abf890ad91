"""A history as the browser's tab keeps it: written, read, joined with a session's own; other texts are refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.kit.controls.address import LONGEST
from pages.kit.tools import tab
from pages.kit.tools.history import KEPT, History, joined

states = st.dictionaries(st.text(max_size=5), st.lists(st.text(max_size=9), max_size=3).map(tuple), max_size=6)


@given(st.lists(states, min_size=1, max_size=8), st.data())
def test_what_is_written_is_read_again(kept: list[dict[str, tuple[str, ...]]], data: st.DataObject) -> None:
    history = History(kept, data.draw(st.integers(0, len(kept) - 1)))
    assert tab.read(tab.written(history)) == history


def told(at: object, *changes: object) -> str:
    return json.dumps({"at": at, "changes": changes})


@pytest.mark.parametrize(
    "text",
    [None, 7, "", "[]", "{", "null", told(0), told(1, {}), told(-1, {}), told("0", {}), told(0, 3), told(0, {"a": 3}),
     told(0, {"a": "b"}), told(0, {"a": [3]}), told(0, {"a": ["x" * (LONGEST + 1)]}), told(0, *[{}] * (KEPT + 1)),
     told(0, {str(i): [] for i in range(1000)}), "[" * 100_000, '"' + "x" * 500_000 + '"'],
)  # fmt: skip
def test_other_texts_are_no_history(text: object) -> None:
    assert tab.read(text) is None


A, B, C, D = ({"k": (name,)} for name in "abcd")


@pytest.mark.parametrize(
    ("before", "now", "again", "states", "at"),
    [([[A, B, C], 1], [[B], 0], True, [A, B, C], 1),  # a reload: Redo goes on to C
     ([[A, B, C], 1], [[B, D], 1], True, [A, B, D], 2),  # a slider was moved meanwhile: C is gone
     ([[A, B, C], 1], [[D], 0], False, [A, B, D], 2),  # another link in the same tab
     ([[A], 0], [[A], 0], True, [A], 0),
     ([[A] * KEPT, KEPT - 1], [[B], 0], False, [A] * (KEPT - 1) + [B], KEPT - 1)],
)  # fmt: skip
def test_what_the_tab_kept_comes_before_what_the_session_did(
    before: list, now: list, again: bool, states: list, at: int
) -> None:
    assert joined(History(*before), History(*now), again) == History(states, at)
