"""Documents at the pages' own addresses."""

import asyncio
from typing import Any

import pytest
from starlette.requests import Request
from streamlit import config

from pages.kit.pages import PAGES, SNAPSHOT
from pages.kit.visitor import COOKIE
from scripts.serve import WHERE, page_routes


@pytest.mark.parametrize(("base", "before"), [("", ""), ("lab", "/lab"), ("/a/b/", "/a/b")])
def test_every_page_has_a_document(monkeypatch: pytest.MonkeyPatch, base: str, before: str) -> None:
    monkeypatch.setattr(config, "get_option", {"server.baseUrlPath": base}.__getitem__)
    paths = ["", *(page.url_path for page in (*PAGES[1:], SNAPSHOT))]
    assert [route.path for route in page_routes()] == [f"{before}/{path}" for path in paths]


def answer(*, https: bool = False, cookie: str = "") -> tuple[int, dict[str, str], str]:
    """Status, headers and text of a page's document."""
    sent: list[Any] = []
    headers = [(b"cookie", cookie.encode())] if cookie else []
    scope = {"type": "http", "method": "GET", "path": "/line", "headers": headers, "query_string": b""}
    scope |= {"scheme": "https" if https else "http", "server": ("127.0.0.1", 8501)}

    async def send(message) -> None:
        sent.append(message)

    asyncio.run(page_routes()[1].handle(scope, Request(scope).receive, send))
    return sent[0]["status"], {k.decode(): v.decode() for k, v in sent[0]["headers"]}, sent[1]["body"].decode()


def test_the_document_is_streamlits_with_the_place_of_the_server_before_any_script() -> None:
    status, headers, document = answer()
    assert status == 200 and headers["cache-control"] == "no-cache" and "set-cookie" not in headers
    assert document.count("<script") > document.count(WHERE) == 1
    assert document.index("<script") == document.index(WHERE)


def test_where_the_server_is_shared_each_browser_gets_a_secret_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DECONDITIONING_SHARED", "true")
    (_, first, _), (_, second, _) = answer(), answer(https=True)
    secrets = [headers["set-cookie"].partition(";")[0].removeprefix(f"{COOKIE}=") for headers in (first, second)]
    assert all(len(secret) == 64 for secret in secrets) and secrets[0] != secrets[1]
    assert first["cache-control"] == "no-store"  # no proxy gives it to somebody else
    for words in ("HttpOnly", "SameSite=lax", "Path=/"):
        assert words in first["set-cookie"]
    assert "Secure" in second["set-cookie"] and "Secure" not in first["set-cookie"]
    assert "set-cookie" not in answer(cookie=f"{COOKIE}={secrets[0]}")[1]
