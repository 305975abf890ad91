"""The flip book on page Downscaling: asked for, drawn after the exact picture, honest about the cells."""

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from tests.pages.conftest import until


def told(page: AppTest) -> str:
    return " ".join(box.value for box in page.caption)


def test_draws_are_made_only_when_asked_for(open_page: Callable[..., AppTest]) -> None:
    page = open_page("downscaling")
    assert "What stays is known" not in told(page)
    page.toggle(key="draws").set_value(True).run()
    until(page, lambda: "What stays is known" in told(page))
    assert "all honour the same coarse values" in told(page) and not page.exception
    assert "K (sd, on average)" in told(page)


def test_unmatched_cells_say_nothing_of_cells(open_page: Callable[..., AppTest]) -> None:
    page = open_page("downscaling", data="atmosphere-small", draws="true")
    until(page, lambda: "What stays is known" in told(page))
    assert "coarse values" not in told(page).split("What stays")[1] and not page.exception
