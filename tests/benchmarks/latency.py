"""From a key press on a slider to the picture, as the browser sees it."""

import contextlib
import re
import statistics
import subprocess
from collections.abc import Iterator, Sequence

from playwright.sync_api import Page, sync_playwright

from scripts.browser import find_browser
from tests.browser.conftest import FLAGS

#: Notes the time of each key press and of each new picture, the latter once its frame has been painted.
WATCH = """() => {
  window.lab = { pressed: 0, drawn: {} };
  addEventListener('keydown', () => { window.lab.pressed = performance.now(); }, true);
  new MutationObserver(records => {
    for (const { target } of records) requestAnimationFrame(() => setTimeout(() => {
      window.lab.drawn[target.dataset.key] = performance.now();
    }, 0));
  }).observe(document.body, { subtree: true, attributes: true, attributeFilter: ['data-revision'] });
}"""
DRAWN = "key => (window.lab.drawn[key] || 0) > window.lab.pressed"
TOOK = "key => window.lab.drawn[key] - window.lab.pressed"


@contextlib.contextmanager
def window(url: str, path: str, chart: str) -> Iterator[Page]:
    """A page of the app with its chart on it, watched."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 1000}, base_url=url)
        page.goto(path)
        page.locator(f'[data-key="{chart}"][data-revision]').wait_for(timeout=240_000)
        page.evaluate(WATCH)
        yield page
        browser.close()


def press(page: Page, slider: str, chart: str, key: str = "ArrowRight") -> float:
    """Milliseconds from the key press to the chart's new picture."""
    page.get_by_role("slider", name=re.compile(slider)).first.focus()
    page.keyboard.press(key)
    page.wait_for_function(DRAWN, arg=chart, polling=5, timeout=60_000)
    return page.evaluate(TOOK, chart)


def median_and_p95(times: Sequence[float]) -> tuple[float, float]:
    """The median and the 95 % quantile (nearest rank)."""
    ordered = sorted(times)
    return statistics.median(ordered), ordered[round(0.95 * (len(ordered) - 1))]


def processor() -> str:
    """How busy the machine is, since wall times follow it."""
    load = subprocess.run(["uptime"], capture_output=True, text=True).stdout
    return load.rsplit(":", 1)[-1].strip()
