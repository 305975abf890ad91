"""The example of measured stations in a window and on a phone: legend, what is learned of them, scores, marks."""

import pytest
from playwright.sync_api import expect

from deconditioning.datasets.uk_stations import uk_stations
from deconditioning.wording import number
from tests.browser.steps import exceptions, opened, settled
from tests.browser.test_sources import DRAWN, pointed


@pytest.mark.parametrize("width", [1280, 390])
def test_measured_stations_are_marked_and_scored(new_page, width: int) -> None:
    page = opened(new_page(width=width), "/downscale?data=uk-stations")
    page.wait_for_function(DRAWN)
    settled(page)
    main, seen = page.get_by_test_id("stMain"), uk_stations("seen")
    expect(main.locator(".lab-legend")).to_contain_text(f"{len(seen)} stations used as targets")
    main.get_by_text(f"Show {len(uk_stations('scored'))} stations kept for testing").click()
    expect(main.locator(".lab-legend")).to_contain_text(f"{len(uk_stations('scored'))} stations kept for testing")
    expect(main.get_by_text("per 100 m above their pixel")).to_be_visible()
    if width > 1000:
        said = pointed(page, float(seen.longitude[4]), float(seen.latitude[4]))
        assert f"station, a target: {number(float(seen.value[4]) + 273.15, 4)} K" in said
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert not exceptions(page) and not page.errors
