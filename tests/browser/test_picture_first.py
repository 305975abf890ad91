"""A picture is drawn before its page, and the page always follows: on the least page.

On a real one: tests/browser/test_glossary.py.
"""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.serving import running_page
from tests.browser.steps import move_slider, opened, settled
from tests.visitor import Visitor, visit

#: The hand rests when the test says so: the timer after which the chart asks for its page never ends by itself.
HAND = """() => {
  const [begin, end] = [setTimeout, clearTimeout], waiting = new Map();
  window.setTimeout = (work, ms, ...more) => {
    if (work.name !== 'follow') return begin(work, ms, ...more);
    waiting.set(-1 - waiting.size, work);
    return -waiting.size;
  };
  window.clearTimeout = id => id < 0 ? waiting.set(id, null) : end(id);
  window.rests = () => [...waiting.values()].filter(Boolean);
}"""
WATCH = """() => {
  const plot = document.querySelector('[data-key="line"] .live-plot');
  const words = () => /The page was run for height \\d+\\./.exec(document.body.innerText)[0];
  window.drawn = [];
  plot.on('plotly_afterplot', () => window.drawn.push([plot.data[0].y[1], words()]));
}"""
DRAWN = """() => document.querySelector('[data-key="line"]')?.querySelector('.live-plot')?.data?.[0].y[1]"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the least page is served and its server's log is kept."""
    return tmp_path_factory.mktemp("least")


@pytest.fixture(scope="module")
def least(folder: Path) -> Iterator[str]:
    """Address of the least page."""
    with running_page(Path(__file__).with_name("picture_first_page.py"), folder) as url:
        yield url


def at_height(page: Page, height: int) -> None:
    """Wait for the picture of that height."""
    page.wait_for_function(f"() => ({DRAWN})() === {height}")


def runs(page: Page) -> int:
    """How often the page was run."""
    text = page.get_by_text(re.compile(r"Runs of the page: \d+")).inner_text()
    return int(re.search(r"\d+", text).group())


def test_the_picture_comes_first_and_the_page_follows_once(new_page, least: str) -> None:
    page = new_page(url=least)
    page.add_init_script(f"({HAND})()")
    at_height(opened(page), 5)
    before = runs(page)
    page.evaluate(WATCH)
    move_slider(page, "Height", 4)
    at_height(page, 9)
    page.wait_for_function("() => rests().length")
    settled(page)
    drawn = [drawing for drawing in page.evaluate("() => window.drawn") if drawing[0] != 5]
    assert {said for _, said in drawn} == {"The page was run for height 5."}  # every picture was there before its page
    assert runs(page) == before and page.evaluate("() => rests().length") == 1
    page.evaluate("() => rests()[0]()")
    expect(page.get_by_text("The page was run for height 9.")).to_be_visible()
    settled(page)
    assert runs(page) == before + 1
    assert not page.errors


def test_the_page_follows_by_itself_loses_no_click_and_says_what_is_refused(new_page, least: str) -> None:
    page = opened(new_page(url=least))
    at_height(page, 5)
    before = runs(page)
    move_slider(page, "Height", 4)
    expect(page.get_by_text("The page was run for height 9.")).to_be_visible()
    settled(page)
    assert before < runs(page) <= before + 4  # at most one for each key
    a_click_is_not_lost_where_the_page_follows_just_then(page)
    what_the_picture_refuses_the_page_says(page)
    assert not page.errors


def a_click_is_not_lost_where_the_page_follows_just_then(page: Page) -> None:
    for count in (1, 2, 3):
        page.evaluate(
            """() => {
              [...document.querySelectorAll('button')].find(one => one.innerText.includes('Press')).click();
              setTimeout(() => window.__labFollow());
            }"""
        )
        expect(page.get_by_text(f"Pressed: {count}.")).to_be_visible()


def what_the_picture_refuses_the_page_says(page: Page) -> None:
    move_slider(page, "Height", key="End")
    expect(page.get_by_text("Height 20 is too high: choose at most 15.")).to_be_visible()
    settled(page)
    move_slider(page, "Height", key="Home")  # which focuses it: a run may have drawn it anew
    at_height(page, 0)
    expect(page.get_by_text("The page was run for height 0.")).to_be_visible()
    expect(page.get_by_text("is too high")).to_have_count(0)


def test_a_run_of_the_page_ends_a_drawing_that_is_under_way(least: str, folder: Path) -> None:
    """Nothing is logged: the page has taken back the place in the sidebar to which the drawing was to write."""

    async def quick() -> Visitor:
        async with Visitor(least) as visitor:
            await visitor.until(lambda: visitor.page_runs)
            await visitor.move("height", 12)
            await asyncio.sleep(0.5)
            await visitor.rerun()
        return visitor

    visitor = visit(quick())
    assert "The page was run for height 12." in visitor.texts and not visitor.troubles
    assert "Error" not in (folder / "log.txt").read_text()
