"""Points are dragged, added and deleted in the picture, by mouse and by keys: the posterior follows, Undo goes back."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import SMALL_LINE, exceptions, opened, revision, settled
from tests.waiting import HANG_MS, wait_for, wait_for_value

#: Where points of a chart lie in the window, by the numbers under which the trace of the data holds them.
WHERE = """([key, numbers]) => {
  const node = document.querySelector(`[data-key="${key}"]`), plot = node.querySelector('.live-plot');
  const { xaxis, yaxis } = plot._fullLayout, box = plot.getBoundingClientRect();
  const { x, y } = plot._fullData.find(trace => trace.name === 'data');
  return numbers.map(i => [box.x + xaxis._offset + xaxis.d2p(x[i]), box.y + yaxis._offset + yaxis.d2p(y[i])]); }"""
COUNT = """key => document.querySelector(`[data-key="${key}"] .live-plot`)
  ._fullData.find(trace => trace.name === 'data').x.length"""
#: The posterior mean of the picture of f: other curves in it come later.
MEAN = """() => document.querySelector('[data-key="o-function"] .live-plot')
  ._fullData.find(trace => trace.name.startsWith('posterior')).y.join()"""
#: An empty corner of a picture's axes: the curve does not come there.
CORNER = """key => {
  const box = document.querySelector(`[data-key="${key}"] .live-points`).getBoundingClientRect();
  return [box.x + 0.05 * box.width, box.y + 0.05 * box.height]; }"""


def place(page: Page, key: str, number: int) -> tuple[float, float]:
    """Where a point is once it stays there."""
    return resting(page, lambda: page.evaluate(WHERE, [key, [number]])[0])


def corner(page: Page, key: str) -> tuple[float, float]:
    """Where the empty corner of a picture is once it stays there."""
    return resting(page, lambda: page.evaluate(CORNER, key))


def resting(page: Page, read: Callable[[], tuple[float, float]]) -> tuple[float, float]:
    before = read()

    def stays() -> bool:
        nonlocal before
        page.wait_for_timeout(200)
        last, before = before, read()
        return before == last

    wait_for(stays, "a picture that stays where it is")
    return before


def posterior(page: Page) -> str:
    """The mean that the picture of f shows."""
    return page.evaluate(MEAN)


def followed(page: Page, before: str) -> str:
    """The picture shows another posterior than before, and stays with it; which one."""
    page.wait_for_function(f"before => ({MEAN})() !== before", arg=before, timeout=HANG_MS)
    settled(page)
    return posterior(page)


def shows(page: Page, mean: str) -> None:
    """The picture shows this posterior."""
    page.wait_for_function(f"mean => ({MEAN})() === mean", arg=mean, timeout=HANG_MS)
    settled(page)


def goes_back(page: Page, to: str) -> None:
    """The posterior is that of before, and nothing is edited."""
    shows(page, to)
    page.wait_for_url(lambda url: "edits" not in url)
    assert not page.errors and not exceptions(page)


@pytest.fixture
def editing(new_page: Callable[..., Page]) -> Page:
    """The page with both scatters ready to be edited, by the switch of the page."""
    page = opened(new_page(), SMALL_LINE)
    page.get_by_text("Edit points").click()
    settled(page)
    assert not exceptions(page)
    for key in ("o-first", "o-second", "o-function"):
        revision(page, key)
    return page


def said(page: Page, words: str) -> None:
    """The line above the pictures says so."""
    expect(page.get_by_text(re.compile(words))).to_be_visible()


def test_points_are_moved_added_and_deleted_and_undo_brings_them_back(editing: Page) -> None:
    first = posterior(editing)
    by_mouse(editing, first)
    by_keys(editing, first)


def by_mouse(page: Page, first: str) -> None:
    x, y = place(page, "o-first", 11)
    empty = corner(page, "o-first")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 20, steps=3)
    page.mouse.move(*empty, steps=3)
    page.mouse.up()
    page.wait_for_url(re.compile("o-first-edits=m12_"))
    said(page, "By hand, data set 1: 1 moved")
    moved = followed(page, first)
    x, y = place(page, "o-first", 11)
    empty = corner(page, "o-first")  # what stands above the pictures may have moved them
    assert abs(x - empty[0]) < 25 and abs(y - empty[1]) < 25  # the axes may have made room
    settled(page)
    page.mouse.click(*corner(page, "o-second"))
    said(page, "data set 2: 1 added")
    added = followed(page, moved)
    page.mouse.dblclick(*place(page, "o-first", 30))
    said(page, "data set 1: 1 moved, 1 deleted; data set 2: 1 added")
    deleted = followed(page, added)
    wait_for_value(lambda: [page.evaluate(COUNT, key) for key in ("o-first", "o-second")], [59, 61], "points")
    assert len({first, moved, added, deleted}) == 4
    for before in (added, moved, first):
        page.get_by_role("button", name="Undo").click()
        shows(page, before)
    goes_back(page, first)


def by_keys(page: Page, first: str) -> None:
    """The point that is chosen is said."""
    sheet = page.locator('[data-key="o-second"] .live-points')
    live = page.locator('[data-key="o-second"] + .live-points-bar [aria-live]')
    sheet.focus()
    for key in ("End", "ArrowRight", "ArrowRight", "ArrowRight"):
        page.keyboard.press(key)
    expect(live).to_have_text(re.compile(r"^Point \d+: y = −?[\d.]+, z = "))
    chosen = live.inner_text()
    for _ in range(12):
        page.keyboard.press("Shift+ArrowUp")
    said(page, "data set 2: 1 moved")
    moved = followed(page, first)
    expect(live).not_to_have_text(chosen)
    expect(live).to_have_text(re.compile(f"^{re.escape(chosen.partition(',')[0])}"))
    page.keyboard.press("Enter")
    expect(live).to_have_text(re.compile("^Added point 1: .*, added"))
    added = followed(page, moved)
    page.keyboard.press("Delete")
    expect(live).to_have_text("Added point 1 deleted, 60 left.")
    said(page, "data set 2: 1 moved[.]")
    followed(page, added)
    page.get_by_role("button", name="Points as generated").click()
    goes_back(page, first)
