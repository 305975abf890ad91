"""A favourite kept by keyboard, opened from Runs; a snapshot, which has nothing to press; on a phone too."""

import re
from collections.abc import Callable
from urllib.parse import urlsplit

from playwright.sync_api import Page, expect

from tests.browser.steps import fits, opened, settled


def learned(page: Page, address: str) -> None:
    """A run that ended."""
    opened(page, address)
    page.get_by_role("button", name="Learn points and kernel").click()
    expect(page.get_by_text(re.compile(r"^Learned in"))).to_be_visible()
    settled(page)


def test_a_favourite_is_kept_by_keyboard_and_opened_from_runs(new_page: Callable[..., Page]) -> None:
    page = opened(new_page(width=390, height=844), "/sparse?s-noise=0.5&s-points=7")
    page.get_by_role("button", name="Star", exact=True).focus()
    page.keyboard.press("Enter")
    name = page.get_by_role("textbox", name="Save these settings as")
    expect(name).to_have_value(re.compile("represent it.* 7"))
    expect(page.get_by_test_id("stPopoverBody")).to_be_focused()
    page.keyboard.press("Tab")
    expect(name).to_be_focused()
    name.fill("Noisy seven")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Kept.")).to_be_visible()
    fits(page)
    page.keyboard.press("Escape")
    settled(page)
    page.get_by_role("button", name="Presets", exact=True).click()
    page.get_by_role("button", name="Reset", exact=True).click()
    page.wait_for_url(lambda url: "s-noise" not in url)
    opened(page, "/all-runs?favourites=open")
    page.get_by_test_id("stBaseButton-primary").filter(has_text="Open").click()
    page.wait_for_url(re.compile("/sparse.*s-noise=0.5"))
    expect(page.get_by_role("heading", name="Sparse representation")).to_be_visible()
    fits(page)
    assert not page.errors


def test_a_snapshot_is_read_only(new_page: Callable[..., Page]) -> None:
    page = new_page()
    learned(page, "/sparse?s-starts=1&s-steps=5&s-seed=4")
    opened(page, "/all-runs")
    page.get_by_role("button", name="Snapshot link").click()
    shown = page.get_by_test_id("stPopoverBody").locator("code")
    expect(shown).to_have_text(re.compile("snapshot"))
    address = shown.inner_text().strip()
    other = opened(new_page(width=390, height=844), urlsplit(address)._replace(scheme="", netloc="").geturl())
    expect(other.locator("[data-key^=snapshot-]")).to_be_visible()
    expect(other.get_by_text(re.compile("^Made by the task"))).to_be_visible()
    main = other.get_by_test_id("stMain")
    expect(main.locator("[data-testid^=stBaseButton]:visible, input:visible, textarea:visible")).to_have_count(0)
    fits(other)
    assert not other.errors and not page.errors
