"""The six places of page Downscaling: where trust stands, what the colour bars say, how places are written."""

import re

import pytest
from playwright.sync_api import Page, expect

from deconditioning.datasets.entries import catalogue
from tests.browser.blending import maps_are_blended_while_a_slider_is_held
from tests.browser.maps import field, view, where
from tests.browser.steps import CELLS, opened, settled
from tests.waiting import wait_for_value

#: The maps and the words on trust, as (left, top) by key.
PLACES = """() => Object.fromEntries([...document.querySelectorAll('[class*=st-key-lab-map-]')].map(place => {
  const {left, top} = place.getBoundingClientRect();
  return [place.className.match(/st-key-lab-map-(\\w+)/)[1], [Math.round(left), Math.round(top)]];
}))"""
DRAWN = """key => document.querySelector(`[data-key="map-${key}"][data-revision]`) !== null"""
PLACE = r"(\d+\.\d\d)° N, (\d+\.\d\d)° W"
#: Whether every title fits into the select box, in the box's own font.
FIT = """titles => {
  const input = document.querySelector('.st-key-data input'), style = getComputedStyle(input);
  const pen = document.createElement('canvas').getContext('2d');
  pen.font = style.font;
  const room = input.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  return titles.every(title => pen.measureText(title).width <= room);
}"""


def with_maps(page: Page) -> Page:
    """The page with its maps drawn and its verdict written."""
    opened(page, CELLS)
    for key in ("observed", "mean", "truth", "spread", "error"):
        page.wait_for_function(DRAWN, arg=key)
    page.locator(".lab-trust").wait_for()
    return page


def data_sets_can_be_told_apart(page: Page) -> None:
    """Each from the others in the box where one is chosen."""
    page.locator(".st-key-data input").wait_for()
    page.wait_for_function(FIT, arg=[entry.title for entry in catalogue() if entry.kind != "folder"])


def test_six_places_the_words_of_their_bars_and_of_a_place_pointed_at_and_a_held_slider(new_page) -> None:
    page = with_maps(new_page())
    maps_are_blended_while_a_slider_is_held(page)
    data_sets_can_be_told_apart(page)
    wait_for_value(lambda: rows_and_columns(page), ([["observed", "mean", "truth"], ["spread", "error", "trust"]], 3))
    for key in ("spread", "error"):
        bar = field(page, f"map-{key}")
        ends = [bar["ticks"][0].startswith("≤"), bar["ticks"][-1].startswith("≥")]
        assert bar["arrows"] == sum(ends) and float(re.sub("[^0-9.]", "", bar["ticks"][-1])) == bar["high"]
        assert bar["label"] == {"spread": "2 sd of potential temperature, K", "error": "prediction − truth, K"}[key]
    (x0, x1), (y0, y1) = view(page, "map-mean").values()
    page.mouse.move(*where(page, "map-mean", x0 + 0.2 * (x1 - x0), y0 + 0.2 * (y1 - y0)))
    tip = page.locator('[data-key="map-mean"] .live-tip span')
    expect(tip).to_have_text(re.compile(f"^{PLACE}$"))
    pointed = re.fullmatch(PLACE, tip.inner_text())
    page.mouse.down()
    page.mouse.up()
    sentence = page.get_by_text(re.compile(rf"Cell \d+-\d+ \({PLACE}"))
    sentence.wait_for()
    clicked = re.search(PLACE, sentence.inner_text())
    assert pointed and clicked
    assert [float(at) for at in pointed.groups()] == pytest.approx([float(at) for at in clicked.groups()], abs=0.02)
    assert not page.errors and not page.foreign
    page.set_viewport_size({"width": 390, "height": 844})
    settled(page)
    in_a_narrow_window_trust_stands_under_the_mean(page)


def rows_and_columns(page: Page) -> tuple[list[list[str]], int]:
    """The places row by row from the left, and how many columns there are."""
    places = page.evaluate(PLACES)
    lefts, tops = (sorted({place[i] for place in places.values()}) for i in (0, 1))
    rows = [sorted((key for key in places if places[key][1] == top), key=lambda key: places[key][0]) for top in tops]
    return rows, len(lefts)


def in_a_narrow_window_trust_stands_under_the_mean(page: Page) -> None:
    def first_three_rows() -> tuple[list[list[str]], int]:
        rows, columns = rows_and_columns(page)
        return rows[:3], columns

    wait_for_value(first_three_rows, ([["mean"], ["observed"], ["trust"]], 1), "the places one below the other")
    page.get_by_test_id("stExpandSidebarButton").click()
    data_sets_can_be_told_apart(page)
