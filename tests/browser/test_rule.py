"""The observation is dragged in the picture: the slider, the address and the posterior follow."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import SMALL_LINE, opened, redrawn, revision, settled
from tests.waiting import wait_for

LINE = """key => {
  const plot = document.querySelector(`[data-key="${key}"] .live-plot`), { xaxis, yaxis } = plot._fullLayout;
  const box = plot.getBoundingClientRect(), at = plot.layout.shapes[0].y0;
  return [box.x + xaxis._offset + 0.5 * xaxis._length, box.y + yaxis._offset + yaxis.d2p(at), yaxis._length]; }"""


@pytest.mark.parametrize(
    ("address", "key", "shown", "control"),
    [("/bayes?k-dim=1", "k-pairs", "k-posterior", "k-y0"),
     (f"{SMALL_LINE}&o-view=Bayes%27+rule", "b-data", "b-posterior", "b-x")],
)  # fmt: skip
def test_a_dragged_rule_moves_the_observation(
    new_page: Callable[..., Page], address: str, key: str, shown: str, control: str
) -> None:
    page = opened(new_page(), address)
    revision(page, key)
    settled(page)
    before = revision(page, shown)
    page.locator(f"[data-key={key}]").scroll_into_view_if_needed()
    x, y, height = page.evaluate(LINE, key)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 0.1 * height, steps=4)
    page.mouse.move(x, y + 0.2 * height, steps=4)
    page.mouse.up()
    page.wait_for_url(re.compile(f"{control}="))
    redrawn(page, shown, before)
    expect(page.locator(f"[data-key={shown}]")).to_be_visible()
    settled(page)
    wait_for(lambda: 0.1 * height < page.evaluate(LINE, key)[1] - y < 0.3 * height, "the line where it was let go")
    assert not page.errors


def test_a_click_on_a_map_of_embeddings_cuts_there(page: Page) -> None:
    opened(page, "/embeddings")
    revision(page, "e-standard")
    settled(page)
    chart = page.locator("[data-key=e-standard]")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 0.45 * box["width"], box["y"] + 0.5 * box["height"])
    page.wait_for_url(re.compile("e-y=-?[0-9.]+"))
    expect(page.get_by_text(re.compile("^Cut through both maps at y = ")).first).not_to_contain_text("−0.75")
    assert not page.errors
