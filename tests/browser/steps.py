"""What browser tests do and look at on a page. Each step waits for a state of the page, none for a clock.

`opened`, `settled`: a page is there, nothing runs. `count_scripts`: those that a page fetches. `click_while_there`: a
button that goes away by itself. `go_to`: a page, through the navigation. `choose_level`: of controls. `give`: a file,
in `give_to_dialog` on page Downscaling. `pick`: from a list. `downloaded`: a file. `press_until`: keys that a redraw
may swallow. `move_slider`: by keyboard. `open_expanders`: every one. `unfolded`: tabs too. `popovers`: one after the
other. `revision`, `redrawn`: which picture a chart holds. `fits`: nothing is too wide.
"""

import contextlib
import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from playwright.sync_api import BrowserContext, Download, Locator, Page, Request, expect
from playwright.sync_api import TimeoutError as NotYet

from pages.kit.controls.level import COOKIE
from pages.kit.pages import GROUPS
from tests.waiting import HANG_MS, HANG_S, wait_for, wait_for_value

#: Page One dimension with few data, page Downscaling with large cells, and with six by six of them: what a page does is
#: tested with these, not how well it fits.
SMALL_LINE = "/line?o-n=60&o-m=60"
ALL_CELLS = "/downscale?rows=18&columns=18"
CELLS = f"{ALL_CELLS}&cell-rows=3&cell-rows=8&cell-columns=2&cell-columns=7"
#: Counts the files chosen whose event reaches the page: that of a field which is just replaced does not.
HEAR = """() => {
  if (window.chosen === undefined)
    document.addEventListener('change', ({ target }) => { if (target.type === 'file') window.chosen++; }, true);
  window.chosen = 0;
}"""
SETTLED = """() => {
  const app = document.querySelector('[data-testid=stApp]');
  return app && app.dataset.testScriptState === 'notRunning' && !window.labAwaited?.size
    && !document.querySelector('[data-stale=true]');
}"""
#: A slider waits 200 ms for the next key before it tells the server: until then a page that will run looks settled.
#: So does one whose scripts are so busy that they have not told it yet: time counts in which frames were painted, and
#: in which neither fonts came nor the page grew or shrank.
QUIET = f"""([ms, frames]) => {{
  const height = document.querySelector('[data-testid=stMain]')?.scrollHeight;
  const isStill = height === window.settledHeight && document.fonts.status === 'loaded';
  window.settledHeight = height;
  if (!isStill || !({SETTLED})()) window.settledSince = undefined;
  else window.settledSince ??= {{ time: performance.now(), frames: 0 }};
  const since = window.settledSince;
  return since && ++since.frames > frames && performance.now() - since.time > ms;
}}"""
QUIET_MS, QUIET_FRAMES = 300, 8
#: Every so often: asked at every frame, a page that computes would paint for the asking.
POLL_MS = 50
REVISION = """key => document.querySelector(`[data-key="${key}"]`)?.dataset.revision"""
OVERFLOW = """() => [document.documentElement, ...document.querySelectorAll('[data-testid=stMain]')]
  .map(element => element.scrollWidth - element.clientWidth)
  .reduce((most, pixels) => Math.max(most, pixels), 0)"""
BACKGROUND = """() => getComputedStyle(document.querySelector('[data-testid=stApp]'))
  .backgroundColor.match(/[0-9.]+/g).slice(0, 3).map(Number)"""

SHOWN = "theme => getComputedStyle(document.querySelector('[data-testid=stApp]')).colorScheme === theme"
OPEN_EXPANDERS = """where => {
  const closed = [...document.querySelectorAll(`${where} details:not([open]) > summary`)];
  closed.forEach(summary => summary.click());
  return closed.length;
}"""


def count_scripts(page: Page) -> Page:
    """Keep the scripts that a page waits for in `page.scripts`, and how many came in `page.arrived`.

    Streamlit fetches the script of an element when the first one is to be drawn; its place is empty until then.
    """
    page.scripts, page.arrived = set(), 0

    def requested(request: Request) -> None:
        if request.resource_type == "script":
            page.scripts.add(request)

    def ended(request: Request) -> None:
        if request in page.scripts:
            page.scripts.remove(request)
            page.arrived += 1

    page.on("request", requested)
    page.on("requestfinished", ended)
    page.on("requestfailed", ended)
    return page


