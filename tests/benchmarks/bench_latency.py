"""From a key press or a drag on a slider to the new picture, in Chromium: toy size, full size, an exact picture under
way.

The browser measures: from its key event until the frame with the chart's new picture is handed over. Wall time, so best
on a quiet machine; its load is kept with the numbers, and so is the time of a page that has one slider and one line.
"""

import contextlib
import os
import re
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import TimeoutError as NotYet

from pages.kit.controls.level import ALL
from scripts.browser import find_browser
from tests.benchmarks.table import Row, keep
from tests.browser.conftest import FLAGS
from tests.browser.serving import running_app, running_page
from tests.browser.steps import choose_level
from tests.waiting import HANG_MS

PRESSES, DRAGS = 6, 3
#: A drag: so many moves of the pointer over so much of the slider, with so many milliseconds between them.
MOVES, SPAN, PACE_MS = 75, 0.5, 20
EXACT_S = 150
#: Milliseconds after which a page is still, and between presses while the exact picture is under way; seconds between
#: presses on the least page.
STILL_MS, BETWEEN_MS, BARE_S = 3000, 1500, 1.0
FULL, FULL_SIZE = "/downscale?data=atmosphere", "441 bags of 289, 254,898 pixels"
MAP = "map-mean"
#: Notes the time of each key press and of each new picture, the latter by the first task after its frame.
WATCH = """() => {
  window.lab = { pressed: 0, drawn: {}, pictures: {} };
  for (const event of ['keydown', 'pointerup'])
    addEventListener(event, () => { window.lab.pressed = performance.now(); }, true);
  new MutationObserver(records => {
    for (const { target } of records) requestAnimationFrame(() => scheduler.postTask(() => {
      window.lab.drawn[target.dataset.key] = performance.now();
      window.lab.pictures[target.dataset.key] = (window.lab.pictures[target.dataset.key] || 0) + 1;
    }, { priority: 'user-blocking' }));
  }).observe(document.body, { subtree: true, attributes: true, attributeFilter: ['data-revision'] });
}"""
DRAWN = "key => (window.lab.drawn[key] || 0) > window.lab.pressed"
TOOK = "key => window.lab.drawn[key] - window.lab.pressed"
COMPUTING = """() => [...document.querySelectorAll('[data-testid=stCaptionContainer]')]
  .some(caption => /exact maps follow/.test(caption.textContent))"""
STILL = """() => document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'"""
REST = f"() => ({STILL})() && !({COMPUTING})()"
#: Case → address, chart, sliders (the first is dragged, too: each of its values must change the picture), seconds
#: between presses.
TOYS = {
    "One dimension, n = m = 200": (
        "/line", "o-function",
        ("Lengthscale of k", "Variance of k", "Lengthscale of ℓ", "Variance of ℓ", "λ", "sd.σ"), 2.5,
    ),
    "Swiss roll, 2,000 points, 50 slices": (
        "/roll", "roll-right", ("Lengthscale of k: x", "Variance of k", "σ²"), 1.5,
    ),
    "Downscaling, 440 bags, 35,640 pixels": (
        "/downscale", MAP, ("Lengthscale: surface altitude", "lengthscale: location", "Variance of k", "sd.σ"), 4.0,
    ),
    "Sparse representation, 100 data, 5 points": (
        "/sparse", "s-here", ("Lengthscale of k", "Variance of k", "σ²"), 2.0,
    ),
    "Kernel Bayes' rule, 200 pairs, 4 pictures": (
        "/bayes?k-dim=1&k-beta=0.7&k-eps=0.0001", "k-posterior", ("Observed y", "ε", "δ"), 2.0,
    ),
    "Conditional mean embeddings, 50 × 3, 6 pictures": (
        "/embeddings?e-layout=50+%C3%97+3&e-unequal=false&e-lam=0.1", "e-groups", ("λ", "Lengthscale of k"), 2.5,
    ),
    "There and back, n = m = 200": (
        "/line?o-view=There+and+back", "t-function", ("Lengthscale of k", "λ", "ε"), 2.0,
    ),
    "Bayes' rule, n = m = 200": (
        "/line?o-view=Bayes%27+rule", "b-posterior", ("Observed x", "Lengthscale of k", "ε"), 2.0,
    ),
    "Distribution regression, 200 subjects of 1,000 measures": (
        "/distributions", "d-function", ("Lengthscale", "Variance of f", "σ²"), 2.0,
    ),
    "Filtering, 200 training steps, 150 followed": (
        "/follow", "f-plane", ("Step$", "β, lengthscale in median distances", "ε, δ = 2ε"), 2.0,
    ),
    "Likelihood-free inference, 300 simulations": (
        "/simulate", "lf-marginal-0", ("λ", "ε, of the ε-kernel", "δ"), 2.0,
    ),
}  # fmt: skip
#: At full size: what is moved → its slider in the model that the page opens with.
SLIDERS = {
    "spatial lengthscale": "lengthscale: sphere", "lengthscale of a covariate": "Lengthscale: surface altitude",
    "amplitude": "Variance of k: surface", "roughness α": "α of Powered exponential", "σ²": "sd.σ",
}  # fmt: skip
#: Of these the ones that are pressed.
PRESSED = tuple(SLIDERS)
#: One toy, a smaller planet, shorter pauses; one slider of the planet is pressed, the others are there.
SMOKE = {
    "PRESSES": 1, "DRAGS": 1, "MOVES": 4, "FULL": "/downscale?data=atmosphere-small", "FULL_SIZE": "small",
    "TOYS": {"Sparse representation, 100 data, 5 points": ("/sparse", "s-here", ("Lengthscale of k",), 0.1)},
    "PRESSED": ("σ²",), "EXACT_S": 60, "STILL_MS": 300, "BETWEEN_MS": 100, "BARE_S": 0.1,
}  # fmt: skip


