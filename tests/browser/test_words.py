"""Words of others are shown as they are, in a browser: nothing is fetched, linked, set in bold or typeset.

On the same server: the marks that we select in Streamlit's HTML are there.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from pages.kit.streamlit_parts import ATTRIBUTES, CONTROL_CLASSES, TEST_IDS
from tests.browser.serving import running_app
from tests.browser.steps import give, opened, pressed, settled

FOLDER = Path(__file__).parent
LOOK = "text => text.replaceAll('\\u2060', '').split(/\\s+/).filter(Boolean).join(' ')"
BOX = "[...document.querySelectorAll(`.st-key-${kind}-${index}`)].map(box => box.innerText).join(' ')"
#: How often each text stands in its box, once all kinds of text are drawn.
COUNTS = f"""([kind, texts]) => texts.map((text, index) => ({LOOK})({BOX}).split(({LOOK})(text)).length - 1)"""
DRAWN = f"""([kind, texts, times]) => ({COUNTS})([kind, texts]).every(count => count >= times)"""
MADE = "img, a, .katex, del, em, pre, code, table, span[style*=color], .stMarkdownColoredText, [class*=Shimmer]"
KINDS = 14


@pytest.fixture(scope="module")
def own_pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of the pages of hostile words and of marks."""
    folder = tmp_path_factory.mktemp("words")
    for name in ("own_pages.py", "words_page.py", "marks_page.py"):
        shutil.copy(FOLDER / name, folder)
    serve = ("streamlit", "run", "own_pages.py")
    with running_app(folder / "runs", folder / "log.txt", serve, folder) as url:
        yield url


def test_words_of_others_are_shown_as_they_are(new_page, own_pages: str) -> None:
    names: dict = {}
    exec((FOLDER / "words_page.py").read_text().split("\nfor index")[0], names)
    hostile, mixed = list(names["HOSTILE"]), list(names["MIXED"])
    page = new_page(url=own_pages)
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


def test_marks_that_we_select_in_streamlits_html_are_there(new_page, own_pages: str) -> None:
    """Each of `pages/kit/streamlit_parts.py`; one that a new version has taken away is named."""
    page = opened(new_page(url=own_pages), "/marks")
    give(page, "words.txt", b"words")
    page.get_by_test_id("stFileChip").first.wait_for()
    wanted = {
        **{name: f"[data-testid^={name}]" for name in TEST_IDS},
        **{name: f".{name}" for name in CONTROL_CLASSES},
        **{name: name for name in ATTRIBUTES},
    }
    gone = lost(page, wanted)
    page.get_by_role("button", name="Popover").click()
    page.wait_for_function("() => document.body.innerText.split('inside').length > 1")
    gone = lost(page, gone)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Dialog").click()
    page.get_by_text("A dialog").wait_for()
    gone = lost(page, gone)
    pressed(lambda: page.keyboard.press("Escape"), page.get_by_text("A dialog"), "detached")
    page.get_by_test_id("stSidebarHeader").hover()  # only then is its button seen
    page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
    page.wait_for_function("() => document.querySelector('[data-testid=stSidebar]').dataset.collapsed === 'true'")
    gone = lost(page, gone)
    page.set_viewport_size({"width": 390, "height": 844})  # where the navigation stands in the sidebar
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_test_id("stSidebarNav").wait_for()
    assert not lost(page, gone), "Streamlit's HTML has lost these: see what stands in their place now"


def lost(page: Page, marks: dict[str, str]) -> dict[str, str]:
    """Those marks whose selector finds nothing."""
    return {name: selector for name, selector in marks.items() if not page.locator(selector).count()}
