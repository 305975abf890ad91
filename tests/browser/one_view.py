"""As each page opens: a header of two lines, the main picture whole, its essential controls and Learn, no scrolling."""

import math

from playwright.sync_api import Page, expect

from tests.browser.steps import fits
from tests.waiting import wait_for, wait_for_value

#: Pixels: the title with its question and the tools, what stands above the first picture, also on a phone.
HEADER, ABOVE, ABOVE_ON_PHONE = 100, 320, 585
BOXES = """() => {
  const box = element => { const { top, bottom } = element.getBoundingClientRect(); return [top, bottom]; };
  const boxes = selector => [...document.querySelectorAll(selector)].filter(e => e.checkVisibility()).map(box);
  return {
    header: [boxes('.st-key-lab-head')[0][0], boxes('.st-key-lab-tools')[0][1]],
    pictures: boxes('.live-chart').filter(([top, bottom]) => bottom - top > 60),
    controls: boxes('[data-testid=stSidebarContent] [data-testid=stWidgetLabel]'),
    learn: boxes('[data-testid=stSidebarContent] [data-testid=stBaseButton-primary]'),
  };
}"""


def top_of_pictures(boxes: dict[str, list]) -> float:
    return min((top for top, _ in boxes["pictures"]), default=math.inf)


def off_the_screen(boxes: dict[str, list]) -> list[str]:
    """Which of them do not stand where a window of 800 pixels shows them at once."""
    first, last = boxes["header"]
    right = {
        "the header": last - first <= HEADER,
        "the top of the pictures": top_of_pictures(boxes) < ABOVE,
        "the first picture": boxes["pictures"] and boxes["pictures"][0][1] <= 800,
        "the controls": boxes["controls"] and all(bottom <= 800 for _, bottom in boxes["controls"]),
        "Learn": all(bottom <= 800 for _, bottom in boxes["learn"]),
    }
    return [name for name, holds in right.items() if not holds]


def is_on_the_screen(page: Page) -> None:
    """A new visitor's page in a window of 1280 × 800."""
    expect(page.locator(".live-chart[data-revision]").first).to_be_visible()
    wait_for_value(lambda: off_the_screen(page.evaluate(BOXES)), [], "what is not on the screen")
    assert page.evaluate("() => document.querySelector('[data-testid=stMain]').scrollTop") == 0


def is_on_a_phone(page: Page) -> None:
    """In a window of 390 × 844 the controls are behind a bar at the foot, and the picture is near the top."""
    page.wait_for_function("() => document.querySelector('[data-testid=stSidebar]')?.dataset.collapsed !== 'false'")
    fits(page)
    wait_for(lambda: top_of_pictures(page.evaluate(BOXES)) <= ABOVE_ON_PHONE, "a picture near the top of a phone")
    expect(page.get_by_test_id("stExpandSidebarButton")).to_be_in_viewport()
