"""Every page as it opens, with everything on it: see `tests.browser.whole_page`."""

import ast

import pytest

from pages.kit.pages import FOLDER
from tests.browser.steps import CELLS, darkness, opened
from tests.browser.whole_page import ADDRESSES, PLACES, is_as_it_should_be, look


@pytest.mark.parametrize("address", ADDRESSES)
def test_everything_on_the_page_is_as_it_should_be(new_page, address: str) -> None:
    is_as_it_should_be(new_page, address)


def test_a_page_opens_narrow_and_dark(new_page) -> None:
    page = opened(new_page(width=390, dark=True), CELLS)
    assert darkness(page) > 0.5 and not look(page, "at once") and not page.errors and not page.foreign


def test_every_equation_is_opened_here() -> None:
    calls = {
        str(path.relative_to(FOLDER))
        for path in FOLDER.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "explain"
    }
    assert calls == set(PLACES)