@contextlib.contextmanager
def chromium(*flags: str) -> Iterator[Browser]:
    """A browser for all cases."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=[*FLAGS, *flags])
        yield browser
        browser.close()


@contextlib.contextmanager
def window(browser: Browser, url: str, path: str, chart: str) -> Iterator[Page]:
    """A page of the app with its chart on it, watched."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000}, base_url=url)
    page.set_default_timeout(HANG_MS)
    choose_level(page.context, url, ALL)
    page.goto(path)
    page.locator(f'[data-key="{chart}"][data-revision]').wait_for()
    page.wait_for_timeout(STILL_MS)
    page.evaluate(WATCH)
    yield page
    page.close()


def press(page: Page, slider: str, chart: str, key: str) -> float:
    """Milliseconds from the key press to the chart's new picture."""
    handle = page.get_by_role("slider", name=re.compile(slider, re.IGNORECASE)).first
    handle.focus()
    before = handle.get_attribute("aria-valuetext")
    page.keyboard.press(key)
    try:
        page.wait_for_function(DRAWN, arg=chart, polling=20)
    except NotYet:
        now = handle.get_attribute("aria-valuetext")
        raise AssertionError(f"{slider}: {key} from {before} to {now} brought no new picture of {chart}") from None
    return page.evaluate(TOOK, chart)


def moved(page: Page, chart: str, sliders: Sequence[str], pause: float) -> dict[str, list[float]]:
    """Milliseconds of some presses to and fro on every slider, each once the page is still.

    A picture of an earlier value, which a slow machine draws after the next press, would count as that press's; and the
    press back to it would bring nothing new.
    """
    times: dict[str, list[float]] = {name: [] for name in sliders}
    for name in sliders:
        for turn in range(PRESSES):
            page.wait_for_function(REST, polling=50)
            times[name].append(press(page, name, chart, "ArrowLeft" if turn % 2 else "ArrowRight"))
            page.wait_for_timeout(1000 * pause)
    return times


def drag(page: Page, slider: str, chart: str, back: bool = False) -> tuple[float, float]:
    """Drag the handle with the pointer: milliseconds from its release to the last picture (0 where that was there
    already), and pictures a second before it."""
    handle = page.get_by_role("slider", name=re.compile(slider, re.IGNORECASE)).first
    handle.scroll_into_view_if_needed()
    box, track = handle.evaluate(
        """e => [e.closest('[style*="left"]'), e.closest('[data-testid=stSlider]')].map(each => {
          const { x, y, width, height } = each.getBoundingClientRect(); return [x + width / 2, y + height / 2, width];
        })"""
    )
    x, y, step = box[0], box[1], SPAN * track[2] / MOVES * (-1 if back else 1)
    before = page.evaluate("key => window.lab.pictures[key] || 0", chart)
    page.mouse.move(x, y)
    page.mouse.down()
    begun = time.perf_counter()
    for move in range(1, MOVES + 1):
        page.mouse.move(x + move * step, y)
        page.wait_for_timeout(PACE_MS)
    during = page.evaluate("key => window.lab.pictures[key] || 0", chart) - before
    seconds = time.perf_counter() - begun
    page.mouse.up()
    page.wait_for_timeout(STILL_MS)
    page.wait_for_function(STILL, polling=20)
    return max(0.0, page.evaluate(TOOK, chart)), during / seconds


