"""How smoothly the maps of a period play in Chromium without a GPU: pictures a second, fields and sd together."""

import os

from playwright.sync_api import Browser

from tests.benchmarks.bench_latency import chromium
from tests.benchmarks.table import Row, keep
from tests.browser.serving import running_app
from tests.waiting import HANG_MS

SECONDS, WARM_MS = 10, 1000
#: Size → address and width of the window.
CASES = {
    "62 times, 4 maps of 1,536 pixels, 1,280 px": ("/period", 1280),
    "62 times, 4 maps of 1,536 pixels, 390 px": ("/period", 390),
    "120 times, 4 maps of 1,024 pixels, 1,280 px": ("/period?p-data=Region%2C+480+days+%28synthetic%29", 1280),
}
#: One case, for a second.
SMOKE = {"SECONDS": 1, "CASES": dict(list(CASES.items())[-1:])}
#: Pictures of the first book, and frames that the browser offers, in so many milliseconds.
COUNTED = """milliseconds => new Promise(done => {
  const book = document.querySelector('.st-key-p-book .flip'), first = Number(book.dataset.painted);
  const begun = performance.now();
  let offered = 0;
  const look = now => {
    offered += 1;
    const passed = now - begun;
    if (passed < milliseconds) return requestAnimationFrame(look);
    done([(Number(book.dataset.painted) - first) / passed * 1000, offered / passed * 1000]);
  };
  requestAnimationFrame(look);
})"""


def bench_play(tmp_path) -> None:
    """Every case once, for ten seconds."""
    with running_app(tmp_path / "runs", tmp_path / "log.txt") as url, chromium() as browser:
        keep("play", [played(browser, url + path, width, size) for size, (path, width) in CASES.items()])


def played(browser: Browser, address: str, width: int, size: str) -> Row:
    """The row of one case."""
    page = browser.new_page(viewport={"width": width, "height": 844})
    page.set_default_timeout(HANG_MS)
    page.goto(address)
    page.locator(".st-key-p-book .flip[data-stamp]").wait_for()
    page.locator(".st-key-p-sd .flip[data-stamp]").wait_for()
    page.locator(".st-key-p-book .flip-play").click()
    page.wait_for_timeout(WARM_MS)
    pictures, offered = page.evaluate(COUNTED, 1000 * SECONDS)
    page.close()
    told = f"of {offered:.0f} frames a second that the browser offers; asked for: at least 10"
    return Row(
        "Pictures while a period plays", size, pictures, "a second", accuracy=told,
        note=f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores",
    )  # fmt: skip
