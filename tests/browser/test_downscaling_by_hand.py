"""Cells hidden by a click or a key, and a region drawn, on the maps of page Downscaling: the picture follows."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.maps import colour, field, where
from tests.browser.steps import ALL_CELLS, exceptions, opened, redrawn, revision, settled
from tests.waiting import wait_for_value

OBSERVED = '[data-key="map-observed"]'
EDGES = """key => { const { x, y } = document.querySelector(`[data-key="${key}"]`).chart.cells; return { x, y }; }"""
MISSING_RGBA = [0xC9, 0xCD, 0xD1, 255]

#: The next event of the cells is lost on its way, as in a run that begins at the same moment.
LOSE_ONE = """() => {
  const { chart } = document.querySelector('[data-key="map-observed"]'), { sendCells } = chart;
  chart.sendCells = () => { chart.sendCells = sendCells; };
}"""


def cell(page: Page, key: str, row: int, column: int) -> tuple[float, float]:
    """Where the middle of a cell lies in the window."""
    return where(page, key, *middle(page, key, row, column))


def middle(page: Page, key: str, row: int, column: int) -> tuple[float, float]:
    """The middle of a cell in the figure's coordinates."""
    edges = page.evaluate(EDGES, key)
    x, y = ((edges[name][at] + edges[name][at + 1]) / 2 for name, at in (("x", column), ("y", row)))
    return x, y


def missing_and_grey(page: Page, row: int, column: int) -> tuple[bool, bool]:
    """Whether the observation's map has no value at the middle of a cell, and whether it is grey there."""
    x, y = middle(page, "map-observed", row, column)
    drawn = field(page, "map-observed")
    at = [int((c - drawn[name][0]) / (drawn[name][1] - drawn[name][0]) * drawn[n]) for c, name, n in
          ((y, "y", "rows"), (x, "x", "columns"))]  # fmt: skip
    missing = drawn["z"][at[0] * drawn["columns"] + at[1]] is None
    return missing, colour(page, "map-observed", x, y) == MISSING_RGBA


def choose(page: Page, what: str) -> None:
    """What pointing at a map does."""
    page.locator(".st-key-lab-by-hand").get_by_text(what).click()
    settled(page)


def announced(page: Page) -> Locator:
    """What a screen reader says of the cell under the cursor."""
    return page.locator(f"{OBSERVED} .live-cells [aria-live]")


def top_of(page: Page) -> float:
    """How far down the window the observation's map begins."""
    box = page.locator(OBSERVED).bounding_box()
    return box["y"] if box else float("nan")


def test_cells_are_hidden_and_a_region_is_drawn_on_the_maps(new_page) -> None:
    page = opened(new_page(), ALL_CELLS)  # 11 × 10 cells
    choose(page, "Hide or reveal a cell")
    before = revision(page, "map-mean")
    top = top_of(page)
    page.evaluate(LOSE_ONE)
    page.mouse.click(*cell(page, "map-observed", 5, 4))
    hidden = redrawn(page, "map-mean", before)
    expect(page).to_have_url(re.compile(r"hide=5-4\b"))
    settled(page)
    wait_for_value(lambda: missing_and_grey(page, 5, 4), (True, True), "the hidden cell")
    wait_for_value(lambda: missing_and_grey(page, 5, 5), (False, False), "the cell beside it")
    wait_for_value(lambda: top_of(page), top, "how far down the maps are under the pointer")
    expect(announced(page)).to_have_text(re.compile(r"^Row 5, column 4: \d+\.\d+ K, hidden from the model by hand$"))

    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    expect(announced(page)).to_have_text(re.compile(r"^Row 6, column 5: \d+\.?\d* K, seen by the model$"))
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
    wait_for_value(lambda: cell(page, "map-mean", 0, 0)[0], whole[0], "the first cell's place")
    page.get_by_role("button", name="As drawn by the seed").click()
    expect(page).not_to_have_url(re.compile("hide="))
    settled(page)
    assert hidden and not page.errors and not exceptions(page)