def dragged(page: Page, chart: str, slider: str, size: str, pause: float) -> list[Row]:
    """Drags to and fro: how many pictures a second followed the hand, and the wait after its release."""
    found = []
    for turn in range(DRAGS):
        found.append(drag(page, slider, chart, back=bool(turn % 2)))
        page.wait_for_timeout(1000 * pause)
    times, pictures = zip(*found, strict=True)
    told = f"{min(pictures):.1f} to {max(pictures):.1f} in {DRAGS} drags of {MOVES} moves; asked for: at least 8"
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    followed = Row("Pictures during a pointer drag", size, statistics.median(pictures), "a second", accuracy=told,
                   note=load)  # fmt: skip
    return [followed, row("Pointer drag, from its release", size, times, "250 ms")]


def row(what: str, size: str, times: Sequence[float], limit: str, note: str = "") -> Row:
    """Median and 95 % quantile (nearest rank) of one case."""
    ordered = sorted(times)
    p95 = ordered[round(0.95 * (len(ordered) - 1))]
    told = f"p95 {p95:.0f} ms of {len(ordered)}; asked for: {limit}"
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    return Row(what, size, statistics.median(ordered), "ms", accuracy=told, note=f"{note}; {load}" if note else load)


def bench_latency(tmp_path) -> None:
    """Medians over sliders; at full size slider by slider, and the exact picture once. Rows are kept as they come."""
    with (
        running_app(tmp_path / "runs", tmp_path / "log.txt") as url,
        serving_bare(tmp_path / "bare") as bare,
        chromium() as browser,
    ):
        app = _server()
        least: list[float] = []
        rows: list[Row] = []
        for size, case in TOYS.items():
            floor = possible(browser, bare)
            least += floor
            rows += toy(
                browser, url, size, *case, f"the least possible took {statistics.median(floor):.0f} ms just before"
            )
            simplest = row("New picture", "a page with one slider and one line", least, "the least possible here")
            keep("latency", [simplest, *rows])
        for part in full_size(browser, url, app):
            rows += part
            keep("latency", [simplest, *rows])


def toy(
    browser: Browser, url: str, size: str, path: str, chart: str, sliders: Sequence[str], pause: float, floor: str
) -> list[Row]:
    """Presses on every slider of one case, drags on the first."""
    with window(browser, url, path, chart) as page:
        times = [t for some in moved(page, chart, sliders, pause).values() for t in some]
        return [row("New picture", size, times, "250 ms", floor), *dragged(page, chart, sliders[0], size, pause)]


@contextlib.contextmanager
def serving_bare(folder: Path) -> Iterator[str]:
    """Address of a page from one slider to one line: no page can be faster here."""
    with running_page(Path(__file__).with_name("bare_page.py"), folder) as url:
        yield url


def possible(browser: Browser, bare: str) -> list[float]:
    """Milliseconds of some presses on that page."""
    with window(browser, bare, "/", "bare") as page:
        return moved(page, "bare", ("Frequency",), BARE_S)["Frequency"]


def _server() -> psutil.Process:
    """The app's server, started by this process."""
    mine = psutil.Process().children()
    return next(p for p in mine if p.status() != psutil.STATUS_ZOMBIE and "scripts.serve" in p.cmdline())


def full_size(browser: Browser, url: str, app: psutil.Process) -> Iterator[list[Row]]:
    """Page Downscaling on the planet of 360 × 720; between presses the exact picture is under way."""
    with window(browser, url, FULL, MAP) as page:
        for slider in SLIDERS.values():
            page.get_by_role("slider", name=re.compile(slider, re.IGNORECASE)).first.wait_for()
        for what in PRESSED:
            times, busy = [], 0
            for turn in range(PRESSES):
                busy += page.evaluate(COMPUTING)
                times.append(press(page, SLIDERS[what], MAP, "ArrowLeft" if turn % 2 else "ArrowRight"))
                page.wait_for_timeout(BETWEEN_MS)
            note = f"exact picture under way at {busy} of {PRESSES} presses"
            yield [row(f"Preview, {what}", FULL_SIZE, times, "1 s", note)]
        yield [exact(page, FULL_SIZE, app)]


def exact(page: Page, size: str, app: psutil.Process) -> Row:
    """Seconds until the exact picture, or a note that it took longer than this waits."""
    begun = time.perf_counter()
    press(page, next(iter(SLIDERS.values())), MAP, "ArrowLeft")
    page.wait_for_function(COMPUTING, timeout=HANG_MS, polling=20)  # the page that follows the picture says so
    with contextlib.suppress(Exception):
        page.wait_for_function(f"() => !({COMPUTING})()", timeout=1000 * EXACT_S, polling=100)
    took, there = time.perf_counter() - begun, not page.evaluate(COMPUTING)
    note = ("once" if there else f"not there after {EXACT_S} s: given up") + "; memory resident now"
    return Row("Exact picture", size, took, "s", peak_mb=app.memory_info().rss / 1e6, note=note)
