"""The navigation, and a page that is opened at its own address."""

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from pages.kit.pages import PAGES
from tests.browser.steps import opened

LINKS = "[data-testid=stSidebarNavLink], [data-testid=stTopNavLink]"


@pytest.fixture(scope="module")
def addresses(browser, server: str) -> list[str]:
    """Paths of all pages in the navigation."""
    page = browser.new_page(base_url=server)
    opened(page)
    found = page.locator(LINKS).evaluate_all("links => links.map(link => link.href)")
    page.close()
    assert found, "the navigation is empty"
    return [urlsplit(address).path for address in found]


def test_the_navigation_holds_the_pages(addresses: list[str]) -> None:
    assert addresses == ["/", *(f"/{page.url_path}" for page in PAGES[1:])]


def test_a_page_opened_at_its_own_address_finds_its_server_at_once(new_page: Callable[..., Page], server: str) -> None:
    page, asked = new_page(), []
    page.on("request", lambda request: asked.append(urlsplit(request.url).path))
    page.on("websocket", lambda socket: asked.append(urlsplit(socket.url).path))
    opened(page, "/line")
    assert {path for path in asked if "_stcore" in path} == {
        "/_stcore/health",
        "/_stcore/host-config",
        "/_stcore/stream",
    }
    assert not page.errors
    page.get_by_role("link", name="Sparse representation").first.click()
    page.wait_for_url(lambda url: url.split("?")[0] == f"{server}/sparse")
