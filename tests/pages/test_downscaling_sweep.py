"""Sweep this, on page Downscaling in AppTest: begun, shown, adopted, refused."""

import re
from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from deconditioning.engine.visitors.visitor import Visitor
from pages.downscaling.sweep import _ends
from pages.kit.state import get_engine
from tests.pages.conftest import FEW_CELLS, until
from tests.pages.sliders import log_slider
from tests.waiting import HANG_S


def test_a_sweep_is_a_run_and_one_of_its_settings_is_adopted(open_page: Callable[..., AppTest]) -> None:
    page = open_page("downscaling", withhold="0.3", sweep="true", **FEW_CELLS)
    page.selectbox(key="sweep-x").set_value("noise σ²").run()
    page.number_input(key="sweep-x-noise σ²-low").set_value(0.001)
    page.number_input(key="sweep-x-noise σ²-high").set_value(1.0)
    page.number_input(key="sweep-x-noise σ²-count").set_value(4).run()
    page.button(key="sweep-begin").click().run()
    engine: Visitor = get_engine()
    run_id = page.query_params["swept"]
    run = engine.wait(run_id, HANG_S)
    assert run.status == "done" and len(run.result["cells"]) == 4
    until(page, lambda: any(box.key == "sweep-pick" for box in page.selectbox))
    said = " ".join(box.value for box in page.markdown)
    assert "The evidence is highest at noise σ² = " in said and "the error is lowest at" in said
    page.selectbox(key="sweep-pick").set_value(2).run()
    page.button(key="sweep-adopt").click().run()
    assert abs(log_slider(page, "noise").value - 0.1) < 1e-4 and not page.exception
    again = open_page("downscaling", withhold="0.3", sweep="true", swept=run_id, **FEW_CELLS)
    assert any(box.key == "sweep-pick" for box in again.selectbox) and not again.exception


def test_ends_that_make_no_axis_are_a_sentence(open_page: Callable[..., AppTest]) -> None:
    page = open_page("downscaling", sweep="true", **FEW_CELLS)
    page.selectbox(key="sweep-x").set_value("noise σ²").run()
    page.number_input(key="sweep-x-noise σ²-high").set_value(0.0).run()
    titles = page.selectbox(key="sweep-x").options
    assert any(re.fullmatch(r"lengthscale of k.*: location \(1 = [\d,.]+ km\)", title) for title in titles), titles
    assert not any("[" in title for title in titles)
    assert any("runs from" in box.value for box in page.error) and page.button(key="sweep-begin").disabled


def test_an_axis_ends_where_its_slider_ends(open_page: Callable[..., AppTest]) -> None:
    assert _ends("noise", 50) == (1e-6, 10.0) and _ends("lam", 50) == (1e-8 / 50, 1 / 50)
    assert _ends("l0", 50) == _ends("m-l1-0-2", 50) == (2e-2, 5e1) and _ends("s3", 50) == (1e-3, 1e3)
    assert _ends("alpha0", 50) == _ends("", 50) == (None, None)
    page = open_page("downscaling", sweep="true", **FEW_CELLS)
    page.selectbox(key="sweep-x").set_value("noise σ²").run()
    page.number_input(key="sweep-x-noise σ²-high").set_value(1000.0).run()
    assert any("goes above 10, the end of its slider" in box.value for box in page.error)
