"""The line of tools: undo by keyboard, pin as A with a divider, presets, the link with its QR code; also on a phone."""

import math
import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.maps import centre, colour, field, shade
from tests.browser.steps import SMALL_LINE, fits, move_slider, opened, redrawn, revision, settled
from tests.waiting import wait_for, wait_for_value

GHOST = "A: posterior:<br>mean ± 2 sd"


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    settled(page)


def query(url: str) -> dict[str, list[str]]:
    return parse_qs(urlsplit(url).query)


def test_undo_and_redo_by_keyboard_and_a_pinned_curve_stays_as_a_ghost(page: Page) -> None:
    opened(page, SMALL_LINE)
    move_slider(page, "Lengthscale of k")
    page.wait_for_url(re.compile("o-k-scale="))
    expect(page.get_by_role("button", name="Undo")).to_be_enabled()  # the page has followed its picture
    settled(page)
    moved = query(page.url)["o-k-scale"]
    page.keyboard.press("Control+z")
    page.wait_for_url(lambda url: "o-k-scale" not in url)
    settled(page)
    page.keyboard.press("Control+Shift+z")
    page.wait_for_url(lambda url: query(url).get("o-k-scale") == moved)
    assert not page.errors
    names = "() => document.querySelector('[data-key=o-function] .live-plot').data.map(trace => trace.name)"
    shown = revision(page, "o-function")
    before = page.evaluate(names)
    press(page, "Pin as A")
    move_slider(page, "Lengthscale of k", 6)
    redrawn(page, "o-function", shown)
    settled(page)
    assert GHOST not in before
    wait_for(lambda: GHOST in page.evaluate(names), "the pinned curve")


def test_a_pinned_map_stays_in_its_place_left_of_a_divider_that_keys_move(new_page: Callable[..., Page]) -> None:
    page = opened(new_page(height=800), "/downscale")
    pinned_map_stays(page, "Too smooth")
    divider_moves(page)
    press(page, "Presets")
    press(page, "Reset")
    page.set_viewport_size({"width": 390, "height": 800})
    settled(page)
    pinned_map_stays(page, "Too smooth")
    assert not page.errors


def pinned_map_stays(page: Page, preset: str) -> None:
    """Beside what another preset shows."""
    node, before = page.locator("[data-key=map-mean]"), revision(page, "map-mean")
    top = top_of(node)
    press(page, "Pin as A")
    page.get_by_role("button", name="Presets", exact=True).click()
    press(page, preset)
    redrawn(page, "map-mean", before)
    settled(page)
    wait_for(lambda: top_of(node) - top < 50, "the map in its place")  # one more line of tools at most
    settings = page.locator("[data-name='Settings that differ']")
    wait_for_value(lambda: settings.evaluate("table => table.scrollWidth - table.clientWidth"), 0, "a table's overflow")
    expect(settings.locator("tbody tr")).to_have_count(2)
    fits(page)


def top_of(chart: Locator) -> float:
    """How far down the window a chart begins."""
    return (chart.bounding_box() or {"y": math.nan})["y"]


def divider_moves(page: Page) -> None:
    """By arrow keys, on all maps; it goes with the pin."""
    node = page.locator("[data-key=map-mean]")
    expect(node).to_have_attribute("data-divider", "50")
    shown = field(page, "map-mean")
    shows(page, shown, 40, "A")
    shows(page, shown, 140, "B")
    node.get_by_role("slider").focus()
    for _ in range(10):
        page.keyboard.press("ArrowLeft")
    expect(node).to_have_attribute("data-divider", "40")
    expect(page.locator("[data-key=map-spread]")).to_have_attribute("data-divider", "40")
    shows(page, shown, 81, "B")  # of 180 columns: right of 40 per cent, left of 50
    expect(page.locator("[data-key=lab-difference]")).to_be_visible()
    press(page, "Unpin")
    expect(node).not_to_have_attribute("data-divider", re.compile(".*"))


def shows(page: Page, shown: dict, column: int, side: str) -> None:
    """Wait until a pixel of that column, where A and B differ, is drawn in the colour of one of them."""
    values, pinned = shown["z"], shown["pinned"]["z"]
    assert shown["columns"] == shown["pinned"]["columns"] == 180
    at = max(range(column, len(values), 180), key=lambda i: abs(values[i] - pinned[i]))
    colours = {"A": shade(shown, pinned[at]), "B": shade(shown, values[at])}
    assert colours["A"] != colours["B"]
    wait_for_value(
        lambda: colour(page, "map-mean", *centre(shown, at // 180, column))[:3],
        pytest.approx(colours[side], abs=2),
        f"the colour of {side} in column {column}",
    )


def test_the_link_brings_the_same_page_and_has_a_qr_code(new_page: Callable[..., Page]) -> None:
    page = opened(new_page(), "/bayes?k-dim=1")
    move_slider(page, "Observed y", 5)
    page.wait_for_url(re.compile("k-y0="))
    settled(page)
    page.get_by_role("button", name="Link", exact=True).click()
    shown = page.get_by_test_id("stPopoverBody")
    expect(shown.get_by_role("img")).to_be_visible()
    expect(shown.locator("code")).to_have_text(re.compile("http"))
    address = shown.locator("code").inner_text().strip()
    shown.get_by_role("button", name="Copy", exact=True).focus()
    page.keyboard.press("Enter")
    expect(shown.get_by_text(re.compile("^Copied|^This browser"))).to_be_visible()
    page.wait_for_url(lambda url: query(url) == query(address))
    assert urlsplit(address).path == "/bayes"
    again = opened(new_page(), urlsplit(address)._replace(scheme="", netloc="").geturl())
    expect(again.get_by_text(re.compile(r"^Hidden: x. Observed: y = 4\.50"))).to_be_visible()
