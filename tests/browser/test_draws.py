"""The flip book in a browser: at least ten pictures a second, keys, a pause."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.steps import opened
from tests.waiting import wait_for

PAINTED = "() => Number(document.querySelector('.flip')?.dataset.painted || 0)"
RATE = """() => new Promise(done => {
  const node = document.querySelector('.flip'), first = Number(node.dataset.painted), then = performance.now();
  setTimeout(() => done(1000 * (Number(node.dataset.painted) - first) / (performance.now() - then)), 1500);
})"""


def test_it_plays_ten_pictures_a_second_stops_and_is_leafed_through(new_page: Callable[..., Page]) -> None:
    page = opened(new_page(), "/downscale?rows=18&columns=18&draws=true")
    wait_for(lambda: page.evaluate(PAINTED), "the first picture of the flip book")
    book, canvas = page.locator(".flip"), page.locator(".flip canvas")
    if book.get_attribute("data-playing") == "false":  # as it begins where motion is unwelcome
        page.get_by_role("button", name="Play").click()
    expect(book).to_have_attribute("data-playing", "true")
    wait_for(lambda: page.evaluate(RATE) >= 10, "ten pictures a second")
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
