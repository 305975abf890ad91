"""The library of runs: starred, named, found, compared, deleted and brought back; also on a phone."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.steps import opened, overflow, pick, settled


def learned(page: Page, address: str) -> None:
    """A run that ended."""
    opened(page, address)
    page.get_by_role("button", name="Learn the points").click()
    expect(page.get_by_text(re.compile(r"^Learned in"))).to_be_visible()
    settled(page)


def test_runs_are_named_found_compared_deleted_and_brought_back(new_page: Callable[..., Page]) -> None:
    page = new_page()
    for seed in (0, 1):
        learned(page, f"/sparse?s-starts=1&s-steps=5&s-seed={seed}")
    opened(page, "/all-runs")
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
    learned_too = page.get_by_role("option", name=re.compile("^Points and hyperparameters learned")).first
    pick(page, page.get_by_role("combobox", name="Compare with"), learned_too)
    page.wait_for_url(re.compile("with="))
    page.keyboard.press("Escape")
    expect(page.get_by_text(re.compile("differ, listed first"))).to_be_visible()
    page.get_by_role("button", name="Delete").first.click()
    expect(page.get_by_text("Alps by night was deleted")).to_be_visible()
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("heading", name="Alps by night")).to_be_visible()
    assert not page.errors
    phone = opened(new_page(width=390, height=844), "/all-runs")
    assert overflow(phone) == 0
