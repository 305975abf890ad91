"""One's own file in a browser: from page Start to the first map of two kinds of files, and what is refused."""

import re
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.maps import where
from tests.browser.steps import exceptions, fits, give, give_files, opened, pick, pressed, revision, settled
from tests.core.fields.samples import netcdf
from tests.core.fields.visitor_files import coarse_months, fine_heights, projected, reanalysis, rubbish
from tests.waiting import wait_for

#: Seconds from the file to the map, or so many times what the page's own example takes where the machine is slower, and
#: clicks on the way, at most.
LONGEST_S, LONGEST_SHARE, MOST_CLICKS = 60, 10, 3
INPUT = "[role=dialog] [data-testid=stFileUploader] input[type=file]"
COUNT = "() => { window.clicks = 0; document.addEventListener('click', () => window.clicks++, true); }"
FIELD = "document.querySelector('[role=dialog] [data-testid=stFileUploader] input[type=file]')"
MARK, MARKED = f"() => {{ {FIELD}.marked = true; }}", f"() => {FIELD}.marked"
#: Two stations beside the coarse months.
TOWNS = b"lat,lon,tas [K]\n46.05,9.05,283.5\n47.05,10.05,284\n"
#: Name → the files, the field that is downscaled as the first sentence calls it, and the control of its time.
KINDS: dict[str, tuple[Callable[[], dict[str, bytes]], str, str]] = {
    "reanalysis": (lambda: {"era5.nc": netcdf(reanalysis())}, "2 metre temperature", "Time"),
    "heights and coarse months": (
        lambda: {"heights.nc": netcdf(fine_heights()), "months.nc": netcdf(coarse_months()), "towns.csv": TOWNS},
        "Tas, 1 January 2001", "Time of the coarse target",
    ),
}  # fmt: skip


def dialog(page: Page) -> Locator:
    return page.get_by_role("dialog")


def button(page: Page) -> Locator:
    return dialog(page).get_by_role("button", name="Downscale", exact=True)


@pytest.mark.parametrize("kind", KINDS)
def test_from_a_file_to_its_map_in_a_minute_and_three_clicks(new_page: Callable[..., Page], kind: str) -> None:
    """A new visitor, who reads nothing, at the level Essential."""
    files, sentence, control = KINDS[kind]
    page = opened(new_page(level="", dark=kind.startswith("heights"), width=390 if kind.startswith("rean") else 1280))
    asked = time.monotonic()
    page.get_by_role("link", name="Downscale your own file").click()
    page.locator(INPUT).wait_for(state="attached")
    settled(page)
    page.evaluate(COUNT)
    begun, worked_example = time.monotonic(), revision(page, "map-mean")
    give_files(page, page.locator(INPUT), files())
    button(page).wait_for()
    settled(page)  # what comes below the button moves it
    button(page).click()
    dialog(page).wait_for(state="detached")
    wait_for(lambda: revision(page, "map-mean") != worked_example, "the map of the file")
    expect(page.get_by_test_id("stMain").get_by_text(sentence).first).to_be_visible()
    assert time.monotonic() - begun < max(LONGEST_S, LONGEST_SHARE * (begun - asked))
    assert page.evaluate("window.clicks") <= MOST_CLICKS
    settled(page)
    fits(page)
    assert not exceptions(page) and not page.errors
    place = page.get_by_test_id("stSidebar").get_by_label(control, exact=True).first
    expect(place).to_be_attached()
    if kind.startswith("rean"):
        return  # a phone: the controls are behind a button
    expect(place).to_be_visible()
    expect(page.get_by_role("button", name="Variables, cells, time …")).to_be_visible()
    if kind.startswith("heights"):
        page.mouse.move(*where(page, "map-mean", 9.05, 46.05))
        expect(page.locator('[data-key="map-mean"] .live-tip span')).to_contain_text("station, a target: 283.5 K")
        page.reload()
        expect(page.get_by_test_id("stMain").get_by_text(sentence).first).to_be_visible()
        assert not exceptions(page)


def test_a_refused_file_is_a_sentence_until_the_next_one(new_page: Callable[..., Page]) -> None:
    page = opened(new_page(level=""), "/downscale?data=own&rows=18&columns=18")
    dialog(page).wait_for()
    settled(page)
    page.evaluate(MARK)
    refused = dialog(page).get_by_test_id("stAlertContentError")
    for name, data in rubbish().items():
        give(page, name, data)
        expect(refused).to_have_count(1)
        expect(refused).to_contain_text(name)
        expect(button(page)).to_have_count(0)
    give(page, "regional.nc", netcdf(projected()))
    button(page).wait_for()
    expect(refused).to_have_count(0)
    marked = dialog(page).locator("[data-testid=stFileChip][data-refused]")
    expect(marked.first).to_be_visible()
    expect(marked.filter(has_text="regional.nc")).to_have_count(0)
    assert page.evaluate(MARKED), "the exact maps wait until the dialog is closed: a redraw may lose a file on its way"
    pressed(lambda: page.keyboard.press("Escape"), dialog(page), "detached")
    page.get_by_text(re.compile(r"^Exact[.:]")).first.wait_for()
    settled(page)
    expect(page.get_by_text("Potential temperature, 19 November 2009").first).to_be_visible()  # nothing was lost
    page.get_by_role("button", name="Use your own file").click()
    expect(dialog(page)).to_be_visible()
    assert not exceptions(page) and not page.errors


SERIES = "step,hidden,seen\n" + "".join(f"{i},{i * 7 % 11 / 3},{i * 5 % 13 / 4}\n" for i in range(60))
MEASURES = "subject,value,outcome\n" + "".join(f"{i % 20},{i * 7 % 11},{i % 20 % 3}\n" for i in range(100))


@pytest.mark.parametrize(
    ("address", "first", "table", "labels"),
    [
        ("/follow", "own series", SERIES, ["Hidden state", "Observed", "Time", "Training steps"]),
        ("/distributions", "Own table", MEASURES, ["Subject", "Value", "Outcome", "Covariates"]),
        ("/simulate", "Use your own table", "", ["Parameters", "Use logarithms of", "Prior"]),
    ],
)
def test_what_own_tables_need_is_shown_to_a_new_visitor(
    new_page: Callable[..., Page], address: str, first: str, table: str, labels: list[str]
) -> None:
    page = opened(new_page(level=""), address)
    sidebar = page.get_by_test_id("stSidebar")
    if address == "/follow":
        pick(page, sidebar.get_by_role("combobox").first, page.get_by_role("option", name=first))
    else:
        sidebar.get_by_text(first, exact=True).click()
    sidebar.get_by_test_id("stFileUploader").first.wait_for()
    settled(page)
    if table:
        give(page, "own.csv", table.encode())
    for label in labels:
        expect(sidebar.get_by_test_id("stWidgetLabel").get_by_text(label, exact=True).first).to_be_visible()
    assert not exceptions(page) and not page.errors
