"""The flip book on page Downscaling: asked for, drawn after the exact picture, honest about the cells."""

import re
from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from tests.pages.conftest import FEW_CELLS, until


def told(page: AppTest) -> str:
    return " ".join(box.value for box in page.caption)


def test_draws_are_made_only_when_asked_for(open_page: Callable[..., AppTest]) -> None:
    page = open_page("downscaling", **FEW_CELLS)
    assert "Where the draws stay the same, the field is well known" not in told(page)
    page.toggle(key="draws").set_value(True).run()
    until(page, lambda: "Where the draws stay the same, the field is well known" in told(page))
    assert "all draws agree with the same coarse values" in told(page) and not page.exception
    assert "K (sd, on average)" in told(page)
    whole = float(re.search(r"draws vary by ([\d.]+) K", told(page))[1])
    assert "of the variance of the draws inside the cells is extrapolated" in told(page)
    assert any(block.label == "Power spectra of the draws" for block in page.expander)
    page.number_input(key="effective").set_value(6.0).run()
    until(page, lambda: "draws vary by" in told(page))
    assert float(re.search(r"draws vary by ([\d.]+) K", told(page))[1]) < whole and not page.exception


def test_unmatched_cells_say_nothing_of_cells(open_page: Callable[..., AppTest]) -> None:
    corner = {"cell-rows": ["2", "7"], "cell-columns": ["2", "7"]}
    page = open_page("downscaling", data="atmosphere-small", draws="true", **corner)
    until(page, lambda: "Where the draws stay the same, the field is well known" in told(page))
    assert "coarse values" not in told(page).split("Where the draws stay the same")[1] and not page.exception


def test_the_file_waits_for_its_draws(open_page: Callable[..., AppTest]) -> None:
    page = open_page("downscaling", members="10", attributes="doi=10.1/2", **FEW_CELLS)
    until(page, lambda: page.get("download_button"))
    until(page, lambda: not page.get("download_button")[0].proto.disabled)
    assert page.get("download_button")[0].proto.label == "NetCDF" and not page.exception
    page.text_input(key="attributes").set_value("seed=4").run()
    assert any("cannot be one of your own attributes" in box.value for box in page.error)
    assert not any(button.proto.label == "NetCDF" for button in page.get("download_button"))
