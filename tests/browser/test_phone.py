"""On a phone: an open sidebar leaves the picture it moves in sight, and tables wider than the screen say so."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.steps import SMALL_LINE, fits, opened, settled
from tests.waiting import wait_for, wait_for_value

WIDTH, HEIGHT = 390, 844
#: Pixels of a picture that must stay in sight above the sheet.
LEAST_IN_SIGHT = 200
#: Charts drawn anew since `before`, of which so many pixels are in sight and nothing lies over what is.
MOVED = """([before, least]) => {
  const main = document.querySelector('[data-testid=stMain]').getBoundingClientRect();
  return [...document.querySelectorAll('.live-chart')].some((chart, index) => {
    const { left, right, top, bottom } = chart.getBoundingClientRect();
    const [from, to] = [Math.max(top, main.top), Math.min(bottom, main.bottom)];
    if (chart.dataset.revision === before[index] || to - from < least) return false;
    const at = share => document.elementFromPoint((left + right) / 2, from + share * (to - from));
    const seen = [0.25, 0.5, 0.75, 0.95].map(at);
    return seen.every(element => chart.contains(element));
  });
}"""
REVISIONS = "() => [...document.querySelectorAll('.live-chart')].map(chart => chart.dataset.revision)"
RESTS = """() => new Promise(done => {
  const main = document.querySelector('[data-testid=stMain]'), at = main.scrollTop;
  setTimeout(() => done(main.scrollTop === at), 300);
})"""
DRAWN = f"() => {{ const all = ({REVISIONS})(); return all.length && all.every(Boolean); }}"


@pytest.fixture
def phone(new_page: Callable[..., Page]) -> Page:
    """A window of 390 × 844 that is touched."""
    return new_page(width=WIDTH, height=HEIGHT, touch=True)


def with_sheet(phone: Page) -> Locator:
    """Open the page's sidebar; the sidebar."""
    phone.wait_for_function(DRAWN)
    phone.get_by_test_id("stExpandSidebarButton").tap()
    sheet = phone.get_by_test_id("stSidebar")
    expect(sheet).to_have_attribute("data-collapsed", "false")
    return sheet


def box(place: Locator) -> dict[str, float]:
    found = place.bounding_box()
    assert found is not None
    return dict(found)


def bottom_of(place: Locator) -> float:
    return (at := box(place))["y"] + at["height"]


def test_one_dimension_with_a_table_that_fits_and_the_sheet_of_controls(phone: Page) -> None:
    opened(phone, SMALL_LINE)
    a_table_that_fits_says_nothing(phone)
    heads = phone.locator(".lab-table thead th:visible").all_inner_texts()
    assert [head.replace("\N{NO-BREAK SPACE}", " ") for head in heads[1:]] == ["RMSE", "Coverage of ±2 sd", "CRPS"]
    expect(phone.get_by_text("On a wider screen: MAE and Bias.")).to_be_visible()
    phone.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 0)")  # the table is below the pictures
    sheet = with_sheet(phone)
    a_moved_picture_is_in_sight(phone, sheet, "Lengthscale of k")
    the_sheet_lies_below_the_page_and_goes_away(phone, sheet)
    phone.set_viewport_size({"width": 1280, "height": 900})
    a_table_that_fits_says_nothing(phone)
    assert not phone.errors


def test_a_table_that_is_wider_than_a_phone(phone: Page) -> None:
    opened(phone, "/simulate")
    a_wide_table_says_so_and_scrolls_by_keyboard(phone)
    assert not phone.errors


def test_the_swiss_roll_with_a_wide_data_frame(phone: Page) -> None:
    opened(phone, "/roll?r-points=500&r-bags=20")
    phone.get_by_text("Compared with the papers").tap()
    frame = phone.get_by_test_id("stDataFrame").first
    says_what_is_beyond(frame, "right")
    a_moved_picture_is_in_sight(phone, with_sheet(phone), "Variance of k")
    a_chosen_page_is_read_from_its_top_without_the_sheet(phone)
    assert not phone.errors


def a_chosen_page_is_read_from_its_top_without_the_sheet(phone: Page) -> None:
    phone.get_by_test_id("stSidebarNavLink").filter(has_text="Runs").tap()
    expect(phone.get_by_role("heading", level=1)).to_have_text("Runs")
    settled(phone)
    expect(phone.get_by_test_id("stSidebar")).to_have_attribute("data-collapsed", "true")
    assert phone.get_by_test_id("stMain").evaluate("main => main.scrollTop") == 0


def a_moved_picture_is_in_sight(phone: Page, sheet: Locator, label: str) -> None:
    """A slider of the sheet, moved by a key and by a finger, moves a picture that stays in sight."""
    phone.wait_for_function(MOVED, arg=[[], LEAST_IN_SIGHT])  # some picture is in sight beside the sheet
    slider = sheet.get_by_role("slider", name=label).first
    before = phone.evaluate(REVISIONS)
    slider.focus()
    phone.keyboard.press("ArrowRight")
    phone.wait_for_function(MOVED, arg=[before, LEAST_IN_SIGHT])
    settled(phone)
    before = phone.evaluate(REVISIONS)
    handle = box(slider.locator("xpath=ancestor::*[@data-testid='stSlider']"))
    phone.touchscreen.tap(handle["x"] + 0.75 * handle["width"], box(slider)["y"] + box(slider)["height"] / 2)
    phone.wait_for_function(MOVED, arg=[before, LEAST_IN_SIGHT])


