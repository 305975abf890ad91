"""The library of runs: starred, named, found, compared, deleted and brought back; also on a phone."""

import re
import shutil
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.steps import fits, opened, pick, settled
from tests.core.engine.made import write_run


def test_runs_are_named_found_compared_deleted_and_brought_back(page: Page, runs: Path) -> None:
    first, second = (
        write_run(runs, f"20260101-000000-{seed:016x}", spec={"title": f"Fit {seed}", "seed": seed}) for seed in (1, 2)
    )
    opened(page, f"/all-runs?run={first.name}")
    page.get_by_role("button", name="☆ Star").click()
    expect(page.get_by_role("button", name="★ Starred")).to_be_visible()
    page.get_by_role("button", name="Name and tags").click()
    page.get_by_role("textbox", name="Name", exact=True).fill("Alps by night")
    page.get_by_role("textbox", name="Tags, separated by commas").fill("talk")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", name="Alps by night")).to_be_visible()
    page.get_by_role("textbox", name="Find").fill("talk")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("find=talk"))
    settled(page)
    option = page.get_by_role("option", name=re.compile("^Fit 2")).first
    pick(page, page.get_by_role("combobox", name="Compare with"), option)
    page.wait_for_url(re.compile("with="))
    page.keyboard.press("Escape")
    expect(page.get_by_text(re.compile("differ, listed first"))).to_be_visible()
    page.get_by_role("button", name="Delete").first.click()
    expect(page.get_by_text("Alps by night was deleted")).to_be_visible()
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("heading", name="Alps by night")).to_be_visible()
    assert not page.errors
    page.set_viewport_size({"width": 390, "height": 844})
    settled(page)
    fits(page)
    for folder in (first, second):
        shutil.rmtree(folder)
