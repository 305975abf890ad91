"""Sliders over orders of magnitude: what they read and say, one key press, the address, learned values."""

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect

from tests.browser.steps import SMALL_LINE, opened, settled

LAMBDA = f"{SMALL_LINE}&o-view=Bayes%27+rule"
FOUND = re.compile("^Given x = ")


def handle(page: Page, name: str):
    return page.get_by_role("slider", name=name)


def said(page: Page, name: str) -> str:
    """What a screen reader says; it is what stands at the handle."""
    slider = handle(page, name)
    box = page.locator("[data-testid=stSlider]").filter(has=slider)
    text = slider.get_attribute("aria-valuetext")
    expect(box.get_by_test_id("stSliderThumbValue")).to_have_text(text)
    return text


def asked(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def test_one_key_press_is_one_step_and_the_value_is_read_said_and_kept_in_the_address(
    new_page: Callable[..., Page],
) -> None:
    page = opened(new_page(), LAMBDA)
    first = said(page, "λ, of the simulation")
    assert float(first) > 0
    handle(page, "λ, of the simulation").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile("b-lam="))
    settled(page)
    now = said(page, "λ, of the simulation")
    assert 1.05 < float(now) / float(first) < 1.2
    assert asked(page)["b-lam"] == [now]
    found = page.get_by_text(FOUND).inner_text()

    again = opened(new_page(), urlsplit(page.url)._replace(scheme="", netloc="").geturl())
    assert said(again, "λ, of the simulation") == now
    assert again.get_by_text(FOUND).inner_text() == found

    page.keyboard.press("ArrowLeft")
    page.wait_for_url(lambda url: "b-lam" not in url)  # the default is not written
    assert said(page, "λ, of the simulation") == first


def test_an_address_beyond_an_end_is_clipped_with_a_sentence(page: Page) -> None:
    opened(page, f"{LAMBDA}&b-lam=7&b-eps=inf&b-herd=9999")
    assert said(page, "λ, of the simulation") == "1"
    expect(
        page.get_by_text("The address contains b-lam=7, which is outside the limits. The page uses 1.")
    ).to_be_visible()
    expect(page.get_by_text("b-herd=9999, which is outside the limits. The page uses 500.")).to_be_visible()
    page.wait_for_url(lambda url: "b-lam=1" in url and "b-herd=500" in url)
    page.reload()
    opened(page, urlsplit(page.url)._replace(scheme="", netloc="").geturl())
    assert said(page, "λ, of the simulation") == "1" and not page.errors


def test_a_value_between_the_steps_stays_through_other_pages_and_the_way_back(page: Page) -> None:
    opened(page, f"{LAMBDA}&b-lam=0.001734")
    assert said(page, "λ, of the simulation") == "0.001734"
    handle(page, "Observed x").focus()
    page.keyboard.press("ArrowRight")
    settled(page)
    assert said(page, "λ, of the simulation") == "0.001734"
    handle(page, "λ, of the simulation").focus()
    page.keyboard.press("ArrowRight")
    expect(handle(page, "λ, of the simulation")).not_to_have_attribute("aria-valuetext", "0.001734")
    page.keyboard.press("ArrowLeft")
    expect(handle(page, "λ, of the simulation")).to_have_attribute("aria-valuetext", "0.001734")
    settled(page)
    page.wait_for_url(re.compile("b-lam=0.001734"))
