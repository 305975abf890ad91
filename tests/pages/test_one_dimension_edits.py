"""Points edited by hand on page One dimension: the address holds them, other settings keep or leave them, hostile ones
are ignored."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.datasets.edited import MOST_EDITS, Edits
from pages.kit.chart import points
from pages.kit.chart.points import Points

SMALL = {"o-n": "30", "o-m": "30"}


def said(page: AppTest) -> str:
    """Everything it says; no error, no exception."""
    assert not page.exception and [error.value for error in page.error] == []
    return " ".join(block.value for block in (*page.markdown, *page.warning, *page.caption, *page.info))


@pytest.fixture
def page(open_page) -> AppTest:
    return open_page("one_dimension", **SMALL, **{"o-first-edits": "m3_2_-4d5", "o-second-edits": "a0.5_3"})


def evidence(page: AppTest) -> str:
    """The sentence with the posterior's numbers."""
    return next(block.value for block in page.markdown if "recovers f with RMSE" in block.value)


def test_an_address_opens_on_its_edits_and_one_button_takes_them_back(page, open_page):
    assert "data set 1: 1 moved, 1 deleted; data set 2: 1 added." in said(page)
    edited = evidence(page)
    assert "n = 29$, $m = 31" in said(page)
    page.button(key="o-as-generated").click().run()
    assert "By hand" not in said(page) and evidence(page) == evidence(open_page("one_dimension", **SMALL)) != edited
    page.button(key="lab-undo").click().run()
    assert evidence(page) == edited and page.text_input(key="o-first-edits").value == "m3_2_-4d5"
    page.button(key="lab-reset").click().run()
    assert "By hand" not in said(page)


def test_fewer_pairs_let_edits_wait_and_more_bring_them_back(page):
    page.slider(key="o-n").set_value(4).run()
    assert "data set 1: 1 moved;" in said(
        page
    ) and "data set 1 beyond n = 4: 1 deleted. They reappear when n is larger." in said(page)
    page.slider(key="o-n").set_value(30)
    page.number_input(key="o-seed").set_value(2).run()
    assert "data set 1: 1 moved, 1 deleted; data set 2: 1 added." in said(page) and "wait" not in said(page)


def test_hostile_edits_are_left_aside_with_a_sentence(page):
    cases = {"<b>m1</b>": "not an edit of a point", "a1_1001": "between", "a1_1" * (MOST_EDITS + 1): "at most",
             "d1d1": "twice", "".join(f"d{i}" for i in range(1, 31)): "no pair is deleted"}  # fmt: skip
    for text, word in cases.items():
        page.text_input(key="o-first-edits").set_value(text).run()
        assert word in said(page) and "data set 2: 1 added." in said(page)
    page.button(key="o-as-generated").click().run()
    assert "are ignored" not in said(page) and not page.warning


def test_other_views_hold_the_edits_too(page):
    for view in ("There and back", "Bayes' rule", "Recover f"):
        page.segmented_control(key="o-view").set_value(view).run()
        assert "data set 1: 1 moved, 1 deleted; data set 2: 1 added." in said(page)


@pytest.fixture
def heard(monkeypatch) -> Callable[[Any], tuple[list[Edits], Any]]:
    """What a chart of two pairs makes of a browser's message: the edits taken, the message answered."""

    def hear(message: Any) -> tuple[list[Edits], Any]:
        state, taken = {"chart": {"edits": message}}, []
        monkeypatch.setattr(points.st, "session_state", state)
        Points(np.zeros(2), np.zeros(2), Edits(), ("y", "x"), MOST_EDITS, taken.append).hear("chart")
        return taken, state.get("_points-chart")

    return hear


def test_a_browser_sends_all_edits_as_one_text(heard):
    assert heard({"text": "m1_0.5_2d2", "number": 3}) == ([Edits({1: (0.5, 2.0)}, frozenset({2}))], 3)


@pytest.mark.parametrize("text", ["d3", "d1d2", "a1_2000", "a1_1" * (MOST_EDITS + 1), "eval", None, {}, 1.5])
def test_a_hostile_message_is_answered_and_changes_nothing(heard, text):
    assert heard({"text": text, "number": 4}) == ([], 4)


@pytest.mark.parametrize("message", [None, [], "m1_0_0", {"text": "d1"}, {"text": "d1", "number": "1"}])
def test_a_message_that_is_none_is_not_answered(heard, message):
    assert heard(message) == ([], None)
