"""The flip book in a browser: a picture at every frame, keys, a pause."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.steps import CELLS, opened
from tests.waiting import wait_for

PAINTED = "() => Number(document.querySelector('.flip')?.dataset.painted || 0)"
FRAMES = 20
#: Pictures that were painted within so many frames of the window.
WITHIN = """frames => new Promise(done => {
  const node = document.querySelector('.flip'), first = Number(node.dataset.painted);
  const count = () => frames-- ? requestAnimationFrame(count) : done(Number(node.dataset.painted) - first);
  count();
})"""


def test_it_plays_a_picture_at_every_frame_stops_and_is_leafed_through(new_page: Callable[..., Page]) -> None:
    page = opened(new_page(), f"{CELLS}&draws=true")
    wait_for(lambda: page.evaluate(PAINTED), "the first picture of the flip book")
    book, canvas = page.locator(".flip"), page.locator(".flip canvas")
    if book.get_attribute("data-playing") == "false":  # as it begins where motion is unwelcome
        page.get_by_role("button", name="Play").click()
    expect(book).to_have_attribute("data-playing", "true")
    assert page.evaluate(WITHIN, FRAMES) >= FRAMES - 1
    canvas.focus()
    page.keyboard.press("Space")
    expect(book).to_have_attribute("data-playing", "false")
    shown = int(book.get_attribute("data-frame") or 0)
    page.keyboard.press("ArrowRight")
    expect(book).to_have_attribute("data-frame", str((shown + 1) % 21))
    page.get_by_role("slider", name="Draw", exact=True).fill("0")
    expect(page.locator(".flip output")).to_have_text("mean")
    page.keyboard.press("ArrowLeft")
    assert not page.errors
