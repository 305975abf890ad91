"""The story in a browser: keys and dots turn the pages, a guess is revealed, a reload stays, a phone is wide enough."""

import re

from playwright.sync_api import Page, expect

from tests.browser.steps import move_slider, opened, overflow, redrawn, revision, settled

STEP = re.compile(r"[?&]step=(\d+)")


def on_step(page: Page, number: int, of: int = 9) -> None:
    expect(page.get_by_text(re.compile(rf"^{number} of {of} · "))).to_be_visible()


def test_the_story_is_told_by_keys_dots_and_guesses(page: Page) -> None:
    opened(page, "/story")
    expect(page.get_by_role("button", name=re.compile(r"^Step \d: "))).to_have_count(9)
    page.get_by_role("heading", level=2).click()  # nothing that has keys of its own
    page.keyboard.press("ArrowRight")
    on_step(page, 2)
    page.keyboard.press("ArrowLeft")
    on_step(page, 1)
    before = revision(page, "story-s1-0")
    move_slider(page, "Places in a cell")
    before = redrawn(page, "story-s1-0", before)
    on_step(page, 1)  # a slider keeps its arrow keys
    page.get_by_role("button", name="Reveal").click()
    expect(page.get_by_text("you said")).to_be_visible()
    redrawn(page, "story-s1-0", before)
    page.get_by_role("button", name="Step 6: There and back").click()
    on_step(page, 6)
    settled(page)
    assert STEP.search(page.url)[1] == "6"
    page.reload()
    on_step(page, 6)
    revision(page, "story-s6-0")
    page.set_viewport_size({"width": 390, "height": 844})
    settled(page)
    assert overflow(page) == 0
    expect(page.get_by_role("button", name="Step 9: Where it fails")).to_be_in_viewport()
    assert not page.errors and not page.foreign
