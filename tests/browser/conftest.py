"""The running app and a Chromium for all browser tests.

`page` is a fresh window of 1280 × 900; `new_page` makes others. A page carries `errors`, what its
console and scripts complained of, and `foreign`, requests that left this machine.

Every wait of a page or an `expect` has the one limit of `tests.waiting`: tests name states, never seconds.
What tests do on a page stands in `tests.browser.steps`.
"""

from collections.abc import Callable, Generator, Iterator
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, expect, sync_playwright

from pages.kit.controls.level import ALL
from pages.story.guesses import COOKIE as GUESSES
from scripts.browser import ADVICE, find_browser
from tests.browser.answers import ASKED_RUNS
from tests.browser.serving import running_app
from tests.browser.steps import choose_level, count_scripts
from tests.waiting import HANG_MS

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
#: A window begins with its sidebar as a new visitor has it: Streamlit keeps, page by page, whether one was closed, and
#: windows of one person share that.
SIDEBAR_AS_NEW = """try {
  if (!sessionStorage.labBegun) {
    const closed = Object.keys(localStorage).filter(key => key.startsWith('stSidebarCollapsed'));
    closed.forEach(key => localStorage.removeItem(key));
    sessionStorage.labBegun = 1;
  }
} catch { /* no storage on a blank page */ }"""
LOCAL = ("", "127.0.0.1", "localhost")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder drives a browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The app's runs folder."""
    return tmp_path_factory.mktemp("app") / "runs"


@pytest.fixture(scope="session")
def server(runs: Path) -> Iterator[str]:
    """Address of the app, started once, with a runs folder of its own."""
    with running_app(runs, runs.with_name("log.txt")) as url:
        yield url


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """Playwright, whose every wait has the one limit."""
    with sync_playwright() as started:
        expect.set_options(timeout=HANG_MS)
        yield started


def chromium() -> str:
    """Where Chromium is."""
    path = find_browser()
    if path is None:
        pytest.fail(f"The browser tests need Chromium and none was found: {ADVICE}, or start them with `make test`.")
    return path


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Chromium, headless."""
    started = playwright.chromium.launch(executable_path=chromium(), args=FLAGS, timeout=HANG_MS)
    yield started
    started.close()


@pytest.fixture(scope="session")
def profile(playwright: Playwright, server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """Chromium of a person at the app, with a profile on the disk: there, compiled scripts are kept from page to
    page, which a context made afterwards has to compile anew."""
    folder = tmp_path_factory.mktemp("profile")
    started = playwright.chromium.launch_persistent_context(
        folder, executable_path=chromium(), args=FLAGS, timeout=HANG_MS, base_url=server, reduced_motion="reduce"
    )
    yield begun(started)
    started.close()


def begun(context: BrowserContext) -> BrowserContext:
    """The context with a window that stays: every other page is a tab, without another window's own interface."""
    context.set_default_timeout(HANG_MS)
    context.new_page()
    return context


@pytest.fixture(scope="session")
def windows(request: pytest.FixtureRequest, server: str) -> Callable[..., BrowserContext]:
    """The browser of a person at a server; ``touch``: of a phone. It keeps what it has fetched: scripts are read
    once, not in every test."""

    @cache
    def kept(url: str, person: str, touch: bool) -> BrowserContext:
        if (url, person, touch) == (server, "", False):
            return request.getfixturevalue("profile")
        other: Browser = request.getfixturevalue("browser")
        return begun(other.new_context(base_url=url, reduced_motion="reduce", has_touch=touch))

    return kept


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that fails says what its pages showed then."""
    report = yield
    if report.when == "call" and report.failed:
        for page in getattr(item, "pages", []):
            shown = "" if page.is_closed() else page.evaluate("() => document.body.innerText")
            report.sections.append((f"on {page.url}", f"{shown}\n\n{page.errors}"))
    return report


@pytest.fixture
def new_page(
    request: pytest.FixtureRequest, windows: Callable[..., BrowserContext], server: str
) -> Iterator[Callable[..., Page]]:
    """Make windows onto the app: `new_page(width=390, dark=True)`; onto another one's `url`; of another `person`.

    A person has chosen the ``level`` All of controls before; an empty one makes a new visitor.
    """
    opened: list[Page] = []
    request.node.pages = []

    def make(
        *,
        width: int = 1280,
        height: int = 900,
        dark: bool = False,
        url: str = "",
        level: str = ALL,
        person: str = "",
        touch: bool = False,
    ) -> Page:
        context = windows(url or server, person, touch)
        choose_level(context, url or server, level)
        context.clear_cookies(name=GUESSES)  # a window's tests share it, and a step that was answered asks no more
        page = context.new_page()
        page.add_init_script(SIDEBAR_AS_NEW)
        page.add_init_script(ASKED_RUNS)
        opened.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme="dark" if dark else "light")
        request.node.pages.append(watched(page))
        return count_scripts(page)

    yield make
    for one in opened:
        one.close()


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """A window of 1280 × 900, light."""
    return new_page()


def watched(page: Page) -> Page:
    """Collect what goes wrong on the page in `page.errors`, and what it fetches elsewhere in `page.foreign`."""
    page.errors, page.foreign = [], []

    def request(request) -> None:
        address = urlsplit(request.url)
        if address.scheme in ("http", "https", "ws", "wss") and address.hostname not in LOCAL:
            page.foreign.append(request.url)

    def console(message) -> None:
        if message.type == "error":
            page.errors.append(f"{message.text} ({message.location['url']})")

    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("console", console)
    page.on("request", request)
    return page
