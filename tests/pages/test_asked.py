"""Values that the program puts on controls stay there, whatever a browser that has not heard of them sends."""

import pytest
from streamlit.testing.v1 import AppTest

from pages.kit.controls.program_values import SEEN
from tests.pages.reading import elements

SCRIPT = """
import streamlit as st
from pages.kit.controls.program_values import apply_values, count_requests, set_on_next_run, set_values

apply_values()
fields = st.selectbox("Fields", ["old", "new", "third"], key="fields")
size = st.slider("Size", 0, 9, 1, key="size")
if st.button("Upload"):
    set_values({"fields": "new"})
if st.button("Learn"):
    set_values({"size": 7})
if st.button("Interrupted"):
    set_on_next_run({"size": 5})
    st.stop()
st.markdown(f"{fields} {size}")
count_requests()
"""


def shown(app: AppTest) -> str:
    """What the page was run with."""
    assert not app.exception
    return app.markdown[0].value


def press(app: AppTest, label: str) -> AppTest:
    """Press a button."""
    return next(button for button in app.button if button.label == label).click().run()


def unheard(app: AppTest, **before: object) -> AppTest:
    """The next request comes from a browser that has not heard of the last values."""
    app.number_input(key=SEEN).set_value(app.number_input(key=SEEN).value - 1)
    for key, value in before.items():
        next(one for one in (*app.selectbox, *app.slider) if one.key == key).set_value(value)
    return app.run()


@pytest.fixture
def app() -> AppTest:
    return AppTest.from_string(SCRIPT).run()


def test_what_a_browser_held_before_does_not_come_back(app: AppTest) -> None:
    assert shown(app) == "old 1"
    assert shown(press(app, "Upload")) == "new 1"
    assert shown(unheard(app, fields="old")) == "new 1"
    assert shown(app.run()) == "new 1"


def test_who_chooses_again_gets_it(app: AppTest) -> None:
    press(app, "Upload")
    assert shown(app.selectbox(key="fields").set_value("old").run()) == "old 1"
    assert shown(press(app, "Learn")) == "old 7"
    assert shown(unheard(app, size=1)) == "old 7"  # and nothing that was asked for earlier
    assert shown(app.slider(key="size").set_value(2).run()) == "old 2"


@pytest.mark.parametrize("folder", ["one_dimension", "downscaling", "swiss_roll"])
def test_the_count_stands_behind_everything_else(folder: str, open_page) -> None:
    """A browser that has drawn it has drawn, and so heard of, all other controls of the same run."""
    page = open_page(folder)
    controls = [proto.id for proto in elements(page.main) if getattr(proto, "id", "")]
    assert page.number_input(key=SEEN).value == 0 and len(controls) > 3 and controls[-1].endswith(SEEN)


def test_two_askings_missed_at_once_are_both_put_again(app: AppTest) -> None:
    press(press(app, "Upload"), "Learn")
    app.number_input(key=SEEN).set_value(0)
    app.selectbox(key="fields").set_value("old")
    assert shown(app.slider(key="size").set_value(1).run()) == "new 7"


def test_a_run_that_ends_behind_the_asking_loses_nothing(app: AppTest) -> None:
    press(app, "Interrupted")
    assert shown(app.run()) == "old 5"


def test_a_browser_that_outlives_its_session_is_asked_all_the_same(app: AppTest) -> None:
    app.number_input(key=SEEN).set_value(40).run()
    assert shown(press(app, "Upload")) == "new 1" and app.number_input(key=SEEN).value == 41
    for _ in range(12):
        press(app, "Learn")
    assert shown(unheard(app, size=3)) == "new 7"
