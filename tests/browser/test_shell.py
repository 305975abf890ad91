"""The navigation, and a page that is opened at its own address."""

from collections.abc import Callable
from urllib.parse import urlsplit

from playwright.sync_api import Page, expect

from pages.kit.pages import GROUPS, PAGES
from pages.kit.visitor import COOKIE
from tests.browser.steps import go_to, opened


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
    assert COOKIE not in [cookie["name"] for cookie in page.context.cookies()]  # of a server for one person
    addresses = []
    for group in GROUPS:
        page.get_by_test_id("stTopNav").get_by_role("button", name=group).click()
        links = page.get_by_role("menuitem")
        expect(links).to_have_count(len(GROUPS[group]))
        addresses += links.evaluate_all("links => links.map(link => new URL(link.href).pathname)")
        page.keyboard.press("Escape")
    assert addresses == ["/", *(f"/{listed.url_path}" for listed in PAGES[1:])]
    go_to(page, "Sparse representation")
    page.wait_for_url(lambda url: url.split("?")[0] == f"{server}/sparse")
