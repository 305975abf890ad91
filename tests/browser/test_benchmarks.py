"""Page Benchmarks in a browser: short at first sight, and what is folded is whole when it is opened."""

from playwright.sync_api import Page

from tests.browser.steps import opened, overflow

HEIGHT = "() => document.querySelector('[data-testid=stMain]').scrollHeight"
DRAWN = '[data-key="{}"] .main-svg'


def test_it_is_short_and_unfolds_to_whole_charts(page: Page) -> None:
    opened(page, "/tables")
    page.locator(DRAWN.format("ratios")).first.wait_for()
    assert page.evaluate(HEIGHT) <= 3300
    for words, chart in (("All models and scores", "dots-downscaling-benchmark-ukv-645m"), ("commands", "ratios-all"),
                         ("commands", "scale")):  # fmt: skip
        folded = page.locator("details:not([open])", has=page.locator("summary", has_text=words))
        folded.first.locator("summary").first.click()
        drawn = page.locator(DRAWN.format(chart)).first
        drawn.wait_for(state="visible")
        room = page.locator(f'[data-key="{chart}"]').bounding_box()
        seen = drawn.bounding_box()
        assert room and seen and 0.95 * room["width"] <= seen["width"] <= room["width"] + 1 and seen["height"] > 150
    assert overflow(page) == 0
