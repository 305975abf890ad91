"""Every page opens: its own title, no exception, no console error, nothing fetched elsewhere, no sideways scroll."""

from collections.abc import Callable
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from tests.browser.steps import darkness, exceptions, opened, overflow

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
    assert len(addresses) == len(set(addresses)) >= 3, addresses


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)], ids=["wide and light", "narrow and dark"])
def test_every_page_opens_cleanly(new_page: Callable[..., Page], addresses: list[str], width: int, dark: bool) -> None:
    wrong, titles = [], set()
    for address in addresses:
        page = opened(new_page(width=width, dark=dark), address)
        seen = {
            "exceptions": exceptions(page),
            "console errors": page.errors,
            "fetched elsewhere": page.foreign,
            "pixels too wide": overflow(page),
            "wrong theme": "" if (darkness(page) > 0.5) == dark else f"darkness {darkness(page):.2f}",
        }
        wrong += [f"{address}: {what}: {value}" for what, value in seen.items() if value]
        titles.add(page.title())
    assert not wrong, "\n".join(wrong)
    assert len(titles) == len(addresses), titles


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
    page.wait_for_url(f"{server}/sparse")
