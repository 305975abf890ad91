"""Words of the glossary on a page: underlined, told to pointer, keyboard and finger; the page's texts stay its own."""

import re

from playwright.sync_api import Page, expect

from tests.browser.steps import SMALL_LINE, move_slider, opened, settled
from tests.waiting import HANG_MS, wait_for_value

TEXT = """() => [...document.querySelectorAll('[data-testid=stMain] :is(p, li, th)')]
  .filter(block => block.checkVisibility()).map(block => block.textContent).join('\\n')"""
LATE = re.compile(r"(being learned|being computed|A finer picture follows).*…")
LOOKED = "() => document.querySelectorAll('.lab-word').length > 3"


def followed(page: Page) -> str:
    """The page's texts once the slower pictures have caught up with its controls."""
    settled(page)
    expect(page.get_by_text(LATE)).to_have_count(0, timeout=HANG_MS)
    settled(page)
    return page.evaluate(TEXT)


def test_words_are_told_and_texts_that_a_slider_changes_are_those_of_the_page(page: Page) -> None:
    opened(page, SMALL_LINE)
    followed(page)  # a late picture draws the sentences below it anew: a word in them loses the focus
    page.wait_for_function(LOOKED)
    told_to_keyboard_and_pointer(page)
    page.keyboard.press("Escape")
    changed_as_opened_anew(page)
    assert not page.errors


def told_to_keyboard_and_pointer(page: Page) -> None:
    tip, word = page.get_by_role("tooltip"), page.locator("dfn.lab-word[tabindex='0']", has_text="evidence").first
    word.focus()
    expect(tip).to_contain_text("The probability of the data under the model")
    expect(word).to_have_attribute("aria-describedby", tip.get_attribute("id"))
    page.keyboard.press("Enter")
    link = page.get_by_role("link", name="In the glossary")
    expect(link).to_be_focused()
    expect(link).to_have_attribute("href", "glossary?g-word=evidence")
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    expect(word).to_be_focused()
    page.locator("dfn.lab-word", has_text="CRPS").first.hover()
    expect(tip).to_contain_text("Continuous ranked probability score")
    page.mouse.move(2, 2)
    expect(tip).to_be_hidden()
    page.locator("dfn.lab-word", has_text="RMSE").first.click()
    expect(tip).to_contain_text("Root mean squared error")


def changed_as_opened_anew(page: Page) -> None:
    """After changes of underlined sentences the page reads as the same address opened anew."""
    for label in ("Lengthscale of k", "λ"):
        move_slider(page, label, 3)
        settled(page)
        page.wait_for_function(LOOKED)
    after = followed(page)
    opened(page, page.url)
    page.wait_for_function(LOOKED)
    wait_for_value(lambda: followed(page), after, "the texts of the page")
    assert "evidence" in after


def test_a_number_and_its_unit_stay_in_one_line(page: Page) -> None:
    opened(page, "/")
    page.wait_for_function("() => /0\\.07\\u00a0K/.test(document.querySelector('[data-testid=stMain]').textContent)")
    paragraphs = page.locator("[data-testid=stMain] :is(p, figcaption)").all_inner_texts()
    assert not [text for text in paragraphs if re.search(r"\d (?:%|K|m)(?!\w)", text)]