def the_sheet_lies_below_the_page_and_goes_away(phone: Page, sheet: Locator) -> None:
    main = phone.get_by_test_id("stMain")
    wait_for(lambda: box(sheet)["height"] <= 0.45 * HEIGHT + 1, "a sheet of less than half the screen")
    wait_for_value(lambda: box(sheet)["width"], WIDTH, "the width of the sheet")
    wait_for(lambda: bottom_of(main) <= box(sheet)["y"] + 1, "a page that ends above the sheet")
    fits(phone)
    inside = phone.get_by_test_id("stSidebarContent")
    inside.evaluate("content => content.scrollTo(0, 0)")
    wait_for(lambda: inside.evaluate("content => content.scrollHeight > content.clientHeight + 100"), "a long sheet")
    settled(phone)  # a picture that comes late is brought into sight, too
    phone.wait_for_function(RESTS)
    shown = main.evaluate("main => main.scrollTop")
    phone.mouse.move(WIDTH / 2, HEIGHT - 60)
    phone.mouse.wheel(0, 3000)
    phone.wait_for_function("() => document.querySelector('[data-testid=stSidebarContent]').scrollTop > 200")
    assert main.evaluate("main => main.scrollTop") == shown
    links = phone.get_by_test_id("stSidebarNavLink")
    links.filter(has_text="One dimension").scroll_into_view_if_needed()
    expect(links.filter(has_text="One dimension")).to_be_in_viewport()
    close = phone.get_by_test_id("stSidebarCollapseButton").get_by_role("button")
    inside.evaluate("content => content.scrollTo(0, 9999)")
    expect(close).to_be_in_viewport()
    close.tap()
    expect(sheet).to_have_attribute("data-collapsed", "true")
    the_bar_at_the_foot_covers_nothing(phone)


def the_bar_at_the_foot_covers_nothing(phone: Page) -> None:
    """The page ends where the bar begins, and the bar is as wide as the screen."""
    bar, main = phone.get_by_test_id("stExpandSidebarButton"), phone.get_by_test_id("stMain")
    wait_for_value(lambda: (box(bar)["x"], box(bar)["width"], bottom_of(bar)), (0, WIDTH, HEIGHT), "the bar")
    wait_for(lambda: bottom_of(main) <= box(bar)["y"] + 0.5, "a page that ends above the bar")


def hint(table: Locator) -> str:
    """What a table says of its width, in a line above it."""
    said = table.evaluate("place => getComputedStyle(place, '::before').content")
    return "" if said == "none" else said.strip('"')


HINTS = {"right": "scroll →", "both": "← scroll →", "left": "← scroll", "": ""}


def says_what_is_beyond(table: Locator, more: str) -> None:
    """Wait until a table tells on which side there is more of it: a run that ends draws the table anew."""
    wait_for(
        lambda: (table.get_attribute("data-more") or "") == more and hint(table) == HINTS[more],
        f"a table with more on this side: {more or 'none'}",
    )


def scroll(table: Locator, to: str) -> None:
    """Press the arrow on a table until it says that there is more on this side; one that is redrawn begins again."""

    def there() -> bool:
        said = table.get_attribute("data-more")
        if said != to and said in ("right", "both"):
            table.locator(".lab-scroll").press("ArrowRight")
        return said == to and hint(table) == HINTS[to]

    wait_for(
        there, f"a table with more on this side: {to}", every=0.5
    )  # a press is answered by a scroll of its own time


def a_wide_table_says_so_and_scrolls_by_keyboard(phone: Page) -> None:
    table = phone.locator(".lab-table").first
    scroller = table.locator(".lab-scroll")
    says_what_is_beyond(table, "right")
    expect(scroller).to_have_attribute("role", "region")
    expect(scroller).to_have_attribute("aria-label", re.compile("it scrolls sideways$"))

    def outline() -> list[str]:
        phone.keyboard.press("Tab")  # the outline is that of a person who goes by keyboard
        scroller.focus()
        return scroller.evaluate(
            "place => [getComputedStyle(place).outlineStyle, getComputedStyle(place).outlineWidth]"
        )

    wait_for_value(outline, ["solid", "2px"], "the outline of a table in focus")
    for more in ("both", "left"):
        scroll(table, to=more)
    fits(phone)


def a_table_that_fits_says_nothing(page: Page) -> None:
    table = page.locator(".lab-table").first
    says_what_is_beyond(table, "")
    expect(table.locator(".lab-scroll")).not_to_have_attribute("tabindex", re.compile(""))


def test_the_maps_of_a_period_stand_two_by_two(new_page) -> None:
    """The uncertainty, a picture of its own, fills the quarter beside the truth; below both are the buttons."""
    page = opened(new_page(width=390, height=844), "/period")
    boxes = """() => ['.st-key-p-book canvas', '.st-key-p-sd canvas', '.st-key-p-book .flip-bar']
      .map(name => document.querySelector(name).getBoundingClientRect().toJSON())"""
    page.locator(".st-key-lab-books-period[data-free] .st-key-p-sd canvas").wait_for()
    settled(page)
    book, spread, buttons = page.evaluate(boxes)
    assert spread["top"] > book["top"] + book["height"] / 3 and abs(spread["bottom"] - book["bottom"]) < 2
    assert abs(spread["right"] - book["right"]) < 2 and spread["width"] < book["width"] / 2
    assert buttons["top"] > book["bottom"]
    page.set_viewport_size({"width": 1280, "height": 844})
    page.locator(".st-key-lab-books-period:not([data-free])").wait_for()
