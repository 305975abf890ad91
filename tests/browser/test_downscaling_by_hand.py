"""Cells hidden by a click or a key, and a region drawn, on the maps of page Downscaling: the picture follows."""

import re

from playwright.sync_api import Page, expect

from tests.browser.maps import colour, field, where
from tests.browser.steps import ALL_CELLS, exceptions, opened, redrawn, revision, settled

OBSERVED = '[data-key="map-observed"]'
EDGES = """key => { const { x, y } = document.querySelector(`[data-key="${key}"]`).chart.cells; return { x, y }; }"""
MISSING_RGBA = [0xC9, 0xCD, 0xD1, 255]


def cell(page: Page, key: str, row: int, column: int) -> tuple[float, float]:
    """Where the middle of a cell lies in the window."""
    return where(page, key, *middle(page, key, row, column))


def middle(page: Page, key: str, row: int, column: int) -> tuple[float, float]:
    """The middle of a cell in the figure's coordinates."""
    edges = page.evaluate(EDGES, key)
    x, y = ((edges[name][at] + edges[name][at + 1]) / 2 for name, at in (("x", column), ("y", row)))
    return x, y


def is_grey(page: Page, row: int, column: int) -> bool:
    """Whether the observation's map has no value at the middle of a cell, in its data and in its colour."""
    x, y = middle(page, "map-observed", row, column)
    drawn = field(page, "map-observed")
    at = [int((c - drawn[name][0]) / (drawn[name][1] - drawn[name][0]) * drawn[n]) for c, name, n in
          ((y, "y", "rows"), (x, "x", "columns"))]  # fmt: skip
    missing = drawn["z"][at[0] * drawn["columns"] + at[1]] is None
    assert missing == (colour(page, "map-observed", x, y) == MISSING_RGBA)
    return missing


def choose(page: Page, what: str) -> None:
    """What pointing at a map does."""
    page.locator(".st-key-lab-by-hand").get_by_text(what).click()
    settled(page)


def told(page: Page) -> str:
    """What a screen reader hears of the cell under the cursor."""
    return page.locator(f"{OBSERVED} .live-cells [aria-live]").inner_text()


def test_cells_are_hidden_and_a_region_is_drawn_on_the_maps(new_page) -> None:
    page = opened(new_page(), ALL_CELLS)  # 11 × 10 cells
    choose(page, "Hide or reveal a cell")
    before = revision(page, "map-mean")
    place = page.locator(OBSERVED).bounding_box()
    page.mouse.click(*cell(page, "map-observed", 5, 4))
    hidden = redrawn(page, "map-mean", before)
    expect(page).to_have_url(re.compile(r"hide=5-4\b"))
    settled(page)
    assert is_grey(page, 5, 4) and not is_grey(page, 5, 5)
    assert page.locator(OBSERVED).bounding_box()["y"] == place["y"], "the maps stay under the pointer"
    assert re.fullmatch(r"Row 5, column 4: \d+\.\d+ K, hidden from the model by hand", told(page))

    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    assert re.fullmatch(r"Row 6, column 5: \d+\.?\d* K, seen by the model", told(page))
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")  # at once: neither is lost
    expect(page).to_have_url(re.compile(r"hide=5-4\.6-5\.6-6\b"))
    expect(page.get_by_text("3 cells hidden (×) by hand")).to_be_visible()
    settled(page)
    page.mouse.click(*cell(page, "map-observed", 5, 4))  # a grey cell can be clicked
    expect(page).to_have_url(re.compile(r"hide=6-5\.6-6\b"))
    settled(page)

    choose(page, "Draw a region")
    whole, first, last = (cell(page, "map-mean", *at) for at in ((0, 0), (2, 3), (8, 9)))
    page.mouse.move(*first)
    page.mouse.down()
    page.mouse.move(*last, steps=3)
    expect(page.locator('[data-key="map-mean"] .live-cells b')).to_have_text("7 × 7 cells")
    page.mouse.up()
    expect(page.get_by_text("region of 7 × 7 of 11 × 10 cells")).to_be_visible()
    expect(page).to_have_url(re.compile("cell-rows=2&cell-rows=8&cell-columns=3&cell-columns=9"))
    settled(page)
    page.get_by_role("button", name="Undo").click()
    expect(page).not_to_have_url(re.compile("cell-rows"))
    expect(page.get_by_text("2 cells hidden (×) by hand")).to_be_visible()
    settled(page)
    assert cell(page, "map-mean", 0, 0)[0] == whole[0]
    page.get_by_role("button", name="As drawn by the seed").click()
    expect(page).not_to_have_url(re.compile("hide="))
    settled(page)
    assert hidden and not page.errors and not exceptions(page)
