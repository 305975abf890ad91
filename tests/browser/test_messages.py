"""What changes at one moment in several fragments reaches the server, and once (dragging.js)."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.serving import running_page
from tests.browser.steps import opened

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
