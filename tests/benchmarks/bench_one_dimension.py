"""Time from a key press on a slider of page One dimension to the new picture of f, in a browser, at n = m = 200."""

import statistics
import time

from playwright.sync_api import sync_playwright

from scripts.browser import find_browser
from tests.browser.conftest import FLAGS
from tests.browser.serving import running_app
from tests.browser.steps import settled
from tests.browser.test_one_dimension import CHANGED, revision

SLIDERS = ("Lengthscale of k", "Variance of k", "Lengthscale of ℓ", "Variance of ℓ", "λ", "σ²")
PRESSES = 8


def bench_slider_to_picture(tmp_path) -> None:
    """Median and 95 % quantile over six sliders; wall time, so best on a quiet machine."""
    with running_app(tmp_path / "runs", tmp_path / "log.txt") as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 1000})
        page.goto(f"{url}/line")
        page.locator('[data-key="o-surface"]').wait_for(timeout=120_000)
        page.wait_for_timeout(4000)
        times = []
        for slider in SLIDERS:
            page.get_by_role("slider", name=slider).first.focus()
            for press in range(PRESSES):
                times.append(_one(page, "ArrowRight" if press % 2 else "ArrowLeft"))
            print(f"\n{slider}: median {statistics.median(times[-PRESSES:]):.0f} ms", end="")
        ordered = sorted(times)
        print(f"\nall: median {statistics.median(times):.0f} ms, p95 {ordered[round(0.95 * (len(times) - 1))]:.0f} ms")
        browser.close()


def _one(page, key: str) -> float:
    before = revision(page, "o-function")
    begun = time.perf_counter()
    page.keyboard.press(key)
    page.wait_for_function(CHANGED, arg=["o-function", before], polling=5, timeout=20_000)
    took = 1000 * (time.perf_counter() - begun)
    settled(page)
    page.wait_for_timeout(2500)  # the evidence picture has followed
    return took
