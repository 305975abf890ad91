"""What browser tests do and look at on a page."""

from collections.abc import Iterator

from playwright.sync_api import Page

SETTLED = """() => {
  const app = document.querySelector('[data-testid=stApp]');
  return app && app.dataset.testScriptState === 'notRunning' && !document.querySelector('[data-stale=true]');
}"""
OVERFLOW = """() => [document.documentElement, ...document.querySelectorAll('[data-testid=stMain]')]
  .map(element => element.scrollWidth - element.clientWidth)
  .reduce((most, pixels) => Math.max(most, pixels), 0)"""
BACKGROUND = """() => getComputedStyle(document.querySelector('[data-testid=stApp]'))
  .backgroundColor.match(/[0-9.]+/g).slice(0, 3).map(Number)"""

OPEN_EXPANDERS = """() => {
  const closed = [...document.querySelectorAll('details:not([open]) > summary')];
  closed.forEach(summary => summary.click());
  return closed.length;
}"""


def settled(page: Page, seconds: float = 60) -> None:
    """Wait until the script run that is under way has ended."""
    page.wait_for_timeout(150)
    page.wait_for_function(SETTLED, timeout=seconds * 1000)


def opened(page: Page, path: str = "/", seconds: float = 120) -> Page:
    """Go to a page of the app and wait until it is all there."""
    page.goto(path)
    page.locator("[data-testid=stMain] h1").first.wait_for(timeout=seconds * 1000)
    settled(page, seconds)
    return page


def overflow(page: Page) -> int:
    """By how many pixels the page is wider than its window."""
    return page.evaluate(OVERFLOW)


def darkness(page: Page) -> float:
    """0 for a white background, 1 for a black one."""
    return 1 - sum(page.evaluate(BACKGROUND)) / (3 * 255)


def exceptions(page: Page) -> list[str]:
    """Texts of the exception boxes on the page."""
    return page.locator("[data-testid=stException]").all_inner_texts()


def unfolded(page: Page) -> Iterator[str]:
    """Open every expander of the page, then every tab and popover one at a time; what is open now is named."""
    _open_expanders(page)
    yield "the page"
    for tab in page.get_by_role("tab").all():
        tab.click()
        settled(page)
        _open_expanders(page)
        yield f"tab {tab.inner_text()}"
    for button in page.locator("[data-testid=stPopover] button").all():
        button.click()
        page.locator("[data-testid=stPopoverBody]").wait_for()
        _open_expanders(page)
        yield f"popover {button.inner_text()}"
        page.keyboard.press("Escape")
        page.locator("[data-testid=stPopoverBody]").wait_for(state="detached")


def _open_expanders(page: Page) -> None:
    """Open expanders until none is closed: some come only with the one around them."""
    while page.evaluate(OPEN_EXPANDERS):
        settled(page)
