"""Page Benchmarks in a browser: short at first sight, and what is folded is whole when it is opened."""

from playwright.sync_api import Page

from tests.browser.steps import fits, opened
from tests.waiting import wait_for

HEIGHT = "() => document.querySelector('[data-testid=stMain]').scrollHeight"
DRAWN = '[data-key="{}"] .main-svg'


def test_it_is_short_and_unfolds_to_whole_charts(page: Page) -> None:
    opened(page, "/tables")
    page.locator(DRAWN.format("ratios")).first.wait_for()
    assert page.evaluate(HEIGHT) <= 4100
    for words, chart in (("All models and scores", "dots-downscaling-benchmark-ukv-645m"), ("commands", "ratios-all"),
                         ("commands", "scale")):  # fmt: skip
        folded = page.locator("details:not([open])", has=page.locator("summary", has_text=words))
        folded.first.locator("summary").first.click()
        page.locator(DRAWN.format(chart)).first.wait_for(state="visible")
        wait_for(lambda chart=chart: is_whole(page, chart), f"chart {chart}, whole")
    fits(page)


def is_whole(page: Page, chart: str) -> bool:
    """Whether a chart is as wide as its place and high enough to be read."""
    room = page.locator(f'[data-key="{chart}"]').bounding_box()
    seen = page.locator(DRAWN.format(chart)).first.bounding_box()
    return bool(room and seen) and 0.95 * room["width"] <= seen["width"] <= room["width"] + 1 and seen["height"] > 150
