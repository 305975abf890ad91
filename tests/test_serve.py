"""Documents at the pages' own addresses."""

import asyncio

import pytest
from starlette.requests import Request
from streamlit import config

from pages.shared.pages import PAGES
from scripts.serve import WHERE, page_routes


@pytest.mark.parametrize(("base", "before"), [("", ""), ("lab", "/lab"), ("/a/b/", "/a/b")])
def test_every_page_but_the_first_has_a_document(monkeypatch: pytest.MonkeyPatch, base: str, before: str) -> None:
    monkeypatch.setattr(config, "get_option", {"server.baseUrlPath": base}.__getitem__)
    assert [route.path for route in page_routes()] == [f"{before}/{page.url_path}" for page in PAGES[1:]]


def test_the_document_is_streamlits_with_the_place_of_the_server_before_any_script() -> None:
    sent = []

    async def send(message) -> None:
        sent.append(message)

    async def ask() -> None:
        scope = {"type": "http", "method": "GET", "path": "/line", "headers": [], "query_string": b""}
        await page_routes()[0].handle(scope, Request(scope).receive, send)

    asyncio.run(ask())
    document = sent[1]["body"].decode()
    assert sent[0]["status"] == 200 and (b"cache-control", b"no-cache") in sent[0]["headers"]
    assert document.count("<script") > document.count(WHERE) == 1
    assert document.index("<script") == document.index(WHERE)
