"""The example of cells, stations and a swath: what the marks on the map are, and what they say when pointed at."""

import re

from playwright.sync_api import Page, expect

from deconditioning.datasets.network import SEEN, network, swath
from deconditioning.wording import number
from tests.browser.maps import where
from tests.browser.steps import exceptions, opened, settled

DRAWN = """() => document.querySelector('[data-key="map-mean"][data-revision]') !== null"""


def test_marks_of_every_source_say_their_values(new_page) -> None:
    page = opened(new_page(), "/downscale?data=sources")
    page.wait_for_function(DRAWN)
    settled(page)
    main = page.get_by_test_id("stMain")
    legend = main.locator(".lab-legend")
    expect(legend).to_contain_text(f"{SEEN} stations used as targets")
    expect(legend).to_contain_text(re.compile(r"a synthetic satellite swath: [\d,]+ values; their footprints"))
    for who, measured, place in (
        ("station, a target", network().targets, 7),
        ("a synthetic satellite swath", swath(), 20),
    ):
        said = pointed(page, float(measured.longitude[place]), float(measured.latitude[place]))
        assert f"{who}: {number(float(measured.value[place]), 4)} K ± {number(float(measured.error[place]), 2)}" in said
    assert not exceptions(page) and not page.errors


def pointed(page: Page, x: float, y: float) -> str:
    """What the map of the mean says of the mark at a place."""
    page.mouse.move(*where(page, "map-mean", x, y))
    tip = page.locator('[data-key="map-mean"] .live-tip')
    expect(tip).to_contain_text(re.compile(r"\d"))
    return tip.inner_text()
