"""Light and dark: every word can be read on every page, and pictures change colour with the theme."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from core.figures.colours import HUES
from pages.shared.pages import PAGES
from tests.browser.contrast import pale_words
from tests.browser.steps import darkness, open_expanders, opened, redrawn, revision, settled

ADDRESSES = ["/", *(f"/{page.url_path}" for page in PAGES[1:])]
#: A picture of page One dimension that holds nothing random.
PICTURE = "o-function"
COLOUR = "mark => getComputedStyle(mark).backgroundColor"
SHOWN = "theme => getComputedStyle(document.querySelector('[data-testid=stApp]')).colorScheme === theme"


def turned_dark(page: Page) -> Page:
    """The same page after its browser has gone dark, when Python has answered."""
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(SHOWN, arg="dark")
    settled(page)
    return page


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_word_can_be_read(page: Page, address: str) -> None:
    opened(page, address)
    open_expanders(page)
    pale = [f"light, {words}" for words in pale_words(page)]
    assert darkness(turned_dark(page)) > 0.5
    pale += [f"dark, {words}" for words in pale_words(page)]
    assert not pale, "\n".join(pale)


def test_the_look_finds_pale_words(page: Page) -> None:
    opened(page)
    page.evaluate(
        """() => document.querySelector('[data-testid=stMain] h1').insertAdjacentHTML('afterend',
        '<p style="color:#777">almost 4.5</p><p style="color:#717171">4.8</p><p style="opacity:0.6">sixty per cent</p>'
        + '<p style="background:#333;color:#eee">light on dark</p><p style="background:#333">dark on dark</p>'
        + '<p style="background:#fff"><b style="background:rgba(0,0,0,0.5)">on half a shade</b></p>'
        + '<svg height="20"><text y="15" fill="#999">drawn</text></svg>'
        + '<button disabled style="color:#bbb">off</button>')"""
    )
    assert [words.partition(": ")[2] for words in pale_words(page)] == [
        "almost 4.5", "sixty per cent", "dark on dark", "on half a shade", "drawn",
    ]  # fmt: skip


def test_pictures_change_colour_with_the_theme(new_page: Callable[..., Page]) -> None:
    want = revision(opened(new_page(dark=True), "/line"), PICTURE)
    page = opened(new_page(), "/line")
    light = revision(page, PICTURE)
    assert light != want
    swatch = page.locator(".lab-scroll tbody i").first
    colour = swatch.evaluate(COLOUR)
    turned_dark(page)
    assert redrawn(page, PICTURE, light) == want
    assert swatch.evaluate(COLOUR) != colour


def test_style_sheets_hold_the_palette(page: Page) -> None:
    opened(page)
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.wait_for_function(SHOWN, arg=theme)
        for name, pair in HUES.items():
            shown = page.evaluate(
                """name => {
                  const mark = document.createElement('i');
                  mark.style.color = `var(--lab-${name})`;
                  document.querySelector('[data-testid=stMain]').append(mark);
                  const colour = getComputedStyle(mark).color;
                  mark.remove();
                  return colour;
                }""",
                name,
            )
            red, green, blue = (int(pair[theme == "dark"][i : i + 2], 16) for i in (1, 3, 5))
            assert shown == f"rgb({red}, {green}, {blue})", (theme, name)
