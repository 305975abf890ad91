"""Light and dark: pale words are found (`whole_page` looks for them), and pictures change with the theme."""

from collections.abc import Callable

from playwright.sync_api import Page

from deconditioning.figures.colours import HUES
from tests.browser.contrast import pale_words
from tests.browser.steps import SHOWN, SMALL_LINE, opened, redrawn, revision, turned_dark
from tests.browser.whole_page import looks_find_what_is_wrong
from tests.waiting import wait_for, wait_for_value

#: A picture of page One dimension that holds data only: others change when baselines arrive.
PICTURE = "o-first"
#: The colour of the style sheet's variable of this name.
VARIABLE = """name => {
  const mark = document.createElement('i');
  mark.style.color = `var(--lab-${name})`;
  document.querySelector('[data-testid=stMain]').append(mark);
  const colour = getComputedStyle(mark).color;
  mark.remove();
  return colour;
}"""
COLOUR = "mark => getComputedStyle(mark).backgroundColor"


def test_the_look_finds_pale_words_and_style_sheets_hold_the_palette(page: Page) -> None:
    opened(page)
    holds_the_palette(page)
    page.emulate_media(color_scheme="light")
    page.wait_for_function(SHOWN, arg="light")
    page.evaluate(
        """() => document.querySelector('[data-testid=stMain] h1').insertAdjacentHTML('afterend',
        '<p style="color:#777">almost 4.5</p><p style="color:#717171">4.8</p><p style="opacity:0.6">sixty per cent</p>'
        + '<p style="background:#333;color:#eee">light on dark</p><p style="background:#333">dark on dark</p>'
        + '<p style="background:#fff"><b style="background:rgba(0,0,0,0.5)">on half a shade</b></p>'
        + '<svg height="20"><text y="15" fill="#999">drawn</text></svg>'
        + '<button disabled style="color:#bbb">off</button>')"""
    )
    wait_for_value(
        lambda: [words.partition(": ")[2] for words in pale_words(page)],
        ["almost 4.5", "sixty per cent", "dark on dark", "on half a shade", "drawn"],
        "pale words",
    )
    looks_find_what_is_wrong(page)


def test_pictures_change_colour_with_the_theme(new_page: Callable[..., Page]) -> None:
    want = revision(opened(new_page(dark=True), SMALL_LINE), PICTURE)
    page = opened(new_page(), SMALL_LINE)
    light = revision(page, PICTURE)
    assert light != want
    swatch = page.locator(".lab-scroll tbody i").first
    colour = swatch.evaluate(COLOUR)
    turned_dark(page)
    assert redrawn(page, PICTURE, light) == want
    wait_for(lambda: swatch.evaluate(COLOUR) != colour, "another colour of the legend's mark")


def holds_the_palette(page: Page) -> None:
    """Every hue of the figures is a variable of the style sheet, light and dark."""
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        page.wait_for_function(SHOWN, arg=theme)
        for name, pair in HUES.items():
            red, green, blue = (int(pair[theme == "dark"][i : i + 2], 16) for i in (1, 3, 5))
            wait_for_value(
                lambda name=name: page.evaluate(VARIABLE, name), f"rgb({red}, {green}, {blue})", f"{name}, {theme}"
            )