def settled(page: Page) -> None:
    """Wait until no script run is under way or about to begin, and no script of an element is awaited.

    What is expected to change is waited for by itself.
    """
    end, arrived = time.monotonic() + HANG_S, None
    while page.scripts or page.arrived != arrived:
        assert time.monotonic() < end, f"the page still waits for {page.scripts} after {HANG_S:.0f} s"
        arrived = page.arrived
        page.evaluate("() => { window.settledSince = undefined; }")
        page.wait_for_function(QUIET, arg=[QUIET_MS, QUIET_FRAMES], timeout=HANG_MS)


def go_to(page: Page, title: str) -> None:
    """Open a page from the navigation on top."""
    group = next(name for name, pages in GROUPS.items() if title in (each.title for each in pages))
    page.get_by_test_id("stTopNav").get_by_role("button", name=group).click()
    page.get_by_role("menuitem", name=title, exact=True).click()
    expect(page.get_by_test_id("stMain").get_by_role("heading", level=1)).to_have_text(title)
    settled(page)


def choose_level(context: BrowserContext, url: str, level: str) -> None:
    """Let a browser keep this level of controls, as if its person had chosen it before; with "" it is a new visitor."""
    context.clear_cookies(name=COOKIE)
    if level:
        context.add_cookies([{"name": COOKIE, "value": level, "url": url}])


def opened(page: Page, path: str = "/") -> Page:
    """Go to a page of the app and wait until it is all there."""
    page.goto(path, timeout=HANG_MS)
    page.locator("[data-testid=stMain] h1").first.wait_for(timeout=HANG_MS)
    settled(page)
    return page


def click_while_there(button: Locator, instead: Locator) -> bool:
    """Click a button that goes away when its work is done; False when ``instead`` came first.

    For Cancel of something that may have ended by itself: a plain click waits for a button that never comes again.
    """

    def clicked() -> str:
        expect(button.or_(instead).first).to_be_visible(timeout=HANG_MS)
        if instead.first.is_visible():
            return "too late"
        try:
            button.click(timeout=1000)
        except NotYet:
            return ""
        return "in time"

    return wait_for(clicked, "a click") == "in time"


def give(page: Page, name: str, data: bytes, uploader: int = 0) -> None:
    """Choose a file for upload."""
    give_files(page, page.locator("[data-testid=stFileUploader] input[type=file]").nth(uploader), {name: data})


def give_files(page: Page, field: Locator, files: dict[str, bytes]) -> None:
    """Choose files at once, again where the page was drawn anew at that moment and nothing heard of them."""
    page.evaluate(HEAR)
    given: Any = [
        {"name": name, "mimeType": "application/octet-stream", "buffer": data} for name, data in files.items()
    ]

    def heard() -> bool:
        field.set_input_files(given)
        return page.evaluate("() => window.chosen")

    wait_for(heard, "the file field's answer")


def give_to_dialog(page: Page, name: str, data: bytes, *, good: bool = True) -> None:
    """Choose a file in the dialog of page Downscaling, and accept what is guessed of a ``good`` one."""
    page.locator(".st-key-lab-own-file button").click()
    page.get_by_role("dialog").wait_for()
    settled(page)
    give(page, name, data)
    if good:
        page.get_by_role("dialog").get_by_role("button", name="Downscale", exact=True).click()
        page.get_by_role("dialog").wait_for(state="detached")


def move_slider(page: Page, label: str, times: int = 1, key: str = "ArrowRight") -> Locator:
    """Press a key some times on the slider whose label matches, as a person would; the page follows by itself.

    Wait for what is to follow (`redrawn`, a sentence, the address), not for a time. Returns the handle.
    """
    handle = page.get_by_role("slider", name=re.compile(label, re.IGNORECASE)).first
    handle.focus()
    for _ in range(times):
        page.keyboard.press(key)
    return handle


def open_expanders(page: Page, where: str = "") -> None:
    """Open expanders until none is closed: some come with the one around them, some are redrawn while clicked."""

    def none_closed() -> bool:
        closed = page.evaluate(OPEN_EXPANDERS, where)
        if closed:
            settled(page)
        return not closed

    wait_for(none_closed, "the last expander")


