"""Slides over the window: a key opens them, arrows turn them and move the divider, Escape brings the page back."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Page, expect

from tests.browser.accessible import barriers
from tests.browser.steps import CELLS, downloaded, opened, settled


def test_slides_by_keyboard_and_the_same_in_a_file(new_page: Callable[..., Page], tmp_path: Path) -> None:
    page = opened(new_page(), CELLS)
    file = tmp_path / "page.html"  # its button is there once the picture is exact
    downloaded(page, page.get_by_role("button", name="One page, HTML")).save_as(file)
    page.keyboard.press("p")
    deck = page.locator("dialog[open] .deck")
    expect(deck).to_have_attribute("data-slide", "data")
    walk(page, deck)
    page.keyboard.press("End")
    address = urlsplit(deck.get_by_role("link").get_attribute("href"))
    assert address.path == "/downscale" and "level=All" in address.query
    assert not barriers(page, within="dialog[open]")
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.keyboard.press("p")
    expect(deck).to_be_visible()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.reload()  # in the middle of a talk
    expect(deck.get_by_role("button", name=re.compile("^Slide 2:"))).to_have_attribute("aria-current", "step")
    deck.get_by_role("button", name="Close").click()
    expect(page.locator("dialog[open]")).to_have_count(0)
    page.reload()
    page.locator(".st-key-lab-present button").first.wait_for()
    settled(page)
    expect(page.locator("dialog[open]")).to_have_count(0)
    assert not page.errors

    alone = new_page()
    alone.goto(file.as_uri())
    walk(alone, alone.locator(".deck"))
    assert not alone.errors and not alone.foreign


def walk(page: Page, deck) -> None:
    """To the map with a divider, moved, and over its value."""
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(deck).to_have_attribute("data-slide", "fine")
    divider = deck.get_by_role("slider", name="Divider")
    expect(divider).to_have_attribute("aria-valuenow", "50")
    page.keyboard.press("Shift+ArrowRight")
    expect(divider).to_have_attribute("aria-valuenow", "52")
    deck.locator("canvas").hover(position={"x": 40, "y": 90})
    expect(deck.locator(".deck-tip")).to_contain_text("fine: ")
    expect(deck.locator(".deck-trust")).to_contain_text("95 % intervals contain")


def test_a_study_is_walked_by_keyboard_and_the_same_in_a_file(new_page: Callable[..., Page], tmp_path: Path) -> None:
    page = opened(new_page(), "/sparse")
    file = tmp_path / "page.html"
    downloaded(page, page.get_by_role("button", name="One page, HTML")).save_as(file)
    page.keyboard.press("p")
    deck = page.locator("dialog[open] .deck")
    drawn = walk_study(page, deck)
    assert drawn == lines_on(page, ".live-chart[data-key=s-here] .live-plot")
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(page.get_by_role("button", name="Present", exact=True)).to_be_focused()
    page.keyboard.press("p")
    expect(deck).to_have_attribute("data-slide", "question")
    assert not page.errors

    alone = new_page()
    alone.goto(file.as_uri())
    assert walk_study(alone, alone.locator(".deck")) == drawn
    assert not alone.errors and not alone.foreign


def walk_study(page: Page, deck) -> list[list[float]]:
    """To the first figure and the end and back; returns what its lines go through."""
    expect(deck).to_have_attribute("data-slide", "question")
    expect(deck.locator(".deck-plot")).to_have_attribute("data-drawn", "figure-0")
    expect(deck.get_by_role("figure")).to_have_attribute("aria-label", re.compile("RMSE \\w"))
    drawn = lines_on(page, ".deck-plot")
    assert not barriers(page, within=".deck")
    page.keyboard.press("End")
    expect(deck).to_have_attribute("data-slide", "credits")
    assert urlsplit(deck.get_by_role("link").get_attribute("href")).path == "/sparse"
    page.keyboard.press("ArrowLeft")
    expect(deck).to_have_attribute("data-slide", "method")
    page.keyboard.press("Home")
    expect(deck).to_have_attribute("data-slide", "question")
    return drawn


def lines_on(page: Page, plot: str) -> list[list[float]]:
    """First and last numbers of everything that plotly has drawn there."""
    return page.locator(plot).evaluate(
        "node => node.calcdata.map(([first, ...more]) => [first.y, more.at(-1)?.y ?? 0])"
    )
