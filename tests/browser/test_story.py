"""The story in a browser: keys and dots turn the pages, a guess is revealed, a reload stays, a phone is wide enough."""

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.steps import fits, move_slider, opened, redrawn, revision, settled
from tests.waiting import wait_for

#: Where a row of a table lies in the window, by its place among those away from the mediator.
WHERE = """([key, at]) => {
  const node = document.querySelector(`[data-key="${key}"]`), plot = node.querySelector('.live-plot');
  const { xaxis, yaxis } = plot._fullLayout, box = plot.getBoundingClientRect(), { x, y } = plot._fullData[0];
  return [box.x + xaxis._offset + xaxis.d2p(x[at]), box.y + yaxis._offset + yaxis.d2p(y[at])]; }"""


def on_step(page: Page, number: int, of: int = 10) -> None:
    expect(page.get_by_text(re.compile(rf"^{number} of {of} · "))).to_be_visible()


def test_the_story_is_told_by_keys_dots_and_guesses(page: Page) -> None:
    opened(page, "/story")
    expect(page.get_by_role("button", name=re.compile(r"^Step \d+: "))).to_have_count(10)
    page.get_by_role("heading", level=2).click()  # nothing that has keys of its own
    page.keyboard.press("ArrowRight")
    on_step(page, 2)
    page.keyboard.press("ArrowLeft")
    on_step(page, 1)
    before = revision(page, "story-s1-0")
    move_slider(page, "Places per cell")
    before = redrawn(page, "story-s1-0", before)
    on_step(page, 1)  # a slider keeps its arrow keys
    page.get_by_role("button", name="Reveal").click()
    expect(page.get_by_text("you guessed")).to_be_visible()
    redrawn(page, "story-s1-0", before)
    page.get_by_role("button", name="Step 6: There and back").click()
    on_step(page, 6)
    settled(page)
    page.wait_for_url(re.compile(r"[?&]step=6\b"))
    page.reload()
    on_step(page, 6)
    revision(page, "story-s6-0")
    page.get_by_role("button", name="Step 1: Cells hide").click()
    on_step(page, 1)
    expect(page.get_by_text("you guessed")).to_be_visible()  # the guess is kept, in no address
    page.wait_for_url(lambda url: "guess" not in url)
    page.get_by_role("button", name="Guess again").click()
    expect(page.get_by_role("button", name="Reveal")).to_be_visible()
    settled(page)
    page.reload()
    on_step(page, 1)
    expect(page.get_by_role("button", name="Reveal")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    settled(page)
    fits(page)
    expect(page.get_by_role("button", name="Step 10: A period")).to_be_in_viewport()
    assert not page.errors and not page.foreign
    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_role("button", name=re.compile("^Step 5: ")).click()
    rows_of_the_mediator_step_are_dragged_and_the_sentence_follows(page)


def rows_of_the_mediator_step_are_dragged_and_the_sentence_follows(page: Page) -> None:
    on_step(page, 5)
    settled(page)
    told = page.get_by_text(re.compile(r"the first table has \d+ rows?, mean input"))
    before = told.inner_text()
    drag_first_row(page, told, before)
    page.locator('[data-key="story-s5-1"] .live-points').focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("second table: 1 added")).to_be_visible()
    on_step(page, 5)
    page.get_by_role("button", name="Points as generated").click()
    expect(told).to_have_text(before)
    settled(page)
    page.wait_for_url(lambda url: "s5-" not in url)
    page.set_viewport_size({"width": 1920, "height": 1080})  # a projector's window is zoomed
    settled(page)
    drag_first_row(page, told, before)
    assert not page.errors


def drag_first_row(page: Page, told: Locator, before: str) -> None:
    """Onto the mediator's value; the first table has one row more."""
    for key in ("story-s5-0", "story-s5-1"):
        revision(page, key)
    x, y = page.evaluate(WHERE, ["story-s5-0", 0])
    rule = wait_for(page.locator('[data-key="story-s5-0"] .shapelayer path').first.bounding_box, "the mediator's line")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 20, steps=2)
    page.mouse.move(x, rule["y"] + rule["height"] / 2, steps=4)
    page.mouse.up()
    page.wait_for_url(re.compile("s5-first=m"))
    expect(page.get_by_text("By hand, first table: 1 moved.")).to_be_visible()
    count = int(re.search(r"has (\d+) row", before)[1])
    expect(told).to_contain_text(f"the first table has {count + 1} rows")
    settled(page)
