"""Cells hidden, revealed and kept by hand on page Downscaling: controls, address, sentences."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.fields.spec import DownscalingSpec
from pages.downscaling.cell_selection import COLUMNS, HIDE, REVEAL, ROWS, values_of
from tests.pages.sliders import log_slider
from tests.pages.test_downscaling import complaints, words

#: A region in an address.
BOX = {ROWS: ["2", "11"], COLUMNS: ["1", "8"]}


def slider_at(page: AppTest, key: str) -> str:
    return str(log_slider(page, key).value)


@pytest.fixture
def page(open_page) -> AppTest:
    """The page on its worked example."""
    return open_page("downscaling")


def test_cells_hidden_by_hand_are_left_out_and_what_learned_values_know_is_said(page):
    before = {key: slider_at(page, key) for key in ("s0", "l0", "noise")}
    page.text_input(key=HIDE).set_value("12-3.14-7").run()
    assert complaints(page) == [] and "438 coarse values" in words(page) and "2 cells hidden (×) by hand" in words(page)
    assert {key: slider_at(page, key) for key in before} == before, "only the data changed"
    assert any("the value of 2 cells that are now hidden" in caption.value for caption in page.caption)
    assert re.search(r"at the 2 withheld cells by RMSE", words(page))
    page.slider(key="withhold").set_value(0.5).run()
    assert not any("learned from data that include" in caption.value for caption in page.caption), (
        "the usual start knows nothing"
    )
    page.button(key="lab-as-drawn").click().run()
    assert page.text_input(key=HIDE).value == "" and "by hand" not in words(page)


def test_a_link_hides_reveals_and_crops(open_page):
    page = open_page("downscaling", withhold="0.5", reveal="2-3.2-4.2-5.3-3.3-4.3-5", **BOX)
    assert complaints(page) == [] and not [box.value for box in page.warning if "Left out" in box.value]
    assert "region of 10 × 8 of 22 × 20 cells" in words(page) and "revealed (○) by hand" in words(page)
    shown = int(re.search(r"(\d+) coarse values", words(page))[1])
    assert 40 < shown < 80, "half of 80 cells, and those revealed"
    page.button(key="lab-whole-field").click().run()
    assert page.slider(key=ROWS).value == (0, 21) and "region of" not in words(page)


def test_cells_of_another_size_are_not_those_pointed_at(open_page):
    page = open_page("downscaling", hide="5-3", **BOX)
    assert "1 cell hidden" in words(page)
    page.number_input(key="rows").set_value(18).run()
    assert page.text_input(key=HIDE).value == "" and page.slider(key=ROWS).value == (0, 10)
    assert complaints(page) == [] and "hidden" not in words(page)
    page.slider(key=ROWS).set_value((3, 8)).run()
    page.number_input(key="rows").set_value(12).run()  # of which there are nine, too
    assert page.slider(key=ROWS).value == (0, 16) and page.slider(key=COLUMNS).value == (0, 19)


def test_what_an_address_cannot_have_is_left_out_with_a_sentence(open_page):
    page = open_page("downscaling", hide="99-3.1-2", reveal="`x`;1-2", **{ROWS: ["-5", "900"]})
    said = " ".join(box.value for box in page.warning)
    assert "there is no cell 99-3; rows run from 0 to 21" in said and "is not a cell: write row-column" in said
    assert complaints(page) == [] and page.slider(key=ROWS).value == (0, 21) and "439 coarse values" in words(page)
    page.text_input(key=REVEAL).set_value("1-2").run()
    assert "1-2 are both hidden and revealed by hand; they stay hidden" in " ".join(box.value for box in page.warning)
    page.slider(key=COLUMNS).set_value((4, 5)).run()
    assert complaints(page) == ["The region has 22 × 2 cells: take at least 3 × 3."]


def test_a_run_puts_its_cells_back_on_the_controls():
    spec = DownscalingSpec("t", ("z",), hide=((1, 2),), reveal=((3, 4), (3, 5)), region=(0, 5, 1, 7))
    assert values_of(spec) == {HIDE: "1-2", REVEAL: "3-4.3-5", ROWS: (0, 5), COLUMNS: (1, 7)}


def test_what_is_pointed_at_is_put_onto_the_controls_each_event_once():
    def shown():
        import streamlit as st

        from deconditioning.fields.problem.coarsened import make_problem
        from deconditioning.fields.spec import DownscalingSpec
        from pages.downscaling.cell_selection import HIDE, ROWS, pointed
        from pages.kit.controls.program_values import requested_value
        from tests.core.fields.samples import fields, region

        problem = make_problem(fields(region()), DownscalingSpec("t", block=(4, 6), withhold=0.0))
        x, y = problem.coarse_grid.x, problem.coarse_grid.y
        first, second = [1.0, x[2], y[1]], [2.0, x[3], y[1]]
        for events in ([first], [first, second], [second], [[3.0, x[0], y[0], x[4], y[1]]]):
            pointed(problem, events)  # always the problem of before: no run has ended since
            st.text(
                f"{requested_value(HIDE, '')} {requested_value(ROWS, None)} {st.session_state.get('_by-hand-refused')}"
            )
        pointed(problem, [[4.0, x[0], y[0], x[4], y[5]], [5.0, x[2], y[1]]])
        st.text(f"{requested_value(HIDE, '')} {requested_value(ROWS, None)}")

    page = AppTest.from_function(shown).run(timeout=120)
    assert not page.exception
    refused = "['The region has 2 × 5 cells: take at least 3 × 3.']"
    assert [text.value for text in page.text] == [
        "1-2 None None", "1-2.1-3 None None", "1-2.1-3 None None", f"1-2.1-3 None {refused}", "1-3 (0, 5)",
    ]  # fmt: skip
