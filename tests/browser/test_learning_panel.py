"""A run that learns is watched beside the picture: its panel is always in view, and nothing moves for it."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from pages.kit.controls.level import ALL
from tests.browser.steps import ALL_CELLS, SMALL_LINE, click_while_there, opened, settled
from tests.waiting import wait_for, wait_for_value

PANEL = ".st-key-lab-learning"
WINDOW = {"width": 1280, "height": 800}


def stays(page: Page, chart: str, top: float) -> None:
    """Wait until a chart begins where it began before."""
    wait_for_value(lambda: top_of(page, chart), pytest.approx(top, abs=1), f"where {chart} begins")


def top_of(page: Page, chart: str) -> float:
    """How far below the page's own beginning a chart is."""
    box = page.locator(f'[data-key="{chart}"]').bounding_box() or {"y": float("nan")}
    return box["y"] + page.get_by_test_id("stMain").evaluate("element => element.scrollTop")


def comes_whole(page: Page, panel: Locator) -> None:
    """Wait until all of it is in the window."""
    wait_for(lambda: is_whole(page, panel), "the whole panel of learning")


def is_whole(page: Page, panel: Locator) -> bool:
    """Whether all of it is in the window and nothing lies on its middle."""
    size = page.viewport_size or WINDOW
    box = panel.bounding_box()
    inside = box is not None and box["y"] >= 0 and box["y"] + box["height"] <= size["height"] + 1
    return inside and panel.evaluate(
        """element => {
          const { x, y, width, height } = element.getBoundingClientRect();
          return element.contains(document.elementFromPoint(x + width / 2, y + height / 2));
        }"""
    )


@pytest.mark.parametrize(
    ("path", "chart"), [(SMALL_LINE, "o-function"), (ALL_CELLS, "map-mean")], ids=["a curve", "a map"]
)
def test_the_panel_is_in_view_wherever_the_sidebar_stands_and_the_picture_keeps_its_place(
    new_page: Callable[..., Page], path: str, chart: str
) -> None:
    page = opened(new_page(height=WINDOW["height"], level=ALL), path)
    before = top_of(page, chart)
    page.get_by_role("button", name="Learn hyperparameters").click()
    panel, done = page.locator(PANEL), page.locator(PANEL).get_by_text(re.compile("^(Learned|Cancelled)"))
    panel.wait_for()
    for place in (0, 100_000):
        page.get_by_test_id("stSidebarContent").evaluate("(element, top) => element.scrollTo(0, top)", place)
        comes_whole(page, panel)
    stays(page, chart, before)
    click_while_there(panel.get_by_role("button", name="Cancel"), done)
    expect(done).to_be_visible()
    settled(page)
    stays(page, chart, before)
    page.get_by_test_id("stSidebarContent").evaluate("element => element.scrollTo(0, 0)")
    comes_whole(page, panel)
    if path == SMALL_LINE:
        on_a_phone_it_stands_in_the_sheet_of_controls(page)
    assert not page.errors


def on_a_phone_it_stands_in_the_sheet_of_controls(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("button", name="Learn hyperparameters").click()
    panel = page.locator(PANEL)
    panel.wait_for()
    page.get_by_test_id("stSidebarContent").evaluate("element => element.scrollTo(0, 0)")
    comes_whole(page, panel)
    click_while_there(panel.get_by_role("button", name="Cancel"), panel.get_by_text(re.compile("^(Learned|Cancelled)")))
