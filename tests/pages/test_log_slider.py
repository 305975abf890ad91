"""The slider over orders of magnitude: it reads its value, keeps what is set exactly, survives any address."""

import json
import math
from html import unescape
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from deconditioning.wording import slider_text
from pages.kit.state import STEP, log_stops, on_sliders
from tests.pages.sliders import log_slider, moved

SCRIPT = """
import streamlit as st
from pages.kit.controls.program_values import apply_values, count_requests, set_values
from pages.kit.state import log_slider, on_sliders

apply_values()
value = log_slider("σ²", "noise", {low}, {high}, {default})
st.markdown(repr(value))
if st.button("Learn"):
    set_values(on_sliders({{"noise": {learned}}}))
st.checkbox("Other")
count_requests()
"""


def page(low=1e-4, high=10.0, default=0.05, learned=0.0017342918234567, **address: str) -> AppTest:
    app = AppTest.from_string(SCRIPT.format(low=low, high=high, default=default, learned=learned))
    for key, text in address.items():
        app.query_params[key] = text
    return app


def value(app: AppTest) -> float:
    assert not app.exception
    return float(app.markdown[0].value)


def asked(app: AppTest) -> str:
    return "".join(app.query_params.get("noise", []))


def test_it_opens_at_its_default_and_reads_its_values():
    app = page().run()
    slider = log_slider(app, "noise")
    assert value(app) == slider.value == 0.05 and slider.label == "σ²"
    assert [slider.options[0], slider.options[-1]] == ["0.0001", "10"]
    assert {"0.001", "0.01", "0.05", "0.1", "1", "1.12"} < set(slider.options) and "0.0501" not in slider.options
    assert slider.proto.query_param_key == "noise"


def test_its_values_may_read_as_lengths_while_the_address_has_the_numbers():
    app = (
        page()
        .from_string(
            "from pages.kit.record import page_record\nfrom pages.kit.state import log_slider\nimport streamlit as st\n"
            "log_slider('ℓ', 'l0', 0.1, 10.0, 4.498, reads=lambda value: f'{82 * value:.0f} km')\n"
            "st.markdown(page_record().controls['l0'].text)"
        )
        .run()
    )
    (box,) = app.get("html")
    words = json.loads(unescape(box.proto.body.split('data-words="')[1].split('"')[0]))
    slider = log_slider(app, "l0")
    assert app.markdown[0].value == "369 km" == words["4.498"] and slider.value == 4.498
    assert list(words) == list(slider.options) and words["1"] == "82 km" and 'data-key="l0"' in box.proto.body


@given(st.floats(-14, 3), st.floats(0.5, 8), st.floats(0, 1))
def test_stops_are_one_step_apart_and_hold_ends_and_default(low10: float, decades: float, share: float):
    low, high = 10.0**low10, 10.0 ** (low10 + decades)
    default = min(max(low * (high / low) ** share, low), high)
    found = log_stops(low, high, {slider_text(value): value for value in (low, high, default)})
    stops = list(found)
    assert stops[0] == pytest.approx(low, rel=6e-4) and stops[-1] == pytest.approx(high, rel=6e-4)
    assert default in stops and len(set(found.values())) == len(stops)
    assert all(float(text) == pytest.approx(value, rel=6e-4) for value, text in found.items())
    gaps = [math.log10(right / left) for left, right in pairwise(stops)]
    assert min(gaps) > 0 and max(gaps) < 2 * STEP + 0.005
    assert sum(gap < STEP / 2 - 0.005 for gap in gaps) <= 2  # where the default is next to an end


def test_a_moved_handle_gives_the_value_that_it_reads_one_step_on():
    app = page(default=0.1).run()
    slider = log_slider(app, "noise")
    one_on = slider.options[slider.options.index("0.1") + 1]
    assert one_on == "0.112"
    slider.set_value(float(one_on)).run()
    assert value(app) == 0.112 and not log_slider(app, "noise").proto.set_value


def test_a_learned_value_is_kept_to_four_digits_through_reruns_and_remains_a_stop():
    app = page().run()
    app.button[0].click().run()
    assert value(app) == 0.001734 and log_slider(app, "noise").proto.raw_value == ["0.001734"]
    app.checkbox[0].check().run()
    assert value(app) == 0.001734
    moved(app, "noise", 100)
    assert value(app) == 0.178
    log_slider(app, "noise").set_value(0.001734).run()
    assert value(app) == 0.001734


@pytest.mark.parametrize(("learned", "kept"), [(1e9, 10.0), (1e-9, 1e-4), (1.0, 1.0), (0.0500000001, 0.05)])
def test_a_value_set_from_the_program_is_brought_inside(learned: float, kept: float):
    app = page(learned=learned).run()
    app.button[0].click().run()
    assert value(app) == kept
    app.run()
    assert value(app) == kept


@pytest.mark.parametrize("text", ["0.00173429", "1.12e-3", "0.112", "1e-4", "10", ".5", "0.0017342918234567"])
def test_an_address_is_followed_to_its_last_digit(text: str):
    app = page(**{"noise": text}).run()
    assert value(app) == float(text) and asked(app) == text
    app.checkbox[0].check().run()
    assert value(app) == float(text)


@pytest.mark.parametrize(
    "text",
    ["inf", "-inf", "nan", "1e999", "-1", "", "abc", "1_0", "٣", "0x1", "$$", "[0]"],
)
def test_an_impossible_address_gives_the_default(text: str):
    app = page(noise=text).run()
    assert value(app) == 0.05 and not asked(app)


@pytest.mark.parametrize(("text", "end"), [("11", 10.0), ("1e99", 10.0), ("1e-5", 1e-4), ("0", 1e-4)])
def test_an_address_beyond_an_end_gives_that_end(text: str, end: float):
    app = page(noise=text).run()
    assert value(app) == end
    app.checkbox[0].check().run()
    assert value(app) == end


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.4, "0.4"),
        (1120.0, "1120"),
        (1e-5, "1e-5"),
        (1.12e-14, "1.12e-14"),
        (0.00017782794, "0.0001778"),
        (1e6, "1e6"),
    ],
)
def test_handles_read_numbers(number: float, text: str):
    assert slider_text(number) == text


def test_sliders_are_set_by_the_keys_that_pages_give_them():
    assert on_sliders({"a": 1.0}) == {"a": 1.0}
