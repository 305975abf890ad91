"""Words of others are shown as they are, in a browser: nothing is fetched, linked, set in bold or typeset."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.serving import running_app
from tests.browser.steps import settled

FOLDER = Path(__file__).parent
LOOK = "text => text.replaceAll('\\u2060', '').split(/\\s+/).filter(Boolean).join(' ')"
BOX = "[...document.querySelectorAll(`.st-key-${kind}-${index}`)].map(box => box.innerText).join(' ')"
#: How often each text stands in its box, once all kinds of text are drawn.
COUNTS = f"""([kind, texts]) => texts.map((text, index) => ({LOOK})({BOX}).split(({LOOK})(text)).length - 1)"""
DRAWN = f"""([kind, texts, times]) => ({COUNTS})([kind, texts]).every(count => count >= times)"""
MADE = "img, a, .katex, del, em, pre, code, table, span[style*=color], .stMarkdownColoredText, [class*=Shimmer]"
KINDS = 14


@pytest.fixture(scope="module")
def page_of_words(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the page of hostile words."""
    folder = tmp_path_factory.mktemp("words")
    shutil.copy(FOLDER / "words_page.py", folder)
    serve = ("streamlit", "run", "words_page.py")
    with running_app(folder / "runs", folder / "log.txt", serve, folder) as url:
        yield url


def test_words_of_others_are_shown_as_they_are(new_page, page_of_words: str) -> None:
    names: dict = {}
    exec((FOLDER / "words_page.py").read_text().split("\nfor index")[0], names)
    hostile, mixed = list(names["HOSTILE"]), list(names["MIXED"])
    page = new_page(url=page_of_words)
    page.goto("/")
    page.wait_for_function(DRAWN, arg=["label", hostile, KINDS])
    settled(page)
    page.wait_for_function(DRAWN, arg=["text", hostile + mixed, 1])
    made = page.locator("[class*='st-key-text-'], [class*='st-key-label-'], [data-testid=stToast]").locator(MADE)
    assert made.evaluate_all("all => all.map(one => one.outerHTML.slice(0, 200))") == []
    for made in (
        page.locator("[class*='st-key-sentence-']").locator(MADE).evaluate_all("all => all.map(one => one.tagName)")
    ):
        assert made == "CODE"
    assert page.foreign == []
    assert page.errors == []
