"""Two levels of controls in a browser: a new visitor's four, the switch by keyboard, what a browser and a link keep."""

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect

from pages.kit.controls.level import ALL, COOKIE, ESSENTIAL, KEY
from tests.browser.steps import fits, go_to, opened, revision, settled
from tests.waiting import wait_for

#: Labels of everything that can be set and is seen, but for the switch and the tools.
SEEN = """() => [...document.querySelectorAll('[data-testid=stElementContainer]')]
  .filter(e => e.checkVisibility() && !e.matches('.st-key-level, .st-key-sweep, [class*=st-key-lab-]'))
  .filter(e => e.querySelector('input, textarea, select, [data-testid=stButtonGroup]'))
  .map(e => e.querySelector('label, [data-testid=stWidgetLabel]')?.textContent ?? '')"""


def seen(page: Page, count: int) -> list[str]:
    """Those labels, once there are so many of them."""
    return wait_for(lambda: len(labels := page.evaluate(SEEN)) == count and labels, f"{count} controls")


def query(url: str) -> dict[str, list[str]]:
    return parse_qs(urlsplit(url).query)


def switch_by_keyboard(page: Page, to: str) -> None:
    page.locator(f".st-key-{KEY}").get_by_role("radio", checked=True).focus()
    page.keyboard.press("ArrowRight" if to == ALL else "ArrowLeft")
    page.keyboard.press("Space")
    expect(page.locator(f".st-key-{KEY}").get_by_role("radio", name=to)).to_be_checked()
    settled(page)


def test_a_new_visitor_sees_four_controls_and_the_choice_is_kept(new_page: Callable[..., Page]) -> None:
    page = opened(new_page(level=""), "/sparse?s-size=3")
    few, shown = seen(page, 4), revision(page, "s-here")
    assert all("How " in label for label in few)
    expect(page.get_by_role("button", name="1 more setting differs from the worked example: show all")).to_be_visible()
    switch_by_keyboard(page, ALL)
    every = seen(page, 9)
    assert any("σ²" in label for label in every)
    page.wait_for_url(lambda url: query(url) == {"s-size": ["3"], KEY: [ALL]})
    assert revision(page, "s-here") == shown
    go_to(page, "One dimension")
    page.locator("[data-key=o-function]").wait_for()
    page.wait_for_url(re.compile(f"/line.{KEY}={ALL}"))
    opened(page, "/sparse")  # a visit later on: the browser has kept the choice
    assert seen(page, 9) == every
    page.wait_for_url(lambda url: query(url) == {KEY: [ALL]})
    opened(page, f"/sparse?{KEY}={ESSENTIAL}&s-size=3")  # a link as it was shared
    assert seen(page, 4) == few and revision(page, "s-here") == shown
    page.get_by_role("button", name="show all").click()
    expect(page.get_by_role("slider", name="Variance of k")).to_be_visible()
    expect(page.get_by_role("slider", name="Variance of k")).to_have_attribute("aria-valuetext", "3")
    assert not page.errors


def test_the_switch_is_at_the_head_of_the_controls_of_a_phone(new_page: Callable[..., Page]) -> None:
    page = opened(new_page(width=390, height=844, level=""), "/line?o-lam=1e-8")
    expect(page.get_by_role("button", name="show all")).to_be_visible()
    page.get_by_test_id("stExpandSidebarButton").click()
    switch = page.get_by_test_id("stSidebar").locator(f".st-key-{KEY}")
    switch.get_by_text(ALL, exact=True).click()
    settled(page)
    expect(page.get_by_test_id("stSidebar").get_by_role("slider", name="λ").first).to_be_visible()
    fits(page)
    level = [one["value"] for one in page.context.cookies() if one["name"] == COOKIE]
    assert level == [ALL] and not page.errors
