"""Files and runs whose every word is written for a browser: it fetches nothing, and a reader sees the words.

Every page that reads a file is looked through in `tests/pages/test_hostile_words.py`; here two are opened."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import CELLS, exceptions, give, give_to_dialog, opened, settled
from tests.core.engine.made import write_run
from tests.pages import hostile

NAME = f"{hostile.HOSTILE}.dat".replace("/", "∕")
OPEN = "() => document.querySelectorAll('details:not([open]) > summary').forEach(one => one.click())"
MADE = "img[src*='203.0.113'], a[href*='203.0.113'], a[href='http:x.png'], .katex, image[href*='203.0.113']"
TEXT = "() => document.body.innerText.replaceAll('\\u2060', '').split(/\\s+/).join(' ')"
DRAWN = "() => [...document.querySelectorAll('.live-plot')].every(plot => plot.querySelector('.main-svg, canvas'))"


@pytest.fixture
def run(runs: Path) -> Iterator[str]:
    """A run every word of which is hostile, in the app's folder for as long as the test takes."""
    words = hostile.HOSTILE
    row = {"step": 1, "evidence": 1.0, "stage": words, "kernel": {words: 2.0}}
    folder = write_run(
        runs,
        spec={"settings": {words: words}, "title": words},
        status={"message": words},
        result={"warnings": [words], "notes": [words], "units": words, "scores": {words: {"rmse": 1.0}}},
        trace=3 * (json.dumps(row) + "\n"),
        files={"a $x^2$ :red[x].txt": b"a"},
    )
    yield folder.name
    shutil.rmtree(folder)


def nothing_comes_of_it(page: Page, *shown: str) -> None:
    """Open whatever can be opened; the words are there, and no more than words."""
    for text in shown:
        page.wait_for_function(f"text => ({TEXT})().includes(text)", arg=text)
    settled(page)
    page.evaluate(OPEN)
    page.wait_for_function(DRAWN)
    settled(page)
    assert exceptions(page) == []
    found = page.locator(MADE).evaluate_all("all => all.map(one => one.outerHTML.slice(0, 200))")
    assert [html for html in found if "katex" not in html or "203.0.113" in html or "x^2" in html] == []
    assert page.foreign == []


@pytest.mark.parametrize(
    ("address", "data", "shown"),
    [
        (CELLS, hostile.fields(), "Long ![p](http://203.0.113.1/x.png)"),
        ("/distributions?d-data=Own table", hostile.measures(), "of the variance of outcome ![p](http"),
    ],
    ids=["fields", "measures"],
)
def test_a_file(page: Page, address: str, data: bytes, shown: str) -> None:
    opened(page, address)
    fields = address == CELLS
    give_to_dialog(page, NAME, data) if fields else give(page, NAME, data)
    nothing_comes_of_it(page, shown)
    rubbish = b"\x00\x01"
    give_to_dialog(page, NAME, rubbish, good=False) if fields else give(page, NAME, rubbish)
    expect(page.locator("[data-testid=stAlertContentError]").first).to_be_visible()
    nothing_comes_of_it(page)


def test_a_run(page: Page, run: str) -> None:
    opened(page, f"/all-runs?run={run}")
    nothing_comes_of_it(page, hostile.HOSTILE)