def press_until(page: Page, control: Locator, key: str, there: str) -> None:
    """Press a key on a control until a script says true: where the page is drawn anew meanwhile a key goes nowhere."""

    def done() -> bool:
        control.focus()
        page.keyboard.press(key)
        with contextlib.suppress(NotYet):
            page.wait_for_function(there, timeout=HANG_MS / 10)
            return True
        return False

    wait_for(done, there)


def pick(page: Page, box: Locator, option: Locator) -> None:
    """Open a list by a key and click one of its options; again where the page was drawn anew meanwhile, which closes
    the list."""

    def picked() -> bool:
        if not option.is_visible():
            box.focus()
            page.keyboard.press("ArrowDown")
        with contextlib.suppress(NotYet):
            option.click(timeout=3000)
            return True
        return False

    wait_for(picked, "an option of a list")


def downloaded(page: Page, button: Locator) -> Download:
    """Press a button that gives a file; again where the page was drawn anew at that moment and nothing heard of it."""

    def begun() -> Download | None:
        with contextlib.suppress(NotYet):
            with page.expect_download(timeout=HANG_MS / 10) as waiting:
                button.click()
            return waiting.value
        return None

    return wait_for(begun, "a file")


def revision(page: Page, key: str) -> str:
    """Which picture a chart (``plotly_live`` of that key) holds, once it holds one."""
    page.wait_for_function(f"key => !!({REVISION})(key)", arg=key, timeout=HANG_MS, polling=POLL_MS)
    return page.evaluate(REVISION, key)


def redrawn(page: Page, key: str, before: str) -> str:
    """Wait until a chart holds another picture than ``before``; which one."""
    changed = f"([key, before]) => {{ const now = ({REVISION})(key); return now && now !== before; }}"
    page.wait_for_function(changed, arg=[key, before], timeout=HANG_MS, polling=POLL_MS)
    return page.evaluate(REVISION, key)


def overflow(page: Page) -> int:
    """By how many pixels the page is wider than its window."""
    return page.evaluate(OVERFLOW)


def fits(page: Page) -> None:
    """Wait until nothing is wider than the window."""
    wait_for_value(lambda: overflow(page), 0, "pixels beyond the window")


def darkness(page: Page) -> float:
    """0 for a white background, 1 for a black one."""
    return 1 - sum(page.evaluate(BACKGROUND)) / (3 * 255)


def turned_dark(page: Page) -> Page:
    """The same page after its browser has gone dark, when Python has answered."""
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(SHOWN, arg="dark")
    settled(page)
    return page


def exceptions(page: Page) -> list[str]:
    """Texts of the exception boxes on the page."""
    return page.locator("[data-testid=stException]").all_inner_texts()


def pressed(press: Callable[[], None], body: Locator, state: Literal["visible", "detached"]) -> None:
    """Press until something is there or gone; a press that came too early is repeated after some seconds only, since
    of two that are heard the second takes back the first."""

    def done() -> bool:
        if body.is_visible() != (state == "visible"):
            press()
        with contextlib.suppress(NotYet):
            body.wait_for(state=state, timeout=3000)
            return True
        return False

    wait_for(done, f"what is to be {state}")


def unfolded(page: Page) -> Iterator[str]:
    """Open every expander of the page, then every tab, one at a time; what is open now is named."""
    open_expanders(page)
    yield "the page"
    for tab in page.get_by_role("tab").all():
        tab.click()
        settled(page)
        open_expanders(page)
        yield f"tab {tab.inner_text()}"


def popovers(page: Page, without: Sequence[str] = ()) -> Iterator[str]:
    """Open every popover of the page, one at a time, with its expanders; but for those of these labels."""
    # Streamlit measures a popover's button with a tooltip by an invisible twin
    for button in page.locator("[data-testid=stPopover] button:visible").all():
        if any(label in button.inner_text() for label in without):
            continue
        body = page.locator("[data-testid=stPopoverBody]")
        pressed(button.click, body, "visible")
        settled(page)  # what is in it is drawn by a run, which takes it away for a moment
        pressed(button.click, body, "visible")  # on a busy machine two presses were heard, and the second closed it
        settled(page)
        open_expanders(page, "[data-testid=stPopoverBody]")  # a click elsewhere closes it
        expect(body).to_be_visible()
        yield f"popover {button.inner_text()}"
        pressed(lambda: page.keyboard.press("Escape"), body, "detached")
