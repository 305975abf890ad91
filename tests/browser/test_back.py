"""The browser's Back and reload keep the work: settings as they were left, and the steps that Undo goes back."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import CELLS, SMALL_LINE, go_to, move_slider, opened, settled
from tests.waiting import wait_for, wait_for_value

SHOWN = """() => [...document.querySelectorAll('[data-testid=stSlider]')].map(slider =>
  slider.closest('[class*=st-key-]').className.match(/st-key-(\\S+)/)[1] + ' ' +
  [...slider.querySelectorAll('[data-testid=stSliderThumbValue]')].map(each => each.innerText).join(' to '))"""
ENTRIES = "() => history.length"


@pytest.mark.parametrize(
    ("link", "slider", "said"),
    [(f"{SMALL_LINE}&o-k-scale=0.5", "Lengthscale of k", "o-k-scale=0.63"),
     (f"{CELLS}&s0=5&withhold=0.3", "lengthscale: location", "l0=")],
)  # fmt: skip
def test_back_finds_a_page_as_it_was_left(page: Page, link: str, slider: str, said: str) -> None:
    opened(page, link)
    entries = page.evaluate(ENTRIES)
    move_slider(page, slider, 2)
    page.wait_for_url(re.compile(re.escape(said)))
    settled(page)
    address, shown = page.url, page.evaluate(SHOWN)
    go_to(page, "Glossary")
    assert page.evaluate(ENTRIES) == entries + 1  # neither the link nor the bare page lies in between
    page.go_back()
    page.wait_for_url(address)
    expect(page.get_by_role("slider", name=re.compile(slider, re.IGNORECASE)).first).to_be_visible()
    settled(page)
    wait_for_value(lambda: page.evaluate(SHOWN), shown, "the sliders")
    assert page.url == address and not page.errors


def test_a_reload_keeps_what_undo_goes_back_to_and_another_window_has_its_own(new_page: Callable[..., Page]) -> None:
    page = opened(new_page(), SMALL_LINE)
    undo, redo = (page.get_by_role("button", name=name, exact=True) for name in ("Undo", "Redo"))
    for said in ("o-k-scale=1.41", "o-k-scale=2"):
        move_slider(page, "Lengthscale of k", 3)
        page.wait_for_url(lambda url, said=said: said in url)
        expect(undo).to_be_enabled()  # the page has followed its picture, and holds the step
        settled(page)
    other = opened(new_page(), SMALL_LINE)
    expect(other.get_by_role("button", name="Undo", exact=True)).to_be_disabled()
    other.close()
    undo.click()
    page.wait_for_url(lambda url: "o-k-scale=2" not in url)
    settled(page)
    page.reload()
    expect(undo).to_be_enabled()
    settled(page)
    redo.click()
    page.wait_for_url(re.compile("o-k-scale=2"))
    settled(page)

    def nothing_left() -> bool:
        """On a slow machine the keys of one move are several steps."""
        if undo.is_enabled():
            undo.click()
        settled(page)
        return undo.is_disabled()

    wait_for(nothing_left, "the first step")
    page.wait_for_url(lambda url: "o-k-scale" not in url)
    assert not page.errors
