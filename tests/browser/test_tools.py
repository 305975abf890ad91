"""The line of tools: undo by keyboard, pin as A with a divider, presets, the link with its QR code; also on a phone."""

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.maps import centre, colour, field, shade
from tests.browser.steps import SMALL_LINE, move_slider, opened, overflow, redrawn, revision, settled


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    settled(page)


def query(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def test_undo_and_redo_by_keyboard_and_a_pinned_curve_stays_as_a_ghost(page: Page) -> None:
    opened(page, SMALL_LINE)
    move_slider(page, "Lengthscale of k")
    page.wait_for_url(re.compile("o-k-scale="))
    expect(page.get_by_role("button", name="Undo")).to_be_enabled()  # the page has followed its picture
    settled(page)
    moved = query(page)["o-k-scale"]
    page.keyboard.press("Control+z")
    page.wait_for_url(lambda url: "o-k-scale" not in url)
    settled(page)
    page.keyboard.press("Control+Shift+z")
    page.wait_for_url(re.compile("o-k-scale="))
    assert query(page)["o-k-scale"] == moved and not page.errors
    names = "() => document.querySelector('[data-key=o-function] .live-plot').data.map(trace => trace.name)"
    shown = revision(page, "o-function")
    before = page.evaluate(names)
    press(page, "Pin as A")
    move_slider(page, "Lengthscale of k", 6)
    redrawn(page, "o-function", shown)
    settled(page)
    names_now = page.evaluate(names)
    assert "A: posterior:<br>mean ± 2 sd" in names_now and "A: posterior:<br>mean ± 2 sd" not in before


@pytest.mark.parametrize("width", [1280, 390])
def test_a_pinned_map_stays_in_its_place_left_of_a_divider_that_keys_move(
    new_page: Callable[..., Page], width: int
) -> None:
    page = opened(new_page(width=width, height=800), "/downscale")
    node, before = page.locator("[data-key=map-mean]"), revision(page, "map-mean")
    top = node.bounding_box()
    press(page, "Pin as A")
    page.get_by_role("button", name="Presets", exact=True).click()
    press(page, "Too smooth")
    redrawn(page, "map-mean", before)
    settled(page)
    now = node.bounding_box()
    assert top and now and now["y"] - top["y"] < 50  # one more line of tools at most
    settings = page.locator("[data-name='Settings that differ']")
    assert settings.evaluate("table => table.scrollWidth - table.clientWidth") == 0
    assert settings.locator("tbody tr").count() == 2 and overflow(page) == 0
    if width == 1280:
        divider_moves(page)
    assert not page.errors


def divider_moves(page: Page) -> None:
    """By arrow keys, on all maps; it goes with the pin."""
    node = page.locator("[data-key=map-mean]")
    expect(node).to_have_attribute("data-divider", "50")
    shown = field(page, "map-mean")
    left, right = sides(page, shown, 40), sides(page, shown, 140)
    assert left["A"] != left["B"] and left["drawn"] == pytest.approx(left["A"], abs=2)
    assert right["A"] != right["B"] and right["drawn"] == pytest.approx(right["B"], abs=2)
    node.get_by_role("slider").focus()
    for _ in range(10):
        page.keyboard.press("ArrowLeft")
    expect(node).to_have_attribute("data-divider", "40")
    expect(page.locator("[data-key=map-spread]")).to_have_attribute("data-divider", "40")
    between = sides(page, shown, 81)  # of 180 columns: right of 40 per cent, left of 50
    assert between["drawn"] == pytest.approx(between["B"], abs=2)
    expect(page.locator("[data-key=lab-difference]")).to_be_visible()
    press(page, "Unpin")
    expect(node).not_to_have_attribute("data-divider", re.compile(".*"))


def sides(page: Page, shown: dict, column: int) -> dict[str, list[float]]:
    """The colours of A and of B at a pixel where they differ, and what is drawn there."""
    values, pinned = shown["z"], shown["pinned"]["z"]
    assert shown["columns"] == shown["pinned"]["columns"] == 180
    at = max(range(column, len(values), 180), key=lambda i: abs(values[i] - pinned[i]))
    drawn = colour(page, "map-mean", *centre(shown, at // 180, column))[:3]
    return {"A": shade(shown, pinned[at]), "B": shade(shown, values[at]), "drawn": [float(part) for part in drawn]}


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
    assert query(page) == parse_qs(urlsplit(address).query) and urlsplit(address).path == "/bayes"
    again = opened(new_page(), urlsplit(address)._replace(scheme="", netloc="").geturl())
    expect(again.get_by_text(re.compile(r"^Hidden: x. Seen: y = 4\.50"))).to_be_visible()
