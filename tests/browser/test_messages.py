"""What changes at one moment reaches the server, once (dragging.js), and not from a page that was left."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.serving import running_page
from tests.browser.steps import opened, settled

#: Buttons are pressed at once, when a timer has become due: its message goes before that of the buttons.
PRESS = """names => {
  const buttons = [...document.querySelectorAll('button')], end = performance.now() + 250;
  setTimeout(() => names.forEach(name => buttons.find(one => one.innerText.includes(name)).click()));
  while (performance.now() < end);
}"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the least page."""
    folder = tmp_path_factory.mktemp("messages")
    with running_page(Path(__file__).with_name("messages_page.py"), folder) as url:
        yield url


def test_presses_at_one_moment_count_once_each(new_page, served: str) -> None:
    page = opened(new_page(url=served))
    counted = dict.fromkeys(("First", "Second", "Third"), 0)
    for names in (("First", "Second"), ("Third", "Second"), ("First", "Third"), ("Second",), ("Third",)):
        page.evaluate(PRESS, names)
        for name in names:
            counted[name] += 1
        for name, times in counted.items():
            expect(page.get_by_text(f"{name}: {times} and {times}.", exact=True)).to_be_visible()
    assert not page.errors


#: A server that is busy for a second hears late of everything; `ASKED_RUNS` has put a class before the browser's.
LATE = """() => {
  const sockets = Object.getPrototypeOf(WebSocket.prototype), { send } = sockets;
  sockets.send = function (data) { setTimeout(() => send.call(this, data), 1300); };
}"""


def test_settled_waits_for_a_server_that_has_not_begun(new_page, served: str) -> None:
    page = new_page(url=served)
    page.add_init_script(f"({LATE})()")
    opened(page)
    page.get_by_role("button", name="Third").click()
    settled(page)
    assert page.get_by_text("Third: 1 and 1.", exact=True).is_visible()


#: Every file comes late.
SLOW = {"offline": False, "latency": 600, "downloadThroughput": -1, "uploadThroughput": -1}


def test_settled_waits_for_the_script_of_an_element(new_page, served: str) -> None:
    page = new_page(url=served)
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", SLOW)
    assert opened(page).get_by_role("button", name="Third").is_visible()


#: The page is left, and the fragment of a button that is still there asks for its run.
LEAVE = """after => {
  const button = [...document.querySelectorAll('button')].find(one => one.innerText.includes('First'));
  [...document.querySelectorAll('a')].find(one => one.innerText.includes('Other')).click();
  setTimeout(() => button.click(), after);
}"""


@pytest.mark.parametrize("after_ms", [0, 100])
def test_what_a_page_asks_for_while_it_is_left_does_not_bring_it_back(new_page, served: str, after_ms: int) -> None:
    page = opened(new_page(url=served))
    page.evaluate(LEAVE, after_ms)
    title = page.get_by_test_id("stMain").get_by_role("heading", level=1)
    expect(title).to_have_text("Other")
    settled(page)
    expect(title).to_have_text("Other")
    assert page.url.endswith("/other") and not page.errors
