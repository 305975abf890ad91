"""A picture is drawn before its page, and the page always follows: on the least page, and on a real one."""

import itertools
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.serving import ROOT, running_app
from tests.browser.steps import opened, settled

WATCH = """() => {
  const plot = document.querySelector('[data-key="line"] .live-plot');
  const words = () => /The page was run for height \\d+\\./.exec(document.body.innerText)[0];
  window.drawn = [];
  window.pressed = [];
  plot.on('plotly_afterplot', () => window.drawn.push([plot.data[0].y[1], words()]));
  addEventListener('keydown', () => window.pressed.push(performance.now()), true);
}"""
REST_MS = 200  # as in plotly_live.js
DRAWN = """() => document.querySelector('[data-key="line"]')?.querySelector('.live-plot')?.data?.[0].y[1]"""


@pytest.fixture(scope="module")
def least(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the least page."""
    folder = tmp_path_factory.mktemp("least")
    shutil.copytree(ROOT / "static", folder / "static")
    shutil.copy(Path(__file__).with_name("picture_first_page.py"), folder)
    options = ("streamlit", "run", "picture_first_page.py", "--server.enableStaticServing=true")
    with running_app(folder / "runs", folder / "log.txt", options, folder, PYTHONPATH=str(ROOT)) as url:
        yield url


def at_height(page: Page, height: int) -> None:
    """Wait for the picture of that height."""
    page.wait_for_function(f"() => ({DRAWN})() === {height}", timeout=30_000)


def runs(page: Page) -> int:
    """How often the page was run."""
    text = page.get_by_text(re.compile(r"Runs of the page: \d+")).inner_text()
    return int(re.search(r"\d+", text).group())


def test_the_picture_comes_first_and_the_page_follows_once(new_page, least: str) -> None:
    page = opened(new_page(url=least))
    at_height(page, 5)
    before = runs(page)
    page.evaluate(WATCH)
    page.get_by_role("slider", name="Height").focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(60)
    at_height(page, 9)
    expect(page.get_by_text("The page was run for height 9.")).to_be_visible(timeout=10_000)
    settled(page)
    height, said = next(drawing for drawing in page.evaluate("() => window.drawn") if drawing[0] != 5)
    assert said == "The page was run for height 5.", height  # the first new picture was there before its page
    pressed = page.evaluate("() => window.pressed")
    rests = 1 + sum(later - earlier > REST_MS for earlier, later in itertools.pairwise(pressed))
    assert before < runs(page) <= before + rests  # one for each rest of the hand
    assert not page.errors


def test_what_the_picture_refuses_the_page_says(new_page, least: str) -> None:
    page = opened(new_page(url=least))
    at_height(page, 5)
    page.get_by_role("slider", name="Height").focus()
    page.keyboard.press("End")
    expect(page.get_by_text("Height 20 is too high: choose at most 15.")).to_be_visible(timeout=10_000)
    settled(page)
    page.keyboard.press("Home")
    at_height(page, 0)
    expect(page.get_by_text("The page was run for height 0.")).to_be_visible(timeout=10_000)
    assert page.get_by_text("is too high").count() == 0
    assert not page.errors


def test_a_moved_slider_ends_on_the_page_that_its_address_opens(new_page) -> None:
    page = opened(new_page(), "/line?o-n=60&o-m=60")
    sentence = page.get_by_text(re.compile("finds f with RMSE"))
    before = sentence.inner_text(timeout=60_000)
    page.get_by_role("slider", name=re.compile("σ²")).focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    expect(sentence).not_to_have_text(before, timeout=30_000)
    settled(page)
    other = opened(new_page(), page.url)
    expect(other.get_by_text(re.compile("finds f with RMSE"))).to_have_text(sentence.inner_text(), timeout=60_000)
    assert not page.errors and not other.errors
