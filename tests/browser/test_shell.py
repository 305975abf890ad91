"""The navigation, and a page that is opened at its own address."""

from collections.abc import Callable
from urllib.parse import urlsplit

from playwright.sync_api import Page

from pages.kit.pages import PAGES
from tests.browser.steps import opened

LINKS = "[data-testid=stSidebarNavLink]"


def test_the_navigation_holds_the_pages_and_a_page_at_its_own_address_finds_its_server_at_once(
    new_page: Callable[..., Page], server: str
) -> None:
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
    addresses = page.locator(LINKS).evaluate_all("links => links.map(link => new URL(link.href).pathname)")
    assert addresses == ["/", *(f"/{listed.url_path}" for listed in PAGES[1:])]
    page.get_by_role("link", name="Sparse representation").first.click()
    page.wait_for_url(lambda url: url.split("?")[0] == f"{server}/sparse")
