"""Sweep this, in a browser and by keyboard: begun, drawn, a click on a heat map adopts."""

import re

from playwright.sync_api import Page, expect

from tests.browser.steps import CELLS, exceptions, move_slider, opened, pick, press_until, revision, settled
from tests.waiting import wait_for

HEAT = (
    """() => document.querySelector('[data-key="sweep-rmse"] .heatmaplayer image')?.getBoundingClientRect().toJSON()"""
)


def test_two_sliders_are_swept_and_a_click_adopts(page: Page) -> None:
    opened(page, f"{CELLS}&withhold=0.3&sweep=true&sweep-x=noise+σ²&sweep-y=k1+variance")
    for box in page.get_by_role("spinbutton", name="values").all():
        box.fill("2")
        box.press("Enter")
        settled(page)
    begin = page.get_by_role("button", name="Sweep 4 settings")
    begin.focus()
    page.keyboard.press("Enter")
    revision(page, "sweep-rmse")
    page.wait_for_url(re.compile("swept="))
    expect(page.locator("[data-key=sweep-maps]")).to_be_visible()
    settled(page)
    page.locator("[data-key=sweep-rmse]").scroll_into_view_if_needed()
    heat = wait_for(lambda: page.evaluate(HEAT), "the heat map")
    page.mouse.move(heat["x"] + heat["width"] * 0.8, heat["y"] + heat["height"] * 0.2)
    page.mouse.click(heat["x"] + heat["width"] * 0.85, heat["y"] + heat["height"] * 0.15)
    page.wait_for_url(re.compile("noise=|s0="))
    assert not page.errors


def test_any_pages_slider_is_swept_by_keyboard_and_undone(page: Page) -> None:
    opened(page, "/line?o-n=40&o-m=40")
    move_slider(page, "Lengthscale of k")
    page.wait_for_url(re.compile("o-k-scale="))
    settled(page)
    switch = page.get_by_role("switch", name=re.compile("^Sweep"))
    press_until(page, switch, "Space", "() => location.search.includes('sweep=true')")
    begin = page.get_by_role("button", name="Sweep 5 settings")
    press_until(page, begin, "Enter", "() => location.search.includes('swept=')")
    revision(page, "sweep-evidence")
    revision(page, "sweep-maps")
    settled(page)
    box = page.get_by_role("combobox", name=re.compile("^Setting|Setting$|setting")).last
    pick(page, box, page.get_by_role("option").first)  # the list opens at the evidence's choice, which is another one
    settled(page)
    adopt = page.get_by_role("button", name="Adopt")
    press_until(page, adopt, "Enter", "() => !location.search.includes('o-k-scale=1.12')")
    settled(page)
    page.wait_for_url(re.compile("o-k-scale="))
    page.get_by_role("button", name="Undo").click()
    page.wait_for_url(re.compile("o-k-scale=1.12"))
    assert not page.errors and not exceptions(page)
